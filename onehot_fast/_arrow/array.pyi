from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.schema import ArrowField

# One chunk over the producer's own memory, which it keeps alive. Any library imports it again
# without a copy: pyarrow.array(array), pyarrow.record_batch(array), polars.Series(array).
@final
class Array:
    @property
    def schema(self) -> ArrowField: ...
    # By the validity bitmap: nulls in the values of a dictionary are not counted.
    @property
    def null_count(self) -> int: ...
    # The values of a dictionary-encoded array, None for any other.
    @property
    def dictionary(self) -> Array | None: ...
    # The key of a cache: equal identities are equal values as long as both arrays live, so the
    # cache must keep the array beside it.
    @property
    def identity(self) -> tuple[object, ...]: ...
    # A column of a struct, with its rows, its offset and its nulls. TypeError: no struct.
    def child(self, position: int) -> Array: ...
    # Integers, Booleans (0, 1) and dictionary indices, a null as -1: a read-only view without
    # nulls (Booleans: an int8 copy), else a copy of a signed dtype. TypeError: something else.
    # ValueError: an index outside its dictionary, a uint64 beyond int64 beside a null.
    def codes(self) -> npt.NDArray[Any]: ...
    # Columns of a struct as rows of a matrix; None where they are not numbers or Booleans of one
    # type, or have nulls. TypeError: no struct.
    def block(self, positions: Sequence[int]) -> npt.NDArray[Any] | None: ...
    # A copy of numbers or Booleans, NaN for a null; None for other types.
    def numbers(self) -> npt.NDArray[Any] | None: ...
    # Which rows are not null; None where no row is.
    def valid(self) -> npt.NDArray[np.bool_] | None: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    # Always of its own type. TypeError: a union or run-end encoded column of a struct with nulls.
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

# An iterator over the chunks of one source, once; all are of one type.
# OSError: the producer reports an error. ValueError: a chunk is malformed.
@final
class Stream:
    @property
    def schema(self) -> ArrowField: ...
    def __iter__(self) -> Stream: ...
    def __next__(self) -> Array: ...

# An object with __arrow_c_array__ (tried first) or __arrow_c_stream__, or capsules: of a stream, or
# the pair (arrow_schema, arrow_array). TypeError, ValueError (consumed, malformed), OSError.
def read(source: object) -> Stream: ...
