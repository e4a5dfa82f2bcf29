"""Find the integration module of a library, and import it only when it is needed."""

from __future__ import annotations

import re
import sys
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
# The package on PyPI of each library that has another name there.
PACKAGES = {"sklearn": "scikit-learn", "dask": "dask[dataframe]"}
# The public names of each integration, for hints. Importing the integrations to read their
# `__all__` would import their libraries. A hint names the first integration with a name first.
PUBLIC_NAMES: dict[str, tuple[str, ...]] = {
    "pandas": (
        "FrameAccessor", "OneHotAccessor", "from_dummies", "get_dummies", "onehot",
        "str_get_dummies",
    ),
    "polars": (
        "DataFrameNamespace", "ExprNamespace", "LazyFrameNamespace", "SeriesNamespace",
        "expressions", "onehot",
    ),
    "sklearn": (
        "KBinsDiscretizer", "LabelBinarizer", "MultiLabelBinarizer", "OneHotEncoder",
        "OrdinalEncoder", "TargetEncoder", "from_sklearn", "label_binarize", "to_sklearn",
    ),
    "arrow": (
        "OneHotArray", "decode", "encode", "encoded_schema", "expression", "one_hot", "register",
    ),
    "dask": ("DaskFrameAccessor", "DaskSeriesAccessor", "get_dummies"),
    "narwhals": ("expressions",),
    "onnx": ("OneHot", "input_feed", "to_onnx"),
    "spark": ("OneHotEncoder", "OneHotEncoderModel", "encode"),
    "sql": ("DIALECTS", "to_sql"),
    "torch": ("decode", "multi_hot", "one_hot"),
}  # fmt: skip
# Integrations that support `Encoder.expressions`.
EXPRESSION_BACKENDS = ("polars", "narwhals")
# Tables of other libraries are read by these methods of the Arrow PyCapsule interface.
ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")


def integration(name: str) -> ModuleType:
    """Import and return an integration module."""
    return _imported(f"{PACKAGE}.{name}")


def _imported(name: str) -> ModuleType:
    """Return a module as `importlib.import_module` does, without its functions in Python.

    They would be called for each table.
    """
    __import__(name)  # returns the package that contains the module
    return sys.modules[name]


def require(name: str, least: str | None = None, what: str | None = None) -> ModuleType:
    """Import and return a library, or raise an error that says what to install.

    `least` is the oldest accepted version (default: the oldest tested). The error names `what`,
    the feature that needs the library.
    """
    extra, tested = REQUIRED[name]
    least, what = least or tested, what or f"{PACKAGE}.{extra}"
    needs, package = f"{what} needs {name} {least} or newer", PACKAGES.get(name, name)
    of_library = f'pip install "{package}>={least}"'
    of_extra = f'pip install "onehot-fast[{extra}]"'
    try:
        module = _imported(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"{package} is not installed: {of_library}, or {of_extra}; {needs}", name=name
        ) from None
    version = str(module.__version__)
    if _release(version) < _release(least):
        remedy = of_extra if least == tested else of_library
        raise ImportError(f"{needs}, but {version} is installed: {remedy}", name=name)
    return module


def library(name: str, what: str) -> ModuleType:
    """Import and return a module, or raise an error that says what to install.

    The error names `what`, the method or option that needs the module.
    """
    try:
        return _imported(name)
    except ImportError as error:
        package = name.partition(".")[0]
        remedy = f"pip install {PACKAGES.get(package, package)}"
        raise ImportError(f"{what} needs {package}: {remedy} ({error})") from error


def _release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version as a tuple."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def integration_of_module(name: str) -> str | None:
    """Return the integration that has the name of a module or of its library, or None."""
    by_library = {library: extra for library, (extra, _) in REQUIRED.items()}
    name = by_library.get(name, name)
    return name if name in PUBLIC_NAMES else None


def import_hint(name: str) -> str:
    """Return the import statement of a name that an integration has, or "" if none has it."""
    owners = [module for module, names in PUBLIC_NAMES.items() if name in names]
    if owners:
        others = f" (or of {', '.join(owners[1:])})" if owners[1:] else ""
        return f"from {PACKAGE}.{owners[0]} import {name}{others}"
    module = integration_of_module(name)
    return f"import {PACKAGE}.{module}" if module else ""


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
