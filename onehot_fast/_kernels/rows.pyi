from typing import Any

import numpy as np
import numpy.typing as npt

def encode(
    indices: npt.NDArray[Any],
    out: npt.NDArray[np.uint8],
    depth: int,
    inner: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    wrap: bool,
    ignore_index: int | None,
    num_threads: int,
    zeroed: bool,
) -> None: ...
def encode_integers(
    integers: npt.NDArray[Any],
    lut: npt.NDArray[np.int32],
    low: int,
    values: npt.NDArray[np.uint64] | None,
    out: npt.NDArray[np.uint8],
    depth: int,
    inner: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int,
    zeroed: bool,
) -> bool: ...
def encode_pixels(
    pixels: npt.NDArray[np.uint8],
    lut: npt.NDArray[np.int32],
    values: npt.NDArray[np.uint64],
    out: npt.NDArray[np.uint8],
    depth: int,
    inner: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int,
    zeroed: bool,
) -> bool: ...
def encode_matrix(
    codes: list[npt.NDArray[Any]],
    luts: list[npt.NDArray[np.int32] | None],
    out: npt.NDArray[np.uint8],
    depth: int,
    on: npt.NDArray[Any],
    off: npt.NDArray[Any],
    num_threads: int,
    zeroed: bool,
) -> None: ...
