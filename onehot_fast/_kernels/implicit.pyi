from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

WIDTH: int

_Floats: TypeAlias = npt.NDArray[np.float64]

def multiply(
    codes: list[npt.NDArray[Any]],
    tables: list[_Floats],
    out: _Floats,
    is_added: bool,
    num_threads: int,
) -> None: ...
def add_up(
    codes: list[npt.NDArray[Any]],
    n_codes: list[int],
    is_paired: bool,
    values: _Floats,
    bins: _Floats,
    block_rows: int,
    n_lanes: int,
    num_threads: int,
) -> None: ...
