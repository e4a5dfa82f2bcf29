from typing import Any, TypeAlias, final

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
    pairs: npt.NDArray[np.int32] | None,
    values: _Floats,
    bins: _Floats,
    block_rows: int,
    n_lanes: int,
    num_threads: int,
) -> None: ...
def add_gram(
    features: npt.NDArray[np.int32],
    weights: _Floats,
    gram: _Floats,
    is_mirrored: bool,
    num_threads: int,
) -> None: ...
def mirror(gram: _Floats) -> None: ...
def sparse_gram(
    features: npt.NDArray[np.int32], weights: _Floats, n_features: int
) -> tuple[_Floats, npt.NDArray[Any], npt.NDArray[Any]]: ...

@final
class Occurrences:
    def __new__(cls, features: npt.NDArray[np.int32], n_features: int) -> Occurrences: ...
