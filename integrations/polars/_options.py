"""Encoders from the options of the namespaces; their dtypes may be those of polars."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import polars as pl

from onehot_fast import Encoder
from onehot_fast.adapter import TableKeywords, check_options

from ._dtypes import result_dtype

__all__ = ["declared_encoder", "new_encoder"]

# Options that ask how often a category occurs, which no declaration says.
COUNTING = ("min_frequency", "max_categories")


def new_encoder(columns: Iterable[Hashable] | None, options: Mapping[str, Any]) -> Encoder:
    """Return an encoder that has learned nothing."""
    check_options(options, TableKeywords.__annotations__)
    dtype = options.get("dtype", bool)
    if isinstance(dtype, Mapping):
        dtype = {column: result_dtype(value) for column, value in dtype.items()}
    else:
        dtype = result_dtype(dtype)
    return Encoder(columns, **{**options, "dtype": dtype})


def declared_encoder(
    schema: pl.Schema, columns: Iterable[Hashable] | None, options: Mapping[str, Any]
) -> Encoder:
    """Return the encoder of declared categories, as if it was fitted to a table without rows."""
    encoder = new_encoder(columns, options)
    for name in new_encoder(columns, {}).fit(pl.DataFrame(schema=schema)).columns or ():
        of_column = {option: _of_column(value, name) for option, value in options.items()}
        _check_declared(name, schema.get(str(name)), of_column)
    return encoder.fit(pl.DataFrame(schema=schema))


def _of_column(value: Any, name: Any) -> Any:
    return value.get(name) if isinstance(value, Mapping) else value


def _check_declared(name: Any, dtype: Any, options: Mapping[str, Any]) -> None:
    """Refuse a column whose outputs depend on its rows; an absent one is refused by `fit`."""
    counting = [option for option in COUNTING if options.get(option) is not None]
    counting += ["drop"] if options.get("drop") == "most_frequent" else []
    remedy = "pass the Encoder that lazyframe.onehot.fit(...) learns in one pass over the rows"
    if counting:
        raise ValueError(
            f"{counting[0]} = {options[counting[0]]!r} asks how often the categories of column"
            f" {name!r} occur, which a LazyFrame does not know yet: {remedy}"
        )
    categories = options.get("categories", "auto")
    is_declared = categories is not None and not isinstance(categories, str)
    if not (is_declared or dtype is None or dtype == pl.Enum):
        raise ValueError(
            f"the categories of column {name!r} of dtype {dtype} are not declared, and a LazyFrame"
            f" has no rows to learn them from: {remedy}, or categories={{{name!r}: [...]}}, or cast"
            " the column to pl.Enum"
        )
