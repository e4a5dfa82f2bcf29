"""Write a fitted encoder as the items of a SELECT statement or as the whole statement."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnSchema, FeatureWriter, Schema, as_literal, check_choice

from ._dialects import DIALECTS, Dialect, is_unicode

__all__ = ["DIALECTS", "coded_features", "column_features", "to_sql"]

INDENT = ",\n       "
# If a column has categories of several of these kinds, the first kind applies to all of them.
NUMBERS = ("float", "decimal", "integer", "boolean")
# The kinds of categories that one column of SQLite may mix.
STORED = {*NUMBERS, "text", "bytes"}
# The codes of values without a feature; others are the numbers of their features.
NO_FEATURE, NAN_FEATURES = -1, -2
# The code of a row without rejected labels.
ACCEPTED = 0
# The name of a label in the condition on a label of a row.
LABEL = "onehot_fast_label"
TRANSFORM = "encode such columns with transform()"


def to_sql(
    encoder: Encoder, dialect: str = "duckdb", table: str | Sequence[str] | None = None
) -> str:
    """Return the SQL that encodes the columns of a table; see `Encoder.to_sql`.

    Parameters
    ----------
    encoder : Encoder
        A fitted encoder.
    dialect : {"duckdb", "postgres", "spark", "bigquery", "sqlite"}
        The engine that runs the SQL.
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
    check_choice(dialect, "dialect", tuple(DIALECTS))
    written, schema = DIALECTS[dialect], encoder.schema
    if not schema.n_features:
        raise ValueError("the encoder has no features, but SELECT needs at least one column")
    if written.max_columns and schema.n_features > written.max_columns:
        raise ValueError(
            f"a query of {written.title} can return at most {written.max_columns:,} columns, got"
            f" {schema.n_features:,} features: fit with min_frequency= or max_categories="
        )
    _check_distinct([column.name for column in schema.columns], written)
    names = [_name(name, written) for name in written.aliases(schema.names)]
    if table is None:
        lists = [column_features(each, dialect, str(each.name)) for each in schema.columns]
        return _items(lists, names)
    parts = [table] if isinstance(table, str) else table
    if not isinstance(parts, Sequence) or not parts or not all(isinstance(p, str) for p in parts):
        raise TypeError(
            f"table must be a name or a list of names such as ['schema', 'table'], got {table!r}"
        )
    source = ".".join(_name(part, written) for part in parts)
    lists, codes = [], []
    for i, column in enumerate(schema.columns):
        name = _code_name(i, schema)
        code, features = coded_features(column, dialect, str(column.name), name)
        lists.append(features)
        if code is not None:
            codes.append(f"{code} AS {_name(name, written)}")
    if codes:
        source = written.subquery(f"SELECT *, {', '.join(codes)} FROM {source}")
        source += f" AS {_name(parts[-1], written)}"  # so that `table.column` stays valid
    return f"SELECT {_items(lists, names)}\nFROM {source}"


def _items(lists: Iterable[list[str]], names: Iterable[str]) -> str:
    """Return the features of all columns as the items of a SELECT statement."""
    values = chain.from_iterable(lists)
    return INDENT.join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))


def _code_name(i: int, schema: Schema) -> str:
    """Return a name for the codes of column `i`.

    No other column may have it, so it contains a digest of the names of the features.
    """
    digest = hashlib.sha256("\0".join(schema.names).encode("utf-8", "surrogatepass")).hexdigest()
    return f"onehot_fast_code_{digest[:12]}_{i}"


def column_features(column: ColumnSchema, dialect: str, name: str) -> list[str]:
    """Return one SQL expression per feature of a column; `name` is its name in the query.

    The first expression alone fails for rejected values.
    """
    return _writer_of(column)(column, DIALECTS[dialect], name).features()


def coded_features(
    column: ColumnSchema, dialect: str, name: str, code_name: str, kind: str | None = None
) -> tuple[str | None, list[str]]:
    """Return the SQL expressions of the code and of the features of a column.

    If the options reject values, the code fails for them, and the features refer to `code_name`: a
    query must compute the code under this name in a subquery. Otherwise, the code is None, and the
    features refer to `name`, the name of the column in the query.

    `kind` is the kind of the values or labels in the query's table, e.g. "text": a result of
    `FeatureWriter.kind_of`. By default, it is the kind of the categories.
    """
    written = DIALECTS[dialect]
    writer = _writer_of(column)(column, written, name, kind)
    errors = writer.errors()
    if not errors:
        return None, writer.features()
    return writer.code(errors), writer.features_of(_name(code_name, written))


def _writer_of(column: ColumnSchema) -> type[_Writer]:
    return _LabelWriter if column.is_ragged else _Writer


