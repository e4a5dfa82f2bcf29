from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.array import Array
from onehot_fast._categories.categories import Kind as _Kind
from onehot_fast._categories.strings import Strings
from onehot_fast._kernels.dispatch import INDEX_DTYPES as INDEX_DTYPES

_Values: TypeAlias = Array | Strings | npt.NDArray[Any] | tuple[object, ...]

KINDS: tuple[str, ...]
CODES: np.dtype[np.int32]

# A hash table from distinct values to codes, which are in order of first appearance.
@final
class Dictionary:
    # Raises ValueError if two values are equal or a value is missing.
    def __new__(
        cls, kind: _Kind, values: Strings | npt.NDArray[Any] | None = None
    ) -> Dictionary: ...
    @property
    def kind(self) -> _Kind: ...
    @property
    def values(self) -> Any: ...
    def __len__(self) -> int: ...
    # A missing value has code -1. TypeError: the first row whose value does not fit the kind. Do
    # not use the dictionary after an error.
    def encode(
        self,
        values: _Values,
        *,
        missing: Sequence[object] = (),
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int32]: ...
    # Returns (offsets of the strings, codes of the pieces). Do not use `self` after an error.
    def split(
        self, values: Array | Strings, separator: bytes, *, keep_empty: bool = False
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    # A missing value has code -1, an unknown value -2.
    def lookup(
        self,
        values: _Values,
        *,
        missing: Sequence[object] = (),
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int32]: ...

# Returns (offsets of the rows, numbers of the labels), and adds new labels to `numbers`.
def number_labels(
    rows: tuple[Iterable[Hashable], ...], numbers: dict[Hashable, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...

# Returns (codes, sorted distinct integers modulo 2**64), or None if max - min > `max_span`.
def number_integers(
    values: npt.NDArray[np.integer[Any]], max_span: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64]] | None: ...

@final
class Source: ...

@final
class Learners: ...
