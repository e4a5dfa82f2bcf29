from typing import Any

import numpy as np
import numpy.typing as npt

def find_bins(
    values: npt.NDArray[np.floating[Any]],
    edges: list[npt.NDArray[np.float64]],
    dtype: npt.DTypeLike,
    by_column: bool = False,
    num_threads: int | None = None,
) -> npt.NDArray[Any]: ...
