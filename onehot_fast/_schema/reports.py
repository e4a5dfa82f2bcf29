"""Reports of an encoder: listings of features and columns, checks of tables, and warnings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import as_objects, name_key, text_label
from onehot_fast._categories.kinds import kinds_of, listed_kinds, lookalikes, other_kinds
from onehot_fast._categories.values import Values
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import warn
from onehot_fast._schema.column_schema import ColumnSchema, Special
from onehot_fast._schema.options import DropValue
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import ColumnStatistics, Counts, counted

Objects = npt.NDArray[np.object_]

# The maximum numbers of rows and categories in a report.
MAX_ROWS_SHOWN = 20
MAX_CATEGORIES_SHOWN = 10
BAR = '<div style="background:#4c78a8;height:0.8em;width:{width:.1f}em"></div>'
BAR_WIDTH = 12  # the width in em of the bar of the most frequent category
# The maximum numbers of columns, and of values per column, in a message.
MAX_COLUMNS_IN_MESSAGE = 4
MAX_VALUES_IN_MESSAGE = 3
KEEPING_UNKNOWN_APART = (
    "handle_unknown='indicator' to tell unknown values from the dropped category, or 'error'"
)
CHECK_KINDS = ("unknown", "missing", "infrequent")
# The columns of listings whose values come from the user's table.
VALUE_COLUMNS = ("category", "value", "most_frequent")
MAX_DIGITS = 12  # the maximum number of digits after the point of a share in percent

# The options that can leave a column without features.
REMOVING_OPTIONS = ("min_frequency", "max_categories", "drop")
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
    convert it. A slice, such as ``listing[:5]``, is a listing of these rows. `to_dict` returns rows
    that ``json.dumps`` accepts.
    """

    # The columns of the user's table whose categories are not all strings. Their values are shown
    # as Python code, so that the text '1' differs from the number 1.
    quoted: frozenset[Any] = frozenset()

    @property
    def n_rows(self) -> int:
        """The length of the arrays."""
        return len(next(iter(self.values()), ()))

    def __getitem__(self, key: Any) -> Any:
        """Return a column by its name, or a listing of the rows of a slice."""
        if not isinstance(key, slice):
            return super().__getitem__(key)
        rows = type(self)({name: column[key] for name, column in self.items()})
        rows.__dict__.update(self.__dict__)
        return rows

    def __missing__(self, key: object) -> Any:
        """Raise the KeyError of an unknown column, which lists the columns."""
        raise KeyError(
            f"{key!r} is not a column of the listing, which has {', '.join(map(repr, self))}; for"
            " rows, use a slice, such as [:5], or to_dict('records')"
        )

    def to_dict(self, orient: Literal["records", "list"] = "records") -> Any:
        """Return the rows, or the columns, as Python objects that ``json.dumps`` accepts.

        Parameters
        ----------
        orient : {"records", "list"}, default "records"
            Whether to return a list with a dict for each row, or a dict with a list for each
            column.

        Returns
        -------
        list of dict, or dict of list
            Strings, numbers, Booleans and None are unchanged. A value of another type, such as a
            date, becomes the text that names its feature.

        Raises
        ------
        TypeError, ValueError
            `orient` is not one of the choices.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> Encoder().fit({"size": ["S", "L"]}).features[:1].to_dict("records")
        [{'column': 'size', 'kind': 'category', 'category': 'L', 'name': 'size_L', 'count': 1, \
'dtype': 'bool'}]
        """
        check_choice(orient, "orient", ("records", "list"))
        columns = {name: [*map(_as_json, values.tolist())] for name, values in self.items()}
        if orient == "list":
            return columns
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __repr__(self) -> str:
        """Return the first rows as aligned text."""
        rows = self._shown_rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        more = self.n_rows - MAX_ROWS_SHOWN
        return "\n".join([*lines, f"… {more:,} more rows"] if more > 0 else lines)

    def _shown_rows(self) -> list[tuple[str, ...]]:
        owners = self["column"][:MAX_ROWS_SHOWN].tolist() if "column" in self else []
        columns = (self._shown(name, owners) for name in self)
        return [tuple(self), *zip(*columns, strict=True)]

    def _shown(self, name: str, owners: list[Any]) -> list[str]:
        """Return the first values of a column as text; `owners` has the user's column of each."""
        first = self[name][:MAX_ROWS_SHOWN].tolist()
        if name == "share":
            return [percent(value) for value in first]
        if name not in VALUE_COLUMNS or not owners:
            is_plain = all(_is_plain(value) for value in first)
            return [_text(value, is_plain) for value in first]
        quoted = self.quoted | {
            owner for owner, value in zip(owners, first, strict=True) if not _is_plain(value)
        }
        pairs = zip(owners, first, strict=True)
        return [_text(value, owner not in quoted) for owner, value in pairs]

    def _notes(self) -> tuple[str, ...]:
        """Return the lines that follow the rows."""
        return ()

    def _repr_html_(self) -> str:
        """Return HTML: the summary, the number of rows not shown, the first rows, and the notes."""
        lines = repr(self).splitlines()
        text = (line for line in lines if line.startswith(("<", "…")))
        rows = (f"<td>{'<td>'.join(map(escape, row))}" for row in self._shown_rows())
        notes = "".join(f"<div>{escape(note)}</div>" for note in self._notes())
        return f"{escape(' '.join(text))}<table><tr>{'<tr>'.join(rows)}</table>{notes}"


