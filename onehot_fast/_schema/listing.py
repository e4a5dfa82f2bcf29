"""Small tables for people to read: named arrays, which every library makes a table of."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.keys import as_objects
from onehot_fast._schema.schema import ColumnSchema, Schema, Special, ordered_counts
from onehot_fast._schema.statistics import ColumnStatistics, TableStatistics

# So many rows are shown.
SHOWN_ROWS = 20


class Listing(dict[str, npt.NDArray[Any]]):
    """A table as a dict from names to arrays of one length.

    ``pandas.DataFrame(listing)``, ``polars.DataFrame(listing)`` and ``pyarrow.table(listing)`` make
    a table of a library of it.
    """

    @property
    def n_rows(self) -> int:
        """The length of the arrays."""
        return len(next(iter(self.values()), ()))

    def __repr__(self) -> str:
        """Show the first rows, aligned."""
        rows = self._shown_rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        more = self.n_rows - SHOWN_ROWS
        return "\n".join([*lines, f"… {more:,} more rows"] if more > 0 else lines)

    def _shown_rows(self) -> list[tuple[str, ...]]:
        return [tuple(self), *zip(*map(_shown, self.values()), strict=True)]

    def _repr_html_(self) -> str:
        """Show a notebook the first rows as a table, below what else is said of them."""
        lines = repr(self).splitlines()
        said = (line for line in (lines[0], lines[-1]) if line.startswith(("<", "…")))
        rows = (f"<td>{'<td>'.join(map(escape, row))}" for row in self._shown_rows())
        return f"{escape(' '.join(said))}<table><tr>{'<tr>'.join(rows)}</table>"


def _shown(values: npt.NDArray[Any]) -> list[str]:
    """Return the first values as text; without quotes where all are strings that need none."""
    first = values[:SHOWN_ROWS].tolist()
    if all(type(value) is float for value in first) and first:
        return [f"{value:.2%}" for value in first]
    quoted = any(value is not None and type(value) is not str for value in first)
    plain = not quoted and all(value is None or value.isprintable() for value in first)
    return [value if plain and type(value) is str else shown(value) for value in first]


def feature_listing(schema: Schema, state: TableStatistics) -> Listing:
    """Return what each output stands for, one row for each, in their order."""
    pairs = list(zip(schema.columns, state.columns, strict=True))
    widths = [column.n_outputs for column in schema.columns]
    parts = [_kinds(column) for column in schema.columns]
    dtypes = as_objects([str(column.options.dtype) for column in schema.columns])
    names = as_objects([column.name for column in schema.columns])
    nothing = np.empty(0, object)
    return Listing(
        column=np.repeat(names, widths),
        kind=np.concatenate([nothing, *(kind for kind, _ in parts)]),
        category=np.concatenate([nothing, *(category for _, category in parts)]),
        name=as_objects(list(schema.names)),
        count=np.concatenate([np.empty(0, np.int64), *(_counts(*p, state.n_rows) for p in pairs)]),
        dtype=np.repeat(dtypes, widths),
    )


def _kinds(column: ColumnSchema) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
    """Return the kind of each output of a column, and its category."""
    kinds = np.full(column.n_outputs, "category", object)
    categories = np.empty(column.n_outputs, object)
    categories[: len(column.labelled)] = as_objects(column.known.take(column.labelled).tolist())
    for special, output in column.specials.items():
        kinds[output] = special.value
    return kinds, categories


def _counts(column: ColumnSchema, learned: ColumnStatistics, n_rows: int) -> npt.NDArray[np.int64]:
    """Return in how many rows of `fit` each output of a column was on, -1 where nobody knows."""
    _, counts = ordered_counts(column.options, learned)
    others = n_rows - int(counts.sum())
    # Of declared categories it is not learned what the other rows held.
    only_missing = column.options.categories is None or column.options.handle_unknown == "error"
    of_special = {
        Special.INFREQUENT: int(counts[column.is_infrequent].sum()),
        Special.UNKNOWN: 0 if only_missing else -1,
        Special.MISSING: others if only_missing else -1,
    }
    return np.append(counts[column.labelled], [of_special[s] for s in column.specials]).astype(
        np.int64
    )
