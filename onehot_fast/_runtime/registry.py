"""Which integration serves which library. They are called by name and imported only when needed."""

from __future__ import annotations

import importlib
from functools import cache, lru_cache
from importlib.util import find_spec
from types import ModuleType

PACKAGE = "onehot_fast.integrations"

# The top-level module of a type → the integration that reads it.
READERS = {"pandas": "pandas", "pyarrow": "arrow", "polars": "polars"}
# By these any other object offers its data (the Arrow PyCapsule interface).
ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")


def integration(name: str) -> ModuleType:
    """Return an integration module, imported only now."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def library(name: str, method: str) -> ModuleType:
    """Return a module that only one method needs, or say which one needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f".onehot.{method}() needs {package} to be installed: {error}") from error


def reader_of(source: object) -> str | None:
    """Return the name of the integration that reads objects of this type, if there is one."""
    return _reader_of_type(type(source))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _reader_of_type(source: type) -> str | None:
    """Return the name of the integration that reads objects of a type."""
    for kind in source.__mro__:
        name = READERS.get(kind.__module__.partition(".")[0])
        if name is not None and exists(name):
            return name
    speaks_arrow = any(hasattr(source, method) for method in ARROW_METHODS)
    return "arrow" if speaks_arrow and exists("arrow") else None


@cache
def exists(name: str) -> bool:
    """Tell whether this distribution has the integration; its library may be missing."""
    return find_spec(f"{PACKAGE}.{name}") is not None


def wrappers() -> list[str]:
    """Return the integrations that can wrap a table."""
    return sorted(name for name in set(READERS.values()) if exists(name))
