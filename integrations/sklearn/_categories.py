"""The categories of a feature: learned from a column, or known and looked up, and their outputs.

All that is done for each category is done by array operations.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from onehot_fast.adapter import Categories, CodedColumn, Strings, Values, cached_property, write

from ._read import KIND_TYPES, OBJECT, AnyArray, Coded, DType, LeftToSklearn, python_type

Positions: TypeAlias = npt.NDArray[np.intp]

UNKNOWN = -1
# From here on float64 has not all integers.
EXACT = 2**53
# So many outputs the kernels can number.
LIMIT = np.iinfo(np.int32).max


def learn(column: Coded) -> tuple[AnyArray, Positions]:
    """Return the categories of a column and the position of each of its values among them.

    The categories are the values that occur, sorted, then what is missing. The last position is
    that of a missing value; a value that does not occur has the position `UNKNOWN`.
    """
    used = np.flatnonzero(write.count(column.codes, len(column.values)))
    used = used[Categories.of(column.values.take(used)).argsort()]
    positions = np.full(len(column.values) + 1, UNKNOWN, np.intp)
    positions[used] = np.arange(len(used))
    values = column.values.take(used)
    array = values.to_object() if isinstance(values, Strings) else values
    categories = array.astype(column.dtype, copy=False)
    if column.has_missing:
        positions[-1] = len(categories)
        categories = np.append(categories, np.array([column.missing], column.dtype))
    return categories, positions


def find_declared(declared: Any, column: Coded) -> tuple[AnyArray, Positions]:
    """Return categories that a user gave, and the position of each value of a column there."""
    try:
        categories = np.array(declared, object if column.dtype.kind == "U" else column.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise LeftToSklearn from error
    if categories.ndim != 1:
        raise LeftToSklearn
    return categories, known_categories(categories).positions(column)


def count_categories(column: Coded, categories: AnyArray, positions: Positions) -> AnyArray:
    """Return in how many rows of a column each category occurs."""
    in_rows = write.count(column.codes, len(positions) - 1)
    in_rows = np.append(in_rows, len(column.codes) - in_rows.sum())
    counts = np.zeros(len(categories), np.int64)
    is_known = positions != UNKNOWN
    counts[positions[is_known]] = in_rows[is_known]
    return counts


def has_unknown(column: Coded, positions: Positions) -> bool:
    """Tell whether a value that occurs in a column is unknown."""
    unknown = np.flatnonzero(positions[:-1] == UNKNOWN)
    if column.has_unknown or (column.has_missing and positions[-1] == UNKNOWN):
        return True
    is_suspect = column.values is not None and len(unknown) > 0
    return bool(is_suspect and write.count(column.codes, len(positions) - 1)[unknown].any())


@dataclass(frozen=True, eq=False)
class Known:
    """The categories of a feature, prepared for looking up values."""

    categories: AnyArray  # as scikit-learn keeps them
    table: Categories  # those that are not missing
    type: type  # of these as Python objects: str, int, float or bool
    none: int  # the position of None, UNKNOWN without it
    nan: int  # the position of NaN, UNKNOWN without it

    def look_up(self, values: Values, dtype: DType) -> Coded | None:
        """Return values as codes of these categories; None where they have to be encoded first."""
        is_same = self._is_comparable(dtype, KIND_TYPES.get(dtype.kind, str))
        codes = values.lookup(self.table) if is_same else None
        if codes is None:
            return None
        lowest = int(codes.min())
        has_missing = lowest == -1 or (lowest < -1 and bool((codes == -1).any()))
        if lowest < -1:
            codes[codes < -1] = len(self.table)
        return Coded(codes, None, dtype, has_missing, has_unknown=lowest < -1)

    def positions(self, column: Coded) -> Positions:
        """Return the position of each value of a column, then of a missing one.

        A value that is no category has the position `UNKNOWN`.
        """
        if column.values is None:
            found = np.append(np.arange(len(self.table)), UNKNOWN)
        elif self._is_comparable(column.dtype, python_type(column.values)):
            found = self.table.find(Categories.of(column.values))
        else:  # it depends on more than equality
            raise LeftToSklearn
        return np.append(found, self.none if column.missing is None else self.nan)

    def _is_comparable(self, dtype: DType, kind: Any) -> bool:
        """Tell whether scikit-learn finds values of a type, in an array of a dtype, as we do."""
        both = dtype, self.categories.dtype
        if kind is not self.type or self.type is str:
            return kind is self.type
        # NumPy compares signed with unsigned integers as floats.
        is_exact = self.type is not int or np.result_type(*both).kind != "f"
        return is_exact and (both[0] == OBJECT) == (both[1] == OBJECT)

    @cached_property
    def _position_of(self) -> dict[Any, int]:
        """The position of each category as an object: for a few values the fastest look-up."""
        present = self.categories[: len(self.table)].tolist()
        return dict(zip([*present, None], [*range(len(present)), self.none], strict=True))

    def few_positions(self, values: Sequence[Any]) -> list[int] | None:
        """Return the positions of a few objects; None where they are not as the categories."""
        if self.type is str:
            try:
                found = [self._position_of.get(value) for value in values]
            except TypeError:  # of what cannot be hashed, such as a list
                return None
            if None not in found:
                return cast(list[int], found)
        types = set(map(type, values))
        # NumPy may compare integers as floats; below this bound that is exact.
        if int in types and any(type(v) is int and abs(v) >= EXACT for v in values):
            return None
        if self.type is not float and types == {self.type}:
            return [self._position_of.get(value, UNKNOWN) for value in values]
        is_nan = [type(value) is float and value != value for value in values]
        types = {type(value) for value, nan in zip(values, is_nan, strict=True) if not nan}
        if not types <= {self.type, type(None)}:
            return None
        get, both = self._position_of.get, zip(values, is_nan, strict=True)
        positions = [self.nan if nan else get(value, UNKNOWN) for value, nan in both]
        # Infinity is refused by scikit-learn.
        return None if self.type is float and UNKNOWN in positions else positions


def known_categories(categories: AnyArray) -> Known:
    """Return categories prepared for look-ups.

    Several types, a category twice, numbers out of order, and a missing value that is not the last
    are left to scikit-learn.
    """
    present, none, nan = categories, UNKNOWN, UNKNOWN
    # pandas.NA has no truth value, and is left to scikit-learn.
    if len(present) and isinstance(present[-1], float | np.floating) and present[-1] != present[-1]:
        present, nan = present[:-1], len(present) - 1
    if len(present) and present[-1] is None:
        present, none = present[:-1], len(present) - 1
    kind, table = python_type(present) if len(present) else None, Categories.of(present)
    if kind is str:
        is_right = len(set(present.tolist())) == len(present)
    else:
        keys: Any = table.values
        is_right = table.family == "number" and bool((keys[1:] > keys[:-1]).all())
        is_right = is_right and (kind is not float or bool(np.isfinite(keys).all()))
    if kind is None or not is_right:
        raise LeftToSklearn
    return Known(categories, table, kind, none, nan)


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature of a fitted encoder; its output columns are counted from 0."""

    categories: AnyArray
    lut: npt.NDArray[
        np.int32
    ]  # the output column of each category, -1 for none; the last is that of unknown values
    n_outputs: int

    @cached_property
    def known(self) -> Known:
        """The categories for look-ups."""
        return known_categories(self.categories)

    @cached_property
    def outputs(self) -> list[int]:
        """The entries of `lut` as Python's integers, for a few rows."""
        return cast(list[int], self.lut.tolist())

    @cached_property
    def holds_object_numbers(self) -> bool:
        """Whether the categories are numbers that NumPy keeps as objects."""
        return bool(self.categories.dtype == OBJECT) and self.known.type is not str


