"""OneHot under the signatures and the rules of its standards: `onnx` and `openvino`."""
