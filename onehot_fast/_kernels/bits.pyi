import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

def encode(
    columns: CodeColumns,
    out: npt.NDArray[np.uint8],
    result_bytes: int,
    num_threads: int,
) -> None: ...
