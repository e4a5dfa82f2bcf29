from typing import Any

import numpy as np
import numpy.typing as npt

def encode(
    indices: npt.NDArray[Any],
    out: npt.NDArray[np.uint8],
    depth: int,
    inner: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    wrap: bool,
    ignored: int | None,
    num_threads: int,
    is_cleared: bool = False,
) -> None: ...
def encode_columns(
    codes: list[npt.NDArray[Any]],
    tables: list[npt.NDArray[np.int32] | None],
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    num_threads: int,
    is_cleared: bool = False,
) -> None: ...
