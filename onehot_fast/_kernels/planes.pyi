from typing import Any

import numpy as np
import numpy.typing as npt

def encode_block(
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32] | None,
    out: npt.NDArray[Any],
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int = 1,
) -> None: ...
def encode_bits(
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    num_threads: int = 1,
    result_bytes: int = 0,
) -> None: ...
