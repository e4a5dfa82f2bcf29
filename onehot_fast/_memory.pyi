from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

class CacheInfo(NamedTuple):
    n_blocks: int
    n_bytes: int
    max_bytes: int
    n_live: int
    hits: int
    misses: int

# The owner of an array's memory, met as its `base`.
@final
class Block: ...

@final
class Cache: ...

def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], bool]: ...
def start_reaper() -> None: ...
def cache_info() -> CacheInfo: ...
def empty_cache() -> int: ...
def set_limit(n_bytes: int) -> int: ...
