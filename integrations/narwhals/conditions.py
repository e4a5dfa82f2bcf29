"""A fitted encoder as expressions of narwhals: DuckDB, pandas, Spark and others encode."""

from __future__ import annotations

import datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnSchema, Condition, conditions, refusals

__all__ = ["expressions"]

DTYPES: dict[str, Any] = {
    "bool": nw.Boolean, "int8": nw.Int8, "int16": nw.Int16, "int32": nw.Int32, "int64": nw.Int64,
    "uint8": nw.UInt8, "uint16": nw.UInt16, "uint32": nw.UInt32, "uint64": nw.UInt64,
    "float32": nw.Float32, "float64": nw.Float64,
}  # fmt: skip
TEXTS = (nw.String, nw.Categorical, nw.Enum)


def expressions(encoder: Encoder, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[nw.Expr]:
    """Return the features of a frame as expressions; see `Encoder.expressions`."""
    schema, dtypes = encoder.schema, frame.collect_schema()
    positions = schema.positions_in(dtypes.names())
    found: list[nw.Expr] = []
    for column, position in zip(schema.columns, positions, strict=True):
        if refusals(column):
            raise ValueError(
                f"column {column.name!r} is to refuse values, and no expression of narwhals can"
                " fail: encoder.set_params(handle_unknown='ignore', handle_missing='ignore')"
            )
        name = str(column.name)
        # polars takes some names for patterns.
        value = nw.nth(position) if name == "*" or name.startswith("^") else nw.col(name)
        dtype = dtypes.dtypes()[position]
        if isinstance(dtype, TEXTS[1:]) and not frame.implementation.is_polars():
            _check_texts(column, dtype)
        found += _features(column, value, dtype)
    return found


def _features(column: ColumnSchema, value: nw.Expr, dtype: Any) -> list[nw.Expr]:
    """Return one expression for each output of a column."""
    element = DTYPES.get(column.options.dtype.newbyteorder("=").name)
    if element is None:
        raise TypeError(f"dtype = {column.options.dtype} has no type in narwhals")
    value = value.cast(nw.String) if isinstance(dtype, TEXTS[1:]) else value
    is_missing = value.is_null() | value.is_nan() if dtype.is_float() else value.is_null()
    literals = [_literal(item, column, dtype) for item in column.known.tolist()]
    on, off = (nw.lit(x, nw.Boolean if element is nw.Boolean else nw.Int64) for x in (1, 0))
    features = []
    for name, condition in zip(column.names, conditions(column), strict=True):
        feature = nw.when(_when(condition, value, is_missing, literals)).then(on).otherwise(off)
        feature = feature.cast(element)
        if column.propagates_missing:
            nan = nw.lit(float("nan"), element)
            feature = nw.when(is_missing).then(nan).otherwise(feature)
        features.append(feature.alias(name))
    return features


def _check_texts(column: ColumnSchema, dtype: Any) -> None:
    """Refuse categories that are no texts, as pandas has: narwhals casts them to texts."""
    of_frame = dtype.categories if isinstance(dtype, nw.Enum) else ()
    if not all(isinstance(item, str) for item in (*column.known.tolist(), *of_frame)):
        raise TypeError(
            f"column {column.name!r} has dtype {dtype}, whose categories narwhals compares as"
            " texts, and not all are texts: cast the column to the type of its categories first"
        )


def _when(
    condition: Condition, value: nw.Expr, is_missing: nw.Expr, literals: list[Any]
) -> nw.Expr:
    """Return a Boolean."""
    if condition.kind == "missing":
        return is_missing
    chosen = [literals[i] for i in condition.positions.tolist() if literals[i] is not None]
    is_among = value.is_in(chosen) if len(chosen) != 1 else value == chosen[0]
    if condition.kind == "among":
        return is_among & ~is_missing if chosen else is_missing & ~is_missing
    return ~is_missing & ~is_among if chosen else ~is_missing


def _literal(item: Any, column: ColumnSchema, dtype: Any) -> Any:
    """Return a category as a value of a dtype, None if there is none that is equal."""
    if isinstance(dtype, TEXTS):
        return item if isinstance(item, str) else None
    if isinstance(dtype, nw.Boolean):
        return bool(item) if isinstance(item, Real | np.bool_) and item in (0, 1) else None
    if dtype.is_numeric():
        return _number(item, dtype) if isinstance(item, Real | Decimal | np.bool_) else None
    if isinstance(dtype, nw.Date):
        return item if type(item) is datetime.date else None
    if isinstance(dtype, nw.Datetime):
        return _instant(item, dtype.time_zone is not None)
    raise TypeError(f"column {column.name!r} has dtype {dtype}, which has no literals in narwhals")


def _number(item: Any, dtype: Any) -> int | float | Decimal | None:
    if dtype.is_decimal():
        return Decimal(item)
    kind: Any = np.dtype(str(dtype).lower())
    if dtype.is_float():
        number = kind.type(item)
        return float(number) if number == item and Decimal(float(number)) == _exact(item) else None
    bounds = np.iinfo(kind)
    return int(item) if item == item // 1 and bounds.min <= item <= bounds.max else None


def _exact(item: Any) -> Decimal:
    return Decimal(item.item() if isinstance(item, np.generic) else item)


def _instant(item: Any, is_zoned: bool) -> datetime.datetime | None:
    if isinstance(item, np.datetime64):
        whole = item.astype("M8[us]")
        item = whole.item() if whole == item else None
    is_instant = isinstance(item, datetime.datetime) and not getattr(item, "nanosecond", 0)
    return item if is_instant and (item.utcoffset() is not None) == is_zoned else None
