"""Which output columns there are, what each stands for and what it is called.

All of it follows from the options and what was learned; the rows to encode have no part in it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema.column_order import ColumnOrder, column_order
from onehot_fast._schema.grouping import Groups, group, infrequent, which_to_drop
from onehot_fast._schema.options import ColumnOptions, declared_categories
from onehot_fast._schema.statistics import ColumnStatistics, Counts
from onehot_fast.table import column_position

Made = TypeVar("Made")

# So many kinds of tables are remembered, of so many columns each; then they are made anew.
MOST_REMEMBERED = 64
MOST_NAMES = 1 << 14
UNKNOWN = -2  # beside the output columns, where -1 is a category without one


class Special(enum.Enum):
    """What an output column or a decoded value can stand for besides a category.

    Attributes
    ----------
    INFREQUENT
        One of the infrequent categories.
    UNKNOWN
        A value that `fit` did not meet.
    MISSING
        No value.
    """

    INFREQUENT = "infrequent"
    UNKNOWN = "unknown"
    MISSING = "missing"

    def __repr__(self) -> str:
        """Return the name by which one writes it."""
        return f"Special.{self.name}"


@dataclass(frozen=True, eq=False)
class ColumnSchema:
    """The output columns that one input column makes.

    Attributes
    ----------
    name : hashable
    options : ColumnOptions
    known : Categories
        All categories in their order, the infrequent ones too.
    outputs : ndarray of int32, shape (n_categories,)
        The output column of each category, -1 if it is dropped.
    specials : dict of Special to int
        Where the columns are that stand for no single category.
    n_outputs : int
    types : frozenset of str
        The types of the fitted columns: see `Table.type_of`.
    zero_row_labels : tuple
        The meanings of a row of zeros, the likeliest first: a category or a `Special`.
    """

    name: Hashable
    options: ColumnOptions
    known: Categories
    outputs: npt.NDArray[np.int32]
    specials: dict[Special, int]
    n_outputs: int
    zero_row_labels: tuple[Any, ...]
    types: frozenset[str] = frozenset()

    @classmethod
    def declared(cls, categories: Any, dtype: np.dtype[Any]) -> ColumnSchema:
        """Return the schema of a column of given categories; any other value is all off.

        Its outputs are named by the categories alone.
        """
        declared = declared_categories(categories, "categories")
        if declared is None:
            raise ValueError("categories = 'auto' is not accepted here")
        options = ColumnOptions(
            declared, handle_unknown="ignore", dtype=dtype, prefix="", prefix_sep=""
        )
        known = Categories.of(declared)
        outputs = np.arange(len(known), dtype=np.int32)
        return cls("array", options, known, outputs, {}, len(known), ())

    def outputs_of(self, categories: Any) -> npt.NDArray[np.int64]:
        """Return the output of each of some categories, and in the last entry of a missing value.

        That of a known category which is dropped is -1, that of an unknown one `UNKNOWN`.
        """
        if not isinstance(categories, Categories):
            categories = Categories.of(categories)
        positions = self.known.find(categories)
        outputs = np.full(len(positions) + 1, self.missing_output, np.int64)
        is_known = positions >= 0
        outputs[:-1] = UNKNOWN
        outputs[:-1][is_known] = self.outputs[positions[is_known]]
        return outputs

    @cached_property
    def categories(self) -> tuple[Any, ...]:
        """All categories in their order, as objects."""
        return tuple(self.known.tolist())

    @cached_property
    def labelled(self) -> npt.NDArray[np.int64]:
        """The position of the category of each output column, up to the first that has none."""
        is_own = self.outputs >= 0
        if Special.INFREQUENT in self.specials:
            is_own &= self.outputs != self.specials[Special.INFREQUENT]
        return np.flatnonzero(is_own)

    @cached_property
    def is_infrequent(self) -> npt.NDArray[np.bool_]:
        """Whether each category shares the output of the infrequent ones, or is dropped with it."""
        is_dropped = Special.INFREQUENT in self.zero_row_labels
        output = -1 if is_dropped else self.specials.get(Special.INFREQUENT, -2)
        flags: npt.NDArray[np.bool_] = self.outputs == output
        return flags

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """What each output column stands for: a category or a Special."""
        return (*self.known.take(self.labelled).tolist(), *self.specials)

    @property
    def titles(self) -> list[str]:
        """What the names of the output columns say after the prefix."""
        titles = self.known.take(self.labelled).titles()
        return titles + [_special_title(special) for special in self.specials]

    @cached_property
    def names(self) -> list[str]:
        """The names of the output columns."""
        prefix = self.prefix
        return [prefix + title for title in self.titles]

    @property
    def prefix(self) -> str:
        """What the names of the output columns begin with."""
        prefix = self.name if self.options.prefix is None else self.options.prefix
        return f"{prefix}{self.options.prefix_sep}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: all else is made again."""
        return _fields_of(self)

    @cached_property
    def lut(self) -> npt.NDArray[np.int32]:
        """The output column of each category, then of an unknown value, and of a missing one."""
        last = [self.unknown_output, self.missing_output]
        return np.concatenate([self.outputs, np.array(last, np.int32)])

    @cached_property
    def shifted_luts(self) -> dict[int, npt.NDArray[np.int32]]:
        """The look-up tables to outputs that are counted from another one: see `CodedColumn`."""
        return {}

    @cached_property
    def last_luts(self) -> list[tuple[object, Any, dict[int, Any]]]:
        """Its one item: the last categories of a table that were all known, and their tables."""
        return [(None, None, {})]

    @cached_property
    def propagates_missing(self) -> bool:
        """Whether all outputs of a missing value are NaN."""
        return self.options.handle_missing == "propagate"

    @property
    def missing_output(self) -> int:
        """The output column of a missing value, or -1."""
        return self.specials.get(Special.MISSING, -1)

    @property
    def unknown_output(self) -> int:
        """The output column of an unknown value, or -1."""
        rule = self.options.handle_unknown
        label = Special.INFREQUENT if rule == "infrequent" else Special.UNKNOWN
        return self.specials.get(label, -1)

    @cached_property
    def has_distinct_titles(self) -> bool:
        """Whether it is certain that no two output columns have the same name."""
        if self.known.family in (None, "binary"):
            return False
        if self.known.family != "string":
            return True
        if not self.specials:
            return True
        positions = self.known.find(Categories.of([_special_title(s) for s in self.specials]))
        return not np.isin(positions[positions >= 0], self.labelled).any()