class Features:
    """The features of an encoder, prepared at their first use.

    They follow from the fitted attributes, so that neither a copy nor a pickle has them.
    """

    def __init__(self, input_names: Hashable = None) -> None:
        self.input_names = input_names  # of the table that was fitted
        self._features: list[Feature] = []
        self._unknown = ""

    def __reduce__(self) -> Any:
        return Features, (self.input_names,)

    def of(self, encoder: Any) -> list[Feature]:
        """Return the features of an encoder, prepared anew where what they follow from changed."""
        categories, unknown = encoder.categories_, encoder._unknown
        known = [feature.categories for feature in self._features]
        is_same = len(known) == len(categories) and all(map(is_, known, categories))
        if not is_same or self._unknown != unknown:
            self._features = [*map(encoder._feature, range(len(categories)))]
            self._unknown = unknown
        return self._features


def encode_columns(
    columns: list[Coded], positions: list[Positions], features: list[Feature]
) -> tuple[list[CodedColumn], list[int]]:
    """Return columns whose values have these positions, and those in which one is unknown."""
    encoded, with_unknown = [], []
    for i, (column, own, feature) in enumerate(zip(columns, positions, features, strict=True)):
        if has_unknown(column, own):
            with_unknown.append(i)
        encoded.append(CodedColumn(column.codes, feature.lut[own], feature.n_outputs))
    return encoded, with_unknown
