from typing import Any, final

import numpy as np
import numpy.typing as npt

@final
class CodeColumns:
    def __new__(
        cls,
        codes: list[npt.NDArray[Any]],
        tables: list[npt.NDArray[np.int32] | None],
        code_bytes: int,
    ) -> CodeColumns: ...
