"""Write the table of the options of `Encoder` for the reference, from the table in the package.

Each build of the documentation does this: ``docs/conf.py`` calls `write`, and
``docs/reference/encoder.md`` includes the result.
"""

from __future__ import annotations

from pathlib import Path

from onehot_fast._schema.options import OPTIONS, OptionSpec
from onehot_fast.cli.flags import FLAGS, flag

PAGE = Path(__file__).parent / "auto_options" / "index.md"
HEADER = (
    "| option | what it is | rules | default | may differ by column | needs a new `fit` | command |"
)


def row(option: OptionSpec) -> str:
    """Return an option as a row of the table."""
    default = option.shown_default if isinstance(option.default, type) else repr(option.default)
    cells = [
        f"`{option.name}`",
        f"{option.summary}.",
        ", ".join(f'`"{rule}"`' for rule in option.rules),
        f"`{default}`".replace("'", '"'),
        "yes" if option.is_per_column else "no",
        "yes" if option.decides == "categories" else "no",
        f"`{flag(option.name)}`" if option.name in FLAGS else "",
    ]
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """Return the table in Markdown."""
    ruler = "|---" * (HEADER.count("|") - 1) + "|"
    return "\n".join([HEADER, ruler, *map(row, OPTIONS.values())]) + "\n"


def write() -> None:
    """Write the table to its page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(table(), encoding="utf-8")
