"""Read and create narwhals frames with their library's integration; create expressions."""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from onehot_fast import Column, Encoder
from onehot_fast.adapter import (
    Cache,
    ColumnSchema,
    FeatureWriter,
    Part,
    RaggedColumn,
    Rows,
    Table,
    Values,
    as_literal,
    integration,
    reader_of,
    require,
)
from onehot_fast.adapter import are_lists as are_native_lists
from onehot_fast.adapter import read_column as read_any_column
from onehot_fast.adapter import read_lists as read_native_lists
from onehot_fast.adapter import read_table as read_native_table

__all__ = ["expressions", "read_column", "read_lists", "read_table", "wrap"]

DTYPES: dict[str, Any] = {
    "bool": nw.Boolean, "int8": nw.Int8, "int16": nw.Int16, "int32": nw.Int32, "int64": nw.Int64,
    "uint8": nw.UInt8, "uint16": nw.UInt16, "uint32": nw.UInt32, "uint64": nw.UInt64,
    "float32": nw.Float32, "float64": nw.Float64,
}  # fmt: skip
CATEGORICAL = (nw.Categorical, nw.Enum)
ATTOSECONDS = 10**12  # in a microsecond
EPOCH = datetime.datetime(1970, 1, 1)


def read_table(table: Any) -> Table:
    """Return a narwhals DataFrame or Series as a `Table`; no column is read yet."""
    if isinstance(table, nw.LazyFrame):
        raise TypeError(
            "the table must be a DataFrame or Series, got a narwhals.LazyFrame, which has no rows:"
            " pass frame.collect(), or use frame.select(encoder.expressions(frame))"
        )
    if isinstance(table, nw.Series) and table.name:
        table = table.to_frame()  # a native pyarrow array would lose the name
    native = read_native_table(_native(table))
    native.library, native.owner = "narwhals", table
    return native


def read_column(column: Any) -> Column | Values:
    """Return a narwhals Series as codes or values, read by the native library's integration."""
    return read_any_column(_native(column))


def are_lists(column: Any) -> bool:
    """Tell whether the rows of a narwhals Series are lists."""
    return are_native_lists(_native(column))


def read_ragged(column: Any) -> RaggedColumn:
    """Return lists as rows of labels, read by the native library's integration."""
    read = read_native_lists(_native(column))
    assert read is not None  # the caller called `are_lists`
    return read


def read_lists(rows: Any) -> Rows:
    """Return a Series of lists as offsets and concatenated elements."""
    return Rows.read(_native(rows))


