"""A fitted encoder → the items of a SELECT, or the whole statement."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnSchema, Condition, checks, conditions, refusals

from ._dialects import DIALECTS, Dialect, is_unicode
from ._literals import Literals, literals

__all__ = ["DIALECTS", "to_sql"]

INDENT = ",\n       "


def to_sql(
    encoder: Encoder, dialect: str = "duckdb", table: str | Sequence[str] | None = None
) -> str:
    """Return what `Encoder.to_sql` returns.

    Parameters
    ----------
    encoder : Encoder
        Fitted.
    dialect : {"duckdb", "postgres", "spark", "bigquery", "sqlite"}
        The engine that runs it.
    table : str or sequence of str, optional
        See `Encoder.to_sql`.

    Returns
    -------
    str

    Raises
    ------
    RuntimeError, TypeError, ValueError
        See `Encoder.to_sql`.
    """
    checks.check_choice(dialect, "dialect", tuple(DIALECTS))
    written, schema = DIALECTS[dialect], encoder.schema
    if not schema.n_features:
        raise ValueError("the encoder has no features, and SQL selects at least one column")
    if written.most_columns and schema.n_features > written.most_columns:
        raise ValueError(
            f"{written.title} selects at most {written.most_columns:,} columns, and there are"
            f" {schema.n_features:,} features: pass min_frequency= or max_categories="
        )
    names = [_name(name, written) for name in written.aliases(schema.names)]
    values = chain.from_iterable(_features(column, written) for column in schema.columns)
    items = INDENT.join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
    if table is None:
        return items
    parts = [table] if isinstance(table, str) else table
    if not isinstance(parts, Sequence) or not parts or not all(isinstance(p, str) for p in parts):
        raise TypeError(
            f"table = {table!r} is {checks.with_article(table)}; accepted are a name, and a list of"
            " names: ['schema', 'table']"
        )
    return f"SELECT {items}\nFROM {'.'.join(_name(part, written) for part in parts)}"


def _name(name: Hashable, dialect: Dialect) -> str:
    """Return the quoted name of a column or a table, or refuse it."""
    text = str(name)
    if not text or "\0" in text or not is_unicode(text):
        raise ValueError(f"the name {name!r} is refused: no name in SQL is empty or has such signs")
    if dialect.most_bytes and len(text.encode()) > dialect.most_bytes:
        raise ValueError(
            f"the name {name!r} is refused: {dialect.title} has at most {dialect.most_bytes} bytes"
        )
    return dialect.identifier(text)


def _features(column: ColumnSchema, dialect: Dialect) -> list[str]:
    """Return the expression of each output of a column."""
    kind = dialect.types.get(column.options.dtype.newbyteorder("=").name)
    if kind is None:
        raise ValueError(f"dtype = {column.options.dtype} has no type in {dialect.title}")
    _name(column.name, dialect)  # refused
    known = literals(column, dialect)
    written = dialect.column(str(column.name), "text" in known.kinds)
    is_boolean = kind == dialect.boolean
    on, off = (dialect.true, dialect.false) if is_boolean else ("1", "0")
    cases = [
        f"WHEN {_when(condition, written, known, dialect)} THEN"
        f" CAST({_error(condition, column, written, dialect)} AS"
        f" {dialect.boolean if is_boolean else dialect.types['int32']})"
        for condition in refusals(column)
    ]
    if cases and not column.n_outputs:
        raise ValueError(
            f"column {column.name!r} has no feature in which a value could be refused: pass"
            " handle_unknown='ignore' to set_params"
        )
    nan = []
    if column.propagates_missing:
        nan = [f"WHEN {_missing(written, known, dialect)} THEN {dialect.nan}"]
    features = []
    for i, condition in enumerate(conditions(column)):
        # The first feature of a column is the one that refuses: each row is looked at once.
        own = f"WHEN {_when(condition, written, known, dialect)} THEN {on}"
        words = " ".join([*(cases if i == 0 else []), *nan, own])
        value = f"CASE {words} ELSE {off} END"
        features.append(
            value if is_boolean or _is_exact(kind, dialect) else f"CAST({value} AS {kind})"
        )
    return features


def _is_exact(kind: str, dialect: Dialect) -> bool:
    """Tell whether the literals 1 and 0 are of a type already."""
    return kind == "INTEGER" and dialect.title == "SQLite"


def _error(condition: Condition, column: ColumnSchema, written: str, dialect: Dialect) -> str:
    """Return what fails, or say why nothing can."""
    policy = "handle_missing" if condition.kind == "missing" else "handle_unknown"
    if dialect.title == "SQLite":
        raise ValueError(
            f"column {column.name!r} has {policy}='error', and no query of SQLite can fail on"
            f" purpose: encoder.set_params({policy}='ignore').to_sql('sqlite')"
        )
    what = "missing" if condition.kind == "missing" else "unknown"
    return dialect.error(f"column {column.name!r}: the value is {what}: ", written)


def _when(condition: Condition, written: str, known: Literals, dialect: Dialect) -> str:
    """Return a condition."""
    if condition.kind == "missing":
        return _missing(written, known, dialect)
    chosen = [known.values[i] for i in condition.positions.tolist()]
    values = [value for value in chosen if value is not None]
    if condition.kind == "among":
        if not values:
            return dialect.false
        return f"{written} {f'= {values[0]}' if len(values) == 1 else f'IN ({_listed(values)})'}"
    # What is compared with NULL is neither true nor false.
    is_outside = f"{written} NOT IN ({_listed(values)})" if values else f"{written} IS NOT NULL"
    is_nan = dialect.is_nan(written) if known.is_number else None
    return is_outside if is_nan is None else f"{is_outside} AND NOT ({is_nan})"


def _missing(written: str, known: Literals, dialect: Dialect) -> str:
    """Return whether a value is missing."""
    is_nan = dialect.is_nan(written) if known.is_number else None
    return f"{written} IS NULL" if is_nan is None else f"({written} IS NULL OR {is_nan})"


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values)
