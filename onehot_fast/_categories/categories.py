"""Categories, which are distinct values in one array, and the conversion of columns to codes.

Strings and bytes are stored as `Strings`; Booleans, numbers, datetimes and durations as NumPy
arrays. Other values, and values of several types, are stored as arrays of objects and compared by
their keys (see `onehot_fast._categories.keys`). The type of the array does not affect which values
are equal.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.dictionary import Dictionary, number_integers
from onehot_fast._categories.keys import (
    as_array,
    as_objects,
    has_plain_type,
    in_order,
    is_missing,
    key,
    keys,
    plain,
    positive_zero,
    preferred_by_key,
    text_label,
)
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.utils import cached_property

AnyArray: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.int64]
# The kinds of `Dictionary`.
Kind: TypeAlias = Literal["string", "binary", "int64", "uint64", "float64"]

# The types of floats that keep their dtype instead of becoming float64.
NARROW_FLOATS = (np.float16, np.float32)
ARROW_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
TEXT_KINDS: dict[str, Kind] = {"U": "string", "T": "string", "S": "binary"}

# dtype kind → family; only values of the same family can be equal.
FAMILIES = {**dict.fromkeys("biuf", "number"), "M": "instant", "m": "duration"}
PLAIN_NUMBERS = frozenset({int, float, *(np.dtype(code).type for code in "bhilqBHILQefd")})

# Integers are coded by counting if max - min <= MIN_SPAN + SPAN_PER_VALUE * n_values.
MIN_SPAN = 1 << 10
SPAN_PER_VALUE = 4
MAX_SPAN = np.iinfo(np.int32).max - 1
DOUBLE_BYTES = 8
# Type of all objects → kind of the `Dictionary`.
KINDS_OF_OBJECTS: dict[Any, Kind] = {str: "string", bytes: "binary"}
# Equal values of one of these types have the same repr, except for 0.0 and -0.0.
ONE_SPELLING = {str, bytes, int, bool, float, datetime.date, datetime.timedelta, Fraction}
# The kind of the `Dictionary` follows from the first value in these rows that is not missing.
MAX_SAMPLE = 1024


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
        return Categories, (self.values,)

    def to_plain(self) -> AnyArray | tuple[AnyArray, AnyArray, bool]:
        """Return the values as an array, or for Strings as ``(offsets, data, is_text)``."""
        values = self.values
        if isinstance(values, Strings):
            return values.offsets, values.data, values.is_text
        return values

    @classmethod
    def from_plain(cls, plain: Any) -> Categories:
        """Return the categories from the result of `to_plain`."""
        return cls(Strings(*plain) if isinstance(plain, tuple) else plain)

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
        if self.family != "number":
            return self.lookup(tuple(values))
        types = set(map(type, values))
        # NumPy would convert integers to floats if the values include NaN.
        is_plain = len(types) == 1 and types <= PLAIN_NUMBERS
        return self.lookup(np.array(values)) if is_plain else None

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
        """Return each category as it appears in the names of output columns."""
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
        is_wide = values.dtype.itemsize == 8 and kind == "u" and len(values)
        is_beyond = is_wide and int(values.max()) >= 2**63
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
    if not kinds <= {str, bytes, int, bool, float}:
        items = [plain(item) for item in items]
        kinds = set(map(type, items))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is str or kind is bytes:
        return Strings.from_objects(items, is_text=kind is str)
    if kind is int and min(items) >= -(2**63) and max(items) < 2**64:
        if max(items) < 2**63:
            return np.array(items, np.int64)
        return np.array(items, np.uint64) if min(items) >= 0 else as_objects(items)
    if kind is bool or kind is float or kind in NARROW_FLOATS:
        array = np.array(items, np.dtype(kind))
        return array if not (array != array).any() else as_objects(items)
    if kind in (np.datetime64, np.timedelta64) and len({item.dtype for item in items}) == 1:
        array = np.array(items, items[0].dtype)
        return array if not np.isnat(array).any() else as_objects(items)
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


# ---- Columns to codes ----


class Factorized(NamedTuple):
    """The codes of a column (-1: missing), the categories, and a source, e.g. "hash" or "bool"."""

    codes: AnyArray
    categories: AnyArray | Strings
    source: str

    def take(self, positions: npt.NDArray[np.integer[Any]]) -> Factorized:
        """Return the rows at some positions, with all categories."""
        return self._replace(codes=self.codes.take(positions))


def factorize_chunks(chunks: Sequence[Any], missing: Sequence[object] = ()) -> Factorized:
    """Convert a column in chunks (ndarrays, Strings or Arrow arrays) to codes and categories.

    In arrays of objects, the objects in `missing` are treated as missing values.
    """
    chunks = [
        chunk.codes()
        if isinstance(chunk, Array) and chunk.schema.kind == "integer" and not chunk.null_count
        else chunk
        for chunk in chunks
    ]
    if all(isinstance(chunk, np.ndarray) for chunk in chunks):
        return factorize(concatenated(chunks), missing)
    if dtype_of(chunks[0]) == np.bool_:
        codes = concatenated([chunk.codes() for chunk in chunks])
        return Factorized(codes, np.array([False, True]), "bool")
    return _hashed(chunks, kind_of(chunks[0]))


def concatenated(arrays: Sequence[AnyArray]) -> AnyArray:
    """Return the concatenated arrays."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, object)


