"""Reports of an encoder: listings of features and columns, checks of tables, and warnings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import warn
from onehot_fast._schema.column_schema import ColumnSchema, Special
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import ColumnStatistics, Counts, counted
from onehot_fast.column import Column, Values

Objects = npt.NDArray[np.object_]

# The maximum numbers of rows and categories in a report.
MAX_ROWS_SHOWN = 20
MAX_CATEGORIES_SHOWN = 10
BAR = '<div style="background:#4c78a8;height:0.8em;width:{width:.1f}em"></div>'
BAR_WIDTH = 12  # the width in em of the bar of the most frequent category
# The maximum numbers of columns, and of values per column, in a message.
MAX_COLUMNS_IN_MESSAGE = 4
MAX_VALUES_IN_MESSAGE = 3
CHECK_KINDS = ("unknown", "missing", "infrequent")

# A column looks like an identifier if it has more features than this, and more than half as many
# categories as rows.
MANY_FEATURES = 250
# The maximum numbers of features of columns that are encoded by default.
MAX_DENSE_FEATURES = 1_000
MAX_FEATURES = 100_000
# The maximum numbers of columns that the warning and the error name.
MAX_SUSPECTS_SHOWN, MAX_SIZES_SHOWN = 3, 20
FEWER_FEATURES = (
    "pass columns=[...] to choose the columns, or max_categories= or min_frequency= for fewer"
    " features"
)


class Listing(dict[str, npt.NDArray[Any]]):
    """A table as a dict from column names to arrays of equal length.

    ``pandas.DataFrame(listing)``, ``polars.DataFrame(listing)`` and ``pyarrow.table(listing)``
    convert it.
    """

    @property
    def n_rows(self) -> int:
        """The length of the arrays."""
        return len(next(iter(self.values()), ()))

    def __repr__(self) -> str:
        """Return the first rows as aligned text."""
        rows = self._shown_rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        more = self.n_rows - MAX_ROWS_SHOWN
        return "\n".join([*lines, f"… {more:,} more rows"] if more > 0 else lines)

    def _shown_rows(self) -> list[tuple[str, ...]]:
        return [tuple(self), *zip(*map(_shown, self.values()), strict=True)]

    def _repr_html_(self) -> str:
        """Return HTML: the summary, the number of rows that are not shown, and the first rows."""
        lines = repr(self).splitlines()
        text = (line for line in (lines[0], lines[-1]) if line.startswith(("<", "…")))
        rows = (f"<td>{'<td>'.join(map(escape, row))}" for row in self._shown_rows())
        return f"{escape(' '.join(text))}<table><tr>{'<tr>'.join(rows)}</table>"


def _shown(values: npt.NDArray[Any]) -> list[str]:
    """Return the first values as text: floats in percent, printable strings without quotes."""
    first = values[:MAX_ROWS_SHOWN].tolist()
    if all(type(value) is float for value in first) and first:
        return [f"{value:.2%}" for value in first]
    is_plain = all(value is None or (type(value) is str and value.isprintable()) for value in first)
    return [value if is_plain and type(value) is str else shown(value) for value in first]


def _concatenated(parts: Iterable[Any], dtype: Any = object) -> npt.NDArray[Any]:
    """Return the concatenated arrays, or an empty array if there are none."""
    return np.concatenate([np.empty(0, dtype), *parts])


# ---- Features and columns ----


def feature_listing(schema: Schema) -> Listing:
    """Return a listing with one row per feature, for `Encoder.features`."""
    dtypes = as_objects([str(column.options.dtype) for column in schema.columns])
    return Listing(
        **_meanings(schema),
        name=as_objects(list(schema.names)),
        count=_concatenated((_counts(each, schema.n_rows) for each in schema.columns), np.int64),
        dtype=np.repeat(dtypes, np.diff(schema.starts)),
    )


def vocabulary_listing(schema: Schema) -> Listing:
    """Return a listing with one row per code, for `Encoder.vocabulary`."""
    coded = schema.of_codes
    index = np.arange(coded.n_features)
    first = np.repeat(coded.starts[:-1], np.diff(coded.starts))
    return Listing(**_meanings(coded), code=index - first.astype(np.int64), index=index)


def _meanings(schema: Schema) -> dict[str, Objects]:
    """Return the column name, the kind and the category (or None) of each output column."""
    names = as_objects([column.name for column in schema.columns])
    kinds = np.full(schema.n_features, "category", object)
    categories = np.empty(schema.n_features, object)
    for column, start in zip(schema.columns, schema.starts, strict=False):
        own = column.category_of_feature
        categories[start + column.outputs[own]] = as_objects(column.known.take(own).tolist())
        for special, output in column.specials.items():
            kinds[start + output] = special.value
    column_of_output = np.repeat(names, np.diff(schema.starts))
    return {"column": column_of_output, "kind": kinds, "category": categories}


def _counts(column: ColumnSchema, n_rows: int) -> Counts:
    """Return the number of rows in `fit` in which each feature was one; -1 if it is not known."""
    counts = column.learned.counts
    # With declared categories, unknown and missing values are not counted separately.
    only_missing = column.options.categories is None or column.options.handle_unknown == "error"
    of_special = {
        Special.INFREQUENT: int(counts[column.is_infrequent].sum()),
        Special.UNKNOWN: 0 if only_missing else -1,
        Special.MISSING: n_rows - int(counts.sum()) if only_missing else -1,
    }
    of_specials = np.array([of_special[special] for special in column.specials], np.int64)
    return np.append(counts[column.category_of_feature], of_specials)


def summary(schema: Schema) -> Listing:
    """Return a listing with one row per encoded column, for `Encoder.summary`."""
    # A column without categories has no first category.
    first = [(*_most_frequent(column, 1), (None, 0))[0] for column in schema.columns]
    counts = np.array([count for _, count in first], np.int64)
    return Listing(
        column=as_objects([column.name for column in schema.columns]),
        categories=np.array([len(column.known) for column in schema.columns], np.int64),
        features=np.array([column.n_outputs for column in schema.columns], np.int64),
        most_frequent=as_objects([category for category, _ in first]),
        count=counts,
        share=counts / max(1, schema.n_rows),
    )


def as_html(title: str, schema: Schema) -> str:
    """Return HTML: a title, and bars for the most frequent categories of the first columns."""
    parts = [*map(_column_as_html, schema.columns[:MAX_ROWS_SHOWN])]
    more = len(schema.columns) - MAX_ROWS_SHOWN
    parts += [f"<div>… {more:,} more columns</div>"] if more > 0 else []
    return f"<div><code>{escape(title)}</code>{''.join(parts)}</div>"


def _most_frequent(column: ColumnSchema, n: int) -> list[tuple[Any, int]]:
    """Return the `n` most frequent categories with their counts; ties keep their order."""
    top = column.learned.most_frequent(n)
    return list(zip(top.categories.tolist(), top.counts.tolist(), strict=True))


def _column_as_html(column: ColumnSchema) -> str:
    top = _most_frequent(column, MAX_CATEGORIES_SHOWN)
    categories = number_of(len(column.known), "category", "categories")
    title = f"{shown(column.name)}: {categories} → {number_of(column.n_outputs, 'feature')}"
    largest = max([1, *(count for _, count in top)])
    rows = [
        f"<tr><td>{escape(shown(category))}</td><td>{count:,}</td>"
        f"<td>{BAR.format(width=BAR_WIDTH * count / largest)}</td></tr>"
        for category, count in top
    ]
    more = len(column.known) - len(top)
    rows += [f"<tr><td colspan=3>… {more:,} more</td></tr>"] if more > 0 else []
    table = f"<table>{''.join(rows)}</table>"
    return f"<details open><summary>{escape(title)}</summary>{table}</details>"


def number_of(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, e.g. "1 row" or "2,000 rows"."""
    return f"1 {one}" if n == 1 else f"{n:,} {many or f'{one}s'}"


