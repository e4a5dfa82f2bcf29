from collections.abc import Callable, Mapping

# One specialisation for each type of the fused `index_t`, by its C name:
# (indices, depth, wrap, ignored, negative, too_large) -> position
first_invalid: Mapping[str, Callable[..., int]]
# (indices, ignored) -> largest
maximum: Mapping[str, Callable[..., int | None]]
