"""A fitted encoder as expressions of polars: the engine itself encodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.adapter import (
    Categories,
    ColumnSchema,
    FeatureWriter,
    read_values,
    require_release,
)

from ._dtypes import element_of
from ._write import numpy_series

__all__ = ["expressions"]

# Of these dtypes a text is a literal as it is.
TEXTS = (pl.String, pl.Categorical, pl.Enum)
# And of these what stands for the value in memory.
TIMES = (pl.Date, pl.Datetime, pl.Duration, pl.Time)


def expressions(encoder: Encoder, frame: pl.DataFrame | pl.LazyFrame) -> list[pl.Expr]:
    """Return the features of a frame as expressions; see `Encoder.expressions`.

    Examples
    --------
    >>> frame = pl.DataFrame({"size": ["S", None]})
    >>> frame.select(expressions(Encoder().fit(frame), frame)).to_dict(as_series=False)
    {'size_S': [True, False]}
    """
    require_release("polars", "1.32", "Encoder.expressions")  # before, names are patterns
    schema, dtypes = encoder.schema, frame.collect_schema()
    positions = schema.positions_in(dtypes.names())
    features = []
    for column, position in zip(schema.columns, positions, strict=True):
        dtype = dtypes.dtypes()[position]
        if dtype.is_nested() or dtype == pl.Object:
            raise TypeError(f"column {column.name!r} has dtype {dtype}, which has no expressions")
        written = _Writer(column, dtype).features()
        features += [each.alias(name) for each, name in zip(written, column.names, strict=True)]
    return features


class _Writer(FeatureWriter[pl.Expr]):
    """The features of one column as expressions; its literals are positions in a Series."""

    def __init__(self, column: ColumnSchema, dtype: Any) -> None:
        self.dtype, self.element = dtype, element_of(column.options.dtype).dtype
        # By name, since pl.col takes "*" and "^x$" for patterns.
        self.value: pl.Expr = by_name(str(column.name)).as_expr()
        self.series, is_held = _literals(column.known, dtype)
        super().__init__(column, [i if is_held[i] else None for i in range(len(is_held))])

    def is_missing(self) -> pl.Expr:
        is_null = self.value.is_null()
        return is_null | self.value.is_nan().fill_null(False) if self.dtype.is_float() else is_null

    def is_among(self, literals: list[int]) -> pl.Expr:
        if not literals:
            return self.value.is_null() & False
        if len(literals) == 1:
            return self.value.eq_missing(self._literal(literals[0]))
        return self.value.is_in(self.series.gather(literals).implode()).fill_null(False)

    def is_other(self, literals: list[int]) -> pl.Expr:
        return ~(self.is_among(literals) | self.is_missing())

    def feature(self, condition: pl.Expr, errors: dict[str, pl.Expr]) -> pl.Expr:
        feature = condition if self.element == pl.Boolean else condition.cast(self.element)
        if self.column.propagates_missing:
            nan = pl.lit(float("nan"), dtype=self.element)
            feature = pl.when(self.is_missing()).then(nan).otherwise(feature)
        for what, rejected in errors.items():
            # Only a cast can fail, and its error shows the text.
            message = pl.lit(f"column {self.column.name!r}: the value is {what}")
            check = pl.when(rejected).then(message).cast(pl.Int8)
            feature = pl.when(check.is_null()).then(feature)
        return feature

    def _literal(self, position: int) -> pl.Expr:
        if isinstance(self.dtype, TIMES):
            return pl.lit(self.series.to_physical()[position]).cast(self.dtype)
        value = self.series[position]
        return pl.lit(value) if isinstance(self.dtype, TEXTS) else pl.lit(value, dtype=self.dtype)


def _literals(known: Categories, dtype: Any) -> tuple[pl.Series, npt.NDArray[np.bool_]]:
    """Return categories as values of a dtype, and which of them are what they were."""
    try:
        literals = _cast(numpy_series("", known.to_array()), dtype)
    except (TypeError, pl.exceptions.PolarsError):  # of several kinds
        literals = pl.concat([_one(item, dtype) for item in known.tolist()])
    column = read_values(literals).encode()
    positions = known.find(Categories.of(column.stored))
    positions = np.append(positions, -1)[column.codes.astype(np.intp)]
    return literals, positions == np.arange(len(known))


def _one(item: Any, dtype: Any) -> pl.Series:
    """Return one category as a value of a dtype, or null."""
    try:
        return _cast(pl.Series("", [item], strict=False), dtype)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series("", [None], dtype)


def _cast(values: pl.Series, dtype: Any) -> pl.Series:
    """Return values of a dtype, null where there is none; a number is never a time."""
    if isinstance(dtype, TIMES) and values.dtype.base_type() != dtype.base_type():
        return pl.Series("", [None] * len(values), dtype)
    return values.cast(dtype, strict=False)
