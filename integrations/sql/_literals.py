"""Categories → literals of a dialect."""

from __future__ import annotations

import datetime
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from onehot_fast.adapter import ColumnSchema

from ._dialects import Dialect, is_unicode

NUMBERS = frozenset({"integer", "float", "decimal"})
# Types that one column of SQLite may mix.
STORED = NUMBERS | {"boolean", "text", "bytes"}


@dataclass(frozen=True)
class Literals:
    """The categories of a column as literals, None for those that no column can hold."""

    kinds: frozenset[str]
    values: list[str | None]

    @property
    def is_number(self) -> bool:
        """Whether a value may be NaN."""
        return bool(self.kinds & NUMBERS)


def literals(column: ColumnSchema, dialect: Dialect) -> Literals:
    """Return the categories of a column as literals.

    Raises
    ------
    ValueError
        The engine has no such values, or no column that has all of them.
    """
    items = column.known.tolist()
    kinds = frozenset(map(_kind, items))
    unsupported = next((item for item in items if _kind(item) == ""), None)
    if unsupported is not None:
        kind = type(unsupported).__name__
        raise _refused(column.name, dialect, f"has no values like {unsupported!r} ({kind})")
    if dialect.mixes_kinds and "zoned" in kinds:
        raise _refused(column.name, dialect, "has no instants with a zone")
    if not items and column.known.dtype is not None and column.known.dtype.kind == "f":
        kinds = frozenset({"float"})
    together = STORED if dialect.mixes_kinds else NUMBERS | {"boolean"}
    if len(kinds) > 1 and not kinds <= together:
        listed = ", ".join(sorted(kinds))
        raise _refused(column.name, dialect, f"has no column that holds {listed} at once")
    if kinds > {"boolean"}:
        items = [int(item) if type(item) is bool else item for item in items]
    return Literals(kinds, [_literal(item, kinds, dialect) for item in items])


def _refused(name: Hashable, dialect: Dialect, reason: str) -> ValueError:
    return ValueError(f"column {name!r} cannot be written in SQL: {dialect.title} {reason}")


def _kind(item: Any) -> str:
    """Return what a category is, "" for what is not known in SQL."""
    if isinstance(item, bool | np.bool_):
        return "boolean"
    if isinstance(item, np.timedelta64 | datetime.timedelta):
        return ""
    if isinstance(item, datetime.datetime):
        return "instant" if item.utcoffset() is None else "zoned"
    kinds: dict[Any, str] = {
        str: "text", bytes: "bytes", (int, np.integer): "integer", (float, np.floating): "float",
        Decimal: "decimal", np.datetime64: "instant", datetime.date: "date",
    }  # fmt: skip
    return next((kind for types, kind in kinds.items() if isinstance(item, types)), "")


def _literal(item: Any, kinds: frozenset[str], dialect: Dialect) -> str | None:
    """Return one category as a literal."""
    kind = _kind(item)
    if kind == "text":
        return dialect.text(item) if is_unicode(item) else None
    if kind == "bytes":
        return dialect.binary(item)
    if kind == "boolean":
        return dialect.truth(bool(item))
    if kind == "date":
        return dialect.date(item)
    if kind in ("instant", "zoned"):
        return _instant(item, kind, dialect)
    if kind == "decimal":
        return _decimal(item, kinds, dialect)
    if kind == "float":
        return dialect.float(float(item) + 0.0)  # 0.0 for -0.0
    if "float" in kinds and not dialect.mixes_kinds:
        # A column that holds floats too has no integer that is none of them.
        return dialect.float(float(item)) if int(float(item)) == item else None
    return dialect.integer(int(item))


def _decimal(item: Decimal, kinds: frozenset[str], dialect: Dialect) -> str | None:
    if "float" in kinds or dialect.mixes_kinds:
        return dialect.float(float(item)) if Decimal(float(item)) == item else None
    return dialect.decimal(item)


def _instant(item: Any, kind: str, dialect: Dialect) -> str | None:
    """Return an instant as a literal, by its clock or in UTC."""
    if not isinstance(item, np.datetime64):
        nanoseconds = getattr(item, "nanosecond", 0)  # of pandas' own type
        offset = item.utcoffset() or datetime.timedelta()
        naive = datetime.datetime(*item.replace(tzinfo=None).timetuple()[:6]) - offset
        item = np.datetime64(naive, "us") + np.timedelta64(getattr(item, "microsecond", 0), "us")
        item = item.astype("M8[ns]") + np.timedelta64(nanoseconds, "ns") if nanoseconds else item
    if not 1 <= int(item.astype("M8[Y]").astype(int)) + 1970 <= 9999:
        raise ValueError(f"the instant {item} is refused: SQL has the years from 1 to 9999")
    return dialect.instant(item) if kind == "instant" else dialect.zoned(item)
