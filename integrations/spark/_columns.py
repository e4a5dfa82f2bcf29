"""Read the schema of a DataFrame, and plan the names, types and order of the result's columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

from onehot_fast import Column, Encoder, Special
from onehot_fast.adapter import (
    ColumnSchema,
    RaggedColumn,
    Schema,
    Strings,
    Table,
    check_choice,
    format_names,
    integration,
    possible_specials,
    with_article,
)

from ._workers import Output, element

LIBRARY = "spark:"
OUTPUTS = format_names(engine="spark")
CODES = format_names(["codes"], engine="spark")
FEATURES = "features"
# Types are listed by name, because some releases lack some of the types.
TEXTS = {"StringType", "CharType", "VarcharType", "BinaryType"}
ENCODABLE = {
    *TEXTS, "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType",
    "DoubleType", "DecimalType", "DateType", "TimestampType", "TimestampNTZType", "TimeType",
    "DayTimeIntervalType", "NullType",
}  # fmt: skip
# The Spark dtypes that replace unsigned integers and half floats, which Spark lacks.
NEAREST = {"uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64"} | {
    "float16": "float32"
}
# The maximum number of names in the metadata, because every query plan contains the metadata.
MAX_NAMES = 100_000
MAX_INT = np.iinfo(np.int32).max


def as_frame(table: Any) -> DataFrame:
    """Return a Spark DataFrame unchanged; raise TypeError for any other object."""
    if isinstance(table, DataFrame):
        return table
    hint = ""
    if isinstance(table, SparkColumn):
        hint = "; pass frame.select(column)"
    elif type(table).__module__.startswith("pyspark.pandas"):
        hint = "; pass frame.to_spark()"
    raise TypeError(f"the table must be a pyspark.sql.DataFrame, got {with_article(table)}{hint}")


class SparkTable(Table):
    """A table with the names and types of a DataFrame, in which all values are missing."""

    library = "spark"

    def __init__(self, frame: DataFrame, n_rows: int = 0) -> None:
        super().__init__(frame.columns, n_rows, frame)
        # With Spark Connect, each access to `frame.schema` copies the schema.
        self._types = [field.dataType for field in frame.schema.fields]

    def is_encodable(self, position: int) -> bool:
        """Tell whether a column contains strings or bytes, or arrays of them."""
        return type(label_type(self._types[position])).__name__ in TEXTS

    def read_column(self, position: int) -> Column:
        """Return a column of missing values, or raise an error if its type cannot be encoded."""
        return self._missing(self._types[position], self.n_rows)

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return rows without labels if the type is that of arrays, or None for another type."""
        kind = self._types[position]
        if not isinstance(kind, T.ArrayType):
            return None
        no_labels = self._missing(kind.elementType, 0)
        offsets = np.zeros(self.n_rows + 1, np.int64)
        return RaggedColumn(offsets, no_labels, np.ones(self.n_rows, np.bool_))

    @staticmethod
    def _missing(kind: T.DataType, n_rows: int) -> Column:
        if type(kind).__name__ not in ENCODABLE:
            raise TypeError(
                "the Spark type must be a string, binary, Boolean, number, date, timestamp, time or"
                f" day-time interval type, or an array of such values, got {kind.simpleString()}"
            )
        return Column(np.full(n_rows, -1, np.int8), np.empty(0, object))

    def type_of(self, position: int) -> str:
        """Return the Spark type of a column, as SQL writes it, with the prefix ``spark:``."""
        return f"{LIBRARY}{self._types[position].simpleString()}"

    def to_numpy(self, position: int) -> npt.NDArray[Any]:
        """Return an empty array, because no row was read."""
        return np.empty(0, object)


def label_type(kind: T.DataType) -> T.DataType:
    """Return the type of the labels of arrays, and any other type unchanged."""
    return kind.elementType if isinstance(kind, T.ArrayType) else kind


def spark_dtype(column: ColumnSchema) -> np.dtype[Any]:
    """Return the dtype of a column's features in Spark; raise TypeError if Spark lacks the type."""
    dtype = column.options.dtype.newbyteorder("=")
    nearest = np.dtype(NEAREST.get(dtype.name, dtype))
    if nearest.kind not in "bif" or nearest.itemsize > 8:
        raise TypeError(
            f"column {column.name!r}: dtype must be bool, an integer, float32 or float64 in Spark,"
            f" got {dtype}"
        )
    return nearest


def spark_type(dtype: np.dtype[Any]) -> T.DataType:
    """Return the Spark type of a dtype that `spark_dtype` returned."""
    return from_arrow_type(pa.from_numpy_dtype(dtype))


def decoded_type(column: ColumnSchema, substitutes: Mapping[Special, Any]) -> DecodedType:
    """Return the type of a decoded column, which does not depend on rows.

    It is the type that `fit` saw, if it can represent all categories, and all substitutes that may
    be decoded. Otherwise, or if `fit` read a table of another library, it follows from the
    categories. Raise TypeError if a substitute has another type.
    """
    labels = _label_type(column, substitutes)
    if column.learned.is_split:
        _check_joined(column, substitutes)
    if not column.is_ragged or column.learned.is_split:
        return labels
    return DecodedType(T.ArrayType(labels.spark), pa.list_(labels.arrow))


