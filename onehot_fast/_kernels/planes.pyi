from collections.abc import Callable, Mapping
from typing import Any

# One specialisation for each type of the fused `index_t`, by its C name:
# (indices, out, depth, inner, on, off, wrap, ignored, num_threads) -> None
encode: Mapping[str, Callable[..., Any]]
