"""What columns of Spark hold: which are encoded, and the types and metadata of what is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.pandas.types import from_arrow_type

from onehot_fast.adapter import Column, ColumnSchema, Special, Strings, Table, Values, checks

# By name: some are not in every release.
TEXTS = {"StringType", "CharType", "VarcharType", "BinaryType"}
ENCODABLE = {
    *TEXTS, "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType",
    "DoubleType", "DecimalType", "DateType", "TimestampType", "TimestampNTZType", "TimeType",
    "DayTimeIntervalType", "NullType",
}  # fmt: skip
# The dtype in which Spark can hold an output: it has neither unsigned integers nor half floats.
NEAREST = {"uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64"} | {
    "float16": "float32"
}
# What the first codes of every column stand for.
RESERVED = Special.MISSING, Special.UNKNOWN, Special.INFREQUENT
# The names of more features are left out of the metadata, which stand in every plan.
MOST_NAMES = 100_000


def as_frame(table: Any) -> DataFrame:
    """Return a DataFrame of Spark, or say what to type for another of its objects."""
    if isinstance(table, DataFrame):
        return table
    hint = ""
    if isinstance(table, SparkColumn):
        hint = "; pass .select(column) of the one that has it"
    elif type(table).__module__.startswith("pyspark.pandas"):
        hint = "; pass .to_spark() of it"
    raise TypeError(
        f"{checks.with_article(table)} is not a table; of Spark accepted is a"
        f" pyspark.sql.DataFrame{hint}"
    )


class SparkTable(Table):
    """The columns of a frame with missing values only: all that is known before anything runs."""

    library = "spark"

    def __init__(self, frame: DataFrame, n_rows: int = 0) -> None:
        super().__init__(frame.columns, n_rows, frame)
        self._types = [field.dataType for field in frame.schema.fields]

    def is_encodable(self, position: int) -> bool:
        """Tell whether a column holds texts or bytes."""
        return type(self._types[position]).__name__ in TEXTS

    def read(self, position: int) -> Column | Values:
        """Return a column of missing values, or raise an error if its type cannot be encoded."""
        kind = self._types[position]
        if type(kind).__name__ not in ENCODABLE:
            raise TypeError(
                f"Spark type {kind.simpleString()} cannot be encoded; accepted are strings,"
                " binaries, Booleans, numbers, dates, times and day-time intervals"
            )
        return Column(np.full(self.n_rows, -1, np.int8), np.empty(0, object))

    def values(self, position: int) -> npt.NDArray[Any]:
        """Return no values."""
        return np.empty(0, object)


def spark_dtype(column: ColumnSchema) -> np.dtype[Any]:
    """Return the dtype of the outputs of a column as Spark holds it, or refuse it."""
    dtype = column.options.dtype.newbyteorder("=")
    nearest = np.dtype(NEAREST.get(dtype.name, dtype))
    if nearest.kind not in "bif" or nearest.itemsize > 8:
        raise TypeError(
            f"column {column.name!r}: dtype = {dtype} has no type in Spark; accepted are bool,"
            " integers, float32 and float64"
        )
    return nearest


def spark_type(dtype: np.dtype[Any]) -> spark_types.DataType:
    """Return the type of Spark whose values are those of a dtype of `spark_dtype`."""
    return from_arrow_type(pa.from_numpy_dtype(dtype))


def category_type(column: ColumnSchema) -> pa.DataType:
    """Return the type of the values of a decoded column, whatever occurs in it."""
    values = column.known.values
    if isinstance(values, Strings):
        return pa.string() if values.is_text else pa.binary()
    if not len(values):
        return pa.string()
    try:
        if values.dtype.kind in "mM":
            return pa.duration("us") if values.dtype.kind == "m" else pa.timestamp("us")
        if values.dtype == object:
            return pa.array(values.tolist()).type
        return pa.from_numpy_dtype(np.dtype(NEAREST.get(values.dtype.name, values.dtype)))
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(
            f"the categories of column {column.name!r} have no common type in Spark: {error}"
        ) from error


def group_metadata(names: Sequence[str]) -> dict[str, Any]:
    """Return the metadata by which Spark's ML knows the elements of a vector by name."""
    group: dict[str, Any] = {"num_attrs": len(names)}
    if len(names) <= MOST_NAMES:
        group["attrs"] = {"binary": [{"idx": i, "name": name} for i, name in enumerate(names)]}
    return {"ml_attr": group}


def codes_metadata(column: ColumnSchema) -> dict[str, Any]:
    """Return the metadata by which Spark's ML knows a column of codes, and what each stands for.

    Trees split it as categories, and IndexToString makes texts of it.
    """
    reserved = [f"({each.value})" for each in RESERVED]
    own = column.known.take(np.flatnonzero(~column.is_infrequent))
    n_codes = len(reserved) + len(own)
    attribute: dict[str, Any] = {"name": str(column.name), "type": "nominal", "num_vals": n_codes}
    if n_codes <= MOST_NAMES:
        texts = reserved + own.titles()
        if len(set(texts)) == n_codes:  # or Spark refuses them
            attribute = {**attribute, "vals": texts}
            del attribute["num_vals"]
    return {"ml_attr": attribute}


def feature_metadata(name: str) -> dict[str, Any]:
    """Return the metadata by which Spark's ML knows a column for one of 0 and 1."""
    return {"ml_attr": {"name": name, "type": "binary"}}


def group_names(field: spark_types.StructField) -> list[str] | None:
    """Return the names that `group_metadata` gave to the elements of a column, if it did."""
    group = (field.metadata or {}).get("ml_attr", {})
    attributes = group.get("attrs", {}).get("binary", [])
    return [attribute.get("name") for attribute in attributes] if attributes else None


def count_rows(table: Any) -> int:
    """Return how many rows a frame has; it is computed."""
    return as_frame(table).count()
