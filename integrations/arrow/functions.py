"""One-hot encoding inside pyarrow's own pipelines: a compute function, and expressions that use it.

The function takes the position of a category, so that one type of input is enough: pyarrow casts no
argument of a function in Python. What turns values into positions is pyarrow's ``index_in``.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast import Encoder
from onehot_fast.adapter import CodedColumn, ColumnSchema, checks, lookup

from ._read import read_integers
from ._values import comparable_values
from ._write import nested

__all__ = ["expression", "register"]

FunctionLayout: TypeAlias = Literal["tensor", "array", "struct"]
FUNCTION_LAYOUTS: tuple[FunctionLayout, ...] = ("tensor", "array", "struct")

# The digest of each function by its name. They cannot be taken out of pyarrow's registry again.
_registered: dict[str, str] = {}
_lock = threading.Lock()


def register(
    encoder: Any, name: str | None = None, *, column: Any = None, layout: FunctionLayout = "tensor"
) -> str:
    """Make the encoding of a column a compute function of pyarrow.

    The function takes int32 (an array, chunks or a scalar), and no values: the position of a
    category among ``encoder.categories[column]``, the number of these for an unknown value, null
    for a missing one. `expression` writes the call that turns values into positions.

    Parameters
    ----------
    encoder : Encoder, or sequence of scalars or Array
        Fitted; or the categories, with which all else is off and the elements are uint8.
    name : str, optional
        By default one that tells what the function does, "onehot_fast.<digest>".
    column : column name, optional
        The one whose outputs the function makes, if the encoder has several.
    layout : {"tensor", "array", "struct"}, default "tensor"
        See `encode`.

    Returns
    -------
    str
        The name, for ``pyarrow.compute.call_function``.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        An argument is of the wrong kind, or the dtype has no type in Arrow.
    ValueError
        A function of this name does something else; the encoder has several columns, or none of
        the name given. The function itself raises it where the encoder refuses a value.

    Notes
    -----
    A second call for the same function returns the same name. pyarrow keeps the function, and so
    the categories, until the process ends.

    Examples
    --------
    >>> name = register(["S", "M", "L"])
    >>> name == register(["S", "M", "L"])
    True
    >>> pc.call_function(name, [pa.array([2, None], pa.int32())]).to_numpy_ndarray()
    array([[0, 0, 1],
           [0, 0, 0]], dtype=uint8)
    """
    checks.check_choice(layout, "layout", FUNCTION_LAYOUTS)
    if not isinstance(name, str | None):
        raise TypeError(f"name must be a str, got {name!r}")
    function = _Function(_column(encoder, column), layout)
    name = f"onehot_fast.{function.digest}" if name is None else name
    with _lock:
        if _registered.get(name) == function.digest:
            return name
        if name in _registered or name in pc.list_functions():
            raise ValueError(f"name = {name!r} is that of another compute function")
        pc.register_scalar_function(
            function, name, DOCUMENTATION, {"category": pa.int32()}, function.type
        )
        _registered[name] = function.digest
    return name


def expression(
    encoder: Any, field: Any, *, column: Any = None, layout: FunctionLayout = "tensor"
) -> pc.Expression:
    """Return the expression that encodes a field, for scanners, filters, and Acero's plans.

    Parameters
    ----------
    encoder, column, layout
        As for `register`; `column` is by default that of the field's name, if there is one.
    field : str or Expression
        Of any type that ``cast`` brings to that of the categories: texts, dictionaries of texts and
        views for texts, all numbers for numbers. The cast is checked: a number or time that it
        would change is an error.

    Returns
    -------
    pyarrow.compute.Expression
        Of a "struct" ``pyarrow.compute.struct_field`` takes one output.

    Raises
    ------
    RuntimeError, TypeError, ValueError
        As for `register`; the categories have no common type.

    Examples
    --------
    >>> import pyarrow.dataset as ds
    >>> from onehot_fast import Encoder
    >>> table = pa.table({"size": ["S", "L", "S"], "price": [1, 3, 2]})
    >>> encoder = Encoder().fit(table)
    >>> tensors = ds.dataset(table).to_table({"size": expression(encoder, "size")})
    >>> tensors["size"].combine_chunks().to_numpy_ndarray()
    array([[0, 1],
           [1, 0],
           [0, 1]], dtype=uint8)
    >>> is_small = pc.struct_field(expression(encoder, "size", layout="struct"), ["size_S"])
    >>> table.filter(is_small)["price"].to_pylist()
    [1, 2]
    """
    if column is None and isinstance(encoder, Encoder) and isinstance(field, str):
        column = field if field in (encoder.columns or ()) else None
    if not isinstance(field, str | pc.Expression):
        raise TypeError(f"field is {checks.with_article(field)}; accepted are str and Expression")
    values = pc.field(field) if isinstance(field, str) else field
    position = _category_position(_column(encoder, column), values)
    name = register(encoder, column=column, layout=layout)
    return pc.Expression._call(name, [position])


def _category_position(column: ColumnSchema, field: pc.Expression) -> pc.Expression:
    """Return the position of each value among the categories, as `register` describes it."""
    known = comparable_values(column.categories, f"column {column.name!r}")
    missing, unknown = pa.scalar(None, pa.int32()), pa.scalar(len(known), pa.int32())
    if not len(known):  # nor a type, to which the field could be cast
        return pc.if_else(field.is_null(nan_is_null=True), missing, unknown)
    values = field.cast(known.type)
    if pa.types.is_floating(known.type):
        values = values + pa.scalar(0.0, known.type)  # index_in tells -0.0 from 0.0
    position = pc.Expression._call("index_in", [values], pc.SetLookupOptions(value_set=known))
    if not _tells_unknown(column):
        return position
    # What is missing and what is unknown has no position: only the value itself tells them apart.
    present = pc.coalesce(position, unknown)
    return pc.if_else(values.is_null(nan_is_null=True), missing, present)


DOCUMENTATION = {
    "summary": "One-hot encode positions of categories",
    "description": "See onehot_fast.integrations.arrow.register.",
}


class _Function:
    """What pyarrow calls: positions of categories in, one-hot rows out."""

    def __init__(self, column: ColumnSchema, layout: FunctionLayout) -> None:
        self._column = column
        self._type, self._write = nested(column, layout)
        outputs = column.outputs_of(column.known)
        self._lut = np.insert(outputs, -1, column.unknown_output).astype(np.int32)
        rules = column.options.handle_missing, column.options.handle_unknown
        names = column.names if layout == "struct" else None
        meaning = repr((column.name, rules, self._lut.tolist(), names, str(self._type)))
        self.digest = hashlib.sha256(meaning.encode()).hexdigest()[:16]

    @property
    def type(self) -> pa.DataType:
        """The type of the output."""
        return self._type

    def __call__(self, context: Any, positions: pa.Array) -> pa.Array:
        """Return the rows of a batch; pyarrow itself would not see if there were too few."""
        codes = read_integers(positions)
        if len(codes) != context.batch_length:
            raise ValueError(
                f"{len(codes)} positions came in a batch of {context.batch_length} rows"
            )
        self._check(codes)
        is_nan = self._column.propagates_missing
        n_outputs = self._column.n_outputs
        return self._write(CodedColumn(codes, self._lut, n_outputs, nan_where_missing=is_nan))

    def _check(self, codes: npt.NDArray[Any]) -> None:
        """Refuse what is no position of a category, and what the encoder refuses."""
        column, n_known = self._column, len(self._lut) - 2
        if column.options.handle_missing == "error":
            lookup.check_no_missing(column.name, codes)
        largest = int(codes.max()) if len(codes) else -1
        if largest > n_known:
            raise ValueError(f"category = {largest} is outside [0, {n_known}]")
        if largest == n_known and column.options.handle_unknown == "error":
            row = int(np.argmax(codes))
            raise ValueError(
                f"column {column.name!r}, row {row} of a batch: the value is unknown;"
                " handle_unknown='ignore' (or 'indicator', 'infrequent') accepts it"
            )


def _column(encoder: Any, column: Any) -> ColumnSchema:
    if not isinstance(encoder, Encoder):
        if column is not None:
            raise TypeError(f"column = {column!r} is given without an Encoder that could have it")
        is_arrow = isinstance(encoder, pa.Array | pa.ChunkedArray)
        return ColumnSchema.declared(
            encoder.to_pylist() if is_arrow else encoder, np.dtype(np.uint8)
        )
    columns = {schema.name: schema for schema in encoder.schema.columns}
    if column is None:
        if len(columns) != 1:
            raise ValueError(f"column= must name one of the encoder's columns: {list(columns)!r}")
        return next(iter(columns.values()))
    if column not in columns:
        raise ValueError(f"column = {column!r} is none of the encoder's: {list(columns)!r}")
    return columns[column]


def _tells_unknown(column: ColumnSchema) -> bool:
    """Tell whether an unknown value and a missing one are not encoded alike."""
    options = column.options
    return (
        options.handle_unknown == "error"
        or options.handle_missing == "error"
        or column.propagates_missing
        or column.unknown_output != column.missing_output
    )
