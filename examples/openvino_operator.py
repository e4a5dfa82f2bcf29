"""Use the kernels of this package for OneHot in an OpenVINO model.

Run ``python examples/openvino_operator.py`` if onehot-fast and openvino are installed. OpenVINO's
CPU plugin calls the Python operator. The rest of the model, here a projection of the one-hot
rows, does not change. The result must equal that of OpenVINO's OneHot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset16
from printed import fastest, print_table

from onehot_fast.operators.openvino import one_hot

DEPTH = 64
ROWS = 100_000
WIDTH = 8  # of the projection


class FastOneHot(openvino.Op):  # type: ignore[misc]  # it has no types
    """OneHot-16 from int64 indices to float32. Its name must differ from OpenVINO's operator."""

    def __init__(self, indices: Any = None) -> None:
        super().__init__(self, [] if indices is None else [indices])

    def validate_and_infer_types(self) -> None:
        """Set the type and shape of the output, which may have unknown dimensions."""
        shape = [*self.get_input_partial_shape(0), openvino.Dimension(DEPTH)]
        self.set_output_type(0, openvino.Type.f32, openvino.PartialShape(shape))

    def clone_with_new_inputs(self, inputs: Any) -> FastOneHot:
        """Return a copy of the node with other inputs."""
        return FastOneHot(inputs[0])

    def visit_attributes(self, visitor: Any) -> bool:
        """Return True: the node has no attributes."""
        return True

    def has_evaluate(self) -> bool:
        """Return True: OpenVINO calls `evaluate`."""
        return True

    def evaluate(self, outputs: Any, inputs: Any) -> bool:
        """Write the one-hot rows into OpenVINO's output."""
        indices = inputs[0].data
        outputs[0].shape = (*indices.shape, DEPTH)
        outputs[0].data[...] = one_hot(indices, DEPTH, np.float32(1), np.float32(0), axis=-1)
        return True


def model(one_hot_node: Any, indices: Any) -> Any:
    """Return a compiled model: the one-hot node and a projection."""
    weights = np.random.default_rng(0).normal(size=(DEPTH, WIDTH)).astype(np.float32)
    projected = opset16.matmul(one_hot_node, opset16.constant(weights), False, False)
    return openvino.Core().compile_model(openvino.Model([projected], [indices]), "CPU")


def own(indices: Any) -> Any:
    """Return OpenVINO's OneHot node."""
    return opset16.one_hot(
        indices,
        opset16.constant(np.int64(DEPTH)),
        opset16.constant(np.float32(1)),
        opset16.constant(np.float32(0)),
        axis=-1,
        negative_indices_mode="ignore_negative",
    )


def main() -> None:
    """Run both models on the same indices, some of them outside the classes."""
    labels = np.random.default_rng(1).integers(-2, DEPTH + 2, ROWS)
    rows, results = [], []
    for name, node in (("OpenVINO", own), ("onehot_fast", FastOneHot)):
        indices = opset16.parameter([-1], np.int64, name="indices")
        compiled = model(node(indices), indices)
        seconds, result = fastest(lambda compiled=compiled: compiled({"indices": labels})[0])
        rows.append((name, f"{ROWS:,}", f"{seconds * 1e3:.1f} ms"))
        results.append(result)
    print_table(("OneHot of", "rows", "time with the projection"), rows)
    if not np.array_equal(*results):
        raise AssertionError("the results differ")
    print("\nThe results are equal.")


if __name__ == "__main__":
    main()
