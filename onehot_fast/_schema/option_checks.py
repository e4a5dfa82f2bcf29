"""The checks of the values of options, each for the value of one column or of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onehot_fast._arguments.arraylikes import as_scalar, is_container, items_of
from onehot_fast._arguments.checks import check_choice, check_text
from onehot_fast._arguments.messages import did_you_mean, listed, shown, with_article
from onehot_fast._categories.distinct import UNIQUE_HINT, check_distinct
from onehot_fast._categories.keys import plain


@dataclass(frozen=True)
class DropValue:
    """A category to drop. A rule, such as "first", is stored as a str instead."""

    value: Any


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
        f"{UNIQUE_HINT}; to get a feature for missing values, use handle_missing='indicator'",
    )
    return items


def check_drop(value: Any, where: str, rules: tuple[str, ...]) -> str | DropValue | None:
    """Return a rule, such as "first", or the `DropValue` of a category, such as ``["first"]``."""
    if value is None or (isinstance(value, str) and value in rules):
        return value
    is_list = isinstance(value, list | tuple) and len(value)
    if where != "drop":
        only = value[0] if type(value) is list and len(value) == 1 else value
        return DropValue(plain(as_scalar(only, where)))
    if isinstance(value, bool):  # as for drop_first= of pandas
        meant = "first" if value else None
        raise TypeError(
            f"drop must be one of {listed(rules)}, got {value}; did you mean drop={meant!r}?"
        )
    hint = did_you_mean(value, rules)
    raise (ValueError if isinstance(value, str) else TypeError)(
        f"drop must be one of {listed(rules)}, got {shown(value)};{hint} use"
        f" drop={{'column': {shown(value[0] if is_list else value)}}} to drop one category"
    )


def check_sep(value: Any, where: str) -> str | None:
    """Return the separator of the labels in a text, or None if a text is one category."""
    if value is None:
        return None
    if not check_text(value, where):
        raise ValueError(f"{where} must not be empty; pass None if a text is one category")
    return str(value)


def check_min_frequency(value: Any, where: str) -> int | float | None:
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


def check_max_categories(value: Any, where: str) -> int | None:
    """Return the maximum number of features for categories, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{where} must be an int or None, got {with_article(value)}: {value!r}")
    if value < 1:
        raise ValueError(f"{where} must be at least 1, got {value}")
    return int(value)


def check_prefix(value: Any, where: str) -> str | None:
    """Return the checked prefix; None stands for the name of the column."""
    if isinstance(value, list | tuple):
        raise TypeError(
            f"{where} must be a str or a mapping from columns to prefixes (prefix={{'size': 's'}}),"
            f" got {with_article(value)}: {value!r}"
        )
    return None if value is None else check_text(value, where)
