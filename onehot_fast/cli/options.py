"""The options that several commands share, and what is made of them."""

from __future__ import annotations

import codecs
import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar, cast

import click
import pyarrow as pa

from onehot_fast.cli.csv_reader import TextOptions
from onehot_fast.cli.encoders import Encoders, LabelColumn, has_lists
from onehot_fast.cli.errors import CommandError, Exit, closest, one_line
from onehot_fast.cli.outputs import Output
from onehot_fast.cli.places import FORMATS, Format, parse_format
from onehot_fast.cli.source import Input, open_source
from onehot_fast.encoder import Encoder

__all__ = [
    "LAYOUTS",
    "MAX_INT",
    "column_option",
    "new_encoders",
    "with_encoder_options",
    "with_input",
    "with_output",
]

F = TypeVar("F", bound=Callable[..., Any])

# The names of Python's `layout=` in `onehot_fast.integrations.arrow.encode`.
LAYOUTS = ["columns", "struct", "array", "tensor", "dictionary"]
COMPRESSIONS = click.Choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
MAX_INT = (1 << 63) - 1
COUNT = click.IntRange(1, MAX_INT)

# Option, what it takes, and help.
ENCODER_OPTIONS = (
    ("drop", "RULE", "Drop a feature: first, last, if_binary, most_frequent or COLUMN=CATEGORY."),
    ("handle_unknown", "RULE",
     "Unknown categories: error (default), ignore, warn, indicator or infrequent."),
    ("handle_missing", "RULE", "Nulls: ignore (default), indicator, error or propagate."),
    ("min_frequency", "N",
     "Rarer categories share one feature; a number of rows (10) or a share of them (0.01)."),
    ("max_categories", "N",
     "The maximum number of features of a column; the rarest categories share one."),
    ("dtype", "DTYPE", "The type of the features, e.g. uint8 or float32; default: bool."),
    ("prefix", "TEXT", "The prefix of the names of features; default: the name of the column."),
    ("prefix_sep", "TEXT", "The separator of prefix and category; default: _"),
    ("sep", "TEXT", "The separator of several labels in a text; each label is a feature. Lists"
     " need no separator."),
)  # fmt: skip
HINTS = {
    "drop": "; type a category as COLUMN=CATEGORY",
    "dtype": ", e.g. bool, uint8 or float32",
}


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}


