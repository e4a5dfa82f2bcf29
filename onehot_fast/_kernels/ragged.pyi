from typing import Any, final

import numpy as np
import numpy.typing as npt

@final
class Sources:
    def __new__(
        cls,
        offsets: list[npt.NDArray[np.int64] | None],
        codes: list[npt.NDArray[Any]],
        luts: list[npt.NDArray[np.int32] | None],
        n_rows: int,
    ) -> Sources: ...

def encode_matrix(
    offsets: list[npt.NDArray[np.int64] | None],
    codes: list[npt.NDArray[Any]],
    luts: list[npt.NDArray[np.int32] | None],
    n_rows: int,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int,
) -> None: ...
def write_planes(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    n_rows: int,
    out: npt.NDArray[np.uint8],
    on: npt.NDArray[Any] | None,
    num_threads: int,
) -> None: ...
def multi_hot_count(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    out: npt.NDArray[Any],
) -> None: ...
def count_rows(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    counts: npt.NDArray[np.int64],
) -> None: ...
def csr(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    n_features: int,
) -> int: ...
def csr_rows(
    offsets: list[npt.NDArray[np.int64] | None],
    codes: list[npt.NDArray[Any]],
    luts: list[npt.NDArray[np.int32] | None],
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    n_features: int,
) -> int: ...
def transpose(
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    rows: npt.NDArray[Any],
    starts: npt.NDArray[np.int64],
) -> None: ...
