"""A library that is missing or too old is named, with the version needed and what to type."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import onehot_fast
import onehot_fast.integrations
from onehot_fast._runtime.registry import PUBLIC_NAMES
from onehot_fast.adapter import require
from support.programs import run

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

# Each integration with a library, the library, and its oldest version.
REQUIRED = {
    "arrow": ("pyarrow", "18.0"),
    "dask": ("dask", "2025.7"),
    "narwhals": ("narwhals", "2.0"),
    "onnx": ("onnx", "1.16"),
    "pandas": ("pandas", "2.2.2"),
    "polars": ("polars", "1.20"),
    "sklearn": ("sklearn", "1.6"),
    "spark": ("pyspark", "4.0"),
    "torch": ("torch", "2.5"),
}


def test_a_missing_library_is_named_with_its_version_and_the_command():
    program = f"""
import importlib, sys
for extra, (name, _) in {REQUIRED}.items():
    sys.modules[name] = None  # cannot be imported
for extra in {[*REQUIRED]}:
    try:
        importlib.import_module("onehot_fast.integrations." + extra)
    except ModuleNotFoundError as error:
        print(error.name, error, sep="|")
"""
    packages = {"sklearn": "scikit-learn", "dask": "dask[dataframe]"}

    lines = run(program).splitlines()

    assert len(lines) == len(REQUIRED)
    for line, (extra, (name, least)) in zip(lines, REQUIRED.items(), strict=True):
        missing, _, message = line.partition("|")
        package = packages.get(name, name)
        assert missing == name
        assert message.startswith(f'{package} is not installed: pip install "{package}>={least}"')
        assert f'pip install "onehot-fast[{extra}]"' in message
        assert f"onehot_fast.integrations.{extra} needs {name} {least} or newer" in message


@pytest.mark.parametrize("version", ["0.25.3", "1.19.0rc1", "1.20", "1.20.0rc1", "10.0.dev3+g1"])
def test_versions_are_compared_as_numbers(version, monkeypatch):
    """The error names the installed version too."""
    module = SimpleNamespace(__version__=version)
    monkeypatch.setitem(sys.modules, "polars", module)
    expected = f"needs polars 1.20 or newer, but {version} is installed: pip install .onehot-fast"

    if version.startswith(("1.20", "10")):
        assert require("polars") is module
    else:
        with pytest.raises(ImportError, match=expected):
            require("polars")


def test_a_library_that_cannot_be_imported_raises_its_own_error(monkeypatch, tmp_path):
    """The error of a library that misses a module of its own comes through unchanged."""
    (tmp_path / "polars.py").write_text("import polars_of_another_name")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)

    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'polars_of_another_name'"):
        require("polars")


def test_a_public_name_of_an_integration_is_imported_from_it():
    """The list of names, from which the hints are made, is that of the integrations."""
    found = {}
    for name in PUBLIC_NAMES:
        with contextlib.suppress(ImportError):  # a library is not installed
            module = importlib.import_module(f"onehot_fast.integrations.{name}")
            found[name] = tuple(sorted(module.__all__))
    folder = Path(onehot_fast.integrations.__path__[0])
    assert {*PUBLIC_NAMES} == {each.parent.name for each in folder.glob("[a-z]*/__init__.py")}
    assert found
    assert found == {name: tuple(sorted(PUBLIC_NAMES[name])) for name in found}

    for name in {*itertools.chain(*PUBLIC_NAMES.values())} - {*onehot_fast.__all__}:
        owners = [each for each in PUBLIC_NAMES if name in PUBLIC_NAMES[each]]
        remedy = f"from onehot_fast.integrations.{owners[0]} import {name}"
        with pytest.raises(ImportError, match=re.escape(remedy)):
            exec(f"from onehot_fast import {name}")
        with pytest.raises(AttributeError, match=re.escape(remedy)):
            getattr(onehot_fast, name)
        assert not hasattr(onehot_fast, name)
        assert getattr(onehot_fast, name, None) is None


MODULES = sorted({*PUBLIC_NAMES, *(name for name, _ in REQUIRED.values())})


@pytest.mark.parametrize("name", MODULES)
def test_the_module_of_an_integration_is_named(name):
    """The error about `onehot_fast.NAME` names the module of the integration to import instead.

    This holds for its own name and that of its library; `find_spec` of other names is unchanged.
    """
    folders = {library: extra for extra, (library, _) in REQUIRED.items()}
    remedy = re.escape(f"import onehot_fast.integrations.{folders.get(name, name)}")

    with pytest.raises(ModuleNotFoundError, match=remedy) as caught:
        importlib.import_module(f"onehot_fast.{name}")
    assert caught.value.name == f"onehot_fast.{name}"
    with pytest.raises(ImportError, match=remedy):
        exec(f"from onehot_fast import {name}")
    assert not hasattr(onehot_fast, name)
    assert importlib.util.find_spec("onehot_fast.nonsense") is None
    assert importlib.util.find_spec("onehot_fast.encoder") is not None


def test_other_names_and_star_imports_work_as_usual():
    names: dict = {}
    exec("from onehot_fast import *", names)

    assert {*onehot_fast.__all__} <= {*names}
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from onehot_fast import nonsense")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'onehot_fast\.nonsense'"):
        importlib.import_module("onehot_fast.nonsense")


def test_the_package_declares_these_versions():
    if not PYPROJECT.exists():
        pytest.skip("pyproject.toml is not beside the tests")
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {extra: extras[extra][0].partition(">=")[2] for extra in REQUIRED}

    assert declared == {extra: least for extra, (_, least) in REQUIRED.items()}