# ---- Unknown, missing and infrequent values ----


class UnknownValueError(ValueError):
    """A value is not a category, and `handle_unknown` is "error".

    The message names the column, the first row and the values.
    """

    __module__ = "onehot_fast"


@dataclass(frozen=True, eq=False)
class UnseenValues:
    """The unknown, missing and infrequent values of a column, the most frequent first."""

    name: object
    unknown: ColumnStatistics
    missing: ColumnStatistics
    infrequent: ColumnStatistics

    def some_unknown(self) -> str:
        """Return the column name and the first unknown values as text."""
        counts = self.unknown.counts
        first = np.arange(min(len(counts), MAX_VALUES_IN_MESSAGE))
        texts = [*map(shown, self.unknown.categories.take(first).tolist())]
        rest = ", …"
        if not is_part_of_table():
            rows = [number_of(count, "row") for count in counts[first].tolist()]
            texts = [f"{text} ({n_rows})" for text, n_rows in zip(texts, rows, strict=True)]
            rest += f" ({len(counts):,} values in {number_of(int(counts.sum()), 'row')})"
        more = rest if len(counts) > MAX_VALUES_IN_MESSAGE else ""
        return f"{self.name!r}: {', '.join(texts)}{more}"


class UnknownValueWarning(UserWarning):
    """Values are not categories, and `handle_unknown` is "warn"."""

    __module__ = "onehot_fast"

    # The values of each column by its name. The message is the only argument of the class, as a
    # copy or a pickle requires.
    unseen: dict[object, UnseenValues]

    @classmethod
    def of(cls, unseen: Iterable[UnseenValues]) -> UnknownValueWarning:
        """Return the warning about the unknown values of some columns."""
        by_name = {values.name: values for values in unseen}
        warning = cls(f"unknown values become rows of zeros, in {_some_columns(by_name.values())}")
        warning.unseen = by_name
        return warning

    def merge(self, other: UnknownValueWarning) -> UnknownValueWarning:
        """Return one warning for the rows of both warnings."""
        both = self.unseen | other.unseen
        for name in self.unseen.keys() & other.unseen.keys():
            parts = [each.unseen[name].unknown for each in (self, other)]
            unknown = ColumnStatistics.merge(parts).most_frequent()
            both[name] = dataclasses.replace(self.unseen[name], unknown=unknown)
        return UnknownValueWarning.of(both.values())


