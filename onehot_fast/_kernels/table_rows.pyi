from typing import Any, final

import numpy as np
import numpy.typing as npt

SIDES: dict[str, int]
_Bytes = npt.NDArray[np.uint8]

# Runs of codes of one byte, which are read in place.
@final
class Segments:
    n: int
    owner: Any
    @staticmethod
    def of_matrix(rows: _Bytes) -> Segments: ...
    # ValueError: the offsets decrease or exceed the codes.
    @staticmethod
    def of_flat(codes: _Bytes, offsets: npt.NDArray[np.int64]) -> Segments: ...
    def __len__(self) -> int: ...
    def item(self, i: int) -> bytes: ...
    def sizes(self) -> npt.NDArray[np.int64]: ...
    def extent(self) -> tuple[int, int]: ...
    def cut(self, length: int, side: str) -> Segments: ...

# Whether there is a code whose flag is 1.
def encode(
    segments: Segments,
    table: _Bytes,
    out: _Bytes,
    on: _Bytes,
    off: _Bytes,
    *,
    length: int = -1,
    side: str = "right",
    inner: int = 1,
    offsets: npt.NDArray[np.int64] | None = None,
    num_threads: int = 1,
    zeroed: bool = False,
    flags: _Bytes | None = None,
) -> bool: ...

# The run, and the position in it, of the first code whose flag is 1.
def find_first(
    segments: Segments, flags: _Bytes, offsets: npt.NDArray[np.int64], num_threads: int = 1
) -> tuple[int, int] | None: ...
