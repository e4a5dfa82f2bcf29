"""The dispatch layer: it maps the dtype of an array to a fused type of a kernel.

Other modules call kernels through this module, except those of `implicit` and `table_rows`, which
have no fused border. A kernel of one column is a fused `def` over
memoryviews, which Cython compiles once for each type. The tables below hold these specialisations,
so a call looks up a dtype once. Cython's own dispatch would try one type after another in each
call, which takes 0.4 us. `rows.pyx` describes the design of the kernels.

The arrays are C-contiguous and in native byte order. Kernels do not know the dtype of a result:
they get the bytes of its memory, and copy the bytes of elements.

NumPy keeps the format of a memoryview in the array. In a Python without the GIL, old versions of
NumPy do so without a lock, so kernels get new views of arrays that other threads may use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import code_columns, planes, rows
from onehot_fast._kernels.code_columns import INDEX_DTYPES, bytes_of
from onehot_fast._kernels.simd import get_stream_bytes, stream_fill

if TYPE_CHECKING:
    from onehot_fast._kernels import decode as decoding
    from onehot_fast._kernels import ones, ragged, scan, sparse

__all__ = [
    "INDEX_DTYPES", "count", "count_ones", "count_rows", "csc", "csr", "csr_ragged", "decode",
    "decode_bits", "encode", "encode_bits", "encode_block", "encode_integers", "encode_matrix",
    "encode_ragged", "find_ones", "first_invalid", "get_stream_bytes", "multi_hot_count",
    "multi_hot_csr", "pack", "recode", "stream_fill", "transpose", "write_planes",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]
Lut: TypeAlias = npt.NDArray[np.int32]
Offsets: TypeAlias = npt.NDArray[np.int64]
CNames: TypeAlias = dict[np.dtype[Any], str]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# The C name of each dtype, by which Cython names the specialisation. Codes are integers; indices
# may also be floats.
_CODES: CNames = {
    np.dtype(np.int8): "int8_t",
    np.dtype(np.int16): "int16_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.int64): "int64_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.uint32): "uint32_t",
    np.dtype(np.uint64): "uint64_t",
}
_INDICES: CNames = _CODES | {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
# The positions of a sparse matrix, and the unsigned integers as which `decode` compares elements.
_POSITIONS: CNames = {np.dtype(np.int32): "int32_t", np.dtype(np.int64): "int64_t"}
_WORDS = {dtype: c_name for dtype, c_name in _CODES.items() if dtype.kind == "u"}
_WIDE_WORDS = {dtype: c_name for dtype, c_name in _WORDS.items() if dtype.itemsize >= 4}
_WORD_OF_WIDTH = {dtype.itemsize: dtype for dtype in _WORDS}


class _Module:
    """A module of kernels that is imported when the first of them is needed.

    `import onehot_fast` needs only the kernels of `one_hot`; all of them would take a third more.
    """

    def __init__(self, name: str) -> None:
        self._name = f"onehot_fast._kernels.{name}"

    def __getattr__(self, kernel: str) -> Any:
        found = self.__dict__[kernel] = getattr(import_module(self._name), kernel)
        return found


if not TYPE_CHECKING:  # a type checker reads the stubs
    decoding, ones, ragged, scan, sparse = map(
        _Module, ("decode", "ones", "ragged", "scan", "sparse")
    )


class _Specialisations(dict[np.dtype[Any], Kernel], Generic[Kernel]):
    """The specialisations of a kernel, by dtype; each is found at its first use.

    Its stub shows the signature that all specialisations have.
    """

    def __init__(self, find: Callable[[], Kernel], c_names: CNames) -> None:
        self._find, self._c_names = find, c_names

    def __missing__(self, dtype: np.dtype[Any]) -> Kernel:
        if dtype not in self._c_names:
            known = ", ".join(map(str, self._c_names))
            raise ValueError(f"the dtype must be one of {known}, got {dtype}")
        fused: Any = self._find()
        kernel: Kernel = fused[self._c_names[dtype]]
        self[dtype] = kernel
        return kernel


_count = _Specialisations(lambda: scan.count, _CODES)
_csc = _Specialisations(lambda: sparse.csc, _POSITIONS)
_count_rows = _Specialisations(lambda: ragged.count_rows, _CODES)
_csr = _Specialisations(lambda: sparse.csr, _POSITIONS)
_decode = _Specialisations(lambda: decoding.decode, _WORDS)
_encode = _Specialisations(lambda: rows.encode, _INDICES)
_encode_integers = _Specialisations(lambda: rows.encode_integers, _CODES)
_encode_bits = _Specialisations(lambda: planes.encode_bits, _CODES)
_encode_block = _Specialisations(lambda: planes.encode_block, _CODES)
_first_invalid = _Specialisations(lambda: scan.first_invalid, _INDICES)
_multi_hot_count = _Specialisations(lambda: ragged.multi_hot_count, _INDICES)  # of the result
_multi_hot_csr = _Specialisations(lambda: ragged.csr, _CODES)
_recode = _Specialisations(lambda: code_columns.recode, _CODES)
_transpose = _Specialisations(lambda: ragged.transpose, _CODES)

_pack = _Specialisations(lambda: code_columns.pack, _WIDE_WORDS)


def _view_of(lut: Lut | None) -> Lut | None:
    """Return a new view of a look-up table, which a schema shares between threads."""
    return None if lut is None else lut.view()


def encode(
    indices: AnyArray,
    out: AnyArray,
    depth: int,
    inner: int,
    on: AnyArray,
    off: AnyArray,
    wrap: bool = False,
    ignore_index: int | None = None,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Write the one-hot encoding of the indices to `out`, of shape (outer, depth, inner)."""
    kernel = _encode[indices.dtype]
    flat, cells = indices.ravel(), bytes_of(out)  # a new view, also of a vector
    kernel(flat, cells, depth, inner, on, off, wrap, ignore_index, num_threads, zeroed)


