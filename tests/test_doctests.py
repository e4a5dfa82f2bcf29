"""The examples in the docstrings give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import onehot_fast
import onehot_fast.integrations

# By name: a file under integrations/ would be imported a second time. And the integrations
# apart: an editable install keeps them in another folder.
PACKAGES = (onehot_fast, onehot_fast.integrations)
MODULES = sorted(
    {"onehot_fast"}
    | {
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    }
)

# What an example imports, which the module itself may not.
IMPORT = re.compile(r"^ *>>> (?:import|from) (\w+)", re.M)


def source_of(module: ModuleType) -> str:
    """Return the source of a module, "" of one that is compiled."""
    path = Path(module.__file__ or "")
    return path.read_text(encoding="utf-8") if path.suffix == ".py" else ""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="they show NumPy 2's repr"
)
@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name: str) -> None:
    """Every example of a module runs and prints what the docstring says."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    for library in IMPORT.findall(source_of(module)):
        pytest.importorskip(library)

    assert doctest.testmod(module).failed == 0
