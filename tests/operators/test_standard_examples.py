"""The worked examples in the documents of ONNX and OpenVINO, and ONNX's own node tests."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import oracle
import pytest

from onehot_fast.operators import onnx, openvino

EXAMPLES = json.loads(
    (Path(__file__).parents[1] / "data" / "seed_examples.json").read_text(encoding="utf-8")
)


def examples_of(operator):
    return [pytest.param(e, id=e["name"]) for e in EXAMPLES if e["operator"] == operator]


@pytest.mark.parametrize("example", examples_of("onnx"))
@pytest.mark.parametrize("opset", [11, 28])
def test_onnx(example, opset):
    """An example of ONNX gives what the document says; no axis means the default."""
    indices = np.array(example["indices"], example["indices_dtype"])
    depth = np.array(example["depth"], example["depth_dtype"])
    values = np.array([example["off_value"], example["on_value"]], example["values_dtype"])
    attributes = {} if example["axis"] is None else {"axis": example["axis"]}
    actual = onnx.one_hot(indices, depth, values, **attributes, opset=opset)

    oracle.assert_same(actual, np.array(example["expected"], example["values_dtype"]))


@pytest.mark.parametrize("example", examples_of("openvino"))
@pytest.mark.parametrize("version", [1, 16])
@pytest.mark.parametrize("t1", ["int32", "int64"])
def test_openvino(example, version, t1):
    """An example of OpenVINO gives what the document says, in both versions and index types."""
    indices, depth = np.array(example["indices"], t1), np.array(example["depth"], t1)
    on, off = np.array([example["on_value"], example["off_value"]], example["values_dtype"])
    actual = openvino.one_hot(indices, depth, on, off, example["axis"], version=version)

    oracle.assert_same(actual, np.array(example["expected"], example["values_dtype"]))


def node_cases():
    """Return the cases of OneHot in the `onnx` package, which may be missing."""
    try:
        cases = importlib.import_module("onnx.backend.test.case.node")
    except ImportError:
        return []
    # Importing the module of one operator makes its cases; the public loader would make those of
    # all operators.
    importlib.import_module("onnx.backend.test.case.node.onehot")
    return [case for case in cases._NodeTestCases if case.name.startswith("test_onehot_")]


CASES = node_cases()


def test_node_cases_were_found():
    """The package carries the examples of the document as cases, and maybe more."""
    pytest.importorskip("onnx")
    examples = ("without_axis", "with_axis", "negative_indices", "with_negative_axis")

    assert {case.name for case in CASES} >= {f"test_onehot_{name}" for name in examples}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_case(case):
    """The operator gives what the case has stored, in type, shape and bits."""
    ((inputs, (expected,)),) = case.data_sets
    (node,) = case.model.graph.node
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    (opset,) = (entry.version for entry in case.model.opset_import if not entry.domain)

    oracle.assert_same(onnx.one_hot(*inputs, **attributes, opset=opset), expected)
