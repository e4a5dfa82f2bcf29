"""The options that several commands share, and what they become."""

from __future__ import annotations

import codecs
import functools
import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar, cast

import click

from onehot_fast.cli.csv_reader import TextOptions
from onehot_fast.cli.errors import CommandError
from onehot_fast.cli.formats import FORMATS, Format, parse_format
from onehot_fast.cli.output import Output
from onehot_fast.cli.sources import Input, open_source

__all__ = [
    "LAYOUTS",
    "add_options",
    "column_option",
    "with_input",
    "with_output",
]

F = TypeVar("F", bound=Callable[..., Any])

LAYOUTS = ["columns", "struct", "array", "tensor", "dictionary"]
COMPRESSIONS = click.Choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])


def _columns(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the columns of the input that begin with what is typed, for a shell."""
    # click knows no argument while an option lacks its own.
    with ExitStack() as resources, suppress(CommandError, ValueError):
        words = shlex.split(os.environ.get("COMP_WORDS", ""))[2:]
        path = next((word for word in words if os.path.exists(word)), None)
        names = [] if path is None else open_source(Input(path), resources).schema.names
        return [name for name in names if name.startswith(start)]
    return []


def column_option(command: F) -> F:
    """Give a command the option -c, whose values it gets as ``columns``."""
    return click.option(
        "-c",
        "--column",
        "columns",
        multiple=True,
        shell_complete=_columns,
        help="A column to encode, any number of times (or A,B); default: all columns of texts.",
    )(command)


def _format(context: click.Context, parameter: click.Parameter, text: str | None) -> Format | None:
    """Return the format of that name."""
    found = None if text is None else parse_format(text)
    if text is not None and found is None:
        raise click.BadParameter(f"{text!r} is none; accepted are {FORMATS}")
    return found


def _delimiter(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Return what stands between two fields."""
    delimiter = {r"\t": "\t", "tab": "\t"}.get(text or "", text)
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise click.BadParameter(f"{text!r} is not one byte; a tab is '\\t'")
    return delimiter


def _encoding(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """Return the name of an encoding."""
    try:
        name = codecs.lookup(text).name
        "".encode(name)
    except LookupError:
        raise click.BadParameter(
            f"{text!r} is not a text encoding that Python knows, such as utf-8, cp1252 or latin-1"
        ) from None
    return "utf8" if name in ("utf-8", "utf-8-sig") else name


INPUT = (
    click.argument("source", metavar="IN", type=click.Path()),
    click.option("--input-format", callback=_format, help="Default: by the name, or the content."),
    click.option(
        "--delimiter",
        callback=_delimiter,
        help="Between the fields of CSV, read or written; default: a comma, in TSV a tab.",
    ),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        callback=_encoding,
        help="Of a CSV file that is read, as cp1252 or utf-16; UTF-8 is written.",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=".",
        show_default=True,
        help="What stands before the fraction of a number of a CSV file that is read.",
    ),
    click.option(
        "--null", "nulls", multiple=True, help="A text that means a missing value in CSV."
    ),
    click.option("--text", is_flag=True, help="Take all columns of a CSV file for texts."),
    click.option(
        "--text-column",
        "text_columns",
        metavar="COLUMN",
        multiple=True,
        help="Take a column of a CSV file for text; any number. Columns with leading zeros, as"
        " 007, are text without it.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notes."),
)
OUTPUT = (
    click.option(
        "-o",
        "--output",
        required=True,
        type=click.Path(),
        help="A file, a folder, or - (standard output).",
    ),
    click.option(
        "--overwrite",
        is_flag=True,
        help="Replace what is there: a file, or a folder of data files. Never the input.",
    ),
    click.option(
        "--output-format",
        callback=_format,
        help="Default: by the name, or in a folder and on standard output as the input.",
    ),
    click.option(
        "--compression", type=COMPRESSIONS, help="Of Parquet, Arrow; default: the input's."
    ),
    click.option(
        "--row-group-size",
        type=click.IntRange(min=1),
        help="Rows in a group of Parquet; default: the input's.",
    ),
    click.option(
        "--rows-per-file",
        type=click.IntRange(min=1),
        help="Write a folder of files with so many rows, named part-000000 and so on.",
    ),
    click.option(
        "--partition-by",
        metavar="COLUMN",
        shell_complete=_columns,
        multiple=True,
        help="Write a folder COLUMN=VALUE for each value, which is not in the files; any number.",
    ),
)


def with_input(command: F) -> F:
    """Give a command an `Input` as `spec`, and `quiet`."""

    @functools.wraps(command)
    def call(
        source: str,
        input_format: Format | None,
        delimiter: str | None,
        encoding: str,
        decimal: str,
        nulls: Sequence[str],
        text: bool,
        text_columns: Sequence[str],
        **others: Any,
    ) -> Any:
        missing = tuple(nulls) or None
        options = TextOptions(delimiter, missing, text, tuple(text_columns), encoding, decimal)
        return command(spec=Input(source, input_format, options), **others)

    return cast(F, add_options(INPUT, call))


def with_output(command: F) -> F:
    """Give a command an `Output` as `output`, in place of `quiet`."""

    @functools.wraps(command)
    def call(
        output: str,
        overwrite: bool,
        output_format: Format | None,
        compression: str | None,
        row_group_size: int | None,
        rows_per_file: int | None,
        partition_by: Sequence[str],
        quiet: bool,
        **others: Any,
    ) -> Any:
        made = Output(
            path=output,
            wanted=output_format,
            compression=compression,
            group_rows=row_group_size,
            file_rows=rows_per_file,
            partition_by=tuple(dict.fromkeys(partition_by)),
            is_quiet=quiet,
            may_replace=overwrite,
        )
        return command(output=made, **others)

    return cast(F, add_options(OUTPUT, call))


def add_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """Add options to a command, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
