"""Check the options of an encoder and resolve them for each column."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, get_args

import numpy as np

from onehot_fast._arguments.arraylikes import as_scalar, is_container, items_of
from onehot_fast._arguments.checks import check_choice, check_text, number_dtype
from onehot_fast._arguments.messages import did_you_mean, shown, with_article
from onehot_fast._categories.distinct import check_distinct
from onehot_fast._categories.keys import is_missing, name_key, name_keys, plain
from onehot_fast._runtime.registry import integration, reader_of
from onehot_fast._runtime.utils import cached_property
from onehot_fast.table import Table

Drop: TypeAlias = Literal["first", "last", "if_binary", "most_frequent"]
HandleMissing: TypeAlias = Literal["ignore", "indicator", "error", "propagate"]
HandleUnknown: TypeAlias = Literal["error", "ignore", "warn", "indicator", "infrequent"]
DROP_RULES: tuple[Drop, ...] = get_args(Drop)
MISSING_RULES: tuple[HandleMissing, ...] = get_args(HandleMissing)
REMAINDERS = ("passthrough", "drop")
UNKNOWN_RULES: tuple[HandleUnknown, ...] = get_args(HandleUnknown)


@dataclass(frozen=True)
class DropValue:
    """A category to drop. A rule, such as "first", is stored as a str instead."""

    value: Any


@dataclass(frozen=True)
class ColumnOptions:
    """The options of one column."""

    categories: tuple[Any, ...] | None = None  # None: the categories seen in fit
    drop: str | DropValue | None = None
    handle_missing: str = "ignore"
    handle_unknown: str = "error"
    min_frequency: int | float | None = None
    max_categories: int | None = None
    dtype: np.dtype[Any] = dataclasses.field(default_factory=lambda: np.dtype(np.bool_))
    prefix: str | None = None  # None: the name of the column
    prefix_sep: str = "_"


# The default of each option, by its name.
DEFAULTS: dict[str, Any] = {**vars(ColumnOptions()), "remainder": "passthrough"}


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
        key = name_key(name)
        chosen = {
            option: value.get(key, DEFAULTS[option]) if isinstance(value, dict) else value
            for option, value in self._by_key.items()
            if option != "remainder"
        }
        options = ColumnOptions(**chosen)
        if options.handle_missing == "propagate" and not holds_nan(options.dtype):
            raise ValueError(
                f"column {name!r}: dtype must be a float type with handle_missing='propagate', got"
                f" {options.dtype}; pass dtype='float32'"
            )
        return options

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


class ColumnKeywords(TypedDict, total=False):
    """The options, except `categories`, that determine the features of one column."""

    drop: Any  # a rule, or a category of any type
    handle_missing: HandleMissing
    handle_unknown: HandleUnknown
    min_frequency: float | None
    max_categories: int | None


def resolve(passed: Mapping[str, Any]) -> Options:
    """Return the checked options; each is one value or a mapping from columns to values."""
    values: dict[str, Any] = {}
    for option, check in CHECKS.items():
        value = passed[option]
        if isinstance(value, Mapping) and option != "remainder":
            per_column = {name: check(one, f"{option}[{name!r}]") for name, one in value.items()}
            twice = _repeated(list(per_column))
            if twice is not None:
                raise ValueError(f"{option} must name each column once, got {twice.name!r} twice")
            values[option] = per_column or DEFAULTS[option]
        else:
            values[option] = check(value, option)
    return Options(values)


def column_names(columns: Any) -> tuple[Hashable, ...] | None:
    """Return the names of the columns to encode, or None if they depend on the table."""
    if columns is None or callable(columns) or is_selector(columns):
        return None
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        hash(columns)  # raises TypeError for unhashable names
        return (columns,)
    if hasattr(columns, "columns"):
        raise TypeError(
            f"columns must be column names, got {with_article(columns)}; pass the table to fit()"
        )
    names = tuple(columns)
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TypeError(
                f"columns must be column names, got {with_article(name)}: {shown(name)}; pass"
                " one list of names, e.g. columns=['size', 'color']"
            ) from None
    twice = _repeated(names)
    if twice is not None:
        raise ValueError(f"columns must have different names, got {twice.name!r} twice")
    return names


class _Repeated(NamedTuple):
    """A name of a column that was passed twice; it may be None."""

    name: Hashable


def _repeated(names: Sequence[Hashable]) -> _Repeated | None:
    """Return the first name that equals an earlier one, or None if all names differ."""
    keys = name_keys(names)
    if len(set(keys)) == len(keys):
        return None
    seen: set[Hashable] = set()
    for name, key in zip(names, keys, strict=True):
        if key in seen:
            return _Repeated(name)
        seen.add(key)
    return None


def is_selector(columns: Any) -> bool:
    """Tell whether `columns` is a polars selector or another polars expression."""
    return hasattr(columns, "meta") and reader_of(columns) == "polars"


def chosen_names(columns: Any, table: Table) -> tuple[Hashable, ...] | None:
    """Return the names of the columns to encode, or None for the default columns."""
    if columns is None:
        return None
    if is_selector(columns):
        if table.library != "polars":
            raise TypeError(
                f"columns={columns!r} requires a polars DataFrame, got a {table.library} table"
            )
        return column_names(integration("polars").selected_names(table.source, columns))
    names = columns(table.source) if callable(columns) else columns
    if callable(names) or names is None:
        raise TypeError(f"columns={columns!r} must return column names, got {names!r}")
    return column_names(names)


def declared_categories(value: Any, where: str) -> tuple[Any, ...] | None:
    """Return the declared categories in their order, or None for "auto"."""
    # A dtype or a Column declares its categories. Of an array, a Series or an Index, also a
    # categorical one, the values are the categories, so that all containers mean the same.
    value = value if isinstance(value, Iterable) else getattr(value, "categories", value)
    if isinstance(value, str):
        check_choice(value, where, ("auto",))
        return None
    # The order of a set differs between processes.
    is_text = isinstance(value, bytes)
    if is_text or not is_container(value) or isinstance(value, set | frozenset | Mapping):
        hint = "; call fit first" if hasattr(value, "fit") else ""
        raise TypeError(
            f"{where} must be 'auto' or a sequence of categories, got {with_article(value)}:"
            f" {value!r}{hint}"
        )
    items = tuple(map(plain, items_of(value, where)))
    check_distinct(
        items,
        where,
        "to get a feature for missing values, use handle_missing='indicator'",
    )
    return items


def _drop(value: Any, where: str) -> str | DropValue | None:
    """Return a rule, such as "first", or the `DropValue` of a category, such as ``["first"]``."""
    if value is None or (isinstance(value, str) and value in DROP_RULES):
        return value
    is_list = isinstance(value, list | tuple) and len(value)
    if where != "drop":
        only = value[0] if type(value) is list and len(value) == 1 else value
        return DropValue(plain(as_scalar(only, where)))
    rules = ", ".join(map(repr, DROP_RULES))
    if isinstance(value, bool):  # as for drop_first= of pandas
        meant = "first" if value else None
        raise TypeError(f"drop must be one of {rules}, got {value}; did you mean drop={meant!r}?")
    hint = did_you_mean(value, DROP_RULES)
    raise (ValueError if isinstance(value, str) else TypeError)(
        f"drop must be one of {rules}, got {shown(value)};{hint} use"
        f" drop={{'column': {shown(value[0] if is_list else value)}}} to drop one category"
    )


def _min_frequency(value: Any, where: str) -> int | float | None:
    """Return a number of rows (an int), a share of the rows (a float) or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        kind = with_article(value)
        raise TypeError(f"{where} must be an int, a float or None, got {kind}: {value!r}")
    number = plain(value)
    if isinstance(number, int) and number >= 1:
        return number
    if not isinstance(number, int) and 0 < number < 1:
        return float(number)
    raise ValueError(f"{where} must be an int >= 1 or a float in (0, 1), got {value!r}")


