"""Tables of named columns, which are read only when they are needed."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, compress
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, is_array_like, is_container, unwrapped
from onehot_fast._arguments.messages import did_you_mean, shown, with_article
from onehot_fast._categories import ragged
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import is_missing, name_keys
from onehot_fast._categories.ragged import RaggedColumn
from onehot_fast._categories.values import Values, as_values, read_column
from onehot_fast._runtime.registry import READERS, engine_of, integration, reader_of

__all__ = ["Table", "column_position", "column_positions", "read_table"]

AnyArray: TypeAlias = npt.NDArray[Any]
# A column as it was read: codes, plain values, or any number of labels in each row.
ReadColumn: TypeAlias = Column | Values | RaggedColumn

# The types in a list of numbers or Booleans; None is a missing value.
NUMBERS = (numbers.Number, np.bool_, type(None))

# The most common types of a column of a mapping, which need no conversion.
PLAIN_COLUMNS = frozenset({list, tuple, np.ndarray})

# The most common types of a value of a record.
PLAIN_SCALARS = frozenset({str, bytes, int, float, bool, type(None)})
# `dict` comes first: asking an abstract class takes a microsecond.
MAPPINGS = (dict, Mapping)

# The maximum number of columns that an error message lists.
MANY_NAMES = 20


class Table(ABC):
    """A table of named columns, which are read only when needed; each integration has a subclass.

    Parameters
    ----------
    names : sequence of hashable
        The name of each column, in order; names may repeat.
    n_rows : int
        The length of every column.
    source : object, optional
        The user's table, which is passed to ``wrap``. The core does not use it.
    """

    # The name of the integration that wraps results.
    library = "numpy"
    # False if the columns have no names: in a plain array or a bare `Column`.
    has_names = True
    # The frame that wraps `source`, e.g. a frame of narwhals, or None.
    owner: Any = None
    # The columns read so far by their position, and by their separator if they have labels, if
    # `coded_once` returned the table.
    _coded: dict[Hashable, Any] | None = None

    def __init__(self, names: Iterable[Hashable], n_rows: int, source: Any = None) -> None:
        self.names: tuple[Hashable, ...] = tuple(names)
        self.n_rows = n_rows
        self.source = source

    @abstractmethod
    def is_encodable(self, position: int) -> bool:
        """Tell whether a column is encoded by default.

        Strings, objects and declared categories are encoded; numbers and Booleans are not.
        """

    @abstractmethod
    def read_column(self, position: int) -> Column | Values:
        """Return a column as a `Column` if it stores codes, otherwise as `Values`."""

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return a column whose rows are lists of labels, or None if its rows are single values."""
        return None

    @abstractmethod
    def to_numpy(self, position: int) -> AnyArray:
        """Return a column as an array, to decode it or to copy it to another library's table."""

    def block(self, positions: Sequence[int]) -> AnyArray | None:
        """Return numeric or Boolean columns of one dtype as an array with a row for each column.

        Return None if the dtypes differ, or if calling `values` for each column is as fast.
        """
        return None

    def cells(self, position: int) -> Sequence[Any] | None:
        """Return the values of a column as Python objects, or None if `read` is faster.

        This method is called for tables with few rows. A missing value is None or NaN.
        """
        return None

    def type_of(self, position: int) -> str:
        """Return the type of a column, so that ``wrap`` of the same library can restore it.

        The format is "library:type", e.g. "numpy:int8"; "" if there is no type to restore.
        """
        return ""

    def numbers(self, position: int) -> AnyArray | None:
        """Return a column of Booleans, integers or floats, or None if it has another type.

        Missing values become NaN, which converts integers and Booleans to float64.
        """
        try:
            column = self.read_column(position)
        except (TypeError, ValueError, NotImplementedError):  # a type that cannot be encoded
            return None
        return column.numbers() if isinstance(column, Values) else None

    def check_complete(self, positions: Sequence[int]) -> None:
        """Raise an error if a row lacks one of the columns; only a record can lack one."""
        return

    def check_keys(self, names: Collection[Hashable]) -> None:
        """Raise an error if the rows are records of which none has one of these keys."""
        return

    @property
    def encodable(self) -> tuple[bool, ...]:
        """Whether each column is encoded by default."""
        return tuple(map(self.is_encodable, range(len(self.names))))

    def position(self, name: Hashable) -> int:
        """Return the position of the only column named `name`, or raise a ValueError."""
        return column_position(self.names, name)

    def positions(self, names: Collection[Hashable]) -> list[int]:
        """Return the `position` of each name."""
        return column_positions(self.names, names)

    def column(self, position: int) -> Column | Values:
        """Return a column as `read` does, or its cached codes in a copy made by `coded_once`."""
        column: Column | Values = self._once(position, self.read_column, position)
        return column

    def labels(self, position: int, sep: str | None) -> RaggedColumn:
        """Return a column of lists, or of texts with a separator, as rows of labels.

        Raise TypeError if a row is another value.
        """
        labels: RaggedColumn = self._once(("labels", position, sep), self._labels, position, sep)
        return labels

    def _labels(self, position: int, sep: str | None) -> RaggedColumn:
        lists = self.read_lists(position)
        if lists is not None:
            return lists
        read = self.read_column(position)
        return ragged.all_missing(read) if sep is None else ragged.split_texts(read, sep)

    def labels_or_values(self, position: int, sep: str | None) -> ReadColumn:
        """Return lists, and texts if `sep` is a separator, as labels, and other rows as values."""
        found: ReadColumn | None = self.read_lists(position)
        if found is None:
            found = self.read_column(position)
            found = found if sep is None else ragged.split(found, sep)
        key = ("labels", position, sep) if isinstance(found, RaggedColumn) else position
        column: ReadColumn = self._once(key, lambda: found)
        return column

    def _once(self, key: Hashable, read: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``read(*arguments)``; in a copy made by `coded_once`, with codes, and cached."""
        if self._coded is None:
            return read(*arguments)
        if key not in self._coded:
            self._coded[key] = read(*arguments).encode()
        return self._coded[key]

    def coded_once(self) -> Table:
        """Return a copy that caches the codes, so that `fit` and `transform` hash values once."""
        once = copy(self)
        once._coded = {}
        return once


def column_position(names: Sequence[Hashable], name: Hashable) -> int:
    """Return the position of the only column named `name`, or raise a ValueError."""
    return column_positions(names, [name])[0]


def column_positions(names: Sequence[Hashable], wanted: Collection[Hashable]) -> list[int]:
    """Return the position of the only column with each wanted name, or raise a ValueError.

    Names are equal if their `name_key` is. The time is linear in the number of names.
    """
    keys = name_keys(names)
    position_of = {key: position for position, key in enumerate(keys)}
    counts = Counter(keys) if len(position_of) < len(keys) else {}
    positions = []
    for name, key in zip(wanted, name_keys(wanted), strict=True):
        if counts.get(key, 1) > 1:
            raise ValueError(
                f"the table has {counts[key]} columns named {name!r}: rename all but one of them"
            )
        if key not in position_of:
            raise _absent_column(names, name)
        positions.append(position_of[key])
    return positions


def _absent_column(names: Sequence[Hashable], name: Hashable) -> ValueError:
    """Return the error for a column that a table with these names lacks."""
    hint = did_you_mean(name, names)
    some = ", ".join(map(repr, names[:MANY_NAMES])) + (", …" if len(names) > MANY_NAMES else "")
    return ValueError(
        f"the table has no column {name!r}{f':{hint}' if hint else ';'} its columns are [{some}]"
    )


def read_table(table: Any) -> Table:
    """Return any supported table as a `Table`, without reading a column.

    Parameters
    ----------
    table : ndarray, mapping, list of mappings, Column, or a table of a library with an integration
        A structured array or a mapping from names to columns keeps its names. A list of mappings is
        a list of records, one for each row; a mapping whose values are all scalars is one record.
        If a record lacks a key, its value is missing, and `Table.check_complete` raises an error.
        The columns of a plain array of shape (n_rows, n_columns) are named "x0", "x1", ...; an
        array of shape (n_rows,) and a bare `Column` are one column, "x0". Masked values of an
        array are missing. Objects with ``__array__`` are converted to arrays.

    Returns
    -------
    Table

    Raises
    ------
    TypeError
        The type of `table` is not supported.
    ValueError
        An array has more than two dimensions or none, or the columns of a mapping differ in length.

    Examples
    --------
    >>> table = read_table({"size": ["S", "L", "S"], "price": np.array([1.5, 2.5, 1.0])})
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    >>> table.read_column(0).encode().codes
    array([0, 1, 0], dtype=int32)
    >>> read_table([{"size": "S"}, {"size": "L", "price": 2.5}]).to_numpy(1)
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
            f"{with_article(table)} is split into parts, and only methods of an Encoder accept such"
            " a table: pass one part, or the result of its compute() (Dask) or toPandas() (Spark)"
        )
    if hasattr(table, "tocoo"):
        raise TypeError(
            f"the table must not be sparse, got {with_article(table)}: pass its .toarray()"
        )
    if isinstance(table, MAPPINGS):
        return _mapping_table(table)
    if isinstance(table, list) and table and all(isinstance(row, MAPPINGS) for row in table):
        return _records_table(table)
    if isinstance(table, Column):
        return ArrayTable(["x0"], [table], table, has_names=False)
    if isinstance(table, np.ma.MaskedArray):  # its columns have masks, too
        return _ndarray_table(table)
    if hasattr(table, "__array__"):
        return _ndarray_table(as_array(table, "the table"))
    hint = ""
    if isinstance(table, list):
        hint = " (pass np.array(rows, object), or a list of dicts that is not empty)"
    elif isinstance(table, Iterable) and not isinstance(table, str | bytes):
        hint = " (for records, pass a list of dicts: list(rows))"
    raise TypeError(
        f"{with_article(table)} is not a table{hint}; accepted"
        " are a mapping from names to columns, an ndarray of one or two dimensions or of a"
        f" structured dtype, a Column, and a table of {', '.join(READERS)}"
    )


