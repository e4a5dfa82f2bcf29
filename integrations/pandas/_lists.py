"""Rows of several labels: lists, Arrow's lists and separated texts."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import adapter
from onehot_fast.adapter import Column, Rows, check_separator, map_columns, read_rows, spread

from ._read import (
    Codes,
    arrow_array,
    code_series,
    is_arrow_string,
    level_codes,
    python_values,
    read_column,
)

__all__ = ["distinct", "is_arrow", "read_labels", "read_lists", "repeat_rows", "split_arrow"]

Strings: TypeAlias = "pd.Series[Any] | pd.Index[Any]"

SAMPLE = 1000  # rows that tell whether strings repeat
# Rows that are split at a time: their labels are gone when the next are split, and the result alone
# takes memory. The dictionaries of all parts are put together at the end.
BLOCK_ROWS = 1 << 14
SPLITTING_BYTES = 1024  # Arrow splits and hashes a string while memory takes so many


def read_lists(rows: Any) -> Rows:
    """Return a column of lists as offsets and flat elements.

    Parameters
    ----------
    rows : Series or Index of n_rows
        Arrow's lists are read where they lie; all others one by one. A missing list is empty.

    Returns
    -------
    Rows
        Row ``i`` has the elements ``offsets[i]:offsets[i + 1]``; those of integers are an array,
        in which a missing one is -1, all others of Arrow a `Column`.

    Raises
    ------
    TypeError
        If a row is no list.

    Examples
    --------
    >>> read_lists(pd.Series([[2, 0], None, [2]]))
    Rows(offsets=array([0, 2, 2, 3]), elements=array([2, 0, 2]))
    """
    lists = _arrow_lists(rows)
    if lists is None:
        return read_rows(list(rows), None, None)
    import pyarrow as pa

    if pa.types.is_integer(lists.elements.type):
        elements = lists.elements
        whole = elements.cast(pa.int64()).fill_null(-1) if elements.null_count else elements
        return Rows(lists.offsets, whole.to_numpy())
    return Rows(lists.offsets, _arrow_column(lists.elements))


def read_labels(series: "pd.Series[Any]", sep: str | None) -> Rows:
    """Return the labels of each row, be they listed or separated.

    Parameters
    ----------
    series : Series of n_rows
        Lists, or texts where there is a `sep`; a missing row has no labels.
    sep : str, optional
        What stands between labels, literally. An empty label is none.

    Returns
    -------
    Rows
        The elements are a `Column`: row ``i`` has those of ``offsets[i]:offsets[i + 1]``.

    Raises
    ------
    TypeError, ValueError
        If a row is no list, a value or `sep` is no text, or `sep` is empty.

    Examples
    --------
    >>> offsets, labels = read_labels(pd.Series(["a|b", None, "b"]), "|")
    >>> offsets, labels.categories[labels.codes]
    (array([0, 2, 2, 3]), array(['a', 'b', 'b'], dtype=object))
    """
    if sep is not None:
        check_separator(sep)
        is_text = is_arrow_string(series.dtype)
        return _without_empty(split_arrow(series, sep)) if is_text else _split_texts(series, sep)
    lists = _arrow_lists(series)
    if lists is not None:
        return Rows(lists.offsets, _arrow_column(lists.elements))
    rows = read_rows(list(series), None, None)
    return Rows(rows.offsets, adapter.read_column(rows.elements))


def _split_texts(series: "pd.Series[Any]", sep: str) -> Rows:
    """Return the labels in Python's strings, of which each distinct one is split once."""
    column, levels = code_series(series)
    rows = read_rows(python_values(levels), None, sep)
    distinct_rows = Rows(rows.offsets, adapter.read_column(rows.elements))
    return repeat_rows(distinct_rows, level_codes(column))


def _without_empty(rows: Rows) -> Rows:
    """Return the labels of split texts; the empty one, which sorts first, is missing."""
    codes, categories = rows.elements.codes, rows.elements.categories
    if not len(categories) or categories[0]:
        return rows
    return Rows(rows.offsets, _labels(codes - codes.dtype.type(1), categories[1:]))


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


def _labels(codes: Codes, labels: npt.NDArray[Any]) -> Column:
    return Column(codes, labels, source="dictionary")


def is_arrow(dtype: Any) -> bool:
    """Tell whether values of this dtype lie in Arrow's memory."""
    return isinstance(dtype, pd.ArrowDtype) or is_arrow_string(dtype)


def split_arrow(series: "pd.Series[Any]", sep: str) -> Rows:
    """Return the labels of each row of Arrow strings, sorted, the empty one included.

    Strings that repeat are split once.
    """
    if _rarely_repeats(series):
        return _split(arrow_array(series), sep)
    positions, levels = distinct(series)
    return repeat_rows(_split(arrow_array(levels), sep), positions)


def _rarely_repeats(series: "pd.Series[Any]") -> bool:
    """Tell whether finding the distinct strings would cost more than it saves, by a sample.

    Hashing 200,000 strings takes as long as splitting them. A dictionary is hashed already.
    """
    if isinstance(series.dtype, pd.ArrowDtype) and "dictionary" in str(series.dtype):
        return False
    sample = series.iloc[:: max(1, len(series) // SAMPLE)]
    return sample.nunique() > len(sample) // 2


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


def repeat_rows(rows: Rows, positions: Codes) -> Rows:
    """Return the labels of all rows, given those of the distinct ones and which each row is."""
    offsets, elements = spread(rows.offsets, positions)
    return Rows(offsets, _labels(rows.elements.codes.take(elements), rows.elements.categories))


def _split(texts: Any, sep: str) -> Rows:
    """Return the labels of Arrow strings, sorted, the empty one included."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blocks = [texts.slice(i, BLOCK_ROWS) for i in range(0, max(1, len(texts)), BLOCK_ROWS)]
    parts = map_columns(
        lambda block: _split_block(block, sep), blocks, len(texts) * SPLITTING_BYTES
    )
    # One dictionary for all: the blocks have the same labels in different orders.
    encoded = pa.chunked_array([labels for labels, _ in parts]).unify_dictionaries()
    labels = encoded.chunk(0).dictionary
    order = pc.array_sort_indices(labels)
    rank = np.empty(len(order), np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    codes = np.concatenate([rank.take(chunk.indices.to_numpy()) for chunk in encoded.chunks])
    sorted_labels = np.array(labels.take(order).to_pylist(), object)
    lengths = np.concatenate([lengths for _, lengths in parts])
    return Rows(_offsets(lengths), _labels(codes, sorted_labels))


def _split_block(texts: Any, sep: str) -> tuple[Any, npt.NDArray[np.int32]]:
    """Return the labels of Arrow strings as a dictionary array, and how many each has."""
    import pyarrow.compute as pc

    split = pc.split_pattern(texts, sep)
    lengths = pc.list_value_length(split).fill_null(0)  # a missing string has no labels
    return split.flatten().dictionary_encode(), lengths.to_numpy()
