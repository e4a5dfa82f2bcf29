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
    Condition,
    conditions,
    read_values,
    refusals,
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
        features += _Column(column, dtype).features()
    return features


class _Column:
    """A column of a frame, and its categories among the values of its dtype."""

    def __init__(self, column: ColumnSchema, dtype: Any) -> None:
        self.column, self.dtype = column, dtype
        # By name, since pl.col takes "*" and "^x$" for patterns.
        self.value: pl.Expr = by_name(str(column.name)).as_expr()
        self.literals, self.is_held = _literals(column.known, dtype)

    def features(self) -> list[pl.Expr]:
        """Return one expression for each output."""
        element = element_of(self.column.options.dtype).dtype
        checks = [self._refusal(condition) for condition in refusals(self.column)]
        if checks and not self.column.n_outputs:
            raise ValueError(
                f"column {self.column.name!r} has no feature in which a value could be refused:"
                " pass handle_unknown='ignore' to set_params"
            )
        features = []
        for name, condition in zip(self.column.names, conditions(self.column), strict=True):
            feature = self._when(condition)
            for check in checks:  # the first feature of a column is the one that refuses
                feature = pl.when(check.is_null()).then(feature)
            checks = []
            feature = feature if element == pl.Boolean else feature.cast(element)
            if self.column.propagates_missing:
                nan = pl.lit(float("nan"), dtype=element)
                feature = pl.when(self._is_missing()).then(nan).otherwise(feature)
            features.append(feature.alias(name))
        return features

    def _is_missing(self) -> pl.Expr:
        is_null = self.value.is_null()
        return is_null | self.value.is_nan().fill_null(False) if self.dtype.is_float() else is_null

    def _when(self, condition: Condition) -> pl.Expr:
        """Return a Boolean that is never null."""
        if condition.kind == "missing":
            return self._is_missing()
        positions = condition.positions[self.is_held[condition.positions]]
        if condition.kind == "among" and len(positions) == 1:
            return self.value.eq_missing(self._literal(int(positions[0])))
        chosen = self.literals.gather(positions)
        is_among = self.value.is_in(chosen.implode()).fill_null(False)
        is_among = is_among if len(positions) else self.value.is_null() & False
        return is_among if condition.kind == "among" else ~(is_among | self._is_missing())

    def _literal(self, position: int) -> pl.Expr:
        if isinstance(self.dtype, TIMES):
            return pl.lit(self.literals.to_physical()[position]).cast(self.dtype)
        value = self.literals[position]
        return pl.lit(value) if isinstance(self.dtype, TEXTS) else pl.lit(value, dtype=self.dtype)

    def _refusal(self, condition: Condition) -> pl.Expr:
        """Return null, or fail: a cast is the only expression that can, and shows what it casts."""
        what = "missing" if condition.kind == "missing" else "unknown"
        message = f"column {self.column.name!r}: the value is {what}"
        return pl.when(self._when(condition)).then(pl.lit(message)).cast(pl.Int8)


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
