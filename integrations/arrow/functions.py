"""One-hot encode in pyarrow pipelines with a compute function, and expressions that call it.

pyarrow does not cast the arguments of functions written in Python. Therefore the function takes
positions of categories, which pyarrow's ``index_in`` computes from values of any type.
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
from onehot_fast.adapter import (
    OPTIONS,
    CodedColumn,
    ColumnSchema,
    check_choice,
    did_you_mean,
    with_article,
)

from ._read import read_integers
from ._types import fitted_type, layers
from ._values import comparable_values, has_own_values, is_bool8, is_uuid
from ._write import nested

__all__ = ["expression", "register"]

FunctionLayout: TypeAlias = Literal["tensor", "array", "struct"]
FUNCTION_LAYOUTS: tuple[FunctionLayout, ...] = ("tensor", "array", "struct")

# Name → digest of each registered function; pyarrow's registry cannot remove functions.
_registered: dict[str, str] = {}
_lock = threading.Lock()


def register(
    encoder: Any, name: str | None = None, *, column: Any = None, layout: FunctionLayout = "tensor"
) -> str:
    """Register a pyarrow compute function that encodes a column.

    The function takes an array, a chunked array or a scalar of int32 positions. The position of a
    value is its index in ``encoder.categories[column]``. Any other value has the position
    ``len(encoder.categories[column])``, and a missing value is null. `expression` computes the
    positions from values.

    Parameters
    ----------
    encoder : Encoder, or sequence of scalars or Array
        A fitted encoder, or categories. If you pass categories, other values become zeros, and the
        dtype is uint8.
    name : str, optional
        The name of the function; by default "onehot_fast.<digest>", with the same digest for equal
        functions.
    column : column name, optional
        The column to encode; required if the encoder has several columns.
    layout : {"tensor", "array", "struct"}, default "tensor"
        See `encode`.

    Returns
    -------
    str
        The name to pass to ``pyarrow.compute.call_function``.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        An argument has the wrong type, or the dtype has no Arrow type.
    ValueError
        Another function has this name, `column` is not a column of the encoder, or `column` is None
        and the encoder has several columns. The function itself raises ValueError for invalid
        positions, and for a missing or unknown value if the encoder's option for it is "error".

    Notes
    -----
    A second call for the same function returns the same name. pyarrow keeps the function and the
    categories until the process ends.

    Examples
    --------
    >>> name = register(["S", "M", "L"])
    >>> name == register(["S", "M", "L"])
    True
    >>> pc.call_function(name, [pa.array([2, None], pa.int32())]).to_numpy_ndarray()
    array([[0, 0, 1],
           [0, 0, 0]], dtype=uint8)
    """
    check_choice(layout, "layout", FUNCTION_LAYOUTS)
    if not isinstance(name, str | None):
        raise TypeError(f"name must be a str, got {name!r}")
    function = _Function(_column(encoder, column), layout)
    name = f"onehot_fast.{function.digest}" if name is None else name
    with _lock:
        if _registered.get(name) == function.digest:
            return name
        if name in _registered or name in pc.list_functions():
            raise ValueError(f"another compute function is named {name!r}: pass another name")
        pc.register_scalar_function(
            function,
            name,
            {
                "summary": "One-hot encode positions of categories",
                "description": "See onehot_fast.integrations.arrow.register.",
            },
            {"category": pa.int32()},
            function.type,
        )
        _registered[name] = function.digest
    return name


def expression(
    encoder: Any, field: Any, *, column: Any = None, layout: FunctionLayout = "tensor"
) -> pc.Expression:
    """Return an expression that encodes a field, for scanners, filters and Acero plans.

    Parameters
    ----------
    encoder, column, layout
        As for `register`, but the default `column` is the column with the name of the field.
    field : str or Expression
        The name of a field, or an expression. pyarrow must be able to cast the values to the type
        of the categories, e.g. numbers to another number type, or a dictionary or string view to
        strings. A cast that would change a number or a time raises an error.

    Returns
    -------
    pyarrow.compute.Expression
        With layout "struct", ``pyarrow.compute.struct_field`` selects one feature.

    Raises
    ------
    RuntimeError, TypeError, ValueError
        As for `register`. Also TypeError if the categories have no common type.

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
        known = [schema.name for schema in encoder.schema.columns]
        if field not in known and len(known) != 1:
            raise ValueError(
                f"field must be one of the encoder's columns, {known!r}, got {field!r};"
                f"{did_you_mean(field, known)} to encode a field of another name, pass"
                " column="
            )
        column = field if field in known else None
    if not isinstance(field, str | pc.Expression):
        raise TypeError(f"field must be a str or Expression, got {with_article(field)}")
    values = pc.field(field) if isinstance(field, str) else field
    position = _category_position(_column(encoder, column), values)
    name = register(encoder, column=column, layout=layout)
    return pc.Expression._call(name, [position])


