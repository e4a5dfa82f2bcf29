from typing import Any

import numpy as np
import numpy.typing as npt

def count(
    cells: npt.NDArray[Any],
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    lengths: npt.NDArray[np.int64],
    is_odd: npt.NDArray[np.uint8],
    num_threads: int,
) -> None: ...
def find(
    cells: npt.NDArray[Any],
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    places: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    features: npt.NDArray[np.int64],
    num_threads: int,
) -> None: ...
