"""The operator in the reference evaluator of ONNX, by the standard's own examples."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import TensorProto, helper
from onnx.backend.test.case import node
from onnx.reference import ReferenceEvaluator

from onehot_fast.integrations.onnx import OneHot

importlib.import_module("onnx.backend.test.case.node.onehot")  # makes those of the operator
CASES = [case for case in node._NodeTestCases if case.name.startswith("test_onehot_")]


def run(model: Any, inputs: list[Any], new_ops: list[Any]) -> Any:
    names = [each.name for each in model.graph.input]
    evaluator = ReferenceEvaluator(model, new_ops=new_ops)
    return evaluator.run(None, dict(zip(names, inputs, strict=True)))[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_examples_of_the_standard(case: Any) -> None:
    """The evaluator calls ours, under its own name, and gets what the standard gives."""
    for inputs, outputs in case.data_sets:
        got = run(case.model, inputs, [OneHot])
        assert got.dtype == outputs[0].dtype
        np.testing.assert_array_equal(got, outputs[0])


@pytest.mark.parametrize(("opset", "last"), [(9, 0.0), (11, 1.0), (13, 1.0)])
def test_the_opset_of_the_model_decides(opset: int, last: float) -> None:
    """Negative indices count from the end since 11; those out of range never wrap."""
    kinds = [TensorProto.INT64, TensorProto.INT64, TensorProto.FLOAT]
    names = ["indices", "depth", "values"]
    one_hot = helper.make_node("OneHot", names, ["onehot"])
    inputs = [helper.make_tensor_value_info(n, k, None) for n, k in zip(names, kinds, strict=True)]
    given = helper.make_tensor_value_info("onehot", TensorProto.FLOAT, None)
    graph = helper.make_graph([one_hot], "g", inputs, [given])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])

    got = run(model, [np.array([-1, 7]), np.int64(3), np.float32([0, 1])], [OneHot])
    assert got.tolist() == [[0, 0, last], [0, 0, 0]]
