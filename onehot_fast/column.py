"""A table as the core sees it: columns of codes in, blocks of columns out.

What an integration module (``onehot_fast.integrations.<library>``) offers to the core, which calls
it by name and imports it only when an object of that library comes in or is asked for:

- ``read_table(table) -> Table`` and ``read_column(column) -> Column``;
- ``wrap(table: Table, pieces: Sequence[Kept | Block]) -> the library's own table``: the columns in
  the order of the pieces. The `Table` may come from another library, or from the core itself: then
  a kept column is ``table.values(position)``, and there is no index to keep. The memory of a block
  is handed over;
- optionally ``block(coded: Coded, first: int, stop: int)``, which writes the outputs of columns
  ``first`` to ``stop`` in a form that only its own ``wrap`` knows: they become the block's values;
- optionally ``factorize(values: ndarray) -> (codes, categories)``: hashing that is faster than
  NumPy's, for one-dimensional arrays of numbers and objects (missing = -1, any order).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.factorize import factorize
from onehot_fast._runtime.registry import READERS, integration, reader_of

__all__ = ["Block", "Column", "Kept", "Table", "read_column", "read_table"]

AnyArray: TypeAlias = npt.NDArray[Any]

# The sources whose categories count even where they do not occur.
DECLARED = frozenset({"category", "enum"})
# The types of a list that holds numbers or Booleans, of which some may be missing.
NUMBERS = (numbers.Number, np.bool_, type(None))


@dataclass(frozen=True, eq=False)
class Column:
    """The one form in which a column enters the core: codes and the categories they stand for.

    Parameters
    ----------
    codes : ndarray of integers, shape (n_rows,)
        Positions in `categories`; negative where the value is missing. C-contiguous, in native
        byte order, of 8 to 64 bits; often a read-only view of the source's own memory.
    categories : ndarray, shape (n_categories,)
        Distinct and none of them missing; of dtype object where NumPy has no dtype for them.
    ordered : bool, default False
        Whether the order of the categories has a meaning.
    source : str, default "hash"
        Where the codes came from. ``"category"`` and ``"enum"``: the categories were declared, all
        of them and their order count. Any other word, such as ``"hash"`` or ``"dictionary"``:
        those that do not occur in the codes do not count, and neither does their order.

    Raises
    ------
    TypeError
        `codes` or `categories` is not an ndarray, or the codes are not integers.
    ValueError
        An array is not one-dimensional, the codes are not contiguous or not in native byte order,
        or one of them is beyond the categories.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast import Column
    >>> Column(np.array([1, -1, 0], np.int8), np.array(["S", "M"]), ordered=True, source="category")
    Column(3 rows, 2 ordered categories, source='category')
    """

    codes: AnyArray
    categories: AnyArray
    ordered: bool = False
    source: str = "hash"

    def __post_init__(self) -> None:
        for name in ("codes", "categories"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{name} is a {type(array).__name__}; accepted is an ndarray")
            if array.ndim != 1:
                raise ValueError(f"{name} has shape {array.shape}; accepted is one dimension")
        if self.codes.dtype.kind not in "iu":
            raise TypeError(f"codes have dtype {self.codes.dtype}; accepted are integers")
        flags = self.codes.flags
        if not (flags.c_contiguous and flags.aligned and self.codes.dtype.isnative):
            raise ValueError("codes must be contiguous, aligned and in native byte order")
        largest = int(self.codes.max()) if self.codes.size else -1
        if largest >= len(self.categories):
            at = int(np.argmax(self.codes))
            raise ValueError(f"codes[{at}] = {largest} is outside [-1, {len(self.categories)})")

    @property
    def declared(self) -> bool:
        """Whether the categories were declared, the unobserved ones and their order included."""
        return self.source in DECLARED

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def __repr__(self) -> str:
        """Name the size and the source; the values may be many."""
        kind = "ordered categories" if self.ordered else "categories"
        return f"Column({len(self)} rows, {len(self.categories)} {kind}, source={self.source!r})"


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of one length, read only when they are asked for.

    Parameters
    ----------
    names : tuple of hashable
        One for each column, in order; names may repeat.
    n_rows : int
        The length of every column.
    encodable : tuple of bool
        For each column, whether it is encoded where nobody says which: texts, objects and declared
        categories are, numbers and Booleans are not.
    read : callable, position → Column
        Reads one column into codes.
    values : callable, position → ndarray of shape (n_rows,)
        One column as it is, for the decoder and for tables of another library.
    library : str, default "numpy"
        The integration that read the table, and that wraps what is made of it.
    source : object, optional
        The table itself, for ``wrap``. The core does not look at it.
    """

    names: tuple[Hashable, ...]
    n_rows: int
    encodable: tuple[bool, ...]
    read: Callable[[int], Column]
    values: Callable[[int], AnyArray]
    library: str = "numpy"
    source: Any = None

    def position(self, name: Hashable) -> int:
        """Return where the one column of this name is.

        Raises
        ------
        ValueError
            No column has the name, or several have.
        """
        found = [at for at, other in enumerate(self.names) if other == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"the table has {len(found)} columns named {name!r}")
        raise ValueError(f"the table has no column {name!r}; its columns are {list(self.names)!r}")


@dataclass(frozen=True)
class Kept:
    """An input column that goes to the output as it is: the one at `position` of the table."""

    position: int


@dataclass(frozen=True, eq=False)
class Block:
    """Output columns that stand side by side and share their memory.

    Parameters
    ----------
    names : tuple of hashable
        One for each output column; there may be none.
    values : ndarray, shape (n_columns, n_rows), C-contiguous
        Row ``j`` is the output column ``names[j]``: transposed, the column-major block of a frame.
        The dtype is that of the encoder; it is object for a decoded column of mixed values.
    """

    names: tuple[Hashable, ...]
    values: AnyArray


