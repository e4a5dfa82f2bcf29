"""ONNX's own node tests of OneHot, from the `onnx` package."""

from __future__ import annotations

import importlib

import oracle
import pytest

from onehot_fast.operators import onnx as operator

node_cases = pytest.importorskip("onnx.backend.test.case.node")
# Importing the module of one operator makes its cases; the public loader would make those of all
# operators.
importlib.import_module("onnx.backend.test.case.node.onehot")
CASES = [case for case in node_cases._NodeTestCases if case.name.startswith("test_onehot_")]


def version_of(case):
    (version,) = (entry.version for entry in case.model.opset_import if not entry.domain)
    return version


def test_cases_were_found():
    """The package carries the examples of the document as cases, and maybe more."""
    names = {case.name for case in CASES}

    assert names >= {
        "test_onehot_without_axis",
        "test_onehot_with_axis",
        "test_onehot_negative_indices",
        "test_onehot_with_negative_axis",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    """The operator gives what the case has stored, in type, shape and bits."""
    ((inputs, (expected,)),) = case.data_sets
    (node,) = case.model.graph.node
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    actual = operator.one_hot(*inputs, **attributes, opset=version_of(case))

    oracle.assert_same(actual, expected)
