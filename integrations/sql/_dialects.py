"""The differences between the dialects: names, literals, types, and how a query fails."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

import numpy as np

from onehot_fast.adapter import as_literal

# SQLite promises this many digits of a decimal fraction; the other engines read all of them.
SQLITE_DIGITS = 15
EXACT = 2**53
INT64 = range(-(2**63), 2**63)
# SQLite divides by a power of two in steps that it has as an integer.
STEP = 62
# Spark replaces variables in `${...}`, in texts too.
SPARK_VARIABLE = "${"
# A text of Spark that means the same with every setting of its parser.
SPARK_PLAIN = re.compile(r"[^\\'$\x00-\x1f\x7f-\x9f]*")
# Characters that no column name in BigQuery has.
BIGQUERY_NEVER = re.compile(r"""[!"$()*,./;?@[\\\]^`{}~]""")
BIGNUMERIC_MAX, BIGNUMERIC_SCALE = Decimal(f"{2**255 - 1}E-38"), 38
POSTGRES_DIGITS, POSTGRES_SCALE = 131_072, 16_383
ATTOSECONDS = 10**18
# The first and the last second of the years 1 to 9999, since 1970.
YEARS = range(-62_135_596_800, 253_402_300_800)
NUMBERS = {"float", "decimal", "integer"}


