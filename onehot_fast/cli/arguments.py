"""The arguments and options of the subcommands, and the values that they are parsed to."""

from __future__ import annotations

import codecs
import csv
import os
import shlex
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

import click
from click import Option
from click.shell_completion import CompletionItem

from onehot_fast.cli.flags import FLAGS, flag, help_of
from onehot_fast.cli.formats import EXTENSIONS, READABLE, Format
from onehot_fast.cli.messages import CommandError, reading, writing
from onehot_fast.cli.parquet import CODECS
from onehot_fast.cli.places import Place, place_of
from onehot_fast.cli.reader import Input
from onehot_fast.cli.source import open_source

if TYPE_CHECKING:
    ParamType = click.ParamType[Place, Any]
else:  # early versions of click are not generic
    ParamType = click.ParamType

OUTPUT_FORMAT = click.Choice([*EXTENSIONS], case_sensitive=False)
INPUT_FORMAT = click.Choice([*READABLE], case_sensitive=False)
POSITIVE, COUNT = click.IntRange(1), click.IntRange(0)
POSITIVE.name = COUNT.name = "integer"  # click would call it an "integer range" in its errors


class PlaceType(ParamType):
    """A path or an address, which becomes a `Place` here and nowhere else.

    `errors` is the context manager for errors of the file system: `reading` or `writing`.
    """

    name = "path"

    def __init__(
        self, errors: Callable[[str], AbstractContextManager[None]], readable: bool = True
    ) -> None:
        self._errors = errors
        self._path = click.Path(readable=readable)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Place:
        """Return the place of a path that the user typed."""
        path = str(self._path.convert(value, param, ctx))
        with self._errors(path):
            return place_of(path)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the names of files, as click does for paths."""
        return self._path.shell_complete(ctx, param, incomplete)


def _complete_column(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the columns of the input that begin with `start`, for shell completion."""
    # click does not know the arguments while the value of an option is incomplete.
    with suppress(CommandError, ValueError, StopIteration):
        words = shlex.split(os.environ.get("COMP_WORDS", ""))[2:]
        path = next(word for word in words if os.path.exists(word))
        with open_source(Input(place_of(path))) as source:
            return [name for name in source.schema.names if name.startswith(start)]
    return []


def _parsed_format(
    context: click.Context, parameter: click.Parameter, name: str | None
) -> Format | None:
    """Return the format that --input-format or --output-format names."""
    return None if name is None else EXTENSIONS[name]


def _parsed_delimiter(text: str) -> str:
    """Parse the value of --delimiter, which must be one byte."""
    delimiter = {r"\t": "\t", "tab": "\t"}.get(text, text)
    if len(delimiter.encode()) != 1:
        raise click.BadParameter(f"must be one byte, got {text!r}; type a tab as '\\t'")
    return delimiter


def _parsed_names(text: str) -> list[str]:
    """Parse the value of --names, a line of CSV."""
    names = next(csv.reader([text]), [])
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise click.BadParameter(f"must be different names, e.g. a,b,c; got {repeated[0]!r} twice")
    if not names or "" in names:
        raise click.BadParameter("must be different names, e.g. a,b,c; got an empty name")
    return names


def _parsed_encoding(text: str) -> str:
    """Parse the value of --encoding, the name of an encoding."""
    try:
        name = codecs.lookup(text).name
        "".encode(name)
    except LookupError:
        raise click.BadParameter(
            f"must be a text encoding of Python, e.g. utf-8, cp1252 or latin-1; got {text!r}"
        ) from None
    return "utf8" if name in ("utf-8", "utf-8-sig") else name


ENCODER_FILE = PlaceType(reading, readable=False)
# The parameters of options are named like the fields of `Input`, or like the parameters of
# `resolved_destination`, `run_encode`, `run_decode` and `run_inspect`. In a list of names, one
# without dashes is the name of the parameter.
TARGET = Option(["-o", "--output", "target"], required=True, type=PlaceType(writing),
                help="A file, a folder, or - (standard output).")  # fmt: skip
