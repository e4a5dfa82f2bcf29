"""Convert the values of a column to codes and categories."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_scalar, as_scalars
from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.categories import (
    TEXT_KINDS,
    Kind,
    dtype_of,
    kind_of,
    kind_of_dtype,
    with_dtype,
)
from onehot_fast._categories.column import Column
from onehot_fast._categories.hashtable.dictionary import Dictionary, number_integers
from onehot_fast._categories.keys import (
    as_objects,
    has_plain_type,
    is_missing,
    key,
    plain,
    preferred_by_key,
)
from onehot_fast._categories.strings import Strings

AnyArray: TypeAlias = npt.NDArray[Any]

# Integers are coded by counting if max - min <= MIN_SPAN + SPAN_PER_VALUE * n_values.
MIN_SPAN = 1 << 10
SPAN_PER_VALUE = 4
MAX_SPAN = np.iinfo(np.int32).max - 1
DOUBLE_BYTES = 8
OF_ANOTHER_PACKAGE = 2  # `dtype.isbuiltin` of the dtypes of ml_dtypes
# Type of all objects → kind of the `Dictionary`.
KINDS_OF_OBJECTS: dict[Any, Kind] = {str: "string", bytes: "binary"}
# Equal values of one of these types have the same repr, except for 0.0 and -0.0.
ONE_SPELLING = {str, bytes, int, bool, float, datetime.date, datetime.timedelta, Fraction, UUID}
# The kind of the `Dictionary` follows from the first value in these rows that is not missing.
MAX_SAMPLE = 1024


def _column(codes: AnyArray, categories: AnyArray | Strings, source: str = "hash") -> Column:
    """Return a column whose categories were found in its own values, so they are distinct."""
    return Column.unchecked(codes, categories, source=source, is_distinct=True)


def factorize_chunks(chunks: Sequence[Any], missing: Sequence[object] = ()) -> Column:
    """Convert the values of chunks (ndarrays, Strings or Arrow arrays) to codes and categories.

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
        return _column(codes, np.array([False, True]), "bool")
    return _hashed(chunks, kind_of(chunks[0]))


def concatenated(arrays: Sequence[AnyArray]) -> AnyArray:
    """Return the concatenated arrays."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, object)


def factorize(values: AnyArray, missing: Sequence[object] = ()) -> Column:
    """Convert a one-dimensional array to codes and categories."""
    if isinstance(values, np.ma.MaskedArray):
        column = factorize(values.data)
        signed = column.codes.astype(np.int32)
        signed[np.ma.getmaskarray(values)] = -1
        return _column(signed, column.stored, "masked")
    kind = values.dtype.kind
    if values.dtype.isbuiltin == OF_ANOTHER_PACKAGE:
        raise TypeError(
            f"the dtype must be one of NumPy's own, got {values.dtype}: convert the values, e.g."
            " values.astype('float32')"
        )
    if kind == "b":
        return _column(values.astype(np.int8), np.array([False, True]), "bool")
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


def _hashed(chunks: Sequence[Any], kind: Kind, missing: Sequence[object] = ()) -> Column:
    """Factorize chunks with a hash table; categories are in order of first appearance."""
    table = Dictionary(kind)
    codes = concatenated([table.encode(chunk, missing=missing) for chunk in chunks])
    return _column(codes, with_dtype(table.values, dtype_of(chunks[0])))


def _integers(values: AnyArray) -> Column:
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
            return _column(codes, categories)
    return _hashed([values], kind_of_dtype(values.dtype))


def _sorted(values: AnyArray) -> Column:
    """Factorize long doubles or complex numbers by sorting; NaN is missing."""
    is_present = ~np.isnan(values)
    present = values[is_present] + values.dtype.type(0)  # -0.0 becomes 0.0
    categories, positions = np.unique(present, return_inverse=True)
    codes = np.full(len(values), -1, np.int32)
    codes[is_present] = positions.reshape(-1)
    return _column(codes, categories)


def _objects(values: AnyArray, missing: Sequence[object]) -> Column:
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


def _by_dictionary(values: AnyArray) -> Column:
    """Factorize objects with a Python dict."""
    order: defaultdict[Hashable, int] = defaultdict()
    order.default_factory = order.__len__
    items = values.tolist()
    try:
        items = as_scalars(items)
    except TypeError:  # an array is no value
        raise _not_single(items) from None
    kinds = set(map(type, items)) - {NoneType}
    if any(hasattr(kind, "__next__") for kind in kinds):
        raise _not_single(items)
    scalars = [kind for kind in kinds if issubclass(kind, np.generic)]
    # Comparing some NumPy scalars with other types, e.g. Decimal, raises an error. NaN inside a
    # tuple equals NaN.
    is_plain = not scalars or (len(kinds) == 1 and has_plain_type(scalars[0]))
    is_plain = is_plain and not any(issubclass(kind, tuple) for kind in kinds)
    identify = None if is_plain else _identify
    keys = items if identify is None else map(identify, items)
    try:
        codes = np.fromiter(map(order.__getitem__, keys), np.int64, len(items))
    except (TypeError, ValueError):  # ValueError: a timedelta64 without a unit
        raise _not_single(items) from None
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
    return _column(rank[codes], categories)


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


def _not_single(items: list[Any]) -> TypeError:
    """Return an error that names the first value that cannot be a category."""
    single = None  # the first row with a single value
    for row, item in enumerate(items):
        if hasattr(type(item), "__next__"):
            return TypeError(
                f"the value in row {row} must not be an iterator, got {with_article(item)}, whose"
                " items can be read only once: convert each row to a list, e.g."
                " [list(row) for row in rows]"
            )
        try:
            hash(as_scalar(item))
        except (TypeError, ValueError) as error:
            reason = f"the value in row {row} must be hashable, got {with_article(item)} ({error})"
            return TypeError(reason + _remedy(item, single, items))
        if single is None and not is_missing(item):
            single = row
    return TypeError("all values must support ==, but comparing two of them raised an error")


def _remedy(item: Any, single: int | None, items: list[Any]) -> str:
    """Return the end of the message for a value without a hash; `single` is a row that has one."""
    if not hasattr(item, "__iter__") or isinstance(item, Mapping):
        return ""
    if single is None:
        return "; for rows of several labels, fit an Encoder to lists, or use multi_hot"
    value = shown(items[single])
    is_group = isinstance(items[single], tuple | frozenset)
    row = shown([*items[single]]) if is_group else f"[{value}]"
    texts = ", or texts in all rows and sep=" if isinstance(items[single], str) else ""
    return (
        f", but row {single} has the single value {value}; pass lists in all rows, e.g. {row},"
        f" or single values in all rows{texts}"
    )
