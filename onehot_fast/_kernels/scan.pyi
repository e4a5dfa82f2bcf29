from typing import Any

import numpy as np
import numpy.typing as npt

def first_invalid(
    indices: npt.NDArray[Any], lowest: int | None, stop: int | None, ignored: int | None
) -> int: ...
def count(indices: npt.NDArray[Any], n_codes: int) -> npt.NDArray[np.int64]: ...
