from collections.abc import Callable, Mapping
from typing import Any

# One specialisation for each type of the fused `index_t`, by its C name:
# (indices, depth, wrap, ignored, negative, too_large) -> position
first_invalid: Mapping[str, Callable[..., Any]]
# (indices, counts) -> None
count: Mapping[str, Callable[..., Any]]
