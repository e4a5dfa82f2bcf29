"""`str_get_dummies`, a faster drop-in for `pandas.Series.str.get_dummies`.

pandas has two ways to find the tags of a row. In Arrow strings, each piece between two separators
is a tag, even an empty piece. For other strings, pandas first splits all rows like
``Series.str.split``, and collects the pieces that are not empty. A row has each of these tags that
occurs in the row between two separators.
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
from onehot_fast.adapter import Categories, CodedColumn, Rows
from onehot_fast.adapter import Strings as TextArray

from ._codes import Codes, arrow_chunks, code_series, is_arrow_string, keep_values, pa_array

__all__ = ["str_get_dummies"]

SPECIAL = frozenset(r".^$*+?{}[]\|()")  # the special characters of regular expressions
# The tag of a missing value in a categorical Series: pandas converts the value to a string.
MISSING = "NaN" if int(pd.__version__.split(".")[0]) >= 3 else "nan"


def str_get_dummies(data: Any, sep: str = "|", dtype: Any = None) -> Any:
    """Split strings into tags, and return one indicator column per tag.

    The result is the same as that of ``data.str.get_dummies(sep, dtype)``.

    Parameters
    ----------
    data : Series or Index of n_rows
        The strings to split. A missing value has no tags.
    sep : str, default "|"
        The separator between tags.
    dtype : dtype, optional
        The numeric or Boolean dtype of the new columns. The default is int64, or Arrow's Boolean
        if `data` has an ``ArrowDtype``.

    Returns
    -------
    pandas.DataFrame of n_rows
        One column per tag, sorted, with the index of the Series. As in pandas, if `dtype` is an
        extension dtype, an Index also becomes a DataFrame, and every result has a RangeIndex.
    pandas.MultiIndex, Index or ndarray
        For an Index, a MultiIndex with one level per tag; an Index if there is only one tag; an
        array of shape (n_rows, n_tags) if the dtype is Boolean.

    Raises
    ------
    AttributeError
        If `data` does not contain strings.
    TypeError
        If `data` contains bytes, or `sep` is not a str.
    ValueError
        If `dtype` is neither numeric nor Boolean, or an Index has no tags.
    MemoryError
        If the result does not fit in memory. Nothing has been allocated.

    Notes
    -----
    Unlike pandas, this function also accepts a Series or Index in Arrow memory without any text
    (the result has its rows, and no column), extension dtypes and complex numbers as `dtype` for an
    ``ArrowDtype``, and string views. A tag that ends in a NUL character keeps it; pandas removes it
    from the tags of a categorical Series.

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
    data.str  # noqa: B018  pandas raises an error if there are no strings
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
    """Return the result for a Series: Arrow columns if `arrow`, else a view of the block."""
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
    """Return the result for an Index: an index with one level per tag, or an array of Booleans."""
    if block.dtype.kind == "b" and not arrow:
        return block
    if arrow:  # as in pandas, which converts the values to Python numbers
        block = block.astype({"b": bool, "f": float}.get(block.dtype.kind, np.int64), copy=False)
    if len(tags) == 1:
        return pd.Index(block[:, 0], name=tags[0])
    return pd.MultiIndex.from_arrays(list(block.T), names=tags)


def _matrix(rows: Rows, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    # One thread, because splitting takes most of the time, and idle threads would spin for 10 ms.
    return multi_hot(rows.elements, offsets=rows.offsets, dtype=dtype, num_threads=1)


def _split_rows(series: "pd.Series[Any]", sep: str) -> Rows:
    if isinstance(series.dtype, pd.ArrowDtype) or is_arrow_string(series.dtype):
        return _split_arrow(series, sep)
    positions, texts = _distinct_texts(series)
    rows = _split_texts(texts, sep) if _is_plain(sep) else _split_pattern(texts, sep)
    return rows.take(positions)


def _distinct_texts(series: "pd.Series[Any]") -> tuple[Codes, list[str]]:
    """Return each row's position among the distinct strings, and these strings.

    Values that are not strings are converted. A missing value becomes an empty string, or the
    string `MISSING` in a categorical Series.
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
    """Tell whether treating `sep` as plain text gives the tags that pandas finds.

    pandas treats a `sep` of several characters as a regular expression, and splits at every
    position if `sep` is empty. If two separators can overlap, pandas misses some tags.
    """
    if len(sep) == 1:
        return True
    overlaps = any(sep.startswith(sep[i:]) for i in range(1, len(sep)))
    return bool(sep) and not overlaps and not SPECIAL & set(sep)


def _split_pattern(texts: Sequence[str], sep: str) -> Rows:
    """Split all texts by the pattern `sep`, then search each text for every tag, as pandas does."""
    framed = [f"{sep}{text}{sep}" for text in texts]
    pattern = re.compile(sep)
    tags = sorted(set().union(*map(pattern.split, framed)) - {""})
    rows = [[i for i, tag in enumerate(tags) if f"{sep}{tag}{sep}" in text] for text in framed]
    found = Rows.read(rows)
    column = Column(found.elements, np.array(tags, object), source="dictionary")
    return Rows(found.offsets, column)


def _split_arrow(series: "pd.Series[Any]", sep: str) -> Rows:
    """Split Arrow strings into tags and keep empty tags; the result has sorted categories."""
    if not sep and len(series):
        import pyarrow as pa
        import pyarrow.compute as pc

        pc.split_pattern(pa.array([""]), sep)  # raises the same error as pandas
    if is_arrow_string(series.dtype):
        # pandas accepts an empty separator if there are no rows.
        return _sorted_rows(Rows.split(arrow_chunks(pa_array(series)), sep or "|", keep_empty=True))
    positions, levels = _distinct(series)
    return _split_texts(levels.tolist(), sep, keep_empty=True).take(positions)


def _split_texts(texts: Sequence[str], sep: str, *, keep_empty: bool = False) -> Rows:
    """Split Python strings into tags; the categories of the result are sorted."""
    chunks = [TextArray.from_objects(texts, is_text=True)]
    return _sorted_rows(Rows.split(chunks, sep, keep_empty=keep_empty))


def _sorted_rows(rows: Rows) -> Rows:
    """Sort the categories of rows, and return the rows with the new codes."""
    labels = rows.elements
    tags, rank = Categories.of(labels.stored).sorted()
    column = Column(rank.astype(np.int32)[labels.codes], tags.values, source="dictionary")
    return Rows(rows.offsets, column)


def _distinct(series: "pd.Series[Any]") -> "tuple[Codes, pd.Index[Any]]":
    """Return each row's position among the distinct strings (-1 if missing), and these strings."""
    column, levels = code_series(series)
    positions = column.features()
    counts = CodedColumn(positions, None, len(levels)).counts()
    return keep_values(positions, levels, counts > 0)
