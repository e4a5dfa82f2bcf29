"""Rows of several labels: lists, arrays of one width, and separated texts."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast._arguments.indices import require_word
from onehot_fast._categories.keys import title
from onehot_fast._categories.lists import Rows, read_rows
from onehot_fast.column import Block, Column
from onehot_fast.integrations.polars.read import UInt128, read_column
from onehot_fast.integrations.polars.tables import read_table, wrap
from onehot_fast.ragged import encode_labels

__all__ = ["encode_lists", "read_labels", "read_lists"]

Offsets: TypeAlias = npt.NDArray[np.int64]


def encode_lists(
    series: pl.Series,
    sep: str | None,
    categories: Any,
    mode: Literal["set", "count"],
    dtype: np.dtype[Any],
    output: Literal["polars", "numpy", "csr"],
) -> Any:
    """Return the multi-hot form of a Series; see ``Series.onehot.multi_hot``."""
    require_word(output, "output", ("polars", "numpy", "csr"))
    offsets, labels = read_labels(series, sep)
    form: Literal["numpy", "csr"] = "csr" if output == "csr" else "numpy"
    result, names = encode_labels(offsets, labels, categories, mode, dtype, form)
    if output != "polars":
        return result
    titles = tuple(map(title, names))
    return wrap(read_table(series), [Block(titles, np.ascontiguousarray(result.T))])


def read_lists(rows: Any) -> Rows:
    """Return a Series of lists as offsets and flat elements.

    Parameters
    ----------
    rows : polars.Series of List or Array, of n_rows
        A missing list is empty.

    Returns
    -------
    Rows
        Row ``i`` has the elements ``offsets[i]:offsets[i + 1]``; those of integers are an array,
        in which a missing one is -1, all others a `Column`.

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> read_lists(pl.Series([[2, 0], None, [2]]))
    Rows(offsets=array([0, 2, 2, 3]), elements=array([2, 0, 2]))
    """
    offsets, elements = _flat(rows)
    if not elements.dtype.is_integer():
        return Rows(offsets, read_column(elements.alias(rows.name)))
    return Rows(offsets, _integers(elements, rows.name))


def _integers(elements: pl.Series, name: str) -> npt.NDArray[Any]:
    """Return integers as an array, a missing one as -1."""
    if not elements.null_count() and elements.dtype not in (pl.Int128, UInt128):
        return elements.to_numpy()
    try:
        return elements.cast(pl.Int64).fill_null(-1).to_numpy()
    except pl.exceptions.InvalidOperationError as error:
        raise ValueError(
            f"Series {name!r} of {elements.dtype} has elements beyond int64: {error}"
        ) from error


def read_labels(series: pl.Series, sep: str | None) -> tuple[Offsets, Column]:
    """Return the labels of each row, be they listed or separated.

    Parameters
    ----------
    series : polars.Series of n_rows
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
        If the rows are no lists, or no texts where there is a `sep`, or `sep` is empty.

    Examples
    --------
    >>> offsets, labels = read_labels(pl.Series(["a|b", None, "b"]), "|")
    >>> offsets, labels.categories[labels.codes].tolist()
    (array([0, 2, 2, 3]), ['a', 'b', 'b'])
    """
    if sep is not None:
        return _separated(series, sep)
    offsets, elements = _flat(series)
    return offsets, read_column(elements.alias(series.name))


def _separated(series: pl.Series, sep: str) -> tuple[Offsets, Column]:
    """Return the labels in separated texts, after each distinct text was split once."""
    read_rows([], None, sep)  # which refuses what is no separator
    if series.dtype.base_type() not in (pl.String, pl.Categorical, pl.Enum):
        raise TypeError(
            f"Series {series.name!r} has dtype {series.dtype}: with sep= every row is a text"
        )
    texts = read_column(series)
    starts, elements = _flat(pl.Series(texts.categories, dtype=pl.String).str.split(sep))
    labels = read_column(elements.replace("", None))
    lengths = np.append(np.diff(starts), 0).take(texts.codes)  # the 0 is that of missing texts
    offsets = _offsets(lengths)
    within = np.arange(offsets[-1])
    within += np.repeat(np.append(starts[:-1], 0).take(texts.codes) - offsets[:-1], lengths)
    return offsets, Column(labels.codes.take(within), labels.categories, source="dictionary")


def _flat(rows: pl.Series) -> tuple[Offsets, pl.Series]:
    """Return the offsets and the elements of lists."""
    name, rows = rows.name, rows.alias("")  # "^x$" would be taken for a pattern of names
    if rows.dtype == pl.Array:
        rows = rows.arr.to_list()
    if rows.dtype != pl.List:
        raise TypeError(
            f"Series {name!r} has dtype {rows.dtype}; accepted are List and Array (texts need sep=)"
        )
    lengths = rows.list.len().fill_null(0)
    # Exploded, an empty list would become a null.
    filled = rows.filter(lengths > 0) if (lengths == 0).any() else rows
    return _offsets(lengths.to_numpy()), filled.explode()


def _offsets(lengths: npt.NDArray[Any]) -> Offsets:
    """Return where each row begins, and the end."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
