"""Files of several producers give the values that independent readers read, in every layout."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_files import pa, parquet

duckdb = pytest.importorskip("duckdb")
polars = pytest.importorskip("polars")
N_ROWS = 60


def table():
    """Return a table with a column of each kind of value, and missing values."""
    day = datetime.datetime(2024, 2, 29)
    columns = {
        "text": [["a", "b c", None, 'q"', "é,", "007"][row % 6] for row in range(N_ROWS)],
        "whole": [[1, -2, None][row % 3] for row in range(N_ROWS)],
        "number": [[0.5, 2.0, None, 1e300][row % 4] for row in range(N_ROWS)],
        "truth": [[True, False, None][row % 3] for row in range(N_ROWS)],
        "day": [(day + datetime.timedelta(days=row % 5)).date() for row in range(N_ROWS)],
        "moment": [day + datetime.timedelta(seconds=row % 7) for row in range(N_ROWS)],
        "price": [decimal.Decimal(row % 4).scaleb(-2) for row in range(N_ROWS)],
        "note": [f"note {row}" for row in range(N_ROWS)],
    }
    return pa.table(columns)


def written(folder):
    """Write the table with each library and format."""
    rows, frame = table(), polars.from_arrow(table())
    for version in ("1.0", "2.0"):
        parquet.write_table(rows, folder / f"pyarrow-{version}.parquet", data_page_version=version)
    frame.write_parquet(folder / "polars.parquet")
    frame.write_ipc(folder / "polars.arrow")
    frame.write_ipc_stream(folder / "polars.arrows")
    frame.write_csv(folder / "polars.csv")
    frame.write_csv(folder / "polars-all.tsv", separator="\t", quote_style="always")
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        for version in ("v1", "v2"):
            path = folder / f"duckdb-{version}.parquet"
            options = f"format parquet, parquet_version {version}"
            connection.sql(f"copy rows to '{path}' ({options})")
        connection.sql(f"copy rows to '{folder / 'duckdb.csv'}'")
    with pa.ipc.new_file(folder / "pyarrow.arrow", rows.schema) as writer:
        writer.write_table(rows, max_chunksize=7)
    pandas = pytest.importorskip("pandas")
    rows.to_pandas().to_csv(folder / "pandas.csv.gz", index=False)
    assert pandas.read_csv(folder / "pandas.csv.gz").shape == (N_ROWS, rows.num_columns)


def run(folder):
    """Run the tool, and return its status and its last line."""
    tools = Path(__file__).parents[2] / "tools"
    command = [sys.executable, "-m", "corpus", str(folder)]
    ended = subprocess.run(command, cwd=tools, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def test_files_of_producers_keep_their_values(here):
    """Kept, encoded and decoded values equal those of other readers, and so do their types."""
    folder = here / "files"
    folder.mkdir()
    written(folder)
    status, output = run(folder)
    n_files = len([*folder.iterdir()])
    assert (status, output) == (0, f"{n_files} equal\n")


def test_the_tool_notices_differences():
    """A tool that finds nothing could be one that does not look."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    try:
        from corpus import values
    finally:
        sys.path.pop(0)
    one = pa.chunked_array([[1.0, None, float("nan")]])
    assert values.difference(one, one) == ""
    assert "row 1" in values.difference(one, pa.chunked_array([[1.0, 2.0, float("nan")]]))
    assert "type" in values.difference(one, one.cast(pa.float32()))
    before, after = pa.table({"k": ["a", "b"]}), pa.table({"a": [True, False], "b": [False, True]})
    assert values.wrong_features(before, after) == ""
    assert values.wrong_features(before, after.slice(0, 2).set_column(1, "b", [[False, False]]))
    assert values.wrong_features(before, after.select([0]))
