from typing import Any

import numpy as np
import numpy.typing as npt

def first_invalid(
    indices: npt.NDArray[Any],
    depth: int,
    wrap: bool,
    ignored: int | None,
    negative: bool,
    too_large: bool,
) -> int: ...
def count(indices: npt.NDArray[Any], counts: npt.NDArray[np.int64]) -> None: ...
