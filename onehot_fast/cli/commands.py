"""The subcommands, and `run`, which returns an exit code for every outcome of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import pyarrow as pa
from click import Option
from click.shell_completion import shell_complete

import onehot_fast
from onehot_fast.adapter import guards
from onehot_fast.cli.arguments import (
    COLUMN,
    COUNT,
    ENCODER,
    ENCODER_FILE,
    INPUT,
    OUTPUT,
    POSITIVE,
    QUIET,
    TARGET,
    PlaceType,
)
from onehot_fast.cli.encode import run_decode, run_encode
from onehot_fast.cli.flags import flag
from onehot_fast.cli.formats import EXTENSIONS, READABLE, layouts_of
from onehot_fast.cli.inspection import run_inspect
from onehot_fast.cli.messages import CommandError, Exit, one_line, printable, writing
from onehot_fast.cli.reader import Input

# The environment variable with which a shell asks for completions.
COMPLETE = "_ONEHOT_FAST_COMPLETE"
SEE = "\n\nSee `onehot-fast --help` for formats and exit codes."
INSPECT = """\b
Examples:
  onehot-fast inspect flights.parquet
  onehot-fast inspect flights.parquet -c dest --min-frequency 0.01
  onehot-fast inspect flights.parquet --json | jq .rows
"""
ENCODE = """\b
Examples:
  onehot-fast encode flights.parquet -c carrier,dest -o encoded.parquet
  onehot-fast encode flights.parquet -c dest --min-frequency 0.01 -o x.parquet
  onehot-fast encode flights.parquet -c dest --drop first -o x.parquet
  onehot-fast encode films.csv -c genres --sep '|' --dtype uint8 -o out.csv
  onehot-fast encode flights/ --partition-by year -o encoded/

\b
A sparse matrix, for scipy.sparse.load_npz:
  onehot-fast encode clicks.parquet -c url -o clicks.npz

\b
The same features for later files:
  onehot-fast encode train.csv -c city --save-encoder city.json -o a.csv
  onehot-fast encode test.csv --encoder city.json -o b.csv

\b
In a pipe:
  gzip -dc in.csv.gz | onehot-fast encode - --input-format csv -o - > out.csv
"""
DECODE = """\b
Examples:
  onehot-fast decode encoded.parquet -o again.parquet
  onehot-fast decode encoded.csv --encoder city.json -o again.csv
"""
COMPLETION = """\b
Examples; add the line to ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish:
  eval "$(onehot-fast completion bash)"
  eval "$(onehot-fast completion zsh)"
  onehot-fast completion fish | source
"""
EXIT_CODES = "\n".join(f"  {code.value:<5}{code.meaning}" for code in Exit)
EPILOG = f"""\b
Examples:
  onehot-fast inspect flights.parquet
  onehot-fast encode flights.parquet -c carrier -c dest -o encoded.parquet
  onehot-fast encode flights.parquet -o parts/ --rows-per-file 500000
  onehot-fast decode encoded.parquet -o again.parquet

\b
Formats: IN and the output are a file, a folder of files, or - (standard input
or output). Formats are parquet, arrow (feather, ipc), arrows (an Arrow
stream), csv, tsv; the last three also as .gz, .bz2, .zst, .lz4 or .br.
The output may also be npz, a sparse matrix of the features without the other
columns. If IN is a folder, the output is a folder, unless the output's name
ends with a format. With --rows-per-file, the output is a folder of
part-000000.parquet and so on. In folders named key=value, the keys are
columns; --partition-by writes such folders.

\b
Safety: The output appears whole or not at all. It is written to a temporary
file, .NAME.*.onehot-fast-part, in the same folder, synced to the disk and
renamed. If a run is killed, the next run with the same output removes its
temporary files. An existing output is replaced only with --overwrite. The
input is never overwritten.

\b
Text: From CSV to CSV, columns that are not encoded keep their text. In other
formats, the type of the first values is used: number, date, string etc.
Digits that are not a number (007, +4930123456, over 64 bits) become strings.

\b
Missing values in CSV: In a column of strings, only the empty, unquoted field.
In other columns also "" and, quoted or not, #N/A, #N/A N/A, #NA, -1.#IND,
-1.#QNAN, -NaN, -nan, 1.#IND, 1.#QNAN, <NA>, N/A, NA, NULL, NaN, None, n/a,
nan, null. In a file of one column also "" and an empty line. --null adds
marks.

