"""The OneHot operators of ONNX and of OpenVINO, with their signatures and rules."""