def encode_integers(
    integers: AnyArray,
    lut: Lut,
    low: int,
    values: npt.NDArray[np.uint64] | None,
    out: AnyArray,
    depth: int,
    inner: int,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
    zeroed: bool = False,
) -> bool:
    """Write the one-hot encoding of the classes of integers to `out`; see `rows.encode_integers`.

    Integers of two dimensions are the bytes of one integer each; see `rows.encode_pixels`. Return
    whether an integer is unknown, which is the entry -2 of the look-up table.
    """
    cells = bytes_of(out)
    if integers.ndim == 2:
        assert values is not None
        return rows.encode_pixels(
            integers.view(), lut.view(), values, cells, depth, inner, on, off, num_threads, zeroed
        )
    kernel, flat = _encode_integers[integers.dtype], integers.ravel()
    return kernel(flat, lut.view(), low, values, cells, depth, inner, on, off, num_threads, zeroed)


def encode_matrix(
    codes: list[AnyArray],
    luts: list[Lut | None],
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Write the one-hot encoding of columns of codes to `out`, of shape (rows, features)."""
    rows.encode_matrix(codes, luts, bytes_of(out), out.shape[1], on, off, num_threads, zeroed)


def encode_block(
    codes: AnyArray,
    lut: Lut | None,
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
) -> None:
    """Write the one-hot encoding of one column of codes to `out`, of shape (features, rows)."""
    kernel, cells = _encode_block[codes.dtype], bytes_of(out)
    kernel(codes.view(), _view_of(lut), cells, len(out), on, off, num_threads)


def encode_bits(
    codes: AnyArray,
    lut: Lut | None,
    out: npt.NDArray[np.uint8],
    num_threads: int = 1,
    result_bytes: int = 0,
) -> None:
    """Write the one-hot encoding of one column of codes to `out`, as bits; see `planes`."""
    _encode_bits[codes.dtype](codes.view(), _view_of(lut), out, num_threads, result_bytes)


def csr(
    codes: list[AnyArray],
    luts: list[Lut | None],
    indices: AnyArray,
    indptr: AnyArray,
    n_features: int,
    num_threads: int,
) -> int:
    """Fill the arrays of a CSR matrix of several columns of codes; see `sparse.csr`."""
    return _csr[indices.dtype](codes, luts, indices, indptr, n_features, num_threads)


def csc(
    codes: list[AnyArray],
    luts: list[Lut | None],
    places: AnyArray,
    indices: AnyArray,
    num_threads: int,
) -> None:
    """Write the row numbers of a CSC matrix, or count them; see `sparse.csc`."""
    _csc[indices.dtype](codes, luts, places, indices, num_threads)


def decode(
    cube: AnyArray, on: AnyArray, off: AnyArray | None, default: int, num_threads: int
) -> tuple[npt.NDArray[np.int64], int, int, int]:
    """Return the class of each row ``cube[i, :, k]``, and three row numbers; see `decode.decode`.

    The elements are aligned, and have 1, 2, 4 or 8 bytes of any dtype.
    """
    word = _WORD_OF_WIDTH[cube.itemsize]
    return _decode[word](cube.view(word), on, off, default, num_threads)


def decode_bits(
    planes: npt.NDArray[np.uintp], starts: npt.NDArray[np.int64], n_rows: int, num_threads: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the class of each row of Boolean columns; see `decode.decode_bits`."""
    return decoding.decode_bits(planes, starts, n_rows, num_threads)


def count_ones(
    cells: AnyArray, on: AnyArray, off: AnyArray, num_threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the number of elements `on` of each row, and whether others differ from `off`.

    The elements of a row or of a column are adjacent. They are aligned, and have 1, 2, 4 or 8 bytes
    of any dtype; see `ones`.
    """
    lengths, is_odd = np.zeros(len(cells), np.int64), np.zeros(len(cells), np.bool_)
    ones.count(cells, on, off, lengths, is_odd.view(np.uint8), num_threads)
    return lengths, is_odd


def find_ones(
    cells: AnyArray, on: AnyArray, off: AnyArray, offsets: Offsets, num_threads: int
) -> npt.NDArray[np.int64]:
    """Return the positions of the elements `on` of each row, ``offsets[i]:offsets[i + 1]``.

    The offsets follow from the result of `count_ones`. A place that nothing fills has 0.
    """
    features = np.zeros(offsets[-1], np.int64)
    ones.find(cells, on, off, offsets[:-1].copy(), offsets[1:], features, num_threads)
    return features


def pack(bytes_of_rows: npt.NDArray[np.uint8], words: AnyArray) -> None:
    """Write each row of bytes as one unsigned integer to `words`; see `code_columns.pack`."""
    _pack[words.dtype](bytes_of_rows, words)


def recode(codes: AnyArray, lut: Lut, out: AnyArray, num_threads: int) -> None:
    """Write the entry of `lut` for each code to `out`, whose integers must fit all entries."""
    _recode[codes.dtype](codes.view(), lut.view(), bytes_of(out), out.itemsize, num_threads)


def encode_ragged(
    offsets: Sequence[Offsets | None],
    codes: Sequence[AnyArray],
    luts: Sequence[Lut | None],
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
) -> None:
    """Write the encoding of columns to `out`, of shape (rows, features).

    A row of a column with offsets has any number of codes; see `ragged.Sources`.
    """
    columns = [*offsets], [*codes], [*luts]
    ragged.encode_matrix(*columns, len(out), bytes_of(out), out.shape[1], on, off, num_threads)


def write_planes(
    offsets: Offsets,
    codes: AnyArray,
    lut: Lut | None,
    out: AnyArray,
    on: AnyArray | None,
    num_threads: int = 1,
) -> None:
    """Write `on` at the feature of each code of each row to `out`, whose rows are the features.

    If `on` is None, `out` has bitmaps. It contains the other elements; see `ragged.write_planes`.
    """
    planes = bytes_of(out).reshape(out.shape[0], out.shape[1] * out.itemsize)
    ragged.write_planes(offsets, codes, lut, len(offsets) - 1, planes, on, num_threads)


def csr_ragged(
    offsets: Sequence[Offsets | None],
    codes: Sequence[AnyArray],
    luts: Sequence[Lut | None],
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    n_features: int,
) -> int:
    """Fill the arrays of the CSR matrix of `encode_ragged`; see `ragged.csr_rows`."""
    return ragged.csr_rows([*offsets], [*codes], [*luts], indices, indptr, n_features)


def transpose(
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    rows: AnyArray,
    starts: npt.NDArray[np.int64],
) -> None:
    """Write the row of each element of a CSR matrix column by column; see `ragged.transpose`."""
    _transpose[rows.dtype](indices, indptr, rows, starts)


def multi_hot_count(
    offsets: npt.NDArray[np.int64], codes: AnyArray, lut: Lut | None, out: AnyArray
) -> None:
    """Add 1 to ``out[row, feature]`` for every code of each row."""
    _multi_hot_count[out.dtype](offsets, codes, lut, out)


def count_rows(
    offsets: npt.NDArray[np.int64], codes: AnyArray, lut: Lut | None, n_features: int
) -> npt.NDArray[np.int64]:
    """Return for each feature how many rows have one or more codes with this feature."""
    counts = np.zeros(n_features, np.int64)
    _count_rows[codes.dtype](offsets, codes.view(), _view_of(lut), counts)
    return counts


def multi_hot_csr(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    lut: Lut | None,
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    n_features: int,
) -> int:
    """Fill the arrays of a CSR matrix of rows with several codes; see `ragged.csr`."""
    kernel = _multi_hot_csr[codes.dtype]
    return kernel(offsets, codes.view(), _view_of(lut), indices, indptr, counts, n_features)


def count(codes: AnyArray, n_codes: int) -> npt.NDArray[np.int64]:
    """Return how often each code in [0, `n_codes`) occurs."""
    return _count[codes.dtype](codes.view(), n_codes)


def first_invalid(
    indices: AnyArray, lowest: int | None, stop: int | None, ignored: int | None
) -> int:
    """Return the position of the first index outside [`lowest`, `stop`), or -1."""
    return _first_invalid[indices.dtype](indices, lowest, stop, ignored)
