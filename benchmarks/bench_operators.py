"""The operators under their own signatures, on a large tensor and on a small one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import suite
from benchmarks.kinds.labels import Array, Work, check
from benchmarks.workloads import OPERATORS
from onehot_fast.operators import onnx, openvino

VALUES = np.array([0, 1], np.float32)


def _onnx(work: Work) -> Array:
    return onnx.one_hot(work.indices, work.depth, VALUES, work.axis)


def _openvino(work: Work) -> Array:
    return openvino.one_hot(work.indices, work.depth, VALUES[1], VALUES[0], axis=work.axis)


FUNCTIONS: dict[str, Callable[[Work], Array]] = {"onnx": _onnx, "openvino": _openvino}


class Operators:
    """Planes of 21 classes."""

    params = (list(FUNCTIONS), list(OPERATORS))
    param_names = ("operator", "output")

    def setup(self, name: str, output: str) -> None:
        self.function = FUNCTIONS[name]
        self.work = OPERATORS[output].make(suite.SCALE)
        check(self.function(self.work), self.work)

    def time_call(self, *_: object) -> None:
        self.function(self.work)
