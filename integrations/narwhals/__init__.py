"""A fitted encoder as expressions of narwhals, for the engines that it speaks to.

>>> import narwhals as nw
>>> import pandas as pd
>>> from onehot_fast import Encoder
>>> frame = nw.from_native(pd.DataFrame({"size": ["S", "L", None]}))
>>> encoder = Encoder(handle_unknown="ignore", dtype="uint8").fit({"size": ["S", "L"]})
>>> frame.select(encoder.expressions(frame)).to_native()
   size_L  size_S
0       0       1
1       1       0
2       0       0
"""

from onehot_fast.adapter import require

require("narwhals")

from .conditions import expressions

__all__ = ["expressions"]
