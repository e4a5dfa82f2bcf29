"""Converters that let skl2onnx convert pipelines with this package's encoders."""

from __future__ import annotations

from typing import Any

import numpy as np
import skl2onnx
from onnx import TensorProto, helper
from skl2onnx import _parse
from skl2onnx._supported_operators import sklearn_operator_name_map
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
from sklearn import preprocessing

from onehot_fast import Encoder
from onehot_fast.adapter import EncodedLayout, PassThrough, integration

from ._nodes import Graph, Plan, encode_rows, encode_values, input_names, ml_version, plan_encoder


def _register() -> None:
    """Register `onehot_fast.Encoder` and the classes of the scikit-learn integration."""
    ours = integration("sklearn")
    for kind in (Encoder, ours.OneHotEncoder):
        alias = f"OnehotFast{kind.__name__}"
        skl2onnx.update_registered_converter(kind, alias, _infer_output, _convert)
    # The converters of scikit-learn's classes need only attributes that our classes have, too.
    for name in ("KBinsDiscretizer", "LabelBinarizer", "OrdinalEncoder", "TargetEncoder"):
        original = getattr(preprocessing, name)
        if original in sklearn_operator_name_map:  # older skl2onnx does not convert TargetEncoder
            sklearn_operator_name_map[getattr(ours, name)] = sklearn_operator_name_map[original]
    # Otherwise a ColumnTransformer would merge the columns into one tensor of one type.
    if Encoder not in _parse.do_not_merge_columns:
        _parse.do_not_merge_columns += (Encoder,)


def _infer_output(operator: Any) -> None:
    """Set the type and shape of the output, as skl2onnx does for scikit-learn's OneHotEncoder."""
    encoder = operator.raw_operator
    kind = Int64TensorType if _dtype(encoder) == np.int64 else FloatTensorType
    n_columns = len(_output_names(encoder))
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), n_columns])


def _output_names(encoder: Any) -> Any:
    """Return the names of the columns that the encoder passes to the next pipeline step."""
    return encoder.get_feature_names_out(input_names(encoder))


def _dtype(encoder: Any) -> np.dtype[Any]:
    """Return the dtype of the output: int64 or float32, because pipelines support no others."""
    if not isinstance(encoder, Encoder):
        return np.dtype(np.int64 if np.issubdtype(encoder.dtype, np.signedinteger) else np.float32)
    is_alone = len(_output_names(encoder)) == encoder.n_features
    is_whole = is_alone and encoder.schema.dtype.kind == "i"
    return np.dtype(np.int64 if is_whole else np.float32)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes that compute the output of an encoder."""
    encoder = operator.raw_operator
    graph = Graph(iter(lambda: scope.get_unique_variable_name("onehot"), None))
    dtype, plans = _dtype(encoder), plan_encoder(encoder)
    if isinstance(encoder, Encoder):
        encoder.schema.check_plain("the conversion of a pipeline to ONNX")
    names = input_names(encoder)
    inputs = _split_inputs(graph, operator.inputs, [*map(str, names)])

    def encode(plan: Plan) -> str:
        values, kind = inputs[plan.name]
        flat = graph.node("Reshape", [values, graph.constant(np.array([-1]))])
        return encode_rows(graph, encode_values(graph, flat, kind, plan), plan, dtype)

    def keep(name: str) -> str:
        values, kind = inputs[name]
        if kind == TensorProto.STRING:
            raise TypeError(
                f"column {name!r} has strings, but the output must be numeric: set remainder='drop'"
            )
        return graph.node("Cast", [values], to=helper.np_dtype_to_tensor_dtype(dtype))

    if len(_output_names(encoder)) == sum(plan.n_features for plan in plans):
        parts = [*map(encode, plans)]
    else:
        parts = []
        for part in EncodedLayout(encoder.schema, names).columns:
            if isinstance(part, PassThrough):
                parts.append(keep(str(names[part.position])))
            else:
                parts += map(encode, plans[part.columns])
    joined = graph.node("Concat", parts, axis=1)
    graph.rename_outputs({joined: operator.outputs[0].full_name})
    for node in graph.nodes:
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        version = ml_version(node) if node.domain else None
        name = scope.get_unique_operator_name(node.name or node.op_type)
        container.add_node(
            node.op_type, [*node.input], [*node.output], node.domain, version, name, **attributes
        )
    for constant in graph.constants:
        container.add_initializer(constant.name, None, None, constant)


def _split_inputs(graph: Graph, variables: Any, names: list[str]) -> dict[str, tuple[str, int]]:
    """Return the name and element type of the (N, 1) tensor of each column seen in `fit`.

    If the inputs are not named after the columns, the columns are matched by position.
    """
    kinds = [each.type.to_onnx_type().tensor_type.elem_type for each in variables]
    pairs = zip(variables, kinds, strict=True)
    named = {variable.raw_name: (variable.full_name, kind) for variable, kind in pairs}
    if set(names) <= set(named):
        return named
    widths = [each.get_second_dimension() for each in variables]
    if widths == [None]:
        widths = [len(names)]
    if None in widths or sum(widths) != len(names):
        raise ValueError(
            f"the encoder was fitted to the columns {names}, but the inputs of the model have"
            f" {widths} columns: declare one input per column, with the name of the column"
        )
    columns = []
    for variable, kind, width in zip(variables, kinds, widths, strict=True):
        for i in range(width):
            whole = variable.full_name
            position = graph.constant(np.array([i]))
            one = whole if width == 1 else graph.node("Gather", [whole, position], axis=1)
            columns.append((one, kind))
    return dict(zip(names, columns, strict=True))


_register()