def factorize(values: AnyArray, missing: Sequence[object] = ()) -> Factorized:
    """Convert a one-dimensional array to codes and categories."""
    if isinstance(values, np.ma.MaskedArray):
        codes, categories, _ = factorize(values.data)
        signed = codes.astype(np.int32 if codes.itemsize < 8 else np.int64)
        signed[np.ma.getmaskarray(values)] = -1
        return Factorized(signed, categories, "masked")
    kind = values.dtype.kind
    if kind == "b":
        return Factorized(values.astype(np.int8), np.array([False, True]), "bool")
    if kind in "iumMfc":
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        if kind in "iumM":
            return _integers(values)
        is_double = kind == "f" and values.dtype.itemsize <= DOUBLE_BYTES
        return _hashed([values], "float64") if is_double else _sorted(values)
    if kind in "OSUT":
        return _objects(values, missing)
    raise TypeError(
        "the dtype must be Boolean, numeric, str, bytes, datetime64, timedelta64 or object, got"
        f" {values.dtype}"
    )


def _hashed(chunks: Sequence[Any], kind: Kind, missing: Sequence[object] = ()) -> Factorized:
    """Factorize chunks with a hash table; categories are in order of first appearance."""
    table = Dictionary(kind)
    codes = concatenated([table.encode(chunk, missing=missing) for chunk in chunks])
    return Factorized(codes, with_dtype(table.values, dtype_of(chunks[0])), "hash")


def _integers(values: AnyArray) -> Factorized:
    """Factorize integers or times, by counting if their range is small, else by hashing."""
    present = values
    if values.dtype.kind in "mM":
        is_present = ~np.isnat(values)
        present = (values if is_present.all() else values[is_present]).view(np.int64)
    if len(present) > 0:
        span = min(MIN_SPAN + SPAN_PER_VALUE * len(present), MAX_SPAN)
        numbered = number_integers(np.require(present, requirements=["C", "A"]), span)
        if numbered is not None:
            codes, categories = numbered[0], with_dtype(numbered[1], values.dtype)
            if len(present) < len(values):
                codes = np.full(len(values), -1, np.int32)
                codes[is_present] = numbered[0]
            return Factorized(codes, categories, "hash")
    return _hashed([values], kind_of_dtype(values.dtype))


def _sorted(values: AnyArray) -> Factorized:
    """Factorize long doubles or complex numbers by sorting; NaN is missing."""
    is_present = ~np.isnan(values)
    present = values[is_present] + values.dtype.type(0)  # -0.0 becomes 0.0
    categories, positions = np.unique(present, return_inverse=True)
    codes = np.full(len(values), -1, np.int64)
    codes[is_present] = positions.reshape(-1)
    narrow = np.int32 if len(categories) <= np.iinfo(np.int32).max else np.int64
    return Factorized(codes.astype(narrow), categories, "hash")


