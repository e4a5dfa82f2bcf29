from typing import Any

import numpy as np
import numpy.typing as npt

def lists_of(
    labels: list[Any],
    positions: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    is_missing: npt.NDArray[np.uint8],
) -> list[list[Any] | None]: ...
