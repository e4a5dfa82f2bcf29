"""Parquet to Parquet: columns that are kept cross over as the bytes they are, and are readable."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")
footer = pytest.importorskip("onehot_fast.cli.footer")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.cli import thrift  # noqa: E402
from onehot_fast.cli.errors import Exit  # noqa: E402
from onehot_fast.cli.pages import BitChunk, Codec  # noqa: E402

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


def chunks(path: Path) -> dict[str, list[bytes]]:
    """Return the bytes of the chunks of every leaf."""
    data = path.read_bytes()
    found = footer.read_footer(BytesIO(data))
    leaves: dict[str, list[bytes]] = {}
    for group in found.groups:
        for chunk in found.chunks(group):
            name = b".".join(chunk.metadata[3].value[1]).decode()
            leaves.setdefault(name, []).append(data[chunk.start : chunk.start + chunk.length])
    return leaves


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
def test_kept_columns_cross_over_as_bytes(
    options: dict[str, Any], call: Any, tmp_path: Path
) -> None:
    """However the file was written: the same bytes for what is kept, and a right table."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table(), source, row_group_size=200, **options)
    ended = call("encode", source, *COLUMNS, "-o", target)

    assert ended == (0, b"", "")
    table = parquet.read_table(source)
    wanted = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    result = parquet.read_table(target, page_checksum_verification=True)
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    assert result.equals(wanted)
    before, after = chunks(source), chunks(target)
    kept = {name: data for name, data in before.items() if name not in ("carrier", "dest")}
    assert {name: after[name] for name in kept} == kept


def test_what_metadata_says(call: Any, tmp_path: Path) -> None:
    """Row groups, statistics, sorting and page indexes are those of the input; ours are right."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    order = [parquet.SortingColumn(5), parquet.SortingColumn(1), parquet.SortingColumn(6)]
    table = pa.table({name: rich_table()[name] for name in ("noise", "carrier", "when")})
    order = [parquet.SortingColumn(0), parquet.SortingColumn(2), parquet.SortingColumn(1)]
    parquet.write_table(
        table, source, row_group_size=200, write_page_index=True, sorting_columns=order
    )
    call("encode", source, "-c", "carrier", "-o", target)

    metadata = [parquet.read_metadata(path) for path in (source, target)]
    groups = [one.row_group(0) for one in metadata]
    assert metadata[1].num_row_groups == metadata[0].num_row_groups == 3
    assert [column.column_index for column in groups[1].sorting_columns] == [0, 3]
    noise = [group.column(0) for group in groups]
    assert noise[0].statistics == noise[1].statistics
    assert noise[1].has_offset_index
    assert noise[1].has_column_index
    feature = groups[1].column(1)
    assert feature.path_in_schema == "carrier_AA"
    assert (feature.statistics.min, feature.statistics.max) == (False, True)
    assert feature.statistics.null_count == 0
    assert groups[1].total_byte_size == sum(
        groups[1].column(at).total_uncompressed_size for at in range(groups[1].num_columns)
    )


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
    """They are decoded for that; --no-check copies them without a look."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table(), source, write_page_checksum=True)
    data = bytearray(source.read_bytes())
    (noise,) = chunks(source)["noise"]
    data[data.index(noise) + len(noise) // 2] ^= 0xFF
    source.write_bytes(data)
    checked = call("encode", source, *COLUMNS, "-o", target)

    assert (checked.code, checked.error.count("\n"), target.exists()) == (Exit.CORRUPT, 1, False)
    assert call("encode", source, *COLUMNS, "-o", target, "--no-check").code == 0


def test_wide_features_are_written_in_smaller_groups(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the new columns of a row group are too large to wait, groups are as large as fits."""
    monkeypatch.setattr("onehot_fast.cli.rewrite.GROUP_BYTES", 1000)
    monkeypatch.setattr("onehot_fast.cli.sinks.GROUP_BYTES", 20_000)
    monkeypatch.setattr("onehot_fast.cli.pipeline.BATCH_BYTES", 10_000)
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(rich_table(), source)
    call("encode", source, *COLUMNS, "--dtype", "float64", "-o", target)

    table = parquet.read_table(source)
    wanted = arrow.encode(table, Encoder(["carrier", "dest"], dtype="float64").fit(table))
    assert parquet.read_table(target).equals(wanted)
    assert parquet.read_metadata(target).num_row_groups > 1


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=40), min_size=1, max_size=4), st.data()
)
def test_pages_of_bits(pages: list[list[bool]], data: st.DataObject) -> None:
    """A chunk of bits says what is in it, whatever the length and the offset of its pages."""
    column = BitChunk("x", Codec(data.draw(st.sampled_from([0, 1, 6]))))
    for page in pages:
        skipped = data.draw(st.integers(0, 17))
        column.add(pa.array([True] * skipped + page).slice(skipped))
    metadata = column.fields()[3].value
    every = [value for page in pages for value in page]

    assert metadata[5].value == len(every)
    assert (metadata[12].value[5].value, metadata[12].value[6].value) == (
        bytes([any(every)]), bytes([all(every)]),
    )  # fmt: skip
    assert metadata[7].value == sum(len(part) for part in column.parts)


values = st.deferred(
    lambda: (
        st.booleans().map(lambda flag: thrift.Value(thrift.TRUE, flag))
        | st.integers(-(2**63), 2**63 - 1).map(thrift.i64)
        | st.binary(max_size=20).map(thrift.binary)
        | st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20).map(
            lambda items: thrift.listed(thrift.I32, items)
        )
        | structs.map(thrift.struct)
    )
)
structs = st.dictionaries(st.integers(1, 200), values, max_size=5)


def plain(value: Any) -> Any:
    """Return a value without the two spellings of a Boolean's type."""
    if isinstance(value, thrift.Value):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


@given(structs)
def test_structs_come_back(fields: Any) -> None:
    """What is written is read again, to its end."""
    data = thrift.dumps(fields)

    assert plain(thrift.loads(data)[0]) == plain(fields)
    assert thrift.loads(data)[1] == len(data)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_struct_or_an_error(data: bytes) -> None:
    """Corrupt metadata is a ValueError."""
    try:
        _, end = thrift.loads(data)
    except ValueError:
        return
    assert 0 < end <= len(data)
