"""The encoding as expressions of Spark, which need no Python worker: for few features."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pyspark.ml.functions import array_to_vector
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from onehot_fast.adapter import ColumnSchema, Schema

from ._columns import spark_type

# More make a plan that takes Spark longer to prepare than to run: every row is compared with the
# categories one by one.
MOST_FEATURES = 200
MOST_CATEGORIES = 1000
INT64 = range(-(2**63), 2**63)


def check_few(schema: Schema) -> None:
    """Refuse an encoder that is too large for expressions."""
    n_categories = sum(len(column.known) for column in schema.columns)
    for n, most, what in [
        (schema.n_features, MOST_FEATURES, "features"),
        (n_categories, MOST_CATEGORIES, "categories"),
    ]:
        if n > most:
            raise ValueError(
                f"expressions are for at most {most} {what}, and the encoder has {n}:"
                " without_python=False, or max_categories= of the encoder"
            )


def code_of(column: ColumnSchema, value: Column, kind: spark_types.DataType) -> Column:
    """Return the output that is on, -1 where none is, null where all are NaN."""
    literal = _literals(column, kind)
    is_missing = value.isNull()
    if isinstance(kind, spark_types.FloatType | spark_types.DoubleType):
        is_missing |= F.isnan(value)
    options, where = column.options, f"column {column.name!r}"
    missing = F.lit(column.missing_output)
    if options.handle_missing == "propagate":
        missing = F.lit(None)
    elif options.handle_missing == "error":
        missing = _refusal(F.lit(f"{where}: the value is missing"))
    unknown = F.lit(column.unknown_output)
    if options.handle_unknown == "error":
        text = F.lit(f"{where}: "), value.cast("string"), F.lit(" is unknown")
        unknown = _refusal(F.concat(*text))
    code = F.when(is_missing, missing.cast("int"))
    for category, output in zip(column.categories, column.outputs.tolist(), strict=True):
        same = literal(category)
        if same is not None:
            code = code.when(value == F.lit(same), F.lit(output))
    return code.otherwise(unknown.cast("int"))


def _refusal(message: Column) -> Column:
    return F.raise_error(message)


def _literals(column: ColumnSchema, kind: spark_types.DataType) -> Callable[[Any], Any]:
    """Return what finds the value of a type of Spark that equals a category; None: there is none.

    Spark's own comparison would convert: it takes '1' for 1, and 2**53 + 1 for the double 2**53.
    """
    name = type(kind).__name__
    if name in ("StringType", "VarcharType", "CharType") and kind in (
        spark_types.StringType(), spark_types.VarcharType(getattr(kind, "length", 1)),
        spark_types.CharType(getattr(kind, "length", 1)),
    ):  # fmt: skip
        return lambda category: category if isinstance(category, str) else None
    if isinstance(kind, spark_types.BinaryType):
        return lambda category: category if isinstance(category, bytes) else None
    if isinstance(kind, spark_types.DateType):
        return lambda category: category if type(category) is datetime.date else None
    if isinstance(kind, spark_types.BooleanType):
        return lambda category: bool(category) if _is_number(category, (0, 1)) else None
    if isinstance(kind, spark_types.IntegralType):
        return lambda category: int(category) if _is_number(category, INT64) else None
    if isinstance(kind, spark_types.FloatType | spark_types.DoubleType):
        return _as_double
    raise TypeError(
        f"column {column.name!r} is of Spark type {kind.simpleString()}, which expressions do not"
        " compare as the encoder does: without_python=False"
    )


def _is_number(category: Any, among: Sequence[int]) -> bool:
    """Tell whether a category is equal to one of some integers."""
    if isinstance(category, str | bytes) or not hasattr(category, "__index__"):
        is_whole = hasattr(category, "is_integer") and category.is_integer()
        return bool(is_whole and int(category) in among)
    return int(category) in among


def _as_double(category: Any) -> float | None:
    """Return the double that is exactly a number, if there is one."""
    if isinstance(category, str | bytes) or not hasattr(category, "__float__"):
        return None
    try:
        double = float(category)
    except OverflowError:
        return None
    return double if double == category and not math.isnan(double) else None


def feature(code: Column, output: int, column: ColumnSchema, dtype: np.dtype[Any]) -> Column:
    """Return one output of a column."""
    kind = spark_type(dtype)
    is_on = (code == output).cast(kind)
    if column.options.handle_missing != "propagate":
        return is_on
    return F.when(code.isNull(), F.lit(math.nan).cast(kind)).otherwise(is_on)


def side_by_side(features: Sequence[Column], dtype: np.dtype[Any], is_vector: bool) -> Column:
    """Return features as one array or vector."""
    kind = "double" if is_vector else spark_type(dtype).simpleString()
    array = F.array(*features).cast(f"array<{kind}>")
    return array_to_vector(array) if is_vector else array