def _complete_column(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the columns of the input that begin with a text, for a shell."""
    # click does not know the arguments while the value of an option is incomplete.
    with ExitStack() as resources, suppress(CommandError, ValueError):
        words = shlex.split(os.environ.get("COMP_WORDS", ""))[2:]
        path = next((word for word in words if os.path.exists(word)), None)
        names = [] if path is None else open_source(Input(path), resources).schema.names
        return [name for name in names if name.startswith(start)]
    return []


def _format(context: click.Context, parameter: click.Parameter, text: str | None) -> Format | None:
    """Return the format of that name."""
    found = None if text is None else parse_format(text)
    if text is not None and found is None:
        raise click.BadParameter(f"must be one of {FORMATS}; got {text!r}")
    return found


def _delimiter(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Return a delimiter of one byte."""
    delimiter = {r"\t": "\t", "tab": "\t"}.get(text or "", text)
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise click.BadParameter(f"must be one byte, got {text!r}; type a tab as '\\t'")
    return delimiter


def _encoding(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """Return the name of an encoding."""
    try:
        name = codecs.lookup(text).name
        "".encode(name)
    except LookupError:
        raise click.BadParameter(
            f"must be a text encoding of Python, e.g. utf-8, cp1252 or latin-1; got {text!r}"
        ) from None
    return "utf8" if name in ("utf-8", "utf-8-sig") else name


INPUT = (
    click.argument("source", metavar="IN", type=click.Path()),
    click.option("--input-format", callback=_format, help="Default: by the name or the content."),
    click.option("--delimiter", callback=_delimiter,
                 help="The delimiter of CSV, for reading and writing; default: a comma, or a tab"
                 " for TSV."),
    click.option("--encoding", default="utf-8", show_default=True, callback=_encoding,
                 help="The encoding of a CSV input, e.g. cp1252 or utf-16; outputs are UTF-8."),
    click.option("--decimal", type=click.Choice([".", ","]), default=".", show_default=True,
                 help="The decimal point of numbers in a CSV input."),
    click.option("--null", "nulls", multiple=True, help="A text that marks a missing value in CSV;"
                 " repeatable."),
    click.option("--text", is_flag=True, help="Read all columns of a CSV input as text."),
    click.option("--text-column", "text_columns", metavar="COLUMN", multiple=True,
                 help="Read a column of a CSV input as text; repeatable. Columns with leading"
                 " zeros, e.g. 007, are text anyway."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notes."),
)  # fmt: skip
OUTPUT = (
    click.option("-o", "--output", required=True, type=click.Path(),
                 help="A file, a folder, or - (standard output)."),
    click.option("--overwrite", is_flag=True,
                 help="Replace an existing file or folder of data files. The input is never"
                 " overwritten."),
    click.option("--output-format", callback=_format,
                 help="Default: by the name; in a folder and on standard output, as the input."),
    click.option("--compression", type=COMPRESSIONS,
                 help="The codec within Parquet and Arrow files; default: as the input."),
    click.option("--row-group-size", type=COUNT,
                 help="The rows of a row group of Parquet; default: as the input."),
    click.option("--rows-per-file", type=COUNT,
                 help="Write a folder of files with this number of rows, named part-000000 etc."),
    click.option("--partition-by", metavar="COLUMN", shell_complete=_complete_column, multiple=True,
                 help="Write a folder COLUMN=VALUE for each value; repeatable. The files do not"
                 " contain the column."),
)  # fmt: skip


def column_option(command: F) -> F:
    """Give a command the option -c as ``columns``."""
    return click.option(
        "-c",
        "--column",
        "columns",
        multiple=True,
        shell_complete=_complete_column,
        help="A column to encode; repeatable, or A,B. Default: all columns of texts.",
    )(command)


def with_input(command: F) -> F:
    """Give a command an `Input` as ``spec``, and ``quiet``."""

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

    return cast(F, _with_options(INPUT, call))


def with_output(command: F) -> F:
    """Give a command an `Output` as ``output``, in place of ``quiet``."""

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

    return cast(F, _with_options(OUTPUT, call))


def with_encoder_options(command: F) -> F:
    """Give a command the options of an encoder as ``typed``: for each option, what was typed."""
    names = [name for name, _, _ in ENCODER_OPTIONS]

    @functools.wraps(command)
    def call(**others: Any) -> Any:
        typed = {name: others.pop(name) for name in names}
        return command(typed=typed, **others)

    options = [
        click.option(_flag(name), name, multiple=True, metavar=f"[COLUMN=]{metavar}", help=text)
        for name, metavar, text in ENCODER_OPTIONS
    ]
    return cast(F, _with_options(options, call))


def _with_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """Add options to a command, in this order."""
    return functools.reduce(lambda made, option: option(made), reversed(options), command)


def _flag(name: str) -> str:
    """Return the name of an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def new_encoders(kinds: Mapping[str, pa.DataType], typed: dict[str, Sequence[str]]) -> Encoders:
    """Return unfitted encoders of some columns.

    Parameters
    ----------
    kinds : dict of str to pyarrow.DataType
        The columns to encode, and their types. Lists, and texts with a separator, are encoded by
        their labels.
    typed : dict of str to sequence of str
        For each option of `Encoder`, and for ``sep``, the typed values: ``VALUE`` or
        ``COLUMN=VALUE``; the last one counts.

    Raises
    ------
    CommandError
        A value is invalid.
    """
    columns = list(kinds)
    options = {name: _resolved(columns, texts, name) for name, texts in typed.items() if texts}
    separators = _separators(kinds, options.pop("sep", {}))
    labels = [
        LabelColumn(name, sep, Encoder([name], **_options_of_labels(name, options)))
        for name, sep in separators.items()
    ]
    values = [name for name in columns if name not in separators]
    for option, value in options.items():
        if isinstance(value, dict):
            options[option] = {name: one for name, one in value.items() if name in values}
    return Encoders(Encoder(values, **options), tuple(labels))


def _separators(kinds: Mapping[str, pa.DataType], typed: Any) -> dict[str, str | None]:
    """Return the separator of each column of labels; None for lists."""
    found: dict[str, str | None] = {name: None for name in kinds if has_lists(kinds[name])}
    if isinstance(typed, str):
        return {n: found.get(n, typed) for n in kinds if n in found or _is_text(kinds[n])}
    for name, sep in typed.items():
        if not _is_text(kinds[name]):
            text = f"--sep {name}={sep}: the column must contain texts, got {kinds[name]}"
            raise CommandError(Exit.USAGE, text)
        found[name] = sep
    return found


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column contains texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _options_of_labels(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a column of labels, for which drop and propagate have no meaning."""
    chosen = {
        option: value.get(name) if isinstance(value, dict) else value
        for option, value in options.items()
        if not isinstance(value, dict) or name in value
    }
    drop, missing = chosen.pop("drop", None), chosen.get("handle_missing")
    invalid = f"--drop {drop}" if drop is not None and isinstance(options["drop"], dict) else ""
    invalid = "--handle-missing propagate" if missing == "propagate" else invalid
    if invalid:
        text = f"{invalid}: not supported for {name!r}, which has several labels a row"
        raise CommandError(Exit.USAGE, text)
    return chosen


def _resolved(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Return one value for all columns, or one for each column that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"{_flag(option)} {text}"
        column, value = _split(columns, text, typed)
        try:
            parsed = PARSERS.get(option, str)(value)
        except ValueError:
            numbers = "a number of rows, e.g. 10, or a share of them, e.g. 0.01"
            expected = numbers if option == "min_frequency" else "an integer"
            raise CommandError(Exit.USAGE, f"{typed}: must be {expected}") from None
        try:
            _check(columns, option, parsed if column is None else {column: parsed})
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


def _check(columns: Sequence[str], option: str, value: Any) -> None:
    """Raise an error if an option does not accept a value."""
    if option != "sep":
        keyword: dict[str, Any] = {option: value}
        Encoder(columns, **keyword)
    elif "" in (value, *(value.values() if isinstance(value, dict) else ())):
        raise ValueError("the separator must not be empty")


def _split(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; a name may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        raise CommandError(
            Exit.USAGE,
            f"{typed}: the column {name!r} is not encoded"
            f"{closest(name, columns) or '; encoded are ' + ', '.join(columns)}"
            f" (type a value with = as {columns[0]}={text})",
        )
    return None, text
