"""Find the integration module of a library, and import it only when it is needed."""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from types import ModuleType

PACKAGE = "onehot_fast.integrations"

# The integration that reads the tables of each library.
READERS = {"pandas": "pandas", "pyarrow": "arrow", "polars": "polars", "narwhals": "narwhals"}
# The integration of each engine. An engine is a library that splits its tables into partitions.
ENGINES = {"dask": "dask", "pyspark": "spark"}
# The extra and the oldest tested version of each library.
REQUIRED = {
    "dask": ("dask", "2025.7"),
    "narwhals": ("narwhals", "2.0"),
    "onnx": ("onnx", "1.16"),
    "pandas": ("pandas", "2.2.2"),
    "polars": ("polars", "1.20"),
    "pyarrow": ("arrow", "18.0"),
    "pyspark": ("spark", "4.0"),
    "sklearn": ("sklearn", "1.6"),
    "torch": ("torch", "2.5"),
}
# Integrations that support `Encoder.expressions`.
EXPRESSION_BACKENDS = ("polars", "narwhals")
# Tables of other libraries are read by these methods of the Arrow PyCapsule interface.
ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")


def integration(name: str) -> ModuleType:
    """Import and return an integration module."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def require(name: str, least: str | None = None, what: str | None = None) -> ModuleType:
    """Import and return a library, or raise an error that says what to install.

    `least` is the oldest accepted version (default: the oldest tested). The error names `what`,
    the feature that needs the library.
    """
    extra, tested = REQUIRED[name]
    least, what = least or tested, what or f"{PACKAGE}.{extra}"
    needs = f"{what} needs {name} {least} or newer"
    remedy = _remedy(name) if least == tested else f'pip install "{name}>={least}"'
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"{needs}: {remedy}", name=name) from None
    version = str(module.__version__)
    if _release(version) < _release(least):
        raise ImportError(f"{needs}, but {version} is installed: {remedy}", name=name)
    return module


def library(name: str, what: str) -> ModuleType:
    """Import and return a module, or raise an error that says what to install.

    The error names `what`, the method or option that needs the module.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: {_remedy(package)} ({error})") from error


def _remedy(name: str) -> str:
    """Return the command that installs a library."""
    return (
        f'pip install "onehot-fast[{REQUIRED[name][0]}]"'
        if name in REQUIRED
        else f"pip install {name}"
    )


def _release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version as a tuple."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def reader_of(source: object) -> str | None:
    """Return the name of the integration that reads an object, or None."""
    return _reader_and_engine(type(source))[0]  # type: ignore[arg-type]


def engine_of(source: object) -> ModuleType | None:
    """Return the integration module for a Dask or Spark table, or None for other objects."""
    name = _reader_and_engine(type(source))[1]  # type: ignore[arg-type]
    return None if name is None else integration(name)


@lru_cache(maxsize=256)
def _reader_and_engine(source: type) -> tuple[str | None, str | None]:
    """Return the names of a type's integrations in `READERS` and in `ENGINES`, or None for each."""
    name, engine = _named_in(READERS, source), _named_in(ENGINES, source)
    has_arrow_capsule = any(hasattr(source, method) for method in ARROW_METHODS)
    if name is None and engine is None and has_arrow_capsule:
        name = "arrow"
    return name, engine


def _named_in(integrations: dict[str, str], source: type) -> str | None:
    """Return the integration of the library that defines a type or one of its base classes."""
    libraries = (kind.__module__.partition(".")[0] for kind in source.__mro__)
    return next((integrations[name] for name in libraries if name in integrations), None)


def wrappers() -> list[str]:
    """Return the integrations that `Encoder.transform` accepts as `output` for any table."""
    return sorted({*READERS.values()} - {"narwhals"})