class _Writer(FeatureWriter[str]):
    """A writer of the features of one column as SQL expressions in one dialect."""

    def __init__(
        self, column: ColumnSchema, dialect: Dialect, name: str, kind: str | None = None
    ) -> None:
        self.dialect, self.name = dialect, _name(name, dialect)
        dtype = column.options.dtype.newbyteorder("=").name
        if dtype not in dialect.types:
            raise ValueError(
                f"column {column.name!r}: {dialect.title} has no type for features of dtype"
                f" {dtype}: call encoder.set_params(dtype='float32') before to_sql"
            )
        self.element = dialect.types[dtype]
        items = column.known.tolist()
        self.kind = _column_kind(column.name, items, dialect) if kind is None else kind
        super().__init__(column, [self._literal(item) for item in items])
        is_exact = kind is not None and kind != "float"
        held = [each for each in self.literals if each is not None]
        self.nan = None if is_exact else dialect.is_nan(self.name, self.kind, held)
        texts = [item for item in items if isinstance(item, str)]
        self.value = dialect.column(self.name, self.kind, texts)

    def _literal(self, item: object) -> str | None:
        dialect, kind = self.dialect, self.kind
        if dialect.mixes_kinds:
            kind = FeatureWriter.kind_of(item)
        value = as_literal(item, kind) if kind else None
        if value is None or (kind == "text" and not is_unicode(value)):
            return None
        return getattr(dialect, str(kind))(value)  # type: ignore[no-any-return]

    @property
    def shown(self) -> str:
        """The value of a row, which error messages show."""
        return self.name

    def is_missing(self) -> str:
        return self._is_missing()

    def is_among(self, literals: list[str]) -> str:
        return self._is_among(literals)

    def is_other(self, literals: list[str]) -> str:
        return self._is_other(literals)

    def _is_missing(self) -> str:
        is_null = f"{self.name} IS NULL"
        return f"({is_null} OR {self.nan})" if self.nan else is_null

    def _is_among(self, literals: list[str]) -> str:
        if not literals:
            return self.dialect.false
        return self.dialect.is_among(self.value, literals, self.kind)

    def _is_other(self, literals: list[str]) -> str:
        # With literals, NULL is excluded anyway: NOT (NULL = literal) is NULL, which is not true.
        is_other = f"{self.name} IS NOT NULL"
        if literals:
            is_other = f"NOT ({self._is_among(literals)})"
        return f"{is_other} AND NOT ({self.nan})" if self.nan else is_other

    def code(self, errors: dict[str, str]) -> str:
        """Return an expression that fails for rejected values; else the number of a feature.

        The number is NO_FEATURE if all features are zero, and NAN_FEATURES if all are NaN.
        """
        branches = self._error_branches(errors, self.dialect.types["int32"])
        if self.column.propagates_missing:
            branches.append(f"WHEN {self.is_missing()} THEN {NAN_FEATURES}")
        branches += (f"WHEN {each} THEN {i}" for i, each in enumerate(self.conditions()))
        return f"CASE {' '.join(branches)} ELSE {NO_FEATURE} END"

    def features_of(self, code: str) -> list[str]:
        """Return an expression for each feature; `code` is the name of a column of codes."""
        are_nan = f"{code} = {NAN_FEATURES}"
        conditions = [f"{code} = {i}" for i in range(self.column.n_features)]
        # A code is never NULL, so that no condition is NULL. A CASE takes longer than a CAST.
        if self.element == self.dialect.boolean_type:
            return conditions
        if self.dialect.casts_booleans and not self.column.propagates_missing:
            return [f"CAST({each} AS {self.element})" for each in conditions]
        return [self._number(each, are_nan, []) for each in conditions]

    def _error_branches(self, errors: dict[str, str], error_type: str) -> list[str]:
        """Return the branches of a CASE that fail for rejected values."""
        dialect, column = self.dialect, self.column
        branches = []
        for what, rejected in errors.items():
            if not dialect.error_call:
                raise ValueError(
                    f"column {column.name!r} has handle_{what}='error', but {dialect.title}"
                    f" cannot raise errors: use encoder.set_params(handle_{what}='ignore').to_sql()"
                )
            error = dialect.error(f"column {column.name!r}: the value is {what}: ", self.shown)
            branches.append(f"WHEN {rejected} THEN CAST({error} AS {error_type})")
        return branches

    def feature(self, condition: str, errors: dict[str, str]) -> str:
        dialect = self.dialect
        if self.element != dialect.boolean_type:
            branches = self._error_branches(errors, dialect.types["int32"])
            return self._number(condition, self.is_missing(), branches)
        branches = self._error_branches(errors, dialect.boolean_type)
        branches.append(f"WHEN {condition} THEN {dialect.true}")
        return f"CASE {' '.join(branches)} ELSE {dialect.false} END"

    def _number(self, condition: str, are_nan: str, branches: list[str]) -> str:
        """Return the number one where a condition is true, else zero, or NaN.

        `branches` precede all others.
        """
        if self.column.propagates_missing:
            branches = [*branches, f"WHEN {are_nan} THEN {self.dialect.nan}"]
        value = f"CASE {' '.join([*branches, f'WHEN {condition} THEN 1'])} ELSE 0 END"
        return f"CAST({value} AS {self.element})"


