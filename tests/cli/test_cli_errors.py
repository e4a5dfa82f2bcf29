"""Whatever goes wrong is one line on standard error and an exit code of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
errors = pytest.importorskip("onehot_fast.cli.errors")
Exit = errors.Exit

COLUMNS = ["-c", "carrier", "-c", "dest"]
Make = Callable[[Path], list[str]]


def on(name: str, content: bytes | None, *options: str) -> Make:
    """Return what makes a file and the arguments that encode it."""

    def make(folder: Path) -> list[str]:
        if content is not None:
            (folder / name).write_bytes(content)
        return [str(folder / name), *options]

    return make


def on_table(*options: str, suffix: str = "parquet", **columns: Any) -> Make:
    """Return what writes a table and the arguments that encode it."""

    def make(folder: Path) -> list[str]:
        data = columns or {"carrier": ["UA", "AA"], "dest": ["X", "Y"], "n": [1, 2]}
        path = folder / f"in.{suffix}"
        if suffix == "parquet":
            parquet.write_table(pa.table(data), path)
        else:
            with pa.ipc.new_file(str(path), pa.table(data).schema) as writer:
                writer.write_table(pa.table(data))
        return [str(path), *(option.format(folder) for option in options)]

    return make


def truncated(folder: Path) -> list[str]:
    """Write the first half of a file."""
    (path, *_) = on_table()(folder)
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) // 2])
    return [path, *COLUMNS]


def different(folder: Path) -> list[str]:
    """Write a folder of files whose columns differ."""
    (folder / "in").mkdir()
    parquet.write_table(pa.table({"carrier": ["UA"]}), folder / "in" / "a.parquet")
    parquet.write_table(pa.table({"carrier": [1]}), folder / "in" / "b.parquet")
    return [str(folder / "in"), "-c", "carrier"]


def with_encoder(columns: dict[str, Any], **learned: Any) -> Make:
    """Return what writes a table and an encoder that was learned from another one."""

    def make(folder: Path) -> list[str]:
        from onehot_fast import Encoder

        (folder / "encoder.json").write_text(Encoder(list(learned)).fit(learned).to_json())
        return [*on_table(**columns)(folder), "--encoder", str(folder / "encoder.json")]

    return make


CASES = {
    "no file": (Exit.INPUT, on("in.parquet", None), "No such file"),
    "empty folder": (Exit.INPUT, on("", None), "no data file"),
    "empty parquet": (Exit.CORRUPT, on("in.parquet", b""), "in.parquet"),
    "not parquet": (Exit.CORRUPT, on("in.parquet", b"x" * 100), "in.parquet"),
    "not arrow": (Exit.CORRUPT, on("in.arrow", b"x" * 100), "in.arrow"),
    "not a stream": (Exit.CORRUPT, on("in.arrows", b"x" * 100), "in.arrows"),
    "not gzip": (Exit.CORRUPT, on("in.csv.gz", b"a,b\n1,2\n"), "in.csv.gz"),
    "empty csv": (Exit.CORRUPT, on("in.csv", b""), "in.csv"),
    "ragged csv": (Exit.CORRUPT, on("in.csv", b"a,b\nx,2\ny\n", "-c", "a"), "Expected 2"),
    "csv that is not UTF-8": (Exit.CORRUPT, on("in.csv", b"a,b\n\xff,2\n", "-c", "a"), "in.csv"),
    "truncated": (Exit.CORRUPT, truncated, "in.parquet"),
    "no such column": (Exit.COLUMN, on_table("-c", "carier"), "no column 'carier'"),
    "column there twice": (Exit.COLUMN, on("in.csv", b"a,a\nx,y\n", "-c", "a"), "2 columns 'a'\n"),
    "no texts": (Exit.COLUMN, on_table(n=[1, 2]), "no column contains texts"),
    "lists": (Exit.COLUMN, on_table("-c", "n", n=[[[1]], [[2]]]), "column 'n'"),
    "files that differ": (Exit.SCHEMA, different, "b.parquet"),
    "no encoder": (Exit.SCHEMA, on_table("--encoder", "{}/none.json"), "none.json"),
    "encoder is none": (Exit.SCHEMA, on_table("--encoder", "{}/in.parquet"), "in.parquet"),
    "encoder of other columns": (Exit.SCHEMA, with_encoder({"n": [1]}, size=["S"]), "'size'"),
    "encoder of other types": (Exit.SCHEMA, with_encoder({"size": [1]}, size=["S"]), "'size'"),
    "unknown value": (Exit.VALUE, with_encoder({"size": ["S", "M"]}, size=["S"]), "'M' is unknown"),
    "missing value": (
        Exit.VALUE, on_table("--handle-missing", "error", size=["S", None]), "missing",
    ),
    "names that collide": (Exit.VALUE, on_table("-c", "a", a=["b"], a_b=[1]), "'a_b'"),
    "category to drop": (Exit.VALUE, on_table("--drop", "carrier=XX"), "'XX'"),
    "bad frequency": (Exit.USAGE, on_table("--min-frequency", "many"), "min-frequency"),
    "bad dtype": (Exit.USAGE, on_table("--dtype", "datetime64[s]"), "dtype"),
    "bad policy": (Exit.USAGE, on_table("--handle-unknown", "what"), "handle_unknown"),
    "bad layout": (Exit.USAGE, on_table("--layout", "rows"), "layout"),
    "policy and encoder": (
        Exit.USAGE, on_table("--encoder", "x", "--drop", "first"), "--drop",
    ),
    "no such option": (Exit.USAGE, on_table("--colour", "red"), "--colour"),
    "bad format": (Exit.USAGE, on_table("--input-format", "xls"), "'xls'"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "make", "says"), CASES.values(), ids=CASES)
def test_every_error_of_the_input(
    code: int, make: Make, says: str, call: Any, files: Any, tmp_path: Path
) -> None:
    """One line that names the file or the option, the code, and no trace of an output."""
    arguments = make(tmp_path)
    before = sorted(tmp_path.iterdir())
    ended = call("encode", *arguments, "-o", tmp_path / "out.parquet")

    assert (ended.code, ended.out) == (code, b"")
    assert re.fullmatch(r"onehot-fast: [^\n]+\n", ended.error)
    assert says in ended.error
    assert sorted(tmp_path.iterdir()) == before


OUTPUTS = {
    "no folder": (Exit.OUTPUT, "{}/no/out.parquet"),
    "no format": (Exit.USAGE, "{}/out.xls"),
    "a file that is there": (Exit.OUTPUT, "{}/full/in.parquet"),
    "a folder with a file of that name": (Exit.OUTPUT, "{}/full"),
    "a file as a folder": (Exit.OUTPUT, "{}/in.parquet/"),
    "a device without room": (Exit.OUTPUT, "/dev/full"),
}


@pytest.mark.parametrize(("code", "target"), OUTPUTS.values(), ids=OUTPUTS)
def test_every_error_of_the_output(code: int, target: str, call: Any, tmp_path: Path) -> None:
    """An output that cannot be written is one line, the code, and nothing is left."""
    if target == "/dev/full" and not Path(target).exists():
        pytest.skip("no /dev/full on this system")
    arguments = on_table("-c", "carrier")(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "in.parquet").write_text("kept")
    before = sorted(tmp_path.rglob("*"))
    form = ["--output-format", "parquet"] if target == "/dev/full" else []
    ended = call("encode", *arguments, *form, "-o", target.format(tmp_path))

    assert ended.code == code
    assert re.fullmatch(r"onehot-fast: [^\n]+\n", ended.error)
    assert sorted(tmp_path.rglob("*")) == before


def test_layouts_without_a_form_in_text(call: Any, tmp_path: Path) -> None:
    """A list is nothing that CSV can hold."""
    arguments = on_table("-c", "carrier", "--layout", "tensor")(tmp_path)
    ended = call("encode", *arguments, "-o", tmp_path / "out.csv")

    assert (ended.code, ended.error.count("\n")) == (Exit.USAGE, 1)
    assert not (tmp_path / "out.csv").exists()


def test_nested_columns_are_no_text(call: Any, files: Any, tmp_path: Path) -> None:
    """A column that is kept and that the format cannot hold is an error of the output."""
    arguments = on_table("-c", "size", size=["S"], n=[[1]])(tmp_path)
    ended = call("encode", *arguments, "-o", tmp_path / "out.csv")

    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert "column 'n' has type list" in ended.error
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_views_are_text(call: Any, tmp_path: Path) -> None:
    """Texts and bytes as views, which pyarrow does not write as CSV, are written as others are."""
    source, out = tmp_path / "in.arrow", tmp_path / "out.csv"
    columns = [pa.array(["x", 'y,"'], pa.string_view()), pa.array([b"b", None], pa.binary_view())]
    table = pa.table([*columns, ["S", "L"]], ["text", "bytes", "size"])
    with pa.ipc.new_file(source, table.schema) as file:
        file.write(table)

    assert call("encode", source, "-c", "size", "-o", out).code == 0
    lines = ['"text","bytes","size_L","size_S"', '"x","b",0,1', '"y,""",,1,0']
    assert out.read_text().splitlines() == lines


