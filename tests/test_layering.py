"""Imports go only downward, as docs/design.md draws it, and load nothing that is not asked for."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from programs import run

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "onehot_fast"
INTEGRATIONS = ROOT / "integrations"

# From the ground up; a module belongs to the first layer with a pattern that fits its name.
LAYERS = (
    {"_version", "_runtime", "_runtime.system"},
    {"_kernels", "_kernels.*"},
    {"_*", "column"},  # a Column is what the private modules of the encoder work on
    {"tensor", "ragged", "encoder", ""},  # "" is the package itself: the public names
    {"operators", "operators.*", "integrations", "integrations.*", "adapter"},
    {"cli", "cli.*"},
)
# The frames may stand on the Arrow adapter; otherwise no integration knows another.
STANDS_ON_ARROW = {"pandas", "polars"}
CYTHON_IMPORT = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+c?import\s+\(?\s*(\w+)|c?import\s+([\w.]+))", re.M
)


def sources() -> list[Path]:
    """Return every source file of the package, Cython's too."""
    found = [path for folder in (PACKAGE, INTEGRATIONS) for path in folder.rglob("*.p*")]
    return sorted(path for path in found if path.suffix in {".py", ".pyx", ".pxd"})


def module_name(path: Path) -> str:
    """Return the name of a file's module, below ``onehot_fast``."""
    below = path.relative_to(ROOT if INTEGRATIONS in path.parents else PACKAGE)
    return ".".join(below.with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module_name(path) for path in sources()}


def imported(path: Path) -> Iterator[str]:
    """Yield the full name of everything a file imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        for package, name, plain in CYTHON_IMPORT.findall(text):
            yield plain or f"{package}.{name}"
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def own_imports(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, below ``onehot_fast``."""
    names = {name for name in imported(path) if name.split(".")[0] == "onehot_fast"}
    below = {name.removeprefix("onehot_fast").lstrip(".") for name in names}
    # `from module import name` is an import of the module, `from package import module` too.
    return {name if name in MODULES else name.rpartition(".")[0] for name in below}


def layer(module: str) -> int:
    """Return the number of the layer that a module is in."""
    fits = [any(fnmatch(module, name) for name in names) for names in LAYERS]
    assert any(fits), f"{module} is in no layer"
    return fits.index(True)


def adapter_of(module: str) -> str:
    """Return the adapter that a module belongs to, "" outside the integrations."""
    return module.removeprefix("integrations.").split(".")[0] if "integrations." in module else ""


every_source = pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)


@every_source
def test_imports_go_only_downward(path: Path) -> None:
    """A module imports from its own layer or from a lower one."""
    here = layer(module_name(path))
    upward = {name for name in own_imports(path) if layer(name) > here}

    assert upward == set()


@every_source
def test_integrations_do_not_know_each_other(path: Path) -> None:
    """An integration imports no other one, except that frames may stand on arrow."""
    adapter = adapter_of(module_name(path))
    allowed = {"", adapter, *(["arrow"] if adapter in STANDS_ON_ARROW else [])}
    sideways = {adapter_of(name) for name in own_imports(path)} - allowed

    assert sideways == set() or not adapter


@every_source
def test_imports_name_the_package(path: Path) -> None:
    """No import is relative, and none goes to ``integrations`` beside the package."""
    odd = {name for name in imported(path) if name.split(".")[0] in {"", "integrations"}}

    assert odd == set()


def test_every_folder_of_sources_is_packaged() -> None:
    """``packages`` in pyproject.toml names every folder that holds a module."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {module_name(path.parent / "__init__.py") for path in sources()}

    expected = {f"onehot_fast.{name}".rstrip(".") for name in packages}
    assert set(settings["tool"]["setuptools"]["packages"]) == expected


def test_there_is_no_circle() -> None:
    """Within a layer too, the imports have an order."""
    graph: dict[str, set[str]] = {}
    for path in sources():
        module = module_name(path)
        graph.setdefault(module, set()).update(own_imports(path) - {module})

    assert list(TopologicalSorter(graph).static_order())[-1] in MODULES


def packages_after(statement: str) -> set[str]:
    """Return the packages outside the standard library that a fresh interpreter has loaded."""
    program = f"""
        import sys
        {statement}
        files = [name for name in sys.modules if hasattr(sys.modules[name], "__file__")]
        print(*({{name.split(".")[0] for name in files}} - sys.stdlib_module_names))
    """
    # The warnings of the libraries are their own affair.
    names = run(program, "-W", "ignore").split()
    return {name for name in names if not name.startswith("_sysconfigdata")}  # generated, no one's


def test_the_package_imports_numpy_and_nothing_else() -> None:
    """``import onehot_fast`` costs NumPy alone."""
    beyond = packages_after("import onehot_fast") - packages_after("import numpy")

    assert beyond == {"onehot_fast"}


ADAPTERS = sorted({adapter_of(module) for module in MODULES} - {""})
LIBRARIES = {"arrow": "pyarrow", "sklearn": "sklearn"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_integration_imports_its_own_library_only(adapter: str) -> None:
    """An adapter loads nothing beyond what its library loads by itself."""
    library = LIBRARIES.get(adapter, adapter)
    pytest.importorskip(library)
    ours = packages_after(f"import onehot_fast.integrations.{adapter}")

    assert ours - packages_after(f"import {library}, numpy") == {"onehot_fast"}
