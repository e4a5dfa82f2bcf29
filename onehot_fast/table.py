"""A table as the core sees it: named columns, read when they are asked for."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import did_you_mean, shown, with_article
from onehot_fast._categories.keys import is_missing
from onehot_fast._runtime.registry import READERS, engine_of, integration, reader_of
from onehot_fast._runtime.utils import cached_property
from onehot_fast.column import Column, Values, as_values, read_values

__all__ = ["Table", "column_position", "read_table"]

AnyArray: TypeAlias = npt.NDArray[Any]

# The types of a list that holds numbers or Booleans, of which some may be missing.
NUMBERS = (numbers.Number, np.bool_, type(None))

# An error lists no more columns.
MANY_NAMES = 20


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of one length, read only when they are asked for.

    Parameters
    ----------
    names : tuple of hashable
        One for each column, in order; names may repeat.
    n_rows : int
        The length of every column.
    is_encodable : callable, position → bool
        Whether a column is encoded where nobody says which: texts, objects and declared categories
        are, numbers and Booleans are not.
    read : callable, position → Column or Values
        Reads one column: its codes, if it has any, or its values. Called once for each column that
        is encoded.
    values : callable, position → ndarray of shape (n_rows,)
        One column as it is, for the decoder and for tables of another library.
    library : str, default "numpy"
        The integration that read the table, and that wraps what is made of it.
    source : object, optional
        The table itself, for ``wrap``. The core does not look at it.
    block : callable, positions → ndarray of shape (n_columns, n_rows) or None, optional
        Several columns, at least one, of one dtype of numbers or Booleans; None if they are not.
        `values` may take much longer for each of them.
    cells : callable, position → sequence of n_rows or None, optional
        A few rows of a column as objects of Python, None or NaN for a missing value; None if it
        is faster to read the column.
    type_of : callable, position → str, optional
        The type of a column, by which `wrap` of the same library makes it again: the library, a
        colon, and how the library spells the type. "" if any other type would do.
    has_names : bool, default True
        False if the columns have only positions: those of a plain array or of a bare `Column`.
    uncoded : Table, optional
        The table that `coded_once` was called on.
    """

    names: tuple[Hashable, ...]
    n_rows: int
    is_encodable: Callable[[int], bool]
    read: Callable[[int], Column | Values]
    values: Callable[[int], AnyArray]
    library: str = "numpy"
    source: Any = None
    block: Callable[[Sequence[int]], AnyArray | None] = lambda positions: None
    cells: Callable[[int], Sequence[Any] | None] = lambda position: None
    type_of: Callable[[int], str] = lambda position: ""
    has_names: bool = True
    uncoded: Table | None = None

    @cached_property
    def encodable(self) -> tuple[bool, ...]:
        """For each column, whether it is encoded where nobody says which."""
        return tuple(map(self.is_encodable, range(len(self.names))))

    def position(self, name: Hashable) -> int:
        """Return where the one column of this name is.

        Raises
        ------
        ValueError
            No column has the name, or several have.
        """
        return column_position(self.names, name)

    def numbers(self, position: int) -> AnyArray | None:
        """Return a column of Booleans, integers or floats, NaN where a value is missing.

        A missing value turns integers and Booleans into float64. None for a column of another type.
        """
        if self.uncoded is not None:
            return self.uncoded.numbers(position)
        column = self.read(position)
        numbers = column.numbers() if isinstance(column, Values) else None
        if numbers is None and self.library == "numpy" and not self.is_encodable(position):
            return _numbers_of_list(self.values(position))
        if numbers is None and ":Sparse[" in self.type_of(position):
            dense = self.values(position)
            return dense if dense.dtype.kind in "biuf" else None
        return numbers

    def coded_once(self) -> Table:
        """Return the table for `fit` and `transform` in one: no value is hashed a second time."""
        coded = cache(lambda position: self.read(position).encode())
        return replace(self, read=coded, cells=lambda position: None, uncoded=self)


def column_position(names: Sequence[Hashable], name: Hashable) -> int:
    """Return where the one column of a name is; see `Table.position`."""
    positions = [i for i, other in enumerate(names) if other == name]
    if len(positions) == 1:
        return positions[0]
    if positions:
        raise ValueError(
            f"the table has {len(positions)} columns named {name!r}: rename all but one of them"
        )
    hint = did_you_mean(name, names)
    some = ", ".join(map(repr, names[:MANY_NAMES])) + (", …" if len(names) > MANY_NAMES else "")
    raise ValueError(
        f"the table has no column {name!r}{f':{hint}' if hint else ';'} its columns are [{some}]"
    )


