"""Converters that let skl2onnx convert pipelines with this package's encoders."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt
import skl2onnx
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import _parse
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
from skl2onnx.operator_converters import (
    k_bins_discretiser,
    label_binariser,
    ordinal_encoder,
)
from skl2onnx.shape_calculators import k_bins_discretiser as k_bins_shapes
from skl2onnx.shape_calculators import label_binariser as label_shapes
from skl2onnx.shape_calculators import ordinal_encoder as ordinal_shapes

from onehot_fast import Encoder
from onehot_fast.adapter import EncodedLayout, PassThrough, integration

from ._nodes import ML, Plan, encode_rows, encode_values, input_names, ml_version, plan_encoder

# skl2onnx's shape functions and converters for scikit-learn's classes. They also work for this
# package's classes, which have the same attributes.
BINS = (
    k_bins_shapes.calculate_sklearn_k_bins_discretiser,
    k_bins_discretiser.convert_sklearn_k_bins_discretiser,
)
LABELS = (
    label_shapes.calculate_sklearn_label_binariser_output_shapes,
    label_binariser.convert_sklearn_label_binariser,
)
ORDINALS = (
    ordinal_shapes.calculate_sklearn_ordinal_encoder_output_shapes,
    ordinal_encoder.convert_sklearn_ordinal_encoder,
)


class Container:
    """Add nodes and constants to the model that skl2onnx is building; see `Nodes`."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = self._scope.get_unique_variable_name("onehot")
        self.named_node(operator, inputs, output, **attributes)
        return str(output)

    def named_node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> None:
        """Add a node whose output tensor is named `output`."""
        domain = attributes.pop("domain", "")
        name = self._scope.get_unique_operator_name(attributes.pop("name", operator))
        version = ml_version(attributes) if domain == ML else None
        self._container.add_node(
            operator, inputs, [output], domain, version, name=name, **attributes
        )

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""
        name = str(self._scope.get_unique_variable_name("constant"))
        tensor = numpy_helper.from_array(np.asarray(values))
        self._container.add_initializer(name, None, None, tensor)
        return name


def _register() -> None:
    """Register `onehot_fast.Encoder` and the classes of the scikit-learn integration."""
    ours = integration("sklearn")
    for kind in (Encoder, ours.OneHotEncoder):
        alias = f"OnehotFast{kind.__name__}"
        skl2onnx.update_registered_converter(kind, alias, _infer_output, _convert)
    converters = {
        ours.KBinsDiscretizer: BINS,
        ours.LabelBinarizer: LABELS,
        ours.OrdinalEncoder: ORDINALS,
    }
    with contextlib.suppress(ImportError):  # older skl2onnx does not convert TargetEncoder
        converters[ours.TargetEncoder] = _target_converters()
    for kind, functions in converters.items():
        skl2onnx.update_registered_converter(kind, f"Sklearn{kind.__name__}", *functions)
    # Otherwise a ColumnTransformer would merge the columns into one tensor of one type.
    if Encoder not in _parse.do_not_merge_columns:
        _parse.do_not_merge_columns += (Encoder,)


def _target_converters() -> tuple[Any, Any]:
    """Return the shape function and the converter of scikit-learn's TargetEncoder."""
    from skl2onnx.operator_converters import target_encoder
    from skl2onnx.shape_calculators import target_encoder as shapes

    return (
        shapes.calculate_sklearn_target_encoder_output_shapes,
        target_encoder.convert_sklearn_target_encoder,
    )


def _infer_output(operator: Any) -> None:
    """Set the type and shape of the output, as skl2onnx does for scikit-learn's OneHotEncoder."""
    encoder = operator.raw_operator
    kind = Int64TensorType if _dtype(encoder) == np.int64 else FloatTensorType
    n_columns = len(_output_names(encoder))
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), n_columns])


def _output_names(encoder: Any) -> Any:
    """Return the names of the columns that the encoder passes to the next pipeline step."""
    if isinstance(encoder, Encoder):
        return encoder.get_feature_names_out(input_names(encoder))
    return encoder.get_feature_names_out()


def _dtype(encoder: Any) -> np.dtype[Any]:
    """Return the dtype of the output: int64 or float32; pipelines support no others."""
    if not isinstance(encoder, Encoder):
        return np.dtype(np.int64 if np.issubdtype(encoder.dtype, np.signedinteger) else np.float32)
    is_alone = len(_output_names(encoder)) == encoder.n_features
    is_whole = is_alone and encoder.schema.dtype.kind == "i"
    return np.dtype(np.int64 if is_whole else np.float32)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes that compute the output of an encoder."""
    encoder, nodes = operator.raw_operator, Container(scope, container)
    dtype, plans = _dtype(encoder), plan_encoder(encoder)
    names = input_names(encoder)
    inputs = _split_inputs(nodes, operator.inputs, [*map(str, names)])

    def encode(plan: Plan) -> str:
        values, kind = inputs[plan.name]
        flat = nodes.node("Reshape", [values, nodes.constant(np.array([-1]))])
        return encode_rows(nodes, encode_values(nodes, flat, kind, plan), plan, dtype)

    def keep(name: str) -> str:
        values, kind = inputs[name]
        if kind == TensorProto.STRING:
            raise TypeError(
                f"column {name!r} holds texts, which ONNX cannot pass through: set remainder='drop'"
            )
        return nodes.node("Cast", [values], to=helper.np_dtype_to_tensor_dtype(dtype))

    if len(_output_names(encoder)) == sum(plan.n_outputs for plan in plans):
        parts = [*map(encode, plans)]
    else:
        parts = []
        for part in EncodedLayout(encoder.schema, names).columns:
            if isinstance(part, PassThrough):
                parts.append(keep(str(names[part.position])))
            else:
                parts += map(encode, plans[part.columns])
    nodes.named_node("Concat", parts, operator.outputs[0].full_name, axis=1)


def _split_inputs(nodes: Container, variables: Any, names: list[str]) -> dict[str, tuple[str, int]]:
    """Return the name and element type of the (N, 1) tensor of each column seen in `fit`.

    If the inputs are not named after the columns, their columns are matched by position.
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
            position = nodes.constant(np.array([i]))
            one = whole if width == 1 else nodes.node("Gather", [whole, position], axis=1)
            columns.append((one, kind))
    return dict(zip(names, columns, strict=True))


_register()
