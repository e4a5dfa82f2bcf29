"""A library that is missing or too old is named, with the version needed and what to type."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import run

from onehot_fast._runtime.registry import REQUIRED, require

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

# To stand before a program: these cannot be found, whether they are installed or not.
WITHOUT_LIBRARIES = """
import sys
for name in "dask narwhals onnx pandas polars pyarrow pyspark sklearn torch".split():
    sys.modules[name] = None
"""


def test_a_missing_library():
    """The message says which one, from which version on, and the command that installs it."""
    program = f"""
{WITHOUT_LIBRARIES}
import importlib
for extra in {[extra for extra, _ in REQUIRED.values()]}:
    try:
        importlib.import_module("onehot_fast.integrations." + extra)
    except ModuleNotFoundError as error:
        print(error.name, error, sep="|")
"""
    expected = [
        f"{name}|onehot_fast.integrations.{extra} needs {name} {least} or newer:"
        f' pip install "onehot-fast[{extra}]"'
        for name, (extra, least) in REQUIRED.items()
    ]

    assert run(program).splitlines() == expected


@pytest.mark.parametrize("version", ["0.25.3", "1.19", "1.19.0rc1"])
def test_a_library_that_is_too_old(version, monkeypatch):
    """What is installed is in the message too."""
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(__version__=version))
    expected = f"needs polars 1.20 or newer, and {version} is installed: pip install .onehot-fast"

    with pytest.raises(ImportError, match=expected):
        require("polars")


@pytest.mark.parametrize("version", ["1.20", "1.20.0rc1", "2.10.1", "10.0.0.dev3+g1"])
def test_a_library_that_is_new_enough(version, monkeypatch):
    """Numbers are compared, and not texts."""
    module = SimpleNamespace(__version__=version)
    monkeypatch.setitem(sys.modules, "polars", module)

    assert require("polars") is module


def test_a_library_that_cannot_be_imported(monkeypatch, tmp_path):
    """What it misses itself is not what we miss: its own error comes through."""
    (tmp_path / "polars.py").write_text("import polars_of_another_name")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)

    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'polars_of_another_name'"):
        require("polars")


def test_the_versions_are_those_of_the_extras():
    """What is asked for at import is what the package declares, and what is tested."""
    if not PYPROJECT.exists():
        pytest.skip("pyproject.toml is not beside the tests")
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    declared = {extra: extras[extra][0].partition(">=")[2] for extra, _ in REQUIRED.values()}

    assert declared == dict(REQUIRED.values())