class Check(Listing):
    """The unknown, missing and infrequent values of a table.

    A dict of arrays of equal length, with a row for each such value. Its keys are "column", "kind"
    ("unknown", "missing" or "infrequent"), "value", "count" and "share" (of all rows).

    Attributes
    ----------
    checked_rows : int
        The number of rows of the table.
    """

    checked_rows: int = 0

    @property
    def has_unknown(self) -> bool:
        """Whether a value of the table is not a category of its column."""
        return "unknown" in self["kind"].tolist()

    def __repr__(self) -> str:
        """Return a summary and the first rows."""
        kinds = set(self["kind"].tolist())
        rows = number_of(self.checked_rows, "row")
        if not kinds:
            return f"<Check of {rows}: every value is a category that fit has seen>"
        listed = " or ".join(kind for kind in CHECK_KINDS if kind in kinds)
        return f"<Check of {rows}: some values are {listed}>\n{super().__repr__()}"


def unseen_values(column: ColumnSchema, read: Column | Values) -> UnseenValues:
    """Return the unknown, missing and infrequent values of a column."""
    rows = read.encode()
    found = counted(rows)
    positions = column.known.find(found.categories)
    is_infrequent = np.append(column.is_infrequent, False)[positions]
    unknown, infrequent = (
        found.take(np.flatnonzero(flags & (found.counts > 0))).most_frequent()
        for flags in (positions < 0, is_infrequent)
    )
    n_missing = len(rows) - int(found.counts.sum())
    missing = ColumnStatistics(Categories(as_objects([None])), np.array([n_missing]))
    return UnseenValues(
        column.name, unknown, missing.take(np.flatnonzero(missing.counts)), infrequent
    )


