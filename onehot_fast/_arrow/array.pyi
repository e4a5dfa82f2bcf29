from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.schema import ArrowField, Imported

# One chunk, which reads the producer's memory and keeps it alive. Any Arrow library can import it
# without a copy: pyarrow.array(array), pyarrow.record_batch(array), polars.Series(array).
@final
class Array(Imported):
    @property
    def schema(self) -> ArrowField: ...
    # The nulls in the validity bitmap; null values of a dictionary are not counted.
    @property
    def null_count(self) -> int: ...
    # The values of a dictionary-encoded array, or None for any other array.
    @property
    def dictionary(self) -> Array | None: ...
    # A cache key: arrays with equal identities have equal values while both arrays are alive, so
    # the cache must keep a reference to the array.
    @property
    def identity(self) -> tuple[object, ...]: ...
    # A column of a struct, with the rows and nulls of the struct. Raises TypeError for other types.
    def child(self, position: int) -> Array: ...
    # Integers, Booleans (0, 1) or dictionary indices; a null is -1. Without nulls a read-only view
    # (an int8 copy of Booleans), else a copy of a signed dtype. Other types: TypeError. An
    # index outside its dictionary, or a value >= 2**63 in an array with nulls: ValueError.
    def codes(self) -> npt.NDArray[Any]: ...
    # Columns of a struct as rows of a matrix, or None unless all are numbers or Booleans of one
    # type without nulls. TypeError: not a struct.
    def block(self, positions: Sequence[int]) -> npt.NDArray[Any] | None: ...
    # A copy of numbers or Booleans, with NaN for a null, or None for other types.
    def numbers(self) -> npt.NDArray[Any] | None: ...
    # A mask of the rows that are not null, or None if no row is null.
    def valid(self) -> npt.NDArray[np.bool_] | None: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    # Ignores the requested type. TypeError: a union or run-end column of a struct with nulls.
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

# An iterator over the chunks of one source, all of the same type.
# OSError: the producer reports an error. ValueError: a chunk is malformed.
@final
class Stream(Imported):
    @property
    def schema(self) -> ArrowField: ...
    # The blocks of all chunks, side by side; None without chunks or if a chunk has no block.
    def block(self, positions: Sequence[int]) -> npt.NDArray[Any] | None: ...
    def __iter__(self) -> Stream: ...
    def __next__(self) -> Array: ...

# The source is an object with __arrow_c_array__ (tried first) or __arrow_c_stream__, a stream
# capsule, or a pair of capsules (arrow_schema, arrow_array). ValueError: consumed or malformed.
def read(source: object) -> Stream: ...

@final
class ArrowBlock:
    """An Arrow struct array without nulls, whose columns are stored in one block of memory."""

    @property
    def block(self) -> npt.NDArray[Any]: ...
    def __new__(
        cls, names: Iterable[str], block: npt.NDArray[Any], n_rows: int, format: str, n_bits: int
    ) -> ArrowBlock: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
