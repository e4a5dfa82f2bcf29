"""`pandas.Series.str.get_dummies` as a drop-in: its results and errors, from our kernels.

pandas splits strings in two ways, and so do we. Where Arrow keeps them, Arrow splits them at the
separator and the empty piece is a tag like any other. All other strings are split as
``Series.str.split`` does it, empty pieces are dropped, and a row has each tag that stands between
two separators in it. Arrow's strings are split where they lie, each distinct one of others once.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import (
    infer_dtype,
    is_bool_dtype,
    is_extension_array_dtype,
    is_numeric_dtype,
    pandas_dtype,
)

from onehot_fast import Column, multi_hot
from onehot_fast.adapter import Rows, with_article
from onehot_fast.adapter import Strings as TextArray

from ._codes import code_series, level_codes
from ._values import Codes, arrow_chunks, is_arrow_string, pa_array

__all__ = ["str_get_dummies"]

Strings: TypeAlias = "pd.Series[Any] | pd.Index[Any]"
SPECIAL = frozenset(r".^$*+?{}[]\|()")  # what a regular expression would not take literally
# What pandas writes for a missing value of a categorical Series, which then is a tag.
MISSING = "NaN" if int(pd.__version__.split(".")[0]) >= 3 else "nan"


def str_get_dummies(data: Strings, sep: str = "|", dtype: Any = None) -> Any:
    """Split strings into tags, and return one indicator column per tag.

    Does what ``data.str.get_dummies(sep, dtype)`` does.

    Parameters
    ----------
    data : Series or Index of n_rows
        Strings; a missing one has no tags.
    sep : str, default "|"
        What separates tags.
    dtype : dtype, optional
        Numeric or Boolean dtype of the columns; by default int64, and for columns of
        ``ArrowDtype`` Arrow's Boolean.

    Returns
    -------
    pandas.DataFrame of n_rows
        One column per tag, sorted. As in pandas it has the index of the Series, unless `dtype` is
        an extension dtype, and that is what an Index becomes then, too.
    pandas.MultiIndex, Index or ndarray
        For an Index: one level per tag; one tag is an Index; Booleans are an array of n_rows x
        n_tags.

    Raises
    ------
    AttributeError
        If `data` does not hold strings.
    TypeError
        If it holds bytes, or `sep` is no str.
    ValueError
        If `dtype` is neither numeric nor Boolean, or an Index has no tags.
    MemoryError
        If the result cannot fit in memory, before it is allocated.

    Examples
    --------
    >>> str_get_dummies(pd.Series(["a|b", None, "a|c"]))
       a  b  c
    0  1  1  0
    1  0  0  0
    2  1  0  1
    """
    if not isinstance(sep, str):
        raise TypeError(f"sep = {sep!r} is {with_article(sep)}; accepted is a str")
    data.str  # noqa: B018  refuses what holds no strings, in pandas' own words
    if dtype is not None and not (is_numeric_dtype(dtype) or is_bool_dtype(dtype)):
        raise ValueError("Only numeric or boolean dtypes are supported for 'dtype'")
    arrow = isinstance(data.dtype, pd.ArrowDtype)
    chosen: Any = dtype if dtype is not None else bool if arrow else np.int64
    series = data if isinstance(data, pd.Series) else pd.Series(data, copy=False)
    rows = _split_rows(series, sep)
    tags: list[str] = rows.elements.categories.tolist()
    if is_extension_array_dtype(chosen):
        frame: Any = pd.DataFrame(_matrix(rows, np.dtype(bool)), columns=tags, dtype=chosen)
        return frame.__finalize__(data)
    block = _matrix(rows, cast("np.dtype[Any]", pandas_dtype(chosen)))
    if isinstance(data, pd.Index):
        return _as_index(block, tags, arrow)
    return _as_frame(block, tags, data, arrow)


def _as_frame(
    block: npt.NDArray[Any], tags: list[str], data: "pd.Series[Any]", arrow: bool
) -> pd.DataFrame:
    """Return the frame of a Series: a view of the block, or Arrow columns."""
    make = cast(Any, data)._constructor_expanddim
    if arrow and tags:
        import pyarrow as pa

        columns = [pd.arrays.ArrowExtensionArray(pa.array(column)) for column in block.T]
        result = make(dict(zip(tags, columns, strict=True)), index=data.index, copy=False)
        result.columns = pd.Index(tags)
    else:
        result = make(block, columns=tags, index=data.index, copy=False)
    return cast(pd.DataFrame, result.__finalize__(data, method="str"))


def _as_index(block: npt.NDArray[Any], tags: list[str], arrow: bool) -> Any:
    """Return what pandas makes of an Index: a level per tag, or an array of Booleans."""
    if block.dtype.kind == "b" and not arrow:
        return block
    if arrow:  # pandas went through Python's numbers
        block = block.astype({"b": bool, "f": float}.get(block.dtype.kind, np.int64), copy=False)
    if len(tags) == 1:
        return pd.Index(block[:, 0], name=tags[0])
    return pd.MultiIndex.from_arrays(list(block.T), names=tags)


def _matrix(rows: Rows, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    # On one thread: splitting took three times as long, and the threads of a team go on spinning
    # for 10 ms, in the way of those that split the next call's.
    return multi_hot(rows.elements, offsets=rows.offsets, dtype=dtype, num_threads=1)


def _split_rows(series: "pd.Series[Any]", sep: str) -> Rows:
    if _is_arrow(series.dtype):
        return _split_arrow(series, sep)
    positions, texts = _distinct_python(series)
    return _split_python(texts, sep).take(positions)


def _distinct_python(series: "pd.Series[Any]") -> tuple[Codes, list[str]]:
    """Return the same of strings that are Python's, and of all that pandas turns into strings."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _distinct_categories(series)
    kind = infer_dtype(series, skipna=True)
    _refuse_bytes(kind)
    if kind not in ("string", "empty"):
        series = series.where(series.notna(), "").map(str).astype(object)
    positions, levels = _distinct(series)
    return _with_missing(positions, levels.tolist(), "")


