"""OneHot with the signatures and rules of its standards: `onnx` and `openvino`."""