def _check_joined(column: ColumnSchema, substitutes: Mapping[Special, Any]) -> None:
    """Raise an error if a label that may be decoded is no text, which is joined with others."""
    for special in (Special.UNKNOWN, Special.INFREQUENT):
        value = substitutes[special]
        if special in column.specials and not isinstance(value, str):
            raise TypeError(
                f"{special.value} must be a text for column {column.name!r}, whose labels are"
                f" joined with {column.options.sep!r}, got {value!r}"
            )


def _label_type(column: ColumnSchema, substitutes: Mapping[Special, Any]) -> DecodedType:
    """Return the type of the values of a decoded column, or of the labels of its rows."""
    arrow: Any = integration("arrow")
    used = {special: substitutes[special] for special in possible_specials(column)}
    fitted = _fitted_type(column)
    if fitted is not None:
        kind = _arrow_type(fitted)
        has_room = all(arrow.scalar_array(value, kind) is not None for value in used.values())
        if has_room and arrow.can_represent(kind, column.categories):
            return DecodedType(fitted, kind)
    kind = category_type(column)
    name = from_arrow_type(kind).simpleString()
    for special, value in used.items():
        if arrow.scalar_array(value, kind) is None:
            raise TypeError(
                f"{special.value} must be of type {name} for column {column.name!r}, got {value!r}"
            )
    return DecodedType(from_arrow_type(kind), kind)


def _fitted_type(column: ColumnSchema) -> T.DataType | None:
    """Return the Spark type that the values or labels had in `fit`, or None if it is unknown.

    If the column had several types, the result is their common type in Arrow.
    """
    names = sorted(name for name in column.types if name.startswith(LIBRARY))
    try:
        types = [label_type(T.DataType.fromDDL(name.removeprefix(LIBRARY))) for name in names]
    except PySparkException:  # a document of another version
        return None
    if any(type(each).__name__ not in ENCODABLE for each in types):
        return None
    if len(types) > 1:
        common = integration("arrow").common_type([*map(_arrow_type, types)])
        return None if common is None else from_arrow_type(common)
    if types and type(types[0]).__name__ in ("CharType", "VarcharType"):  # tables alone have them
        return T.StringType()
    return types[0] if types else None


def _arrow_type(kind: T.DataType) -> pa.DataType:
    """Return the Arrow type of the values that Spark exchanges with Python workers."""
    match type(kind).__name__:
        case "TimestampType":
            return pa.timestamp("us", "UTC")
        case "CharType" | "VarcharType":
            return pa.string()
    return to_arrow_type(kind)


def category_type(column: ColumnSchema) -> pa.DataType:
    """Return the Arrow type that can represent all categories of a column."""
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
            f"column {column.name!r}: Spark has no type that can hold all categories ({error}):"
            " convert the column to one type before fit"
        ) from error


class DecodedType(NamedTuple):
    """The type of a decoded column in Spark, and in the Arrow batches of Python workers."""

    spark: T.DataType
    arrow: pa.DataType


class PlannedSchema(T.StructType):
    """The schema of a result; pickling replaces vectors by structs, and omits the metadata.

    To unpickle the class of vectors, a worker would have to import Spark ML, pandas and SciPy.
    """

    @classmethod
    def typeName(cls) -> str:
        return T.StructType.typeName()

    def __reduce__(self) -> Any:
        plain = []
        for field in self.fields:
            kind = field.dataType
            kind = kind.sqlType() if isinstance(kind, T.UserDefinedType) else kind
            plain.append(T.StructField(field.name, kind, field.nullable))
        return T.StructType, (plain,)


def check_output(output: str) -> None:
    """Raise an error for an `output` that does not apply to Spark."""
    if output == "category":
        raise ValueError(
            "output='category': Spark has no categorical type; use output='codes' for integers with"
            " the names of the categories in the metadata"
        )
    if output in format_names() and output not in OUTPUTS:
        raise ValueError(
            f"output must be one of {', '.join(map(repr, OUTPUTS))} for a Spark DataFrame, got"
            f" {output!r}; to get {output!r}, pass frame.toArrow() or frame.toPandas()"
        )
    check_choice(output, "output", OUTPUTS)


