"""Encode and decode DataFrames lazily, with a schema that is known before Spark runs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from onehot_fast import Encoder, Special
from onehot_fast.adapter import (
    FORMATS,
    ColumnSchema,
    DecodedLayout,
    PassThrough,
    integration,
    with_article,
)

from ._columns import (
    CODES,
    PlannedSchema,
    as_frame,
    check_names,
    check_output,
    decoded_type,
    encoded_in_one,
    label_type,
    new_fields,
    order_of,
    spark_dtype,
    spark_type,
)
from ._learn import learn as learn
from ._learn import positional
from ._workers import CachedEncoder, Output, decode_batch, element, encode_batch, replace_columns

__all__ = ["encode"]

# The types of arrays that workers return as vectors, and the dtypes of the elements. Java converts
# the vectors to arrays.
FROM_VECTORS = {"array<float>": "float32", "array<double>": "float64"}
# The limits of SQL expressions: Spark takes longer to prepare a larger plan than to run it, and
# compares each row with one category after the other.
MAX_FEATURES = 200
MAX_CATEGORIES = 1000
# The kinds of values, as in `FeatureWriter.kind_of`, of Spark's types.
KINDS: dict[Any, str] = {
    (T.StringType, T.CharType, T.VarcharType): "text",
    T.BinaryType: "bytes",
    T.BooleanType: "boolean",
    T.IntegralType: "integer",
    (T.FloatType, T.DoubleType): "float",
    T.DateType: "date",
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
    """Encode a Spark DataFrame with an encoder that was fitted to a table of any library.

    Parameters
    ----------
    table : pyspark.sql.DataFrame of n_rows
        The rows to encode; a streaming DataFrame is accepted, too.
    encoder : Encoder
        A fitted encoder.
    output : {"columns", "array", "vector", "codes", "indices"}, default "columns"
        "columns" replaces each encoded column by one column per feature. "array" and "vector"
        return the features of a row as one array or one sparse Spark ML vector. Array elements
        have the encoder's dtype (tinyint for Booleans); vector elements are doubles. "codes" and
        "indices" replace each encoded value by the integer that `Encoder.transform` returns. The
        metadata of codes name the categories, so decision trees of Spark ML treat the codes as
        categorical.
    names : str or sequence of str, optional
        A str names the array or vector of all features, which becomes the last column; the default
        is "features". A sequence has one name per encoded column, in the order of the encoder:
        each encoded column is replaced by its own array, vector or codes. With "columns", `names`
        must be None, because the encoder names the features.
    keep : bool, default False
        Whether to keep the encoded columns. All new columns then come last, as in Spark ML.
    without_python : bool, default False
        Whether to use SQL expressions instead of Python workers. The values are the same, but
        vectors are dense and nullable. At most 200 features and 1,000 categories are possible, and
        the columns must be strings, binaries, Booleans, integers, floats or dates.
    num_threads : int, optional
        The number of threads of each task; by default the number of cores that Spark assigns to
        the task.

    Returns
    -------
    pyspark.sql.DataFrame of n_rows
        The encoded rows; the DataFrame is lazy. The metadata of new columns (``ml_attr``) hold the
        names of the features for VectorAssembler and the models of Spark ML.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError, ValueError
        An option is invalid, a column is absent or duplicated, or two columns of the result would
        have the same name. If the encoder rejects a row, Spark raises a PythonException with the
        error message of the encoder.

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
    frame, columns = as_frame(table), encoder.schema.columns
    inputs = encoder.schema.positions_in(frame.columns)
    new = new_fields(encoder, output, names)
    order = order_of(encoder.schema, frame.columns, [*map(len, new)], keep)
    source, inputs, order, fields = _planned(frame, inputs, order, [*chain(*new)])
    groups = [[*range(len(columns))]] if new[-1] else [[i] for i in range(len(columns))]
    if without_python:
        codes, expressions = new_columns(source, encoder, inputs, output, groups)
        selected = [expressions[~i] if i < 0 else F.col(source.columns[i]) for i in order]
        return _select(source.withColumns(codes), selected, fields)
    if output not in CODES:
        dtypes: Any = {column.name: spark_dtype(column) for column in columns}
        encoder = copy.copy(encoder).set_params(dtype=dtypes, remainder="drop")
    work = partial(encode_batch, CachedEncoder(encoder), inputs, output, groups, num_threads)
    dense_bytes = encoder.n_features * encoder.schema.dtype.itemsize
    row_bytes = dense_bytes if FORMATS[output].is_dense else 0
    pairs = zip(order, fields, strict=True)
    kinds = [field.dataType.simpleString() if i < 0 else "" for i, field in pairs]
    if not FROM_VECTORS.keys() & {*kinds}:
        return _mapped(source, work, row_bytes, order, fields)
    sent, converted = [], []
    for j, (kind, field) in enumerate(zip(kinds, fields, strict=True)):
        column, is_vector = F.col(f"c{j}"), kind in FROM_VECTORS
        dtype = VectorUDT() if is_vector else field.dataType
        sent.append(T.StructField(f"c{j}", dtype, field.nullable))
        converted.append(vector_to_array(column, FROM_VECTORS[kind]) if is_vector else column)
    return _select(_mapped(source, work, row_bytes, order, sent), converted, fields)


