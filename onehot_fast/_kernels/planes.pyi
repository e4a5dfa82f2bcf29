import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

def encode_block(
    columns: CodeColumns,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    num_threads: int,
) -> None: ...
def encode_bits(
    columns: CodeColumns,
    out: npt.NDArray[np.uint8],
    result_bytes: int,
    num_threads: int,
) -> None: ...