def _objects(values: AnyArray, missing: Sequence[object]) -> Factorized:
    """Factorize strings and bytes with a hash table, other objects with a Python dict."""
    kind = TEXT_KINDS.get(values.dtype.kind)
    if kind is None:
        present = (value for value in values[:MAX_SAMPLE] if not is_missing(value))
        kind = KINDS_OF_OBJECTS.get(type(next(present, None)))
    if kind is not None:
        try:
            return _hashed([values], kind, missing)
        except TypeError:  # a later value has another type
            pass
    return _by_dictionary(values)


def _by_dictionary(values: AnyArray) -> Factorized:
    """Factorize objects with a Python dict."""
    order: defaultdict[Hashable, int] = defaultdict()
    order.default_factory = order.__len__
    items = values.tolist()
    kinds = set(map(type, items)) - {NoneType}
    scalars = [kind for kind in kinds if issubclass(kind, np.generic)]
    # Comparing some NumPy scalars with other types, e.g. Decimal, raises an error.
    is_plain = not scalars or (len(kinds) == 1 and has_plain_type(scalars[0]))
    identify = None if is_plain else _identify
    keys = items if identify is None else map(identify, items)
    try:
        codes = np.fromiter(map(order.__getitem__, keys), np.int64, len(items))
    except (TypeError, ValueError):  # ValueError: a timedelta64 without a unit
        raise _unhashable(items) from None
    is_present = np.array([not is_missing(item) for item in order], bool)
    rank = np.where(is_present, np.cumsum(is_present) - 1, -1).astype(np.int32)
    preferred = _preferred_variants(items, codes, len(order), kinds, identify)
    present = [
        preferred.get(its_key, its_key)
        for its_key, keep in zip(order, is_present.tolist(), strict=True)
        if keep
    ]
    # A column that contains only NaN is a column of floats.
    categories = as_objects(present) if present or kinds != {float} else np.empty(0)
    return Factorized(rank[codes], categories, "hash")


def _identify(item: Any) -> Hashable:
    """Return the key of a value, or None if the value is missing."""
    return None if is_missing(item) else key(plain(item))


def _preferred_variants(
    items: list[Any],
    codes: npt.NDArray[np.int64],
    n_codes: int,
    kinds: set[type],
    identify: Callable[[Any], Hashable] | None,
) -> dict[Hashable, Any]:
    """Map the key of each group of equal values, such as 1 and True, to the preferred value.

    The preferred value becomes the category, whatever the order of the rows. The result is empty if
    equal values of the types `kinds` always look the same.
    """
    if len(kinds - {str, bytes}) <= 1 and kinds <= ONE_SPELLING:
        return {}
    rows = np.arange(len(items))
    if kinds <= ONE_SPELLING:  # choose one row for each value and type
        number_of = {kind: i for i, kind in enumerate([NoneType, *kinds])}
        numbers = np.fromiter(map(number_of.__getitem__, map(type, items)), np.int64, len(items))
        chosen = np.full(n_codes * len(number_of), -1)
        chosen[codes * len(number_of) + numbers] = rows
        variants = [items[row] for row in chosen[chosen >= 0].tolist()]
    else:  # choose one row per value, and all other rows with a different object
        ids = np.fromiter(map(id, items), np.uint64, len(items))
        last = np.empty(n_codes, np.int64)
        last[codes] = rows
        others = np.flatnonzero(ids != ids[last][codes])
        objects = [items[row] for row in np.append(last, others).tolist()]
        text = str if kinds <= ONE_SPELLING | {Decimal} else repr  # str of a Decimal is faster
        texts = zip(map(type, objects), map(text, objects), strict=True)
        variants = list(dict(zip(texts, objects, strict=True)).values())
    return preferred_by_key(variants if identify is None else map(identify, variants), variants)


def _unhashable(items: list[Any]) -> TypeError:
    """Return an error that names the first value that cannot be hashed."""
    for row, item in enumerate(items):
        try:
            hash(item)
        except (TypeError, ValueError) as error:
            hint = "; use multi_hot for rows of several labels" if hasattr(item, "__iter__") else ""
            return TypeError(
                f"the value in row {row} must be hashable, got {with_article(item)} ({error}){hint}"
            )
    return TypeError("all values must support ==, but comparing two of them raised an error")