QUIET = Option(["-q", "--quiet", "is_quiet"], is_flag=True, help="Show no progress and no notes.")
INPUT = (
    click.Argument(["place"], metavar="IN", type=PlaceType(reading)),
    Option(["--input-format"], type=INPUT_FORMAT, callback=_parsed_format, metavar="FORMAT",
            help="Default: from the name of IN, or from its content."),
    Option(["--delimiter"], type=_parsed_delimiter, metavar="TEXT",
            help="The delimiter of CSV, for reading and writing; default: a comma, or a tab for"
            " TSV."),
    Option(["--encoding"], type=_parsed_encoding, metavar="TEXT", default="utf-8",
            show_default=True,
            help="The encoding of a CSV input, e.g. cp1252 or utf-16; outputs are UTF-8."),
    Option(["--decimal"], type=click.Choice([".", ","]), default=".", show_default=True,
            help="The decimal point of numbers in a CSV input."),
    Option(["--null", "nulls"], metavar="TEXT", multiple=True,
            help="A string that marks a missing value in CSV, besides the empty field; '' is the"
            " quoted empty field; repeatable."),
    Option(["--keep-empty"], is_flag=True,
            help="Read the empty, unquoted field of a CSV column of text as a string, not as"
            " missing."),
    Option(["--text", "is_text"], is_flag=True,
            help="Read all columns of a CSV input as text, also marks such as NA."),
    Option(["--text-column", "text_columns"], metavar="COLUMN", multiple=True,
            help="Read a column of a CSV input as text; repeatable. Columns with leading zeros,"
            " e.g. 007, are text anyway."),
    Option(["--no-header"], is_flag=True,
            help="The first row of a CSV input is data; the columns are column0, column1 etc."),
    Option(["--names"], type=_parsed_names, metavar="A,B,...",
            help="The names of all columns of a CSV input whose first row is data."),
    Option(["--fill-rows"], is_flag=True,
            help="Fill the rows of a CSV input that have too few fields with missing values."),
    Option(["--no-end-marker", "may_lack_end"], is_flag=True,
            help="Read an Arrow stream without an end marker, which may be truncated."),
)  # fmt: skip
OUTPUT = (
    Option(["--overwrite", "may_replace"], is_flag=True,
            help="Replace an existing file or folder of data files. The input is never"
            " overwritten."),
    Option(["--output-format", "wanted"], type=OUTPUT_FORMAT, callback=_parsed_format,
            metavar="FORMAT",
            help="Default: from the name; for a folder or standard output, the format of IN."),
    Option(["--compression"], type=click.Choice([*CODECS]),
            help="The codec within Parquet and Arrow files; default: in Parquet, zstd for new"
            " columns and Snappy for others; in Arrow, the codec of IN."),
    Option(["--row-group-size", "group_rows"], type=POSITIVE, metavar="N",
            help="The number of rows of a Parquet row group; default: as many as fit into 64 MiB,"
            " at most 1,048,576."),
    Option(["--rows-per-file", "file_rows"], type=POSITIVE, metavar="N",
            help="Write a folder of files with this number of rows, named part-000000 etc."),
    Option(["--partition-by"], metavar="COLUMN", shell_complete=_complete_column, multiple=True,
            help="Write a folder COLUMN=VALUE for each value; repeatable. The files do not contain"
            " the column."),
)  # fmt: skip
COLUMN = Option(["-c", "--column", "columns"], multiple=True, shell_complete=_complete_column,
                help="A column to encode, or several as A,B; repeatable. Default: all columns of"
                " strings, and of lists of strings.")  # fmt: skip
ENCODER = [
    Option([flag(name), name], multiple=True, metavar=f"[COLUMN=]{help_of(name).metavar}",
           help=help_of(name).text)
    for name in FLAGS
]  # fmt: skip
