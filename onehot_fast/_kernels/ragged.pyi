from typing import Any

import numpy as np
import numpy.typing as npt

def encode(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    num_threads: int,
) -> None: ...
def count(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32] | None,
    out: npt.NDArray[Any],
) -> None: ...
def csr(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32] | None,
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    n_columns: int,
) -> int: ...
