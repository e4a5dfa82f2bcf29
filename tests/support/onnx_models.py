"""Models of ONNX in onnxruntime and in the reference evaluator of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def run(model: Any, feed: dict[str, Any], engine: str = "onnxruntime") -> list[Any]:
    """Return the outputs of a model."""
    if engine == "reference":
        evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator(model)
        with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite, as it must
            outputs: list[Any] = evaluator.run(None, feed)
        return outputs
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # errors are tested by their text
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    session = runtime.InferenceSession(model.SerializeToString(), options, providers)
    outputs = session.run(None, feed)
    return outputs


def assert_same(got: Any, expected: Any) -> None:
    """Compare dtypes, shapes and bytes."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tobytes() == expected.tobytes()
