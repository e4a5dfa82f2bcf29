"""The categories of a feature: learned from a column, or known and looked up, and their outputs.

All that is done for each category is done by array operations.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast.adapter import Categories, CodedColumn, Strings, write

from ._read import OBJECT, OBJECT_TYPES, AnyArray, Column, object_type

Positions: TypeAlias = npt.NDArray[np.intp]
Lut: TypeAlias = npt.NDArray[np.int32]

UNKNOWN = -1
# Beyond it float64 has no longer all integers.
EXACT = 2**53
# So many outputs the kernels can number.
LIMIT = np.iinfo(np.int32).max


def learn(column: Column) -> tuple[AnyArray, Positions]:
    """Return the categories of a column and the position of each of its values among them.

    The categories are the values that occur, sorted, then what is missing. The last position is
    that of a missing value; a value that does not occur has the position `UNKNOWN`.
    """
    n = len(column.values)
    used = np.flatnonzero(write.count(column.codes, n))
    occurring = column.values if len(used) == n else column.values.take(used)
    order = _sorting_order(occurring)
    positions = np.full(n + 1, UNKNOWN, np.intp)
    positions[used[order]] = np.arange(len(used))
    values = occurring.take(order)
    array = values.to_object() if isinstance(values, Strings) else values
    categories = array.astype(column.dtype, copy=False)
    if column.has_missing:
        positions[-1] = len(categories)
        categories = np.append(categories, np.array([column.missing], column.dtype))
    return categories, positions


def use_given(given: Any, column: Column) -> tuple[AnyArray, Positions] | None:
    """Return categories that a user gave, and the position of each value of a column among them.

    None where scikit-learn must judge the categories, or the values.
    """
    try:
        categories = np.array(given, object if column.dtype.kind == "U" else column.dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    known = known_categories(categories) if categories.ndim == 1 else None
    positions = None if known is None else known.positions(column)
    return None if positions is None else (categories, positions)


def count_categories(
    column: Column, categories: AnyArray, positions: Positions
) -> npt.NDArray[np.int64]:
    """Return in how many rows of a column each category occurs."""
    found = write.count(column.codes, len(column.values))
    found = np.append(found, len(column.codes) - found.sum())
    counts = np.zeros(len(categories), np.int64)
    is_known = positions != UNKNOWN
    counts[positions[is_known]] = found[is_known]
    return counts


def has_unknown(column: Column, positions: Positions) -> bool:
    """Tell whether a value that occurs in a column is unknown."""
    is_unknown = positions == UNKNOWN
    if is_unknown[-1] and column.has_missing:
        return True
    values = is_unknown[:-1]
    return bool(values.any() and write.count(column.codes, len(values))[values].any())


@dataclass(frozen=True, eq=False)
class Known:
    """The categories of a feature, prepared for looking up values."""

    categories: AnyArray  # as scikit-learn keeps them
    keys: AnyArray  # those that are not missing, sorted; text as objects
    type: type  # of the keys as Python objects: str, int, float or bool
    order: Positions | None  # the position of each key among the categories, None if the same
    none: int  # the position of None, UNKNOWN without it
    nan: int  # the position of NaN, UNKNOWN without it

    @cached_property
    def table(self) -> Categories:
        """The keys in a hash table, which is built at the first look-up."""
        return Categories.of(self.keys)

    def positions(self, column: Column) -> Positions | None:
        """Return the position of each value of a column, then of a missing one.

        A value that is no category has the position `UNKNOWN`. The result is None where it depends
        on more than equality: values of another type than the categories.
        """
        found = self._positions(column)
        if found is None:
            return None
        if self.order is not None:
            found = np.where(found >= 0, self.order[found], UNKNOWN)
        return np.append(found, self.none if column.missing is None else self.nan)

    def _positions(self, column: Column) -> Positions | None:
        values = column.values
        if not len(values):
            both = column.dtype.kind, self.categories.dtype.kind
            same = (both[0] in "OU") == (both[1] in "OU")
            return np.empty(0, np.intp) if same else None
        if _python_type(values) is not self.type:
            return None
        if isinstance(values, Strings):
            return self.table.find(Categories.of(values))
        if (column.dtype == OBJECT) != (self.categories.dtype == OBJECT):
            return None
        numbers = _numbers(values)
        if numbers is None or not _is_comparable(self.keys, numbers):
            return None
        return self.table.find(Categories.of(numbers))

    def position(self, value: Any) -> int:
        """Return the position of one value, `UNKNOWN` if it is no category.

        Raises
        ------
        LookupError
            The value is of another type than the categories.
        """
        if type(value) is self.type:
            i = bisect_left(self.keys, value)
            if i < len(self.keys) and self.keys[i] == value:
                return i if self.order is None else int(self.order[i])
            return UNKNOWN if value == value else self.nan
        if value is None:
            return self.none
        if type(value) is float and value != value:
            return self.nan
        raise LookupError(value)


def known_categories(categories: AnyArray) -> Known | None:
    """Return categories prepared for look-ups, or None where scikit-learn must judge them.

    These are categories of several types, or twice the same, or numbers out of order, and missing
    ones that are not the last.
    """
    keys, none, nan = categories, UNKNOWN, UNKNOWN
    # pandas.NA has no truth value, and is left to scikit-learn.
    if len(keys) and isinstance(keys[-1], float | np.floating) and keys[-1] != keys[-1]:
        keys, nan = keys[:-1], len(keys) - 1
    if len(keys) and keys[-1] is None:
        keys, none = keys[:-1], len(keys) - 1
    found = _python_type(keys) if len(keys) else None
    if found is None:
        return None
    if found is str:
        keys = keys.astype(object, copy=False)
        is_sorted = bool((keys[1:] > keys[:-1]).all())
        order = None if is_sorted else Strings.from_objects(keys).argsort()
        keys = keys if order is None else keys[order]
    else:
        numbers = _numbers(keys)
        if numbers is None:
            return None
        keys, order = numbers, None
    if not (keys[1:] > keys[:-1]).all():
        return None
    return Known(categories, keys, found, order, none, nan)


def _python_type(values: AnyArray | Strings) -> type | None:
    """Return the type that all values have as Python objects, if it is one that is read."""
    if isinstance(values, Strings) or values.dtype == OBJECT:
        return object_type(values)
    kind = values.dtype.kind
    return next((found for found, kinds in OBJECT_TYPES.items() if kind in kinds), None)


def _numbers(values: AnyArray) -> AnyArray | None:
    """Return numbers of one type as an array that is not of objects; floats have 64 bits."""
    if values.dtype == OBJECT:
        values = np.array(values.tolist())
    if values.dtype.kind == "f":
        return values.astype(np.float64, copy=False)
    return None if values.dtype == OBJECT else values  # integers beyond 64 bits


def _sorting_order(values: AnyArray | Strings) -> Positions:
    """Return the order that sorts distinct values of one type."""
    if isinstance(values, Strings):
        return values.argsort()
    # Numbers that are objects are compared without asking Python.
    plain = np.array(values.tolist()) if values.dtype == OBJECT else values
    return np.argsort(plain, kind="stable")


def _is_comparable(keys: AnyArray, values: AnyArray) -> bool:
    """Tell whether NumPy compares the numbers exactly: not integers beyond those of floats."""
    return np.result_type(keys, values).kind != "f" or (_is_exact(keys) and _is_exact(values))


def _is_exact(numbers: AnyArray) -> bool:
    """Tell whether float64 holds all of the numbers."""
    if numbers.dtype.kind == "f" or numbers.dtype.itemsize < 8 or not len(numbers):
        return True
    return int(numbers.min()) >= -EXACT and int(numbers.max()) <= EXACT


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature of a fitted encoder; its output columns are counted from 0."""

    categories: AnyArray
    lut: Lut  # the output column of each category, -1 for none
    infrequent: int  # the output column of the infrequent categories, -1 for none
    n_outputs: int

    @cached_property
    def known(self) -> Known | None:
        """The categories for look-ups; None where these are up to scikit-learn."""
        return known_categories(self.categories)

    def position(self, value: Any) -> int:
        """Return the position of one value; raise `LookupError` where it is not looked up here."""
        if self.known is None:
            raise LookupError(value)
        return self.known.position(value)


