from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.array import Array
from onehot_fast._categories.kinds import Kind as _Kind
from onehot_fast._categories.strings import Strings

_Values: TypeAlias = Array | Strings | npt.NDArray[Any] | tuple[object, ...]

KINDS: tuple[str, ...]
CODES: np.dtype[np.int32]

def kind_of(values: object) -> str: ...
def no_values(kind: str) -> Any: ...

# A value that the kind of a dictionary cannot hold, and its row.
class NotCommonError(TypeError):
    row: int
    def __init__(self, message: str, row: int) -> None: ...

# More distinct values than allowed, and the row of the first one too many.
class TooManyValuesError(ValueError):
    row: int
    def __init__(self, message: str, row: int) -> None: ...

# Distinct values in order of first appearance, and the hash table that finds them.
@final
class Dictionary:
    def __new__(cls, kind: _Kind, *, counting: bool = True) -> Dictionary: ...
    # ValueError: two values are equal, or one is missing.
    @classmethod
    def from_values(
        cls,
        values: Strings | npt.NDArray[Any],
        counts: npt.NDArray[np.int64] | None = None,
    ) -> Dictionary: ...
    @property
    def kind(self) -> _Kind: ...
    @property
    def values(self) -> Any: ...
    # ValueError: made with counting=False.
    @property
    def counts(self) -> npt.NDArray[np.int64]: ...
    @property
    def n_missing(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def n_seeds(self) -> int: ...
    def hashes(self, values: Strings | npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]: ...
    def __len__(self) -> int: ...
    # -1: missing. TypeError, NotCommonError, TooManyValuesError; throw the dictionary away then.
    def encode(
        self, values: _Values, *, max_size: int | None = None, missing: Sequence[object] = ()
    ) -> npt.NDArray[np.int32]: ...
    # (offsets, codes of the pieces). TypeError: no texts of Arrow; the others as `encode`.
    def split(
        self, values: Array | Strings, separator: bytes, *, keep_empty: bool = False
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    # -1: missing, -2: unknown.
    def lookup(
        self, values: _Values, *, missing: Sequence[object] = ()
    ) -> npt.NDArray[np.int32]: ...
    # The codes here of the other's values.
    def merge(self, other: Dictionary) -> npt.NDArray[np.int32]: ...
    def take(self, positions: npt.ArrayLike) -> Dictionary: ...
    def permute(self, positions: npt.ArrayLike) -> Dictionary: ...
