import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

def encode(
    columns: CodeColumns,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    num_threads: int,
    fresh: bool = False,
) -> None: ...