def _distinct_categories(series: "pd.Series[Any]") -> tuple[Codes, list[str]]:
    """Return the same of a categorical Series, where a missing value is a text, too."""
    positions, levels = _distinct(series)
    _refuse_bytes(infer_dtype(cast(Any, series.dtype).categories, skipna=True))
    return _with_missing(positions, [str(text) for text in levels], MISSING)


def _with_missing(positions: Codes, texts: list[str], missing: str) -> tuple[Codes, list[str]]:
    """Return positions and texts after missing strings became a text of their own."""
    absent = positions < 0
    if not absent.any():
        return positions, texts
    return np.where(absent, len(texts), positions), [*texts, missing]


def _refuse_bytes(kind: str) -> None:
    """Refuse bytes as the methods of ``.str`` do."""
    if kind == "bytes":
        raise TypeError("Cannot use .str.get_dummies with values of inferred dtype 'bytes'.")


def _split_python(texts: Sequence[str], sep: str) -> Rows:
    """Return the tags of Python strings, without the empty one."""
    if not _is_plain(sep):
        return _split_odd(texts, sep)
    return _split_texts(texts, sep)


def _is_plain(sep: str) -> bool:
    """Tell whether splitting at `sep` finds just what stands between two separators.

    Not where `sep` is empty, where pandas reads it as a regular expression (any but single
    characters), or where two separators can overlap.
    """
    if len(sep) == 1:
        return True
    overlaps = any(sep.startswith(sep[i:]) for i in range(1, len(sep)))
    return bool(sep) and not overlaps and not SPECIAL & set(sep)


def _split_odd(texts: Sequence[str], sep: str) -> Rows:
    """Return the tags as pandas finds them: by `sep` as a pattern, then between separators."""
    framed = [f"{sep}{text}{sep}" for text in texts]
    pattern = re.compile(sep)  # an empty one stands between any two letters
    labels = map(pattern.split, framed)
    tags = sorted(set().union(*labels) - {""})
    return _as_rows(([tag for tag in tags if f"{sep}{tag}{sep}" in text] for text in framed), tags)


def _as_rows(split: Iterable[list[str]], tags: list[str]) -> Rows:
    """Return lists of tags by their positions, leaving out what is no tag."""
    position = {tag: i for i, tag in enumerate(tags)}
    rows = [[position[tag] for tag in row if tag in position] for row in split]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    codes = np.fromiter((i for row in rows for i in row), np.int32, offsets[-1])
    return Rows(offsets, Column(codes, np.array(tags, object), source="dictionary"))


def _is_arrow(dtype: Any) -> bool:
    """Tell whether values of this dtype lie in Arrow's memory."""
    return isinstance(dtype, pd.ArrowDtype) or is_arrow_string(dtype)


def _split_arrow(series: "pd.Series[Any]", sep: str) -> Rows:
    """Return the labels of each row of Arrow strings, sorted, the empty one included."""
    if not sep and len(series):
        import pyarrow as pa
        import pyarrow.compute as pc

        pc.split_pattern(pa.array([""]), sep)  # which raises what pandas lets through
    if is_arrow_string(series.dtype):
        # pandas accepts an empty separator if there are no rows.
        return _sorted_rows(Rows.split(arrow_chunks(pa_array(series)), sep or "|", keep_empty=True))
    positions, levels = _distinct(series)
    return _split_texts(levels.tolist(), sep, keep_empty=True).take(positions)


def _split_texts(texts: Sequence[str], sep: str, *, keep_empty: bool = False) -> Rows:
    """Return the labels of each of Python's strings, sorted."""
    chunks = [TextArray.from_objects(texts, is_text=True)]
    return _sorted_rows(Rows.split(chunks, sep, keep_empty=keep_empty))


def _sorted_rows(rows: Rows) -> Rows:
    """Return rows whose labels are sorted."""
    codes, labels, _ = rows.elements
    order = labels.argsort()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Rows(rows.offsets, Column(rank[codes], labels.take(order), source="dictionary"))


def _distinct(series: "pd.Series[Any]") -> "tuple[Codes, pd.Index[Any]]":
    """Return the position of each row's string, -1 for missing, and the strings that occur."""
    column, levels = code_series(series)
    positions = level_codes(column)
    occurs = np.zeros(len(levels) + 1, bool)  # the last is for -1
    occurs[positions] = True
    if not occurs[:-1].all():
        order = np.append(np.cumsum(occurs[:-1]) - 1, -1)
        positions, levels = order[positions], levels[occurs[:-1]]
    return positions, levels
