"""Categories: the distinct values of a column in one array.

Strings and bytes are stored as `Strings`; Booleans, numbers, datetimes and durations as NumPy
arrays. Other values, and values of several types, are stored as arrays of objects and compared by
their keys (see `onehot_fast._categories.keys`). The type of the array does not affect which values
are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._categories.keys import (
    as_array,
    as_objects,
    in_order,
    is_missing,
    keys,
    plain,
    positive_zero,
    preferred_by_key,
    text_label,
)
from onehot_fast._categories.scalar_json import Json, from_json, to_json
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.utils import cached_property

AnyArray: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.int64]
# The kinds of `Dictionary`.
Kind: TypeAlias = Literal["string", "binary", "int64", "uint64", "float64"]

# The types of numbers that have an array of their own dtype.
TYPED = (bool, int, float, np.float16, np.float32)
ARROW_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
TEXT_KINDS: dict[str, Kind] = {"U": "string", "T": "string", "S": "binary"}

# dtype kind → family; only values of the same family can be equal.
FAMILIES = {**dict.fromkeys("biuf", "number"), "M": "instant", "m": "duration"}
# Types that pickle does not find: pyarrow's intervals of months, whose type names no module.
NOT_PICKLED = frozenset({"MonthDayNano"})
PLAIN_NUMBERS = frozenset({int, float, *(np.dtype(code).type for code in "bhilqBHILQefd")})


class Categories:
    """Distinct values without missing values, in a fixed order; immutable.

    Parameters
    ----------
    values : Strings or ndarray, shape (n,)
        An array as returned by `category_array`.
    """

    def __init__(self, values: Strings | AnyArray) -> None:
        self.values = values

    @classmethod
    def of(cls, values: Iterable[Any]) -> Categories:
        """Return categories from a copy of an array or sequence of distinct values."""
        return cls(category_array(values))

    @classmethod
    def distinct(cls, values: Iterable[Any]) -> tuple[Categories, Positions | None]:
        """Return the distinct values, and for each value its position among the distinct values.

        Instead of the positions, return None if all values differ.
        """
        every = cls.of(values)
        distinct, (positions,) = cls.union([every])
        return (every, None) if len(distinct) == len(every) else (distinct, positions)

    def __reduce__(self) -> Any:
        """Pickle the values without the cached properties."""
        return Categories.from_plain, (self.to_plain(),)

    def to_plain(self) -> AnyArray | tuple[AnyArray, AnyArray, bool] | list[Json]:
        """Return the values in a form that can be pickled.

        It is an array, ``(offsets, data, is_text)`` for Strings, or a list of the JSON forms of
        values that pickle does not support.
        """
        values = self.values
        if isinstance(values, Strings):
            return values.offsets, values.data, values.is_text
        if values.dtype == object and any(type(v).__name__ in NOT_PICKLED for v in values):
            return [to_json(item) for item in values.tolist()]
        return values

    @classmethod
    def from_plain(cls, plain: Any) -> Categories:
        """Return the categories from the result of `to_plain`; raise an error if it is damaged."""
        if isinstance(plain, list):
            plain = as_objects([from_json(item) for item in plain])
        categories = cls(Strings(*plain) if isinstance(plain, tuple) else plain)
        values = categories.values
        if isinstance(values, Strings):
            _check_utf8(values)
        elif not isinstance(values, np.ndarray) or values.ndim != 1 or not _is_stored(values.dtype):
            raise TypeError(
                "categories must be an array with one dimension, of a dtype that categories have,"
                f" got {with_article(values)}"
            )
        if categories.family is not None:
            _ = categories.table  # it rejects missing and repeated values
        elif len(categories._positions_by_key) < len(categories) or any(map(is_missing, values)):
            raise ValueError("categories must be distinct, and not missing")
        return categories

    def __len__(self) -> int:
        """Return the number of categories."""
        return len(self.values)

    @cached_property
    def family(self) -> str | None:
        """The group of types whose values can be equal, e.g. "number", or None for objects."""
        if isinstance(self.values, Strings):
            return "string" if self.values.is_text else "binary"
        return FAMILIES.get(self.values.dtype.kind)

    @classmethod
    def empty(cls, kind: str) -> Categories:
        """Return empty categories whose `kind_name` is `kind`."""
        if kind in ("string", "binary"):
            return cls(Strings.from_objects([], is_text=kind == "string"))
        dtype = np.dtype(kind)
        if dtype.kind not in FAMILIES:
            raise ValueError(f"categories must be Booleans, numbers or times, got dtype {kind}")
        return cls(np.empty(0, dtype))

    @property
    def kind_name(self) -> str:
        """The name of the NumPy dtype; "string" or "binary" for Strings; or "" for objects."""
        if isinstance(self.values, Strings):
            return "string" if self.values.is_text else "binary"
        return self.values.dtype.name if self.family is not None else ""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype of the array, or None for strings and bytes."""
        return None if isinstance(self.values, Strings) else self.values.dtype

    @cached_property
    def table(self) -> Dictionary:
        """The hash table of the values, which is built at the first use."""
        return Dictionary(kind_of(self.values), self.values)

    @cached_property
    def _positions_by_key(self) -> dict[Hashable, int]:
        return {key: position for position, key in enumerate(self.to_keys())}

    def is_same(self, others: Categories) -> bool:
        """Tell whether `others` has equal values of the same types in the same order."""
        if isinstance(self.values, Strings) and isinstance(others.values, Strings):
            return self.values == others.values
        mine, theirs = self.tolist(), others.tolist()
        are_times = self.family in ("instant", "duration")  # the unit of a time is part of its type
        return (
            mine == theirs
            and [*map(type, mine)] == [*map(type, theirs)]
            and not (are_times and self.dtype != others.dtype)
        )

    def tolist(self) -> list[Any]:
        """Return the values as Python objects, or as NumPy scalars if no Python type fits."""
        if isinstance(self.values, Strings) or self.values.dtype.kind in "biuO":
            return self.values.tolist()
        is_double = self.values.dtype == np.float64
        return self.values.tolist() if is_double else list(self.values)

    def to_keys(self) -> list[Hashable]:
        """Return the `key` of each value; equal values have equal keys."""
        return keys(self.tolist())

    def to_array(self) -> AnyArray:
        """Return a new array of the values; the dtype is object if NumPy has no common dtype."""
        if isinstance(self.values, Strings):
            return self.values.to_object()
        if self.family is not None and self.values.dtype != np.uint64 and len(self):
            return self.values.copy()
        return as_array(self.tolist())

    def take(self, positions: npt.ArrayLike) -> Categories:
        """Return the categories at some positions."""
        return Categories(self.values.take(np.asarray(positions, np.int64)))

    def argsort(self) -> Positions:
        """Return the positions that sort the values in the order of `keys.in_order`."""
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
        """Return the sorted categories, and the position in them of each category of `self`."""
        order = self.argsort()
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        return self.take(order), positions

    def find(self, others: Categories) -> Positions:
        """Return the position in `self` of each category of `others`, or -1 if `self` lacks it."""
        if self.family is None or others.family is None:
            return self._find_by_key(others)
        if self.family != others.family or not len(self):
            return np.full(len(others), -1, np.int64)
        if self.family in ("instant", "duration") and self.dtype != others.dtype:
            return self._find_by_key(others)
        if isinstance(others.values, Strings) or self.family != "number":
            positions = self.table.lookup(others.values)
        else:
            numbers, is_exact = exactly_as(others.values, self.table.kind)
            positions = np.where(is_exact, self.table.lookup(numbers), -1)
        return np.maximum(positions, -1).astype(np.int64)

    def lookup(self, values: Any, missing: Sequence[object] = ()) -> npt.NDArray[np.int32] | None:
        """Return the position of each value of an array: -1 if missing, -2 if unknown.

        Return None if the hash table does not support these values. In this case, the caller must
        factorize the array and use `find` for its categories.
        """
        if self.family is None or not len(self) or isinstance(values, np.ma.MaskedArray):
            return None
        dtype = dtype_of(values)
        if dtype is not None and (
            FAMILIES.get(dtype.kind) != self.family
            or (self.family != "number" and dtype != self.dtype)
        ):
            return None
        try:
            return self.table.lookup(values, missing=missing)
        except TypeError:  # the array or one of its values does not fit the table
            return None

    def lookup_few(self, values: Sequence[Any]) -> npt.NDArray[np.int32] | None:
        """Return the result of `lookup` for strings, bytes or numbers of one type, else None."""
        if self.family == "number":
            types = set(map(type, values))
            # NumPy would convert integers to floats if the values include NaN.
            is_plain = len(types) == 1 and types <= PLAIN_NUMBERS
            return self.lookup(np.array(values)) if is_plain else None
        # As `lookup`, which would look for a dtype first.
        if self.family is None or not len(self.values):
            return None
        try:
            return self.table.lookup(tuple(values))
        except TypeError:
            return None

    def _find_by_key(self, others: Categories) -> Positions:
        """Return the result of `find` for categories of any types."""
        positions_by_key = self._positions_by_key
        positions = (positions_by_key.get(key, -1) for key in others.to_keys())
        return np.fromiter(positions, np.int64, len(others))

    @classmethod
    def union(cls, parts: Sequence[Categories]) -> tuple[Categories, list[Positions]]:
        """Return the union in order of first appearance, and each part's positions in the union.

        `keys.preferred_by_key` chooses between equal values of different types. At least one
        part is required. The type of an empty part matters only if all parts are empty.
        """
        filled = [part for part in parts if len(part)]
        if not filled:
            return max(parts, key=lambda part: part.kind_name), [np.empty(0, np.int64)] * len(parts)
        first = filled[0]
        is_mixed = len({(part.family, part.dtype) for part in filled}) > 1
        if first.family is None or is_mixed or any(part._has_negative_zero() for part in filled):
            return _union_by_key(parts)
        table = Dictionary(kind_of(first.values))
        positions = [
            table.encode(part.values).astype(np.int64) if len(part) else np.empty(0, np.int64)
            for part in parts
        ]
        return cls(with_dtype(table.values, first.dtype)), positions

    def _has_negative_zero(self) -> bool:
        values = self.values
        if isinstance(values, Strings) or values.dtype.kind != "f":
            return False
        return bool((np.signbit(values) & (values == 0)).any())

    def with_positive_zero(self) -> Categories:
        """Return the categories with -0.0 replaced by 0.0."""
        if self.family is None:
            return Categories.of([positive_zero(item) for item in self.tolist()])
        if isinstance(self.values, Strings) or not self._has_negative_zero():
            return self
        return Categories(self.values + self.values.dtype.type(0))

    def text_labels(self) -> list[str]:
        """Return each category as it appears in the names of features."""
        if isinstance(self.values, Strings) and self.values.is_text:
            return self.values.tolist()
        return [text_label(item) for item in self.tolist()]


