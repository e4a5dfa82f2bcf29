from typing import Any

import numpy as np
import numpy.typing as npt

def multi_hot(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    is_filled: bool,
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
