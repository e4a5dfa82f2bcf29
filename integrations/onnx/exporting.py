"""Convert a fitted encoder to an ONNX model, and a table to the inputs of a model."""

from __future__ import annotations

import json
from collections.abc import Hashable
from itertools import count
from typing import Any, Literal

import numpy as np
import onnx
from onnx import helper

import onehot_fast
from onehot_fast import Column, Encoder
from onehot_fast.adapter import check_choice, read_table

from ._nodes import (
    ML,
    AnyArray,
    Graph,
    Plan,
    check_utf8,
    encode_columns,
    encode_rows,
    encode_values,
    ml_version,
    plan_encoder,
)

# The first opset with the operator signatures used here. Engines have supported it since 2020.
OPSET = 13
# The first opset that splits texts at the separator of several labels.
OPSET_OF_LABELS = 20
# The doc_string of an input that cannot hold missing values.
NO_MISSING_VALUE = "There is no missing value."
# The dtypes that every operator of a model supports.
DTYPES = {
    *("bool", "float16", "bfloat16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
OUTPUT = "onehot"
FEATURE_NAMES = "feature_names"


def to_onnx(
    encoder: Any,
    *,
    opset: int | None = None,
    batch: str | int = "N",
    output: Literal["matrix", "columns"] = "matrix",
) -> onnx.ModelProto:
    """Return the ONNX model of a fitted `Encoder` or scikit-learn OneHotEncoder.

    Parameters
    ----------
    encoder : Encoder or sklearn.preprocessing.OneHotEncoder
        A fitted encoder. `onehot_fast.integrations.sklearn.OneHotEncoder` is accepted, too.
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
    input_feed : Convert a table to the inputs of the model.

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
    check_choice(output, "output", ("matrix", "columns"))
    dimension, plans = _check_batch(batch), plan_encoder(encoder)
    has_labels = any(plan.sep is not None for plan in plans)
    version = _check_opset(opset, OPSET_OF_LABELS if has_labels else OPSET)
    if isinstance(encoder, Encoder):
        features, common = [*encoder.schema.names], encoder.schema.dtype
        dtypes = [column.options.dtype for column in encoder.schema.columns]
    else:
        features, common = encoder.get_feature_names_out().tolist(), encoder.dtype
        dtypes = [common] * len(plans)
    outputs = [OUTPUT] if output == "matrix" else features
    inputs = [plan.name for plan in plans]
    _check_names(inputs, outputs)
    taken = {*inputs, *outputs}
    graph = Graph(name for i in count() if (name := f"t{i}") not in taken)
    codes = [encode_values(graph, plan.name, plan.kind, plan) for plan in plans]
    if output == "matrix":
        dtype = _check_dtype(common)
        parts = [encode_rows(graph, *each, dtype) for each in zip(codes, plans, strict=True)]
        made = [parts[0] if len(parts) == 1 else graph.node("Concat", parts, axis=1)]
        declared = [_value_info(OUTPUT, dtype, [dimension, len(features)])]
    else:
        made, declared = [], []
        for code, plan, dtype in zip(codes, plans, map(_check_dtype, dtypes), strict=True):
            names = features[len(made) : len(made) + plan.n_features]
            declared += [_value_info(name, dtype, [dimension]) for name in names]
            made += encode_columns(graph, code, plan, dtype)
    graph.rename_outputs(dict(zip(made, outputs, strict=True)))
    needed = [_input_info(plan, dimension) for plan in plans]
    body = helper.make_graph(graph.nodes, OUTPUT, needed, declared, graph.constants)
    return _model(body, version, features)


def input_feed(model: onnx.ModelProto, table: Any) -> dict[str, AnyArray]:
    """Convert the columns of a table of any library to the inputs of a model.

    Missing values become NaN or the empty string. Without this function, onnxruntime silently
    converts None to "None" and NaN to "nan" in a column of strings.

    Parameters
    ----------
    model : onnx.ModelProto
        The result of `to_onnx`, or a converted pipeline with an input named after each column.
    table : as for `onehot_fast.Encoder.transform`
        Columns that are not inputs of the model are ignored.

    Returns
    -------
    dict of str to ndarray, shape (n_rows,) or (n_rows, 1)
        The inputs by name, with the declared dtypes and shapes. Strings have dtype object.

    Raises
    ------
    ValueError
        A column is absent or duplicated, or a value does not fit the type of its input.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> from onehot_fast.integrations.onnx import input_feed
    >>> model = Encoder(["size"]).fit({"size": ["S", "L"]}).to_onnx()
    >>> input_feed(model, {"size": ["L", None], "price": [1, 2]})
    {'size': array(['L', ''], dtype=object)}
    """
    source = read_table(table)
    constants = {each.name for each in model.graph.initializer}
    # A column whose name is not a string is found by its name as text.
    name_of: dict[str, Hashable] = {}
    for name in source.names:
        name_of.setdefault(str(name), name)
    needed_inputs = [each for each in model.graph.input if each.name not in constants]
    positions = source.positions([name_of.get(each.name, each.name) for each in needed_inputs])
    feed = {}
    for needed, position in zip(needed_inputs, positions, strict=True):
        values = _as_input(needed, source.read_column(position).encode())
        has_rows = len(needed.type.tensor_type.shape.dim) == 2
        feed[needed.name] = values[:, np.newaxis] if has_rows else values
    return feed


def _check_opset(opset: int | None, oldest: int) -> int:
    newest = onnx.defs.onnx_opset_version()
    if opset is None:
        return oldest
    if not isinstance(opset, int) or isinstance(opset, bool):
        raise TypeError(f"opset must be an int, got {opset!r}")
    if not oldest <= opset <= newest:
        raise ValueError(f"opset must be in [{oldest}, {newest}], got {opset}")
    return opset


def _check_batch(batch: str | int) -> str | int:
    if not isinstance(batch, str | int) or isinstance(batch, bool):
        raise TypeError(f"batch must be a name or a number of rows, got {batch!r}")
    if batch == "" or (isinstance(batch, int) and batch < 0):
        raise ValueError(f"batch must be a non-empty name or a number of rows, got {batch!r}")
    return batch


def _check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a NumPy dtype; raise an error if an operator of the model does not support it."""
    known: np.dtype[Any] = np.dtype(dtype)
    if known.name not in DTYPES:
        raise ValueError(f"dtype must be one of {sorted(DTYPES)} for ONNX, got {known}")
    return known


def _check_names(inputs: list[str], outputs: list[str]) -> None:
    """Raise an error if there are no inputs or outputs, or if ONNX does not allow their names."""
    if not inputs:
        raise ValueError("the encoder encodes no column, but an ONNX model needs an input")
    if not outputs:
        raise ValueError("the encoder has no features, but an ONNX model needs an output")
    taken: set[str] = set()
    for name in [*inputs, *outputs]:
        if name in taken:
            raise ValueError(
                f"two inputs or outputs would be named {name!r}, but names must be unique in ONNX:"
                " rename the column, set another prefix= of the encoder or pass another output="
            )
        check_utf8(name, f"the name {name!r}")
        taken.add(name)
    if "" in taken:
        raise ValueError("a column or a feature has an empty name, which ONNX does not allow")


def _value_info(name: str, dtype: Any, shape: list[str | int]) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)


def _input_info(plan: Plan, dimension: str | int) -> onnx.ValueInfoProto:
    missing = plan.missing_value
    doc = f"A missing value is {missing}." if missing else NO_MISSING_VALUE
    return helper.make_tensor_value_info(plan.name, plan.kind, [dimension], doc_string=doc)


def _model(graph: onnx.GraphProto, opset: int, features: list[str]) -> onnx.ModelProto:
    """Return the model of a graph, checked by ONNX."""
    versions = {"": opset, ML: max(map(ml_version, graph.node))}
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


def _as_input(needed: onnx.ValueInfoProto, column: Column) -> AnyArray:
    """Return a column as a 1-D array that fits the declared type of an input."""
    dtype = helper.tensor_dtype_to_np_dtype(needed.type.tensor_type.elem_type)
    values = _of_type(needed.name, column.categories, dtype)
    is_missing = column.codes < 0
    if not is_missing.any():
        return values.take(column.codes)
    if dtype.kind not in "fO" or needed.doc_string == NO_MISSING_VALUE:
        reason = (
            "ONNX represents a missing string as '', which is also a category: replace '' in the"
            " column before fit"
            if dtype.kind == "O"
            else f"{dtype} has no missing value: call set_params(handle_missing='indicator') before"
            " to_onnx to make the input a float64"
        )
        row = int(np.argmax(is_missing))
        raise ValueError(f"column {needed.name!r}, row {row}: the value is missing, but {reason}")
    missing = np.array(["" if dtype.kind == "O" else np.nan], dtype)
    return np.append(values, missing)[np.where(is_missing, len(values), column.codes)]


def _of_type(name: str, categories: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    """Convert categories to `dtype`; raise ValueError if a value changes other than by rounding."""
    try:
        with np.errstate(all="ignore"):
            values = categories.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"column {name!r}: {dtype} cannot hold the values: {error}") from None
    is_same: Any = dtype.kind == "f" or values == categories
    if dtype.kind == "O":
        is_same = [isinstance(each, str) for each in values]
    if not np.all(is_same):
        value = categories[int(np.argmin(is_same))]
        raise ValueError(f"column {name!r}: {dtype} cannot hold the value {value!r}")
    return values
