"""The rows of a table as the inputs of a model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from onehot_fast.adapter import Column, read_table

from ._nodes import NO_MISSING_VALUE

AnyArray = npt.NDArray[Any]


def input_feed(model: onnx.ModelProto, table: Any) -> dict[str, AnyArray]:
    """Return the inputs of a model from the columns of a table of any library.

    Missing values become NaN, or the empty text: onnxruntime would read "None" for None, and "nan"
    for NaN, without a word.

    Parameters
    ----------
    model : onnx.ModelProto
        Of `to_onnx`, or of a pipeline: with an input for each column, by its name.
    table : as for `onehot_fast.Encoder.transform`
        Its other columns are not read.

    Returns
    -------
    dict of str to ndarray, shape (n_rows,) or (n_rows, 1)
        As the model declares them; texts are objects.

    Raises
    ------
    ValueError
        A column is absent or there twice, or a value is none of the input's type.

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
    feed = {}
    for needed in model.graph.input:
        if needed.name in constants:
            continue
        name = _name_in(source.names, needed.name)
        values = _as_input(needed, source.read(source.position(name)).encode())
        has_rows = len(needed.type.tensor_type.shape.dim) == 2
        feed[needed.name] = values[:, np.newaxis] if has_rows else values
    return feed


def _name_in(names: Sequence[Hashable], wanted: str) -> Hashable:
    """Return the name that ONNX writes so: it has texts only."""
    return next((name for name in names if str(name) == wanted), wanted)


def _as_input(needed: onnx.ValueInfoProto, column: Column) -> AnyArray:
    """Return a column as a tensor of the type of an input."""
    kind = needed.type.tensor_type.elem_type
    dtype = (
        np.dtype(object) if kind == TensorProto.STRING else helper.tensor_dtype_to_np_dtype(kind)
    )
    values = _of_type(needed.name, column.categories, dtype)
    is_missing = column.codes < 0
    if not is_missing.any():
        return values.take(column.codes)
    if dtype.kind not in "fO" or needed.doc_string == NO_MISSING_VALUE:
        reason = (
            "ONNX writes a missing text as an empty one, which is a category of its own here"
            if dtype.kind == "O"
            else f"{dtype} has no missing value: set_params(handle_missing='indicator') before"
            " to_onnx makes the input one of floats"
        )
        row = int(np.argmax(is_missing))
        raise ValueError(f"column {needed.name!r}, row {row}: the value is missing, and {reason}")
    missing = np.array(["" if dtype.kind == "O" else np.nan], dtype)
    return np.append(values, missing)[np.where(is_missing, len(values), column.codes)]


def _of_type(name: str, categories: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
    """Return values as the elements of a tensor; numbers are rounded to floats, and to no other."""
    if dtype.kind == "O":
        values = categories.astype(object)
        is_same = [isinstance(each, str) for each in values]
    else:
        try:
            with np.errstate(all="ignore"):
                values = categories.astype(dtype)
            is_same = values == (categories.astype(dtype) if dtype.kind == "f" else categories)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"column {name!r} has values that are no {dtype}: {error}") from None
    if not np.all(is_same):
        value = categories[int(np.argmin(is_same))]
        raise ValueError(f"column {name!r} has the value {value!r}, which is no {dtype}")
    return values
