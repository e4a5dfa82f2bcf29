"""The options of `Encoder`, from which checks, defaults, flags and error texts are derived.

`OPTIONS` is the table. A type checker needs some names written out as well: the types of rules, the
fields of `ColumnOptions`, the keywords of the accessors, and the signature of `Encoder`.
``tests/encoder/test_options.py`` compares them with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np

from onehot_fast._arguments.checks import check_choice, check_text, number_dtype
from onehot_fast._arguments.messages import listed
from onehot_fast._categories.keys import is_missing, name_key, name_keys, plain
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema.column_choice import repeated_name
from onehot_fast._schema.option_checks import (
    DropValue,
    check_drop,
    check_max_categories,
    check_min_frequency,
    check_prefix,
    check_sep,
    declared_categories,
)

Drop: TypeAlias = Literal["first", "last", "if_binary", "most_frequent"]
HandleMissing: TypeAlias = Literal["ignore", "indicator", "error", "propagate"]
HandleUnknown: TypeAlias = Literal["error", "ignore", "warn", "indicator", "infrequent"]
Remainder: TypeAlias = Literal["passthrough", "drop"]
# What an option decides: which categories exist (then a change needs a new `fit`), which features
# they have, the dtype or the names of the features, or what happens to all other columns. The first
# four are for one column: such an option can be a mapping from columns to values.
Subject: TypeAlias = Literal["categories", "features", "dtype", "names", "remainder"]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


@dataclass(frozen=True)
class OptionSpec:
    """An option of `Encoder`."""

    name: str
    decides: Subject
    default: Any  # as a caller passes it
    summary: str  # for the help of the command, the parameters of Spark and the reference
    check: Callable[..., Any] = check_choice  # of a value and its place, and of the rules if any
    rules: tuple[str, ...] = ()  # the strings that the option accepts
    value_types: tuple[type, ...] = (str,)  # of a value that a person types
    is_threshold: bool = False  # whether the option compares the frequencies of the categories
    counting_rules: tuple[str, ...] = ()  # the rules that compare them
    removes_features: bool = False  # whether a column can lose all its features

    def checked(self, value: Any, where: str) -> Any:
        """Return the value of the option in the form of `ColumnOptions`, or raise an error."""
        return self.check(value, where, self.rules) if self.rules else self.check(value, where)

    @property
    def is_per_column(self) -> bool:
        """Whether the option can be a mapping from columns to values."""
        return self.decides != "remainder"

    def needs_frequencies(self, value: Any) -> bool:
        """Tell whether this value of the option needs the frequencies of the categories."""
        is_rule = isinstance(value, str) and value in self.counting_rules
        return is_rule or (self.is_threshold and value is not None)

    @property
    def shown_default(self) -> str:
        """The default as text, e.g. "bool"."""
        return getattr(self.default, "__name__", str(self.default))

    def instead_of_error(self, *others: str) -> str:
        """Return what to pass instead of "error", e.g. "handle_missing='ignore' (or ...)".

        Do not name the rules in `others`.
        """
        left = [rule for rule in self.rules if rule not in ("error", "ignore", *others)]
        return f"{self.name}='ignore' (or {listed(left)})"


OPTIONS: dict[str, OptionSpec] = {
    each.name: each
    for each in (
        OptionSpec(
            "categories",
            "categories",
            "auto",
            "The categories in order; by default those of the type, or those that occur",
            check=declared_categories,
        ),
        OptionSpec(
            "sep",
            "categories",
            None,
            "The separator of the labels in a text, each of which sets a feature of its own",
            check=check_sep,
        ),
        OptionSpec(
            "drop",
            "features",
            None,
            "The feature to drop",
            check=check_drop,
            rules=get_args(Drop),
            counting_rules=("most_frequent",),
            removes_features=True,
        ),
        OptionSpec(
            "handle_missing",
            "features",
            "ignore",
            "How to handle missing values",
            rules=get_args(HandleMissing),
        ),
        OptionSpec(
            "handle_unknown",
            "features",
            "error",
            "How to handle unknown categories",
            rules=get_args(HandleUnknown),
        ),
        OptionSpec(
            "min_frequency",
            "features",
            None,
            "Rarer categories share one feature; a number of rows (10) or a share of them (0.01)",
            check=check_min_frequency,
            value_types=(int, float),
            is_threshold=True,
            removes_features=True,
        ),
        OptionSpec(
            "max_categories",
            "features",
            None,
            "The maximum number of features of a column; the rarest categories share one",
            check=check_max_categories,
            value_types=(int,),
            is_threshold=True,
            removes_features=True,
        ),
        OptionSpec(
            "dtype",
            "dtype",
            bool,
            "The type of the features, e.g. uint8 or float32",
            check=number_dtype,
        ),
        OptionSpec(
            "prefix",
            "names",
            None,
            "The prefix of the names of features; by default the name of the column",
            check=check_prefix,
        ),
        OptionSpec(
            "prefix_sep",
            "names",
            "_",
            "The separator of prefix and category",
            check=check_text,
        ),
        OptionSpec(
            "remainder",
            "remainder",
            "passthrough",
            "Whether the result includes the columns that are not encoded",
            rules=get_args(Remainder),
        ),
    )
}


def option_names(subjects: Iterable[Subject] = SUBJECTS) -> tuple[str, ...]:
    """Return the options that decide one of these subjects, in the order of the table."""
    subjects = [*subjects]
    return tuple(name for name, each in OPTIONS.items() if each.decides in subjects)


# The default of each option in the form of `ColumnOptions`.
DEFAULTS: dict[str, Any] = {
    name: each.checked(each.default, name) for name, each in OPTIONS.items()
}


class ColumnKeywords(TypedDict, total=False):
    """The options, except `categories`, that determine the features of one column."""

    drop: Any  # a rule, or a category of any type
    handle_missing: HandleMissing
    handle_unknown: HandleUnknown
    min_frequency: float | None
    max_categories: int | None


class DeclaredKeywords(TypedDict, total=False):
    """The options of one column with declared categories that need no rows."""

    drop: Any  # a rule or a category
    handle_missing: HandleMissing
    handle_unknown: HandleUnknown
    dtype: Any
    prefix: str | None
    prefix_sep: str


class TableKeywords(TypedDict, total=False):
    """The options of an `Encoder` for a table; most can be a mapping from columns to values."""

    categories: Any
    sep: str | Mapping[Any, str | None] | None
    drop: Drop | Mapping[Any, Any] | None
    handle_missing: HandleMissing | Mapping[Any, HandleMissing]
    handle_unknown: HandleUnknown | Mapping[Any, HandleUnknown]
    min_frequency: float | Mapping[Any, float | None] | None
    max_categories: int | Mapping[Any, int | None] | None
    dtype: Any
    prefix: str | Mapping[Any, str | None] | None
    prefix_sep: str | Mapping[Any, str]
    remainder: Remainder


@dataclass(frozen=True)
class ColumnOptions:
    """The checked options of one column."""

    categories: tuple[Any, ...] | None  # None: the categories seen in fit
    sep: str | None  # the separator of the labels in a text; None: a text is one category
    drop: str | DropValue | None
    handle_missing: str
    handle_unknown: str
    min_frequency: int | float | None
    max_categories: int | None
    dtype: np.dtype[Any]
    prefix: str | None  # None: the name of the column
    prefix_sep: str

    @classmethod
    def with_defaults(cls, **chosen: Any) -> ColumnOptions:
        """Return some options, which are checked, and the defaults of all others."""
        return cls(**{**{name: DEFAULTS[name] for name in OF_A_COLUMN}, **chosen})


# The options of one column: all but `remainder`.
OF_A_COLUMN = tuple(name for name, each in OPTIONS.items() if each.is_per_column)


@dataclass(frozen=True, eq=False)
class Options:
    """The checked options by name. Each is one value, or a dict from columns to values."""

    values: dict[str, Any]

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        """The options, in which the `name_key` of each column replaces its name."""
        return {
            option: dict(zip(name_keys(value), value.values(), strict=True))
            if isinstance(value, dict)
            else value
            for option, value in self.values.items()
        }

    def __eq__(self, other: object) -> bool:
        """Tell whether two encoders have equal options."""
        return isinstance(other, Options) and self._by_key == other._by_key

    def of(self, name: Hashable) -> ColumnOptions:
        """Return the options of a column; raise an error if they contradict each other."""
        key, by_key = name_key(name), self._by_key
        chosen = {}
        for option in OF_A_COLUMN:
            value = by_key[option]
            is_mapping = isinstance(value, dict)
            chosen[option] = value.get(key, DEFAULTS[option]) if is_mapping else value
        options = ColumnOptions(**chosen)
        if options.handle_missing == "propagate" and not holds_nan(options.dtype):
            raise ValueError(
                f"column {name!r}: dtype must be a float type with handle_missing='propagate', got"
                f" {options.dtype}; pass dtype='float32'"
            )
        return options

    def names_column(self, option: str, name: Hashable) -> bool:
        """Tell whether a mapping gives the option a value for this column alone."""
        value = self._by_key[option]
        return isinstance(value, dict) and value.get(name_key(name)) is not None

    def keys_with(self, option: str) -> set[Hashable]:
        """Return the keys of the columns that a mapping gives a value of the option."""
        value = self._by_key[option]
        return {key for key, one in value.items() if one} if isinstance(value, dict) else set()

    def of_labels(self, name: Hashable) -> ColumnOptions:
        """Return the options of a column with several labels in a row; one `drop` skips it."""
        if self.names_column("drop", name):
            raise ValueError(
                f"drop must not name the column {name!r}, whose rows have several labels: a row of"
                " zeros has no label, so no category can be the reference; remove"
                f" {name!r} from drop"
            )
        return replace(self.of(name), drop=None)

    def chosen(self) -> Iterator[tuple[str, Any]]:
        """Yield the name and the value of each option that differs from its default."""
        for option, value in self.values.items():
            if value != DEFAULTS[option]:
                yield option, value

    def identity(self) -> Iterator[Hashable]:
        """Yield the chosen options as hashable objects, which differ if only types differ."""
        for name, value in self.chosen():
            yield name
            per_column = value if isinstance(value, Mapping) else {None: value}
            yield frozenset((name_key(c), type(plain(c)), _typed(v)) for c, v in per_column.items())


def _typed(value: Any) -> Hashable:
    """Return the type and the value of an option."""
    if isinstance(value, DropValue):
        return _typed((value.value,))
    if isinstance(value, tuple):
        return tuple(map(_typed, value))
    # NaN does not equal itself, and a signaling NaN cannot be hashed.
    return type(value), None if is_missing(value) else value


def resolve(passed: Mapping[str, Any]) -> Options:
    """Return the checked options; each is one value or a mapping from columns to values."""
    values: dict[str, Any] = {}
    for option, spec in OPTIONS.items():
        value = passed[option]
        if isinstance(value, Mapping) and spec.is_per_column:
            per_column = {
                name: spec.checked(one, f"{option}[{name!r}]") for name, one in value.items()
            }
            twice = repeated_name(list(per_column))
            if twice is not None:
                raise ValueError(f"{option} must name each column once, got {twice.name!r} twice")
            values[option] = per_column or DEFAULTS[option]
        else:
            values[option] = spec.checked(value, option)
    return Options(values)


def holds_nan(dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype can represent NaN."""
    if dtype.kind in "fc":
        return True
    return dtype.isbuiltin == 2 and bool(np.isnan(np.array(np.nan).astype(dtype)))
