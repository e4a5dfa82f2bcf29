"""`decode`, the inverse, beside NumPy's argmax, which looks for a maximum and finds no fault."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import onehot_fast
from benchmarks import suite
from benchmarks.kinds.labels import LAYOUTS, Array
from benchmarks.workloads import GRID


def _argmax(tensor: Array, axis: int) -> Array:
    found: Array = tensor.argmax(axis)
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "onehot_fast.decode": onehot_fast.decode,
    "numpy argmax": _argmax,
}
NAMES = [
    f"{layout}, {dtype}, {depth} classes"
    for layout, dtype, depth in product(LAYOUTS, ("uint8", "float32"), (10, 100))
]


class Decode:
    """Tensors of both layouts."""

    params = (list(FUNCTIONS), NAMES)
    param_names = ("function", "tensor")

    def setup(self, name: str, tensor: str) -> None:
        work = GRID[tensor].make(suite.SCALE)
        self.function, self.axis = FUNCTIONS[name], work.axis
        self.tensor = onehot_fast.one_hot(
            work.indices, work.depth, axis=work.axis, dtype=work.dtype
        )
        np.testing.assert_array_equal(self.function(self.tensor, self.axis), work.indices)

    def time_call(self, *_: object) -> None:
        self.function(self.tensor, self.axis)
