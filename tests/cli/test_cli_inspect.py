"""``onehot-fast inspect``, and what a terminal sees."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")

from onehot_fast import Encoder  # noqa: E402

FORMATS = ["in.parquet", "in.arrow", "in.arrows", "in.csv"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_in_a_file(name: str, table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Types, nulls, cardinalities, and the sizes that `Encoder.estimate` gives."""
    path = files.write(table, tmp_path / name)
    ended = call("inspect", path, "-c", "carrier", "-c", "dest", "--json")

    assert (ended.code, ended.error) == (0, "")
    report = json.loads(ended.out)
    source = files.read(path)
    if name == "in.csv":
        source = source.set_column(1, "carrier", table["carrier"])
    assert report["rows"] == 1000
    columns = report["columns"]
    assert [column["name"] for column in columns] == table.schema.names
    assert [column["type"] for column in columns] == [str(kind) for kind in source.schema.types]
    assert [column["nulls"] for column in columns] == [c.null_count for c in source.columns]
    assert [column["distinct"] for column in columns] == [
        len(set(column.to_pylist()) - {None}) for column in source.columns
    ]
    encoder = Encoder(["carrier", "dest"]).fit(source)
    assert report["encoding"]["bytes"] == encoder.estimate(1000).bytes
    assert report["encoding"]["features"] == encoder.n_features


def test_a_report_for_people(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Aligned columns, and no more than the limit is counted."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("inspect", path, "--limit", "500")

    assert ended.code == 0
    lines = ended.out.decode().splitlines()
    assert lines[0].startswith(f"{path}: parquet, 1,000 rows, 6 columns")
    assert any(line.split() == ["carrier", "string", "200", "4", "yes"] for line in lines)
    assert any(line.split() == ["id", "int64", "0", ">", "500"] for line in lines)
    assert "carrier, dest as 16 features:" in lines


def test_nested_and_empty_columns(files: Any, call: Any, tmp_path: Path) -> None:
    """What has no cardinality is no error."""
    nothing = pa.nulls(2, pa.string())
    source = pa.table({"a": [[1], None], "b": pa.nulls(2), "c": nothing})
    ended = call("inspect", files.write(source, tmp_path / "in.parquet"), "--json")

    columns = json.loads(ended.out)["columns"]
    assert [column["nulls"] for column in columns] == [1, 2, 2]
    assert [column["distinct"] for column in columns] == [None, 0, 0]


def on_terminal(command: list[str], *arguments: object) -> tuple[int, bytes]:
    """Run the command with standard error on a terminal, and return its code and what it shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, *map(str, arguments)], stderr=theirs, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(60), shown


def test_progress_on_a_terminal(table: Any, files: Any, command: list[str], tmp_path: Path) -> None:
    """A person sees a bar and what was done, and what the format of the output cannot hold."""
    path = files.write(table, tmp_path / "in.parquet")
    code, shown = on_terminal(command, "encode", path, "-c", "dest", "-o", tmp_path / "out.csv")

    assert code == 0
    assert b"learning" in shown
    assert b"out.csv: wrote 1,000 rows, 12 features\r\n" in shown
    assert b"csv cannot hold the encoder; pass --save-encoder to keep it" in shown


def test_progress_is_what_was_written(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share grows with the row groups in the file, not with what was read for them."""
    shares: list[float] = []

    @contextmanager
    def showing(what: str, is_quiet: bool) -> Iterator[Any]:
        yield lambda share, rows: shares.append(share)

    monkeypatch.setattr("onehot_fast.cli.conversion.showing", showing)
    path = tmp_path / "in.csv"
    path.write_text("dest,n\n" + "S,1\n" * 400_000)
    options = "--row-group-size", "200000", "-c", "dest"
    assert call("encode", path, *options, "-o", tmp_path / "out.parquet").code == 0
    assert len(shares) > len(set(shares))
    assert sorted(set(shares)) == [0.0, 0.5, 1.0]


def test_what_an_encoded_file_was(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Its features are counted, and not listed beside the other columns."""
    path = files.write(table, tmp_path / "in.parquet")
    call("encode", path, "-c", "dest", "-o", tmp_path / "out.parquet")
    text = call("inspect", tmp_path / "out.parquet").out.decode()
    assert "dest is encoded as 12 features\n" in text
    assert "dest_D00" not in text


def test_no_progress_on_request(table: Any, files: Any, command: list[str], tmp_path: Path) -> None:
    """--quiet is quiet, on a terminal too."""
    path = files.write(table, tmp_path / "in.parquet")

    assert on_terminal(command, "encode", path, "-q", "-o", tmp_path / "x.parquet") == (0, b"")


def test_no_progress_in_a_pipe(table: Any, files: Any, run: Any, tmp_path: Path) -> None:
    """Where nobody looks, nothing is shown."""
    path = files.write(table, tmp_path / "in.parquet")

    assert run("encode", path, "-o", tmp_path / "out.parquet") == (0, b"", "")


@pytest.mark.parametrize("options", [[], ["--min-frequency", "0.24"], ["--max-categories", "2"]])
@pytest.mark.parametrize("drop", [[], ["--drop", "first"]])
def test_frequencies(
    options: list[str], drop: list[str], table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """The most frequent categories, their counts, and which of them the options put together."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("inspect", path, "-c", "carrier", *options, *drop, "--top", "3", "--json")
    found = json.loads(ended.out)["encoding"]
    values = table["carrier"].to_pylist()
    counts = {one: values.count(one) for one in sorted(set(values) - {None})}
    keywords = {"min_frequency": 0.24} if options[:1] == ["--min-frequency"] else {}
    keywords |= {"max_categories": 2} if options[:1] == ["--max-categories"] else {}
    grouped = Encoder(["carrier"], **keywords).fit(table).features
    own = set(grouped["category"].tolist()) - {None}

    one = found["frequencies"]["carrier"]
    top = sorted(counts, key=lambda name: -counts[name])[:3]
    assert one["top"] == [
        {
            "category": name,
            "count": counts[name],
            "share": counts[name] / len(values),
            "infrequent": name not in own,
        }
        for name in top
    ]
    rare = set(counts) - own
    assert one["infrequent"] == {
        "categories": len(rare), "rows": sum(counts[name] for name in rare),
    }  # fmt: skip
    assert found["features"] == one["features"] == len(grouped["name"]) - len(drop) // 2
    shown = call("inspect", path, "-c", "carrier", *options, *drop, "--top", "3").out.decode()
    assert f"carrier: 4 categories, {one['features']} feature" in shown
    assert ("in one feature" in shown) == bool(rare)


@pytest.mark.parametrize("no_color", [False, True])
def test_bars_on_a_terminal(no_color: bool, small: Path, command: list[str]) -> None:
    """There, and only there, a bar tells how frequent a category is; NO_COLOR has no colour."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    if not no_color:
        del env["NO_COLOR"]
    arguments = [*command, "inspect", str(small), "-c", "carrier"]
    done = subprocess.run(arguments, stdout=theirs, stderr=subprocess.PIPE, env=env, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "█".encode() in shown
    assert (b"\x1b[3" in shown) is not no_color


def test_numbers_that_json_has_not(call: Any, tmp_path: Path) -> None:
    """They are texts in a report for programs."""
    path = tmp_path / "f.parquet"
    parquet.write_table(pa.table({"f": [1.5, float("inf"), 1.5]}), path)
    out = call("inspect", path, "-c", "f", "--json").out
    top = json.loads(out, parse_constant=pytest.fail)["encoding"]["frequencies"]["f"]["top"]
    assert [one["category"] for one in top] == [1.5, "inf"]
