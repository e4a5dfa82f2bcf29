"""DataFrames of Spark, encoded and decoded: lazily, by a schema that is known before they run."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import ArrayType, StructField

from onehot_fast import Encoder
from onehot_fast.adapter import PassThrough, Special, checks, decode

from ._columns import as_frame, category_type, spark_dtype
from ._decoding import Decoding
from ._expressions import new_columns
from ._fields import (
    CODES,
    Output,
    PlannedSchema,
    check_names,
    check_output,
    encoded_in_one,
    new_fields,
    order_of,
)
from ._learn import positional
from ._workers import Encoding, Shipped

__all__ = ["encode"]

FROM_VECTORS = {"array<float>": "float32", "array<double>": "float64"}


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
    """Encode the columns of a DataFrame that an encoder was fitted to, by any library.

    Parameters
    ----------
    table : pyspark.sql.DataFrame of n_rows
        Streaming ones too.
    encoder : Encoder
        Fitted.
    output : {"columns", "array", "vector", "codes", "indices"}, default "columns"
        A column for each feature, where the encoded columns stood; or an array or a sparse vector
        of Spark's ML for each row. The elements of an array are of the encoder's dtype, Booleans
        as tinyint; those of a vector are doubles. The last two are those of `Encoder.transform`:
        an integer in place of each encoded value. The metadata of codes say what each stands for,
        so that trees of Spark's ML split them as categories.
    names : str or sequence of str, optional
        The name of the one array or vector of all features, which is the last column, by default
        "features"; or one name for each encoded column, in the order of the encoder, whose arrays,
        vectors or codes stand where these stood. Not for "columns", which the encoder names.
    keep : bool, default False
        Whether the encoded columns stay. Then all that is new comes last, as Spark's ML has it.
    without_python : bool, default False
        Whether to use SQL expressions instead of Python workers, with the same values: for at most
        200 features and 1,000 categories, of strings, binaries, Booleans, integers, floats and
        dates. Vectors are dense, and their column is nullable.
    num_threads : int, optional
        In each task; by default what Spark grants it.

    Returns
    -------
    pyspark.sql.DataFrame of n_rows
        Nothing runs before somebody asks for rows. The metadata of what is new names the features
        (``ml_attr``), so that VectorAssembler and models know them.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError, ValueError
        An option is refused, a column is absent or there twice, or a new column has the name of
        another. What the encoder refuses in the rows, Spark raises as a PythonException with the
        encoder's message in it when they are computed.

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
        raise TypeError(f"encoder is {checks.with_article(encoder)}; accepted is an Encoder")
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
        raise ValueError(f"output = {output!r} needs Python workers: without_python=False")
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
        Shipped(encoder),
        output,
        inputs,
        order,
        [field.name for field in sent],
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

    The features are columns of their names, or one array or vector whose metadata name them. What
    has no form in Spark, a `Special`, is null.
    """
    frame, schema = as_frame(encoded), encoder.schema
    words = {"missing": missing, "unknown": unknown, "infrequent": infrequent}
    words = {name: None if isinstance(w, Special) else w for name, w in words.items()}
    types = [category_type(column) for column in schema.columns]
    for column, kind in zip(schema.columns, types, strict=True):
        _check_words(column.name, kind, words)
    in_one = encoded_in_one(frame, schema)
    inputs, order = [], []
    if in_one is None:
        inputs = decode.feature_positions(schema, frame.columns)
        for part in decode.decoded_layout(schema, frame.columns):
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
        Shipped(encoder),
        [place[i] for i in inputs],
        types,
        words,
        [place.get(i, i) for i in order],
        [field.name for field in fields],
        in_one is not None,
    )
    return source.mapInArrow(lambda batches: decoding(batches), PlannedSchema(fields))


def _needed(frame: DataFrame, positions: Sequence[int]) -> tuple[DataFrame, dict[int, int]]:
    """Return the columns at some positions (a negative one is none), and where each is then."""
    needed = sorted({i for i in positions if i >= 0} or {0})
    return positional(frame, needed), {position: i for i, position in enumerate(needed)}


def _made_of(field: StructField) -> StructField:
    """Return what the workers make for a column: for floats a vector, which Java makes an array.

    Between processes the elements would take more time than all else. Integers do not: Java takes
    longer to make them of doubles.
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
    """Return a column of what the workers sent as what was asked for."""
    column = F.col(sent.name)
    if sent.dataType == field.dataType:
        return column
    return vector_to_array(column, FROM_VECTORS[field.dataType.simpleString()])


def _select(
    frame: DataFrame, columns: Sequence[Column], fields: Sequence[StructField]
) -> DataFrame:
    """Return columns with the names and the metadata of some fields."""
    return frame.select(
        *(
            column.alias(field.name, metadata=field.metadata or {})
            for column, field in zip(columns, fields, strict=True)
        )
    )


def _for_workers(encoder: Encoder, dtypes: Sequence[np.dtype[Any]]) -> Encoder:
    """Return an encoder of the encoded columns alone, whose features have types of Spark."""
    names = (column.name for column in encoder.schema.columns)
    by_column = dict(zip(names, dtypes, strict=True))
    return copy.copy(encoder).set_params(dtype=by_column, remainder="drop")


def _check_words(name: Hashable, kind: pa.DataType, words: dict[str, Any]) -> None:
    """Refuse a substitute that is not of the type of the decoded column."""
    for word, value in words.items():
        try:
            pa.scalar(value, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise TypeError(
                f"{word} = {value!r} is {checks.with_article(value)}; column {name!r} holds"
                f" {from_arrow_type(kind).simpleString()}"
            ) from None
