"""Parquet to Parquet: however a file was written, what is kept is kept, and others read it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.cli.conversion import batch_rows  # noqa: E402
from onehot_fast.cli.errors import Exit  # noqa: E402
from onehot_fast.cli.places import Format, place_of  # noqa: E402
from onehot_fast.cli.readers import ParquetReader  # noqa: E402

COLUMNS = ["-c", "carrier", "-c", "dest"]


def rich_table(n_rows: int = 500) -> Any:
    """Return a table with nested, repeated and dictionary columns around the encoded ones."""
    draw = np.random.default_rng(0)
    numbers = range(n_rows)
    return pa.table(
        {
            "tags": [None if row % 7 == 0 else [f"t{row % 5}"] * (row % 4) for row in numbers],
            "carrier": [["UA", "AA", None][row % 3] for row in numbers],
            "place": [{"x": row, "y": {"z": [row, None]}} for row in numbers],
            "colour": pa.array([f"c{row % 9}" for row in numbers]).dictionary_encode(),
            "dest": [f"D{row % 40}" for row in numbers],
            "noise": draw.random(n_rows),
            "when": pa.array(draw.integers(0, 10**15, n_rows), pa.timestamp("us", "UTC")),
            "price": pa.array(numbers, pa.decimal128(12, 2)),
        }
    )


OPTIONS = {
    "default": {},
    "no compression": {"compression": "none"},
    "zstd": {"compression": "zstd"},
    "gzip": {"compression": "gzip"},
    "brotli": {"compression": "brotli"},
    "lz4": {"compression": "lz4"},
    "pages of version 2": {"data_page_version": "2.0"},
    "checksums": {"write_page_checksum": True},
    "page index": {"write_page_index": True},
    "no statistics": {"write_statistics": False},
    "no dictionaries": {"use_dictionary": False},
    "small pages": {"data_page_size": 256},
    "old version": {"version": "1.0"},
    "no Arrow schema": {"store_schema": False},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_kept_columns_are_kept(options: dict[str, Any], call: Any, tmp_path: Path) -> None:
    """However the file was written: the table, and the row groups, are right."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table(), source, row_group_size=200, **options)
    ended = call("encode", source, *COLUMNS, "-o", target)

    assert ended == (0, b"", "")
    table = parquet.read_table(source)
    wanted = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    result = parquet.read_table(target, page_checksum_verification=True)
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    # By values: each row group may have a dictionary of its own.
    assert result.to_pydict() == wanted.to_pydict()
    before, after = (parquet.read_metadata(path) for path in (source, target))
    assert after.num_row_groups == before.num_row_groups == 3
    codecs = [each.row_group(0).column(0).compression for each in (before, after)]
    assert codecs[0] == codecs[1]


@pytest.mark.parametrize("layout", ["columns", "struct", "array", "dictionary"])
@pytest.mark.parametrize("dtype", ["bool", "uint8"])
def test_statistics_of_all_but_bits(layout: str, dtype: str, call: Any, tmp_path: Path) -> None:
    """What is kept has statistics as before; bits within a structure have none."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table().append_column("a.b", pa.array([True] * 500)), source)
    form = "--layout", layout, "--dtype", dtype
    assert call("encode", source, *COLUMNS, *form, "-o", target) == (0, b"", "")

    def described(path: Path) -> dict[str, bool]:
        group = parquet.read_metadata(path).row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        return {column.path_in_schema: column.is_stats_set for column in columns}

    before, after = described(source), described(target)
    kept = {path: has for path, has in before.items() if path not in ("carrier", "dest")}
    assert kept.items() <= after.items()
    assert any(kept.values())
    made = {has for path, has in after.items() if path not in kept}
    assert made == {layout != "struct" or dtype != "bool"}


def test_dictionaries_where_they_pay(call: Any, tmp_path: Path) -> None:
    """Of what is kept, texts and repeated numbers keep their dictionaries; noise gets none."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    noise = np.random.default_rng(0).random(5000)
    columns = {"noise": noise, "few": noise.round(1), "text": ["a", "b"] * 2500}
    table = pa.table({**columns, "bare": columns["text"], "size": ["S", "L"] * 2500})
    parquet.write_table(table, source, use_dictionary=["noise", "few", "text", "size"])
    assert call("encode", source, "-c", "size", "-o", target) == (0, b"", "")

    group = parquet.read_metadata(target).row_group(0)
    chunks = [group.column(i) for i in range(4)]
    coded = {chunk.path_in_schema for chunk in chunks if chunk.has_dictionary_page}
    assert coded == {"few", "text"}
    assert parquet.read_table(target).select(list(columns)).equals(table.select(list(columns)))