def test_without_the_libraries(tmp_path: Path) -> None:
    """Where an extra is missing, one line says how to install it."""
    program = """
        import sys
        sys.modules["click"] = None
        from onehot_fast.cli import main
        sys.exit(main(["--help"]))
    """
    lines = [line.strip() for line in program.strip().splitlines()]
    done = subprocess.run(
        [sys.executable, "-P", "-c", "\n".join(lines)], capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "onehot-fast: needs click: pip install 'onehot-fast[cli]'\n"


def test_every_code_is_documented(call: Any) -> None:
    """``--help`` lists the exit codes."""
    text = call("--help").out.decode()

    assert [code.name for code in Exit if not re.search(rf"^ +{code.value} ", text, re.M)] == []
    assert "130" in text
    assert "143" in text


@pytest.mark.parametrize("name", ["inspect", "encode", "decode"])
def test_every_command_has_help(name: str, call: Any) -> None:
    """Help is no error."""
    ended = call(name, "--help")

    assert ended.code == 0
    assert b"Usage: onehot-fast" in ended.out


def test_codes_beyond_their_dictionary_are_a_fault_of_the_input() -> None:
    """They are met where texts are written, as nobody looked at each code before."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 15]), pa.array(["a"]), safe=False)

    with pytest.raises(errors.CommandError, match="is corrupt") as caught, errors.writing("x.csv"):
        codes.cast(pa.string())
    assert caught.value.code == Exit.CORRUPT
