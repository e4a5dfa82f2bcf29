"""Rows of several labels: lists, Arrow's lists and separated texts."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast._arguments.indices import require_word
from onehot_fast._categories.lists import Rows, check_separator, read_rows
from onehot_fast.column import Column, read_column
from onehot_fast.integrations.pandas.read import coded, is_arrow_string
from onehot_fast.integrations.pandas.split import Tagged, split_arrow, spread
from onehot_fast.integrations.pandas.tables import read_column as column_of
from onehot_fast.ragged import encode_labels

__all__ = ["encode_lists", "read_labels", "read_lists"]

Offsets: TypeAlias = npt.NDArray[np.int64]


def encode_lists(
    series: "pd.Series[Any]",
    sep: str | None,
    categories: Any,
    mode: Literal["set", "count"],
    dtype: np.dtype[Any],
    output: Literal["pandas", "numpy", "csr"],
) -> Any:
    """Return the multi-hot form of a Series; see ``Series.onehot.multi_hot``."""
    require_word(output, "output", ("pandas", "numpy", "csr"))
    offsets, labels = read_labels(series, sep)
    form: Literal["numpy", "csr"] = "csr" if output == "csr" else "numpy"
    result, names = encode_labels(offsets, labels, categories, mode, dtype, form)
    if output != "pandas":
        return result
    columns = pd.Index(names, tupleize_cols=False)
    return pd.DataFrame(result, index=series.index, columns=columns, copy=False)


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
    arrow = _arrow_lists(rows)
    if arrow is None:
        return read_rows(list(rows), None, None)
    import pyarrow as pa

    offsets, elements = arrow
    if pa.types.is_integer(elements.type):
        whole = elements.cast(pa.int64()).fill_null(-1) if elements.null_count else elements
        return Rows(offsets, whole.to_numpy())
    return Rows(offsets, _arrow_column(elements))


def read_labels(series: "pd.Series[Any]", sep: str | None) -> tuple[Offsets, Column]:
    """Return the labels of each row, be they listed or separated.

    Parameters
    ----------
    series : Series of n_rows
        Lists, or texts where there is a `sep`; a missing row has no labels.
    sep : str, optional
        What stands between labels, literally. An empty label is none.

    Returns
    -------
    offsets : int64 ndarray of shape (n_rows + 1,)
    labels : Column
        Row ``i`` has the codes ``offsets[i]:offsets[i + 1]``.

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
        return _separated(series, sep)
    arrow = _arrow_lists(series)
    if arrow is not None:
        return arrow[0], _arrow_column(arrow[1])
    rows = read_rows(list(series), None, None)
    return rows.offsets, read_column(rows.elements)


def _separated(series: "pd.Series[Any]", sep: str) -> tuple[Offsets, Column]:
    """Return the labels in separated texts, after each distinct text was split once."""
    check_separator(sep)
    if is_arrow_string(series.dtype):
        rows = split_arrow(series, sep)
        return rows.offsets, _without_empty(rows)
    found = coded(series)
    texts = read_rows(found.levels.tolist(), None, sep)
    labels = read_column(texts.elements)
    rows = spread(Tagged(texts.offsets, labels.codes, []), found.positions())
    return rows.offsets, Column(rows.codes, labels.categories, source="dictionary")


def _without_empty(rows: Tagged) -> Column:
    """Return the labels of split texts; the empty one, which sorts first, is missing."""
    categories = np.array(rows.tags, object)
    if not len(categories) or categories[0]:
        return Column(rows.codes, categories, source="dictionary")
    return Column(rows.codes - rows.codes.dtype.type(1), categories[1:], source="dictionary")


def _arrow_lists(rows: Any) -> tuple[Offsets, Any] | None:
    """Return offsets and elements of Arrow's lists, None where the rows are something else."""
    dtype = getattr(rows, "dtype", None)
    if not isinstance(dtype, pd.ArrowDtype):
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_kind(dtype.pyarrow_dtype) for is_kind in kinds):
        return None
    lists = pa.array(rows.array)
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    offsets = _offsets(pc.list_value_length(lists).fill_null(0).to_numpy())
    return offsets, lists.flatten()  # without what null lists may hold


def _arrow_column(elements: Any) -> Column:
    """Return flat elements as a column."""
    return column_of(pd.Series(pd.arrays.ArrowExtensionArray(elements), copy=False))


def _offsets(lengths: npt.NDArray[Any]) -> Offsets:
    """Return where each row begins, and the end."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
