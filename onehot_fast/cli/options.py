"""The options that several commands share, and what they become."""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from onehot_fast.cli.conversion import Output
from onehot_fast.cli.csv_reader import TextOptions
from onehot_fast.cli.errors import CommandError, Exit, closest, one_line
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
    ("drop", "RULE", "Makes no feature: first, last, if_binary, most_frequent or COLUMN=CATEGORY."),
    ("handle_unknown", "RULE", "Unseen: error (default), ignore, warn, indicator or infrequent."),
    ("handle_missing", "RULE", "Nulls: ignore (default), indicator, error or propagate."),
    ("min_frequency", "N", "Rarer categories share a feature; rows as 10, a share of all as 0.01."),
    ("max_categories", "N", "The most features of a column; the rarest categories share one."),
    ("dtype", "DTYPE", "The type of the features, as uint8 or float32; default: bool."),
    ("prefix", "TEXT", "How names of features begin; default: with the name of the column."),
    ("prefix_sep", "TEXT", "What stands between prefix and category; default: _"),
)  # fmt: skip

HINTS = {
    "drop": "; a category is COLUMN=CATEGORY",
    "dtype": ", such as bool, uint8 or float32",
}

column_option = click.option(
    "-c",
    "--column",
    "columns",
    multiple=True,
    help="A column to encode, any number of times (or A,B); default: all columns of texts.",
)


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
    click.argument("source", metavar="IN"),
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
    click.option("-o", "--output", required=True, help="A file, a folder, or - (standard output)."),
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

    return cast(F, _with(INPUT, call))


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
    options = {name: _resolved(columns, texts, name) for name, texts in typed.items() if texts}
    return Encoder(columns, **options)


def _resolved(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Return one value for all columns, or one for each that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"--{option.replace('_', '-')} {text}"
        column, value = _split(columns, text, typed)
        try:
            parsed = PARSERS.get(option, str)(value)
        except ValueError:
            numbers = "a number of rows as 10, or a share of them as 0.01"
            accepted = numbers if option == "min_frequency" else "a whole number"
            raise CommandError(Exit.USAGE, f"{typed}: accepted is {accepted}") from None
        try:
            keyword: dict[str, Any] = {option: parsed if column is None else {column: parsed}}
            Encoder(columns, **keyword)
        except (TypeError, ValueError) as error:
            text = f"{typed}: {one_line(error)}{HINTS.get(option, '')}"
            raise CommandError(Exit.USAGE, text) from error
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _split(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; the name itself may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        raise CommandError(
            Exit.USAGE,
            f"{typed}: {name!r} is none of the columns that are encoded"
            f"{closest(name, columns) or ': ' + ', '.join(columns)}"
            f" (for a value with = in it: {columns[0]}={text})",
        )
    return None, text


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}