\b
Exit codes; an error also prints one line on standard error:
{EXIT_CODES}
  130  interrupted (SIGINT); 143: terminated (SIGTERM)
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
    invoke_without_command=True,
)
@click.version_option(onehot_fast.__version__, prog_name="onehot-fast")
@click.pass_context
def commands(context: click.Context) -> None:
    """One-hot encode columns of files of any size in bounded memory.

    Each category becomes a column of 0 and 1, like the dummy variables of pandas.get_dummies.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _take(parameters: Iterable[click.Parameter], options: dict[str, Any]) -> dict[str, Any]:
    """Remove the values of `parameters` from `options`, and return them in a dict."""
    return {str(one.name): options.pop(str(one.name)) for one in parameters}


@commands.command(
    params=[
        COLUMN,
        Option(["--limit"], type=POSITIVE, metavar="N", default=100_000, show_default=True,
                help="The maximum number of distinct values to count."),
        Option(["--top"], type=COUNT, metavar="N", default=10, show_default=True,
                help="The number of most frequent categories to show for each column."),
        Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs."),
        *ENCODER,
        *INPUT,
        QUIET,
    ],
    short_help="Show columns, types, cardinalities, and the size of each output form.",
    epilog=INSPECT + SEE,
)  # fmt: skip
def inspect(**options: Any) -> None:
    """Show types, nulls and cardinalities of the columns of IN, and the size of each output form.

    The forms are NumPy, pandas, Arrow, CSR and CSC. For the columns to encode, also show the most
    frequent categories and, with the options of `encode`, which categories would be infrequent.
    """
    run_inspect(Input(**_take(INPUT, options)), typed=_take(ENCODER, options), **options)


@commands.command(
    params=[
        COLUMN,
        TARGET,
        *ENCODER,
        Option(["--max-features"], type=COUNT, metavar="N",
                default=guards.MAX_DENSE_FEATURES, show_default=True,
                help="The maximum number of features if the columns are chosen by default, without"
                " -c."),
        Option(["--encoder", "encoder_file"], metavar="FILE", type=ENCODER_FILE,
                help="Use the encoder in a file, from --save-encoder or Encoder.to_json; default:"
                " learn one from IN."),
        Option(["--save-encoder"], metavar="FILE", type=PlaceType(writing, readable=False),
                help="Save the encoder to a file, for later files and for decode."),
        Option(["--layout"], type=click.Choice(layouts_of(EXTENSIONS.values())),
                help="The form of the features: one column for each feature (default), one column"
                " for each encoded column, or a SciPy matrix (csr; default for .npz)."),
        *OUTPUT,
        *INPUT,
        QUIET,
    ],
    short_help="Encode columns: each category becomes a column.",
    epilog=ENCODE + SEE,
)  # fmt: skip
def encode(**options: Any) -> None:
    """Encode columns of IN, which is read twice: to learn the categories, and to encode.

    Other columns do not change. Parquet and Arrow outputs store the encoder in their metadata.
    """
    spec, typed = Input(**_take(INPUT, options)), _take(ENCODER, options)
    names = [flag(name) for name, values in typed.items() if values]
    if options["encoder_file"] is not None and names:
        raise click.UsageError(
            f"{names[0]} cannot be combined with --encoder, because its file contains the options;"
            " omit --encoder to learn a new encoder"
        )
    run_encode(spec, _take([TARGET, *OUTPUT, QUIET], options), typed=typed, **options)


@commands.command(
    params=[
        TARGET,
        Option(["--encoder", "encoder_file"], metavar="FILE", type=ENCODER_FILE,
                help="The encoder that --save-encoder saved; default: the one in IN."),
        Option(["--layout"], type=click.Choice(layouts_of(READABLE.values())),
                help="Default: detected from the types of the columns."),
        *OUTPUT,
        *INPUT,
        QUIET,
    ],
    epilog=DECODE + SEE,
)  # fmt: skip
def decode(**options: Any) -> None:
    """Restore the columns that were encoded. A row of zeros becomes null, or has no labels."""
    target = _take([TARGET, *OUTPUT, QUIET], options)
    run_decode(Input(**_take(INPUT, options)), target, **options)


@commands.command(epilog=COMPLETION)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL. It completes commands, options, files and columns."""
    shell_complete(commands, {}, "onehot-fast", COMPLETE, f"{shell}_source")


def run(arguments: Sequence[str] | None = None) -> tuple[int, str]:
    """Run the command; return its exit code and a one-line error message, "" if there is none."""
    pa.enable_signal_handlers(False)  # pyarrow would handle SIGINT while it reads CSV
    pool = pa.default_memory_pool()
    is_chosen = "ARROW_DEFAULT_MEMORY_POOL" in os.environ
    if not is_chosen and "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())  # lowers peak memory by a fifth
    try:
        code, message = _outcome(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        pa.set_memory_pool(pool)
    return int(code), printable(" ".join(message.split()))


def _outcome(arguments: list[str]) -> tuple[int, str]:
    """Run the command; return its exit code and an error message, "" if there is none."""
    try:
        if sys.stdout is None:  # closed: writing fails as on a full disk
            sys.stdout = open(os.devnull)  # noqa: SIM115  until the process ends
        if completing := os.environ.get(COMPLETE):
            return shell_complete(commands, {}, "onehot-fast", COMPLETE, completing), ""
        # `commands.main` would handle pipes and signals in its own way.
        with commands.make_context("onehot-fast", arguments) as context:
            commands.invoke(context)
        with writing("standard output"):
            sys.stdout.flush()
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code, ""
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "onehot-fast"
        text = error.format_message().rstrip(".")
        if "extra argument" in text and error.ctx and error.ctx.params.get("columns"):
            return Exit.USAGE, (
                f"{text}; type several columns with commas, e.g. -c A,B; see {path} --help"
            )
        return Exit.USAGE, f"{text}; see {path} --help"
    except CommandError as error:
        return error.code, str(error)
    except BrokenPipeError:
        # The interpreter flushes standard output at its end, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE, ""
    except Exception as error:
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        if isinstance(error, OSError):  # e.g. no room for temporary files
            name = error.filename or "standard output"
            return Exit.OUTPUT, f"{name}: {one_line(error)}"
        # Otherwise a bug, or an unexpected error of a library.
        what = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
        return Exit.FAILED, f"{what}: {one_line(error)}"
    return Exit.DONE, ""
