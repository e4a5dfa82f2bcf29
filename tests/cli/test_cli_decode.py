"""``onehot-fast decode``: the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

COLUMNS = ["-c", "carrier", "-c", "dest"]
LAYOUTS = ["columns", "struct", "array", "tensor", "dictionary"]


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow"])
@pytest.mark.parametrize("source", ["in.parquet", "in.arrow"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_there_and_back(
    layout: str, source: str, target: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """An encoded file says itself how it was encoded; decoded, it is what it was."""
    path = files.write(table, tmp_path / source)
    middle = tmp_path / f"middle.{source.split('.')[1]}"
    call("encode", path, *COLUMNS, "--layout", layout, "-o", middle)
    ended = call("decode", middle, "-o", tmp_path / target)

    assert ended == (0, b"", "")
    result = files.read(tmp_path / target)
    assert result.schema.equals(table.schema, check_metadata=False)
    assert result.equals(table)
    assert b"onehot_fast.encoder" not in result.schema.metadata
    assert result.schema.metadata[b"made_by"] == b"the tests"


@pytest.mark.parametrize("mode", ["sparse", "dense"])
def test_unions_are_kept(mode: str, files: Any, call: Any, tmp_path: Path) -> None:
    """Pyarrow makes no empty table of a union."""
    kinds = pa.array([0, 1, 0], pa.int8())
    numbers, texts = pa.array([1, 2, 3]), pa.array(["x", "y", "z"])
    if mode == "sparse":
        union = pa.UnionArray.from_sparse(kinds, [numbers, texts])
    else:
        places = pa.array([0, 0, 1], pa.int32())
        union = pa.UnionArray.from_dense(kinds, places, [numbers, texts])
    table = pa.table({"union": union, "text": ["a", "b", "a"]})
    path, middle, out = (tmp_path / f"{name}.arrow" for name in ("in", "middle", "out"))
    files.write(table, path)

    assert call("encode", path, "-o", middle) == (0, b"", "")
    assert call("decode", middle, "-o", out) == (0, b"", "")
    assert files.read(out).to_pydict() == table.to_pydict()


@pytest.mark.parametrize("layout", ["columns", "dictionary"])
def test_there_and_back_in_text(
    layout: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """CSV has no metadata: the encoder comes from its file."""
    path = files.write(table, tmp_path / "in.csv")
    saved = "--save-encoder", tmp_path / "encoder.json"
    call("encode", path, *COLUMNS, "--layout", layout, *saved, "-o", tmp_path / "middle.csv")
    encoder = "--encoder", tmp_path / "encoder.json"
    ended = call("decode", tmp_path / "middle.csv", *encoder, "-o", tmp_path / "out.csv")

    assert ended == (0, b"", "")
    assert files.read(tmp_path / "out.csv").equals(files.read(path))


def test_without_an_encoder(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """A file that does not say how it was encoded is refused."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("decode", path, "-o", tmp_path / "out.parquet")

    assert (ended.code, ended.error.count("\n")) == (Exit.SCHEMA, 1)
    assert not (tmp_path / "out.parquet").exists()


def test_an_encoder_of_another_file(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Features that are not there are an error of the encoder."""
    path = files.write(table, tmp_path / "in.parquet")
    saved = "--save-encoder", tmp_path / "encoder.json"
    call("encode", path, *COLUMNS, *saved, "-o", tmp_path / "middle.parquet")
    other = files.write(table.select(["id"]), tmp_path / "other.parquet")
    encoder = "--encoder", tmp_path / "encoder.json"
    ended = call("decode", other, *encoder, "-o", tmp_path / "x.parquet")

    assert (ended.code, ended.error.count("\n")) == (Exit.SCHEMA, 1)


def test_two_features_that_are_on(files: Any, call: Any, tmp_path: Path) -> None:
    """A row that stands for two values is refused by its number."""
    path = files.write(pa.table({"size": ["S", "L"]}), tmp_path / "in.parquet")
    saved = "--save-encoder", tmp_path / "encoder.json"
    call("encode", path, *saved, "-o", tmp_path / "middle.parquet")
    both = pa.table({"size_L": [True, False], "size_S": [True, True]})
    wrong = files.write(both, tmp_path / "wrong.parquet")
    ended = call(
        "decode", wrong, "--encoder", tmp_path / "encoder.json", "-o", tmp_path / "x.parquet"
    )

    assert (ended.code, ended.error.count("\n")) == (Exit.VALUE, 1)
    assert "row 0" in ended.error
