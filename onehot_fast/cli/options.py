"""The options that several commands share, and what they become."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from onehot_fast.cli.conversion import Output
from onehot_fast.cli.csv_reader import TextOptions
from onehot_fast.cli.errors import CommandError, Exit, one_line
from onehot_fast.cli.formats import FORMATS, Format, parse_format
from onehot_fast.cli.sources import Input
from onehot_fast.encoder import Encoder

__all__ = [
    "LAYOUTS",
    "column_option",
    "new_encoder",
    "with_encoder_options",
    "with_input",
    "with_output",
]

F = TypeVar("F", bound=Callable[..., Any])

LAYOUTS = click.Choice(["columns", "struct", "array", "tensor", "dictionary"])
COMPRESSIONS = click.Choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])

# What the encoder is told: the option, what it takes, and what it means.
ENCODER_OPTIONS = (
    ("drop", "RULE", "first, last, if_binary or most_frequent has no feature; or COLUMN=CATEGORY."),
    ("handle_unknown", "RULE", "error (the default), ignore, indicator or infrequent."),
    ("handle_missing", "RULE", "ignore (the default), indicator, error or propagate."),
    ("min_frequency", "N", "Rarer categories share a column; rows, or a share of them as 0.01."),
    ("max_categories", "N", "The most columns of one column; the rarest categories share one."),
    ("dtype", "DTYPE", "Of the features, as uint8 or float32; default: bool."),
    ("prefix", "TEXT", "Of the names of the features; default: the name of the column."),
    ("prefix_sep", "TEXT", "Between prefix and category; default: _"),
)

column_option = click.option(
    "-c", "--column", "columns", multiple=True, help="To encode, any number; default: all texts."
)


def _format(context: click.Context, parameter: click.Parameter, text: str | None) -> Format | None:
    """Return the format of that name."""
    found = None if text is None else parse_format(text)
    if text is not None and found is None:
        raise click.BadParameter(f"{text!r} is none; accepted are {FORMATS}")
    return found


INPUT = (
    click.argument("source", metavar="IN"),
    click.option("--input-format", callback=_format, help="Default: by the name, or the content."),
    click.option("--delimiter", help="Between the fields of a CSV file."),
    click.option(
        "--null", "nulls", multiple=True, help="A text that means a missing value in CSV."
    ),
    click.option("--text", is_flag=True, help="Take all columns of a CSV file for texts."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
)
OUTPUT = (
    click.option("-o", "--output", required=True, help="A file, a folder, or - (standard output)."),
    click.option(
        "--output-format", callback=_format, help="Default: by the name, or as the input."
    ),
    click.option(
        "--compression", type=COMPRESSIONS, help="Of Parquet, Arrow; default: the input's."
    ),
    click.option(
        "--row-group-size",
        type=click.IntRange(min=1),
        help="Rows in a group of Parquet; default: the input's.",
    ),
)


def with_input(command: F) -> F:
    """Give a command an `Input` as `given`, and `quiet`."""

    @functools.wraps(command)
    def call(
        source: str,
        input_format: Format | None,
        delimiter: str | None,
        nulls: Sequence[str],
        text: bool,
        **others: Any,
    ) -> Any:
        if delimiter is not None and len(delimiter.encode()) != 1:
            raise click.BadParameter("a delimiter is one byte", param_hint="--delimiter")
        options = TextOptions(delimiter, tuple(nulls) or None, text)
        return command(given=Input(source, input_format, options), **others)

    return cast(F, _with(INPUT, call))


def with_output(command: F) -> F:
    """Give a command an `Output` as `output`, in place of `quiet`."""

    @functools.wraps(command)
    def call(
        output: str,
        output_format: Format | None,
        compression: str | None,
        row_group_size: int | None,
        quiet: bool,
        **others: Any,
    ) -> Any:
        made = Output(output, output_format, compression, row_group_size, quiet)
        return command(output=made, **others)

    return cast(F, _with(OUTPUT, call))


def with_encoder_options(command: F) -> F:
    """Give a command the options of an encoder, as they were typed, as `typed`."""
    names = [name for name, _, _ in ENCODER_OPTIONS]

    @functools.wraps(command)
    def call(**others: Any) -> Any:
        typed = {name: others.pop(name) for name in names}
        return command(typed=typed, **others)

    options = [
        click.option(
            f"--{name.replace('_', '-')}",
            name,
            multiple=True,
            metavar=f"[COLUMN=]{metavar}",
            help=text,
        )
        for name, metavar, text in ENCODER_OPTIONS
    ]
    return cast(F, _with(options, call))


def _with(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """Add options to a command, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def new_encoder(columns: Sequence[str], typed: dict[str, Sequence[str]]) -> Encoder:
    """Return the encoder of some columns.

    Parameters
    ----------
    columns : sequence of str
        Those to encode.
    typed : dict of str to sequence of str
        For each option of `Encoder` what was typed: ``VALUE`` or ``COLUMN=VALUE``, the last counts.

    Raises
    ------
    CommandError
        An option does not take the value.
    """
    options = {
        name: _resolved(columns, texts, PARSERS.get(name, str), name)
        for name, texts in typed.items()
        if texts
    }
    try:
        return Encoder(columns, **options)
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.USAGE, one_line(error)) from error


def _resolved(
    columns: Sequence[str], texts: Sequence[str], parse: Callable[[str], Any], option: str
) -> Any:
    """Return one value for all columns, or one for each that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        column, value = _split(columns, text)
        try:
            parsed = parse(value)
        except ValueError:
            name = f"--{option.replace('_', '-')}"
            raise CommandError(Exit.USAGE, f"{name} does not take {value!r}") from None
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _split(columns: Sequence[str], text: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; the name itself may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    return None, text


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}