def read_table(table: Any) -> Table:
    """Return any supported table as a `Table`, without reading a column.

    Parameters
    ----------
    table : ndarray, mapping, list of mappings, Column, or a table of a library with an integration
        A structured array or a mapping from names to columns has those names. A list of mappings is
        a list of records, one for each row; a mapping whose values are all scalars is one record. A
        key that a record lacks is missing there. The columns of a
        plain array of shape (n_rows, n_columns) are named "x0", "x1", ..., as is the only column
        of an array of shape (n_rows,) and a bare `Column`. What says that it is an array
        (``__array__``) is one.

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
    >>> table.read(0).encode().codes
    array([0, 1, 0], dtype=int32)
    >>> read_table([{"size": "S"}, {"size": "L", "price": 2.5}]).values(1)
    array([None, 2.5], dtype=object)
    """
    if isinstance(table, Table):
        return table
    library = reader_of(table)
    if library is not None:
        read: Table = integration(library).read_table(table)
        return read
    if engine_of(table) is not None:
        raise TypeError(
            f"{with_article(table)} is a table in parts, which fit, partial_fit, transform and"
            " inverse_transform of an Encoder take: for this, take one part or collect it first"
        )
    if hasattr(table, "tocoo"):
        raise TypeError(f"{with_article(table)} is not a table: sparse input is not supported")
    if isinstance(table, Mapping):
        is_record = table and all(map(_is_scalar, table.values()))
        return _records_table([table]) if is_record else _mapping_table(table)
    if isinstance(table, list) and table and all(isinstance(row, Mapping) for row in table):
        return _records_table(table)
    if isinstance(table, Column):
        return _array_table(["x0"], [table], table, has_names=False)
    if hasattr(table, "__array__"):
        return _ndarray_table(np.asarray(table))
    hint = " (np.array(rows, object) is one, and so is a list of records: at least one dict)"
    raise TypeError(
        f"{with_article(table)} is not a table{hint if isinstance(table, list) else ''}; accepted"
        " are a mapping from names to columns, an ndarray of one or two dimensions or of a"
        f" structured dtype, a Column, and a table of {', '.join(READERS)}"
    )


def _mapping_table(table: Mapping[Hashable, Any]) -> Table:
    """Return a mapping from names to columns."""
    columns = list(table.values())
    scalars = [name for name, column in table.items() if _is_scalar(column)]
    if scalars:
        name = scalars[0]
        raise TypeError(
            f"the values of {', '.join(map(repr, scalars))} are scalars, expected columns as the"
            f" other values are; of one row, such a column is [{shown(table[name])}]"
        )
    lengths = {name: len(column) for name, column in table.items()}
    if len({*lengths.values()}) > 1:
        raise ValueError(f"the columns differ in length: {lengths!r}")
    return _array_table(list(table), columns, table)


def _records_table(records: Sequence[Mapping[Hashable, Any]]) -> Table:
    """Return records, whose keys become columns in the order in which they appear."""
    names = list(dict.fromkeys(chain.from_iterable(records)))
    columns = [[record.get(name) for record in records] for name in names]
    return _array_table(names, columns, records, len(records))


def _is_scalar(value: Any) -> bool:
    """Tell whether a value of a mapping is one value rather than a column."""
    if isinstance(value, str | bytes):
        return True
    try:
        len(value)
    except TypeError:
        return True
    return False


def _ndarray_table(table: AnyArray) -> Table:
    """Return an array of rows; nothing but its fields tells its columns apart."""
    if table.dtype.names is not None and table.ndim == 1:
        fields = [table[name] for name in table.dtype.names]
        return _array_table(list(table.dtype.names), fields, table)
    if table.ndim not in (1, 2):
        raise ValueError(f"the table has shape {table.shape}; accepted are one or two dimensions")
    rows = table[:, np.newaxis] if table.ndim == 1 else table
    columns = [rows[:, i] for i in range(rows.shape[1])]
    names = [f"x{i}" for i in range(len(columns))]
    return _array_table(names, columns, table, len(table), has_names=False)


def _array_table(
    names: Sequence[Hashable],
    columns: Sequence[Any],
    source: Any,
    n_rows: int | None = None,
    *,
    has_names: bool = True,
) -> Table:
    """Return a table of these columns; without names, each of them is encodable."""
    if n_rows is None:
        n_rows = len(columns[0]) if columns else 0
    return Table(
        tuple(names),
        n_rows,
        lambda i: not has_names or _is_encodable(columns[i]),
        lambda i: read_values(columns[i]),
        lambda i: as_values(columns[i]),
        source=source,
        cells=lambda i: columns[i] if isinstance(columns[i], list | tuple) else None,
        type_of=lambda i: _type_of(columns[i]),
        has_names=has_names,
    )


def _type_of(column: Any) -> str:
    """Return the type of an array of numbers, Booleans or times."""
    is_native = isinstance(column, np.ndarray) and column.dtype.kind in "biufmM"
    return f"numpy:{column.dtype.name}" if is_native else ""


def _numbers_of_list(values: AnyArray) -> AnyArray | None:
    """Return the numbers of a list, None where it holds something else, such as decimals."""
    if values.dtype != object:
        return None
    numbers = np.array([math.nan if is_missing(value) else value for value in values.tolist()])
    return numbers if numbers.dtype.kind in "biuf" else None


def _is_encodable(column: Any) -> bool:
    """Tell whether a column is encoded where nobody says which; numbers are not."""
    if isinstance(column, list | tuple):
        return not all(isinstance(value, NUMBERS) for value in column)
    dtype = getattr(column, "dtype", None)
    return dtype is None or getattr(dtype, "kind", "O") in "OSUT"