def escaped(value: str, quote: str) -> str:
    """Return a text between quotes, in which a backslash is an escape."""
    plain = {quote: f"\\{quote}", "\\": "\\\\"}
    letters = (
        f"\\u{ord(c):04x}" if c < " " or "\x7f" <= c <= "\x9f" else plain.get(c, c) for c in value
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

    The methods named after a kind of literal (`text`, `integer`, ...) write a value of that kind.
    They return None if no column of the engine can hold the value.
    """

    title = "DuckDB"
    types: ClassVar[dict[str, str]] = {
        "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER",
        "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER",
        "uint64": "UBIGINT", "float16": "FLOAT", "float32": "FLOAT", "float64": "DOUBLE",
    }  # fmt: skip
    boolean_type, double_type, string_type = "BOOLEAN", "DOUBLE", "VARCHAR"
    # Compares texts by their characters.
    collate = " COLLATE C"
    # The type that the literals 1 and 0 have, where a column of that type needs no cast.
    literal_type = ""
    true, false = "TRUE", "FALSE"
    zoned_type, naive_type = "TIMESTAMPTZ", "TIMESTAMP"
    # Integers beyond 64 bits.
    integers = range(-(2**127), 2**128)
    # The limits of a result: its columns, and the bytes of a column name.
    max_columns, max_bytes = 0, 0
    mixes_kinds = False
    folds_case = True  # names that differ only by case are one

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return '"' + name.replace('"', '""') + '"'

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the features as the engine can have them."""
        return names

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        """Return a column as it is compared: texts by their characters, whatever its collation."""
        if kind != "text":
            return name
        return f"({self._as_text(name)}{self.collate})" if self.collate else self._as_text(name)

    def is_among(self, column: str, literals: Sequence[str], kind: str | None) -> str:
        """Return whether a column equals one of some literals."""
        listed = ", ".join(literals)
        return f"{column} IN ({listed})" if len(literals) > 1 else f"{column} = {listed}"

    def text(self, value: str) -> str | None:
        """Return a literal of a text."""
        return "'" + value.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"

    def bytes(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"unhex('{value.hex()}')"

    def integer(self, value: int) -> str | None:
        """Return a literal of an integer."""
        return str(value) if value in self.integers else None

    def decimal(self, value: Decimal) -> str | None:
        """Return a literal of a decimal fraction without zeros at its end."""
        held = as_literal(value, "decimal38")
        return None if held is None else f"{held:f}"

    def boolean(self, value: bool) -> str:
        """Return a literal of a Boolean."""
        return self.true if value else self.false

    def float(self, value: float) -> str | None:
        """Return a literal of a float64."""
        return f"CAST('{value!r}' AS {self.double_type})".replace("inf", "Infinity")

    def date(self, value: datetime.date) -> str:
        """Return a literal of a day."""
        return f"DATE '{value.isoformat()}'"

    def instant(self, value: int) -> str | None:
        """Return a literal of an instant by its clock, given in attoseconds since 1970."""
        clock = _clock(value)
        return clock and f"{self.naive_type} '{clock}'"

    def zoned(self, value: int) -> str | None:
        """Return a literal of an instant in UTC, given in attoseconds since 1970."""
        clock = _clock(value)
        return clock and f"{self.zoned_type} '{clock}+00:00'"

    @property
    def nan(self) -> str:
        """Return NaN."""
        return f"CAST('NaN' AS {self.double_type})"

    def is_nan(self, column: str, kind: str | None) -> str | None:
        """Return whether a column of some kind is NaN, which equals itself here.

        If no category tells the kind, the condition holds for columns of every type.
        """
        if kind is None:
            return f"typeof({column}) IN ('FLOAT', 'DOUBLE') AND {self._as_text(column)} = 'nan'"
        return f"CAST({column} AS {self.double_type}) = {self.nan}" if kind in NUMBERS else None

    def error(self, message: str, column: str) -> str | None:
        """Return a call that fails and shows the value of a column; None if nothing can fail."""
        return f"error({self.text(message)} || {self._shown(column)})"

    def _as_text(self, column: str) -> str:
        return f"CAST({column} AS {self.string_type})"

    def _shown(self, column: str) -> str:
        return f"COALESCE({self._as_text(column)}, 'NULL')"


class DuckDB(Dialect):
    """The base, and nanoseconds."""

    def instant(self, value: int) -> str | None:
        """Return a literal of an instant by its clock, given in attoseconds since 1970."""
        clock = _clock(value, digits=9)
        return super().instant(value) or (clock and f"TIMESTAMP_NS '{clock}'")


class Postgres(Dialect):
    """No unsigned integers, no NUL, and no function that fails."""

    title = "PostgreSQL"
    types = Dialect.types | {
        "int8": "SMALLINT", "uint8": "SMALLINT", "uint16": "INTEGER", "uint32": "BIGINT",
        "uint64": "NUMERIC(20)", "float16": "REAL", "float32": "REAL",
        "float64": "DOUBLE PRECISION",
    }  # fmt: skip
    double_type, string_type = "DOUBLE PRECISION", "TEXT"
    collate = ' COLLATE "C"'
    max_columns, max_bytes = 1664, 63
    folds_case = False

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        """Return a column as it is compared: texts by their characters, whatever its collation.

        A cast of char(n) removes blanks at its end. If a category has any, `concat` keeps them.
        """
        if any(text.endswith(" ") for text in texts):
            return f"(CASE WHEN {name} IS NOT NULL THEN concat({name}, '') END{self.collate})"
        return super().column(name, kind, texts)

    def text(self, value: str) -> str | None:
        """Return a literal. The meaning of a backslash depends on a setting, except in E''."""
        if "\0" in value:
            return None
        quoted = "'" + value.replace("'", "''") + "'"
        return f"E{quoted}".replace("\\", "\\\\") if "\\" in value else quoted

    def bytes(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"decode('{value.hex()}', 'hex')"

    def integer(self, value: int) -> str | None:
        """Return a literal of an integer."""
        return str(value) if value in INT64 else self.decimal(Decimal(value))

    def decimal(self, value: Decimal) -> str | None:
        """Return a literal; one with an exponent is a numeric, too."""
        if value.is_infinite():
            return f"CAST('{value}' AS NUMERIC)"
        is_held = value.adjusted() < POSTGRES_DIGITS and _scale(value) <= POSTGRES_SCALE
        return str(value) if is_held else None

    def is_nan(self, column: str, kind: str | None) -> str | None:
        """Return whether a column is NaN. A cast of numeric to double precision may overflow."""
        if kind is None:
            types = ", ".join(
                f"'{t}'::regtype" for t in ("real", self.double_type.lower(), "numeric")
            )
            return f"pg_typeof({column}) IN ({types}) AND {self._as_text(column)} = 'NaN'"
        return f"{column} = CAST('NaN' AS NUMERIC)" if kind in NUMBERS else None

    def error(self, message: str, column: str) -> str | None:
        """Return a cast that fails and shows its text.

        The text depends on the column: the cast of a constant would fail in a query without rows.
        """
        return f"CAST({self.text(message)} || {self._shown(column)} AS INTEGER)"


class Spark(Dialect):
    """Texts may hold escapes and variables, and comparisons round decimals."""

    title = "Spark"
    types = Dialect.types | {
        "uint8": "SMALLINT", "uint16": "INT", "int32": "INT", "uint32": "BIGINT",
        "uint64": "DECIMAL(20, 0)",
    }  # fmt: skip
    string_type, collate = "STRING", ""
    naive_type, zoned_type = "TIMESTAMP_NTZ", "TIMESTAMP"
    integers = range(1 - 10**38, 10**38)

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        if SPARK_VARIABLE in name:
            raise ValueError(
                f"the name {name!r} cannot be written in SQL: Spark replaces variables in '${{'"
            )
        return "`" + name.replace("`", "``") + "`"

    def is_among(self, column: str, literals: Sequence[str], kind: str | None) -> str:
        """Return whether a column equals one of some literals.

        Spark rounds 1.5 to the scale of a DECIMAL(38, 0). The float64 shows that it is another one.
        """
        is_same = super().is_among(column, literals, kind)
        if kind != "decimal" or not any("." in literal for literal in literals):
            return is_same
        doubles = [f"CAST('{literal}' AS DOUBLE)" for literal in literals]
        return f"({is_same} AND {super().is_among(f'CAST({column} AS DOUBLE)', doubles, kind)})"

    def text(self, value: str) -> str | None:
        """Return a literal that does not depend on ``spark.sql.parser.escapedStringLiterals``."""
        if SPARK_PLAIN.fullmatch(value):
            return f"'{value}'"
        return f"CAST({self.bytes(value.encode())} AS STRING)"

    def bytes(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"X'{value.hex()}'"

    def is_nan(self, column: str, kind: str | None) -> str | None:
        """Return whether a column is NaN."""
        if kind is None:
            return f"typeof({column}) IN ('float', 'double') AND {self._as_text(column)} = 'NaN'"
        return super().is_nan(column, kind)

    def error(self, message: str, column: str) -> str | None:
        """Return a call that fails."""
        return f"raise_error(concat({self.text(message)}, {self._shown(column)}))"


class BigQuery(Dialect):
    """One type of integers, one of floats, and names of letters, digits and underscores."""

    title = "BigQuery"
    types = dict.fromkeys(Dialect.types, "INT64") | {
        "bool": "BOOL", "float16": "FLOAT64", "float32": "FLOAT64", "float64": "FLOAT64",
        "uint64": "NUMERIC",
    }  # fmt: skip
    boolean_type, double_type, string_type = "BOOL", "FLOAT64", "STRING"
    naive_type, zoned_type = "DATETIME", "TIMESTAMP"
    max_columns, max_bytes = 10_000, 300

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return escaped(name, "`")

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        """Return names with "_" in place of all characters but letters and digits."""
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

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        """Return a column as it is compared."""
        if BIGQUERY_NEVER.search(name[1:-1]):
            raise ValueError(f"BigQuery has no column named {name}: rename it before fit")
        return name

    def text(self, value: str) -> str | None:
        """Return a literal of a text."""
        return escaped(value, "'")

    def bytes(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"FROM_HEX('{value.hex()}')"

    def integer(self, value: int) -> str | None:
        """Return a literal; beyond 64 bits it says its type."""
        return str(value) if value in INT64 else self.decimal(Decimal(value))

    def decimal(self, value: Decimal) -> str | None:
        """Return a literal of a decimal fraction."""
        is_held = value.copy_abs() <= BIGNUMERIC_MAX and _scale(value) <= BIGNUMERIC_SCALE
        return f"BIGNUMERIC '{value:f}'" if is_held else None

    def is_nan(self, column: str, kind: str | None) -> str | None:
        """Return whether a column is NaN: the only value that differs from itself."""
        return f"{column} <> {column}" if kind is None or kind in NUMBERS else None

    def error(self, message: str, column: str) -> str | None:
        """Return a call that fails."""
        return f"ERROR(CONCAT({self.text(message)}, {self._shown(column)}))"


class SQLite(Dialect):
    """Values have types, columns do not; days and instants are texts, NaN is NULL."""

    title = "SQLite"
    types = dict.fromkeys(Dialect.types, "INTEGER") | dict.fromkeys(
        ("float16", "float32", "float64"), "REAL"
    )
    literal_type = "INTEGER"
    true, false = "1", "0"
    max_columns = 2000
    mixes_kinds = True

    @property
    def nan(self) -> str:
        """Return NULL, which SQLite makes of NaN."""
        return "NULL"

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        """Return a column as its value alone.

        With the affinity of the column '1' would equal 1, and with its collation 'a' would equal
        'A'.
        """
        return f"(+{name} COLLATE BINARY)" if texts else f"+{name}"

    def text(self, value: str) -> str | None:
        """Return a literal; a NUL would end the statement."""
        if "\0" in value:
            return f"CAST(X'{value.encode().hex()}' AS TEXT)"
        return "'" + value.replace("'", "''") + "'"

    def bytes(self, value: bytes) -> str:
        """Return a literal of bytes."""
        return f"X'{value.hex()}'"

    def integer(self, value: int) -> str | None:
        """Return a literal; -2**63 is no negated 2**63, which would be a float."""
        if value not in INT64:
            return self.decimal(Decimal(value))
        return str(value) if value != INT64[0] else f"({value + 1} - 1)"

    def decimal(self, value: Decimal) -> str | None:
        """Return a float that is exactly the value: SQLite has no other numbers."""
        number = float(value)
        return self.float(number) if number == value else None

    def float(self, value: float) -> str | None:
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

    def instant(self, value: int) -> str | None:
        """Return the text that the functions of SQLite write, and Python's module."""
        clock = _clock(value)
        return clock and f"'{clock}'"

    def is_nan(self, column: str, kind: str | None) -> str | None:
        """Return None: there is no NaN."""
        return None

    def error(self, message: str, column: str) -> str | None:
        """Return None: no query can fail on purpose."""
        return None


def _scale(value: Decimal) -> int:
    """Return the number of digits after the decimal point of a finite number."""
    return max(0, -int(value.as_tuple().exponent))


def _clock(value: int, digits: int = 6) -> str | None:
    """Return an instant as SQL writes it, None if a second needs more digits."""
    seconds, rest = divmod(value, ATTOSECONDS)
    if seconds not in YEARS:
        raise ValueError(
            f"an instant {seconds:,} seconds from 1970 cannot be written in SQL, which has the"
            " years from 1 to 9999"
        )
    if rest % 10 ** (18 - digits):
        return None
    clock = str(np.datetime64(seconds, "s")).replace("T", " ")
    return f"{clock}.{rest // 10 ** (18 - digits):0{digits}d}" if rest else clock


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgres": Postgres(),
    "spark": Spark(),
    "bigquery": BigQuery(),
    "sqlite": SQLite(),
}
