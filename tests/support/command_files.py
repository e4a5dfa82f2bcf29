"""Files in every format for the tests of the command, and the modules that these tests need."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

for library in ("click", "rich"):
    pytest.importorskip(library)
pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")
pytest.importorskip("onehot_fast.cli.commands")  # all modules, before a test patches a function
Exit = pytest.importorskip("onehot_fast.cli.messages").Exit


def make(n_rows: int = 1000) -> Any:
    """Return a table of several types, with nulls, and metadata."""
    carriers = ["UA", "AA", None, "B6", "DL é"]
    rows = range(n_rows)
    columns = {
        pa.field("id", pa.int64(), nullable=False, metadata={"unit": "none"}): rows,
        pa.field("carrier", pa.string()): [carriers[row * 7 % 5] for row in rows],
        pa.field("delay", pa.float64()): [None if row % 11 == 0 else row / 3 for row in rows],
        pa.field("dest", pa.string()): [f"D{row * row % 23:02}" for row in rows],
        pa.field("month", pa.int32()): [row % 12 + 1 for row in rows],
        pa.field("late", pa.bool_()): [row % 3 == 0 for row in rows],
    }
    arrays = [pa.array(values, field.type) for field, values in columns.items()]
    return pa.Table.from_arrays(arrays, schema=pa.schema(list(columns), {"made_by": "the tests"}))


def write(table: Any, path: Path) -> Path:
    """Write a table in the format that the name of the file says; Parquet in small row groups."""
    first = path.name.split(".")[1]
    if first == "parquet":
        parquet.write_table(table, path, row_group_size=300)
    elif first in ("arrow", "feather", "arrows"):
        make = pa.ipc.new_stream if first == "arrows" else pa.ipc.new_file
        with (
            pa.output_stream(str(path), compression="detect") as file,
            make(file, table.schema) as writer,
        ):
            writer.write_table(table, max_chunksize=300)
    else:
        options = csv.WriteOptions(delimiter="\t" if first == "tsv" else ",")
        with pa.output_stream(str(path), compression="detect") as file:
            csv.write_csv(table, file, options)
    return path


def read(path: Path) -> Any:
    """Read a file in the format that its name says."""
    first = path.name.split(".")[1]
    if first == "parquet":
        return parquet.read_table(path, partitioning=None, page_checksum_verification=True)
    with pa.input_stream(str(path), compression="detect") as file:
        if first in ("arrow", "feather"):
            return pa.ipc.open_file(pa.BufferReader(file.read())).read_all()
        if first == "arrows":
            return pa.ipc.open_stream(file).read_all()
        options = csv.ParseOptions(delimiter="\t" if first == "tsv" else ",")
        return csv.read_csv(file, parse_options=options)


def leftovers(folder: Path) -> list[str]:
    """Return the temporary files in a folder."""
    return [name for name in os.listdir(folder) if name.endswith(".onehot-fast-part")]