def _union_by_key(parts: Sequence[Categories]) -> tuple[Categories, list[Positions]]:
    """Return the result of `Categories.union` for values of any types."""
    keys_of = [part.to_keys() for part in parts]
    values = preferred_by_key(chain(*keys_of), chain(*(part.tolist() for part in parts)))
    position_of = {key: position for position, key in enumerate(values)}
    positions = [np.array([position_of[key] for key in each], np.int64) for each in keys_of]
    return Categories.of(list(values.values())), positions


def with_dtype(values: Strings | AnyArray, dtype: np.dtype[Any] | None) -> Strings | AnyArray:
    """Return the values of a `Dictionary`, converted to `dtype` if they are not Strings."""
    if dtype is None or isinstance(values, Strings):
        return values
    return values.view(dtype) if dtype.kind in "mM" else values.astype(dtype)


def dtype_of(values: Any) -> np.dtype[Any] | None:
    """Return the dtype of numbers or times (int64 for Arrow times with a zone), or None."""
    if isinstance(values, np.ndarray):
        return values.dtype.newbyteorder("=") if values.dtype.kind in "biufmM" else None
    if not isinstance(values, Array):
        return None
    form = values.schema.format
    if form.startswith("tD"):
        return np.dtype(f"m8[{ARROW_UNITS[form[2]]}]")
    if form.startswith("ts") and not form[4:]:
        return np.dtype(f"M8[{ARROW_UNITS[form[2]]}]")
    return values.schema.dtype


