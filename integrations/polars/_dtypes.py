"""Convert dtypes to names, which an encoder stores, and back.

A name is the Python expression that polars prints for a dtype, with these exceptions:

- ``Enum`` has no categories, which an encoder stores separately.
- ``Categorical(Categories(name=..., namespace=..., physical=...))`` has all parameters of named
  categories, quoted as in Python. Releases before named categories wrote ``ordering=...``, which
  polars no longer distinguishes.
- ``Extension(name=..., storage=..., metadata=...)`` is an extension type of any class.
"""

import ast
from collections.abc import Sequence
from typing import Any

import polars as pl

from onehot_fast.adapter import Categories

# The class of extension types, which is new in polars 1.36.
EXTENSION: Any = getattr(pl, "BaseExtension", ())


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype."""
    if type(dtype) is pl.Enum:
        return "Enum"
    categories: Any = getattr(dtype, "categories", None)  # new in polars 1.32
    if isinstance(dtype, pl.Categorical) and hasattr(categories, "is_global"):
        if categories.is_global():
            return "Categorical"
        name, namespace = categories.name(), categories.namespace()
        physical = f"physical=pl.{categories.physical()}"
        return f"Categorical(Categories(name={name!r}, namespace={namespace!r}, {physical}))"
    if isinstance(dtype, EXTENSION):
        name, metadata = dtype.ext_name(), dtype.ext_metadata()
        storage = dtype_name(dtype.ext_storage())
        return f"Extension(name={name!r}, storage={storage}, metadata={metadata!r})"
    if isinstance(dtype, pl.List):
        return f"List({dtype_name(dtype.inner)})"
    if isinstance(dtype, pl.Array) and len(dtype.shape) == 1:
        return f"Array({dtype_name(dtype.inner)}, shape={dtype.shape})"
    return str(dtype)


def dtype_of_name(name: str, known: Categories) -> Any:
    """Return the dtype with this name; an Enum gets the known categories.

    Raise a TypeError or ValueError if the installed version of polars has no such dtype.
    """
    try:
        dtype = _dtype_of(ast.parse(name, mode="eval").body)
        return pl.Enum(known.tolist()) if dtype is pl.Enum else dtype
    except (MemoryError, RecursionError, SyntaxError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{name!r} is not the name of a polars dtype: {error}") from error


def _dtype_of(form: ast.expr) -> Any:
    """Return the dtype that an expression such as ``Datetime(time_unit="us")`` describes."""
    options: dict[str, ast.expr] = {}
    arguments: list[ast.expr] = []
    function = form
    if isinstance(form, ast.Call):
        options = {str(each.arg): each.value for each in form.keywords}
        function, arguments = form.func, form.args
    name = getattr(function, "attr", "") or getattr(function, "id", "")
    if name == "Categorical":
        return _categorical(arguments, options)
    if name == "Extension":
        return _extension(options)
    kind = getattr(pl, name, None)
    if not (isinstance(kind, type) and issubclass(kind, pl.DataType)):
        raise ValueError(f"polars has no dtype {name!r}")
    if arguments and issubclass(kind, pl.List | pl.Array):  # its first argument is another dtype
        make: Any = kind
        return make(_dtype_of(arguments[0]), **_literals(options))
    return kind(**_literals(options)) if options else kind


def _categorical(arguments: Sequence[ast.expr], options: dict[str, ast.expr]) -> Any:
    """Return a Categorical; its categories are global unless they have a name."""
    make = getattr(pl, "Categories", None)
    if make is None:
        return pl.Categorical(**_literals(options))
    if not arguments or not isinstance(arguments[0], ast.Call):
        return pl.Categorical()
    named = {str(each.arg): each.value for each in arguments[0].keywords}
    physical = named.pop("physical", None)
    values = _literals(named)
    if physical is not None:
        values["physical"] = _dtype_of(physical)
    return pl.Categorical(make(*map(ast.literal_eval, arguments[0].args), **values))


def _extension(options: dict[str, ast.expr]) -> Any:
    """Return an extension type, of its own class if it is registered."""
    storage = _dtype_of(options.pop("storage"))
    values = _literals(options)
    registered = pl.get_extension_type(values["name"])
    kind = registered if isinstance(registered, type) else pl.Extension
    return kind.ext_from_params(values["name"], storage, values["metadata"])


def _literals(options: dict[str, ast.expr]) -> dict[str, Any]:
    """Return the values of options that are literals, such as a string."""
    return {name: ast.literal_eval(value) for name, value in options.items()}