def count_rows(table: Any) -> int:
    """Let Spark compute a DataFrame, and return its number of rows."""
    return as_frame(table).count()


def transform(
    encoder: Encoder, table: Any, output: str | None, num_threads: int | None = None
) -> DataFrame:
    """Return the encoded DataFrame; see `onehot_fast.adapter.Engine`."""
    form: Any = "columns" if output in (None, "spark") else output
    return encode(table, encoder, output=form, num_threads=num_threads)


def inverse_transform(
    encoder: Encoder, encoded: Any, missing: Any, unknown: Any, infrequent: Any
) -> DataFrame:
    """Return the decoded DataFrame; see `onehot_fast.adapter.Engine`.

    `encoded` has one column per feature, or one array or vector column whose metadata name the
    features. If `missing`, `unknown` or `infrequent` is a `Special`, null is used instead. A
    decoded column has the type that `fit` saw if it can represent all categories and these values,
    otherwise the type of the categories.
    """
    frame, schema = as_frame(encoded), encoder.schema
    given = {
        Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
    }  # fmt: skip
    given = {name: None if isinstance(value, Special) else value for name, value in given.items()}
    types = [decoded_type(column, given) for column in schema.columns]
    pairs = zip(schema.columns, types, strict=True)
    new = [T.StructField(str(column.name), kind.spark) for column, kind in pairs]
    in_one = encoded_in_one(frame, schema)
    if in_one is None:
        layout = DecodedLayout(schema, frame.columns)
        inputs, parts = layout.features, layout.columns
        order = [each.position if isinstance(each, PassThrough) else ~each for each in parts]
    else:
        inputs = [in_one]
        new_positions = [~i for i in range(len(types))]
        order = [*range(in_one), *new_positions, *range(in_one + 1, len(frame.columns))]
    source, inputs, order, fields = _planned(frame, inputs, order, new)
    kinds = [kind.arrow for kind in types]
    substitutes = {special.value: value for special, value in given.items()}
    work = partial(
        decode_batch, CachedEncoder(encoder), inputs, in_one is not None, kinds, substitutes
    )
    return _mapped(source, work, 8 * encoder.n_features, order, fields)


def _planned(
    frame: DataFrame, inputs: Sequence[int], order: Sequence[int], new: Sequence[T.StructField]
) -> tuple[DataFrame, list[int], list[int], list[T.StructField]]:
    """Return a frame of only the needed columns, new `inputs` and `order`, and the result's fields.

    The new `inputs` and `order` contain positions in the returned frame.
    """
    fields = [new[~i] if i < 0 else frame.schema.fields[i] for i in order]
    check_names(fields, new)
    if not frame.columns:  # Arrow batches without columns would have no rows
        frame = frame.withColumn("c0", F.lit(0))
    needed = sorted({i for i in [*inputs, *order] if i >= 0} or {0})
    place = {position: i for i, position in enumerate(needed)}
    selected = positional(frame, needed)
    return selected, [place[i] for i in inputs], [place.get(i, i) for i in order], fields


