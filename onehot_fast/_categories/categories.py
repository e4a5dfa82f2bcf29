"""The distinct values of a column as one array: sorted, merged, looked up without Python objects.

Texts and bytes are `Strings`; Booleans, numbers, instants and durations are NumPy arrays. All other
values, and values of several kinds, are an array of objects, which are compared by their keys (see
`onehot_fast._categories.keys`). Equality does not depend on the type of array.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.arrays import Kind, category_array, dtype_of, exactly_as, kind_of
from onehot_fast._categories.dictionary import Dictionary
from onehot_fast._categories.keys import (
    as_array,
    in_order,
    keys,
    positive_zero,
    preferred_by_key,
    text_label,
)
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.utils import cached_property

AnyArray: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.int64]

# dtype kind → what values of other kinds can be equal to; text is equal to text alone.
FAMILIES = {"b": "number", "i": "number", "u": "number", "f": "number", "M": "instant"} | {
    "m": "duration", "U": "string", "T": "string", "S": "binary",
}  # fmt: skip

PLAIN_NUMBERS = frozenset({int, float, *(np.dtype(code).type for code in "bhilqBHILQefd")})


class Categories:
    """Values that are different from each other and not missing, in an order; immutable.

    Parameters
    ----------
    values : Strings or ndarray, shape (n,)
        As `category_array` returns them.
    """

    def __init__(self, values: Strings | AnyArray) -> None:
        self.values = values

    @classmethod
    def of(cls, values: Iterable[Any]) -> Categories:
        """Return the categories in any array or sequence, as a copy."""
        return cls(category_array(values))

    @classmethod
    def distinct(cls, values: Iterable[Any]) -> tuple[Categories, Positions | None]:
        """Return distinct values, and the position of each value among them (None: all differ)."""
        every = cls.of(values)
        if every.family is not None:
            table = Dictionary(every._kind)
            table.encode(every._numbers())
            if len(table) == len(every):
                return every, None
        distinct, (positions,) = cls.union([every])
        return (every, None) if len(distinct) == len(every) else (distinct, positions)

    def __reduce__(self) -> Any:
        """Leave out what is cached."""
        return Categories, (self.values,)

    def to_plain(self) -> AnyArray | tuple[AnyArray, AnyArray, bool]:
        """Return the values as arrays: for texts and bytes ``(offsets, data, is_text)``."""
        values = self.values
        return (
            values
            if not isinstance(values, Strings)
            else (values.offsets, values.data, values.is_text)
        )

    @classmethod
    def from_plain(cls, plain: Any) -> Categories:
        """Return the categories from the result of `to_plain`."""
        return cls(Strings(*plain) if isinstance(plain, tuple) else plain)

    def __len__(self) -> int:
        """Return the number of categories."""
        return len(self.values)

    @cached_property
    def family(self) -> str | None:
        """The family of values that can be equal to these; None if only keys can tell."""
        if isinstance(self.values, Strings):
            return "string" if self.values.is_text else "binary"
        return FAMILIES.get(self.values.dtype.kind)

    @classmethod
    def empty(cls, kind: str) -> Categories:
        """Return empty categories of a `kind_name`."""
        if kind in ("string", "binary"):
            return cls(Strings.from_objects([], is_text=kind == "string"))
        dtype = np.dtype(kind)
        if dtype.kind not in FAMILIES:
            raise ValueError(f"a dtype of categories must be one of numbers or times, got {kind}")
        return cls(np.empty(0, dtype))

    @property
    def kind_name(self) -> str:
        """The name of the dtype, "string" or "binary"; "" for objects of any type."""
        if isinstance(self.values, Strings):
            return "string" if self.values.is_text else "binary"
        return self.values.dtype.name if self.family is not None else ""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype of numbers and times, None for texts and bytes."""
        return None if isinstance(self.values, Strings) else self.values.dtype

    @cached_property
    def _kind(self) -> Kind:
        """The kind of dictionary for the values."""
        return kind_of(self.values)

    def _numbers(self) -> Strings | AnyArray:
        """Return the values in the dtype of a dictionary of their kind."""
        if isinstance(self.values, Strings):
            return self.values
        is_time = self.values.dtype.kind in "mM"
        return self.values.view(np.int64) if is_time else self.values.astype(self._kind, copy=False)

    @cached_property
    def table(self) -> Dictionary:
        """The hash table of the values; threads may build it concurrently."""
        return Dictionary(self._kind, self._numbers())

    @cached_property
    def _positions_by_key(self) -> dict[Hashable, int]:
        return {key: position for position, key in enumerate(self.to_keys())}

    def is_same(self, others: Categories) -> bool:
        """Tell whether both are the same values in the same order and of the same types."""
        if isinstance(self.values, Strings) and isinstance(others.values, Strings):
            return self.values == others.values
        mine, theirs = self.tolist(), others.tolist()
        are_times = self.family in ("instant", "duration")  # whose unit is part of the type
        return (
            mine == theirs
            and [*map(type, mine)] == [*map(type, theirs)]
            and not (are_times and self.dtype != others.dtype)
        )

    def tolist(self) -> list[Any]:
        """Return the values as Python objects, or NumPy scalars if Python has no such type."""
        if isinstance(self.values, Strings) or self.values.dtype.kind in "biuO":
            return self.values.tolist()
        is_double = self.values.dtype == np.float64
        return self.values.tolist() if is_double else list(self.values)

    def to_keys(self) -> list[Hashable]:
        """Return the keys of the values."""
        return keys(self.tolist())

    def to_array(self) -> AnyArray:
        """Return the values for users: of dtype object if NumPy has no dtype for them."""
        if isinstance(self.values, Strings):
            return self.values.to_object()
        if self.family is not None and self.values.dtype != np.uint64 and len(self):
            return self.values.copy()
        return as_array(self.tolist())

    def take(self, positions: npt.ArrayLike) -> Categories:
        """Return the categories at some positions."""
        return Categories(self.values.take(np.asarray(positions, np.int64)))

    def argsort(self) -> Positions:
        """Return the positions that sort the values: see `keys.in_order`."""
        if isinstance(self.values, Strings):
            return self.values.argsort()
        if self.family is not None:
            return np.argsort(self.values)
        positions_by_key, in_turn = self._positions_by_key, keys(in_order(self.tolist()))
        try:
            return np.array([positions_by_key[key] for key in in_turn], np.int64)
        except KeyError as error:
            raise ValueError(
                "__hash__ and __eq__ of a category must return the same result in every call"
            ) from error

    def sorted(self) -> tuple[Categories, Positions]:
        """Return the categories in sorted order, and the position of each there."""
        order = self.argsort()
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        return self.take(order), positions

    def find(self, others: Categories) -> Positions:
        """Return the position here of each of some categories, -1 for none."""
        if self.family is None or others.family is None:
            return self._find_by_key(others)
        if self.family != others.family or not len(self):
            return np.full(len(others), -1, np.int64)
        if self.family in ("instant", "duration") and self.dtype != others.dtype:
            return self._find_by_key(others)
        if isinstance(others.values, Strings) or self.family != "number":
            positions = self.table.lookup(others._numbers())
            return np.maximum(positions, -1).astype(np.int64)
        numbers, is_exact = exactly_as(others.values, self._kind)
        positions = np.maximum(self.table.lookup(numbers), -1)
        return np.where(True if is_exact is None else is_exact, positions, -1).astype(np.int64)

    def lookup(self, values: Any, missing: Sequence[object] = ()) -> npt.NDArray[np.int32] | None:
        """Return the position here of each value of an array: -1 missing, -2 unknown.

        None if the array is of another kind than the categories, and must be encoded first.
        """
        if self.family is None or not len(self) or isinstance(values, np.ma.MaskedArray):
            return None
        dtype = dtype_of(values)
        if dtype is not None and not self._holds(dtype):
            return None
        try:
            return self.table.lookup(values, missing=missing)
        except TypeError:  # for the array or one of its values
            return None

    def lookup_few(self, values: Sequence[Any]) -> npt.NDArray[np.int32] | None:
        """Return the result of `lookup` for a few objects: texts, bytes or numbers of one type."""
        if self.family == "number":
            types = set(map(type, values))
            # NumPy would convert None and NaN beside integers to floats.
            is_plain = len(types) == 1 and types <= PLAIN_NUMBERS
            return self.lookup(np.array(values)) if is_plain else None
        if self.family not in ("string", "binary") or not len(self):
            return None
        try:
            return self.table.lookup(tuple(values))
        except TypeError:  # for one of the values
            return None

    def _holds(self, dtype: np.dtype[Any]) -> bool:
        """Tell whether the dictionary can look up numbers or times of a dtype."""
        if FAMILIES.get(dtype.kind) != self.family:
            return False
        if self.family != "number":
            return bool(dtype == self.dtype)
        return (self._kind == "float64") == (dtype.kind == "f")

    def _find_by_key(self, others: Categories) -> Positions:
        """Return the position here of each of some categories of any types."""
        positions_by_key = self._positions_by_key
        positions = (positions_by_key.get(key, -1) for key in others.to_keys())
        return np.fromiter(positions, np.int64, len(others))

    @classmethod
    def union(cls, parts: Sequence[Categories]) -> tuple[Categories, list[Positions]]:
        """Return the categories of all parts as they first appear, and the positions of each part.

        Among equal values of different types `keys.preferred` chooses. There must be at least one
        part; an empty one decides the type only if all are empty.
        """
        filled = [part for part in parts if len(part)]
        if not filled:
            return max(parts, key=lambda part: part.kind_name), [np.empty(0, np.int64)] * len(parts)
        first = filled[0]
        if first.family is None or len({(part.family, part.dtype) for part in filled}) > 1:
            return _union_by_key(parts)
        table = Dictionary(first._kind)
        positions = [
            table.encode(part._numbers()).astype(np.int64) if len(part) else np.empty(0, np.int64)
            for part in parts
        ]
        values = table.values
        if first.dtype is not None:
            is_time = first.dtype.kind in "mM"
            values = values.view(first.dtype) if is_time else values.astype(first.dtype)
        if first.family == "number":  # the dictionary has no -0.0
            for part, places in zip(parts, positions, strict=True):
                if len(part):
                    values[places] = part.values
        made = cls(values)
        for part in filled:
            made = made._with_zero_of(part)
        return made, positions

    def _with_zero_of(self, others: Categories) -> Categories:
        """Return the same categories, with 0.0 for -0.0 if the others have 0.0."""
        values = others.values
        if isinstance(values, Strings) or values.dtype.kind != "f":
            return self
        has_plus = bool(((values == 0) & ~np.signbit(values)).any())
        return self.with_positive_zero() if has_plus else self

    def with_positive_zero(self) -> Categories:
        """Return the same categories with 0.0 for -0.0."""
        if self.family is None:
            return Categories.of([positive_zero(item) for item in self.tolist()])
        if isinstance(self.values, Strings) or self.values.dtype.kind != "f":
            return self
        return Categories(self.values + self.values.dtype.type(0))

    def text_labels(self) -> list[str]:
        """Return each category as it appears in the names of output columns."""
        if isinstance(self.values, Strings) and self.values.is_text:
            return self.values.tolist()
        return [text_label(item) for item in self.tolist()]


def _union_by_key(parts: Sequence[Categories]) -> tuple[Categories, list[Positions]]:
    """Return distinct values of any types, and the positions of those of each part."""
    keys_of = [part.to_keys() for part in parts]
    values = preferred_by_key(chain(*keys_of), chain(*(part.tolist() for part in parts)))
    position_of = {key: position for position, key in enumerate(values)}
    positions = [np.array([position_of[key] for key in each], np.int64) for each in keys_of]
    return Categories.of(list(values.values())), positions
