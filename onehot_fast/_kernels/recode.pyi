from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

def recode(
    columns: CodeColumns, out: npt.NDArray[np.int32], span: int, num_threads: int
) -> None: ...

__test__: dict[Any, Any]
