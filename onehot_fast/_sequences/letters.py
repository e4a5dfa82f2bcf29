"""Read sequences of any type as runs of letters, in place if possible."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, is_array_like, is_container, unwrapped
from onehot_fast._arguments.indices import as_contiguous
from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.letters import segments_of_arrow, segments_of_texts
from onehot_fast._categories.values import Values
from onehot_fast._kernels.table_rows import Segments
from onehot_fast._runtime.registry import integration, reader_of
from onehot_fast._sequences.coding import N_BYTES

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]


class Letters(NamedTuple):
    """Sequences as runs of letters."""

    shape: tuple[int, ...]  # the shape of the sequences; () for a single sequence
    segments: Segments  # letters of one byte, unless `points` is set
    # Code points of all letters, one sequence after another, if some exceed one byte.
    points: AnyArray | None = None
    is_utf8: bool = False  # whether letters beyond ASCII take several bytes of `segments`
    sources: tuple[AnyArray, ...] = ()  # the memory that is read, if others can write to it


def read(sequences: Any) -> Letters:
    """Return sequences of any supported type as letters, in place if possible."""
    sequences = _content(unwrapped(sequences))
    if isinstance(sequences, str | bytes | bytearray):
        return of_items([sequences], ())
    library = reader_of(sequences)
    if _is_table(sequences):
        raise TypeError(
            f"sequences must be one column, got {with_article(sequences)}: pass table['column']"
            " (collect a lazy frame first)"
        )
    if library is not None:
        return _of_column(integration(library).read_column(sequences))
    if is_array_like(sequences):
        if isinstance(sequences, memoryview) and sequences.format in ("B", "b", "c"):
            return _of_array(np.asarray(sequences).view(np.uint8))
        return _of_array(as_array(sequences, "sequences"))
    if isinstance(sequences, set | frozenset | Mapping) or not is_container(sequences):
        raise TypeError(
            "sequences must be a str, bytes, a sequence of them, an array of strings or of uint8"
            f" character codes, or a column of strings, got {with_article(sequences)}"
        )
    return of_items(list(sequences))


def _is_table(source: Any) -> bool:
    """Tell whether an object is a DataFrame, or a table or record batch of Arrow."""
    return not isinstance(source, np.ndarray) and type(source).__name__ in (
        "DataFrame", "LazyFrame", "RecordBatch", "Table",
    )  # fmt: skip


def _content(item: Any) -> Any:
    """Return the letters of a record of a library of biology, and any other object unchanged.

    Records of pyfaidx and Biopython have the attribute ``seq``, and sequences of Biopython
    have the method ``__bytes__``.
    """
    if isinstance(item, np.ndarray | list | tuple | bytes | str) or reader_of(item) is not None:
        return item
    if isinstance(item, os.PathLike):  # a path has the method as well
        return item
    letters = getattr(item, "seq", item)
    if hasattr(letters, "__bytes__") and not is_array_like(letters):
        return bytes(letters)
    return letters if isinstance(letters, str) else item


def of_items(items: list[Any], shape: tuple[int, ...] | None = None) -> Letters:
    """Return a list of sequences as letters."""
    shape = (len(items),) if shape is None else shape
    if not set(map(type, items)) <= {str, bytes}:
        items = [_as_text(item, i, shape) for i, item in enumerate(items)]
    segments = segments_of_texts(items)
    if segments is not None:
        return Letters(shape, segments)
    texts = [item if isinstance(item, str) else item.decode("latin-1") for item in items]
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, np.dtype("<u4"))
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    return Letters(shape, _placeholder(sizes), points)


def _placeholder(sizes: npt.NDArray[np.int64]) -> Segments:
    """Return segments with the lengths of sequences whose letters are code points."""
    offsets = offsets_of(sizes)
    return Segments.of_flat(np.empty(int(offsets[-1]), np.uint8), offsets)


def offsets_of(sizes: npt.NDArray[np.int64]) -> Offsets:
    """Return the start of each sequence, followed by the end of the last one."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _as_text(item: Any, position: int, shape: tuple[int, ...]) -> str | bytes:
    """Return one sequence as a plain str or bytes."""
    item = _content(unwrapped(item))
    if isinstance(item, str):
        return str.__str__(item) if type(item) is not str else item
    if isinstance(item, bytes | bytearray):
        return bytes(item)
    where = place_of(position, shape)
    if is_array_like(item):
        array = as_array(item, where)
        if array.ndim == 1 and array.dtype.kind in "SU" and _letter_width(array) == 1:
            # NumPy returns the letter NUL as an empty string.
            is_text = array.dtype.kind == "U"
            return "".join(c or "\0" for c in array.tolist()) if is_text else array.tobytes()
        if array.ndim == 1 and array.dtype == np.uint8:
            return array.tobytes()
    raise TypeError(
        f"{where} must be a str or bytes, got {with_article(item)}: {shown(item)}"
        f"{'; fill or remove missing sequences' if _is_absent(item) else ''}"
    )