def kind_of(values: Any) -> Kind:
    """Return the kind of `Dictionary` for an array; raise TypeError if no kind fits."""
    dtype = dtype_of(values)
    if dtype is not None:
        return kind_of_dtype(dtype)
    if isinstance(values, Strings):
        return "string" if values.is_text else "binary"
    if isinstance(values, Array) and values.schema.kind in ("string", "binary"):
        return "string" if values.schema.kind == "string" else "binary"
    if isinstance(values, np.ndarray) and values.dtype.kind in TEXT_KINDS:
        return TEXT_KINDS[values.dtype.kind]
    raise TypeError(
        f"values of a dictionary must be numbers, times, strings or bytes, got {values!r}"
    )


def _is_stored(dtype: np.dtype[Any]) -> bool:
    """Tell whether `category_array` returns arrays of this dtype."""
    if dtype.kind in "iu":
        return dtype in (np.int64, np.uint64)
    if dtype.kind == "O":
        return True
    return dtype.kind in FAMILIES and dtype.isnative and dtype.itemsize <= 8


def _check_utf8(values: Strings) -> None:
    """Raise a ValueError if a text is not UTF-8."""
    if values.is_text:
        bytes(values.data).decode("utf-8", "surrogatepass")
        starts = values.offsets[:-1][np.diff(values.offsets) > 0]
        if (values.data[starts] & 0xC0 == 0x80).any():
            raise ValueError("a text starts within a letter")


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind:
    """Return the kind of `Dictionary` for a dtype of numbers or times."""
    if dtype.kind == "f":
        return "float64"
    return "uint64" if dtype == np.uint64 else "int64"


