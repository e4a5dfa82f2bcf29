"""Fitted encoders as models of ONNX, in scikit-learn's pipelines too, and the operator itself.

>>> from onehot_fast import Encoder
>>> from onehot_fast.integrations.onnx import input_feed
>>> table = {"size": ["S", "L", None], "floor": [2.0, 1.0, 2.0]}
>>> encoder = Encoder(["size", "floor"], dtype="float32").fit(table)
>>> model = encoder.to_onnx()
>>> [(each.name, each.doc_string) for each in model.graph.input]
[('size', "A missing value is ''."), ('floor', 'A missing value is NaN.')]
>>> input_feed(model, table)
{'size': array(['S', 'L', ''], dtype=object), 'floor': array([2., 1., 2.])}

`onnxruntime.InferenceSession(model.SerializeToString()).run(None, input_feed(model, table))[0]` is
what ``encoder.transform(table, "numpy")`` is, bit for bit. Where this is imported, skl2onnx
knows the converters of `onehot_fast.Encoder` and of the classes of
`onehot_fast.integrations.sklearn` as soon as it is imported itself, before or after.
"""

from functools import partial
from importlib import import_module

from onehot_fast.adapter import require

require("onnx")

from ._imports import after_import
from .exporting import to_onnx
from .feeding import input_feed
from .reference import OneHot

# They register themselves with skl2onnx.
after_import("skl2onnx", partial(import_module, "._converters", __name__))

__all__ = ["OneHot", "input_feed", "to_onnx"]
