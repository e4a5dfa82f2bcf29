from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.array import Array
from onehot_fast._categories.arrays import Kind as _Kind
from onehot_fast._categories.strings import Strings

_Values: TypeAlias = Array | Strings | npt.NDArray[Any] | tuple[object, ...]

KINDS: tuple[str, ...]
CODES: np.dtype[np.int32]

# A value that the kind of a dictionary cannot hold, and its row.
class UnsupportedValueError(TypeError):
    row: int
    def __init__(self, message: str, row: int) -> None: ...

# Distinct values in order of first appearance, and their hash table.
@final
class Dictionary:
    # ValueError: two values are equal, or one is missing.
    def __new__(
        cls, kind: _Kind, values: Strings | npt.NDArray[Any] | None = None
    ) -> Dictionary: ...
    @property
    def kind(self) -> _Kind: ...
    @property
    def values(self) -> Any: ...
    def __len__(self) -> int: ...
    # -1: missing. TypeError, UnsupportedValueError; do not use the dictionary after an error.
    def encode(
        self, values: _Values, *, missing: Sequence[object] = ()
    ) -> npt.NDArray[np.int32]: ...
    # (offsets, codes of the pieces). TypeError: not Arrow's strings; other errors as `encode`.
    def split(
        self, values: Array | Strings, separator: bytes, *, keep_empty: bool = False
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    # -1: missing, -2: unknown.
    def lookup(
        self, values: _Values, *, missing: Sequence[object] = ()
    ) -> npt.NDArray[np.int32]: ...

# (offsets, numbers of the labels); new labels are added to `numbers`.
def number_labels(
    rows: list[Iterable[Hashable]], numbers: dict[Hashable, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...

# (codes, sorted distinct integers modulo 2**64); None if their range is wider than `max_span`.
def number_integers(
    values: npt.NDArray[np.integer[Any]], max_span: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64]] | None: ...
