"""Fit and encode the partitions of a Dask DataFrame, with accessors and `get_dummies`.

>>> import dask.dataframe as dd
>>> import pandas as pd
>>> from onehot_fast import Encoder
>>> sizes = pd.DataFrame({"size": ["S", "L", None, "M"], "price": [2, 3, 4, 5]})
>>> frame = dd.from_pandas(sizes, npartitions=2)
>>> encoder = Encoder(dtype="uint8").fit(frame)
>>> encoder.transform(frame).compute()
   size_L  size_M  size_S  price
0       0       0       1      2
1       1       0       0      3
2       0       0       0      4
3       0       1       0      5

Only `fit` computes: Dask fits one encoder per partition and merges these encoders in a tree. The
result of `transform` is lazy, but its column names and dtypes are known. An encoder that was fitted
with Dask can also encode tables of other libraries, and vice versa.

Importing the package registers the accessors: `DaskFrameAccessor` as ``DataFrame.onehot`` and
`DaskSeriesAccessor` as ``Series.onehot``. `get_dummies` returns the same columns as
``dask.dataframe.get_dummies``, but needs no ``categorize()``.
"""

from onehot_fast.adapter import require

require("dask")

from ._engine import count_rows as count_rows
from ._engine import inverse_transform as inverse_transform
from ._engine import learn as learn
from ._engine import transform as transform
from .accessors import DaskFrameAccessor, DaskSeriesAccessor
from .dummies import get_dummies

__all__ = ["DaskFrameAccessor", "DaskSeriesAccessor", "get_dummies"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
