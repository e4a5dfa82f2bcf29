"""Encode and decode DataFrames lazily, with a schema that is known before anything runs."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import ArrayType, StructField

from onehot_fast import Encoder, Special
from onehot_fast.adapter import (
    ColumnSchema,
    DecodedLayout,
    PassThrough,
    Schema,
    integration,
    with_article,
)

from ._columns import (
    CODES,
    Output,
    PlannedSchema,
    as_frame,
    category_type,
    check_names,
    check_output,
    element,
    encoded_in_one,
    new_fields,
    order_of,
    spark_dtype,
    spark_type,
)
from ._learn import positional
from ._workers import CachedEncoder, Decoding, Encoding

__all__ = ["encode"]

# The types of arrays that Java makes of vectors, with their elements.
FROM_VECTORS = {"array<float>": "float32", "array<double>": "float64"}
# Spark takes longer to prepare a larger plan than to run it, and compares each row with the
# categories one by one.
MAX_FEATURES = 200
MAX_CATEGORIES = 1000
# Spark's types → the kinds of their values in SQL.
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


def encode(
    table: DataFrame,
    encoder: Encoder,
    *,
    output: Output = "columns",
    names: str | Sequence[str] | None = None,
    keep: bool = False,
    without_python: bool = False,
    num_threads: int | None = None,
) -> DataFrame:
    """Encode a DataFrame with an encoder that was fitted with any library.

    Parameters
    ----------
    table : pyspark.sql.DataFrame of n_rows
        Streaming DataFrames too.
    encoder : Encoder
        Fitted.
    output : {"columns", "array", "vector", "codes", "indices"}, default "columns"
        A column for each feature, in place of the encoded columns; or for each row one array, or
        one sparse vector for Spark's ML. The elements of an array have the encoder's dtype (tinyint
        for Booleans); those of a vector are doubles. "codes" and "indices" are the integers of
        `Encoder.transform` in place of each encoded value. The metadata of codes name the
        categories, so that trees of Spark's ML split the codes as categories.
    names : str or sequence of str, optional
        The name of the array or vector of all features, which is the last column, by default
        "features"; or one name for each encoded column, in the order of the encoder, whose array,
        vector or codes take its place. None for "columns", which the encoder names.
    keep : bool, default False
        Keep the encoded columns. All new columns then come last, as in Spark's ML.
    without_python : bool, default False
        Use SQL expressions instead of Python workers, with the same values: for at most 200
        features and 1,000 categories of strings, binaries, Booleans, integers, floats and dates.
        Vectors are dense, and their column is nullable.
    num_threads : int, optional
        In each task; by default the processors that Spark grants it.

    Returns
    -------
    pyspark.sql.DataFrame of n_rows
        Lazy. The metadata of new columns name the features (``ml_attr``), so that VectorAssembler
        and models know them.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError, ValueError
        An option is invalid, a column is absent or duplicated, or a new column has the name of
        another. If the encoder rejects a row, Spark raises a PythonException with its message.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> frame = spark.createDataFrame([("S", 1), ("L", 3), (None, 2)], "size string, price int")
    >>> encoder = Encoder(["size"]).fit(frame)
    >>> encode(frame, encoder).columns
    ['size_L', 'size_S', 'price']
    >>> [row.features for row in encode(frame, encoder, output="vector").collect()]
    [SparseVector(2, {1: 1.0}), SparseVector(2, {0: 1.0}), SparseVector(2, {})]
    >>> [row.size for row in encode(frame, encoder, output="codes").collect()]
    [4, 3, 0]
    """
    check_output(output)
    if not isinstance(encoder, Encoder):
        raise TypeError(f"encoder must be an Encoder, got {with_article(encoder)}")
    frame, schema = as_frame(table), encoder.schema
    inputs = schema.positions_in(frame.columns)
    new, groups = new_fields(encoder, output, names)
    in_place = output in CODES or not (names is None or isinstance(names, str))
    if not keep:
        schema.column_order(frame.columns).warn_if_absent()
    order = order_of(schema, frame.columns, groups, keep, in_place)
    fields = [new[~i] if i < 0 else frame.schema.fields[i] for i in order]
    check_names(fields, [field.name for field in new])
    source, place = _needed(frame, [*inputs, *order])
    inputs, order = [place[i] for i in inputs], [place.get(i, i) for i in order]
    if without_python and output in CODES:
        raise ValueError(f"output={output!r} needs Python workers: use without_python=False")
    if without_python:
        expressions = new_columns(source, schema, inputs, groups, output == "vector")
        columns = [expressions[~i] if i < 0 else F.col(source.columns[i]) for i in order]
        return _select(source, columns, fields)
    if output not in CODES:
        encoder = _for_workers(encoder, [spark_dtype(column) for column in schema.columns])
    made = [_made_of(field) for field in new]
    sent = [made[~i] if i < 0 else field for i, field in zip(order, fields, strict=True)]
    if made != new:
        sent = [StructField(f"c{i}", each.dataType, each.nullable) for i, each in enumerate(sent)]
    encoding = Encoding(
        CachedEncoder(encoder),
        inputs,
        order,
        [field.name for field in sent],
        output,
        num_threads,
        groups,
        [_element_of(field) for field in made] if groups else (),
    )
    encoded = source.mapInArrow(lambda batches: encoding(batches), PlannedSchema(sent))
    if made == new:
        return encoded
    converted = [_converted(each, field) for each, field in zip(sent, fields, strict=True)]
    return _select(encoded, converted, fields)


def transform(
    encoder: Encoder, table: Any, output: str | None, num_threads: int | None = None
) -> DataFrame:
    """Return the encoded frame; see `onehot_fast.adapter.Engine`."""
    form: Any = "columns" if output in (None, "spark") else output
    return encode(table, encoder, output=form, num_threads=num_threads)


def inverse_transform(
    encoder: Encoder, encoded: Any, missing: Any, unknown: Any, infrequent: Any
) -> DataFrame:
    """Return the decoded frame; see `onehot_fast.adapter.Engine`.

    The features are columns of their names, or one array or vector whose metadata name them. A
    `Special` becomes null.
    """
    frame, schema = as_frame(encoded), encoder.schema
    substitutes = {"missing": missing, "unknown": unknown, "infrequent": infrequent}
    substitutes = {n: None if isinstance(v, Special) else v for n, v in substitutes.items()}
    types = [category_type(column) for column in schema.columns]
    for column, kind in zip(schema.columns, types, strict=True):
        _check_substitutes(column.name, kind, substitutes)
    in_one = encoded_in_one(frame, schema)
    inputs, order = [], []
    if in_one is None:
        layout = DecodedLayout(schema, frame.columns)
        inputs = layout.features
        for part in layout.columns:
            order.append(part.position if isinstance(part, PassThrough) else ~part)
    else:
        inputs = [in_one]
        for position in range(len(frame.columns)):
            is_encoded = position == in_one
            order += [~i for i in range(len(types))] if is_encoded else [position]
    new = [
        StructField(str(column.name), from_arrow_type(kind))
        for column, kind in zip(schema.columns, types, strict=True)
    ]
    fields = [new[~i] if i < 0 else frame.schema.fields[i] for i in order]
    check_names(fields, [field.name for field in new])
    source, place = _needed(frame, [*inputs, *order])
    decoding = Decoding(
        CachedEncoder(encoder),
        [place[i] for i in inputs],
        [place.get(i, i) for i in order],
        [field.name for field in fields],
        types,
        substitutes,
        in_one is not None,
    )
    return source.mapInArrow(lambda batches: decoding(batches), PlannedSchema(fields))


def _needed(frame: DataFrame, positions: Sequence[int]) -> tuple[DataFrame, dict[int, int]]:
    """Return the columns at the positions from 0 on, and the new position of each."""
    needed = sorted({i for i in positions if i >= 0} or {0})
    return positional(frame, needed), {position: i for i, position in enumerate(needed)}


def _made_of(field: StructField) -> StructField:
    """Return the field that the workers make: a vector for an array of floats.

    Java turns it into an array faster than arrays are copied between processes. For integers it
    would be slower.
    """
    if field.dataType.simpleString() not in FROM_VECTORS:
        return field
    return StructField(field.name, VectorUDT(), field.nullable)


def _element_of(field: StructField) -> np.dtype[Any] | None:
    """Return the dtype of the elements of an array, None for a vector."""
    kind = field.dataType
    return (
        np.dtype(to_arrow_type(kind.elementType).to_pandas_dtype())
        if isinstance(kind, ArrayType)
        else None
    )


def _converted(sent: StructField, field: StructField) -> Column:
    """Return a column of the workers with the type of its field."""
    column = F.col(sent.name)
    if sent.dataType == field.dataType:
        return column
    return vector_to_array(column, FROM_VECTORS[field.dataType.simpleString()])


def _select(
    frame: DataFrame, columns: Sequence[Column], fields: Sequence[StructField]
) -> DataFrame:
    """Return columns with the names and the metadata of fields."""
    return frame.select(
        *(
            column.alias(field.name, metadata=field.metadata or {})
            for column, field in zip(columns, fields, strict=True)
        )
    )


def _for_workers(encoder: Encoder, dtypes: Sequence[np.dtype[Any]]) -> Encoder:
    """Return an encoder without the other columns, whose features have types of Spark."""
    names = (column.name for column in encoder.schema.columns)
    by_column = dict(zip(names, dtypes, strict=True))
    return copy.copy(encoder).set_params(dtype=by_column, remainder="drop")


def _check_substitutes(name: Hashable, kind: pa.DataType, substitutes: dict[str, Any]) -> None:
    """Raise an error for a substitute that does not have the type of the decoded column."""
    for option, value in substitutes.items():
        try:
            pa.scalar(value, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise TypeError(
                f"{option} must be of type {from_arrow_type(kind).simpleString()} for column"
                f" {name!r}, got {value!r}"
            ) from None


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
        return [_feature(item, dtype) for items, dtype in pairs for item in items]
    arrays = []
    for group in groups:
        dtype = np.dtype(float) if is_vector else element([dtypes[i] for i in group])
        array = F.array(*(_feature(item, dtype) for i in group for item in features[i]))
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
                f"without_python=True encodes at most {limit} {what}, got an encoder of {n}: use"
                " without_python=False, or max_categories= of the encoder"
            )


def _kind(column: ColumnSchema, dtype: spark_types.DataType) -> str:
    """Return the kind of the values of a Spark type in SQL."""
    kind = next((kind for types, kind in KINDS.items() if isinstance(dtype, types)), None)
    if kind is None or isinstance(dtype, spark_types.DecimalType):
        raise TypeError(
            f"column {column.name!r} has Spark type {dtype.simpleString()}, which SQL compares in"
            " another way than the encoder: use without_python=False"
        )
    return kind


def _feature(item: str, dtype: np.dtype[Any]) -> Column:
    """Return one feature; `coalesce` tells Spark that it is never null."""
    kind = spark_type(dtype)
    return F.coalesce(F.expr(item).cast(kind), F.lit(0).cast(kind))
