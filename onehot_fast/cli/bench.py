"""``onehot-fast bench``: how long the parts of an encoding take with a file, here and now."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click
import pyarrow as pa

from onehot_fast.adapter import human_size
from onehot_fast.cli.conversion import Output, convert
from onehot_fast.cli.encode import encoding
from onehot_fast.cli.learning import chosen_columns, learn
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.policies import new_encoder
from onehot_fast.cli.signals import raise_if_signalled
from onehot_fast.cli.sinks import WriteOptions, open_sink
from onehot_fast.cli.sources import Input, Source, open_source

__all__ = ["run_bench"]


def run_bench(given: Input, columns: Sequence[str], layout: str, folder: str | None) -> None:
    """Time the parts of an encoding, and print them.

    Raises
    ------
    CommandError
        See `Exit`.
    """
    times: dict[str, float] = {}
    with ExitStack() as resources:
        source = open_source(given, resources)
        chosen = chosen_columns(source, columns)
        with _timed(times, "read"):
            _drain(source)
        with _timed(times, "learn"):
            encoder = learn(source, new_encoder(chosen, {}), _ignore)
        change = encoding(source, encoder, layout)
        with _timed(times, "encode, without writing"):
            rows = batch_rows(source.row_bytes, change.row_bytes)
            kept = source.coded_schema(change.old)
            schema = pa.schema([kept.field(name) for name in kept.names if name in change.old])
            with closing(ahead(source.batches(rows, change.old, coded=change.old))) as batches:
                for _ in change.apply(pa.RecordBatchReader.from_batches(schema, batches)):
                    pass
        spare = resources.enter_context(tempfile.TemporaryDirectory(dir=folder))
        with _timed(times, "read and write with pyarrow alone"):
            _copy(source, Path(spare, "copy"))
        path = Path(spare, f"encoded{source.format.suffix}")
        with _timed(times, "encode, from file to file"):
            convert(source, change, Output(str(path), is_quiet=True))
        _show(source, times, os.path.getsize(path), len(change.new))


@contextmanager
def _timed(times: dict[str, float], name: str) -> Iterator[None]:
    """Note how long a block takes."""
    start = time.perf_counter()
    yield
    times[name] = time.perf_counter() - start


def _drain(source: Source) -> None:
    """Read all rows."""
    with closing(ahead(source.batches(batch_rows(source.row_bytes)))) as parts:
        for _ in parts:
            pass


def _copy(source: Source, path: Path) -> None:
    """Read and write all rows, nothing else, in one thread after the other."""
    first = source.readers[0]
    options = WriteOptions(compression=first.compression, group_rows=first.group_rows)
    with (
        pa.OSFile(str(path), "wb") as file,
        open_sink(file, str(path), source.schema, source.format, options) as sink,
    ):
        for batch in source.batches(batch_rows(source.row_bytes)):
            raise_if_signalled()
            sink.write(batch)


def _show(source: Source, times: dict[str, float], n_bytes: int, n_new: int) -> None:
    """Print the times."""
    click.echo(f"{source.name}: {human_size(source.n_bytes)}; {n_new} new columns in the output,")
    click.echo(f"which has {human_size(n_bytes)}")
    for name, seconds in times.items():
        speed = human_size(round(source.n_bytes / seconds))
        click.echo(f"{name:36}{seconds:9.3f} s {speed:>12}/s")
    click.echo(f"{'peak of the memory':36}{human_size(peak()):>11}")


def peak() -> int:
    """Return the most bytes that this process ever held."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _ignore(share: float) -> None:
    """Show nothing."""