def check_of(unseen: Iterable[UnseenValues], n_rows: int) -> Check:
    """Return the report of `Encoder.check` on a table of `n_rows` rows."""
    found = [(each.name, kind, getattr(each, kind)) for each in unseen for kind in CHECK_KINDS]
    counts = [values.counts for *_, values in found]
    lengths = [*map(len, counts)]
    count = _concatenated(counts, np.int64)
    check = Check(
        column=np.repeat(as_objects([name for name, *_ in found]), lengths),
        kind=np.repeat(as_objects([kind for _, kind, _ in found]), lengths),
        value=_concatenated(as_objects(values.categories.tolist()) for *_, values in found),
        count=count,
        share=count / max(n_rows, 1),
    )
    check.checked_rows = n_rows
    return check


def with_all_unknown(error: UnknownValueError, unseen: Iterable[UnseenValues]) -> UnknownValueError:
    """Return a copy of an error whose message also names the unknown values of all columns."""
    return UnknownValueError(f"{error}; unknown values of all columns: {_some_columns(unseen)}")


def _some_columns(unseen: Iterable[UnseenValues]) -> str:
    """Return the unknown values of the first columns as text."""
    unknown = [values.some_unknown() for values in unseen if len(values.unknown.counts)]
    n_more = len(unknown) - MAX_COLUMNS_IN_MESSAGE
    more = f"; … and {n_more} more columns" if n_more > 0 else ""
    return "; ".join(unknown[:MAX_COLUMNS_IN_MESSAGE]) + more


# ---- Columns that are encoded by default ----


def check_default_columns(schema: Schema) -> None:
    """Warn about columns that look like identifiers, and raise an error for too many features.

    Columns with declared categories are ignored. A table of one column is not checked. Also warn if
    no column of the table is encoded.
    """
    names = schema.fitted_names or ()
    if names and not schema.columns:
        warn(
            "nothing is encoded: no column contains strings, objects or categories;"
            f" pass columns=[{names[0]!r}, ...] to choose columns of any type"
        )
    if len(names) < 2:
        return
    undeclared = [
        column
        for column in schema.columns
        if column.learned.n_declared is None and column.options.categories is None
    ]
    remedy = f"{FEWER_FEATURES}; for one integer per column, choose them and use output='codes'"
    check_features(undeclared, MAX_FEATURES, remedy)
    n_rows = schema.n_rows
    suspects = [described(each, n_rows) for each in undeclared if is_like_identifier(each, n_rows)]
    if suspects:
        more = len(suspects) - MAX_SUSPECTS_SHOWN
        warn(
            "; ".join(suspects[:MAX_SUSPECTS_SHOWN])
            + (f"; and {more} more columns" if more > 0 else "")
            + ("; they may be identifiers" if suspects[1:] else ", so it may be an identifier")
            + ". Pass columns=[...] to choose the columns to encode; this also silences the warning"
        )


def check_dense(schema: Schema) -> None:
    """Raise an error if columns chosen by default have too many features for a dense result."""
    if schema.n_features <= MAX_DENSE_FEATURES:
        return
    if schema.uses_default_columns and len(schema.fitted_names or ()) > 1:
        remedy = f"{FEWER_FEATURES}, or output='csr' (.onehot.to_csr()) for a sparse matrix"
        check_features(schema.columns, MAX_DENSE_FEATURES, remedy)


def check_features(columns: Iterable[ColumnSchema], limit: float, remedy: str) -> None:
    """Raise an error if columns chosen by default have more than `limit` features in total."""
    sizes = sorted(((column.n_outputs, str(column.name)) for column in columns), reverse=True)
    n_features = sum(size for size, _ in sizes)
    if n_features > limit:
        listed = ", ".join(f"{name!r} {size:,}" for size, name in sizes[:MAX_SIZES_SHOWN])
        n_more = len(sizes) - MAX_SIZES_SHOWN
        more = f" and {n_more:,} more columns" if n_more > 0 else ""
        raise ValueError(
            f"the columns that were chosen by default must have at most {int(limit):,} features,"
            f" got {n_features:,}: {listed}{more}; {remedy}"
        )


def is_like_identifier(column: ColumnSchema, n_rows: int) -> bool:
    """Tell whether a column has many features, and more than half as many categories as rows."""
    return column.n_outputs > MANY_FEATURES and 2 * len(column.known) > n_rows


def described(column: ColumnSchema, n_rows: int) -> str:
    """Return a sentence with the numbers of categories and rows of a column."""
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
