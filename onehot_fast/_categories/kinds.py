"""The kinds of values in messages, e.g. "text" and "integers", which explain why none is equal."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories

# The kind of each family of `Categories`, except numbers, whose kind is that of their dtype, and
# objects, each of which has the kind of its own type.
FAMILY_KINDS = {
    "string": "text", "binary": "bytes", "instant": "datetimes", "duration": "durations"
}  # fmt: skip
DTYPE_KINDS = {"b": "Booleans", "i": "integers", "u": "integers", "f": "floats"}
# The kinds of objects; the first match counts, because a bool is an int, a datetime is a date, and
# NumPy's timedelta64 is an integer.
OBJECT_KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "Booleans"),
    ((datetime.timedelta, np.timedelta64), "durations"),
    ((datetime.datetime, np.datetime64), "datetimes"),
    ((datetime.date,), "dates"),
    ((datetime.time,), "times"),
    ((str,), "text"),
    ((bytes,), "bytes"),
    ((int, np.integer), "integers"),
    ((float, np.floating), "floats"),
    ((Decimal,), "decimals"),
    ((Fraction,), "fractions"),
    ((complex, np.complexfloating), "complex numbers"),
)
WITH_ZONE = "datetimes with a time zone"
# Values of these kinds can be equal, so that their kinds do not explain why a value is unknown. A
# Boolean can be equal to 0 and 1 only, so "Booleans" is a kind of its own.
NUMBERS = frozenset({"integers", "floats", "decimals", "fractions", "complex numbers"})


def kinds_of(categories: Categories) -> frozenset[str]:
    """Return the kinds of some categories, e.g. {"text"}."""
    return frozenset(_kind_of_each(categories)) if len(categories) else frozenset()


def other_kinds(categories: Categories, known: Categories) -> tuple[npt.NDArray[np.bool_], str]:
    """Find the categories whose kind no known category has, so that none can be equal to them.

    Return a mask of these categories, and their kinds as text. Without a known category, no kind is
    another one.
    """
    known_kinds = kinds_of(known)
    if not (len(categories) and known_kinds):
        return np.zeros(len(categories), np.bool_), ""
    comparable = known_kinds | (NUMBERS if known_kinds & NUMBERS else frozenset())
    kinds = _kind_of_each(categories)
    is_other = np.array([kind not in comparable for kind in kinds], np.bool_)
    if len(kinds) < len(categories):  # one kind for all categories
        is_other = np.repeat(is_other, len(categories))
    return is_other, listed_kinds(kind for kind in kinds if kind not in comparable)


def _kind_of_each(categories: Categories) -> list[str]:
    """Return the kind of each category, or one kind for all categories of an array of one dtype."""
    family, dtype = categories.family, categories.dtype
    if family in FAMILY_KINDS:
        return [FAMILY_KINDS[family]]
    if family is not None and dtype is not None:
        return [DTYPE_KINDS[dtype.kind]]
    return [_kind_of_object(value) for value in categories.tolist()]


def _kind_of_object(value: Any) -> str:
    """Return the kind of a value, which for a value of another library is named after its type."""
    for types, name in OBJECT_KINDS:
        if isinstance(value, types):
            has_zone = isinstance(value, datetime.datetime) and value.utcoffset() is not None
            return WITH_ZONE if has_zone else name
    return f"{type(value).__name__} objects"


def listed_kinds(kinds: Iterable[str]) -> str:
    """Return kinds as text, e.g. "integers and text"."""
    return " and ".join(sorted(set(kinds)))


def lookalikes(values: Iterable[Any], known: Categories) -> list[tuple[str, str]]:
    """Return each text that differs from a category in its Unicode form only, and the category."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts or "text" not in kinds_of(known):
        return []
    by_form: dict[str, str] = {}
    for category in known.tolist():
        if isinstance(category, str):
            by_form.setdefault(unicodedata.normalize("NFC", category), category)
    forms = [(text, unicodedata.normalize("NFC", text)) for text in texts]
    return [(text, by_form[form]) for text, form in forms if form in by_form]
