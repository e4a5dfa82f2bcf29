"""A fitted encoder as a model of ONNX."""

from __future__ import annotations

import json
from itertools import chain, count
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

import onehot_fast
from onehot_fast import Encoder
from onehot_fast.adapter import checks

from ._nodes import (
    ML,
    NO_MISSING_VALUE,
    Plan,
    encode_columns,
    encode_rows,
    encode_values,
    ml_version,
)
from ._plans import check_dtype, plan_encoder

# The first in which every operator is as it is written here; engines know it since 2020.
OPSET = 13
OUTPUT = "onehot"
FEATURE_NAMES = "feature_names"


class Graph:
    """The nodes and constants of a model, under names that are not taken."""

    def __init__(self, taken: set[str]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._names = (name for i in count() if (name := f"t{i}") not in taken)

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = next(self._names)
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""
        name = next(self._names)
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def give_out(self, tensor: str, name: str) -> None:
        """Make the last tensor, which no node uses, an output of that name."""
        node = next(node for node in reversed(self.nodes) if tensor in node.output)
        node.output[0] = name


def to_onnx(
    encoder: Any,
    *,
    opset: int | None = None,
    batch: str | int = "N",
    output: Literal["matrix", "columns"] = "matrix",
) -> onnx.ModelProto:
    """Return what `Encoder.to_onnx` returns, also of a OneHotEncoder of scikit-learn.

    Parameters
    ----------
    encoder : Encoder or sklearn.preprocessing.OneHotEncoder
        Fitted; `onehot_fast.integrations.sklearn.OneHotEncoder` is one of the latter.
    opset, batch, output
        See `Encoder.to_onnx`.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    RuntimeError, TypeError, ValueError
        See `Encoder.to_onnx`.

    See Also
    --------
    input_feed : The inputs of a model from a table.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> from onehot_fast.integrations.onnx import to_onnx
    >>> encoder = Encoder(handle_unknown="ignore", dtype="uint8").fit({"size": ["S", "L"]})
    >>> from onnx.reference import ReferenceEvaluator
    >>> model = to_onnx(encoder)
    >>> ReferenceEvaluator(model).run(None, {"size": np.array(["L", "M", "S"])})[0]
    array([[1, 0],
           [0, 0],
           [0, 1]], dtype=uint8)
    """
    checks.check_choice(output, "output", ("matrix", "columns"))
    version, dimension = _check_opset(opset), _check_batch(batch)
    plans = plan_encoder(encoder)
    is_ours = isinstance(encoder, Encoder)
    features = encoder.schema.names if is_ours else encoder.get_feature_names_out().tolist()
    outputs = [OUTPUT] if output == "matrix" else features
    inputs = [plan.name for plan in plans]
    _check_names(inputs, outputs)
    graph = Graph({*inputs, *outputs})
    codes = [encode_values(graph, plan.name, plan.kind, plan) for plan in plans]
    if output == "matrix":
        dtype = output_dtype(encoder)
        parts = [encode_rows(graph, *each, dtype) for each in zip(codes, plans, strict=True)]
        made = [parts[0] if len(parts) == 1 else graph.node("Concat", parts, axis=1)]
        declared = [_value_info(OUTPUT, dtype, [dimension, len(features)])]
    else:
        dtypes = _dtypes(encoder, len(plans))
        triples = zip(codes, plans, dtypes, strict=True)
        made = [*chain.from_iterable(encode_columns(graph, *each) for each in triples)]
        pairs = zip(plans, dtypes, strict=True)
        of_feature = [dtype for plan, dtype in pairs for _ in range(plan.n_outputs)]
        named = zip(features, of_feature, strict=True)
        declared = [_value_info(name, dtype, [dimension]) for name, dtype in named]
    for tensor, name in zip(made, outputs, strict=True):
        graph.give_out(tensor, name)
    needed = [_input_info(plan, dimension) for plan in plans]
    body = helper.make_graph(graph.nodes, OUTPUT, needed, declared, graph.constants)
    return _model(body, version, features)


def output_dtype(encoder: Any) -> np.dtype[Any]:
    """Return the dtype of the matrix that an encoder makes."""
    return check_dtype(encoder.schema.dtype if isinstance(encoder, Encoder) else encoder.dtype)


def _dtypes(encoder: Any, n_columns: int) -> list[np.dtype[Any]]:
    """Return the dtype of the outputs of each column."""
    if isinstance(encoder, Encoder):
        return [check_dtype(column.options.dtype) for column in encoder.schema.columns]
    return [check_dtype(encoder.dtype)] * n_columns


def _check_opset(opset: int | None) -> int:
    newest = onnx.defs.onnx_opset_version()
    if opset is None:
        return OPSET
    if not isinstance(opset, int) or isinstance(opset, bool):
        raise TypeError(f"opset = {opset!r} is {checks.with_article(opset)}; accepted is an int")
    if not OPSET <= opset <= newest:
        raise ValueError(f"opset = {opset}: accepted are {OPSET} to {newest}")
    return opset


def _check_batch(batch: str | int) -> str | int:
    if not isinstance(batch, str | int) or isinstance(batch, bool):
        raise TypeError(
            f"batch = {batch!r} is {checks.with_article(batch)}; accepted are a name and a number"
        )
    if batch == "" or (isinstance(batch, int) and batch < 0):
        raise ValueError(f"batch = {batch!r}: accepted are a name and a number of rows")
    return batch


def _check_names(inputs: list[str], outputs: list[str]) -> None:
    """Refuse names that ONNX, where every tensor has one of its own, cannot give."""
    if not inputs:
        raise ValueError("the encoder encodes no column, and a model needs an input")
    if not outputs:
        raise ValueError("the encoder has no feature, and a model needs an output")
    taken: set[str] = set()
    for name in [*inputs, *outputs]:
        if name in taken:
            raise ValueError(
                f"two inputs or outputs would be named {name!r}, where ONNX has one tensor of a"
                " name: name the column otherwise, or choose prefix= and output="
            )
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"ONNX has names in UTF-8 only ({error})") from None
        taken.add(name)
    if "" in taken:
        raise ValueError("a column or a feature has an empty name, which ONNX takes for no tensor")


def _value_info(name: str, dtype: Any, shape: list[str | int]) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)


def _input_info(plan: Plan, dimension: str | int) -> onnx.ValueInfoProto:
    missing = plan.missing_value
    doc = f"A missing value is {missing}." if missing else NO_MISSING_VALUE
    return helper.make_tensor_value_info(plan.name, plan.kind, [dimension], doc_string=doc)


def _model(graph: onnx.GraphProto, opset: int, features: list[str]) -> onnx.ModelProto:
    """Return the checked model of a graph."""
    versions = {"": opset, ML: max(ml_version({a.name for a in n.attribute}) for n in graph.node)}
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    model = helper.make_model(
        graph,
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="onehot_fast",
        producer_version=onehot_fast.__version__,
    )
    helper.set_model_props(model, {FEATURE_NAMES: json.dumps(features, ensure_ascii=False)})
    onnx.checker.check_model(model, full_check=True)
    return model
