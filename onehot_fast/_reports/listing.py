"""Listings of features, codes and columns, as tables, text and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import number_of, shown
from onehot_fast._categories.keys import as_objects, text_label
from onehot_fast._categories.kinds import kinds_of
from onehot_fast._reports.bars import bar, histogram
from onehot_fast._schema.column_schema import ColumnSchema, Special
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import Counts

Objects = npt.NDArray[np.object_]

# The maximum numbers of rows and categories in a report.
MAX_ROWS_SHOWN = 20
MAX_CATEGORIES_SHOWN = 10
# The columns of listings whose values come from the user's table.
VALUE_COLUMNS = ("category", "value", "most_frequent")
MAX_DIGITS = 12  # the maximum number of digits after the point of a share in percent


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

    def _bars(self) -> list[str]:
        """Return HTML for each row that is shown: a bar of its share, or of its count."""
        if "share" in self:
            return [bar(share, 1) for share in self["share"][:MAX_ROWS_SHOWN].tolist()]
        counts = self["count"].tolist() if "count" in self else []
        largest = max(counts, default=0)
        return [bar(count, largest) for count in counts[:MAX_ROWS_SHOWN]]

    def _repr_html_(self) -> str:
        """Return HTML: the summary, the number of rows not shown, the first rows, and the notes.

        Each row has a bar: the share of the rows of the table, or else the count, where the most
        frequent feature has the longest bar.
        """
        lines = repr(self).splitlines()
        text = (line for line in lines if line.startswith(("<", "…")))
        bars = ["", *self._bars()] if self._bars() else []
        cells = [[*map(escape, row)] for row in self._shown_rows()]
        for row, drawn in zip(cells, bars, strict=False):
            row.append(drawn)
        rows = (f"<td>{'<td>'.join(row)}" for row in cells)
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


def concatenated(parts: Iterable[Any], dtype: Any = object) -> npt.NDArray[Any]:
    """Return the concatenated arrays, or an empty array if there are none."""
    return np.concatenate([np.empty(0, dtype), *parts])


def feature_listing(schema: Schema) -> Listing:
    """Return a listing with one row per feature, for `Encoder.features`."""
    dtypes = as_objects([str(column.options.dtype) for column in schema.columns])
    return _listing(
        schema,
        **_meanings(schema),
        name=as_objects(list(schema.names)),
        count=concatenated((_counts(each, schema.n_rows) for each in schema.columns), np.int64),
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
    column_of_feature = np.repeat(names, np.diff(schema.starts))
    return {"column": column_of_feature, "kind": kinds, "category": categories}


def _counts(column: ColumnSchema, n_rows: int) -> Counts:
    """Return the number of rows in `fit` in which each feature was one; -1 if it is not known."""
    counts = column.learned.counts
    # With declared categories, unknown and missing values are not counted separately.
    only_missing = column.options.categories is None or column.options.handle_unknown == "error"
    # A row may have several labels, so the numbers of rows with each label do not add up.
    adds_up = not column.is_ragged
    of_special = {
        Special.INFREQUENT: int(counts[column.is_infrequent].sum()) if adds_up else -1,
        Special.UNKNOWN: 0 if only_missing else -1,
        Special.MISSING: n_rows - int(counts.sum()) if only_missing and adds_up else -1,
    }
    of_specials = np.array([of_special[special] for special in column.specials], np.int64)
    return np.append(counts[column.category_of_feature], of_specials)


class Summary(Listing):
    """A listing with one row per encoded column, which a notebook shows with their frequencies."""

    # HTML with the frequencies of each column.
    histograms: dict[Any, str]

    def _bars(self) -> list[str]:
        return [self.histograms[name] for name in self["column"][:MAX_ROWS_SHOWN].tolist()]


def summary(schema: Schema) -> Listing:
    """Return a listing with one row per encoded column, for `Encoder.summary`."""
    # A column without categories has no first category.
    top = [_most_frequent(column, MAX_CATEGORIES_SHOWN) for column in schema.columns]
    first = [(*each[:1], (None, 0))[0] for each in top]
    counts = np.array([count for _, count in first], np.int64)
    listing = Summary(
        column=as_objects([column.name for column in schema.columns]),
        categories=np.array([len(column.known) for column in schema.columns], np.int64),
        features=np.array([column.n_features for column in schema.columns], np.int64),
        most_frequent=as_objects([category for category, _ in first]),
        count=counts,
        share=counts / max(1, schema.n_rows),
    )
    listing.quoted = quoted_columns(schema)
    listing.histograms = {
        column.name: histogram(
            [(shown(category), count) for category, count in each], len(column.known) - len(each)
        )
        for column, each in zip(schema.columns, top, strict=True)
    }
    return listing


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
        f"<td>{bar(count, largest)}</td></tr>"
        for category, count in top
    ]
    more = len(column.known) - len(top)
    rows += [f"<tr><td colspan=3>… {more:,} more</td></tr>"] if more > 0 else []
    table = f"<table>{''.join(rows)}</table>"
    return f"<details open><summary>{escape(title)}</summary>{table}</details>"