def new_fields(
    encoder: Encoder, output: Output, names: str | Sequence[str] | None
) -> list[list[T.StructField]]:
    """Return one list of new fields per encoded column, and one more list of fields.

    The additional list is empty, unless one array or vector field holds the features of all
    columns. In this case, it contains this field, and the other lists are empty.
    """
    schema, columns = encoder.schema, encoder.schema.columns
    if output == "columns":
        if names is not None:
            raise ValueError(
                f"names must be None for output='columns', got {names!r}; to change the names of"
                " the features, set prefix= of the encoder"
            )
        return [*map(_feature_fields, columns), []]
    if output in CODES:
        schema.check_plain(f"output={output!r}")
        columns = schema.of_codes.columns
        names = [str(column.name) for column in columns] if names is None else names
    elif names is None or isinstance(names, str):
        group = _group_metadata(schema.names)
        joined = T.StructField(names or FEATURES, _array_type(output, columns), False, group)
        return [*([] for _ in columns), [joined]]
    if isinstance(names, str) or len(names) != len(columns):
        raise ValueError(
            f"names must be {'' if output in CODES else 'a str or '}a list with one name for each"
            f" of the columns {[column.name for column in columns]!r}, got"
            f" {names if isinstance(names, str) else [*names]!r}"
        )
    fields = []
    for column, name in zip(columns, names, strict=True):
        if output in CODES:
            is_large = output == "indices" and schema.of_codes.n_features > MAX_INT
            kind: T.DataType = T.LongType() if is_large else T.IntegerType()
            metadata = _codes_metadata(column) if output == "codes" else {}
        else:
            # VectorAssembler prepends the name of the column to the names of its elements.
            kind, metadata = _array_type(output, [column]), _group_metadata(column.text_labels)
        fields.append([T.StructField(name, kind, False, metadata)])
    return [*fields, []]


def _feature_fields(column: ColumnSchema) -> list[T.StructField]:
    """Return a field for each feature of a column."""
    kind = spark_type(spark_dtype(column))
    return [
        T.StructField(name, kind, False, {"ml_attr": {"name": name, "type": "binary"}})
        for name in column.names
    ]


def _array_type(output: Output, columns: Sequence[ColumnSchema]) -> T.DataType:
    """Return the type of a vector or array that holds the features of some columns."""
    dtype = element(map(spark_dtype, columns))
    return VectorUDT() if output == "vector" else T.ArrayType(spark_type(dtype), False)


def _group_metadata(names: Sequence[str]) -> dict[str, Any]:
    """Return the Spark ML metadata with the names of the elements of a vector or array."""
    group: dict[str, Any] = {"num_attrs": len(names)}
    if len(names) <= MAX_NAMES:
        group["attrs"] = {"binary": [{"idx": i, "name": name} for i, name in enumerate(names)]}
    return {"ml_attr": group}


def _codes_metadata(column: ColumnSchema) -> dict[str, Any]:
    """Return the metadata from which Spark ML reads the category of each code of a column."""
    attribute: dict[str, Any] = {"name": str(column.name), "type": "nominal"}
    if column.n_features <= MAX_NAMES:
        *own, missing, unknown, infrequent = column.text_labels
        texts = [missing, unknown, infrequent, *own]  # in the order of the codes
        if len(set(texts)) == len(texts):  # Spark rejects duplicates
            return {"ml_attr": attribute | {"vals": texts}}
    return {"ml_attr": attribute | {"num_vals": column.n_features}}


def order_of(schema: Schema, names: Sequence[str], n_new: Sequence[int], keep: bool) -> list[int]:
    """Return the order of the result's columns: positions in `names`, or ``~j`` for new field j.

    `n_new` has the length of each list that `new_fields` returns.
    """
    spans = pairwise(accumulate(n_new, initial=0))
    *replacements, last = [[~j for j in range(*span)] for span in spans]
    if keep:
        return [*range(len(names)), *chain(*replacements, last)]
    columns = schema.column_order(names)
    columns.warn_if_absent()
    new_at = dict(zip(schema.positions_in(names), replacements, strict=True))
    parts = (new_at.get(position, [position]) for position in columns.positions)
    return [*chain(*parts), *last]


def check_names(fields: Sequence[T.StructField], new: Sequence[T.StructField]) -> None:
    """Raise an error if a new name is duplicated or cannot be stored by Java."""
    counts = Counter(field.name for field in fields)
    for name in (field.name for field in new):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"the column name {name!r} has a lone surrogate, which Spark cannot store: set"
                " another prefix= of the encoder, or replace the category before fit"
            ) from None
        if counts[name] > 1:
            raise ValueError(
                f"two columns of the result would be named {name!r}: pass other names= (in"
                " pyspark.ml: outputCol or outputCols), or set another prefix= of the encoder"
            )


def encoded_in_one(frame: DataFrame, schema: Schema) -> int | None:
    """Return the position of the array or vector column with all features, or None if absent."""
    if set(schema.names) <= set(frame.columns):
        return None
    found = []
    for i, field in enumerate(frame.schema.fields):
        attributes = (field.metadata or {}).get("ml_attr", {}).get("attrs", {})
        names = [attribute.get("name") for attribute in attributes.get("binary", [])]
        if isinstance(field.dataType, T.ArrayType | VectorUDT) and names == [*schema.names]:
            found.append(i)
    if len(found) > 1:
        names = [frame.columns[i] for i in found]
        raise ValueError(
            f"each of the columns {names!r} holds all features of the encoder: select only one of"
            " these columns"
        )
    return found[0] if found else None
