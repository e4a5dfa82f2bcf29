"""Who encodes a file: `onehot-fast encode` beside pyarrow, polars and DuckDB, in `FILE_WAYS`.

pyarrow alone encodes nothing: it is the floor of any program that decodes what it reads. Only our
way waits until the output is on the disk (fsync).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.kinds.files import ENCODED
from benchmarks.peak import peak
from benchmarks.peers.registry import OURSELVES

Convert = Callable[[Path, Path], None]


@dataclass(frozen=True)
class FileWay:
    """A way from one file to another; `encodes` says whether it does more than to read or write."""

    name: str
    library: str
    encodes: bool
    convert: Convert


FILE_WAYS: dict[str, FileWay] = {}
# The names by which targets and reports find our way, and what it is compared with.
ENCODE = f"{OURSELVES} encode"
PLAIN_READ, PLAIN_GROUPS = "pyarrow read", "pyarrow read and write, row groups"


def file_way(name: str, *, library: str, encodes: bool = True) -> Callable[[Convert], Convert]:
    """Enter the decorated function into the table."""

    def enter(convert: Convert) -> Convert:
        full_name = f"{library} {name}"
        FILE_WAYS[full_name] = FileWay(full_name, library, encodes, convert)
        return convert

    return enter


def _parquet() -> Any:
    return import_module("pyarrow.parquet")


@file_way("read", library="pyarrow", encodes=False)
def read(source: Path, target: Path) -> None:
    """Read with pyarrow alone."""
    for _ in _parquet().ParquetFile(source).iter_batches(1 << 17):
        pass


@file_way("read and write, batches of 65,536 rows", library="pyarrow", encodes=False)
def rewrite_batches(source: Path, target: Path) -> None:
    """Read and write batches of the default size."""
    _rewrite(source, target, 1 << 16)


@file_way("read and write, row groups", library="pyarrow", encodes=False)
def rewrite_groups(source: Path, target: Path) -> None:
    """Read and write row groups as they are."""
    _rewrite(source, target, _rows_of_group(source))


def _rows_of_group(source: Path) -> int:
    return int(_parquet().read_metadata(source).row_group(0).num_rows)


def _rewrite(source: Path, target: Path, batch: int) -> None:
    """Read and write with pyarrow alone, a batch at a time."""
    file = _parquet().ParquetFile(source)
    with _parquet().ParquetWriter(target, file.schema_arrow) as writer:
        for rows in file.iter_batches(batch):
            writer.write_batch(rows)


@file_way("encode", library=OURSELVES)
def ours(source: Path, target: Path) -> None:
    """Encode with our command."""
    _run_command(source, "-o", str(target))


@file_way("encode, parts of 500,000 rows", library=OURSELVES)
def ours_in_parts(source: Path, target: Path) -> None:
    """Encode with our command into a folder of files of half a million rows."""
    _run_command(source, "--rows-per-file", "500000", "-o", f"{target.with_suffix('')}/")


def _run_command(source: Path, *options: str) -> None:
    main = import_module("onehot_fast.cli").main
    chosen = [word for name in ENCODED for word in ("-c", name)]
    if main(["encode", str(source), *chosen, "--overwrite", "-q", *options]):
        raise RuntimeError("the command failed")


@file_way("scan, expressions, sink", library="polars")
def polars_lazy(source: Path, target: Path) -> None:
    """Encode with an expression of polars for every category, streamed."""
    pl = import_module("polars")
    rows = pl.scan_parquet(source)
    features = []
    for name in ENCODED:
        known = rows.select(pl.col(name).drop_nulls().unique().sort()).collect(engine="streaming")
        features += [(pl.col(name) == one).alias(f"{name}_{one}") for one in known[name]]
    encoded = rows.select(pl.exclude(ENCODED), *features)
    encoded.sink_parquet(target, compression="snappy", row_group_size=_rows_of_group(source))


@file_way("to_dummies", library="polars")
def polars(source: Path, target: Path) -> None:
    """Encode with polars' `to_dummies`, which needs the whole table."""
    pl = import_module("polars")
    pl.read_parquet(source).to_dummies(list(ENCODED)).write_parquet(target, compression="snappy")


@file_way("SQL", library="duckdb")
def duckdb(source: Path, target: Path) -> None:
    """Encode with SQL: a comparison for every category."""
    db = import_module("duckdb").connect()
    columns = []
    for name in ENCODED:
        query = f"select distinct {name} from '{source}' where {name} is not null order by 1"
        columns += [
            f"{name} = '{value}' as {name}_{value}" for (value,) in db.sql(query).fetchall()
        ]
    kept = f"* exclude ({', '.join(ENCODED)})"
    db.sql(
        f"copy (select {kept}, {', '.join(columns)} from '{source}') to '{target}'"
        " (format parquet, compression snappy)"
    )


def run(name: str, source: str, target: str) -> dict[str, float]:
    """Return the seconds, the processor's seconds and the peak memory of one way here."""
    start, used = time.perf_counter(), time.process_time()
    FILE_WAYS[name].convert(Path(source), Path(target))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"file": seconds, "file processor": used, "file peak": peak()}
