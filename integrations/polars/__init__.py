"""One-hot encode polars data with `.onehot` on Series, expressions, DataFrames and LazyFrames.

>>> import polars as pl
>>> import onehot_fast.integrations.polars
>>> pl.Series("is", ["b", "a", None]).onehot().to_dict(as_series=False)
{'is_a': [False, True, False], 'is_b': [True, False, False]}

Importing the package registers the namespaces: `SeriesNamespace` as ``Series.onehot``,
`ExprNamespace` as ``Expr.onehot``, `DataFrameNamespace` as ``DataFrame.onehot`` and
`LazyFrameNamespace` as ``LazyFrame.onehot``.

Columns are read through the Arrow C data interface without a copy. The features of a column share
one block of memory, in which Booleans are bit-packed. Only `to_arrow` needs pyarrow.
"""

from onehot_fast.adapter import require

require("polars")

from ._read import are_lists as are_lists
from ._read import exportable as exportable
from ._read import read_column as read_column
from ._read import read_lists as read_lists
from ._read import read_ragged as read_ragged
from ._read import read_table as read_table
from ._read import selected_names as selected_names
from ._write import wrap as wrap
from .conditions import expressions
from .expr import ExprNamespace
from .namespaces import DataFrameNamespace, LazyFrameNamespace, SeriesNamespace, onehot

__all__ = [
    "DataFrameNamespace",
    "ExprNamespace",
    "LazyFrameNamespace",
    "SeriesNamespace",
    "expressions",
    "onehot",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
