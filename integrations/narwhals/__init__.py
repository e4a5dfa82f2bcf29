"""Encode narwhals frames, directly or with expressions for any engine that narwhals supports.

If you pass a narwhals frame, an encoder returns a narwhals frame of the same native library:

>>> import narwhals as nw
>>> import polars as pl
>>> from onehot_fast import Encoder
>>> frame = nw.from_native(pl.DataFrame({"size": ["S", "L", None]}))
>>> Encoder().fit_transform(frame).to_native().columns
['size_L', 'size_S']

The engine of the frame computes expressions, so you need not collect a lazy frame:

>>> import pandas as pd
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

from .frames import are_lists as are_lists
from .frames import expressions
from .frames import read_column as read_column
from .frames import read_lists as read_lists
from .frames import read_ragged as read_ragged
from .frames import read_table as read_table
from .frames import wrap as wrap

__all__ = ["expressions"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
