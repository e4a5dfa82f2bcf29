"""The options of `Encoder` as options of the command, e.g. ``--max-categories``.

Names, defaults, rules and types come from the table of options of `Encoder`. This module adds what
only the command has: the name of a value in the help, the help, and what to type instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args, get_type_hints

from onehot_fast.adapter import options


class Help(NamedTuple):
    """How the help of the command describes the value of an option."""

    metavar: str
    text: str


# Options of `Encoder` that the command does not have: it learns the categories or loads them, and
# keeps all other columns.
WITHOUT_FLAG = ("categories", "remainder")
# The options of `Encoder` that the command has.
OPTIONS = [name for name in options.DEFAULTS if name not in WITHOUT_FLAG]
# The rules of each option that has any.
RULES: dict[str, Sequence[str]] = {
    "drop": options.DROP_RULES,
    "handle_missing": options.MISSING_RULES,
    "handle_unknown": options.UNKNOWN_RULES,
}
# The separator of labels is an option of the command alone.
SEP = "sep"
HINTS = {
    "drop": "; type a category as COLUMN=CATEGORY",
    "dtype": ", e.g. bool, uint8 or float32",
    "min_frequency": "; type a number of rows, e.g. 10, or a fraction of them, e.g. 0.01",
    "max_categories": "; type an integer, e.g. 10",
}


def flag(name: str) -> str:
    """Return an option of `Encoder` as an option of the command, e.g. ``--max-categories``."""
    return f"--{name.replace('_', '-')}"


def is_number(option: str) -> bool:
    """Tell whether the value of an option of `Encoder` is a number."""
    kinds = get_args(get_type_hints(options.ColumnOptions).get(option))
    return int in kinds or float in kinds


def _rules(option: str, *others: str) -> str:
    """Return the rules of an option, with its default marked, and other values that it has."""
    default = options.DEFAULTS[option]
    named = [f"{rule} (default)" if rule == default else rule for rule in RULES[option]]
    *first, last = *named, *others
    return f"{', '.join(first)} or {last}"


HELP = {
    "drop": Help("RULE", f"The feature to drop: {_rules('drop', 'COLUMN=CATEGORY')}."),
    "handle_missing": Help("RULE", f"How to handle nulls: {_rules('handle_missing')}."),
    "handle_unknown": Help(
        "RULE", f"How to handle unknown categories: {_rules('handle_unknown')}."
    ),
    "min_frequency": Help(
        "N",
        "Rarer categories share one feature; a number of rows (10) or a fraction of them (0.01).",
    ),
    "max_categories": Help(
        "N", "The maximum number of features of a column; the rarest categories share one."
    ),
    "dtype": Help(
        "DTYPE",
        "The type of the features, e.g. uint8 or float32; default:"
        f" {options.DEFAULTS['dtype'].name}.",
    ),
    "prefix": Help("TEXT", "The prefix of the names of features; default: the name of the column."),
    "prefix_sep": Help(
        "TEXT", f"The separator of prefix and category; default: {options.DEFAULTS['prefix_sep']}"
    ),
    SEP: Help(
        "TEXT",
        "The separator of the labels in a string; each label becomes a feature. Lists need no"
        " separator.",
    ),
}


def help_of(name: str) -> Help:
    """Return the help of an option; that of a new option of `Encoder` names its documentation."""
    return HELP.get(name) or Help("VALUE", f"The option {name} of onehot_fast.Encoder.")
