"""`str_get_dummies`, a faster drop-in for `pandas.Series.str.get_dummies`.

pandas splits strings in two ways, which this module follows. Strings in Arrow memory are split at
the separator, and an empty piece is a tag. Other strings are split as by ``Series.str.split``,
empty pieces are dropped, and a row has every tag that occurs between two of its separators.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

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
from onehot_fast.adapter import Rows
from onehot_fast.adapter import Strings as TextArray

from ._codes import Codes, arrow_chunks, code_series, is_arrow_string, pa_array

__all__ = ["str_get_dummies"]

SPECIAL = frozenset(r".^$*+?{}[]\|()")  # the special characters of regular expressions
# The text of a missing value of a categorical Series in pandas, which then is a tag.
MISSING = "NaN" if int(pd.__version__.split(".")[0]) >= 3 else "nan"


def str_get_dummies(data: Any, sep: str = "|", dtype: Any = None) -> Any:
    """Split strings into tags, and return one indicator column per tag.

    The result is that of ``data.str.get_dummies(sep, dtype)``.

    Parameters
    ----------
    data : Series or Index of n_rows
        Strings; a missing one has no tags.
    sep : str, default "|"
        The separator of tags.
    dtype : dtype, optional
        Numeric or Boolean dtype of the columns; by default int64, and for columns of
        ``ArrowDtype`` Arrow's Boolean.

    Returns
    -------
    pandas.DataFrame of n_rows
        One column per tag, sorted. As in pandas, it has the index of the Series unless `dtype` is
        an extension dtype; with such a dtype an Index becomes a DataFrame, too.
    pandas.MultiIndex, Index or ndarray
        For an Index: one level per tag; an Index for one tag; an array of n_rows x n_tags for
        Booleans.

    Raises
    ------
    AttributeError
        If `data` does not hold strings.
    TypeError
        If it holds bytes, or `sep` is not a str.
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
        raise TypeError(f"sep must be a str, got {sep!r}")
    data.str  # noqa: B018  raises the error of pandas if there are no strings
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
    """Return the result for an Index: a level per tag, or an array of Booleans."""
    if block.dtype.kind == "b" and not arrow:
        return block
    if arrow:  # pandas converts to Python numbers
        block = block.astype({"b": bool, "f": float}.get(block.dtype.kind, np.int64), copy=False)
    if len(tags) == 1:
        return pd.Index(block[:, 0], name=tags[0])
    return pd.MultiIndex.from_arrays(list(block.T), names=tags)


def _matrix(rows: Rows, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    # On one thread: splitting takes three times as long, and idle threads of a team spin for 10 ms.
    return multi_hot(rows.elements, offsets=rows.offsets, dtype=dtype, num_threads=1)


def _split_rows(series: "pd.Series[Any]", sep: str) -> Rows:
    if isinstance(series.dtype, pd.ArrowDtype) or is_arrow_string(series.dtype):
        return _split_arrow(series, sep)
    positions, texts = _distinct_texts(series)
    rows = _split_texts(texts, sep) if _is_plain(sep) else _split_pattern(texts, sep)
    return rows.take(positions)


def _distinct_texts(series: "pd.Series[Any]") -> tuple[Codes, list[str]]:
    """Return the position of each row's text, and the distinct texts; other objects become texts.

    A missing value is an empty text, and a text of its own in a categorical Series.
    """
    is_category = isinstance(series.dtype, pd.CategoricalDtype)
    kind = infer_dtype(cast(Any, series.dtype).categories if is_category else series, skipna=True)
    if kind == "bytes":
        raise TypeError("Cannot use .str.get_dummies with values of inferred dtype 'bytes'.")
    if not (is_category or kind in ("string", "empty")):
        series = series.where(series.notna(), "").map(str).astype(object)
    positions, levels = _distinct(series)
    texts = [str(text) for text in levels]
    is_missing = positions < 0
    if not is_missing.any():
        return positions, texts
    missing = MISSING if is_category else ""
    return np.where(is_missing, len(texts), positions), [*texts, missing]


def _is_plain(sep: str) -> bool:
    """Tell whether the tags are the texts between separators.

    pandas takes a longer `sep` for a regular expression, and an empty one for every position.
    Separators that can overlap hide tags.
    """
    if len(sep) == 1:
        return True
    overlaps = any(sep.startswith(sep[i:]) for i in range(1, len(sep)))
    return bool(sep) and not overlaps and not SPECIAL & set(sep)


def _split_pattern(texts: Sequence[str], sep: str) -> Rows:
    """Return the tags as pandas finds them: split by `sep` as a pattern, then search for them."""
    framed = [f"{sep}{text}{sep}" for text in texts]
    pattern = re.compile(sep)
    tags = sorted(set().union(*map(pattern.split, framed)) - {""})
    rows = [[i for i, tag in enumerate(tags) if f"{sep}{tag}{sep}" in text] for text in framed]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    codes = np.fromiter((i for row in rows for i in row), np.int32, offsets[-1])
    return Rows(offsets, Column(codes, np.array(tags, object), source="dictionary"))


def _split_arrow(series: "pd.Series[Any]", sep: str) -> Rows:
    """Return the sorted labels of each row of Arrow strings, the empty label included."""
    if not sep and len(series):
        import pyarrow as pa
        import pyarrow.compute as pc

        pc.split_pattern(pa.array([""]), sep)  # raises the same error as in pandas
    if is_arrow_string(series.dtype):
        # pandas accepts an empty separator if there are no rows.
        return _sorted_rows(Rows.split(arrow_chunks(pa_array(series)), sep or "|", keep_empty=True))
    positions, levels = _distinct(series)
    return _split_texts(levels.tolist(), sep, keep_empty=True).take(positions)


def _split_texts(texts: Sequence[str], sep: str, *, keep_empty: bool = False) -> Rows:
    """Return the sorted labels of each Python string."""
    chunks = [TextArray.from_objects(texts, is_text=True)]
    return _sorted_rows(Rows.split(chunks, sep, keep_empty=keep_empty))


def _sorted_rows(rows: Rows) -> Rows:
    codes, labels, _ = rows.elements
    order = labels.argsort()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Rows(rows.offsets, Column(rank[codes], labels.take(order), source="dictionary"))


def _distinct(series: "pd.Series[Any]") -> "tuple[Codes, pd.Index[Any]]":
    """Return the position of each row's string, -1 for missing, and the distinct strings."""
    column, levels = code_series(series)
    positions = column.outputs()
    occurs = np.zeros(len(levels) + 1, bool)  # the last is for -1
    occurs[positions] = True
    if not occurs[:-1].all():
        order = np.append(np.cumsum(occurs[:-1]) - 1, -1)
        positions, levels = order[positions], levels[occurs[:-1]]
    return positions, levels