def _mapping_table(table: Mapping[Hashable, Any]) -> Table:
    """Return the `Table` of a mapping from names to columns, or of one record."""
    scalars = [*compress(table, map(_is_scalar, table.values()))]
    if scalars and len(scalars) == len(table):
        return _records_table([table])
    columns = [
        column if type(column) in PLAIN_COLUMNS else _mapping_column(name, column)
        for name, column in table.items()
    ]
    if scalars:
        name = scalars[0]
        raise TypeError(
            f"the values of {', '.join(map(repr, scalars))} are scalars, but the other values are"
            f" columns; for a table of one row, pass {name!r}: [{shown(table[name])}]"
        )
    lengths = [*map(len, columns)]
    if len({*lengths}) > 1:
        by_name = dict(zip(table, lengths, strict=True))
        raise ValueError(f"all columns must have the same length, got {by_name!r}")
    return ArrayTable(list(table), columns, table)


def _mapping_column(name: Hashable, column: Any) -> Any:
    """Return a column of a mapping, which may be any container, as one that has a length."""
    column = unwrapped(column)
    if _is_scalar(column):  # the caller raises an error, which names all scalars
        return column
    if not isinstance(column, np.ndarray | list | tuple | Column | Values):
        if reader_of(column) is None:
            is_array = is_array_like(column)
            column = as_values(as_array(column, f"column {name!r}") if is_array else column)
        elif not hasattr(column, "__len__"):
            column = read_column(column)
    # Arrays of other libraries that have no length are converted, once.
    return column if hasattr(column, "__len__") else np.asarray(column)


