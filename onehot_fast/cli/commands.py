"""The subcommands, and one run of the command: each way it can end has an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import pyarrow as pa
from click.shell_completion import get_completion_class, shell_complete

import onehot_fast
from onehot_fast.adapter import reports
from onehot_fast.cli.decode import run_decode
from onehot_fast.cli.encode import EncoderSource, run_encode
from onehot_fast.cli.errors import (
    MEANINGS,
    CommandError,
    Exit,
    PipeClosed,
    one_line,
    printable,
    writing,
)
from onehot_fast.cli.inspection import InspectOptions, run_inspect
from onehot_fast.cli.options import (
    LAYOUTS,
    MAX_INT,
    column_option,
    with_encoder_options,
    with_input,
    with_output,
)
from onehot_fast.cli.outputs import Output
from onehot_fast.cli.source import Input

__all__ = ["commands", "run"]

# The environment variable with which a shell asks for completions.
COMPLETE = "_ONEHOT_FAST_COMPLETE"
SEE = "\n\nSee `onehot-fast --help` for formats and exit codes."
INSPECT = """\b
Examples:
  onehot-fast inspect flights.parquet
  onehot-fast inspect flights.parquet -c dest --min-frequency 0.01   # infrequent categories
  onehot-fast inspect flights.parquet --json | jq .rows
"""
ENCODE = """\b
Examples:
  onehot-fast encode flights.parquet -c carrier,dest -o encoded.parquet
  onehot-fast encode flights.parquet -c dest --min-frequency 0.01 --drop dest=first -o x.parquet
  onehot-fast encode films.csv -c genres --sep '|' --dtype uint8 -o films-encoded.csv
  onehot-fast encode clicks.parquet -c url -o clicks.npz    # scipy.sparse.load_npz reads it
  onehot-fast encode flights/ --partition-by year --partition-by month -o encoded/
  onehot-fast encode train.csv -c city --save-encoder city.json -o train-encoded.csv
  onehot-fast encode test.csv --encoder city.json -o test-encoded.csv
  gzip -dc flights.csv.gz | onehot-fast encode - --input-format csv -c carrier -o - > encoded.csv
"""
DECODE = """\b
Examples:
  onehot-fast decode encoded.parquet -o again.parquet
  onehot-fast decode train-encoded.csv --encoder city.json -o train.csv
"""
COMPLETION = """\b
Examples for this shell; add the line to ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish:
  eval "$(onehot-fast completion bash)"
  eval "$(onehot-fast completion zsh)"
  onehot-fast completion fish | source
"""
CODES = "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANINGS.items())
EPILOG = f"""\b
Examples:
  onehot-fast inspect flights.parquet
  onehot-fast encode flights.parquet -c carrier -c dest -o encoded.parquet
  onehot-fast encode train.csv -c city --save-encoder city.json -o train-encoded.csv
  onehot-fast encode test.csv --encoder city.json -o test-encoded.csv
  onehot-fast encode flights.parquet -o parts/ --rows-per-file 500000
  onehot-fast encode films.csv -c genres --sep '|' -o films.npz
  onehot-fast decode encoded.parquet -o again.parquet

\b
Formats: IN and the output are files of these formats, folders of such files, or -
for standard input and output: parquet, arrow (feather, ipc), arrows (an Arrow
stream), csv, tsv; the last three also as .gz, .bz2, .zst, .lz4 or .br. The output
may also be npz, a sparse matrix of the features without the other columns.
A folder becomes a folder, unless the name of the output ends with a format. With
--rows-per-file, any input becomes a folder of part-000000.parquet and so on.
In folders named key=value, the keys are columns; --partition-by makes such folders.

\b
Safety: The output appears whole or not at all. It is written to a temporary file,
.NAME.*.onehot-fast-part, in the same folder, synced to the disk and renamed. If a
run is killed, the next run with the same output removes its temporary files. An
existing output is replaced only with --overwrite. The input is never overwritten.

\b
From CSV to CSV, the text of columns that are not encoded does not change.
In other formats, columns get the type of their first rows: numbers, dates or texts;
digits that are no number (007, +4930123456, more than 64 bits) are text.

\b
Exit codes; an error also prints one line on standard error:
{CODES}
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


@commands.command(
    short_help="Show columns, types, cardinalities, and the size of each output form.",
    epilog=INSPECT + SEE,
)
@with_input
@column_option
@click.option("--limit", type=click.IntRange(1, MAX_INT), default=100_000, show_default=True,
              help="The maximum number of distinct values to count.")  # fmt: skip