class _LabelWriter(_Writer):
    """A writer of the features of a column whose rows have several labels.

    The rows are an array, or a text that is split at the separator. A condition is true in a row if
    it is true for one of its labels, which the expressions of the class above call `LABEL`.
    """

    takes_labels = True

    def __init__(
        self, column: ColumnSchema, dialect: Dialect, name: str, kind: str | None = None
    ) -> None:
        super().__init__(column, dialect, LABEL, kind)
        self.rows = _name(name, dialect)
        sep = column.options.sep if column.learned.is_split else None
        literal = None if sep is None else dialect.text(sep)
        if not dialect.has_arrays or (sep is not None and literal is None):
            raise _unsupported(
                column.name, dialect, f"cannot read several labels in a row ({sep=}): {TRANSFORM}"
            )
        self.labels = self.rows if literal is None else dialect.split(self.rows, str(sep), literal)
        self.is_label = None if sep is None else f"{self.name} <> ''"

    @property
    def shown(self) -> str:
        return self.dialect.shown_labels(self.rows)

    def _has_label(self, condition: str) -> str:
        """Return the condition that a label satisfies a condition; it is never NULL."""
        if self.is_label is not None:  # as in `transform`, which skips empty labels
            condition = f"{self.is_label} AND {condition}"
        return self.dialect.has_label(self.labels, self.name, condition)

    def is_missing(self) -> str:
        return f"({self.rows} IS NULL OR {self._has_label(self._is_missing())})"

    def is_among(self, literals: list[str]) -> str:
        return self._has_label(self._is_among(literals)) if literals else self.dialect.false

    def is_other(self, literals: list[str]) -> str:
        return self._has_label(self._is_other(literals))

    def code(self, errors: dict[str, str]) -> str:
        """Return an expression that fails for rejected labels, and is ACCEPTED otherwise.

        A row has no single feature whose number could be its code.
        """
        branches = self._error_branches(errors, self.dialect.types["int32"])
        return f"CASE {' '.join(branches)} ELSE {ACCEPTED} END"

    def features_of(self, code: str) -> list[str]:
        """Return an expression for each feature; each compares the code, so that it fails."""
        return [self.feature(f"{code} = {ACCEPTED} AND {each}", {}) for each in self.conditions()]


def _column_kind(name: Hashable, items: list[object], dialect: Dialect) -> str | None:
    """Return the kind of all categories, e.g. "text"; raise ValueError if no SQL type fits."""
    kinds = {FeatureWriter.kind_of(item): item for item in items}
    for kind, item in kinds.items():
        if kind == "zoned" and kind not in dialect.kinds:
            raise _unsupported(name, dialect, "has no type for times with a time zone")
        if kind not in STORED | dialect.kinds:
            what = f"{item!r} ({type(item).__name__})"
            raise _unsupported(name, dialect, f"has no type for values like {what}")
    if "time" in kinds and any(getattr(item, "tzinfo", None) is not None for item in items):
        text = "compares times of day with a time zone in another way than Python does"
        raise _unsupported(name, dialect, text)
    if len(kinds) > 1 and not kinds.keys() <= (STORED if dialect.mixes_kinds else {*NUMBERS}):
        listed = " and ".join(sorted(map(str, kinds)))
        raise _unsupported(name, dialect, f"has no column type that holds {listed} values")
    return next((kind for kind in NUMBERS if kind in kinds), next(iter(kinds), None))


def _unsupported(name: Hashable, dialect: Dialect, reason: str) -> ValueError:
    return ValueError(f"column {name!r} cannot be encoded in SQL: {dialect.title} {reason}")


def _name(name: Hashable, dialect: Dialect) -> str:
    """Quote the name of a column or table; raise ValueError if the dialect does not allow it."""
    text = str(name)
    if not text or "\0" in text or not is_unicode(text):
        raise ValueError(
            f"the name {name!r} cannot be written in SQL: names must not be empty or contain a NUL"
            " or a lone surrogate"
        )
    if dialect.max_bytes and len(text.encode()) > dialect.max_bytes:
        raise ValueError(
            f"the name {name!r} must have at most {dialect.max_bytes} bytes in {dialect.title}, got"
            f" {len(text.encode())}"
        )
    return dialect.identifier(text)


def _check_distinct(names: Sequence[Hashable], dialect: Dialect) -> None:
    """Raise an error if SQL cannot tell the names of two columns apart."""
    seen: dict[str, Hashable] = {}
    for name in names:
        text = str(name).casefold() if dialect.folds_case else str(name)
        if text in seen:
            raise ValueError(
                f"{dialect.title} cannot tell the columns {seen[text]!r} and {name!r} apart:"
                " rename one of them before fit"
            )
        seen[text] = name
