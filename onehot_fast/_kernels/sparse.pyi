from typing import Any, Final

import numpy.typing as npt

from onehot_fast._kernels.code_columns import CodeColumns

GROUP_PARTS: Final[int]

def csr(
    columns: CodeColumns,
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_columns: int,
    num_threads: int,
) -> int: ...
def csc_counts(columns: CodeColumns, counts: npt.NDArray[Any], num_threads: int) -> None: ...
def csc_rows(
    columns: CodeColumns, places: npt.NDArray[Any], indices: npt.NDArray[Any], num_threads: int
) -> None: ...
