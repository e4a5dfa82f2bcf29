from typing import Any

import numpy as np
import numpy.typing as npt

def encode_block(
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int,
) -> None: ...
def encode_bits(
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    num_threads: int,
    result_bytes: int,
) -> None: ...
