"""Read DataFrames, and Series as category codes, plain values or lists of labels.

Columns are read through the Arrow PyCapsule interface without a copy, with these exceptions:

- polars before 1.34 exports Enums, Categoricals and times with a wrong dtype. Therefore, Enums and
  times are exported as integers, and Categoricals as strings if polars is older than 1.34.
- NumPy has no dtype for dates, times of day, zoned times, decimals and 128-bit integers. These
  values become Python objects; times become one object for each distinct value.
- The categories of an Enum are read from its dtype.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import selectors

from onehot_fast import Column
from onehot_fast.adapter import RaggedColumn, Rows, Table, Values, cached_property, read_arrow
from onehot_fast.adapter import are_lists as objects_are_lists
from onehot_fast.adapter import read_column as read_any_column

from ._dtypes import EXTENSION, dtype_name
from ._options import TO_NUMPY

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]

# The dtypes of columns that are encoded by default.
ENCODABLE = (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Object)
# The dtypes of lists of labels.
LISTS = (pl.List, pl.Array)
# Integer dtypes that NumPy does not have; UInt128 is new in polars 1.34.
WIDE_INTEGERS = tuple(getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name))
# The smallest int64 is NaT in NumPy, but a valid time in polars.
# The days 0001-01-01 and 9999-12-31: polars panics when it converts other days to Python.
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def selected_names(frame: Any, selector: Any) -> tuple[str, ...]:
    """Return the names of the columns of a DataFrame that match a selector or ``pl.col``."""
    return selectors.expand_selector(frame, selector, strict=False)


def read_table(table: Any) -> Table:
    """Return a DataFrame or Series as a `Table`; no column is read yet."""
    if isinstance(table, pl.Series):
        table = table.to_frame(table.name or "x0")
    if not isinstance(table, pl.DataFrame):
        raise TypeError(
            f"the table must be a DataFrame or Series, got a polars.{type(table).__name__}, which"
            " has no rows: call collect() first; or call lazyframe.onehot.fit(columns) to fit an"
            " encoder, and lazyframe.onehot(encoder) to encode"
        )
    return PolarsTable(table)


class PolarsTable(Table):
    """A `Table` whose source is a polars DataFrame."""

    library = "polars"
    source: pl.DataFrame

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame.columns, frame.height, frame)

    @cached_property
    def _dtypes(self) -> list[Any]:
        return self.source.dtypes

    @cached_property
    def _classes(self) -> list[type]:
        return [*map(type, self._dtypes)]  # comparing these is ten times as fast as dtypes

    def is_encodable(self, position: int) -> bool:
        """Tell whether a column is encoded by default."""
        dtype = self._dtypes[position]
        if isinstance(dtype, EXTENSION):
            dtype = dtype.ext_storage()
        if isinstance(dtype, LISTS):  # of labels, not of lists
            dtype = dtype.inner
        return dtype.base_type() in ENCODABLE

    def type_of(self, position: int) -> str:
        """Return the name of the dtype; an Enum has no categories in it."""
        return f"polars:{dtype_name(self._dtypes[position])}"

    def read_column(self, position: int) -> Column | Values:
        """Return a column as codes or values."""
        return read_column(self.source.to_series(position))

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return a column of lists as rows of labels, or None if its rows are single values."""
        if self._dtypes[position].base_type() not in LISTS:
            return None
        return read_ragged(self.source.to_series(position))

    def to_numpy(self, position: int) -> AnyArray:
        """Return a column as a NumPy array; times with a zone become Python objects."""
        series = self.source.to_series(position)
        if getattr(series.dtype, "time_zone", None) is not None:
            return np.array(series.to_list(), object)
        return series.to_numpy()

    def cells(self, position: int) -> list[Any] | None:
        """Return a column as Python objects, or None for times, which may be beyond Python's."""
        if self._dtypes[position].is_temporal():
            return None
        return self.source.to_series(position).to_list()

    def block(self, positions: Sequence[int]) -> AnyArray | None:
        """Return columns of one numeric or Boolean dtype as the rows of an array, else None."""
        types = self._classes
        kind, *others = {types[i] for i in positions}
        if others or kind not in TO_NUMPY:
            return None
        # Exporting a few more columns is faster than selecting the needed columns.
        is_all = len(types) <= 2 * len(positions) and TO_NUMPY.keys() >= set(types)
        part = self.source if is_all else self.source[:, list(positions)]
        if "\0" in "".join(part.columns):  # polars would abort the process
            part = part.clone()
            part.columns = list(map(str, range(part.width)))
        chosen = positions if is_all else range(part.width)
        return read_arrow(part).block(chosen)


