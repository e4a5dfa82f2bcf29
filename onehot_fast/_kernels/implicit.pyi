from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH: int

Floats = npt.NDArray[np.float64]

def multiply(
    codes: list[npt.NDArray[Any]],
    tables: list[Floats],
    numeric: Floats,
    coefficients: Floats,
    out: Floats,
    num_threads: int,
) -> None: ...
def add_up(
    codes: list[npt.NDArray[Any]],
    n_codes: list[int],
    numeric: Floats,
    values: Floats,
    bins: Floats,
    block_rows: int,
    num_threads: int,
) -> None: ...
def count_pairs(
    codes: list[npt.NDArray[Any]],
    n_codes: list[int],
    weights: Floats | None,
    bins: Floats,
    block_rows: int,
    num_threads: int,
) -> None: ...
