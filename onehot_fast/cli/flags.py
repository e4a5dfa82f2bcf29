"""The options of `Encoder` as options of the command, e.g. ``--max-categories``.

Names, defaults, rules, types and descriptions come from the table of options of `Encoder`. This
module adds what only the command has.
"""

from __future__ import annotations

from typing import NamedTuple

from onehot_fast.adapter import OPTIONS, option_names


class Help(NamedTuple):
    """How the help of the command describes the value of an option."""

    metavar: str
    text: str


# The options of `Encoder` that the command has: it learns the categories or loads them, and keeps
# all other columns.
FLAGS = tuple(name for name in option_names() if name not in ("categories", "remainder"))
# The options that compare the frequencies of categories.
THRESHOLDS = [name for name in FLAGS if OPTIONS[name].is_threshold]
# What an option accepts beside its rules.
OTHER_VALUES = {"drop": "COLUMN=CATEGORY"}
# What an error advises to type.
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
    """Tell whether the value of an option is a number."""
    return option in OPTIONS and str not in OPTIONS[option].value_types


def help_of(name: str) -> Help:
    """Return the help of an option: its description, its rules, and its default."""
    option = OPTIONS[name]
    if option.rules:
        rules = [f"{rule} (default)" if rule == option.default else rule for rule in option.rules]
        rules += [OTHER_VALUES[name]] if name in OTHER_VALUES else []
        return Help("RULE", f"{option.summary}: {', '.join(rules[:-1])} or {rules[-1]}.")
    metavar = "N" if is_number(name) else "DTYPE" if option.decides == "dtype" else "TEXT"
    default = "" if option.default is None else f"; default: {option.shown_default}"
    return Help(metavar, f"{option.summary}{default}.")