def read_column(series: Any) -> Column | Values:
    """Return a Series of scalars as codes or values; an Enum keeps all its categories."""
    name, dtype = series.name, series.dtype
    # Most methods treat a name such as "^x$" as a pattern, and exporting a name that contains "\0"
    # aborts the process.
    series = series.alias("")
    if isinstance(dtype, EXTENSION):
        return read_column(series.ext.storage().alias(name))
    if dtype == pl.String or type(dtype) in TO_NUMPY:
        return Values(list(read_arrow(series)))
    if dtype == pl.Enum:
        chunks = read_arrow(series.to_physical().rechunk())
        return Column(_codes(chunks), dtype.categories.to_numpy(), True, "enum")
    if dtype.base_type() is pl.Categorical:  # comparing with == is true only for global categories
        return _read_categorical(series)
    if dtype.is_temporal():
        return _read_times(series, name)
    if dtype in (*WIDE_INTEGERS, pl.Binary, pl.Object, pl.Null) or dtype.is_decimal():
        rows = series.to_list()
        if dtype == pl.Object and objects_are_lists(rows):
            raise TypeError(
                f"Series {name!r} has dtype Object, whose rows are lists: convert it to a dtype of"
                f" lists, e.g. pl.Series({name!r}, [list(row) for row in series])"
            )
        return read_any_column(rows).encode()
    raise TypeError(
        f"Series {name!r} has dtype {dtype}, whose values cannot be categories: use multi_hot to"
        " encode lists, or encode the fields of a struct"
    )


def exportable(data: Any, keep_categories: bool = True) -> tuple[Any, dict[int, list[Any] | None]]:
    """Return a DataFrame or Series in dtypes that Arrow has, and its other columns as lists.

    The lists, by the position of their column, have integers of 128 bits. A column of the dtype
    Null has None instead of a list: polars exports it with a buffer that Arrow does not allow. If
    `keep_categories` is false, a Categorical becomes strings, because the order of its categories
    depends on all Categoricals of the process. Raise TypeError for Python objects: polars exports
    their addresses.
    """
    if not isinstance(data, pl.DataFrame | pl.Series):
        return data, {}
    columns = [data] if isinstance(data, pl.Series) else data.get_columns()
    changed: dict[int, pl.Series] = {}
    lists: dict[int, list[Any] | None] = {}
    for i, column in enumerate(columns):
        dtype = column.dtype
        if dtype == pl.Object:
            raise TypeError(
                f"column {column.name!r} has dtype Object, which Arrow cannot represent: encode the"
                " frame with Encoder.transform, or cast the column"
            )
        if dtype in WIDE_INTEGERS or dtype == pl.Null:
            lists[i] = None if dtype == pl.Null else column.to_list()
            changed[i] = column.is_null()
        elif not keep_categories and dtype.base_type() is pl.Categorical:
            changed[i] = column.cast(pl.String)
    if isinstance(data, pl.Series):
        return changed.get(0, data), lists
    if changed:
        data = data.clone()
        for i, column in changed.items():
            data.replace_column(i, column.alias(data.columns[i]))
    return data, lists


def are_lists(series: pl.Series) -> bool:
    """Tell whether the rows of a Series are lists or arrays."""
    return series.dtype.base_type() in LISTS


def read_ragged(series: pl.Series) -> RaggedColumn:
    """Return lists as rows of labels; a null list is missing."""
    offsets, elements = _flatten(series)
    if elements.dtype.is_nested():
        fields = ", or encode a field of the structs" if elements.dtype == pl.Struct else ""
        raise TypeError(
            f"Series {series.name!r} has labels of dtype {elements.dtype}, but a label must be a"
            f" single value: flatten the lists of each row{fields}, e.g."
            f" {_flattening(series.name, elements.dtype)}"
        )
    is_missing = series.is_null().to_numpy() if series.null_count() else None
    return RaggedColumn(offsets, read_column(elements.alias(series.name)), is_missing)


def _flattening(name: str, dtype: Any) -> str:
    """Return an expression that makes a single value of each label of a dtype."""
    label = "pl.element().explode()"
    if dtype == pl.Struct:
        label = f"pl.element().struct.field({dtype.fields[0].name!r})"
    return f"pl.col({name!r}).list.eval({label})"