def wrap(
    table: Table,
    parts: Sequence[Part],
    cache: Cache[Any] | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return a narwhals frame of the columns that `parts` describe, in the input's API version."""
    library = reader_of(table.source) or "arrow"
    native = integration(library).wrap(table, parts, cache, num_threads)
    api = sys.modules[type(table.owner).__module__]
    return getattr(api, "from_native", nw.from_native)(native, eager_only=True)


def _native(data: Any) -> Any:
    """Return the native object, or its Arrow data if there is no integration for its library."""
    native = nw.to_native(data)
    return data.to_arrow() if reader_of(native) is None else native


def expressions(encoder: Encoder, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[nw.Expr]:
    """Return the features of a frame as expressions; see `Encoder.expressions`."""
    schema, dtypes = encoder.schema, frame.collect_schema()
    positions, kinds = schema.positions_in(dtypes.names()), dtypes.dtypes()
    arrow_types = _arrow_types(frame)
    found: list[nw.Expr] = []
    for column, position in zip(schema.columns, positions, strict=True):
        name = str(column.name)
        # polars treats some names as patterns.
        value = nw.nth(position) if name == "*" or name.startswith("^") else nw.col(name)
        dtype = kinds[position]
        if isinstance(dtype, CATEGORICAL):
            if not frame.implementation.is_polars():
                _check_texts(column, dtype)
            text = value.cast(nw.String)
            # pandas before 3, also below Dask, makes the text "nan" of a missing value.
            may_be_text = frame.implementation.is_pandas_like() or frame.implementation.is_dask()
            value = nw.when(~value.is_null()).then(text) if may_be_text else text
        if "string_view" in (kind := arrow_types[position]):
            if kind != "string_view":
                raise TypeError(
                    f"column {column.name!r} has the type {kind}, whose values pyarrow cannot"
                    " compare: encode the frame with Encoder.transform, or cast the column to"
                    " strings"
                )
            value = value.cast(nw.String)  # pyarrow cannot compare string views
        if str(dtype) == "Float16":
            value = value.cast(nw.Float32)  # pyarrow cannot compare float16
        if "decimal" in kind and not kind.startswith("decimal128"):
            dtype = nw.Unknown()  # early versions of narwhals take these for decimals of 128 bits
        if str(dtype) == "Int128" and frame.implementation.is_polars():
            # Earlier versions take larger literals for missing values.
            require("polars", "1.32", "Encoder.expressions of 128-bit integers")
        if dtype.is_decimal() and frame.implementation.is_dask():
            raise TypeError(
                f"column {column.name!r} has dtype {dtype}, whose literals Dask takes for strings,"
                " so that none is found: cast the column to integers, floats or strings, or encode"
                " the frame of Dask with Encoder.transform"
            )
        if _has_foreign_zone(dtype) and _compares_zones(frame):
            value = value.dt.convert_time_zone("UTC")  # the zone of the literals
        writer = (_LabelWriter if column.is_ragged else _Writer)(column, value, dtype)
        if frame.implementation.is_pyarrow():
            of_arrow = nw.to_native(frame).schema.field(name).type
            writer.literals = [_comparable(item, of_arrow) for item in writer.literals]
        if kind == "uint64[pyarrow]":  # early versions of pandas take every int for an int64
            writer.literals = [np.uint64(item) for item in writer.literals]
        features = writer.features()
        found += [each.alias(name) for each, name in zip(features, column.names, strict=True)]
    return found


class _Writer(FeatureWriter[nw.Expr]):
    """Creates a narwhals expression for each feature of one column."""

    def __init__(self, column: ColumnSchema, value: nw.Expr, dtype: Any) -> None:
        self.value, self.is_float, self.dtype_name = value, dtype.is_float(), str(dtype)
        self.element: Any = DTYPES.get(column.options.dtype.newbyteorder("=").name)
        if self.element is None:
            raise TypeError(
                f"dtype must be one of {', '.join(DTYPES)} in narwhals, got {column.options.dtype}"
            )
        super().__init__(column, [_literal(item, column, dtype) for item in column.known.tolist()])

    def is_missing(self) -> nw.Expr:
        is_null = self.value.is_null()
        return is_null | self.value.is_nan() if self.is_float else is_null

    def is_among(self, literals: list[Any]) -> nw.Expr:
        is_present = ~self.is_missing()
        if not literals:
            return is_present & ~is_present
        # pyarrow's is_in distinguishes 0.0 and -0.0.
        zeros = [-0.0] if self.is_float and 0.0 in literals else []
        is_one = len(literals) == 1
        if not is_one:
            return is_present & self.value.is_in(literals + zeros)
        is_equal: nw.Expr = self.value == literals[0]
        if self.dtype_name == "UInt128":  # polars takes an integer for one of at most 127 bits
            is_equal = self.value == nw.lit(literals[0], nw.UInt128)
        return is_present & is_equal

    def is_other(self, literals: list[Any]) -> nw.Expr:
        return ~self.is_missing() & ~self.is_among(literals) if literals else ~self.is_missing()

    def feature(self, condition: nw.Expr, errors: dict[str, nw.Expr]) -> nw.Expr:
        if errors:
            raise ValueError(
                f"column {self.column.name!r} has handle_unknown='error' or handle_missing='error',"
                " but narwhals expressions cannot raise errors: use"
                " encoder.set_params(handle_unknown='ignore', handle_missing='ignore')"
            )
        kind = nw.Boolean if self.element is nw.Boolean else nw.Int64
        one, zero = (nw.lit(x, kind) for x in (1, 0))
        feature = nw.when(condition).then(one).otherwise(zero).cast(self.element)
        if not self.column.propagates_missing:
            return feature
        return nw.when(self.is_missing()).then(nw.lit(math.nan, self.element)).otherwise(feature)


class _LabelWriter(_Writer):
    """Creates the expressions of a column whose rows are texts of several labels.

    Not every backend can split texts, so labels are found within them: ``|a|`` in ``|a|b|``. This
    is exact if occurrences of the separator cannot overlap.
    """

    takes_labels = True

    def __init__(self, column: ColumnSchema, value: nw.Expr, dtype: Any) -> None:
        sep = column.options.sep
        if not column.learned.is_split or sep is None:
            # Early versions of narwhals have no `list.contains`.
            column.check_plain("an expression of narwhals")
        elif not isinstance(dtype, (nw.String, *CATEGORICAL)):
            raise TypeError(
                f"column {column.name!r} must have texts with the separator {sep!r}, as in fit, got"
                f" dtype {dtype}: cast the column, or fit the encoder to a column like this"
            )
        elif any(sep.startswith(sep[i:]) for i in range(1, len(sep))):
            raise ValueError(
                f"column {column.name!r} has the separator {sep!r}, whose end is its beginning, so"
                " that narwhals expressions cannot find the labels: encode the frame with"
                " Encoder.transform, or choose another separator"
            )
        super().__init__(column, value, dtype)
        self.sep = str(sep)
        self.literals = [each if each and self.sep not in each else None for each in self.literals]
        ends = nw.lit(self.sep)
        self.text = nw.concat_str(ends, value.fill_null(""), ends)

    def is_among(self, literals: list[Any]) -> nw.Expr:
        found = [self.text.str.contains(self._marked(each), literal=True) for each in literals]
        return nw.any_horizontal(*found, ignore_nulls=False) if found else super().is_among([])

    def is_other(self, literals: list[Any]) -> nw.Expr:
        # With each separator twice, labels do not share it. What remains without them is unknown.
        rest = self.text.str.replace_all(self.sep, self.sep * 2, literal=True)
        for each in literals:
            rest = rest.str.replace_all(self._marked(each), "", literal=True)
        return rest.str.replace_all(self.sep, "", literal=True) != ""

    def _marked(self, label: str) -> str:
        return f"{self.sep}{label}{self.sep}"


def _arrow_types(frame: Any) -> list[str]:
    """Return the Arrow type of each column as text.

    In pandas, it is part of the name of the dtype. The texts are empty for other libraries.
    """
    if frame.implementation.is_pyarrow():
        return [*map(str, nw.to_native(frame).schema.types)]
    if frame.implementation.is_pandas():
        return [*map(str, nw.to_native(frame).dtypes)]
    return [""] * len(frame.collect_schema())


def _comparable(item: Any, kind: Any) -> Any:
    """Return a category as a value that pyarrow can compare with a column of an Arrow type."""
    if isinstance(item, int) and str(kind) == "uint64":
        return np.uint64(item)  # pyarrow takes every int for an int64
    if isinstance(item, Decimal) and not item:
        return Decimal((0, (0,), -kind.scale))  # pyarrow gives a zero one digit before the point
    return item


def _compares_zones(frame: Any) -> bool:
    """Tell whether a library rejects comparisons of times in different zones or units."""
    return bool(frame.implementation.is_polars() or frame.implementation.is_pyarrow())


def _has_foreign_zone(dtype: Any) -> bool:
    """Tell whether a dtype has a time zone other than UTC."""
    return isinstance(dtype, nw.Datetime) and dtype.time_zone not in (None, "UTC")


def _check_texts(column: ColumnSchema, dtype: Any) -> None:
    """Raise TypeError unless categories are strings, because narwhals compares them as strings."""
    of_frame = dtype.categories if isinstance(dtype, nw.Enum) else ()
    if not all(isinstance(item, str) for item in (*column.known.tolist(), *of_frame)):
        raise TypeError(
            f"column {column.name!r} has dtype {dtype}, whose values narwhals compares as strings,"
            " but not all categories are strings: cast the column to the type of the categories"
        )


def _literal(item: Any, column: ColumnSchema, dtype: Any) -> Any:
    """Return a category as a value of a dtype, or None if it equals no value of the dtype."""
    if isinstance(dtype, (nw.String, *CATEGORICAL)):
        return as_literal(item, "text")
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean | nw.Date):
        return as_literal(item, "decimal38" if dtype.is_decimal() else str(dtype).lower())
    if isinstance(dtype, nw.Datetime):
        zone = datetime.UTC if dtype.time_zone is not None else None
        attoseconds = as_literal(item, "zoned" if zone else "instant")
        if attoseconds is None or attoseconds % ATTOSECONDS:
            return None
        moment = EPOCH + datetime.timedelta(microseconds=attoseconds // ATTOSECONDS)
        return moment.replace(tzinfo=zone)
    raise TypeError(
        f"column {column.name!r} has dtype {dtype}, which narwhals cannot compare with categories:"
        " cast the column, or encode the frame with Encoder.transform"
    )
