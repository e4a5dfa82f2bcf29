"""One encoded column in each form that Arrow has for it; no type depends on the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._arguments import shapes
from onehot_fast._categories.keys import title
from onehot_fast._categories.schema import ColumnSchema, Schema, Special, check_names
from onehot_fast._encode import outputs
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import dispatch, memory, parallel
from onehot_fast.integrations.arrow import buffers
from onehot_fast.integrations.arrow.values import common_values

__all__ = ["LAYOUTS", "Form", "Layout", "block", "element", "feature_fields", "form_of", "labels"]

Layout: TypeAlias = Literal["columns", "struct", "fixed_size_list", "tensor", "dictionary"]
LAYOUTS: tuple[Layout, ...] = ("columns", "struct", "fixed_size_list", "tensor", "dictionary")


class Form(NamedTuple):
    """The type of an encoded column, and what makes it of the codes of this column alone."""

    type: pa.DataType
    build: Callable[[Coded], pa.Array]


def block(coded: Coded, first: int, stop: int) -> list[pa.Array]:
    """Return the outputs of consecutive columns of one dtype; Booleans are bits."""
    starts = coded.schema.starts
    if coded.schema.columns[first].options.dtype != np.bool_:
        return buffers.columns(_native(outputs.block(coded, first, stop)))
    shape = starts[stop] - starts[first], -(-coded.n_rows // 8)
    shapes.check_size(shape, np.uint8)
    bits, _ = memory.allocate(shape, np.dtype(np.uint8))
    for at in range(first, stop):
        part = bits[starts[at] - starts[first] : starts[at + 1] - starts[first]]
        threads = parallel.resolve(None, part.nbytes)
        dispatch.encode_bits(coded.codes[at], coded.tables[at], part, threads, first=starts[at])
    return buffers.bit_columns(bits, coded.n_rows)


def feature_fields(column: ColumnSchema) -> list[pa.Field]:
    """Return the fields of the outputs of a column, of which none is ever null."""
    check_names(Schema((column,)))
    kind = buffers.arrow_type(element(column, "columns"))
    return [pa.field(name, kind, nullable=False) for name in column.names]


def element(column: ColumnSchema, layout: Layout) -> np.dtype[Any]:
    """Return the dtype of the outputs: Booleans that are no columns are bytes, of 0 and 1.

    The bits of a row would not begin with a byte, and NumPy and DLPack know no bits.
    """
    dtype = column.options.dtype.newbyteorder("=")
    is_wide = layout in ("tensor", "fixed_size_list")
    return np.dtype(np.uint8) if is_wide and dtype == np.bool_ else dtype


def form_of(column: ColumnSchema, layout: Layout) -> Form:
    """Return how a column is encoded where its outputs are one column."""
    if layout == "dictionary":
        return _dictionary(column)
    if layout == "struct":
        fields = feature_fields(column)
        return Form(
            pa.struct(fields),
            lambda coded: buffers.struct(block(coded, 0, 1), fields, coded.n_rows),
        )
    kind, width = buffers.arrow_type(element(column, layout)), len(column.labels)
    if layout == "tensor":
        return Form(
            pa.fixed_shape_tensor(kind, [width]), lambda coded: buffers.tensors(matrix(coded))
        )
    return Form(pa.list_(kind, width), lambda coded: buffers.fixed_size_lists(matrix(coded)))


def matrix(coded: Coded) -> npt.NDArray[Any]:
    """Return the row-major matrix of numbers."""
    found = _native(outputs.matrix(coded))
    return found.view(np.uint8) if found.dtype == np.bool_ else found


def labels(column: ColumnSchema) -> pa.Array:
    """Return what each output of a column stands for, as the values of a dictionary.

    Where one of them is no category, or no type holds all categories, they are texts: what the
    names of the outputs say after the prefix.
    """
    if not column.specials:
        try:
            return common_values(column.labels, f"column {column.name!r}")
        except TypeError:
            pass
    texts = [f"({one.value})" if isinstance(one, Special) else title(one) for one in column.labels]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(f"column {column.name!r}: two values of the dictionary would be {twice!r}")
    return pa.array(texts, pa.string())


def _dictionary(column: ColumnSchema) -> Form:
    """Return how a column becomes indices of its outputs; a row that is all off is null."""
    values = labels(column)
    narrow = next(d for d in (np.int8, np.int16, np.int32) if len(values) <= np.iinfo(d).max)
    kind = pa.dictionary(pa.from_numpy_dtype(narrow), values.type)

    def build(coded: Coded) -> pa.Array:
        codes, table = coded.codes[0], coded.tables[0]
        places = dispatch.recode(codes, table, parallel.resolve(None, 4 * len(codes)))
        return pa.DictionaryArray.from_arrays(buffers.indices(places, narrow), values, safe=False)

    return Form(kind, build)


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values in native byte order, the only one that Arrow's arrays have here."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)
