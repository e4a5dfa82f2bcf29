"""Rows of several labels: lists, Arrow's lists and separated texts."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast.adapter import Column, Rows, read_values
from onehot_fast.adapter import Strings as TextArray

from ._codes import code_series, level_codes
from ._read import read_column
from ._values import Codes, arrow_array, arrow_chunks, is_arrow_string, pa_array

__all__ = [
    "distinct",
    "is_arrow",
    "read_labels",
    "read_lists",
    "split_arrow",
    "split_python",
]

Strings: TypeAlias = "pd.Series[Any] | pd.Index[Any]"


def read_lists(rows: Any) -> Rows:
    """Return a column of lists as offsets and flat elements; a missing list is empty."""
    lists = _arrow_lists(rows)
    if lists is None:
        return Rows.read(list(rows))
    import pyarrow as pa

    if pa.types.is_integer(lists.elements.type):
        elements = lists.elements
        whole = elements.cast(pa.int64()).fill_null(-1) if elements.null_count else elements
        return Rows(lists.offsets, whole.to_numpy())
    return Rows(lists.offsets, _arrow_column(lists.elements))


def read_labels(series: "pd.Series[Any]", sep: str | None) -> Rows:
    """Return the labels of each row, from lists or from text with the separator `sep`."""
    if sep is not None:
        return _sorted_rows(Rows.read(series, sep=sep))
    lists = _arrow_lists(series)
    if lists is not None:
        return Rows(lists.offsets, _arrow_column(lists.elements))
    rows = Rows.read(list(series))
    return Rows(rows.offsets, read_values(rows.elements).encode())


def _arrow_lists(rows: Any) -> Rows | None:
    """Return offsets and elements of Arrow's lists, None where the rows are something else."""
    dtype = getattr(rows, "dtype", None)
    if not isinstance(dtype, pd.ArrowDtype):
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_kind(dtype.pyarrow_dtype) for is_kind in kinds):
        return None
    lists = arrow_array(rows)
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
    return Rows(_offsets(lengths), lists.flatten())  # without what null lists may hold


def _arrow_column(elements: Any) -> Column:
    return read_column(pd.Series(pd.arrays.ArrowExtensionArray(elements), copy=False)).encode()


def _offsets(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where each row begins, and the end."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _labels(codes: Codes, labels: Any) -> Column:
    return Column(codes, labels, source="dictionary")


def is_arrow(dtype: Any) -> bool:
    """Tell whether values of this dtype lie in Arrow's memory."""
    return isinstance(dtype, pd.ArrowDtype) or is_arrow_string(dtype)


def split_arrow(series: "pd.Series[Any]", sep: str) -> Rows:
    """Return the labels of each row of Arrow strings, sorted, the empty one included."""
    if not sep and len(series):
        import pyarrow as pa
        import pyarrow.compute as pc

        pc.split_pattern(pa.array([""]), sep)  # which raises what pandas lets through
    if is_arrow_string(series.dtype):
        # pandas accepts an empty separator if there are no rows.
        return _sorted_rows(Rows.split(arrow_chunks(pa_array(series)), sep or "|", keep_empty=True))
    positions, levels = distinct(series)
    return split_python(levels.tolist(), sep, keep_empty=True).take(positions)


def split_python(texts: Sequence[str], sep: str, *, keep_empty: bool = False) -> Rows:
    """Return the labels of each of Python's strings, sorted."""
    chunks = [TextArray.from_objects(texts, is_text=True)]
    return _sorted_rows(Rows.split(chunks, sep, keep_empty=keep_empty))


def _sorted_rows(rows: Rows) -> Rows:
    """Return rows whose labels are sorted."""
    codes, labels, _ = rows.elements
    order = labels.argsort()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Rows(rows.offsets, _labels(rank[codes], labels.take(order)))


def distinct(series: "pd.Series[Any]") -> "tuple[Codes, pd.Index[Any]]":
    """Return the position of each row's string, -1 for missing, and the strings that occur."""
    column, levels = code_series(series)
    positions = level_codes(column)
    occurs = np.zeros(len(levels) + 1, bool)  # the last is for -1
    occurs[positions] = True
    if not occurs[:-1].all():
        order = np.append(np.cumsum(occurs[:-1]) - 1, -1)
        positions, levels = order[positions], levels[occurs[:-1]]
    return positions, levels
