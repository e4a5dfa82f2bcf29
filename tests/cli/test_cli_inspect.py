"""``onehot-fast inspect``, and what a terminal and a shell get."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from onehot_fast import Encoder
from support import command_files as files
from support import encoder_oracle
from support.command_files import pa
from support.programs import HANG

COMPLETE = "_ONEHOT_FAST_COMPLETE"
STRANGE = ["a,b", "with space", "tab\tand\x1b[31mred", "=2+3", "ü", "c=d", "a.b", "a"]
FORMATS = ["in.parquet", "in.arrow", "in.arrows", "in.csv"]


@pytest.mark.parametrize("name", FORMATS)
def test_inspect_reports_the_columns_of_a_file(name, table, call):
    """Types, nulls, cardinalities, and the sizes that `Encoder.estimate` returns."""
    path = files.write(table, Path(name))
    ended = call(f"inspect {name} -c carrier,dest --json")

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


@pytest.mark.usefixtures("small")
def test_a_report_for_people_is_aligned_and_short(call, done):
    """Columns are aligned, counting ends at the limit, and features are not listed one by one."""
    lines = call("inspect in.parquet --limit 500").out.decode().splitlines()
    assert lines[0].startswith("in.parquet: parquet, 1,000 rows, 6 columns")
    assert any(line.split() == ["carrier", "string", "200", "4", "yes"] for line in lines)
    assert any(line.split() == ["id", "int64", "0", ">", "500"] for line in lines)
    assert "carrier, dest as 16 features:" in lines

    done("encode in.parquet -c dest -o out.parquet")
    text = call("inspect out.parquet").out.decode()
    assert "dest is encoded as 12 features\n" in text
    assert "dest_D00" not in text


def test_unusual_columns_are_reported(call):
    """Nested columns have no cardinality; JSON has no infinity and no times: they become texts."""
    nothing, numbers = pa.nulls(2, pa.string()), [1.5, float("inf")]
    source = pa.table({"a": [[1], None], "b": pa.nulls(2), "c": nothing, "f": numbers})
    source = source.append_column("t", pa.array([0, None], pa.timestamp("ns")))
    files.write(source, Path("in.parquet"))
    report = json.loads(call("inspect in.parquet -c f,t --json").out, parse_constant=pytest.fail)

    assert [column["nulls"] for column in report["columns"]] == [1, 2, 2, 0, 1]
    assert [column["distinct"] for column in report["columns"]] == [None, 0, 0, 2, 1]
    top = [one for name in "ft" for one in report["encoding"]["frequencies"][name]["top"]]
    assert {one["category"] for one in top} == {1.5, "inf", "1970-01-01T00:00:00.000000000"}


@pytest.mark.parametrize("options", [{}, {"min_frequency": 0.24}, {"max_categories": 2}])
@pytest.mark.parametrize("drop", [[], ["--drop", "first"]])
def test_frequencies_of_categories_are_reported(options, drop, table, small, call):
    """The most frequent categories, their counts, and which of them the options put together."""
    typed = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    line = "inspect", small, "-c", "carrier", *typed, *drop, "--top", "3"
    found = json.loads(call(*line, "--json").out)["encoding"]
    values = table["carrier"].to_pylist()
    counts = Counter(sorted(value for value in values if value is not None))
    labels = encoder_oracle.labels(values, encoder_oracle.Options(**options))
    rare = {name: n for name, n in counts.items() if name not in labels}

    one = found["frequencies"]["carrier"]
    assert one["top"] == [
        {"category": name, "count": n, "share": n / len(values), "infrequent": name in rare}
        for name, n in counts.most_common(3)
    ]
    assert one["infrequent"] == {"categories": len(rare), "rows": sum(rare.values())}
    assert found["features"] == one["features"] == len(labels) - len(drop) // 2
    shown = call(*line).out.decode()
    assert f"carrier: 4 categories, {one['features']} feature" in shown
    assert ("in one feature" in shown) == bool(rare)


# --- terminals


def on_terminal(command, line):
    """Run a line with its outputs on a terminal, and return its code and what it shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen([*command, *line.split()], stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(ours, 1 << 16):
            shown += part
    os.close(ours)
    return process.wait(HANG), shown


# The command, with a bar for work of any time.
IMPATIENT = [
    sys.executable,
    "-c",
    "from onehot_fast.cli import messages; messages.PROGRESS_SECONDS = 0;"
    "from onehot_fast_command import main; main()",
]


@pytest.mark.usefixtures("small")
def test_a_terminal_shows_progress():
    """A terminal shows a bar with the time left and the rate, and the result."""
    code, shown = on_terminal(IMPATIENT, "encode in.parquet -c dest -o out.csv")
    assert code == 0
    assert b"learning" in shown
    assert b"writing" in shown
    assert re.search(rb"\d:\d\d:\d\d left", shown)
    assert b" rows/s" in shown
    assert b"out.csv: wrote 1,000 rows, 12 features\r\n" in shown
    assert b"csv files cannot store the encoder; pass --save-encoder FILE to keep it" in shown

    assert on_terminal(IMPATIENT, "encode in.parquet -q -o x.parquet") == (0, b"")
    done = subprocess.run(
        [*IMPATIENT, "encode", "in.parquet", "-o", "y.parquet"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.usefixtures("small")
def test_short_work_shows_no_bar(command, run):
    """Less than two seconds: a terminal shows the result only, and a pipe nothing."""
    # The last row group is written when the file is closed.
    code, shown = on_terminal(
        command, "encode in.parquet -c dest --row-group-size 300 -o z.parquet"
    )
    assert (code, shown) == (0, b"onehot-fast: z.parquet: wrote 1,000 rows, 12 features\r\n")
    assert run("encode", "in.parquet", "-o", "y.parquet") == (0, b"", "")


def test_progress_begins_after_two_seconds(monkeypatch):
    """The bar appears with the first step after them, and its time counts from the beginning."""
    messages = importlib.import_module("onehot_fast.cli.messages")
    seconds = [100.0]
    monkeypatch.setattr(messages, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    drawn = []

    @contextmanager
    def bar(what):
        yield lambda *state: drawn.append((what, *state))

    monkeypatch.setattr(messages, "_progress_bar", bar)
    with messages.showing("learning", False) as step:
        for passed in (0.5, 1.9, 2.5, 4.0):
            seconds[0] = 100 + passed
            step(passed / 8, 10)
    assert drawn == [("learning", 2.5 / 8, 10, 2.5), ("learning", 0.5, 10, 4.0)]
    assert messages._duration(3661.2) == "1:01:02"


def test_progress_is_what_was_written(done, monkeypatch):
    """The share grows with the row groups in the file, not with what was read for them."""
    shares: list[float] = []

    @contextmanager
    def showing(what, is_quiet):
        yield lambda share, rows: shares.append(share)

    monkeypatch.setattr("onehot_fast.cli.conversion.showing", showing)
    Path("in.csv").write_text("dest,n\n" + "S,1\n" * 400_000)
    done("encode in.csv --row-group-size 200000 -c dest -o out.parquet")
    assert len(shares) > len(set(shares))
    assert sorted(set(shares)) == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("no_color", [False, True])
@pytest.mark.usefixtures("small")
def test_only_a_terminal_shows_bars(no_color, command, monkeypatch):
    """Only a terminal shows bars of frequency; with NO_COLOR they have no colour."""
    monkeypatch.setenv("NO_COLOR", "1")
    if not no_color:
        monkeypatch.delenv("NO_COLOR")
    code, shown = on_terminal(command, "inspect in.parquet -q -c carrier")
    assert code == 0
    assert "█".encode() in shown
    assert (b"\x1b[3" in shown) is not no_color


# --- shells


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_completion_of_a_shell(shell, call):
    """The command prints what a shell evaluates, which asks through an environment variable."""
    ended = call("completion", shell)
    assert (ended.code, ended.error) == (0, "")
    assert COMPLETE in ended.out.decode()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("onehot-fast enc", ["encode"]),
        ("onehot-fast encode --dro", ["--drop"]),
        ("onehot-fast encode {path} -c ca", ["carrier"]),
        ("onehot-fast encode {path} --layout st", ["struct"]),
        ("onehot-fast encode nothing.parquet -c ca", []),
    ],
)
def test_a_shell_completes_options_and_columns(words, expected, small, call, monkeypatch):
    """Commands, options, their choices, and the columns of the file that was named."""
    typed = words.format(path=small)
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    monkeypatch.setenv(COMPLETE, "bash_complete")
    ended = call()
    assert (ended.code, ended.error) == (0, "")
    assert [line.split(",")[1] for line in ended.out.decode().split()] == expected


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_names_of_columns_are_escaped(suffix, call, tmp_path):
    """Signs, spaces and control characters are names like others, and are shown escaped."""
    table = pa.table({name: ["S", "L", None] for name in STRANGE})
    path, out = files.write(table, tmp_path / f"in.{suffix}"), tmp_path / f"out.{suffix}"
    chosen = [word for name in STRANGE for word in ("-c", name)]
    assert call("encode", path, *chosen, "--drop", "c=d=S", "-o", out) == (0, b"", "")
    names = [f"{name}_{size}" for name in STRANGE for size in "LS"]
    assert files.read(out).column_names == [n for n in names if n != "c=d_S"]
    shown = call("inspect", path, *chosen).out.decode()
    assert "\x1b" not in shown
    assert "tab\\tand\\x1b[31mred" in shown
    ended = call("encode", path, "-c", "tab\tand\x1b[31mrod", "-o", out, "--overwrite")
    assert "did you mean 'tab\\tand\\x1b[31mred'?" in ended.error
    by = "--partition-by", STRANGE[2], "--partition-by", "a,b", "-c", "ü", "-o", f"{tmp_path}/by/"
    assert call("encode", path, *by) == (0, b"", "")
    assert all("\x1b" not in name for name in os.listdir(tmp_path / "by"))
    again = tmp_path / "again.parquet"
    assert call("encode", tmp_path / "by", "-c", STRANGE[2], "-o", again) == (0, b"", "")
    assert set(files.read(again).column_names) >= {f"{STRANGE[2]}_S", "a,b"}
