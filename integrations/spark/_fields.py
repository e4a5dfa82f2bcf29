"""The columns of an encoded frame: their names, types, metadata and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    DataType,
    IntegerType,
    LongType,
    StructField,
    StructType,
    UserDefinedType,
)

from onehot_fast import Encoder
from onehot_fast.adapter import EncodedLayout, PassThrough, Schema, checks

from ._columns import (
    codes_metadata,
    feature_metadata,
    group_metadata,
    group_names,
    spark_dtype,
    spark_type,
)

Output: TypeAlias = Literal["columns", "array", "vector", "codes", "indices"]
OUTPUTS: tuple[Output, ...] = ("columns", "array", "vector", "codes", "indices")
CODES = ("codes", "indices")
IN_ONE_PROCESS = (
    "numpy", "csr", "csr_matrix", "csc", "implicit", "pandas", "arrow", "polars"
)  # fmt: skip
FEATURES = "features"


class PlannedSchema(StructType):
    """The schema by which Spark plans what the workers make.

    Those are sent it without the names of features, and a vector as the struct that it is: to
    unpickle its class each of them would import Spark's ML, and pandas and SciPy with it.
    """

    @classmethod
    def typeName(cls) -> str:
        return StructType.typeName()

    def __reduce__(self) -> Any:
        kinds = (field.dataType for field in self.fields)
        plain = [kind.sqlType() if isinstance(kind, UserDefinedType) else kind for kind in kinds]
        fields = zip(self.fields, plain, strict=True)
        return StructType, ([StructField(f.name, kind, f.nullable) for f, kind in fields],)


def check_output(output: str) -> None:
    """Refuse what Spark has no form for."""
    if output == "category":
        raise ValueError(
            "output = 'category': Spark has no type of categories; output='codes' makes numbers,"
            " whose metadata name the categories to Spark's ML"
        )
    if output in IN_ONE_PROCESS:
        raise ValueError(
            f"output = {output!r} is a form of one process; of Spark accepted are"
            f" {', '.join(map(repr, OUTPUTS))}, and .toArrow() or .toPandas() of the DataFrame is a"
            " table of one process"
        )
    checks.check_choice(output, "output", OUTPUTS)


def new_fields(
    encoder: Encoder, output: Output, names: str | Sequence[str] | None
) -> tuple[list[StructField], list[list[int]]]:
    """Return the fields of what is new, and which columns of the encoder each of them holds.

    Where each feature is a column there are no such groups.
    """
    schema = encoder.schema
    if output in CODES:
        return _code_fields(encoder, output, names), [[i] for i in range(len(schema.columns))]
    dtypes = [spark_dtype(column) for column in schema.columns]
    if output == "columns":
        if names is not None:
            raise ValueError(f"names = {names!r} are those of arrays and vectors; here prefix= is")
        return [
            StructField(name, spark_type(dtype), False, feature_metadata(name))
            for column, dtype in zip(schema.columns, dtypes, strict=True)
            for name in column.names
        ], []
    if names is None or isinstance(names, str):
        kind, metadata = _array_type(output, dtypes), group_metadata(schema.names)
        every = [*range(len(schema.columns))]
        return [StructField(names or FEATURES, kind, False, metadata)], [every]
    _check_number(schema, names, "one for each of {}, or a str")
    # VectorAssembler puts the name of the column before those of its elements.
    return [
        StructField(name, _array_type(output, [dtype]), False, group_metadata(column.titles))
        for name, column, dtype in zip(names, schema.columns, dtypes, strict=True)
    ], [[i] for i in range(len(names))]


def _code_fields(
    encoder: Encoder, output: Output, names: str | Sequence[str] | None
) -> list[StructField]:
    """Return a field of integers for each encoded column, under its own name by default."""
    schema = encoder.schema
    if names is None:
        names = [str(column.name) for column in schema.columns]
    _check_number(schema, names, f"one for each of {{}}, of which each has its {output}")
    n_codes = sum(encoder.cardinalities.values())
    is_large = output == "indices" and n_codes > np.iinfo(np.int32).max
    kind = LongType() if is_large else IntegerType()
    return [
        StructField(name, kind, False, codes_metadata(column) if output == "codes" else None)
        for name, column in zip(names, schema.columns, strict=True)
    ]


def _check_number(schema: Schema, names: str | Sequence[str], accepted: str) -> None:
    known = [column.name for column in schema.columns]
    if isinstance(names, str) or len(names) != len(known):
        came = names if isinstance(names, str) else [*names]
        raise ValueError(f"names = {came!r}; accepted is {accepted.format(repr(known))}")


def element(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the dtype of the elements of an array of several columns."""
    common = np.result_type(np.bool_, *dtypes)
    return np.dtype(np.int8) if common.kind == "b" else common


def _array_type(output: Output, dtypes: Sequence[np.dtype[Any]]) -> DataType:
    return VectorUDT() if output == "vector" else ArrayType(spark_type(element(dtypes)), False)


def order_of(
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
    positions = schema.column_order(names).positions
    if in_place:
        return [group_of.get(i, i) for i in positions]
    return [*(i for i in positions if i not in group_of), ~0]


def check_names(fields: Sequence[StructField], new: Sequence[str]) -> None:
    """Reject a new column of the name of another one, and a name that Java cannot read."""
    every = [field.name for field in fields]
    for name in new:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"the column name {name!r} has a lone surrogate, which Spark cannot store;"
                " use another prefix= or replace the category before fit"
            ) from None
    if len(set(every)) == len(every):
        return
    for name in new:
        if every.count(name) > 1:
            raise ValueError(
                f"two columns of the result would be named {name!r}: names= (outputCol or"
                " outputCols of a stage) or prefix= keeps them apart"
            )


def encoded_in_one(frame: DataFrame, schema: Schema) -> int | None:
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
