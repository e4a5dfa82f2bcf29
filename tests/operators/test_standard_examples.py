"""The worked examples in the documents of ONNX and OpenVINO."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from onehot_fast.operators import onnx, openvino
from support import oracle

EXAMPLES = json.loads(
    (Path(__file__).parents[1] / "data" / "seed_examples.json").read_text(encoding="utf-8")
)


def examples_of(operator):
    return [pytest.param(e, id=e["name"]) for e in EXAMPLES if e["operator"] == operator]


@pytest.mark.parametrize("example", examples_of("onnx"))
@pytest.mark.parametrize("opset", [11, 28])
def test_examples_of_onnx_give_what_the_document_says(example, opset):
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
def test_examples_of_openvino_give_what_the_document_says(example, version, t1):
    """An example of OpenVINO gives what the document says, in both versions and index types."""
    indices, depth = np.array(example["indices"], t1), np.array(example["depth"], t1)
    on, off = np.array([example["on_value"], example["off_value"]], example["values_dtype"])
    actual = openvino.one_hot(indices, depth, on, off, example["axis"], version=version)

    oracle.assert_same(actual, np.array(example["expected"], example["values_dtype"]))
