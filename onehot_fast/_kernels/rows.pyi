from collections.abc import Callable, Mapping
from typing import Any

SCATTER_ONLY: int
NOT_STREAMED: int

# One specialisation for each type of the fused `index_t`, by its C name:
# (indices, out, depth, inner, on, off, wrap, ignored, num_threads, strategy=0) -> None
encode: Mapping[str, Callable[..., Any]]

def fits_rows(inner: int, width: int) -> bool: ...
