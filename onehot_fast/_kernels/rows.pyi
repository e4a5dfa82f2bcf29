from typing import Any

import numpy as np
import numpy.typing as npt

def encode(
    indices: npt.NDArray[Any],
    out: npt.NDArray[Any],
    depth: int,
    inner: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    *,
    wrap: bool = False,
    ignore_index: int | None = None,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None: ...
def encode_matrix(
    codes: list[npt.NDArray[Any]],
    tables: list[npt.NDArray[np.int32] | None],
    out: npt.NDArray[Any],
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int = 1,
    zeroed: bool = False,
) -> None: ...