def _records_table(records: Sequence[Mapping[Hashable, Any]]) -> Table:
    """Return the `Table` of records; their keys become columns in order of first appearance."""
    names = list(dict.fromkeys(chain.from_iterable(records)))
    # Not record[name]: a defaultdict would add the key to the user's record.
    columns = [[record.get(name) for record in records] for name in names]
    is_complete = all(len(record) == len(names) for record in records)
    return Records(names, columns, records, is_complete)


def _is_scalar(value: Any) -> bool:
    """Tell whether a value of a mapping is one value rather than a column."""
    if type(value) in PLAIN_SCALARS:  # these types and lists have no protocol to look for
        return True
    if isinstance(value, list | tuple):
        return False
    if isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0:
        return True
    if reader_of(value) is not None and is_container(value):
        return isinstance(unwrapped(value), str | bytes | None)
    if is_array_like(value):
        return False
    try:
        len(value)
    except TypeError:
        # Some arrays of other libraries have no length.
        return not hasattr(value, "__array__") or np.ndim(value) == 0
    return False


def _ndarray_table(table: AnyArray) -> Table:
    """Return the `Table` of an array; only a structured array has names for its columns."""
    if table.dtype.names is not None and table.ndim == 1:
        fields = [table[name] for name in table.dtype.names]
        return ArrayTable(list(table.dtype.names), fields, table)
    if table.ndim not in (1, 2):
        raise ValueError(f"the table must have one or two dimensions, got shape {table.shape}")
    columns = [table] if table.ndim == 1 else [*table.T]
    names = [f"x{i}" for i in range(len(columns))]
    return ArrayTable(names, columns, table, len(table), has_names=False)


