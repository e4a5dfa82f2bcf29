"""Create polars columns and frames from one-hot features and decoded values."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast import Special
from onehot_fast.adapter import (
    ArrowBlock,
    Cache,
    Categorical,
    Categories,
    Decoded,
    DecodedLists,
    FeatureBlock,
    Part,
    PassThrough,
    Table,
    write,
)

from ._dtypes import EXTENSION, dtype_name, dtype_of_name
from ._options import element_of

AnyArray = npt.NDArray[Any]

# A frame of one row of zeros, and the columns of a row of ones.
_Rows: TypeAlias = tuple[pl.DataFrame, list[pl.Series]]
# The integer dtypes, in the order in which they are chosen; UInt128 is new in polars 1.34.
INTEGERS = tuple(
    getattr(pl, name) for name in ("Int64", "UInt64", "Int128", "UInt128") if hasattr(pl, name)
)
LIMITS = {dtype: pl.select(dtype.min(), dtype.max().alias("max")).row(0) for dtype in INTEGERS}
# The largest number of whole microseconds in a pandas.Timestamp and a Datetime("ns").
MAX_MICROSECONDS = (2**63 - 1) // 1000 - 1


def wrap(
    table: Table,
    parts: Sequence[Part],
    cache: Cache[Any] | None = None,
    num_threads: int | None = None,
) -> pl.DataFrame:
    """Return a frame of the columns that `parts` describe; unchanged columns are not copied."""
    cache = Cache(1) if cache is None else cache
    rows: dict[tuple[str, ...], _Rows] = cache.get("polars", _new_rows, parts)
    frames = []
    for part in parts:
        if not isinstance(part, FeatureBlock):
            frames.append(_column(table, part).to_frame())
        elif table.n_rows == 1 and not any(c.nan_where_missing for c in part.columns):
            frames.append(_row_frame(part, rows, num_threads))
        else:
            frames.append(output_frame(part, table.n_rows, num_threads))
    if len(frames) == 1:
        return frames[0]
    return pl.concat(frames, how="horizontal") if frames else pl.DataFrame(height=table.n_rows)


def _new_rows(parts: Sequence[Part]) -> dict[tuple[str, ...], _Rows]:
    """Check the names of the columns, and return an empty dict for the cached rows."""
    _check_names([name for part in parts for name in part.names])
    return {}


def _row_frame(
    part: FeatureBlock, rows: dict[tuple[str, ...], _Rows], num_threads: int | None
) -> pl.DataFrame:
    """Return one encoded row made of cached columns, which polars never modifies."""
    shared = rows.get(part.names)
    if shared is None:
        zeros, ones = (np.full((len(part.names), 1), value, part.dtype) for value in (0, 1))
        shared = rows[part.names] = (
            _block_frame(part.names, zeros, 1, part.dtype),
            _block_frame(part.names, ones, 1, part.dtype).get_columns(),
        )
    zero_row, one_columns = shared
    row = zero_row.clone()
    for i in write.rows(part.columns, bool, num_threads=num_threads)[0].nonzero()[0].tolist():
        row.replace_column(i, one_columns[i])
    return row


def output_frame(
    outputs: FeatureBlock, n_rows: int, num_threads: int | None = None
) -> pl.DataFrame:
    """Return the features as columns that share one block of memory; Booleans are bit-packed."""
    element_of(outputs.dtype)  # raise an error for a wrong dtype before writing
    block = write.block(
        outputs.columns, outputs.dtype, n_rows=n_rows, packed=True, num_threads=num_threads
    )
    return _block_frame(outputs.names, block, n_rows, outputs.dtype)


def label_frame(matrix: AnyArray, labels: Iterable[Any]) -> pl.DataFrame:
    """Return the columns of a row-major matrix as a frame, named after the labels."""
    names = Categories.of(labels).text_labels()
    _check_names(names)
    block = np.ascontiguousarray(matrix.T)
    if block.dtype.kind == "b":
        block = np.packbits(block, axis=1, bitorder="little")
    return _block_frame(names, block, len(matrix), matrix.dtype)


def _block_frame(
    names: Sequence[str], block: AnyArray, n_rows: int, dtype: np.dtype[Any]
) -> pl.DataFrame:
    """Return a frame whose columns are the rows of `block`, not copied; Booleans are bit-packed."""
    n_bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
    # The names are set afterwards, because in C a name ends at "\0".
    numbers = list(map(str, range(len(names))))
    array = ArrowBlock(numbers, block, n_rows, element_of(dtype).format, n_bits)
    frame = pl.Series(array).struct.unnest()
    frame.columns = list(names)
    return frame


def _check_names(names: Iterable[Hashable]) -> None:
    """Raise ValueError for names that polars does not accept."""
    seen: set[Hashable] = set()
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"column names must be strings in polars, got {name!r}")
        if name in seen:
            raise ValueError(f"column names must be unique in polars, got {name!r} twice")
        seen.add(name)


def _column(table: Table, part: PassThrough | Decoded | DecodedLists | Categorical) -> pl.Series:
    """Return an unchanged, decoded or categorical column as a Series."""
    if isinstance(part, Categorical):
        titles, codes = part.categories.tolist(), pl.Series(part.codes)
        levels = pl.Series(str(part.name), titles, pl.Enum(titles))
        return levels.gather(codes.set(codes < 0, None))
    if isinstance(part, Decoded):
        return _decoded_series(part).gather(part.positions)
    if isinstance(part, DecodedLists):
        return _decoded_lists(part)
    if isinstance(table.source, pl.DataFrame):
        return table.source.to_series(part.position)
    return numpy_series(str(part.name), table.to_numpy(part.position))


def _decoded_series(part: Decoded) -> pl.Series:
    """Return the distinct values, in the dtype that the column had in `fit` if it can hold them."""
    fitted = _as_fitted(part)
    return numpy_series(str(part.name), part.distinct) if fitted is None else fitted


def _decoded_lists(part: DecodedLists) -> pl.Series:
    """Return decoded lists, whose labels have the dtype that they had in `fit` if it holds them."""
    dtype = _fitted_dtype(part.labels)
    is_list = isinstance(dtype, pl.List | pl.Array)
    types = [f"polars:{dtype_name(dtype.inner)}"] if is_list else []
    labels = part.labels.with_types(types)
    values = _decoded_series(labels).gather(labels.positions)
    if values.dtype == pl.Object:
        raise TypeError(
            f"column {part.name!r} would have lists of values of several types, which polars cannot"
            " store: pass missing=, unknown= and infrequent= of the type of the labels to"
            " Encoder.inverse_transform"
        )
    # Early versions lose the categories of grouped values, and crash when they are read. Later ones
    # panic at an empty list of extension types.
    kind = values.dtype
    values = values.cast(pl.String) if isinstance(kind, pl.Categorical | pl.Enum) else values
    values = cast(Any, values).ext.storage() if isinstance(kind, EXTENSION) else values
    lengths = np.diff(part.offsets)
    rows = pl.Series("row", np.arange(len(lengths))).set_sorted()
    row_of = pl.Series("row", np.repeat(rows.to_numpy(), lengths)).set_sorted()  # groups faster
    labels_of = pl.DataFrame([row_of, values.alias("it")])
    full = labels_of.group_by("row", maintain_order=True).all()
    found = pl.DataFrame([rows]).join(full, on="row", how="left", maintain_order="left")
    empty = pl.lit(pl.Series([[]], dtype=pl.List(values.dtype)))
    is_missing = pl.lit(pl.Series(part.is_missing))
    lists = pl.when(~is_missing).then(pl.col("it").fill_null(empty))
    decoded = found.select(lists.alias(str(part.name))).to_series().cast(pl.List(kind))
    if isinstance(dtype, pl.Array) and bool((lengths[~part.is_missing] == dtype.size).all()):
        return decoded.list.to_array(dtype.size)  # no row has lost equal labels
    return decoded


def _as_fitted(part: Decoded) -> pl.Series | None:
    """Return the distinct values in the dtype that the column had in `fit`.

    Return None if the dtype cannot represent the values (e.g. an integer dtype and a substitute
    that is a string), if there is none (the column was fitted in another library), or if the
    installed version of polars does not have it.
    """
    dtype = _fitted_dtype(part)
    if dtype is None:
        return None
    if dtype == pl.Object:
        return pl.Series(str(part.name), part.distinct.tolist(), dtype=pl.Object)
    series = numpy_series(str(part.name), part.distinct)
    if series.dtype == dtype or series.dtype == pl.Object:
        return series
    try:
        if isinstance(dtype, EXTENSION):
            plain = series.cast(dtype.ext_storage())
            fitted: pl.Series = cast(Any, plain).ext.to(dtype)
        else:
            plain = fitted = series.cast(dtype)
    except pl.exceptions.PolarsError:  # raised for values that a dtype cannot represent
        return None
    return fitted if part.holds(plain.to_list()) else None


def _fitted_dtype(part: Decoded) -> Any:
    """Return the common dtype of the column in the tables that `fit` read, or None without one."""
    names = part.types_in("polars")
    if not names:
        return None
    try:
        dtypes = [dtype_of_name(name, part.schema.known) for name in names]
        fields = [pl.DataFrame(schema={"": dtype}) for dtype in dtypes]
        return (
            dtypes[0] if len(dtypes) == 1 else pl.concat(fields, how="vertical_relaxed").dtypes[0]
        )
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return None


def numpy_series(name: str, values: AnyArray) -> pl.Series:
    """Return an array as a Series; values of several types become a Series of dtype Object."""
    if values.dtype.kind == "c" or values.dtype.isbuiltin == 2:
        element_of(values.dtype)  # raises the error
    if values.dtype.kind in "mM":
        return pl.Series(values.astype(_time_dtype(values.dtype), copy=False)).alias(name)
    if values.dtype.kind != "O":
        return pl.Series(name, values)
    items = values.tolist()
    kinds = set(map(type, items)) - {type(None)}
    if Special in kinds:
        special = next(item for item in items if type(item) is Special)
        raise TypeError(
            f"column {name!r} would mix {special!r} with other values, which polars cannot store:"
            " pass missing=, unknown= or infrequent= to Encoder.inverse_transform"
        )
    if kinds in ({np.datetime64}, {np.timedelta64}):
        present = np.array([item for item in items if item is not None])  # in the common unit
        missing = np.array("NaT", present.dtype)
        return numpy_series(name, np.array([missing if item is None else item for item in items]))
    try:
        series = pl.Series(name, items, dtype=_inferred_dtype(kinds, items))
    except RuntimeError as error:  # BindingsError of polars, e.g. for Decimal("1E+999999999")
        raise ValueError(f"column {name!r} has no polars dtype for its values: {error}") from error
    return _with_nanoseconds(series, items) if series.dtype == pl.Datetime else series


def _inferred_dtype(kinds: set[type], items: Sequence[Any]) -> Any:
    """Return the dtype for items of these types, or None if polars may infer it.

    polars infers the dtype of integers from the first ones, and then rejects larger ones.
    """
    if len(kinds) > 1:
        return pl.Object
    if kinds != {int}:
        return None
    integers = [item for item in items if item is not None]
    low, high = min(integers), max(integers)
    for dtype in INTEGERS:
        lowest, highest = LIMITS[dtype]
        if lowest <= low and high <= highest:
            return dtype
    return pl.Object


def _with_nanoseconds(series: pl.Series, items: Sequence[Any]) -> pl.Series:
    """Add the nanoseconds of pandas.Timestamp items, which polars ignores."""
    rest = [getattr(item, "nanosecond", 0) for item in items]
    if not any(rest):
        return series
    dtype: Any = series.dtype
    microseconds = series.dt.timestamp("us")
    if not microseconds.is_between(-MAX_MICROSECONDS, MAX_MICROSECONDS).all():
        raise ValueError(
            f"column {series.name!r} has both nanoseconds and years outside 1678 to 2261, which no"
            " polars dtype can store: decode the table to pandas or NumPy"
        )
    counts = microseconds * 1000 + pl.Series(rest, dtype=pl.Int64)
    return counts.cast(pl.Datetime("ns", dtype.time_zone)).alias(series.name)


def _time_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype of times with the same unit or, if polars lacks it, the next finer unit."""
    unit, _ = np.datetime_data(dtype)
    if dtype.kind == "M" and unit in ("Y", "M", "W"):
        unit = "D"
    elif unit in ("W", "h", "m", "s") or (dtype.kind, unit) == ("m", "D"):
        unit = "ms"
    return np.dtype(f"{dtype.kind}8[{unit}]")
