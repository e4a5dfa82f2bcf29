"""The encoding as SQL expressions of Spark, which need no Python worker: for few features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.ml.functions import array_to_vector
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from onehot_fast.adapter import ColumnSchema, Schema, integration

from ._columns import spark_dtype, spark_type
from ._fields import element

# Spark takes longer to prepare a larger plan than to run it: each row is compared with the
# categories one by one.
MAX_FEATURES = 200
MAX_CATEGORIES = 1000
# Spark's types, and what SQL calls the values of their columns.
KINDS = {
    spark_types.StringType: "text",
    spark_types.CharType: "text",
    spark_types.VarcharType: "text",
    spark_types.BinaryType: "bytes",
    spark_types.BooleanType: "boolean",
    spark_types.IntegralType: "integer",
    spark_types.FractionalType: "float",
    spark_types.DateType: "date",
}


def new_columns(
    source: DataFrame,
    schema: Schema,
    inputs: Sequence[int],
    groups: Sequence[Sequence[int]],
    is_vector: bool,
) -> list[Column]:
    """Return a column for each feature, or an array or vector for each group of encoded columns."""
    _check_size(schema)
    dtypes = [spark_dtype(column) for column in schema.columns]
    features = []
    for column, i in zip(schema.columns, inputs, strict=True):
        field = source.schema.fields[i]
        kind = _kind(column, field.dataType)
        features.append(integration("sql").column_features(column, "spark", field.name, kind))
    if not groups:
        pairs = zip(features, dtypes, strict=True)
        return [_typed(item, dtype) for items, dtype in pairs for item in items]
    arrays = []
    for group in groups:
        dtype = np.dtype(float) if is_vector else element([dtypes[i] for i in group])
        array = F.array(*(_typed(item, dtype) for i in group for item in features[i]))
        arrays.append(array_to_vector(array) if is_vector else array)
    return arrays


def _check_size(schema: Schema) -> None:
    """Reject an encoder that is too large for expressions."""
    n_categories = sum(len(column.known) for column in schema.columns)
    for n, limit, what in [
        (schema.n_features, MAX_FEATURES, "features"),
        (n_categories, MAX_CATEGORIES, "categories"),
    ]:
        if n > limit:
            raise ValueError(
                f"expressions are for at most {limit} {what}, and the encoder has {n}: use"
                " without_python=False, or max_categories= of the encoder"
            )


def _kind(column: ColumnSchema, dtype: spark_types.DataType) -> str:
    """Return what SQL calls the values of a type of Spark."""
    kind = next((kind for types, kind in KINDS.items() if isinstance(dtype, types)), None)
    if kind is None or isinstance(dtype, spark_types.DecimalType):
        raise TypeError(
            f"column {column.name!r} is of Spark type {dtype.simpleString()}, which expressions do"
            " not compare as the encoder does: use without_python=False"
        )
    return kind


def _typed(item: str, dtype: np.dtype[Any]) -> Column:
    """Return one feature. It is never null, and with `coalesce` Spark knows that."""
    kind = spark_type(dtype)
    return F.coalesce(F.expr(item).cast(kind), F.lit(0).cast(kind))
