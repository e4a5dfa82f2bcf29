"""The dialects of SQL, which write names, literals, types and errors in different ways."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from decimal import MAX_PREC, Context, Decimal
from typing import ClassVar
from uuid import UUID

import numpy as np

from onehot_fast.adapter import as_literal

NUMBERS = {"float", "decimal", "integer"}
INT64 = range(-(2**63), 2**63)
ATTOSECONDS = 10**18
EXACT = Context(prec=MAX_PREC)
# The years 1 to 9999, in seconds since 1970.
YEARS = range(-62_135_596_800, 253_402_300_800)
# A string whose literal has the same meaning with all settings of Spark's parser.
SPARK_PLAIN = re.compile(r"[^\\'$\x00-\x1f\x7f-\x9f]*")
HUGEINT_DIGITS = 39
POSTGRES_DIGITS, POSTGRES_SCALE = 131_072, 16_383
SURROGATE = re.compile("[\ud800-\udfff]")
# Characters that BigQuery does not allow in column names.
BIGQUERY_NEVER = re.compile(r"""[!"$()*,./;?@[\\\]^`{}~]""")
BIGNUMERIC_MAX, BIGNUMERIC_SCALE = Decimal(f"{2**255 - 1}E-38"), 38
# SQLite only guarantees this many digits of a decimal fraction. The other engines read all digits.
SQLITE_DIGITS = 15
# Powers of two larger than 2**62 are not 64-bit integers, so SQLite divides by 2**62 repeatedly.
STEP = 62
MANTISSA_BITS = 53  # of float64


def escaped(value: str, quote: str) -> str:
    """Return a string in quotes, with special characters as backslash escapes."""
    plain = {quote: f"\\{quote}", "\\": "\\\\"}
    letters = (
        f"\\u{ord(c):04x}" if c < " " or "\x7f" <= c <= "\x9f" else plain.get(c, c) for c in value
    )
    return f"{quote}{''.join(letters)}{quote}"


def is_unicode(value: str) -> bool:
    """Tell whether a string has no lone surrogates, which no engine can store."""
    return SURROGATE.search(value) is None


