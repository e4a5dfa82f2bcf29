from typing import Any

import numpy.typing as npt

from onehot_fast._kernels.dispatch import INDEX_DTYPES as INDEX_DTYPES

def one_hot_small(
    indices: object,
    depth: object,
    on_value: object,
    off_value: object,
    label_smoothing: object,
    axis: object,
    dtype: object,
    out: object,
) -> npt.NDArray[Any] | None: ...
