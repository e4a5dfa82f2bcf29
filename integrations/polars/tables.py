"""What the core asks of every library: a table of columns in, a table of its own kind out."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast._arrow.block import ArrowBlock
from onehot_fast._categories.schema import Special
from onehot_fast.column import Block, Kept, Table
from onehot_fast.integrations.polars.dtypes import element_of
from onehot_fast.integrations.polars.frames import numbered
from onehot_fast.integrations.polars.read import is_encodable, objects, read_column

__all__ = ["read_table", "wrap"]

Piece: TypeAlias = Kept | Block


def read_table(table: Any) -> Table:
    """Return a DataFrame, or a Series, as a `Table`, without reading a column.

    Parameters
    ----------
    table : polars.DataFrame or polars.Series
        A Series is a table of its name, or of "x0".

    Returns
    -------
    Table
        Columns of texts, categories, bytes and objects count as encodable.

    Raises
    ------
    TypeError
        If it is something else, as a LazyFrame, which has no rows yet.

    Examples
    --------
    >>> table = read_table(pl.DataFrame({"size": ["S", "L"], "price": [2, 3]}))
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    """
    if isinstance(table, pl.Series):
        table = table.to_frame(table.name or "x0")
    if not isinstance(table, pl.DataFrame):
        raise TypeError(
            f"a {type(table).__name__} of polars has no rows; accepted are a DataFrame and a"
            " Series: collect it, or see LazyFrame.onehot, which encodes what comes later"
        )
    return Table(
        tuple(table.columns),
        table.height,
        tuple(map(is_encodable, table.dtypes)),
        lambda at: read_column(table.to_series(at)),
        lambda at: _values(table.to_series(at)),
        "polars",
        table,
    )


def wrap(table: Table, pieces: Sequence[Piece]) -> pl.DataFrame:
    """Return the DataFrame of the pieces, in their order.

    Parameters
    ----------
    table : Table
        Of any library.
    pieces : sequence of Kept or Block
        Kept columns are shared. The memory of blocks is taken over; of an ndarray of Booleans
        polars makes bits, and what `block` wrote are bits already.

    Returns
    -------
    polars.DataFrame of table.n_rows
        Older releases of polars have no rows where there are no columns.

    Raises
    ------
    TypeError
        If polars has no such numbers.
    ValueError
        If two columns have one name, or a name is no str.

    Examples
    --------
    >>> table = read_table(pl.DataFrame({"n": [1, 2]}))
    >>> wrap(table, [Block(("a",), np.array([[True, False]])), Kept(0)]).columns
    ['a', 'n']
    """
    _check_names(table, pieces)
    frames = [
        _kept(table, piece.position) if isinstance(piece, Kept) else _new(piece) for piece in pieces
    ]
    filled = [frame for frame in frames if frame.width]
    if filled:
        return pl.concat(filled, how="horizontal")
    return frames[0] if frames else pl.DataFrame()


def _check_names(table: Table, pieces: Sequence[Piece]) -> None:
    """Refuse names that polars does not accept: of one text, and those that are none."""
    seen: set[Any] = set()
    for piece in pieces:
        names = (table.names[piece.position],) if isinstance(piece, Kept) else piece.names
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"a column is named {name!r}; in polars names are texts")
            if name in seen:
                raise ValueError(f"two columns would be named {name!r}; in polars names are unique")
            seen.add(name)


def _kept(table: Table, position: int) -> pl.DataFrame:
    """Return an input column as it was."""
    if isinstance(table.source, pl.DataFrame):
        return table.source.to_series(position).to_frame()
    return _series(str(table.names[position]), table.values(position)).to_frame()


def _new(block: Block) -> pl.DataFrame:
    """Return the columns of a block: views of it, if they are numbers or bits."""
    values: Any = block.values
    names = list(map(str, block.names))
    if not isinstance(values, ArrowBlock):
        if values.dtype.kind not in "iuf":
            return pl.DataFrame(list(map(_series, names, values)))
        form = element_of(values.dtype).format
        width = 8 * values.itemsize
        values = ArrowBlock(numbered(len(names)), values, values.shape[1], form, width)
    frame = pl.Series(values).struct.unnest()
    frame.columns = names
    return frame


def _series(name: str, values: npt.NDArray[Any]) -> pl.Series:
    """Return an array as a Series; values of several kinds are an Object."""
    if values.dtype.kind == "c" or values.dtype.isbuiltin == 2:
        element_of(values.dtype)  # which refuses it
    if values.dtype.kind in "mM":
        return pl.Series(values.astype(_time_dtype(values.dtype), copy=False)).alias(name)
    if values.dtype.kind != "O":
        return pl.Series(name, values)
    items = values.tolist()
    kinds = set(map(type, items)) - {type(None)}
    if Special in kinds:
        raise TypeError(
            f"column {name!r} would hold {next(item for item in items if type(item) is Special)!r}"
            " beside its values, and a column of polars holds one kind: `missing`, `unknown` and"
            " `infrequent` of Encoder.inverse choose what stands for it"
        )
    if kinds in ({np.datetime64}, {np.timedelta64}):
        missing = kinds.pop()("NaT")
        return _series(name, np.array([missing if item is None else item for item in items]))
    return pl.Series(name, items, dtype=pl.Object if len(kinds) > 1 else None)


def _time_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype of times in a unit that polars has: the next finer one."""
    unit, _ = np.datetime_data(dtype)
    if dtype.kind == "M" and unit in ("Y", "M", "W"):
        unit = "D"
    elif unit in ("W", "h", "m", "s") or (dtype.kind, unit) == ("m", "D"):
        unit = "ms"
    return np.dtype(f"{dtype.kind}8[{unit}]")


def _values(series: pl.Series) -> npt.NDArray[Any]:
    """Return a Series as NumPy has it; the zone of a time is kept in objects."""
    if getattr(series.dtype, "time_zone", None) is not None:
        return objects(series.to_list())
    return series.to_numpy()