class Features:
    """The features of an encoder, prepared at their first use.

    They follow from the fitted attributes, so that neither a copy nor a pickle has them.
    """

    def __init__(self, input_names: Hashable = None) -> None:
        self.input_names = input_names  # of the table that was fitted
        self._features: list[Feature] = []

    def __reduce__(self) -> Any:
        return Features, (self.input_names,)

    def of(self, encoder: Any) -> list[Feature]:
        """Return the features of an encoder, prepared anew where its categories have changed."""
        features, categories = self._features, encoder.categories_
        if len(features) != len(categories) or any(
            feature.categories is not own for feature, own in zip(features, categories, strict=True)
        ):
            features = [_feature(encoder, i) for i in range(len(categories))]
            self._features = features
        return features


class Coded(NamedTuple):
    """Rows as columns of codes."""

    columns: list[CodedColumn]
    with_unknown: list[int]  # the columns in which a value is unknown


def _feature(encoder: Any, i: int) -> Feature:
    """Return a feature of a fitted encoder, by its position."""
    categories, n_outputs = encoder.categories_[i], int(encoder._n_features_outs[i])
    groups, rare = np.arange(len(categories)), None
    if encoder._infrequent_enabled and encoder._infrequent_indices[i] is not None:
        groups = encoder._default_to_infrequent_mappings[i]
        rare = encoder._infrequent_indices[i][0]
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None and dropped[i] is not None:
        groups = np.where(groups == dropped[i], -1, groups - (groups > dropped[i]))
    lut = groups.astype(np.int32)
    return Feature(categories, lut, -1 if rare is None else int(lut[rare]), n_outputs)


def code_columns(
    columns: list[Column], positions: list[Positions], features: list[Feature], unknown: str
) -> Coded:
    """Return columns whose values have these positions among the categories."""
    coded, with_unknown = [], []
    for i, (column, own, feature) in enumerate(zip(columns, positions, features, strict=True)):
        if has_unknown(column, own):
            with_unknown.append(i)
        other = -1 if unknown == "ignore" else feature.infrequent
        lut = np.append(feature.lut, np.int32(other))[own]
        coded.append(CodedColumn(column.codes, lut, feature.n_outputs))
    return Coded(coded, with_unknown)
