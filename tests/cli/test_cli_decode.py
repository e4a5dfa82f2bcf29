"""``onehot-fast decode``: what was encoded comes back; test_cli_encode.py decodes layouts."""

from __future__ import annotations

import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from support import command_files as files
from support.command_files import pa


@pytest.mark.parametrize("layout", ["columns", "dictionary"])
def test_text_is_decoded_with_a_saved_encoder(layout, table, done):
    """CSV has no metadata: the encoder comes from its file."""
    path = files.write(table, Path("in.csv"))
    done(f"encode in.csv -c carrier,dest --layout {layout} --save-encoder e.json -o middle.csv")
    done("decode middle.csv --encoder e.json -o out.csv")
    assert files.read(Path("out.csv")).equals(files.read(path))


@pytest.mark.parametrize("is_dense", [False, True])
def test_unions_are_kept(is_dense, done):
    """A union has no empty table in pyarrow."""
    make = pa.UnionArray.from_dense if is_dense else pa.UnionArray.from_sparse
    places = [pa.array([0, 0, 1], pa.int32())] if is_dense else []
    children = [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]
    union = make(pa.array([0, 1, 0], pa.int8()), *places, children)
    table = pa.table({"union": union, "text": ["a", "b", "a"]})
    files.write(table, Path("in.arrow"))

    done("encode in.arrow -o middle.arrow")
    done("decode middle.arrow -o out.arrow")
    assert files.read(Path("out.arrow")).to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    ("kind", "suffix"), [("texts", "csv"), ("texts", "parquet"), ("lists", "arrow")]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_column_without_features_returns_to_its_place(kind, place, suffix, done):
    """A column of missing values has no features; decode knows where it was."""
    names = ["n", "size"]
    names.insert(place, "nothing")
    nothing = pa.nulls(2, pa.string() if kind == "texts" else pa.list_(pa.string()))
    table = pa.table({"n": [1, 2], "size": ["S", "L"], "nothing": nothing}).select(names)
    files.write(table, Path(f"in.{suffix}"))
    saved = "--save-encoder e.json" + " --text-column nothing" * (suffix == "csv")
    done(f"encode in.{suffix} -c size,nothing {saved} -o middle.{suffix}")
    done(f"decode middle.{suffix} --encoder e.json -o out.{suffix}")

    assert "nothing" not in files.read(Path(f"middle.{suffix}")).column_names
    assert files.read(Path(f"out.{suffix}")).column_names == names


@pytest.mark.parametrize(
    ("moment", "zone"),
    [("1930-05-01", "Europe/Amsterdam"), ("1900-01-01", "Europe/Paris"),
     ("1850-05-01", "US/Pacific"), ("1960-01-01", "Africa/Monrovia")],
)  # fmt: skip
def test_zones_may_have_an_offset_with_seconds(moment, zone, done):
    """The encoder in a Parquet file keeps such times, and decode returns them."""
    day = datetime.datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    assert day.utcoffset().total_seconds() % 60
    times = pa.array([day, None, day + datetime.timedelta(days=1)], pa.timestamp("us", zone))
    table = pa.table({"t": times, "n": [1, 2, 3]})
    files.write(table, Path("in.parquet"))

    done("encode in.parquet -c t -o middle.parquet")
    done("decode middle.parquet -o out.parquet")
    found = files.read(Path("out.parquet"))
    assert found.schema.types == table.schema.types
    assert found["t"].to_pylist() == table["t"].to_pylist()
