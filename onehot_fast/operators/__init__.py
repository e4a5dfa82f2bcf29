"""The OneHot operator with the signatures and rules of ONNX and of OpenVINO."""