def _is_plain(value: Any) -> bool:
    """Tell whether a value is None or a string that can be shown without quotes."""
    return value is None or (type(value) is str and value.isprintable())


def _text(value: Any, is_plain: bool) -> str:
    """Return a value as text, a string without quotes if `is_plain`."""
    return value if is_plain and type(value) is str else shown(value)


def _as_json(value: Any) -> Any:
    """Return a value that ``json.dumps`` accepts: a number, a str, a bool, None, or text."""
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "biuf" else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no infinity
    return value if value is None or type(value) in (str, int, float, bool) else text_label(value)


def percent(share: float) -> str:
    """Return a share in percent, with more than two digits if it would look like 0 or 100 %."""
    digits = 2
    while 0 < share < 1 and digits < MAX_DIGITS and float(f"{share:.{digits}%}"[:-1]) in (0, 100):
        digits += 1
    return f"{share:.{digits}%}"


def _concatenated(parts: Iterable[Any], dtype: Any = object) -> npt.NDArray[Any]:
    """Return the concatenated arrays, or an empty array if there are none."""
    return np.concatenate([np.empty(0, dtype), *parts])


# ---- Features and columns ----


def feature_listing(schema: Schema) -> Listing:
    """Return a listing with one row per feature, for `Encoder.features`."""
    dtypes = as_objects([str(column.options.dtype) for column in schema.columns])
    return _listing(
        schema,
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
    return _listing(coded, **_meanings(coded), code=index - first.astype(np.int64), index=index)


def _listing(schema: Schema, **columns: npt.NDArray[Any]) -> Listing:
    """Return a listing of the columns of a schema."""
    listing = Listing(columns)
    listing.quoted = quoted_columns(schema)
    return listing


def quoted_columns(schema: Schema) -> frozenset[Any]:
    """Return the names of the columns whose categories are not all strings."""
    columns = (column for column in schema.columns if kinds_of(column.known) != {"text"})
    return frozenset(column.name for column in columns)


def _meanings(schema: Schema) -> dict[str, Objects]:
    """Return the column name, the kind and the category (or None) of each feature."""
    names = as_objects([column.name for column in schema.columns])
    kinds = np.full(schema.n_features, "category", object)
    categories = np.empty(schema.n_features, object)
    for column, start in zip(schema.columns, schema.starts, strict=False):
        own = column.category_of_feature
        categories[start + column.feature_of_category[own]] = as_objects(
            column.known.take(own).tolist()
        )
        for special, feature in column.specials.items():
            kinds[start + feature] = special.value
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
    return _listing(
        schema,
        column=as_objects([column.name for column in schema.columns]),
        categories=np.array([len(column.known) for column in schema.columns], np.int64),
        features=np.array([column.n_features for column in schema.columns], np.int64),
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
    title = f"{shown(column.name)}: {categories} → {number_of(column.n_features, 'feature')}"
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


@dataclass(frozen=True)
class Reasons:
    """Why values of a column are unknown, where a person cannot see it from the values."""

    n_present: int = 0  # the number of rows that are not missing
    n_of_other_kinds: int = 0  # the number of rows whose value has a kind that no category has
    other_kinds: str = ""  # these kinds, e.g. "text"
    known: str = ""  # the kinds of the categories, e.g. "fit saw integers"
    # The texts that differ from a category in their Unicode form only, each with the category.
    lookalikes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, known: Categories, unknown: ColumnStatistics, n_present: int, saw: str = "fit saw"
    ) -> Reasons:
        """Return the reasons why no value of `unknown` is one of the `known` categories."""
        is_other, kinds = other_kinds(unknown.categories, known)
        first = unknown.categories.take(range(min(len(unknown.counts), MAX_VALUES_IN_MESSAGE)))
        n_of_other_kinds = int(unknown.counts[is_other].sum())
        similar = tuple(lookalikes(first.tolist(), known))
        return cls(
            n_present, n_of_other_kinds, kinds, f"{saw} {listed_kinds(kinds_of(known))}", similar
        )

    def merge(self, other: Reasons) -> Reasons:
        """Return the reasons for the rows of both."""
        return Reasons(
            self.n_present + other.n_present,
            self.n_of_other_kinds + other.n_of_other_kinds,
            self.other_kinds or other.other_kinds,
            self.known,
            tuple(dict.fromkeys(self.lookalikes + other.lookalikes)),
        )

    def texts(self) -> list[str]:
        """Return each reason with its remedy."""
        texts = []
        n, n_present = self.n_of_other_kinds, self.n_present
        if n:
            share = f"all {n:,} values" if n == n_present else f"{n:,} of {n_present:,} values"
            share = "the only value" if n_present == 1 else share
            share = "some values" if is_part_of_table() else share
            verb = "is" if n == 1 and not is_part_of_table() else "are"
            texts.append(f"{share} {verb} {self.other_kinds}, {self.known}: convert the column")
        return texts + [
            f"{text!a} is the category {category!a} in another Unicode form:"
            " normalize both with unicodedata.normalize('NFC', ...)"
            for text, category in self.lookalikes
        ]


@dataclass(frozen=True, eq=False)
class ReportedValues:
    """The unknown, missing and infrequent values of a column, the most frequent first."""

    name: object
    unknown: ColumnStatistics
    missing: ColumnStatistics
    infrequent: ColumnStatistics
    reasons: Reasons
    dropped: str  # the category with the row of zeros of unknown values, as text, or ""

    def merge(self, other: ReportedValues) -> ReportedValues:
        """Return the unknown values of the rows of both, for a warning."""
        unknown = ColumnStatistics.merge([self.unknown, other.unknown]).most_frequent()
        reasons = self.reasons.merge(other.reasons)
        return dataclasses.replace(self, unknown=unknown, reasons=reasons)

    def some_unknown(self, said: str = "") -> str:
        """Return the column name, the first unknown values, and the reasons that `said` lacks."""
        counts = self.unknown.counts
        first = np.arange(min(len(counts), MAX_VALUES_IN_MESSAGE))
        texts = [*map(shown, self.unknown.categories.take(first).tolist())]
        rest = ", …"
        if not is_part_of_table():
            rows = [number_of(count, "row") for count in counts[first].tolist()]
            texts = [f"{text} ({n_rows})" for text, n_rows in zip(texts, rows, strict=True)]
            rest += f" ({len(counts):,} values in {number_of(int(counts.sum()), 'row')})"
        more = rest if len(counts) > MAX_VALUES_IN_MESSAGE else ""
        notes = [text for text in self.reasons.texts() if text not in said]
        notes += [f"equal to rows of the dropped category {self.dropped}"] if self.dropped else []
        why = f" ({'; '.join(notes)})" if notes else ""
        return f"{self.name!r}: {', '.join(texts)}{more}{why}"


class UnknownValueWarning(UserWarning):
    """Values are not categories, and become rows of zeros.

    `handle_unknown` is "warn", or their rows equal the rows of the category that `drop` dropped.
    """

    __module__ = "onehot_fast"

    # The values of each column by its name. The message is the only argument of the class, as a
    # copy or a pickle requires.
    reported: dict[object, ReportedValues]

    @classmethod
    def of(cls, reported: Iterable[ReportedValues]) -> UnknownValueWarning:
        """Return the warning about the unknown values of some columns."""
        by_name = {values.name: values for values in reported}
        text = f"unknown values become rows of zeros, in {_some_columns(by_name.values())}"
        if any(values.dropped for values in by_name.values()):
            text += f"; use {KEEPING_UNKNOWN_APART}"
        warning = cls(text)
        warning.reported = by_name
        return warning

    def merge(self, other: UnknownValueWarning) -> UnknownValueWarning:
        """Return one warning for the rows of both warnings."""
        both = {name_key(name): values for name, values in self.reported.items()}
        for name, values in other.reported.items():
            mine = both.get(name_key(name))
            both[name_key(name)] = values if mine is None else mine.merge(values)
        return UnknownValueWarning.of(both.values())


class Check(Listing):
    """The unknown, missing and infrequent values of a table.

    A dict of arrays of equal length, with a row for each such value. Its keys are "column", "kind"
    ("unknown", "missing" or "infrequent"), "value", "count" and "share" (of all rows).

    Attributes
    ----------
    checked_rows : int
        The number of rows of the table.
    notes : tuple of str
        The reasons why values are unknown that the values do not show, e.g. that all values of a
        column are text, but `fit` saw integers.
    """

    checked_rows: int = 0
    notes: tuple[str, ...] = ()

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
        lines = [f"<Check of {rows}: some values are {listed}>", super().__repr__(), *self.notes]
        return "\n".join(lines)

    def _notes(self) -> tuple[str, ...]:
        return self.notes


def reported_values(column: ColumnSchema, read: Column | Values) -> ReportedValues:
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
    return ReportedValues(
        column.name,
        unknown,
        missing.take(np.flatnonzero(missing.counts)),
        infrequent,
        Reasons.of(column.known, unknown, len(rows) - n_missing),
        _dropped(column) if column.hides_unknown else "",
    )


def _dropped(column: ColumnSchema) -> str:
    """Return the dropped category as text."""
    label = column.zero_row_labels[0]
    return "of infrequent values" if isinstance(label, Special) else shown(label)


def check_of(reported: Sequence[ReportedValues], n_rows: int, quoted: Iterable[object]) -> Check:
    """Return the report of `Encoder.check` on a table of `n_rows` rows.

    `quoted` has the names of the columns whose values are shown in quotes.
    """
    found = [(each.name, kind, getattr(each, kind)) for each in reported for kind in CHECK_KINDS]
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
    check.checked_rows, check.quoted = n_rows, frozenset(quoted)
    check.notes = tuple(
        f"column {each.name!r}: {reason}" for each in reported for reason in each.reasons.texts()
    )
    return check


def with_all_unknown(
    error: UnknownValueError, reported: Iterable[ReportedValues]
) -> UnknownValueError:
    """Return a copy of an error whose message also names the unknown values of all columns."""
    listed = _some_columns(reported, str(error))
    return UnknownValueError(f"{error}; unknown values of all columns: {listed}")


def _some_columns(reported: Iterable[ReportedValues], said: str = "") -> str:
    """Return the unknown values of the first columns as text, without what `said` contains."""
    unknown = [values.some_unknown(said) for values in reported if len(values.unknown.counts)]
    n_more = len(unknown) - MAX_COLUMNS_IN_MESSAGE
    more = f"; … and {n_more} more columns" if n_more > 0 else ""
    return "; ".join(unknown[:MAX_COLUMNS_IN_MESSAGE]) + more


# ---- Columns without features ----


def check_features_exist(schema: Schema) -> None:
    """Warn about columns whose options leave no feature, so that the result lacks them."""
    for column in schema.columns:
        if len(column.known) and not column.n_features:
            options = ((name, getattr(column.options, name)) for name in REMOVING_OPTIONS)
            chosen = (f"{name}={_as_passed(value)}" for name, value in options if value is not None)
            warn(
                f"column {column.name!r} has no features, so the result lacks it: no feature is"
                f" left for its {number_of(len(column.known), 'category', 'categories')} with"
                f" {' and '.join(chosen)}; change an option, or drop the column from the table"
            )


def _as_passed(option: Any) -> str:
    """Return the value of an option as text; of `DropValue`, the category."""
    return shown(option.value if isinstance(option, DropValue) else option)


def check_rows_exist(schema: Schema) -> None:
    """Warn if `fit` saw no rows, and columns therefore have no categories."""
    empty = [repr(column.name) for column in schema.columns if not len(column.known)]
    if empty and not schema.n_rows:
        more = ", …" if len(empty) > MAX_COLUMNS_IN_MESSAGE else ""
        warn(
            "fit saw a table without rows, so these columns have no categories:"
            f" {', '.join(empty[:MAX_COLUMNS_IN_MESSAGE])}{more}; fit to a table with rows, or pass"
            " categories="
        )


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
        remedy = (
            f"{FEWER_FEATURES}, or output='csr' of Encoder.transform (of a frame:"
            " .onehot.to_csr(..., remainder='drop')) for a sparse matrix"
        )
        check_features(schema.columns, MAX_DENSE_FEATURES, remedy)


def check_features(columns: Iterable[ColumnSchema], limit: float, remedy: str) -> None:
    """Raise an error if columns chosen by default have more than `limit` features in total."""
    sizes = sorted(((column.n_features, str(column.name)) for column in columns), reverse=True)
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
    return column.n_features > MANY_FEATURES and 2 * len(column.known) > n_rows


def described(column: ColumnSchema, n_rows: int) -> str:
    """Return a sentence with the numbers of categories and rows of a column."""
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
