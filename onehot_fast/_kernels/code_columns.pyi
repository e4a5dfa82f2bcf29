from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

INDEX_DTYPES: Final[tuple[np.dtype[Any], ...]]

@final
class CodeColumns:
    def __new__(
        cls,
        codes: list[npt.NDArray[Any]],
        luts: list[npt.NDArray[np.int32] | None],
        code_bytes: int,
    ) -> CodeColumns: ...

def recode(
    codes: npt.NDArray[Any],
    lut: npt.NDArray[np.int32],
    out: npt.NDArray[np.uint8],
    width: int,
    num_threads: int,
) -> None: ...

__test__: dict[Any, Any]

def pack(
    rows: npt.NDArray[np.uint8], words: npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
) -> None: ...
