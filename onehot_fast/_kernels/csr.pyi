from typing import Any

import numpy.typing as npt

from onehot_fast._kernels.sources import Sources

def csr(
    sources: Sources,
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_columns: int,
    num_threads: int,
) -> int: ...
def csc_counts(sources: Sources, counts: npt.NDArray[Any], num_threads: int) -> None: ...
def csc_rows(
    sources: Sources, places: npt.NDArray[Any], indices: npt.NDArray[Any], num_threads: int
) -> None: ...
