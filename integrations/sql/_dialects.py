"""What the engines write differently: names, literals, types, and how a query is made to fail."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

import numpy as np

# SQLite promises so many digits of a decimal fraction; others read all of them.
SQLITE_DIGITS = 15
EXACT = 2**53
LONG = 2**63
# From here on a power of two is divided by in steps that SQLite has as an integer.
STEP = 62
# In `${...}` Spark replaces variables, in texts too.
SPARK_VARIABLE = "${"
# What no name of a column holds in BigQuery.
BIGQUERY_NEVER = re.compile(r"""[!"$()*,./;?@[\\\]^`{}~]""")


def escaped(value: str, quote: str, others: str = "") -> str:
    """Return a text between quotes, in which a backslash is an escape."""
    plain = {quote: f"\\{quote}", "\\": "\\\\"}
    letters = (
        f"\\u{ord(c):04x}" if c < " " or "\x7f" <= c <= "\x9f" or c in others else plain.get(c, c)
        for c in value
    )
    return f"{quote}{''.join(letters)}{quote}"


def is_unicode(value: str) -> bool:
    """Tell whether a text has no lone surrogates, which no engine holds."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Dialect:
    """DuckDB's SQL, which the others change.

    A literal is None where no column of the engine can hold the value.
    """

    title = "DuckDB"
    types: ClassVar[dict[str, str]] = {
        "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER",
        "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER",
        "uint64": "UBIGINT", "float16": "FLOAT", "float32": "FLOAT", "float64": "DOUBLE",
    }  # fmt: skip
    boolean, double, words = "BOOLEAN", "DOUBLE", "VARCHAR"
    true, false = "TRUE", "FALSE"
    zoned_type, naive_type = "TIMESTAMPTZ", "TIMESTAMP"
    # How many columns a result may have, and how many bytes the name of one.
    most_columns, most_bytes = 0, 0
    mixes_kinds = False

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return '"' + name.replace('"', '""') + '"'

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the features as the engine can have them."""
        return names

    def column(self, name: str, is_text: bool) -> str:
        """Return how a column is written where it is compared."""
        return self.identifier(name)

    def text(self, value: str) -> str | None:
        """Return a literal of a text."""
        return "'" + value.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"

    def binary(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"unhex('{value.hex()}')"

    def truth(self, value: bool) -> str:
        """Return a literal of a Boolean."""
        return self.true if value else self.false

    def integer(self, value: int) -> str:
        """Return a literal of an integer."""
        return str(value)

    def decimal(self, value: Decimal) -> str | None:
        """Return a literal of a decimal fraction."""
        return f"{value:f}"

    def float(self, value: float) -> str:
        """Return a literal of a float64."""
        return f"CAST('{value!r}' AS {self.double})".replace("inf", "Infinity")

    def date(self, value: datetime.date) -> str:
        """Return a literal of a day."""
        return f"DATE '{value.isoformat()}'"

    def instant(self, value: np.datetime64) -> str | None:
        """Return a literal of an instant without a zone."""
        return f"{self.naive_type} '{_clock(value)}'" if _is_exact(value, "us") else None

    def zoned(self, value: np.datetime64) -> str | None:
        """Return a literal of an instant, given in UTC."""
        return f"{self.zoned_type} '{_clock(value)}+00:00'" if _is_exact(value, "us") else None

    @property
    def nan(self) -> str:
        """Return NaN."""
        return f"CAST('NaN' AS {self.double})"

    def is_nan(self, column: str) -> str | None:
        """Return whether a column of any kind of numbers is NaN, which is equal to itself here."""
        return f"CAST({column} AS {self.double}) = {self.nan}"

    def error(self, message: str, column: str) -> str:
        """Return a call that fails, and says which value of a column made it."""
        return f"error({self.text(message)} || {self._shown(column)})"

    def _shown(self, column: str) -> str:
        return f"COALESCE(CAST({column} AS {self.words}), 'NULL')"


class DuckDB(Dialect):
    """The base, and nanoseconds."""

    def instant(self, value: np.datetime64) -> str | None:
        """Return a literal of an instant without a zone."""
        if not _is_exact(value, "us") and _is_exact(value, "ns"):
            return f"TIMESTAMP_NS '{_clock(value, 'ns')}'"
        return super().instant(value)


class Postgres(Dialect):
    """No unsigned integers, no NUL, and no function that fails."""

    title = "PostgreSQL"
    types = Dialect.types | {
        "int8": "SMALLINT", "uint8": "SMALLINT", "uint16": "INTEGER", "uint32": "BIGINT",
        "uint64": "NUMERIC(20)", "float16": "REAL", "float32": "REAL",
        "float64": "DOUBLE PRECISION",
    }  # fmt: skip
    double, words = "DOUBLE PRECISION", "TEXT"
    most_columns, most_bytes = 1664, 63

    def text(self, value: str) -> str | None:
        """Return a literal; what a backslash is otherwise depends on a setting."""
        if "\0" in value:
            return None
        quoted = "'" + value.replace("'", "''") + "'"
        return f"E{quoted}".replace("\\", "\\\\") if "\\" in value else quoted

    def binary(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"decode('{value.hex()}', 'hex')"

    def error(self, message: str, column: str) -> str:
        """Return what is no number, and is shown in the error that says so.

        It depends on the column, or it would fail before there is a row.
        """
        return f"CAST({self.text(message)} || {self._shown(column)} AS INTEGER)"


class Spark(Dialect):
    """Backslashes are escapes, and texts may hold variables."""

    title = "Spark"
    types = Dialect.types | {
        "uint8": "SMALLINT", "uint16": "INT", "int32": "INT", "uint32": "BIGINT",
        "uint64": "DECIMAL(20, 0)",
    }  # fmt: skip
    words = "STRING"
    naive_type, zoned_type = "TIMESTAMP_NTZ", "TIMESTAMP"

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        if SPARK_VARIABLE in name:
            raise ValueError(f"the name {name!r} is refused: in '${{' Spark replaces variables")
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str | None:
        """Return a literal of a text."""
        return escaped(value, "'", "$")

    def binary(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"X'{value.hex()}'"

    def error(self, message: str, column: str) -> str:
        """Return a call that fails."""
        return f"raise_error(concat({self.text(message)}, {self._shown(column)}))"


class BigQuery(Dialect):
    """One type of integers, one of floats, and names of letters, digits and underscores."""

    title = "BigQuery"
    types = dict.fromkeys(Dialect.types, "INT64") | {
        "bool": "BOOL", "float16": "FLOAT64", "float32": "FLOAT64", "float64": "FLOAT64",
        "uint64": "NUMERIC",
    }  # fmt: skip
    boolean, double, words = "BOOL", "FLOAT64", "STRING"
    naive_type, zoned_type = "DATETIME", "TIMESTAMP"
    most_columns, most_bytes = 10_000, 300

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return escaped(name, "`")

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        """Return names with "_" in place of what is neither letter nor digit, or refuse them."""
        changed = [re.sub(r"^(?=\d)|\W", "_", name) for name in names]
        seen: dict[str, str] = {}
        for before, name in zip(names, changed, strict=True):
            other = seen.setdefault(name.casefold(), before)
            if other != before:
                raise ValueError(
                    f"the features {other!r} and {before!r} would both be {name!r} in BigQuery,"
                    " whose names have letters, digits and '_' alone: choose another prefix="
                )
        return changed

    def column(self, name: str, is_text: bool) -> str:
        """Return how a column is written where it is compared."""
        if BIGQUERY_NEVER.search(name):
            raise ValueError(f"BigQuery has no column named {name!r}: rename it before fit")
        return self.identifier(name)

    def text(self, value: str) -> str | None:
        """Return a literal of a text."""
        return escaped(value, "'")

    def binary(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"FROM_HEX('{value.hex()}')"

    def integer(self, value: int) -> str:
        """Return a literal; beyond 64 bits it says its type."""
        return str(value) if -LONG <= value < LONG else f"BIGNUMERIC '{value}'"

    def decimal(self, value: Decimal) -> str | None:
        """Return a literal of a decimal fraction."""
        return f"BIGNUMERIC '{value:f}'"

    def is_nan(self, column: str) -> str | None:
        """Return whether a number is NaN, which is not equal to itself here."""
        return f"IS_NAN(CAST({column} AS FLOAT64))"

    def error(self, message: str, column: str) -> str:
        """Return a call that fails."""
        return f"ERROR(CONCAT({self.text(message)}, {self._shown(column)}))"


class SQLite(Dialect):
    """Values have types, columns do not; days and instants are texts, NaN is NULL."""

    title = "SQLite"
    types = dict.fromkeys(Dialect.types, "INTEGER") | dict.fromkeys(
        ("float16", "float32", "float64"), "REAL"
    )
    true, false, nan = "1", "0", "NULL"
    most_columns = 2000
    mixes_kinds = True

    def column(self, name: str, is_text: bool) -> str:
        """Return a column as its value alone.

        With the affinity of the column '1' would be equal to 1, and with its collation 'a' to 'A'.
        """
        value = f"+{self.identifier(name)}"
        return f"({value} COLLATE BINARY)" if is_text else value

    def text(self, value: str) -> str | None:
        """Return a literal; a statement ends where a NUL is."""
        if "\0" in value:
            return f"CAST(X'{value.encode().hex()}' AS TEXT)"
        return "'" + value.replace("'", "''") + "'"

    def binary(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"X'{value.hex()}'"

    def integer(self, value: int) -> str:
        """Return a literal; -2**63 is no negated 2**63, which would be a float."""
        return str(value) if value != -LONG else f"({value + 1} - 1)"

    def decimal(self, value: Decimal) -> str | None:
        """Return None: it has floats alone."""
        return None

    def float(self, value: float) -> str:
        """Return a literal, or integers of which the quotient or product is exactly the float."""
        if math.isinf(value):
            return "9e999" if value > 0 else "-9e999"
        digits = re.sub(r"e.*|\D", "", repr(value)).strip("0")
        if len(digits) <= SQLITE_DIGITS and 1e-20 < abs(value) < 1e20:
            return repr(value)
        mantissa, exponent = math.frexp(value)
        whole, exponent = int(mantissa * EXACT), exponent - 53
        while whole and whole % 2 == 0:
            whole, exponent = whole // 2, exponent + 1
        steps = [STEP] * (abs(exponent) // STEP) + [abs(exponent) % STEP]
        sign = "*" if exponent > 0 else "/"
        return f"({whole}.0{''.join(f' {sign} {2**step}.0' for step in steps if step)})"

    def date(self, value: datetime.date) -> str:
        """Return the text that the functions of SQLite write."""
        return f"'{value.isoformat()}'"

    def instant(self, value: np.datetime64) -> str | None:
        """Return the text that the functions of SQLite write, and Python's module."""
        return f"'{_clock(value)}'" if _is_exact(value, "us") else None

    def is_nan(self, column: str) -> str | None:
        """Return None: it has no NaN."""
        return None


def _clock(value: np.datetime64, unit: str = "us") -> str:
    """Return an instant as SQL writes it."""
    day, _, clock = str(value.astype(f"M8[{unit}]")).partition("T")
    seconds, _, fraction = clock.partition(".")
    fraction = "" if not int(fraction) else f".{fraction}"
    return f"{day} {seconds}{fraction}"


def _is_exact(value: np.datetime64, unit: str) -> bool:
    """Tell whether an instant is a whole number of some unit."""
    return bool(value.astype(f"M8[{unit}]") == value)


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgres": Postgres(),
    "spark": Spark(),
    "bigquery": BigQuery(),
    "sqlite": SQLite(),
}
