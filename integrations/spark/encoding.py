"""DataFrames of Spark, encoded and decoded: lazily, by a schema that is known before they run."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from onehot_fast import Encoder
from onehot_fast.adapter import EncodedLayout, PassThrough, Schema, Special, checks, decode

from ._columns import (
    as_frame,
    category_type,
    feature_metadata,
    group_metadata,
    group_names,
    spark_dtype,
    spark_type,
)
from ._expressions import check_few, code_of, feature, side_by_side
from ._learn import positional
from ._workers import Decoding, Encoding, Shipped

__all__ = ["encode"]

Output: TypeAlias = Literal["columns", "array", "vector"]
OUTPUTS: tuple[Output, ...] = ("columns", "array", "vector")
FEATURES = "features"


def encode(
    table: DataFrame,
    encoder: Encoder,
    *,
    output: Output = "columns",
    names: str | Sequence[str] = FEATURES,
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
    output : {"columns", "array", "vector"}, default "columns"
        A column for each feature, where the encoded columns stood; or an array or a sparse vector
        of Spark's ML for each row. The elements of an array are of the encoder's dtype, Booleans
        as tinyint; those of a vector are doubles.
    names : str or sequence of str, default "features"
        The name of the one array or vector of all features, which is the last column; or one name
        for each encoded column, in the order of the encoder, whose arrays or vectors stand where
        these stood. Not for "columns", which the encoder names.
    keep : bool, default False
        Whether the encoded columns stay. Then all that is new comes last, as Spark's ML has it.
    without_python : bool, default False
        Whether expressions of Spark do it, with the same values and no Python worker: for at most
        200 features, of strings, binaries, Booleans, integers, floats and dates. Vectors are dense.
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
    """
    checks.check_choice(output, "output", OUTPUTS)
    if not isinstance(encoder, Encoder):
        raise TypeError(f"encoder is {checks.with_article(encoder)}; accepted is an Encoder")
    frame, schema = as_frame(table), encoder.schema
    inputs = schema.positions_in(frame.columns)
    dtypes = [spark_dtype(column) for column in schema.columns]
    new, groups = _new_fields(schema, output, names, dtypes)
    order = _order(schema, frame.columns, groups, keep, in_place=not isinstance(names, str))
    fields = [new[~i] if i < 0 else frame.schema.fields[i] for i in order]
    _check_names(fields, [field.name for field in new])
    source, place = _needed(frame, [*inputs, *order])
    if without_python:
        check_few(schema)
        coded = _coded(source, schema, [place[i] for i in inputs])
        made = _expressions(schema, output, groups, dtypes)
        columns = [made[~i] if i < 0 else F.col(source.columns[place[i]]) for i in order]
        return coded.select(
            *(
                column.alias(field.name, metadata=field.metadata or {})
                for column, field in zip(columns, fields, strict=True)
            )
        )
    encoding = Encoding(
        Shipped(_with_dtypes(encoder, dtypes)),
        output,
        [place[i] for i in inputs],
        groups,
        [place.get(i, i) for i in order],
        [field.name for field in fields],
        _element(dtypes),
        num_threads,
    )
    return source.mapInArrow(lambda batches: encoding(batches), StructType(fields))


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
    in_one = _encoded_in_one(frame, schema)
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
    _check_names(fields, [field.name for field in new])
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
    return source.mapInArrow(lambda batches: decoding(batches), StructType(fields))


def _needed(frame: DataFrame, positions: Sequence[int]) -> tuple[DataFrame, dict[int, int]]:
    """Return the columns at some positions (a negative one is none), and where each is then."""
    needed = sorted({i for i in positions if i >= 0} or {0})
    return positional(frame, needed), {position: i for i, position in enumerate(needed)}


def _coded(source: DataFrame, schema: Schema, inputs: Sequence[int]) -> DataFrame:
    """Return a frame with a column of codes for each encoded column.

    The codes are columns, so that no feature repeats the comparisons that make them.
    """
    codes = [
        code_of(column, F.col(source.columns[i]), source.schema.fields[i].dataType)
        for column, i in zip(schema.columns, inputs, strict=True)
    ]
    return source.select("*", *(code.alias(f"code{i}") for i, code in enumerate(codes)))