def _is_absent(item: Any) -> bool:
    """Tell whether an object is a missing value: None, NaN or pandas.NA."""
    return (
        item is None
        or type(item).__name__ in ("NAType", "NaTType")
        or (isinstance(item, float) and math.isnan(item))
    )


def place_of(position: int, shape: tuple[int, ...]) -> str:
    """Return the index expression of a sequence."""
    if not shape:
        return "sequences"
    return f"sequences[{', '.join(map(str, np.unravel_index(position, shape)))}]"


def _of_column(column: Any) -> Letters:
    """Return the column of a library as letters."""
    chunks = column.chunks if isinstance(column, Values) else None
    if chunks is not None and all(isinstance(chunk, Array) for chunk in chunks):
        kinds = {chunk.schema.kind for chunk in chunks}
        if kinds <= {"string", "binary"}:
            row = 0
            for chunk in chunks:
                valid = chunk.valid()
                if valid is not None:
                    raise TypeError(
                        f"{place_of(row + int(np.argmin(valid)), (1 << 62,))} is missing: fill or"
                        " remove missing sequences"
                    )
                row += len(chunk)
            return Letters(
                (row,),
                segments_of_arrow(list(chunks)),
                is_utf8=kinds == {"string"},
                sources=tuple(part for chunk in chunks for part in _chunk_memory(chunk)),
            )
        if all(chunk.schema.format == "C" for chunk in chunks):
            has_missing = any(chunk.valid() is not None for chunk in chunks)
            return _of_codes([chunk.codes() for chunk in chunks], has_missing)
    elif chunks is not None:
        if chunks and all(chunk.dtype == np.uint8 for chunk in chunks):
            has_missing = any(np.ma.getmaskarray(chunk).any() for chunk in chunks)
            return _of_codes([np.ma.getdata(chunk) for chunk in chunks], has_missing)
        return of_items([item for chunk in chunks for item in chunk.tolist()])
    items = column.encode().tolist()
    return of_items(items)


class _Memory:
    """Memory at an address, as an object that NumPy reads without a copy."""

    def __init__(self, address: int, size: int, owner: Array) -> None:
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (size,), "data": (address, True),
        }  # fmt: skip
        self.owner = owner


def _chunk_memory(chunk: Array) -> list[AnyArray]:
    """Return the buffers of an Arrow chunk of checked strings or bytes without nulls."""

    def memory_at(address: Any, size: int) -> AnyArray:
        if not (address and size):
            return np.empty(0, np.uint8)
        return np.asarray(_Memory(address, size, chunk))

    if not len(chunk):
        return []
    # The start and the number of rows; the buffers follow the format, the name, the metadata and
    # three numbers.
    start, n_rows = int(str(chunk.identity[0])), len(chunk)
    code, buffers = chunk.schema.format, chunk.identity[10:-1]
    if code in ("vu", "vz"):
        views = memory_at(buffers[1], 16 * (start + n_rows))
        n_data = len(buffers) - 3
        sizes = memory_at(buffers[-1], 8 * n_data).view(np.int64).tolist()
        data = [memory_at(buffers[2 + i], size) for i, size in enumerate(sizes)]
        return [views, memory_at(buffers[-1], 8 * n_data), *data]
    kind = np.dtype(np.int64 if code in ("U", "Z") else np.int32)
    offsets = memory_at(buffers[1], kind.itemsize * (start + n_rows + 1))
    return [offsets, memory_at(buffers[2], int(offsets.view(kind)[-1]))]


