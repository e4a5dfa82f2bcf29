"""What a shell and a terminal get: completions, colours, and names that a terminal would obey."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")

COMPLETE = "_ONEHOT_FAST_COMPLETE"
STRANGE = ["a,b", "with space", "tab\tand\x1b[31mred", "=2+3", "ü"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_shells(shell: str, call: Any) -> None:
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
def test_completions(
    words: str, expected: list[str], small: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, options, their choices, and the columns of the file that was named."""
    typed = words.format(path=small)
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    monkeypatch.setenv(COMPLETE, "bash_complete")
    ended = call()
    assert (ended.code, ended.error) == (0, "")
    assert [line.split(",")[1] for line in ended.out.decode().split()] == expected


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_names_of_columns(suffix: str, files: Any, call: Any, tmp_path: Path) -> None:
    """Commas, spaces and control characters are names like others, and are shown escaped."""
    table = pa.table({name: ["S", "L", None] for name in STRANGE})
    path, out = files.write(table, tmp_path / f"in.{suffix}"), tmp_path / f"out.{suffix}"
    chosen = [word for name in STRANGE for word in ("-c", name)]
    assert call("encode", path, *chosen, "--drop", f"{STRANGE[0]}=S", "-o", out) == (0, b"", "")
    names = [f"{name}_{size}" for name in STRANGE for size in "LS"]
    assert files.read(out).column_names == [n for n in names if n != "a,b_S"]
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
