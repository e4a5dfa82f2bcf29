"""Target values of one label each → codes, categories and the type of target they make.

What scikit-learn's checks would say of all rows follows from the few categories where the values
are integers, Booleans, texts, or floats without fractions. All else is left to those checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from onehot_fast._categories.factorize import factorize
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.registry import reader_of
from onehot_fast.column import read_column

AnyArray: TypeAlias = npt.NDArray[Any]

INT64_END = 2.0**63


class Labels(NamedTuple):
    """Labels that have been read: one for each row, and none of them missing."""

    codes: AnyArray  # the position of each row's label in `categories`
    categories: AnyArray  # distinct, in any order; texts have a dtype of texts
    used: AnyArray  # the categories that occur
    dtype: np.dtype[Any] | None  # of the array they came in, None for a list

    @property
    def kind(self) -> str:
        """Return what `sklearn.utils.multiclass.type_of_target` says of the labels."""
        return "multiclass" if len(self.used) > 2 else "binary"

    def classes(self) -> AnyArray:
        """Return what `sklearn.utils.multiclass.unique_labels` makes of them."""
        return np.asarray(sorted(self.used.tolist()), self.used.dtype.newbyteorder("="))


def quick_labels(y: Any) -> Labels | None:
    """Return the labels, or None where scikit-learn has to judge them (and perhaps refuse them)."""
    if type(y) is np.ndarray:
        return _of_array(y, y.dtype)
    if type(y) in (list, tuple):
        values = _uniform(y)
        dtype = None if values is None or type(y) is list else values.dtype
        return None if values is None else _of_array(values, dtype)
    if reader_of(y) is None or len(getattr(y, "shape", (0,))) != 1:
        return None
    if isinstance(y.dtype if hasattr(y, "dtype") else None, np.dtype) and y.dtype.kind in "biuf":
        return _of_array(np.asarray(y), y.dtype)
    return _of_library(y)


def judged_labels(y: Any, dtype: np.dtype[Any] | None) -> Labels:
    """Return labels that `type_of_target` has found to be binary or multiclass."""
    categories, codes = np.unique(column_or_1d(y), return_inverse=True)
    return Labels(codes.reshape(-1), _as_texts(categories), categories, dtype)


def unread_labels(n_rows: int, dtype: np.dtype[Any] | None) -> Labels:
    """Return rows without a label."""
    nothing = np.empty(0)
    return Labels(np.full(n_rows, -1, np.int8), nothing, nothing, dtype)


def _of_array(values: AnyArray, dtype: np.dtype[Any] | None) -> Labels | None:
    """Return the labels in an array, or in its only column."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.reshape(-1)
    is_plain = values.dtype.kind in "biuOU" or values.dtype in (np.float32, np.float64)
    if values.ndim != 1 or not values.size or not is_plain:
        return None
    try:
        codes, categories, _ = factorize(values)
    except TypeError:  # a label without a hash
        return None
    return _labels(codes, categories, dtype)


def _of_library(y: Any) -> Labels | None:
    """Return the texts in a column of a library; what others become is up to `check_array`."""
    try:
        column = read_column(y)
    except (TypeError, ValueError):
        return None
    categories = column.categories
    is_text = bool(len(categories)) and set(map(type, categories.tolist())) == {str}
    return _labels(column.codes, categories, None) if is_text else None


def _labels(codes: AnyArray, categories: AnyArray, dtype: np.dtype[Any] | None) -> Labels | None:
    """Return coded labels, if none is missing and the categories are plain."""
    threads = parallel.resolve(None, codes.nbytes)
    counts = dispatch.count(codes, len(categories), threads)
    if counts.sum() != len(codes):
        return None
    kind = categories.dtype.kind
    if kind == "O" and set(map(type, categories.tolist())) != {str}:
        return None
    if kind == "f" and not _is_whole(categories):
        return None
    categories = _as_texts(categories)
    used = categories if counts.all() else categories[counts > 0]
    if used.dtype.kind == "U" and used is not categories:
        used = np.asarray(used.tolist())  # no wider than the longest
    return Labels(codes, categories, used, dtype)


def _uniform(y: Sequence[Any]) -> AnyArray | None:
    """Return a list whose elements are all of one of Python's plain types."""
    kind = type(y[0]) if y else None
    if kind is str:  # whether all are, their categories will tell
        values = np.empty(len(y), object)
        values[:] = y
        return values
    if kind not in (int, bool, float) or set(map(type, y)) != {kind}:
        return None
    numbers = np.asarray(y)
    return numbers if numbers.dtype.kind in "bif" else None  # not beyond int64


def _is_whole(numbers: AnyArray) -> bool:
    """Tell whether floats are integers that int64 holds: classes, and not a regression's target."""
    return bool(((numbers == np.trunc(numbers)) & (np.abs(numbers) < INT64_END)).all())


def _as_texts(categories: AnyArray) -> AnyArray:
    """Return texts in NumPy's own dtype, which compares them without asking Python."""
    if categories.dtype.kind == "U" or (categories.dtype.kind == "O" and len(categories)):
        return np.asarray(categories.tolist())
    return categories
