import numpy as np
import numpy.typing as npt

def decode(
    tensor: npt.NDArray[np.uint8],
    out: npt.NDArray[np.int64],
    depth: int,
    inner: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8] | None,
    default: int,
    num_threads: int,
) -> tuple[int, int, int]: ...
