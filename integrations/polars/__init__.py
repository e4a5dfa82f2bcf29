"""polars in front of the kernels: `.onehot` on Series, expressions, and frames, lazy ones too.

>>> import polars as pl
>>> import onehot_fast.integrations.polars
>>> pl.Series("is", ["b", "a", None]).onehot().to_dict(as_series=False)
{'is_a': [False, True, False], 'is_b': [True, False, False]}

Importing the package registers the namespaces: `SeriesNamespace` as ``Series.onehot``,
`ExprNamespace` as ``Expr.onehot``, `DataFrameNamespace` as ``DataFrame.onehot`` and
`LazyFrameNamespace` as ``LazyFrame.onehot``.

A column is read into codes, by the Arrow C data interface where they lie in memory already. The
outputs of a column are written as one block, bit-packed where they are Booleans, which polars takes
over without a copy. No pyarrow is needed for it, but for `to_arrow`.
"""

from onehot_fast.adapter import require

require("polars")

from ._read import read_column as read_column
from ._read import read_lists as read_lists
from ._read import read_table as read_table
from ._read import selected_names as selected_names
from ._write import wrap as wrap
from .conditions import expressions
from .expr import ExprNamespace
from .frame import DataFrameNamespace, LazyFrameNamespace
from .functions import onehot
from .series import SeriesNamespace

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
