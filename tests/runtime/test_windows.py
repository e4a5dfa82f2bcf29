"""The core by the rules of Windows, simulated; tests/cli has the same for the command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onehot_fast import Encoder
from support.programs import run

# What Python has on POSIX systems only.
MODULES = ("fcntl", "grp", "posix", "pwd", "resource", "termios")
FUNCTIONS = (
    "fork", "register_at_fork", "sched_getaffinity", "sysconf", "sysconf_names", "geteuid",
    "getuid", "killpg", "mkfifo", "posix_fadvise", "pread", "set_blocking", "statvfs", "uname",
    "O_NOFOLLOW", "O_NONBLOCK",
)  # fmt: skip


def test_everything_works_without_posix():
    """Other libraries are imported before their platform is taken away."""
    program = f"""
    import importlib, os, signal, subprocess, sys, tempfile
    import numpy
    for name in ("pandas", "polars", "pyarrow.dataset", "sklearn.preprocessing", "scipy.sparse"):
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    sys.modules.update(dict.fromkeys({MODULES!r}))
    for name in {FUNCTIONS!r}:
        if hasattr(os, name):
            delattr(os, name)
    del signal.SIGHUP, signal.SIGALRM

    import onehot_fast
    for name in ("pandas", "polars", "arrow", "sklearn", "sql"):
        try:
            importlib.import_module(f"onehot_fast.integrations.{{name}}")
        except ImportError as error:
            assert error.name != "onehot_fast", error
    assert onehot_fast.one_hot(numpy.arange(100_000) % 10, 10).sum() == 100_000
    encoder = onehot_fast.Encoder().fit({{"a": ["x", "y"]}})
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "encoder.json")
    encoder.save(path)
    again = onehot_fast.Encoder.load(path)
    os.remove(path)
    os.rmdir(folder)
    print(again.transform({{"a": ["y"]}}, "numpy").tolist())
    """

    assert run(program) == "[[False, True]]"


@pytest.fixture
def windows(monkeypatch):
    """Refuse to replace a file that is open, as Windows does."""
    files = Path("/proc/self/fd")
    if not files.exists():
        pytest.skip("open files are listed in /proc")
    replace = os.replace

    def checked_replace(source, target):
        held = {os.path.realpath(link) for link in files.iterdir()}
        for path in (source, target):
            if os.path.realpath(path) in held:
                raise PermissionError(13, "The process cannot access the file", path)
        replace(source, target)

    monkeypatch.setattr(os, "replace", checked_replace)


@pytest.mark.usefixtures("windows")
def test_an_encoder_is_saved_whole_or_not_at_all(tmp_path):
    path = tmp_path / "encoder.json"
    Encoder().fit({"a": ["x"]}).save(path)
    old = path.read_bytes()

    with path.open(), pytest.raises(PermissionError, match=r"encoder\.json"):
        Encoder().fit({"a": ["y"]}).save(path)
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (old, [path])

    Encoder().fit({"a": ["y"]}).save(path)
    assert path.read_bytes() != old