@dataclass(frozen=True, eq=False)
class Schema:
    """The output columns of all input columns, side by side.

    Attributes
    ----------
    columns : tuple of ColumnSchema
    remainder : {"passthrough", "drop"}
        Whether the output includes the columns that are not encoded.
    fitted_names : tuple of hashable, optional
        All columns of the table that `fit` saw, in order; None if the columns that are not encoded
        are unknown.
    uses_default_columns : bool
        The encoded columns were chosen by their types, and not by the user.
    """

    columns: tuple[ColumnSchema, ...]
    remainder: str = "passthrough"
    fitted_names: tuple[Hashable, ...] | None = None
    uses_default_columns: bool = False

    def __repr__(self) -> str:
        """Show the columns with their sizes: all of their tables would fill pages."""
        sizes = ", ".join(f"{column.name!r}: {column.n_outputs:,}" for column in self.columns[:8])
        more = ", ..." if len(self.columns) > 8 else ""
        return f"<Schema of {self.n_features:,} features: {{{sizes}{more}}}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: all else is made again."""
        return _fields_of(self)

    @cached_property
    def _remembered(self) -> dict[Any, Any]:
        return {}

    def remember(self, make: Callable[[Schema, Any], Made], names: tuple[Hashable, ...]) -> Made:
        """Return ``make(schema, names)``, which follows from the schema and the names of a table.

        It is made once for each `names`. As a schema never changes, there is nothing to forget: an
        encoder that learns more or has other options has another schema.
        """
        # 1 and True are equal, but other names.
        if len(names) > MOST_NAMES or not {str} >= set(map(type, names)):
            return make(self, names)
        key = (make, names)
        # Without a GIL threads would queue for the lock of the dict that `get` takes.
        made: Made | None
        try:
            made = self._remembered[key]
        except KeyError:
            made = None
        if made is None:
            made = make(self, names)
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = made
        return made

    @cached_property
    def has_other_columns(self) -> bool:
        """Whether the output includes columns that are not encoded and that `fit` saw."""
        is_whole = len(self.fitted_names or ()) <= len(self.columns)
        return self.remainder == "passthrough" and not is_whole

    def positions_in(self, names: Sequence[Hashable]) -> list[int]:
        """Return where each column of the schema is in a table of these columns."""
        return [column_position(names, column.name) for column in self.columns]

    def column_of(self, name: Hashable) -> ColumnSchema:
        """Return the column of a name, or the only column."""
        named = [column for column in self.columns if column.name == name]
        if named or len(self.columns) == 1:
            return (named or self.columns)[0]
        known = [column.name for column in self.columns]
        raise ValueError(
            f"the column is named {name!r}, and the encoder encodes {known!r}: rename it"
        )

    def column_order(self, names: Sequence[Hashable]) -> ColumnOrder:
        """Return which columns of a table with these names the encoded table has, in order."""
        encoded = self.positions_in(names)
        if self.remainder == "drop":
            return ColumnOrder(encoded, set(), [])
        return column_order(names, encoded, self.fitted_names)

    @cached_property
    def starts(self) -> list[int]:
        """The first output column of each input column, and the end."""
        return list(accumulate((column.n_outputs for column in self.columns), initial=0))

    @property
    def n_features(self) -> int:
        """How many output columns there are."""
        return self.starts[-1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all output columns."""
        return tuple(name for column in self.columns for name in column.names)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an output that has only one."""
        kinds = {column.options.dtype for column in self.columns}
        return kinds.pop() if len(kinds) == 1 else np.result_type(np.bool_, *kinds)

    @cached_property
    def warns(self) -> bool:
        """Whether somebody wants to be warned of unknown values."""
        return any(column.options.handle_unknown == "warn" for column in self.columns)

    def check_names(self, kept: Iterable[Hashable] = ()) -> None:
        """Refuse two output columns of one name, those included that are kept as they are.

        The names are made only for columns whose prefixes and categories do not rule it out.
        """
        others = set(kept)
        doubtful = _doubtful_columns(self, others)
        makers: dict[Hashable, str] = {}
        for column in self.columns:
            if id(column) in doubtful:
                for name, label in zip(column.names, column.labels, strict=True):
                    _add_maker(makers, name, f"column {column.name!r}, {_describe(label)}")
        for other in others if makers else ():
            _add_maker(makers, other, f"column {other!r}, which is not encoded")


def _fields_of(schema: Any) -> dict[str, Any]:
    return {field.name: getattr(schema, field.name) for field in dataclasses.fields(schema)}


def column_schema(
    name: Hashable, options: ColumnOptions, learned: ColumnStatistics, n_rows: int
) -> ColumnSchema:
    """Return the output columns of an input column."""
    known, counts = ordered_counts(options, learned)
    rare = infrequent(counts, n_rows, options.min_frequency, options.max_categories)
    groups = group(counts, rare)
    dropped = which_to_drop(name, options.drop, groups, known)
    outputs, n_outputs, specials = groups.of_category, len(groups), []
    zero_row_labels: list[Any] = []
    if dropped is not None:
        zero_row_labels.append(_label_of(groups, dropped, known))
        outputs = np.where(outputs == dropped, -1, outputs - (outputs > dropped)).astype(np.int32)
        n_outputs -= 1
    if groups.has_infrequent and dropped != len(groups) - 1:
        specials.append(Special.INFREQUENT)
        n_outputs -= 1
    specials += [Special.UNKNOWN] if options.handle_unknown == "indicator" else []
    specials += [Special.MISSING] if options.handle_missing == "indicator" else []
    special_outputs = {special: n_outputs + i for i, special in enumerate(specials)}
    n_outputs += len(specials)
    # NaN needs an output to stand in.
    is_lost = options.handle_missing == "propagate" and n_outputs == 0
    zero_row_labels += [Special.MISSING] if options.handle_missing == "ignore" or is_lost else []
    zero_row_labels += [Special.UNKNOWN] if _ignores_unknown(options, groups) else []
    return ColumnSchema(
        name,
        options,
        known,
        outputs,
        special_outputs,
        n_outputs,
        tuple(zero_row_labels),
        learned.types,
    )


def ordered_counts(options: ColumnOptions, learned: ColumnStatistics) -> tuple[Categories, Counts]:
    """Return the categories in their order, and in how many rows each occurs."""
    if options.categories is None:
        return learned.ordered()
    known = Categories.of(options.categories)
    counts = np.zeros(len(known), np.int64)
    positions = known.find(learned.categories)
    if (positions < 0).any():  # fit learns none; a document may say so
        stranger = learned.categories.take([int(np.argmax(positions < 0))]).tolist()[0]
        raise ValueError(f"{shown(stranger)} was learned, and is none of the declared categories")
    counts[positions] = learned.counts
    return known, counts


def _label_of(groups: Groups, position: int, known: Categories) -> Any:
    if groups.has_infrequent and position == len(groups) - 1:
        return Special.INFREQUENT
    category = int(np.argmax(groups.of_category == position))
    return known.take([category]).tolist()[0]


def _ignores_unknown(options: ColumnOptions, groups: Groups) -> bool:
    """Tell whether the row of an unknown value is all off for that reason alone."""
    rule = options.handle_unknown
    return rule in ("ignore", "warn") or (rule == "infrequent" and not groups.has_infrequent)


def _special_title(special: Special) -> str:
    """Return what a name says after the prefix; parentheses keep apart what is no category."""
    return f"({special.value})"


def _doubtful_columns(schema: Schema, kept: Iterable[Hashable]) -> set[int]:
    """Return the identities of the columns of which an output may have the name of another."""
    by_prefix: dict[str, list[ColumnSchema]] = {}
    for column in schema.columns:
        by_prefix.setdefault(column.prefix, []).append(column)
    lengths = sorted(set(map(len, by_prefix)))

    def that_may_have(start: str) -> Iterator[ColumnSchema]:
        """Yield the columns of which the name of an output may begin with a text."""
        for length in lengths:
            if length <= len(start):
                for column in by_prefix.get(start[:length], ()):
                    if _may_begin_with(column, start[length:]):
                        yield column

    doubtful = {id(column) for column in schema.columns if not column.has_distinct_titles}
    for column in schema.columns:
        others = {id(other) for other in that_may_have(column.prefix)} - {id(column)}
        doubtful |= {*others, id(column)} if others else set()
    for name in kept:
        if isinstance(name, str):
            doubtful |= {id(column) for column in that_may_have(name)}
    return doubtful


def _may_begin_with(column: ColumnSchema, text: str) -> bool:
    """Tell whether what a name says after the prefix may begin with a text; False is certain."""
    titles = map(_special_title, column.specials)
    return column.known.may_begin_with(text) or any(title.startswith(text) for title in titles)


def _add_maker(makers: dict[Hashable, str], name: Hashable, maker: str) -> None:
    """Note what makes the output column of a name, or refuse a second one."""
    if name in makers:
        raise ValueError(
            f"two output columns would be named {name!r}: that of {makers[name]}, and that of"
            f" {maker}; another prefix, prefix_sep or type of the categories keeps them apart"
        )
    makers[name] = maker


def _describe(label: Any) -> str:
    """Return what an output column stands for, in words."""
    return f"{label.value} values" if isinstance(label, Special) else f"category {label!r}"