def _mapped(
    source: DataFrame,
    work: Any,
    row_bytes: int,
    order: Sequence[int],
    fields: Sequence[T.StructField],
) -> DataFrame:
    """Return a lazy DataFrame of the batches that `replace_columns` yields."""
    if not fields:  # Arrow batches without columns would have no rows
        return _mapped(source, work, row_bytes, [0], source.schema.fields[:1]).select()
    names = [field.name for field in fields]
    replace = partial(replace_columns, work, row_bytes, order, names)
    return source.mapInArrow(replace, PlannedSchema([*fields]))


def _select(
    frame: DataFrame, columns: Sequence[Column], fields: Sequence[T.StructField]
) -> DataFrame:
    """Select columns, with the names and metadata of the fields."""
    pairs = zip(columns, fields, strict=True)
    return frame.select(
        *(column.alias(each.name, metadata=each.metadata) for column, each in pairs)
    )


def new_columns(
    source: DataFrame,
    encoder: Encoder,
    inputs: Sequence[int],
    output: Output,
    groups: Sequence[Sequence[int]],
) -> tuple[dict[str, Column], list[Column]]:
    """Return SQL expressions: one per feature, or one array or vector per group of columns.

    They refer to additional columns of `source`, whose names and expressions come first. These
    check the values once, so that each result fails for a rejected value.
    """
    if output in CODES:
        raise ValueError(f"output={output!r} needs Python workers: pass without_python=False")
    _check_size(encoder)
    columns = encoder.schema.columns
    dtypes, features = [spark_dtype(column) for column in columns], []
    codes = {}
    for column, i in zip(columns, inputs, strict=True):
        field = source.schema.fields[i]
        kind = _kind(column, _row_type(column, field.dataType))
        code_name = f"code_{field.name}"
        code, items = integration("sql").coded_features(
            column, "spark", field.name, code_name, kind
        )
        features.append(items)
        if code is not None:
            codes[code_name] = F.expr(code)
    if output == "columns":
        pairs = zip(features, dtypes, strict=True)
        return codes, [_feature(item, dtype) for items, dtype in pairs for item in items]
    arrays = []
    for group in groups:
        dtype = np.dtype(float) if output == "vector" else element([dtypes[i] for i in group])
        array = F.array(*(_feature(item, dtype) for i in group for item in features[i]))
        arrays.append(array_to_vector(array) if output == "vector" else array)
    return codes, arrays


def _check_size(encoder: Encoder) -> None:
    """Raise an error if an encoder is too large for SQL expressions."""
    n_features = encoder.n_features
    n_categories = sum(len(column.known) for column in encoder.schema.columns)
    if n_features > MAX_FEATURES or n_categories > MAX_CATEGORIES:
        raise ValueError(
            f"without_python=True supports at most {MAX_FEATURES} features and {MAX_CATEGORIES}"
            f" categories, but the encoder has {n_features} features and {n_categories}"
            " categories: pass without_python=False, or fit the encoder with max_categories="
        )


def _row_type(column: ColumnSchema, kind: T.DataType) -> T.DataType:
    """Return the type of the values of a column, or of its labels if a row has several."""
    if not column.is_ragged:
        return kind
    expected = "strings" if column.learned.is_split else "arrays"
    if isinstance(kind, T.StringType if column.learned.is_split else T.ArrayType):
        return label_type(kind)
    raise TypeError(
        f"column {column.name!r} must have {expected}, as in fit, got the Spark type"
        f" {kind.simpleString()}: pass without_python=False"
    )


def _kind(column: ColumnSchema, dtype: T.DataType) -> str:
    """Return the kind of a Spark type, e.g. "text"; raise TypeError if SQL cannot encode it."""
    kind = next((kind for types, kind in KINDS.items() if isinstance(dtype, types)), None)
    if kind is None:
        raise TypeError(
            f"column {column.name!r} has Spark type {dtype.simpleString()}, which SQL compares"
            " differently than the encoder does: pass without_python=False"
        )
    return kind


def _feature(item: str, dtype: np.dtype[Any]) -> Column:
    """Return the SQL expression of a feature as a column; `coalesce` marks it as not nullable."""
    kind = spark_type(dtype)
    return F.coalesce(F.expr(item).cast(kind), F.lit(0).cast(kind))