class Dialect:
    """DuckDB's SQL, which is also the base class of the other dialects.

    The methods `text`, `bytes`, `boolean`, `integer`, `decimal`, `float`, `date`, `time`,
    `instant`, `zoned`, `duration` and `uuid` are named after the results of
    `FeatureWriter.kind_of`. They return a value as a SQL literal, or None if no column of the
    engine can hold the value.
    """

    title = "DuckDB"
    types: ClassVar[dict[str, str]] = {
        "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER",
        "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER",
        "uint64": "UBIGINT", "float16": "FLOAT", "float32": "FLOAT", "float64": "DOUBLE",
    }  # fmt: skip
    boolean_type, double_type, string_type = "BOOLEAN", "DOUBLE", "VARCHAR"
    zoned_type, naive_type = "TIMESTAMPTZ", "TIMESTAMP"
    true, false, nan = "TRUE", "FALSE", "CAST('NaN' AS DOUBLE)"
    second_digits = 9  # after the decimal point
    # Other integers are written as decimals.
    integers = range(-(2**127), 2**128)
    bytes_literal = "unhex('{}')"
    # Appended to a text column, so that its own collation does not affect comparisons.
    collate = " COLLATE C"
    # The condition for NaN in a column of unknown type, which has no categories.
    typed_nan = "typeof({column}) IN ('FLOAT', 'DOUBLE') AND {text} = 'nan'"
    # A call that raises an error with a message and a value; "" if the engine has no such call.
    error_call = "error({} || {})"
    # The maximum number of columns of a result, and of bytes of a column name; 0 for no limit.
    max_columns, max_bytes = 0, 0
    casts_booleans = True  # whether CAST makes a number of every numeric type of a Boolean
    mixes_kinds = False  # whether one column may hold values of several kinds
    has_arrays = True  # whether a column may hold arrays, whose elements a condition can name
    folds_case = True  # whether names that differ only in case mean the same column
    # The kinds of values, apart from numbers, text and bytes, that a column may hold.
    kinds: ClassVar[set[str]] = {"date", "instant", "zoned", "time", "duration", "uuid"}

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def subquery(self, statement: str) -> str:
        """Return a SELECT statement as a table whose expressions are computed once for each row."""
        return f"({statement})"

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the features, without the characters that the engine forbids."""
        return names

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        """Return the SQL expression of a column for comparisons, without the collation of text."""
        if kind != "text":
            return name
        return f"({self._as_text(name)}{self.collate})" if self.collate else self._as_text(name)

    def is_among(self, column: str, literals: Sequence[str], kind: str | None) -> str:
        """Return the condition that a column equals one of the literals."""
        # If a list contains a float, the engine would compare all decimals of the list as floats.
        is_decimal = kind == "decimal"
        floats = [each for each in literals if is_decimal and self.double_type in each]
        exact = [each for each in literals if each not in floats]
        lists = [self._is_listed(column, each, kind) for each in (exact, floats) if each]
        return lists[0] if len(lists) == 1 else f"({' OR '.join(lists)})"

    def _is_listed(self, column: str, literals: Sequence[str], kind: str | None) -> str:
        """Return the condition that a column equals one of the literals, which share one type."""
        listed = ", ".join(literals)
        return f"{column} IN ({listed})" if len(literals) > 1 else f"{column} = {listed}"

    def is_nan(self, column: str, kind: str | None, literals: Sequence[str]) -> str | None:
        """Return the condition that a column is NaN, or None if the column cannot contain NaN."""
        if kind is None:
            return self.typed_nan.format(column=column, text=self._as_text(column))
        return f"CAST({column} AS {self.double_type}) = {self.nan}" if kind in NUMBERS else None

    def split(self, column: str, sep: str, literal: str) -> str:
        """Return a text as an array of labels; `literal` is the separator in SQL."""
        return f"string_split({self._as_text(column)}, {literal})"

    def has_label(self, labels: str, label: str, condition: str) -> str:
        """Return the condition that an element of an array, named `label`, satisfies a condition.

        The result is false for an array that is NULL.
        """
        # A list comprehension, because the syntax of lambda functions depends on the version.
        return f"COALESCE(len([{label} FOR {label} IN {labels} IF {condition}]) > 0, FALSE)"

    def shown_labels(self, column: str) -> str:
        """Return a column with several labels in a row as a text for messages."""
        return column

    def error(self, message: str, column: str) -> str:
        """Return the SQL that raises an error with a message and the value of a column."""
        shown = f"COALESCE({self._as_text(column)}, 'NULL')"
        return self.error_call.format(self.text(message), shown)

    def _as_text(self, column: str) -> str:
        return f"CAST({column} AS {self.string_type})"

    def text(self, value: str) -> str | None:
        return "'" + value.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"

    def bytes(self, value: bytes) -> str:
        return self.bytes_literal.format(value.hex())

    def boolean(self, value: bool) -> str:
        return self.true if value else self.false

    def integer(self, value: int) -> str | None:
        return str(value) if value in self.integers else self.decimal(Decimal(value))

    def decimal(self, value: Decimal) -> str | None:
        if value.is_infinite():  # a DOUBLE column can hold it; a DECIMAL column never equals it
            return self.float(float(value))
        return self._finite_decimal(value)

    def _finite_decimal(self, value: Decimal) -> str | None:
        held = as_literal(value, "decimal38")
        if held is not None:
            return f"{held:f}"
        # Arrow has no HUGEINT: DuckDB exports one as a decimal, which may have 39 digits.
        is_whole = value.adjusted() < HUGEINT_DIGITS and value == value.to_integral_value()
        return str(int(value)) if is_whole and int(value) in self.integers else None

    def float(self, value: float) -> str | None:
        return f"CAST('{value!r}' AS {self.double_type})".replace("inf", "Infinity")

    def date(self, value: datetime.date) -> str:
        return f"DATE '{value.isoformat()}'"

    def instant(self, value: int) -> str | None:
        clock = _clock(value, self.second_digits)
        is_fine = clock is not None and len(clock.partition(".")[2]) > 6
        return clock and f"{self.naive_type}{'_NS' if is_fine else ''} '{clock}'"

    def zoned(self, value: int) -> str | None:
        clock = _clock(value)
        return clock and f"{self.zoned_type} '{clock}+00:00'"

    def time(self, value: datetime.time) -> str:
        return f"TIME '{value.isoformat()}'"

    def duration(self, value: int) -> str | None:
        microseconds, rest = divmod(value, 10**12)
        if rest or microseconds not in INT64:
            return None
        # As seconds with a fraction, because DuckDB cannot read -2**63 microseconds.
        seconds = Decimal(microseconds).scaleb(-6, EXACT)
        return f"INTERVAL '{seconds:f} seconds'"

    def uuid(self, value: UUID) -> str:
        return f"CAST('{value}' AS UUID)"


class Postgres(Dialect):
    """PostgreSQL has no unsigned integers, no NUL in strings and no function to raise errors."""

    title = "PostgreSQL"
    second_digits = 6
    types = Dialect.types | {
        "int8": "SMALLINT", "uint8": "SMALLINT", "uint16": "INTEGER", "uint32": "BIGINT",
        "uint64": "NUMERIC(20)", "float16": "REAL", "float32": "REAL",
        "float64": "DOUBLE PRECISION",
    }  # fmt: skip
    double_type, string_type = "DOUBLE PRECISION", "TEXT"
    nan = "CAST('NaN' AS DOUBLE PRECISION)"
    integers = INT64
    bytes_literal = "decode('{}', 'hex')"
    collate = ' COLLATE "C"'
    typed_nan = (
        "pg_typeof({column}) IN ('real'::regtype, 'double precision'::regtype, 'numeric'::regtype)"
        " AND {text} = 'NaN'"
    )
    # The cast includes the value, because the cast of a constant would fail even without rows.
    error_call = "CAST({} || {} AS INTEGER)"
    max_columns, max_bytes = 1664, 63
    casts_booleans = False
    folds_case = False

    def subquery(self, statement: str) -> str:
        # Without OFFSET, PostgreSQL would copy the expression into each item that uses it.
        return f"({statement} OFFSET 0)"

    def split(self, column: str, sep: str, literal: str) -> str:
        return f"string_to_array({self._as_text(column)}, {literal})"

    def has_label(self, labels: str, label: str, condition: str) -> str:
        return f"EXISTS (SELECT FROM unnest({labels}) AS labels({label}) WHERE {condition})"

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        # A cast of char(n) removes trailing blanks, but `concat` keeps them.
        if any(text.endswith(" ") for text in texts):
            return f"(CASE WHEN {name} IS NOT NULL THEN concat({name}, '') END{self.collate})"
        return super().column(name, kind, texts)

    def is_nan(self, column: str, kind: str | None, literals: Sequence[str]) -> str | None:
        if kind not in NUMBERS:
            return super().is_nan(column, kind, literals)
        # A cast of numeric to double precision may overflow. The first comparison is fast, because
        # it needs no cast, and excludes most rows: NaN is larger than every number.
        bound = f"{column} > {literals[-1]} AND " if literals else ""
        return f"{bound}{column} = CAST('NaN' AS NUMERIC)"

    def text(self, value: str) -> str | None:
        if "\0" in value:
            return None
        quoted = "'" + value.replace("'", "''") + "'"
        # The meaning of a backslash depends on `standard_conforming_strings`, except in E''.
        return f"E{quoted}".replace("\\", "\\\\") if "\\" in value else quoted

    def decimal(self, value: Decimal) -> str | None:
        if value.is_infinite():
            return f"CAST('{value}' AS NUMERIC)"
        # PostgreSQL reads a literal with an exponent as numeric, not as a float.
        is_held = value.adjusted() < POSTGRES_DIGITS and _scale(value) <= POSTGRES_SCALE
        return str(value) if is_held else None


class Spark(Dialect):
    """Spark interprets escapes and variables in strings, and rounds decimals in comparisons."""

    title = "Spark"
    second_digits = 6
    types = Dialect.types | {
        "uint8": "SMALLINT", "uint16": "INT", "int32": "INT", "uint32": "BIGINT",
        "uint64": "DECIMAL(20, 0)",
    }  # fmt: skip
    string_type, collate = "STRING", ""
    naive_type, zoned_type = "TIMESTAMP_NTZ", "TIMESTAMP"
    kinds: ClassVar[set[str]] = {"date", "instant", "zoned"}
    integers = range(1 - 10**38, 10**38)
    bytes_literal = "X'{}'"
    typed_nan = "typeof({column}) IN ('float', 'double') AND {text} = 'NaN'"
    error_call = "raise_error(concat({}, {}))"

    def identifier(self, name: str) -> str:
        if "${" in name:
            raise ValueError(
                f"the name {name!r} cannot be written in SQL: Spark reads '${{' as a variable;"
                " rename the column or replace the category before fit"
            )
        return "`" + name.replace("`", "``") + "`"

    def _is_listed(self, column: str, literals: Sequence[str], kind: str | None) -> str:
        is_same = super()._is_listed(column, literals, kind)
        if kind != "decimal" or not any("." in literal for literal in literals):
            return is_same
        # Spark rounds 1.5 to 2 if it is compared with a DECIMAL(38, 0), so compare floats, too.
        doubles = [f"CAST('{literal}' AS DOUBLE)" for literal in literals]
        return f"({is_same} AND {super()._is_listed(f'CAST({column} AS DOUBLE)', doubles, kind)})"

    def split(self, column: str, sep: str, literal: str) -> str:
        # The separator is a regular expression of Java, in which a backslash makes every character
        # but a letter or a digit stand for itself.
        pattern = re.sub(r"([^\w]|_)", r"\\\1", sep)
        return f"split({self._as_text(column)}, {self.text(pattern)})"

    def has_label(self, labels: str, label: str, condition: str) -> str:
        return f"COALESCE(exists({labels}, {label} -> COALESCE({condition}, FALSE)), FALSE)"

    def text(self, value: str) -> str | None:
        if SPARK_PLAIN.fullmatch(value):
            return f"'{value}'"
        # A literal of bytes does not depend on the setting `escapedStringLiterals`.
        return f"CAST({self.bytes(value.encode())} AS STRING)"


class BigQuery(Dialect):
    """BigQuery has one integer and one float type; feature names use only letters, digits and _."""

    title = "BigQuery"
    second_digits = 6
    types = dict.fromkeys(Dialect.types, "INT64") | {
        "bool": "BOOL", "float16": "FLOAT64", "float32": "FLOAT64", "float64": "FLOAT64",
        "uint64": "NUMERIC",
    }  # fmt: skip
    boolean_type, double_type, string_type = "BOOL", "FLOAT64", "STRING"
    nan = "CAST('NaN' AS FLOAT64)"
    integers = INT64
    naive_type, zoned_type = "DATETIME", "TIMESTAMP"
    kinds: ClassVar[set[str]] = {"date", "instant", "zoned", "time"}
    bytes_literal = "FROM_HEX('{}')"
    error_call = "ERROR(CONCAT({}, {}))"
    max_columns, max_bytes = 10_000, 300
    casts_booleans = False

    def identifier(self, name: str) -> str:
        return escaped(name, "`")

    def aliases(self, names: Sequence[str]) -> Sequence[str]:
        changed = [re.sub(r"^(?=\d)|\W", "_", name) for name in names]
        seen: dict[str, str] = {}
        for before, name in zip(names, changed, strict=True):
            other = seen.setdefault(name.casefold(), before)
            if other != before:
                raise ValueError(
                    f"the features {other!r} and {before!r} would both be named {name!r} in"
                    " BigQuery, which only allows letters, digits and '_': set another prefix= of"
                    " the encoder, or replace one of the categories before fit"
                )
        return changed

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        if BIGQUERY_NEVER.search(name[1:-1]):
            raise ValueError(
                f"the column name {name} has characters that BigQuery does not allow: rename the"
                " column before fit"
            )
        return name

    def is_nan(self, column: str, kind: str | None, literals: Sequence[str]) -> str | None:
        # In BigQuery, NaN is the only value that differs from itself.
        return f"{column} <> {column}" if kind is None or kind in NUMBERS else None

    def split(self, column: str, sep: str, literal: str) -> str:
        return f"SPLIT({column}, {literal})"

    def has_label(self, labels: str, label: str, condition: str) -> str:
        return f"EXISTS (SELECT 1 FROM UNNEST({labels}) AS {label} WHERE {condition})"

    def shown_labels(self, column: str) -> str:
        return f"TO_JSON_STRING({column})"  # an array has no cast to STRING

    def text(self, value: str) -> str | None:
        return escaped(value, "'")

    def _finite_decimal(self, value: Decimal) -> str | None:
        is_held = value.copy_abs() <= BIGNUMERIC_MAX and _scale(value) <= BIGNUMERIC_SCALE
        return f"BIGNUMERIC '{value:f}'" if is_held else None


class SQLite(Dialect):
    """In SQLite, values have types but columns do not; dates are strings, and NaN is NULL."""

    title = "SQLite"
    types = dict.fromkeys(Dialect.types, "INTEGER") | dict.fromkeys(
        ("float16", "float32", "float64"), "REAL"
    )
    # The values of a condition are the integers 1 and 0.
    boolean_type = "INTEGER"
    true, false, nan = "1", "0", "NULL"
    integers = INT64
    bytes_literal = "X'{}'"
    error_call = ""
    max_columns = 2000
    kinds: ClassVar[set[str]] = {"date", "instant"}
    mixes_kinds = True
    has_arrays = False

    def column(self, name: str, kind: str | None, texts: Sequence[str]) -> str:
        # `+` drops the affinity of the column, so that '1' does not equal 1. COLLATE drops its
        # collation, so that 'a' does not equal 'A'.
        return f"(+{name} COLLATE BINARY)" if texts else f"+{name}"

    def is_nan(self, column: str, kind: str | None, literals: Sequence[str]) -> str | None:
        return None

    def text(self, value: str) -> str | None:
        if "\0" in value:  # a NUL would end the statement
            return f"CAST({self.bytes(value.encode())} AS TEXT)"
        return "'" + value.replace("'", "''") + "'"

    def integer(self, value: int) -> str | None:
        # SQLite would read -2**63 as the negation of 2**63, which is a float.
        return f"({value + 1} - 1)" if value == INT64[0] else super().integer(value)

    def decimal(self, value: Decimal) -> str | None:
        number = as_literal(value, "float")
        return None if number is None else self.float(number)

    def float(self, value: float) -> str | None:
        """Return a literal, or a quotient or product of whole numbers that equals the float."""
        if math.isinf(value):
            return "9e999" if value > 0 else "-9e999"
        digits = re.sub(r"e.*|\D", "", repr(value)).strip("0")
        if len(digits) <= SQLITE_DIGITS and (not value or 1e-20 < abs(value) < 1e20):
            return repr(value)
        mantissa, exponent = math.frexp(value)
        exponent -= MANTISSA_BITS
        steps = [STEP] * (abs(exponent) // STEP) + [abs(exponent) % STEP]
        factors = "".join(f" {'*' if exponent > 0 else '/'} {2**step}.0" for step in steps)
        return f"({int(mantissa * 2**MANTISSA_BITS)}.0{factors})"

    def date(self, value: datetime.date) -> str:
        return f"'{value.isoformat()}'"

    def instant(self, value: int) -> str | None:
        clock = _clock(value)
        return clock and f"'{clock}'"


def _scale(value: Decimal) -> int:
    """Return the number of digits after the decimal point of a finite number."""
    return max(0, -int(value.as_tuple().exponent))


def _clock(value: int, digits: int = 6) -> str | None:
    """Return attoseconds since 1970 as SQL text, or None if `digits` decimals are not enough."""
    seconds, rest = divmod(value, ATTOSECONDS)
    if seconds not in YEARS:
        raise ValueError(
            f"a category is a time {seconds:,} seconds after 1970, but SQL supports only the years"
            " from 1 to 9999"
        )
    clock = str(np.datetime64(seconds, "s")).replace("T", " ")
    if not rest:
        return clock
    digits = digits if rest % 10**12 else 6
    fraction, lost = divmod(rest, 10 ** (18 - digits))
    return None if lost else f"{clock}.{fraction:0{digits}d}"


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect(),
    "postgres": Postgres(),
    "spark": Spark(),
    "bigquery": BigQuery(),
    "sqlite": SQLite(),
}
