from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels.sources import Sources

def recode(sources: Sources, out: npt.NDArray[np.int32], span: int, num_threads: int) -> None: ...

__test__: dict[Any, Any]
