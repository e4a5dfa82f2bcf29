"""Imports go only downward, as docs/design.md shows, and load no library that is not needed."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import tomllib
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from onehot_fast._runtime.registry import ENGINES, READERS
from onehot_fast.adapter import Engine, Integration
from support.programs import run

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "onehot_fast"
INTEGRATIONS = ROOT / "integrations"

# From the bottom up. A module belongs to the first layer with a pattern that fits its name, and
# imports from its own layer and those below. Each folder has a layer of its own.
LAYERS = (
    {"_version", "_runtime", "_runtime.*"},
    {"_kernels", "_kernels.*"},
    {"_arguments", "_arguments.*"},
    {"_arrow", "_arrow.*"},
    {"_categories", "_categories.*"},  # values → codes
    {"_sequences", "_sequences.*"},  # letters → rows of elements, and back
    {"table"},
    {"_schema", "_schema.*"},  # codes and options → look-up tables, names, layout
    {"_reports", "_reports.*"},  # schema and values → listings, warnings, errors
    {"_pipeline", "_pipeline.*"},  # values → look-up tables → memory, and back
    {"tensor", "ragged", "implicit", "sequences", "_build_info"},
    {"_transform"},  # read → lay out → code → check → write
    {"encoder", "_sklearn_mixin"},
    {""},  # the package itself: the public names
    {"operators", "operators.*", "adapter"},
    {"integrations._accessors", "integrations._accessors.*"},
    {"integrations", "integrations.*"},
    {"cli", "cli.*"},
)
# All that an integration and the command may import of the core.
SEAM = {"", "adapter", "encoder"}
ABOVE = {"integrations", "cli"}
# The library or module that an integration needs, if it has another name.
LIBRARIES = {
    "arrow": "pyarrow", "dask": "dask.dataframe", "sklearn": "sklearn.preprocessing",
    "spark": "pyspark.ml", "sql": "numpy",
}  # fmt: skip
# What integrations with accessors share.
SHARED = "integrations._accessors."
# Other public modules that they may use.
BESIDE = {"cli": {"integrations.arrow"}, "integrations.onnx": {"operators.onnx"}}
# Other libraries that they load: the workers of Spark exchange Arrow tables.
LOADED_TOO = {"spark": ", pyarrow"}
CYTHON_IMPORT = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+c?import\s+\(?\s*(\w+)|c?import\s+([\w.]+))", re.M
)


def sources():
    found = [path for folder in (PACKAGE, INTEGRATIONS) for path in folder.rglob("*.p*")]
    return sorted(path for path in found if path.suffix in {".py", ".pyx", ".pxd"})


def module_name(path):
    below = path.relative_to(ROOT if INTEGRATIONS in path.parents else PACKAGE)
    return ".".join(below.with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module_name(path) for path in sources()}


@functools.cache
def imported(path):
    """Return the full name of everything a file imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        found = CYTHON_IMPORT.findall(text)
        return {plain or f"{package}.{name}" for package, name, plain in found}
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def own_imports(path):
    """Return the modules of the package that a file imports, below ``onehot_fast``."""
    folder = f"onehot_fast.{module_name(path.parent / '__init__.py')}".rstrip(".")
    full = (f"{folder}{name}" if name.startswith(".") else name for name in imported(path))
    names = {name for name in full if name.split(".")[0] == "onehot_fast"}
    below = {name.removeprefix("onehot_fast").lstrip(".") for name in names}
    # `from module import name` is an import of the module, `from package import module` too.
    return {name if name in MODULES else name.rpartition(".")[0] for name in below}


def layer(module):
    """Return the number of the layer that a module is in."""
    fits = [any(fnmatch(module, name) for name in names) for names in LAYERS]
    assert any(fits), f"{module} is in no layer"
    return fits.index(True)


def test_imports_go_only_downward():
    for path in sources():
        upward = [name for name in own_imports(path) if layer(name) > layer(module_name(path))]
        assert upward == [], path


# The files of the integrations and of the command.
UPPER = [path for path in sources() if module_name(path).split(".")[0] in ABOVE]