def _of_codes(chunks: list[AnyArray], has_missing: bool) -> Letters:
    """Return a column of character codes as the letters of one sequence."""
    if has_missing:
        raise TypeError("sequences has missing character codes: fill or remove them")
    if not chunks:
        return of_items([""], ())
    return _of_array(np.concatenate(chunks))._replace(sources=tuple(chunks))


def _letter_width(array: AnyArray) -> int:
    """Return how many letters an element of a fixed-width string dtype has."""
    return array.dtype.itemsize // (4 if array.dtype.kind == "U" else 1)


def _of_array(array: AnyArray) -> Letters:
    """Return an array as letters: of sequences, or of single letters along the last axis."""
    kind = array.dtype.kind
    if kind in "OT":
        items = [array[()]] if array.ndim == 0 else array.reshape(-1).tolist()
        return of_items(items, array.shape)
    if kind not in "SU" and array.dtype != np.uint8:
        raise TypeError(
            f"sequences must be strings, bytes or uint8 character codes, got dtype {array.dtype}"
        )
    if kind in "SU" and array.ndim == 0:
        return of_items([array.item()], ())
    if kind in "SU" and _letter_width(array) != 1:
        return _of_fixed(array)
    if array.ndim == 0:
        raise ValueError("sequences must have at least one dimension, the letters, got a scalar")
    shape, n_letters = array.shape[:-1], array.shape[-1]
    letters = as_contiguous(array)
    if kind == "U" and array.size:
        points = _points(letters).reshape(-1)
        return _of_points(shape, points, np.full(math.prod(shape), n_letters, np.int64), array)
    if not array.size:
        letters = np.empty(array.shape, np.uint8)
    matrix = letters.view(np.uint8).reshape(math.prod(shape), n_letters)
    return Letters(shape, Segments.of_matrix(matrix), sources=(array,))


def _points(array: AnyArray) -> npt.NDArray[np.uint32]:
    """Return the code points of a contiguous array of dtype U."""
    return array.view(np.dtype("u4").newbyteorder(array.dtype.byteorder)).astype(
        np.uint32, copy=False
    )


def _of_points(
    shape: tuple[int, ...], points: AnyArray, sizes: npt.NDArray[np.int64], source: AnyArray
) -> Letters:
    """Return code points as letters of one byte if all fit."""
    if points.max(initial=0) < N_BYTES:
        segments = Segments.of_flat(points.astype(np.uint8), offsets_of(sizes))
        return Letters(shape, segments, sources=(source,))
    return Letters(shape, _placeholder(sizes), points, sources=(source,))


def _of_fixed(array: AnyArray) -> Letters:
    """Return an array of dtype S or U, of which each element is a sequence, as letters."""
    flat = as_contiguous(array).reshape(-1)
    width = _letter_width(array)
    if not width or not len(flat):
        return of_items([""] * len(flat), array.shape)
    letters: AnyArray = flat.view(np.uint8) if array.dtype.kind == "S" else _points(flat)
    matrix = letters.reshape(len(flat), width)
    # NumPy fills short strings with NUL, which it therefore does not count at the end.
    is_filled = matrix != 0
    sizes = np.where(is_filled.any(1), width - is_filled[:, ::-1].argmax(1), 0).astype(np.int64)
    if array.dtype.kind == "S" and (sizes == width).all():
        return Letters(array.shape, Segments.of_matrix(matrix), sources=(array,))
    kept = matrix[np.arange(width) < sizes[:, None]]
    return _of_points(array.shape, kept, sizes, array)
