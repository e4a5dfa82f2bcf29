from typing import Any, Final

import numpy as np
import numpy.typing as npt

GROUP_PARTS: Final[int]

def csr(
    codes: list[npt.NDArray[Any]],
    luts: list[npt.NDArray[np.int32] | None],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_features: int,
    num_threads: int,
) -> int: ...
def csc(
    codes: list[npt.NDArray[Any]],
    luts: list[npt.NDArray[np.int32] | None],
    places: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    num_threads: int,
) -> None: ...
