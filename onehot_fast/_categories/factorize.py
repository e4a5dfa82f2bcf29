"""Raw values → codes and categories. What is coded already never comes here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.keys import is_missing
from onehot_fast._runtime.registry import loaded

AnyArray: TypeAlias = npt.NDArray[Any]

# Below, asking another library costs more than it saves.
WORTH_ASKING = 4096
# Integers whose range is at most so many times their number are counted and not hashed.
DENSE_RANGE = 4
SMALL_RANGE = 1 << 16


class Factorized(NamedTuple):
    """The codes of some values (missing = -1), their categories, and where the codes came from."""

    codes: AnyArray
    categories: AnyArray
    source: str


def factorize(values: AnyArray) -> Factorized:
    """Return the codes of a one-dimensional array."""
    if isinstance(values, np.ma.MaskedArray):
        codes, categories, _ = factorize(values.data)
        signed = codes.astype(np.int32 if codes.itemsize < 8 else np.int64)
        signed[np.ma.getmaskarray(values)] = -1
        return Factorized(signed, categories, "masked")
    kind = values.dtype.kind
    if kind == "b":
        return Factorized(values.astype(np.int8), np.array([False, True]), "bool")
    if kind in "iu":
        return _integers(values.astype(values.dtype.newbyteorder("="), copy=False))
    if kind in "fcmM":
        return _with_missing(values.astype(values.dtype.newbyteorder("="), copy=False))
    if kind in "OSUT":
        return _objects(values)
    raise TypeError(
        f"dtype {values.dtype} cannot be encoded; accepted are Booleans, numbers, texts, bytes,"
        " dates, times and objects"
    )


def _hashed_elsewhere(values: AnyArray) -> Factorized | None:
    """Return the codes by pandas' hash tables, if the program has loaded them."""
    is_float = values.dtype in (np.float32, np.float64)
    if len(values) < WORTH_ASKING or not (is_float or values.dtype.kind in "iuOSU"):
        return None
    frames = loaded("pandas", "pandas")
    if frames is None or not hasattr(frames, "factorize"):
        return None
    codes, categories = frames.factorize(values)
    return Factorized(codes, categories, "hash")


def _integers(values: AnyArray) -> Factorized:
    """Return the codes of integers: by counting where they lie close together."""
    if len(values) == 0:
        return Factorized(np.empty(0, np.int32), values.copy(), "hash")
    low, high = values.min(), values.max()
    span = int(high) - int(low) + 1
    if span > max(SMALL_RANGE, DENSE_RANGE * len(values)):
        return _hashed_elsewhere(values) or _sorted(values)
    # Eight and more bits wide enough that the difference cannot overflow.
    wide = values if values.dtype.itemsize == 8 else values.astype(np.int64)
    steps = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
    occurs = np.zeros(span, np.bool_)
    occurs[steps] = True
    found = np.flatnonzero(occurs)
    rank = np.empty(span, np.int32)
    rank[found] = np.arange(len(found), dtype=np.int32)
    categories = found.astype(wide.dtype) + wide.dtype.type(low)
    return Factorized(rank[steps], categories.astype(values.dtype), "hash")


def _sorted(values: AnyArray) -> Factorized:
    """Return the codes of values that have a dtype NumPy can sort."""
    categories, codes = np.unique(values, return_inverse=True)
    narrow = np.int32 if len(categories) <= np.iinfo(np.int32).max else np.int64
    return Factorized(codes.reshape(-1).astype(narrow), categories, "hash")


def _with_missing(values: AnyArray) -> Factorized:
    """Return the codes of numbers and times of which some may be missing: NaN, NaT."""
    missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
    if not missing.any():
        return _without_missing(values)
    codes, categories, source = _without_missing(values[~missing])
    spread = np.full(len(values), -1, codes.dtype)
    spread[~missing] = codes
    return Factorized(spread, categories, source)


def _without_missing(values: AnyArray) -> Factorized:
    """Return the codes of floats, complex numbers, dates and times."""
    if values.dtype.kind in "mM":
        codes, categories, source = _integers(np.ascontiguousarray(values).view(np.int64))
        return Factorized(codes, categories.view(values.dtype), source)
    values = values + values.dtype.type(0)  # which makes 0.0 of -0.0
    return _hashed_elsewhere(values) or _sorted(values)


def _objects(values: AnyArray) -> Factorized:
    """Return the codes of objects and texts."""
    try:
        hashed = _hashed_elsewhere(values)
    except TypeError:  # the dictionary will say which value cannot be hashed
        hashed = None
    return hashed or _by_dictionary(values)


def _by_dictionary(values: AnyArray) -> Factorized:
    """Return the codes of objects by Python's own hashing, one look-up for each row."""
    places: defaultdict[Hashable, int] = defaultdict()
    places.default_factory = places.__len__
    items = values.tolist()
    try:
        codes = np.fromiter(map(places.__getitem__, items), np.int64, len(items))
    except (TypeError, ValueError):  # NumPy's word for a timedelta64 without a unit
        raise _unhashable(items) from None
    # Whether a value is missing is asked once for each value that is different.
    rank = np.full(len(places), -1, np.int32)
    kept = [item for item in places if not is_missing(item)]
    rank[[place for item, place in places.items() if not is_missing(item)]] = np.arange(len(kept))
    categories = np.empty(len(kept), object)
    categories[:] = kept
    return Factorized(rank[codes], categories, "hash")


def _unhashable(items: list[Any]) -> TypeError:
    """Return the error that names the first value that cannot be hashed."""
    for row, item in enumerate(items):
        try:
            hash(item)
        except (TypeError, ValueError) as error:
            return TypeError(f"row {row} holds a {type(item).__name__}: {error}")
    return TypeError("a value cannot be compared with another one")
