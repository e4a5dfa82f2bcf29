"""The operators under their own signatures, on a large tensor and on a small one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.suite import OUTPUT_BYTES, make_work
from benchmarks.workloads import Array, Work, check
from onehot_fast.operators import onnx, openvino

VALUES = np.array([0, 1], np.float32)


def _onnx(work: Work) -> Array:
    return onnx.one_hot(work.indices, work.depth, VALUES, work.axis)


def _openvino(work: Work) -> Array:
    return openvino.one_hot(work.indices, work.depth, VALUES[1], VALUES[0], axis=work.axis)


FUNCTIONS: dict[str, Callable[[Work], Array]] = {"onnx": _onnx, "openvino": _openvino}


class Operators:
    """Float32 planes of 21 classes."""

    params = (list(FUNCTIONS), [4096, OUTPUT_BYTES])
    param_names = ("operator", "bytes")

    def setup(self, name: str, n_bytes: int) -> None:
        self.function = FUNCTIONS[name]
        self.work = make_work("planes", "float32", 21, n_bytes)
        check(self.function(self.work), self.work)

    def time_call(self, *_: object) -> None:
        self.function(self.work)
