"""The commands, as click knows them."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

import onehot_fast
from onehot_fast.adapter import identifiers
from onehot_fast.cli.decode import run_decode
from onehot_fast.cli.encode import Learning, run_encode
from onehot_fast.cli.encoder_options import with_encoder_options
from onehot_fast.cli.errors import MEANINGS
from onehot_fast.cli.inspection import Looking, run_inspect
from onehot_fast.cli.options import (
    LAYOUTS,
    column_option,
    with_input,
    with_output,
)
from onehot_fast.cli.output import Output
from onehot_fast.cli.sources import Input

__all__ = ["COMPLETE", "commands"]

# What a shell sets to ask for completions.
COMPLETE = "_ONEHOT_FAST_COMPLETE"
SEE = "\n\nSee `onehot-fast --help` for formats and exit codes."
INSPECT = """\b
Examples:
  onehot-fast inspect flights.parquet
  onehot-fast inspect flights.parquet -c dest --min-frequency 0.01   # what would be infrequent
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
Examples, for this shell; in ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish for later ones:
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
IN and the output are files of these formats, folders of such files, or - for
standard input and output: parquet, arrow (feather, ipc), arrows (an Arrow
stream), csv, tsv; the last three also as .gz, .bz2, .zst, .lz4 or .br. An output
may also be an npz, the sparse matrix of the features alone.
A folder becomes a folder, unless the name of the output says a format. With
--rows-per-file any input becomes a folder of part-000000.parquet and so on.
In folders named key=value the keys are columns; --partition-by makes such folders.

\b
The output appears whole or not at all: it is written as .NAME.*.onehot-fast-part
beside its place, brought to the disk and renamed. What a killed run leaves of
that, the next run with this output removes. What is there already is replaced
only with --overwrite, and the input never.

\b
From CSV to CSV, columns that are not encoded keep every letter of their values.
To other formats they get types by their first rows: numbers, dates, texts;
digits that are no number (007, +4930123456, beyond 64 bits) are text.

\b
Exit codes; each but 0 and 141 comes with one line on standard error:
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
    """One-hot encode the columns of files of any size, in bounded memory.

    Categories become columns of 0 and 1: dummy variables, as pandas.get_dummies makes them.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@commands.command(
    short_help="Show columns, types, cardinalities, and the size of each form.",
    epilog=INSPECT + SEE,
)
@with_input
@column_option
@click.option("--limit", type=click.IntRange(min=1), default=100_000, show_default=True,
              help="Count distinct values up to so many.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True,
              help="Show so many of the most frequent categories of each column.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="For programs.")
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

    Of the columns to encode it shows how frequent the categories are, and with the options of
    `encode` which would be infrequent.
    """
    run_inspect(spec, Looking(columns, typed, limit, top, as_json, quiet))


@commands.command(short_help="Encode columns: each category becomes a column.", epilog=ENCODE + SEE)
@with_input
@with_output
@column_option
@click.option("--max-features", type=click.IntRange(min=0), default=identifiers.MAX_DENSE_FEATURES,
              show_default=True,
              help="The most that are made where no -c names the columns.")  # fmt: skip
@click.option("--encoder", "encoder_file",
              help="As --save-encoder or Encoder.to_json wrote it; nothing is learned from IN."
              )  # fmt: skip
@click.option("--save-encoder", help="Where to write the encoder, for later files and for decode.")
@click.option("--layout", type=click.Choice([*LAYOUTS, "csr"]),
              help="Columns for all features (default), one column for each that is encoded, or a"
              " matrix of SciPy (default for .npz).")  # fmt: skip
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
    """Encode columns of IN: read once to learn them, and once to encode them.

    All other columns are kept as they are. The encoder stays with the output, in its metadata,
    where the format has any.
    """
    names = [f"--{name.replace('_', '-')}" for name, values in typed.items() if values]
    if encoder_file is not None and names:
        text = "is part of what --encoder says; learn it again with that, and --save-encoder"
        raise click.UsageError(f"{names[0]} {text}")
    learning = Learning(columns, typed, encoder_file, max_features)
    run_encode(spec, learning, layout, output, save_encoder)


@commands.command(short_help="Bring back the columns that were encoded.", epilog=DECODE + SEE)
@with_input
@with_output
@click.option(
    "--encoder", "encoder_file", help="As --save-encoder wrote it; default: the one in IN."
)
@click.option("--layout", type=click.Choice(LAYOUTS), help="Default: by the types of the columns.")
def decode(spec: Input, output: Output, encoder_file: str | None, layout: str | None) -> None:
    """Bring back the columns that were encoded; what was off in all features is null."""
    run_decode(spec, encoder_file, layout, output)


@commands.command(short_help="Print what makes a shell complete options and columns.",
                  epilog=COMPLETION)  # fmt: skip
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what SHELL evaluates to complete commands, options, files and columns on Tab."""
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(commands, {}, "onehot-fast", COMPLETE).source())