def read_table(table: Any) -> Table:
    """Return any supported table as a `Table`, without reading a column.

    Parameters
    ----------
    table : ndarray, mapping, Column, or a table of a library with an integration
        A structured array or a mapping from names to columns has those names. The columns of a
        plain array of shape (n_rows, n_columns) are named "x0", "x1", ..., as is the only column
        of an array of shape (n_rows,) and a bare `Column`.

    Returns
    -------
    Table

    Raises
    ------
    TypeError
        The kind of table is not supported.
    ValueError
        An array has another rank, or the columns of a mapping differ in length.

    Examples
    --------
    >>> table = read_table({"size": ["S", "L", "S"], "price": np.array([1.5, 2.5, 1.0])})
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    >>> table.read(0).codes
    array([0, 1, 0], dtype=int32)
    """
    if isinstance(table, Table):
        return table
    library = reader_of(table)
    if library is not None:
        read: Table = integration(library).read_table(table)
        return read
    if isinstance(table, Mapping):
        return _mapping_table(table)
    if isinstance(table, Column):
        return _array_table(["x0"], [table], [True], table)
    if isinstance(table, np.ndarray):
        return _ndarray_table(table)
    raise TypeError(
        f"a {type(table).__name__} is no table; accepted are a mapping from names to columns, an"
        " ndarray of one or two dimensions or of a structured dtype, a Column, and a table of"
        f" {', '.join(READERS)}"
    )


def read_column(values: Any) -> Column:
    """Return any supported column as a `Column`.

    Parameters
    ----------
    values : Column, ndarray of shape (n_rows,), list, tuple, or a library's column
        None, NaN, NaT, a missing value of the library and what a masked array masks are missing.

    Returns
    -------
    Column
        The categories are in no particular order, unless they were declared.

    Raises
    ------
    TypeError
        The kind of column is not supported, or a value cannot be hashed.
    ValueError
        An array is not one-dimensional.

    Examples
    --------
    >>> column = read_column(np.array([2.5, np.nan, -0.0, 0.0]))
    >>> column.codes, column.categories
    (array([ 1, -1,  0,  0], dtype=int32), array([0. , 2.5]))
    """
    if isinstance(values, Column):
        return values
    library = reader_of(values)
    if library is not None:
        column: Column = integration(library).read_column(values)
        return column
    codes, categories, source = factorize(as_values(values))
    return Column(codes, categories, source=source)


def as_values(column: Any) -> AnyArray:
    """Return a column as a one-dimensional array, Python's sequences as objects."""
    if isinstance(column, Column):
        # A missing code takes the None that is appended.
        labels = np.append(column.categories.astype(object), np.array([None], object))
        return labels[np.where(column.codes < 0, len(labels) - 1, column.codes)]
    if isinstance(column, list | tuple):
        # One by one: NumPy would turn [1, "x"] into texts, and look into lists.
        values = np.empty(len(column), object)
        values[:] = column
        return values
    if not isinstance(column, np.ndarray):
        raise TypeError(
            f"a {type(column).__name__} is no column; accepted are an ndarray, a list, a tuple, a"
            f" Column, and a column of {', '.join(READERS)}"
        )
    if column.ndim != 1:
        raise ValueError(f"a column has shape {column.shape}; accepted is one dimension")
    return column


def _mapping_table(table: Mapping[Hashable, Any]) -> Table:
    """Return a mapping from names to columns."""
    columns = list(table.values())
    lengths = {name: _length(column, name) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns differ in length: {lengths!r}")
    return _array_table(list(table), columns, [_is_encodable(c) for c in columns], table)


def _ndarray_table(table: AnyArray) -> Table:
    """Return an array of rows; nothing but its fields tells its columns apart."""
    if table.dtype.names is not None and table.ndim == 1:
        fields = [table[name] for name in table.dtype.names]
        encodable = [_is_encodable(field) for field in fields]
        return _array_table(list(table.dtype.names), fields, encodable, table)
    if table.ndim not in (1, 2):
        raise ValueError(f"the table has shape {table.shape}; accepted are one or two dimensions")
    rows = table[:, np.newaxis] if table.ndim == 1 else table
    columns = [rows[:, at] for at in range(rows.shape[1])]
    names = [f"x{at}" for at in range(len(columns))]
    return _array_table(names, columns, [True] * len(columns), table, len(table))


def _array_table(
    names: Sequence[Hashable],
    columns: Sequence[Any],
    encodable: Sequence[bool],
    source: Any,
    n_rows: int | None = None,
) -> Table:
    """Return a table whose columns are at hand."""
    if n_rows is None:
        n_rows = len(columns[0]) if columns else 0
    return Table(
        tuple(names),
        n_rows,
        tuple(encodable),
        lambda at: read_column(columns[at]),
        lambda at: as_values(columns[at]),
        source=source,
    )


def _length(column: Any, name: Hashable) -> int:
    """Return the number of rows of a column, or say which one has none."""
    try:
        return len(column)
    except TypeError:
        kind = type(column).__name__
        raise TypeError(f"column {name!r} is a {kind}, which has no rows") from None


def _is_encodable(column: Any) -> bool:
    """Tell whether a column is encoded where nobody says which; numbers are not."""
    if isinstance(column, list | tuple):
        return not all(isinstance(value, NUMBERS) for value in column)
    dtype = getattr(column, "dtype", None)
    return dtype is None or getattr(dtype, "kind", "O") in "OSUT"