@click.option("--top", type=click.IntRange(0, MAX_INT), default=10, show_default=True,
              help="The number of most frequent categories to show for each column.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@with_encoder_options
def inspect(
    spec: Input,
    columns: Sequence[str],
    limit: int,
    top: int,
    as_json: bool,
    quiet: bool,
    typed: dict[str, Sequence[str]],
) -> None:
    """Show the columns of IN, their types, nulls and cardinalities, and the size of each form.

    For the columns to encode, show the frequencies of categories, and with the options of `encode`
    which categories would be infrequent.
    """
    run_inspect(spec, InspectOptions(columns, typed, limit, top, as_json, quiet))


@commands.command(short_help="Encode columns: each category becomes a column.",
                  epilog=ENCODE + SEE)  # fmt: skip
@with_input
@with_output
@column_option
@click.option("--max-features", type=click.IntRange(0, MAX_INT),
              default=reports.MAX_DENSE_FEATURES, show_default=True,
              help="The maximum number of features if the columns are chosen by default, without"
              " -c.")  # fmt: skip
@click.option("--encoder", "encoder_file",
              help="Use the encoder in a file, from --save-encoder or Encoder.to_json, instead of"
              " learning one from IN.")  # fmt: skip
@click.option("--save-encoder", help="Save the encoder to a file, for later files and for decode.")
@click.option("--layout", type=click.Choice([*LAYOUTS, "csr"]),
              help="The form of the features: a column each (default), one column for each encoded"
              " column, or a SciPy matrix (csr; default for .npz).")  # fmt: skip
@with_encoder_options
def encode(
    spec: Input,
    output: Output,
    columns: Sequence[str],
    max_features: int,
    encoder_file: str | None,
    save_encoder: str | None,
    layout: str | None,
    typed: dict[str, Sequence[str]],
) -> None:
    """Encode columns of IN. Read it twice: to learn the categories, and to encode.

    Other columns do not change. Parquet and Arrow outputs store the encoder in their metadata.
    """
    names = [f"--{name.replace('_', '-')}" for name, values in typed.items() if values]
    if encoder_file is not None and names:
        text = "cannot be combined with --encoder; learn a new encoder with it, and --save-encoder"
        raise click.UsageError(f"{names[0]} {text}")
    wanted = EncoderSource(columns, typed, encoder_file, max_features)
    run_encode(spec, wanted, layout, output, save_encoder)


@commands.command(short_help="Restore the columns that were encoded.", epilog=DECODE + SEE)
@with_input
@with_output
@click.option("--encoder", "encoder_file",
              help="The encoder that --save-encoder saved; default: the one in IN.")  # fmt: skip
@click.option("--layout", type=click.Choice(LAYOUTS), help="Default: by the types of the columns.")
def decode(spec: Input, output: Output, encoder_file: str | None, layout: str | None) -> None:
    """Restore the columns that were encoded; a row of zeros becomes null."""
    run_decode(spec, encoder_file, layout, output)


@commands.command(short_help="Print the completion script of a shell.",
                  epilog=COMPLETION)  # fmt: skip
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes commands, options, files and columns on Tab."""
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(commands, {}, "onehot-fast", COMPLETE).source())


def run(arguments: Sequence[str] | None = None) -> tuple[int, str]:
    """Run the command; return its exit code and the message of an error, as one line."""
    pa.enable_signal_handlers(False)  # pyarrow would handle SIGINT while it reads CSV
    with _frugal_memory():
        code, message = _outcome(list(sys.argv[1:] if arguments is None else arguments))
    return int(code), printable(" ".join(message.split()))


@contextmanager
def _frugal_memory() -> Iterator[None]:
    """Use jemalloc in pyarrow: the peak is a fifth lower than with the default allocator."""
    before = pa.default_memory_pool()
    with contextlib.suppress(NotImplementedError):  # this pyarrow was built without jemalloc
        if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ:
            pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _outcome(arguments: list[str]) -> tuple[int, str]:
    """Run the command; return its exit code and the message of an error."""
    try:
        if sys.stdout is None:  # closed: writing fails as on a full disk
            sys.stdout = open(os.devnull)  # noqa: SIM115  until the process ends
        completing = os.environ.get(COMPLETE)
        if completing:
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
        return Exit.USAGE, f"{error.format_message().rstrip('.')}; see {path} --help"
    except CommandError as error:
        return error.code, str(error)
    except (PipeClosed, BrokenPipeError):
        # The interpreter flushes standard output at its end, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE, ""
    except OSError as error:  # of a temporary file, or of standard output
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        name = error.filename or "standard output"
        return Exit.OUTPUT, f"{name}: {error.strerror or one_line(error)}"
    except MemoryError as error:
        return Exit.FAILED, f"out of memory: {one_line(error)}"
    except Exception as error:  # a bug, or an unexpected error of a library
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        return Exit.FAILED, f"{type(error).__name__}: {one_line(error)}"
    return Exit.DONE, ""
