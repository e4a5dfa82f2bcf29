"""Parquet with columns of bits among those of pyarrow: the same table and metadata for everyone."""

from __future__ import annotations

import itertools
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")

from onehot_fast.cli.parquet import CODECS, GroupWriter  # noqa: E402
from onehot_fast.cli.parquet import footer as thrift  # noqa: E402

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(
    ["a.b", "a"]
)
KINDS = {
    pa.int64(): st.none() | st.integers(0, 3),
    pa.float64(): st.none() | st.floats(allow_nan=False),
    pa.string(): st.none() | st.text("ab", max_size=3),
    pa.bool_(): st.none() | st.booleans(),
    pa.list_(pa.int32()): st.none() | st.lists(st.integers(0, 3), max_size=2),
    pa.struct({"x": pa.int8(), "y": pa.list_(pa.struct({"z": pa.bool_()}))}): st.fixed_dictionaries(
        {"x": st.none() | st.just(1), "y": st.lists(st.just({"z": True}), max_size=2)}
    ),
    pa.dictionary(pa.int8(), pa.string()): st.none() | st.sampled_from(["u", "v"]),
}
BITS = pa.bool_()


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, list[str]]:
    """Return a table, and the names of those columns that were made by encoding."""
    n_rows = draw(st.integers(0, 70))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    fields, columns, new = [], [], []
    for name in names:
        metadata = draw(st.none() | st.just({"unit": "m"}))
        if draw(st.booleans()):
            kind, values, nullable = BITS, st.booleans(), draw(st.integers(0, 5)) == 0
            new.append(name)
        else:
            kind, nullable = draw(st.sampled_from(list(KINDS))), True
            values = KINDS[kind]
        values = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        fields.append(pa.field(name, kind, nullable=nullable, metadata=metadata))
        columns.append(pa.array(values, kind))
    schema = pa.schema(fields, draw(st.none() | st.just({"made_by": "the tests"})))
    return pa.Table.from_arrays(columns, schema=schema), new


def check_layout(path: Path) -> None:
    """Assert that the chunks of the columns fill the file, and sizes add up."""
    found, content = parquet.read_metadata(path), path.read_bytes()
    ranges = []
    for i in range(found.num_row_groups):
        group = found.row_group(i)
        chunks = [group.column(k) for k in range(group.num_columns)]
        for chunk in chunks:
            offsets = chunk.dictionary_page_offset, chunk.data_page_offset
            start = min(offset for offset in offsets if offset)
            ranges.append((start, start + chunk.total_compressed_size))
        assert group.total_byte_size == sum(chunk.total_uncompressed_size for chunk in chunks)
    ends = [4, *itertools.chain.from_iterable(sorted(ranges))]
    ends.append(len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    assert all(stop == start for stop, start in zip(ends[::2], ends[1::2], strict=True))


def facts(path: Path, new: list[str]) -> Any:
    """Return what the metadata say, but for encodings and sizes, and statistics of new columns."""
    found = parquet.read_metadata(path)
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    chunks = [group.column(k) for group in groups for k in range(group.num_columns)]
    return (
        (found.created_by, found.format_version, found.num_rows, found.metadata),
        [str(found.schema.column(i)) for i in range(found.num_columns)],
        [group.num_rows for group in groups],
        [(c.path_in_schema, c.num_values, c.compression, c.physical_type) for c in chunks],
        [c.statistics.to_dict() for c in chunks if c.path_in_schema in new],
    )


@examples(0.3)
@given(
    tables(),
    st.sampled_from(list(CODECS)),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(1, 30),
    st.sampled_from([8, 64, 1 << 20]),
)
def test_the_table_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    made: tuple[Any, list[str]],
    codec: str,
    group_rows: list[int],
    batch_rows: int,
    page_rows: int,
) -> None:
    """Whatever the columns, row groups, slices, pages and codec: as if pyarrow had written it."""
    (table, new), folder = made, tmp_path_factory.mktemp("parquet")
    path, wanted = folder / "ours.parquet", folder / "theirs.parquet"
    with (
        pa.OSFile(str(path), "wb") as file,
        parquet.ParquetWriter(wanted, table.schema, compression=codec) as peer,
    ):
        writer = GroupWriter(file, table.schema, new, codec, page_rows=page_rows)
        start = 0
        for n_rows in itertools.cycle(group_rows):
            group = table.slice(start, n_rows)
            if not len(group):
                break
            writer.write(pa.Table.from_batches(group.to_batches(batch_rows), table.schema))
            peer.write_table(group, n_rows)
            start += n_rows
        writer.close()

    result, peers = parquet.read_table(path), parquet.read_table(wanted)
    assert result.schema.equals(peers.schema, check_metadata=True)
    assert result.to_pydict() == peers.to_pydict() == table.to_pydict()
    check_layout(path)
    assert facts(path, new) == facts(wanted, new)
    if find_spec("polars"):
        read = import_module("polars").read_parquet
        # Not by `equals`: to polars 1.20 no Categorical of nulls alone equals another one.
        assert read(path).schema == read(wanted).schema
        assert repr(read(path).rows()) == repr(read(wanted).rows())
    if find_spec("duckdb"):
        query = import_module("duckdb").connect().sql
        assert query(f"from '{path}'").fetchall() == query(f"from '{wanted}'").fetchall()


fields = st.deferred(
    lambda: st.dictionaries(st.integers(1, 300), typed).map(
        lambda found: dict(sorted(found.items()))
    )
)
numbers = st.integers(-(1 << 63), (1 << 63) - 1)
typed = (
    st.booleans().map(lambda value: (1 if value else 2, value))
    | st.tuples(st.sampled_from([thrift.I16, thrift.I32, thrift.I64]), numbers)
    | st.tuples(st.just(thrift.BINARY), st.binary(max_size=200))
    | st.tuples(st.just(thrift.STRUCT), fields)
    | st.tuples(
        st.just(thrift.LIST),
        st.tuples(st.just(thrift.STRUCT), st.lists(fields, max_size=20))
        | st.tuples(st.just(thrift.I64), st.lists(numbers, max_size=20)),
    )
)


@examples(0.2)
@given(fields)
def test_thrift_comes_back(struct: thrift.Struct) -> None:
    """What was encoded is decoded, whatever follows it."""
    assert thrift.decode(thrift.encode(struct) + b"\xff") == struct


@pytest.mark.parametrize("codec", list(CODECS))
def test_threads_compress_without_each_other(codec: str, tmp_path: Path) -> None:
    """Pieces that several threads compress at a time are what each alone would make of them."""
    n_rows, n_groups, names = 4000, 60, [f"x_{i}" for i in range(20)]
    draw = np.random.default_rng(0)
    schema = pa.schema([pa.field(name, pa.bool_(), nullable=False) for name in names])
    values = [draw.random(n_rows * n_groups) < share for share in draw.random(len(names))]
    table = pa.Table.from_arrays([pa.array(each) for each in values], schema=schema)
    path = tmp_path / "bits.parquet"
    with pa.OSFile(str(path), "wb") as file:
        writer = GroupWriter(file, schema, names, codec)
        for start in range(0, len(table), n_rows):
            writer.write(table.slice(start, n_rows))
        writer.close()

    assert parquet.read_table(path).equals(table)
