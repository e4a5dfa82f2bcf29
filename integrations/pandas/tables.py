"""What the core asks of every library: a table of columns in, a table of its own kind out."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast.column import Block, Column, Kept, Table
from onehot_fast.integrations.pandas.read import coded, is_encodable
from onehot_fast.integrations.pandas.wrap import COPY_ON_WRITE, frame, side_by_side

__all__ = ["read_column", "read_table", "wrap"]

Piece: TypeAlias = Kept | Block


def read_table(table: Any) -> Table:
    """Return a DataFrame, or one column of pandas, as a `Table`, without reading a column.

    Parameters
    ----------
    table : DataFrame, Series, Index or pandas array
        A column alone is a table of its name, or of "x0".

    Returns
    -------
    Table
        Those columns count as encodable that `pandas.get_dummies` encodes without being asked.

    Examples
    --------
    >>> table = read_table(pd.DataFrame({"size": ["S", "L"], "price": [2, 3]}))
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    """
    if not isinstance(table, pd.DataFrame):
        series = pd.Series(table, copy=False)
        name = "x0" if series.name is None else series.name
        table = series.to_frame(name)
    return Table(
        tuple(table.columns),
        len(table),
        tuple(is_encodable(dtype) for dtype in table.dtypes),
        lambda at: read_column(table.iloc[:, at]),
        lambda at: table.iloc[:, at].to_numpy(),
        "pandas",
        table,
    )


def read_column(values: Any) -> Column:
    """Return a column of pandas as a `Column`.

    Parameters
    ----------
    values : Series, Index or pandas array of n_rows
        The codes of a categorical one are a read-only view of its own.

    Returns
    -------
    Column
        Its categories are NumPy's where NumPy has a dtype for them, else objects.

    Raises
    ------
    TypeError
        If the values cannot be hashed.

    Examples
    --------
    >>> read_column(pd.Series(pd.Categorical(["S"], categories=["S", "M"], ordered=True)))
    Column(1 rows, 2 ordered categories, source='category')
    """
    series = pd.Series(values, copy=False)
    dtype = series.dtype
    found = coded(series)
    if isinstance(dtype, pd.CategoricalDtype):
        return Column(found.codes, _as_numpy(dtype.categories), bool(dtype.ordered), "category")
    dictionary = isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")
    source = "dictionary" if dictionary else "hash"
    return Column(found.positions(), _as_numpy(found.levels), source=source)


def wrap(table: Table, pieces: Sequence[Piece]) -> pd.DataFrame:
    """Return the frame of the pieces, in their order.

    Parameters
    ----------
    table : Table
        Of any library; the rows of a DataFrame keep their labels.
    pieces : sequence of Kept or Block
        Kept columns are shared as pandas shares them, the memory of blocks is taken over.

    Returns
    -------
    pandas.DataFrame of table.n_rows

    Examples
    --------
    >>> table = read_table(pd.DataFrame({"n": [1, 2]}, index=["x", "y"]))
    >>> wrap(table, [Block(("a",), np.array([[True, False]])), Kept(0)])
           a  n
    x   True  1
    y  False  2
    """
    source = table.source if isinstance(table.source, pd.DataFrame) else None
    index = pd.RangeIndex(table.n_rows) if source is None else source.index
    frames = list(_frames(table, pieces, source, index))
    if not frames:
        return pd.DataFrame(index=index)
    result = side_by_side(frames)
    names: list[Any] = []
    for piece in pieces:
        names += [table.names[piece.position]] if isinstance(piece, Kept) else piece.names
    several = source is not None and source.columns.nlevels > 1
    result.columns = pd.Index(names, tupleize_cols=several and all(map(_is_tuple, names)))
    return result


def _frames(
    table: Table, pieces: Sequence[Piece], source: pd.DataFrame | None, index: "pd.Index[Any]"
) -> Iterator[pd.DataFrame]:
    """Yield frames that stand side by side: each block, and each run of kept neighbours."""
    run: list[int] = []
    for piece in pieces:
        if isinstance(piece, Kept) and (not run or piece.position == run[-1] + 1):
            run.append(piece.position)
            continue
        yield from _kept(table, run, source, index)
        run = [piece.position] if isinstance(piece, Kept) else []
        if isinstance(piece, Block):
            yield frame(piece.values, index, None)
    yield from _kept(table, run, source, index)


def _kept(
    table: Table, run: Sequence[int], source: pd.DataFrame | None, index: "pd.Index[Any]"
) -> Iterator[pd.DataFrame]:
    """Yield the frame of neighbouring columns as they were, if there are any."""
    if run and source is None:
        columns = {position: table.values(position) for position in run}
        yield pd.DataFrame(columns, index=index)
    elif run and source is not None:
        kept = source.iloc[:, run[0] : run[-1] + 1]
        yield kept if COPY_ON_WRITE else kept.copy()


def _as_numpy(index: "pd.Index[Any]") -> npt.NDArray[Any]:
    """Return labels as NumPy keeps them."""
    dtype: Any = index.dtype
    if isinstance(dtype, np.dtype):
        return index.to_numpy()
    if getattr(dtype, "numpy_dtype", np.dtype(object)).kind in "iufb":
        return index.to_numpy(dtype.numpy_dtype)
    return index.to_numpy(object)


def _is_tuple(name: object) -> bool:
    """Tell whether a name is one of several levels."""
    return isinstance(name, tuple)
