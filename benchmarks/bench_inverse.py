"""`decode`, the inverse, beside NumPy's argmax, which looks for a maximum and finds no fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import onehot_fast
from benchmarks.suite import LAYOUTS, make_work
from benchmarks.workloads import Array


def _argmax(tensor: Array, axis: int) -> Array:
    found: Array = tensor.argmax(axis)
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "onehot_fast.decode": onehot_fast.decode,
    "numpy argmax": _argmax,
}


class Decode:
    """Tensors of both layouts."""

    params = (list(FUNCTIONS), list(LAYOUTS), ["uint8", "float32"], [10, 100])
    param_names = ("function", "layout", "dtype", "depth")

    def setup(self, name: str, layout: str, dtype: str, depth: int) -> None:
        work = make_work(layout, dtype, depth)
        self.function, self.axis = FUNCTIONS[name], work.axis
        self.tensor = onehot_fast.one_hot(work.indices, depth, axis=work.axis, dtype=dtype)
        np.testing.assert_array_equal(self.function(self.tensor, self.axis), work.indices)

    def time_call(self, *_: object) -> None:
        self.function(self.tensor, self.axis)