def read_lists(rows: pl.Series, has_indices: bool = True) -> Rows:
    """Return lists as offsets and concatenated elements; a missing index becomes -1.

    Integers are class indices if `has_indices` is true, otherwise labels like other values.
    """
    offsets, elements = _flatten(rows)
    # As labels, integers of 128 bits need not fit into int64.
    are_labels = elements.dtype in WIDE_INTEGERS and not _fit_int64(elements)
    if has_indices and elements.dtype.is_integer() and not are_labels:
        return Rows(offsets, _integers(elements, rows.name))
    return Rows(offsets, read_column(elements.alias(rows.name)).encode())


def _codes(chunks: Iterable[Any]) -> AnyArray:
    """Return the codes of the only chunk, without a copy if possible; null becomes -1."""
    return next((chunk.codes() for chunk in chunks), np.empty(0, np.int8))


def _read_categorical(series: pl.Series) -> Column | Values:
    """Return a Categorical as codes, with the categories that occur."""
    try:
        chunks = list(read_arrow(series.rechunk()))
    except OSError:  # before polars 1.34
        return Values(list(read_arrow(series.cast(pl.String))))
    texts = Values([chunk.dictionary for chunk in chunks]).encode()
    return Column(_codes(chunks), texts.stored, source="dictionary")


def _read_times(series: pl.Series, name: str) -> Values:
    """Return dates or times as integers, with a function that converts the distinct ones back."""
    dtype: Any = series.dtype
    is_zoned = getattr(dtype, "time_zone", None) is not None
    physical = series.cast(pl.Int32 if dtype == pl.Date else pl.Int64)
    if not is_zoned and dtype in (pl.Datetime, pl.Duration):
        # Export integers, because polars before 1.34 exports times with a wrong dtype.
        kind = f"{'M' if dtype == pl.Datetime else 'm'}8[{dtype.time_unit}]"
        return Values(list(read_arrow(physical)), lambda counts: counts.view(kind))

    def as_times(counts: AnyArray) -> AnyArray:
        _check_times(counts, dtype, is_zoned, name)
        return np.array(pl.Series(counts).cast(dtype).to_list(), object)

    return Values(list(read_arrow(physical)), as_times)


def _check_times(counts: AnyArray, dtype: Any, is_zoned: bool, name: str) -> None:
    """Raise ValueError for times that Python cannot represent."""
    in_nanoseconds = dtype == pl.Time or (is_zoned and dtype.time_unit == "ns")
    if in_nanoseconds and (counts % 1000).any():
        raise ValueError(
            f"Series {name!r} of {dtype} has nanoseconds, which Python times cannot represent:"
            " round the values to microseconds, or encode a Datetime without a zone"
        )
    days = counts // DAY[dtype.time_unit] if is_zoned else counts
    margin = int(is_zoned)  # a zone shifts an instant by less than a day
    beyond = (days < FIRST_DAY + margin) | (days > LAST_DAY - margin)
    if dtype != pl.Time and beyond.any():
        raise ValueError(
            f"Series {name!r} of {dtype} has years outside 1 to 9999, which Python dates cannot"
            " represent: remove such values, or encode a Datetime without a zone"
        )


def _fit_int64(elements: pl.Series) -> bool:
    """Tell whether int64 can hold all integers of a Series."""
    return elements.cast(pl.Int64, strict=False).null_count() == elements.null_count()


def _integers(elements: pl.Series, name: str) -> AnyArray:
    """Return integers as an array; a missing value becomes -1."""
    if not elements.null_count() and elements.dtype not in WIDE_INTEGERS:
        return elements.to_numpy()
    try:
        return elements.cast(pl.Int64).fill_null(-1).to_numpy()
    except pl.exceptions.InvalidOperationError as error:
        raise ValueError(
            f"Series {name!r} of {elements.dtype} has elements that int64 cannot hold: {error}"
        ) from error


def _flatten(rows: pl.Series) -> tuple[Offsets, pl.Series]:
    """Return the offsets and the concatenated elements of lists."""
    name, rows = rows.name, rows.alias("")  # polars treats a name such as "^x$" as a pattern
    if rows.dtype == pl.Array:
        rows = rows.arr.to_list()
    if rows.dtype != pl.List:
        raise TypeError(
            f"Series {name!r} must be a List or Array, or String if sep= is given, got {rows.dtype}"
        )
    lengths = rows.list.len().fill_null(0)
    # `explode` turns an empty list into a null.
    filled = rows.filter(lengths > 0) if (lengths == 0).any() else rows
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths.to_numpy(), out=offsets[1:])
    return offsets, filled.explode()