def _expressions(
    schema: Schema,
    output: Output,
    groups: Sequence[Sequence[int]],
    dtypes: Sequence[np.dtype[Any]],
) -> list[Column]:
    """Return what is new as expressions of the codes."""
    element = _element(dtypes) if groups else None
    by_column = [
        [
            feature(F.col(f"code{i}"), j, column, element or dtypes[i])
            for j in range(column.n_outputs)
        ]
        for i, column in enumerate(schema.columns)
    ]
    if not groups:
        return [each for columns in by_column for each in columns]
    return [
        side_by_side(
            [each for i in group for each in by_column[i]],
            _element([dtypes[i] for i in group]),
            output == "vector",
        )
        for group in groups
    ]


def _with_dtypes(encoder: Encoder, dtypes: Sequence[np.dtype[Any]]) -> Encoder:
    """Return an encoder whose outputs are of types that Spark has."""
    columns = encoder.schema.columns
    if all(c.options.dtype == dtype for c, dtype in zip(columns, dtypes, strict=True)):
        return encoder
    names = (column.name for column in columns)
    return copy.copy(encoder).set_params(dtype=dict(zip(names, dtypes, strict=True)))


def _element(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the dtype of the elements of an array of several columns."""
    element = np.result_type(np.bool_, *dtypes)
    return np.dtype(np.int8) if element.kind == "b" else element


def _new_fields(
    schema: Schema, output: Output, names: str | Sequence[str], dtypes: Sequence[np.dtype[Any]]
) -> tuple[list[StructField], list[list[int]]]:
    """Return the fields of what is new, and which columns of the encoder each array holds."""
    if output == "columns":
        if names != FEATURES:
            raise ValueError(f"names = {names!r} are those of arrays and vectors; here prefix= is")
        return [
            StructField(name, spark_type(dtype), False, feature_metadata(name))
            for column, dtype in zip(schema.columns, dtypes, strict=True)
            for name in column.names
        ], []
    every = [*range(len(schema.columns))]
    if isinstance(names, str):
        kind = _array_type(output, dtypes)
        return [StructField(names, kind, False, group_metadata(schema.names))], [every]
    if len(names) != len(every):
        known = [column.name for column in schema.columns]
        raise ValueError(f"names = {[*names]!r}; accepted is one for each of {known!r}, or a str")
    # VectorAssembler puts the name of the column before those of its elements.
    return [
        StructField(name, _array_type(output, [dtype]), False, group_metadata(column.titles))
        for name, column, dtype in zip(names, schema.columns, dtypes, strict=True)
    ], [[i] for i in every]


def _array_type(output: Output, dtypes: Sequence[np.dtype[Any]]) -> DataType:
    return VectorUDT() if output == "vector" else ArrayType(spark_type(_element(dtypes)), False)


def _order(
    schema: Schema,
    names: Sequence[str],
    groups: Sequence[Sequence[int]],
    keep: bool,
    in_place: bool,
) -> list[int]:
    """Return the columns of the result: one that stays by its position, a new one ``j`` as ``~j``.

    Without `groups`, each feature is a column.
    """
    n_new = len(groups) or schema.n_features
    if keep:
        return [*range(len(names)), *(~i for i in range(n_new))]
    if not groups:
        order = []
        for part in EncodedLayout(schema, names).columns:
            if isinstance(part, PassThrough):
                order.append(part.position)
            else:
                first, stop = schema.starts[part.columns.start], schema.starts[part.columns.stop]
                order += [~i for i in range(first, stop)]
        return order
    group_of = {position: ~i for i, position in enumerate(schema.positions_in(names))}
    stays = schema.remainder == "passthrough"
    if in_place:
        every = (group_of.get(i, i) for i in range(len(names)))
        return [i for i in every if i < 0 or stays]
    return [*(i for i in range(len(names)) if stays and i not in group_of), ~0]


def _check_names(fields: Sequence[StructField], new: Sequence[str]) -> None:
    """Refuse a new column of the name of another one."""
    every = [field.name for field in fields]
    if len(set(every)) == len(every):
        return
    for name in new:
        if every.count(name) > 1:
            raise ValueError(
                f"two columns of the result would be named {name!r}: names= or prefix= keeps"
                " them apart"
            )


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


def _encoded_in_one(frame: DataFrame, schema: Schema) -> int | None:
    """Return where the one array or vector of all features is, None where they are columns."""
    if set(schema.names) <= set(frame.columns):
        return None
    found = [
        i
        for i, field in enumerate(frame.schema.fields)
        if isinstance(field.dataType, ArrayType | VectorUDT)
        and group_names(field) == [*schema.names]
    ]
    if len(found) > 1:
        names = [frame.columns[i] for i in found]
        raise ValueError(f"the features are in several columns, {names!r}: select one of them")
    return found[0] if found else None