def category_array(values: Iterable[Any]) -> Strings | AnyArray:
    """Convert values to the Strings or the array that `Categories` stores."""
    if isinstance(values, Strings):
        return values
    if not isinstance(values, np.ndarray):
        return _array_of_objects(list(values))
    kind = values.dtype.kind
    if kind in "iu":
        is_beyond = kind == "u" and len(values) and int(values.max()) >= 2**63
        return values.astype(np.uint64 if is_beyond else np.int64)
    if kind == "b" or (kind == "f" and values.dtype.itemsize <= 8) or kind in "mM":
        is_missing = kind != "b" and (values != values).any()
        if not is_missing:
            native: AnyArray = values.astype(values.dtype.newbyteorder("="))
            return native
    if kind in "UTS":
        return Strings.from_objects(values.tolist(), is_text=kind != "S")
    # `list` keeps the items of other dtypes as NumPy scalars.
    return _array_of_objects(values.tolist() if kind == "O" else list(values))


def _array_of_objects(items: list[Any]) -> Strings | AnyArray:
    """Return Strings or a typed array if all items have one type, else an array of objects."""
    kinds = set(map(type, items))
    if any(issubclass(kind, np.generic) for kind in kinds):
        items = [plain(item) for item in items]
        kinds = set(map(type, items))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is str or kind is bytes:
        return Strings.from_objects(items, is_text=kind is str)
    is_time = kind in (np.datetime64, np.timedelta64) and len({item.dtype for item in items}) == 1
    if kind in TYPED or is_time:
        # NumPy would choose float64 for integers on both sides of 2**63.
        is_beyond = kind is int and min(items) >= 0 and 2**63 <= max(items) < 2**64
        array = np.array(items, np.uint64 if is_beyond else None)
        # Otherwise, integers beyond int64 have a dtype of floats or objects.
        is_exact = kind is not int or array.dtype.kind in "iu"
        if is_exact and not (array != array).any():
            return array
    return as_objects(items)


def exactly_as(values: AnyArray, kind: str) -> tuple[AnyArray, npt.NDArray[np.bool_]]:
    """Return numbers in the dtype `kind`, and a mask of the numbers whose value is unchanged."""
    with np.errstate(invalid="ignore"):
        converted = values.astype(kind)
        is_same = converted.astype(values.dtype) == values
    is_same &= (converted < 0) == (values < 0)
    if (kind == "float64") != (values.dtype.kind == "f"):
        # A conversion that saturates at the limit of an integer type could seem unchanged.
        integers, floats = (values, converted) if kind == "float64" else (converted, values)
        is_same &= floats.astype(np.float64) < (2.0**64 if integers.dtype == np.uint64 else 2.0**63)
    return converted, is_same
