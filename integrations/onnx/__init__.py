"""Export fitted encoders and scikit-learn pipelines to ONNX, and run the OneHot operator.

>>> from onehot_fast import Encoder
>>> from onehot_fast.integrations.onnx import input_feed
>>> table = {"size": ["S", "L", None], "floor": [2.0, 1.0, 2.0]}
>>> encoder = Encoder(["size", "floor"], dtype="float32").fit(table)
>>> model = encoder.to_onnx()
>>> [(each.name, each.doc_string) for each in model.graph.input]
[('size', "A missing value is ''."), ('floor', 'A missing value is NaN.')]
>>> input_feed(model, table)
{'size': array(['S', 'L', ''], dtype=object), 'floor': array([2., 1., 2.])}

`onnxruntime.InferenceSession(model.SerializeToString()).run(None, input_feed(model, table))[0]`
equals ``encoder.transform(table, "numpy")`` bit for bit. If both this package and skl2onnx are
imported, in any order, skl2onnx converts `onehot_fast.Encoder` and the classes of
`onehot_fast.integrations.sklearn`.
"""

from onehot_fast.adapter import require

require("onnx")

from ._imports import register_converters
from .exporting import input_feed, to_onnx
from .reference import OneHot

register_converters()

__all__ = ["OneHot", "input_feed", "to_onnx"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