def _category_position(column: ColumnSchema, field: pc.Expression) -> pc.Expression:
    """Return an expression that converts values to the positions that `register` describes."""
    known = comparable_values(column.categories, f"column {column.name!r}")
    missing, unknown = pa.scalar(None, pa.int32()), pa.scalar(len(known), pa.int32())
    if not len(known):  # there is no type to cast the field to
        return pc.if_else(field.is_null(nan_is_null=True), missing, unknown)
    known = known.storage if is_uuid(known.type) else known  # pyarrow compares what they store
    values = _comparable_field(column, field).cast(known.type)
    if pa.types.is_floating(known.type):
        values = values + pa.scalar(0.0, known.type)  # index_in distinguishes -0.0 from 0.0
    position = pc.Expression._call("index_in", [values], pc.SetLookupOptions(value_set=known))
    # Missing and unknown values both have a null position; only the values tell them apart.
    present = pc.coalesce(position, unknown)
    return pc.if_else(values.is_null(nan_is_null=True), missing, present)


def _comparable_field(column: ColumnSchema, field: pc.Expression) -> pc.Expression:
    """Return a field whose stored values can be compared, if it has the type that `fit` saw.

    pyarrow casts what an extension type stores. Raise TypeError if its values differ from that.
    """
    kind = fitted_type(column)
    for layer in () if kind is None else layers(kind):
        if is_bool8(layer):
            return field.cast(pa.bool_())
        if has_own_values(layer) and not is_uuid(layer):
            raise TypeError(
                f"column {column.name!r} had the Arrow type {layer} in fit, whose values differ"
                " from what it stores, so pyarrow cannot compare them: use Encoder.transform or"
                " arrow.encode"
            )
    return field


class _Function:
    """A compute function that takes positions of categories and returns one-hot rows."""

    def __init__(self, column: ColumnSchema, layout: FunctionLayout) -> None:
        self._column = column
        self.type, self._write = nested(column, layout)
        outputs = column.features_of(column.known)
        self._lut = np.insert(outputs, -1, column.unknown_feature).astype(np.int32)
        rules = column.options.handle_missing, column.options.handle_unknown
        names = column.names if layout == "struct" else None
        meaning = repr((column.name, rules, self._lut.tolist(), names, str(self.type)))
        self.digest = hashlib.sha256(meaning.encode()).hexdigest()[:16]

    def __call__(self, context: Any, positions: pa.Array) -> pa.Array:
        """Return the encoded rows; check the number of positions, because pyarrow does not."""
        codes = read_integers(positions)
        if len(codes) != context.batch_length:
            raise ValueError(
                f"there must be one position per row of the batch ({context.batch_length}), got"
                f" {len(codes)}"
            )
        self._check(codes)
        is_nan = self._column.propagates_missing
        n_features = self._column.n_features
        return self._write(CodedColumn(codes, self._lut, n_features, nan_where_missing=is_nan))

    def _check(self, codes: npt.NDArray[Any]) -> None:
        """Raise ValueError for invalid positions, and for values that the options do not allow."""
        column, n_known = self._column, len(self._lut) - 2
        if column.options.handle_missing == "error" and len(codes) and codes.min() < 0:
            raise ValueError(
                f"column {column.name!r}, row {np.argmax(codes < 0)}: the value is"
                f" missing; use {OPTIONS['handle_missing'].instead_of_error()}"
            )
        largest = int(codes.max()) if len(codes) else -1
        if largest > n_known:
            raise ValueError(f"positions must be in [0, {n_known}], got {largest}")
        if largest == n_known and column.options.handle_unknown == "error":
            row = int(np.argmax(codes))
            raise ValueError(
                f"column {column.name!r}, row {row} of a batch: the value is unknown; use"
                " handle_unknown='ignore' to encode it as zeros"
            )


def _column(encoder: Any, column: Any) -> ColumnSchema:
    if not isinstance(encoder, Encoder):
        if column is not None:
            raise TypeError(f"column can only be given with an Encoder, got column={column!r}")
        return ColumnSchema.declared(encoder, np.dtype(np.uint8))
    encoder.schema.check_plain("an expression of Arrow")
    columns = {schema.name: schema for schema in encoder.schema.columns}
    if column is None and len(columns) == 1:
        return next(iter(columns.values()))
    if column is None or column not in columns:
        raise ValueError(
            f"column must be one of the encoder's columns, {list(columns)!r}, got {column!r}"
        )
    return columns[column]
