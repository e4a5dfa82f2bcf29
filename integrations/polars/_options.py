"""Check the options of the namespaces: NumPy and polars dtypes, and options of encoders."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from onehot_fast import Encoder
from onehot_fast.adapter import OPTIONS, check_options, number_dtype, option_names

AnyDtype: TypeAlias = np.dtype[Any]


class Element(NamedTuple):
    """A polars dtype, and its format string in the Arrow C data interface."""

    dtype: Any
    format: str


# polars dtype → Arrow format; Float16 is new in polars 1.36.
FORMATS = {
    "Boolean": "b", "Int8": "c", "Int16": "s", "Int32": "i", "Int64": "l", "UInt8": "C",
    "UInt16": "S", "UInt32": "I", "UInt64": "L", "Float16": "e", "Float32": "f", "Float64": "g",
}  # fmt: skip
ELEMENTS: dict[AnyDtype, Element] = {
    np.dtype(name.lower().replace("boolean", "bool")): Element(getattr(pl, name), form)
    for name, form in FORMATS.items()
    if hasattr(pl, name)
}
TO_NUMPY: dict[Any, AnyDtype] = {element.dtype: dtype for dtype, element in ELEMENTS.items()}


def result_dtype(dtype: Any) -> AnyDtype:
    """Convert a NumPy or polars dtype to NumPy; raise TypeError if it is not numeric or Boolean."""
    if not isinstance(dtype, pl.DataType | type(pl.UInt8)):
        return number_dtype(dtype, "dtype")
    if dtype not in TO_NUMPY:
        raise TypeError(f"dtype must be a Boolean, integer or floating dtype, got {dtype!r}")
    return TO_NUMPY[dtype]


def element_of(dtype: AnyDtype) -> Element:
    """Return the polars dtype and Arrow format of a NumPy dtype, or raise TypeError."""
    if dtype not in ELEMENTS:
        names = ", ".join(map(str, ELEMENTS))
        raise TypeError(f"dtype must be one of {names} in polars, got {dtype}")
    return ELEMENTS[dtype]


def new_encoder(columns: Iterable[Hashable] | None, options: Mapping[str, Any]) -> Encoder:
    """Return an unfitted encoder; `options` may contain polars dtypes."""
    check_options(options, option_names())
    dtype = options.get("dtype", bool)
    if isinstance(dtype, Mapping):
        dtype = {column: result_dtype(value) for column, value in dtype.items()}
    else:
        dtype = result_dtype(dtype)
    return Encoder(columns, **{**options, "dtype": dtype})


def declared_encoder(
    schema: pl.Schema, columns: Iterable[Hashable] | None, options: Mapping[str, Any]
) -> Encoder:
    """Return an encoder fitted without rows; raise ValueError if categories are not declared."""
    encoder = new_encoder(columns, options).partial_fit(pl.DataFrame(schema=schema))
    for name in encoder.columns or ():
        of_column = {
            option: value.get(name) if isinstance(value, Mapping) else value
            for option, value in options.items()
        }
        _check_declared(name, schema.get(str(name)), of_column)
    return encoder


def _check_declared(name: Any, dtype: Any, options: Mapping[str, Any]) -> None:
    """Raise ValueError if the features of a column cannot be determined without its rows."""
    counting = [name for name, each in OPTIONS.items() if each.needs_frequencies(options.get(name))]
    remedy = "pass the Encoder from lazyframe.onehot.fit(...), which reads all rows once"
    if counting:
        raise ValueError(
            f"{counting[0]} = {options[counting[0]]!r} needs the frequency of the categories of"
            f" column {name!r}, which a LazyFrame cannot provide: {remedy}"
        )
    categories = options.get("categories", "auto")
    is_declared = categories is not None and not isinstance(categories, str)
    if not (is_declared or dtype is None or dtype == pl.Enum):
        raise ValueError(
            f"the categories of column {name!r} of dtype {dtype} are not declared, and a LazyFrame"
            f" has no rows to learn categories from: {remedy}, pass categories={{{name!r}: [...]}},"
            " or cast the column to pl.Enum"
        )
