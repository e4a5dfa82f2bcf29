"""The OneHot operator for the reference evaluator of ONNX."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from onnx.reference.op_run import OpRun

from onehot_fast.operators import onnx as operator


class OneHot(OpRun):
    """Run ONNX's OneHot operator in the reference evaluator with this package's fast kernels.

    The evaluator's own OneHot is slow and rounds large integers. Before onnx 1.23, it also wraps
    every index that is out of range. See `onehot_fast.operators.onnx.one_hot` for the rules of this
    class.

    Examples
    --------
    >>> import numpy as np
    >>> from onnx import parser
    >>> from onnx.reference import ReferenceEvaluator
    >>> from onehot_fast.integrations.onnx import OneHot
    >>> model = parser.parse_model(
    ...     '''<ir_version: 8, opset_import: ["": 13]>
    ...     labels (int64[N] i, int64 depth, float[2] values) => (float[N, M] o) {
    ...       o = OneHot(i, depth, values)
    ...     }'''
    ... )
    >>> evaluator = ReferenceEvaluator(model, new_ops=[OneHot])
    >>> feed = {"i": np.array([1, -1, 7]), "depth": np.int64(3), "values": np.float32([0, 1])}
    >>> evaluator.run(None, feed)[0]
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """

    op_domain = ""

    def _run(
        self, indices: Any, depth: Any, values: Any, axis: int = -1
    ) -> tuple[npt.NDArray[Any]]:
        opset = self.run_params["opsets"][""]
        return (operator.one_hot(indices, depth, values, axis, opset=opset),)