def _max_categories(value: Any, where: str) -> int | None:
    """Return the maximum number of features for categories, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{where} must be an int or None, got {with_article(value)}: {value!r}")
    if value < 1:
        raise ValueError(f"{where} must be at least 1, got {value}")
    return int(value)


def _prefix(value: Any, where: str) -> str | None:
    """Return the checked prefix; None stands for the name of the column."""
    if isinstance(value, list | tuple):
        raise TypeError(
            f"{where} must be a str or a mapping from columns to prefixes (prefix={{'size': 's'}}),"
            f" got {with_article(value)}: {value!r}"
        )
    return None if value is None else check_text(value, where)


def holds_nan(dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype can represent NaN."""
    if dtype.kind in "fc":
        return True
    return dtype.isbuiltin == 2 and bool(np.isnan(np.array(np.nan).astype(dtype)))


CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "categories": declared_categories,
    "drop": _drop,
    "handle_missing": partial(check_choice, choices=MISSING_RULES),
    "handle_unknown": partial(check_choice, choices=UNKNOWN_RULES),
    "min_frequency": _min_frequency,
    "max_categories": _max_categories,
    "dtype": number_dtype,
    "prefix": _prefix,
    "prefix_sep": check_text,
    "remainder": partial(check_choice, choices=REMAINDERS),
}