def test_integrations_and_the_command_import_the_seam_alone():
    """They import public names of the core, the encoder and the adapter, and no other integration.

    The command may use the public part of the Arrow integration.
    """
    for path in UPPER:
        module = module_name(path)
        folder = ".".join(module.split(".")[: 2 if module.startswith("integrations.") else 1])
        names = own_imports(path) - SEAM - BESIDE.get(folder, set())
        own = (f"{folder}.", SHARED) if module.startswith("integrations.") else f"{folder}."
        assert [name for name in names if not f"{name}.".startswith(own)] == [], path


def test_the_parquet_writer_of_the_command_is_isolated():
    """It imports pyarrow and its own modules only."""
    paths = [path for path in UPPER if f"{module_name(path)}.".startswith("cli.parquet.")]
    names = {name for path in paths for name in own_imports(path)}

    assert len(paths) == 4
    assert [name for name in names if not f"{name}.".startswith("cli.parquet.")] == []


def test_no_private_name_crosses_the_seam():
    """Nothing that begins with an underscore is imported from the core."""
    names = {name for path in UPPER for name in imported(path)}

    private = r"onehot_fast\.((adapter|encoder)\.)?_(?!_)"
    assert [name for name in names if re.match(private, name)] == []


def test_no_module_hides_behind_a_name_of_its_package():
    """No function or class of a package has the name of one of its modules."""
    hidden = set()
    for path in (path for path in sources() if path.name == "__init__.py"):
        modules = {other.stem for other in path.parent.glob("*.py*")} - {"__init__"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = {alias.asname or alias.name for alias in node.names}
                hidden |= {(module_name(path), name) for name in names & modules}

    assert hidden == set()


@pytest.mark.parametrize("name", sorted({*READERS.values(), *ENGINES.values()}))
def test_an_integration_fulfils_the_protocol(name):
    """Every integration that the core calls by name has the functions that the core calls."""
    pytest.importorskip(LIBRARIES.get(name, name))
    protocol = Engine if name in ENGINES.values() else Integration

    assert isinstance(importlib.import_module(f"onehot_fast.integrations.{name}"), protocol)


def test_every_folder_of_sources_is_packaged():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {module_name(path.parent / "__init__.py") for path in sources()}

    expected = {f"onehot_fast.{name}".rstrip(".") for name in packages}
    assert set(settings["tool"]["setuptools"]["packages"]) == expected


def test_there_is_no_import_cycle():
    """Within a layer too, the imports have an order."""
    graph: dict[str, set[str]] = {}
    for path in sources():
        module = module_name(path)
        graph.setdefault(module, set()).update(own_imports(path) - {module})

    assert list(TopologicalSorter(graph).static_order())[-1] in MODULES


def packages_after(first, then):
    """Return the packages that the second of two statements loads in a fresh interpreter."""
    program = f"""
        import sys

        def packages():
            files = [name for name in sys.modules if hasattr(sys.modules[name], "__file__")]
            return {{name.split(".")[0] for name in files}} - sys.stdlib_module_names

        {first}
        before = packages()
        {then}
        print(*packages() - before)
    """
    # Libraries may warn.
    names = run(program, "-W", "ignore").split()
    return {name for name in names if not name.startswith("_sysconfigdata")}  # generated


def test_the_package_imports_numpy_and_nothing_else():
    assert packages_after("import numpy", "import onehot_fast") == {"onehot_fast"}


# Some take seconds to import their library in a process of its own.
SLOW = {"dask", "sklearn", "spark"}
ADAPTERS = [
    pytest.param(name, marks=[pytest.mark.long] * (name in SLOW))
    for name in sorted(
        {module.split(".")[1] for module in MODULES if "integrations." in module}
        - {SHARED.split(".")[1]}
    )
]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_integration_imports_its_own_library_only(adapter):
    library = LIBRARIES.get(adapter, adapter)
    pytest.importorskip(library)
    first = f"import {library}, numpy{LOADED_TOO.get(adapter, '')}"

    assert packages_after(first, f"import onehot_fast.integrations.{adapter}") == {"onehot_fast"}
