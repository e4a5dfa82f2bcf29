"""What `one_hot` returns: one memory, for Arrow, NumPy and DLPack alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._arrow import reader
from onehot_fast.tensor import one_hot

__all__ = ["OneHotArray"]

AnyArray: TypeAlias = npt.NDArray[Any]

# From 2.1 on NumPy can tell a consumer that memory is read-only; before, it refuses to export it.
TELLS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class OneHotArray:
    """One-hot encoded rows that every library can take over.

    It offers the Arrow PyCapsule interface (as an array and as a stream of one chunk), so that
    pyarrow, polars, pandas, DuckDB and nanoarrow import it without a copy; and to NumPy and to
    DLPack the matrix of n_rows × depth, which is the same memory in the layouts "tensor" and
    "fixed_size_list", and made at each call in the others. Nobody can write to the memory but
    through DLPack, a consumer older than DLPack 1.0. It is given back with the last reference,
    whichever library holds it.

    Parameters
    ----------
    arrow : pyarrow.Array or RecordBatch
    dtype : dtype
        Of the matrix.
    categories : sequence
        What the columns of the matrix stand for.
    matrix : ndarray of shape (n_rows, depth), optional
        The memory that `arrow` lies on.

    Examples
    --------
    >>> from onehot_fast.integrations.arrow import one_hot
    >>> result = one_hot(pa.array(["b", "a", None]))
    >>> result
    OneHotArray(3 rows, 2 classes, extension<arrow.fixed_shape_tensor[value_type=uint8, shape=[2]]>)
    >>> np.asarray(result)
    array([[0, 1],
           [1, 0],
           [0, 0]], dtype=uint8)
    """

    __slots__ = ("_arrow", "_categories", "_dtype", "_matrix")

    def __init__(
        self,
        arrow: Any,
        dtype: np.dtype[Any],
        categories: Sequence[Any] | AnyArray,
        matrix: AnyArray | None = None,
    ) -> None:
        self._arrow = arrow
        self._dtype = dtype
        self._categories = categories
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix: rows and classes."""
        return len(self), len(self._categories)

    @property
    def categories(self) -> Sequence[Any] | AnyArray:
        """What the classes stand for, in order."""
        return self._categories

    def to_arrow(self) -> Any:
        """Return the rows as pyarrow's: a RecordBatch in layout "columns", else an Array."""
        return self._arrow

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._arrow)

    def __repr__(self) -> str:
        """Name the size and the type."""
        kind = getattr(self._arrow, "type", "columns")
        return f"OneHotArray({len(self)} rows, {len(self._categories)} classes, {kind})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the matrix, read-only where it is the memory of the Arrow array."""
        matrix = self._matrix
        if copy is False and (matrix is None or (dtype is not None and dtype != self._dtype)):
            raise ValueError("the matrix of this result cannot be had without a copy")
        if matrix is None:
            matrix, copy = _matrix_of(self._arrow, self.shape[1], self._dtype), False
        if copy or (dtype is not None and dtype != self._dtype):
            return np.array(matrix, dtype)
        if self._matrix is not None:
            matrix = matrix.view()
            matrix.flags.writeable = False
        return matrix

    def __dlpack__(self, **options: Any) -> Any:
        """Return the DLPack capsule of the matrix; `options` are those of NumPy's arrays."""
        if TELLS_READ_ONLY and options.get("max_version") is not None:
            return np.asarray(self).__dlpack__(**options)
        matrix = np.asarray(self) if self._matrix is None else self._matrix
        return matrix.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, Any]:
        """Return the device: the processor."""
        return np.empty(0, np.uint8).__dlpack_device__()

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the type."""
        kind = self._arrow.schema if isinstance(self._arrow, pa.RecordBatch) else self._arrow.type
        return kind.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return the capsules of the type and of the rows; columns are a struct."""
        capsules: tuple[object, object] = self._arrow.__arrow_c_array__(requested_schema)
        return capsules

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of a stream of all rows at once."""
        chunks = self._arrow
        if not isinstance(chunks, pa.RecordBatch):
            chunks = pa.chunked_array([chunks])
        return chunks.__arrow_c_stream__(requested_schema)


def _matrix_of(arrow: Any, depth: int, dtype: np.dtype[Any]) -> AnyArray:
    """Return the matrix of a result that is of bits, or indices."""
    if isinstance(arrow, pa.DictionaryArray):
        return one_hot(next(reader.read(arrow)).codes(), depth, dtype=dtype)
    columns = arrow.columns if isinstance(arrow, pa.RecordBatch) else arrow.flatten()
    block = np.empty((depth, len(arrow)), dtype)
    for row, column in zip(block, columns, strict=True):
        row[:] = column.to_numpy(zero_copy_only=False)
    return block.T
