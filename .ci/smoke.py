"""Test a wheel beside NumPy alone, outside the checkout, and print its build information."""

import importlib.util
import os

import onehot_fast
import onehot_fast.integrations
import onehot_fast.operators.onnx
import onehot_fast.operators.openvino

assert importlib.util.find_spec("pandas") is None
assert onehot_fast.one_hot([0, 2, -1], 3).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
assert onehot_fast.decode(onehot_fast.one_hot([0, 2, -1], 3)).tolist() == [0, 2, -1]
assert onehot_fast.build_info()["openmp"] or "ONEHOT_FAST_REQUIRE_OPENMP" not in os.environ
print(onehot_fast.build_info())