class ArrayTable(Table):
    """A table whose columns are arrays, sequences and `Column` objects."""

    def __init__(
        self,
        names: Iterable[Hashable],
        columns: Sequence[Any],
        source: Any,
        n_rows: int | None = None,
        *,
        has_names: bool = True,
    ) -> None:
        if n_rows is None:
            n_rows = len(columns[0]) if columns else 0
        super().__init__(names, n_rows, source)
        self._columns = columns
        self.has_names = has_names

    def is_encodable(self, position: int) -> bool:
        """Tell whether a column is encoded by default.

        If the table has no column names, all columns are encoded by default. Otherwise, columns of
        numbers and Booleans are not, nor are arrays of times.
        """
        column = self._columns[position]
        if ragged.are_lists(column):
            return not ragged.hold_numbers(column)
        if not self.has_names:
            return True
        if isinstance(column, list | tuple):
            return not all(isinstance(value, NUMBERS) for value in column)
        dtype = getattr(column, "dtype", None)
        return dtype is None or getattr(dtype, "kind", "O") in "OSUT"

    def read_column(self, position: int) -> Column | Values:
        """Return a column as a `Column` or as `Values`."""
        return read_column(self._columns[position])

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return lists of labels, or None for a column of other values."""
        return ragged.read_lists(self._columns[position])

    def to_numpy(self, position: int) -> AnyArray:
        """Return a column as an array."""
        return as_values(self._columns[position])

    def cells(self, position: int) -> Sequence[Any] | None:
        """Return a list or tuple unchanged, or None for another column."""
        column = self._columns[position]
        return column if isinstance(column, list | tuple) else None

    def type_of(self, position: int) -> str:
        """Return the dtype of an array, or "" for objects, which need none."""
        column = self._columns[position]
        is_typed = isinstance(column, np.ndarray) and column.dtype.kind in "biufcmMSUT"
        return f"numpy:{_dtype_name(column.dtype)}" if is_typed else ""

    def numbers(self, position: int) -> AnyArray | None:
        """Return an array or list as numbers, or None if its values are not numbers."""
        if ragged.are_lists(self._columns[position]):
            return None
        numbers = super().numbers(position)
        if numbers is not None or self.is_encodable(position):
            return numbers
        values = self.to_numpy(position).tolist()
        found = np.array([math.nan if is_missing(value) else value for value in values])
        return found if found.dtype.kind in "biuf" else None


class Records(ArrayTable):
    """Records; if one lacks a key of others, `fit` reads the value as missing."""

    def __init__(
        self,
        names: Sequence[Hashable],
        columns: Sequence[Any],
        records: Sequence[Mapping[Hashable, Any]],
        is_complete: bool,
    ) -> None:
        super().__init__(names, columns, records, len(records))
        self._is_complete = is_complete

    def check_complete(self, positions: Sequence[int]) -> None:
        """Raise an error for the first record that lacks one of the columns.

        The result must not depend on the records that are encoded in the same call: the column of a
        key that no record has does not exist, which is an error, too.
        """
        if self._is_complete:
            return
        names = [self.names[position] for position in positions]
        for index, record in enumerate(self.source):
            for name in names:
                if name not in record:
                    raise self._lacks(index, name)

    def check_keys(self, names: Collection[Hashable]) -> None:
        """Raise an error for the first of these keys that no record has."""
        keys = {*name_keys(self.names)}
        for name, key in zip(names, name_keys(names), strict=True):
            if key not in keys:
                raise self._lacks(0, name)

    def _lacks(self, index: int, name: Hashable) -> ValueError:
        """Return the error for a record that lacks a key."""
        hint = did_you_mean(name, self.source[index])
        return ValueError(
            f"record {index} lacks the key {name!r}{f':{hint}' if hint else ';'}"
            f" if the value is missing, pass None: {{{name!r}: None, ...}}"
        )


def _dtype_name(dtype: np.dtype[Any]) -> str:
    """Return a name that `decode.dtype_of_name` reads."""
    if dtype.kind == "T":
        return repr(dtype)
    # The name of a string dtype has its size in bits, and no name has a byte order.
    return dtype.name if dtype.isnative and dtype.kind not in "SU" else dtype.str
