from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

# One specialisation for each type of the fused `index_t`, by its C name:
# (indices, out, depth, inner, on, off, wrap, ignored, num_threads) -> None
encode: Mapping[str, Callable[..., Any]]

def encode_block(
    columns: CodeColumns,
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    num_threads: int,
) -> None: ...