def test_texts_that_repeat(call: Any, tmp_path: Path) -> None:
    """They are read and written by their dictionaries, which differ between row groups."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    rows = range(6000)
    texts = [None if row % 11 == 0 else f"{row // 2000}: {row % 7}" for row in rows]
    table = pa.table(
        {
            "size": ["S", "L"] * 3000,
            "text": pa.array(texts, pa.string()),
            "large": pa.array(texts, pa.large_string()),
            "bytes": pa.array(texts, pa.binary()),
            "nothing": pa.nulls(6000, pa.string()),
            "once": [f"{row}" for row in rows],
            "at first": [f"{0 if row < 2000 else row}" for row in rows],
        }
    )
    parquet.write_table(table, source, row_group_size=2000)
    reader = ParquetReader(place_of(str(source)), "in.parquet", Format("parquet"))
    assert reader.repeated == {"size", "text", "large", "bytes", "nothing"}

    for rows_of_group in "2000", "5000":
        options = "-c", "size", "--row-group-size", rows_of_group, "--overwrite"
        assert call("encode", source, *options, "-o", target) == (0, b"", "")
        kept = table.drop_columns(["size"])
        assert parquet.read_table(target).select(kept.column_names).equals(kept)
        found = parquet.read_metadata(target).row_group(0).column(2).statistics
        assert (found.min, found.max) == ("0: 0", "2: 6" if rows_of_group == "5000" else "0: 6")


def test_nothing_is_kept(run: Any, tmp_path: Path) -> None:
    """A file of nothing but features is written without pyarrow's writer, or pandas."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(pa.table({"size": ["S", "L", None] * 50}), source, row_group_size=40)
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    ended = run("encode", source, "-c", "size", "-o", target, env=environment)

    table = parquet.read_table(target)
    assert table.to_pydict() == {"size_L": [0, 1, 0] * 50, "size_S": [1, 0, 0] * 50}
    assert parquet.read_metadata(target).num_row_groups == 4
    assert ended.code == 0
    assert "pyarrow.parquet" in ended.error
    assert "pandas" not in ended.error


def test_filters_use_the_metadata(call: Any, tmp_path: Path) -> None:
    """Readers that skip row groups by statistics, and pages by index, find the rows."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pa.table({"key": list(range(1000)), "size": ["S"] * 500 + ["L"] * 500})
    parquet.write_table(table, source, row_group_size=250, write_page_index=True)
    call("encode", source, "-c", "size", "-o", target)

    found = parquet.read_table(target, filters=[("size_L", "==", True), ("key", "<", 600)])
    assert found["key"].to_pylist() == list(range(500, 600))


@pytest.mark.parametrize("library", ["polars", "duckdb", "pandas"])
def test_other_libraries_read_it(library: str, call: Any, tmp_path: Path) -> None:
    """The file is Parquet for everyone."""
    module = pytest.importorskip(library)
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = rich_table().select(["noise", "carrier", "dest", "when"])
    parquet.write_table(table, source, row_group_size=200, write_page_index=True)
    call("encode", source, *COLUMNS, "-o", target)

    wanted = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    if library == "duckdb":
        result = module.sql(f"select * from '{target}'").to_arrow_table()
    elif library == "polars":
        result = module.read_parquet(target).to_arrow()
    else:
        result = pa.Table.from_pandas(module.read_parquet(target))
    assert result.select(wanted.schema.names).cast(wanted.schema).equals(wanted)


def test_an_encrypted_footer_is_refused(call: Any, tmp_path: Path) -> None:
    """What needs a key is not read, and said so."""
    (tmp_path / "in.parquet").write_bytes(b"PARE" + bytes(100) + b"\x10\0\0\0PARE")
    ended = call("encode", tmp_path / "in.parquet", *COLUMNS, "-o", tmp_path / "out.parquet")

    assert (ended.code, ended.error.count("\n")) == (Exit.CORRUPT, 1)


def test_corrupt_kept_columns_are_noticed(call: Any, tmp_path: Path) -> None:
    """They are decoded on the way, and where their pages have checksums these are looked at."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table(), source, write_page_checksum=True, use_dictionary=False)
    data = bytearray(source.read_bytes())
    noise = parquet.read_metadata(source).row_group(0).column(6)
    assert noise.path_in_schema == "noise"
    data[noise.data_page_offset + noise.total_compressed_size // 2] ^= 0xFF
    source.write_bytes(data)
    ended = call("encode", source, *COLUMNS, "-o", target)

    assert (ended.code, ended.error.count("\n"), target.exists()) == (Exit.CORRUPT, 1, False)


def test_long_texts_that_the_file_has_once(call: Any, tmp_path: Path) -> None:
    """Batches are as small as the texts of a dictionary are long, not as its pages."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    long = ["A" * 400_000, "B"]
    table = pa.table({"size": ["S", "L"] * 50, "kept": long * 50, "n": [[1]] * 100})
    parquet.write_table(table, source, row_group_size=50)
    reader = ParquetReader(place_of(str(source)), "in.parquet", Format("parquet"))
    assert source.stat().st_size < 100_000
    assert batch_rows(reader.row_bytes) * 400_000 < 100 << 20

    assert call("encode", source, "-o", target, "-c", "size").code == 0
    assert parquet.read_table(target)["kept"].equals(table["kept"])


def test_what_the_file_has_once_for_many_rows(tmp_path: Path) -> None:
    """Batches are as small as numbers are wide, and texts long, wherever they are nested."""
    source = tmp_path / "in.parquet"
    lists = [[{"x": "A" * 100_000}]] * 1000
    table = pa.table({"kept": lists, "n": [[7] * 1000] * 1000, "size": ["S", "L"] * 500})
    parquet.write_table(table, source, row_group_size=500)
    reader = ParquetReader(place_of(str(source)), "in.parquet", Format("parquet"))

    assert source.stat().st_size < 100_000
    assert reader._longest_texts() == pytest.approx(100_001, abs=1)
    assert reader._fixed_bytes(reader.metadata.row_group(0)) == 8000
    assert batch_rows(reader.row_bytes) * 100_000 < 100 << 20


def test_wide_features_are_written_in_smaller_groups(call: Any, tmp_path: Path) -> None:
    """A row group that is too large to wait in memory is divided."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pa.table({"size": pa.array([f"s{row % 100}" for row in range(120_000)])})
    parquet.write_table(table, source)
    call("encode", source, "--dtype", "float64", "-o", target)

    wanted = arrow.encode(table, Encoder(dtype="float64").fit(table))
    assert parquet.read_table(target).equals(wanted)
    assert parquet.read_metadata(target).num_row_groups > 1
