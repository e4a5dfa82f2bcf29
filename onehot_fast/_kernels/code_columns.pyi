from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

INDEX_DTYPES: Final[tuple[np.dtype[Any], ...]]

@final
class CodeColumns:
    def __new__(
        cls,
        codes: list[npt.NDArray[Any]],
        tables: list[npt.NDArray[np.int32] | None],
        code_bytes: int,
    ) -> CodeColumns: ...

def recode(
    codes: npt.NDArray[Any],
    table: npt.NDArray[np.int32],
    out: npt.NDArray[np.integer[Any]],
    num_threads: int,
) -> None: ...

__test__: dict[Any, Any]
