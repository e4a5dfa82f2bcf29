from typing import Any

import numpy as np
import numpy.typing as npt

def decode(
    cube: npt.NDArray[Any],
    on: npt.NDArray[Any],
    off: npt.NDArray[Any] | None,
    default: int,
    num_threads: int,
) -> tuple[npt.NDArray[np.int64], int, int, int]: ...
def decode_bits(
    planes: npt.NDArray[np.uintp],
    starts: npt.NDArray[np.int64],
    n_rows: int,
    num_threads: int,
) -> tuple[npt.NDArray[np.int64], int]: ...
