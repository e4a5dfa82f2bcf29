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

from ._read import read_column, read_lists, read_table, selected_names
from ._write import wrap
from .expr import ExprNamespace
from .frame import DataFrameNamespace, LazyFrameNamespace
from .series import SeriesNamespace

__all__ = [
    "DataFrameNamespace",
    "ExprNamespace",
    "LazyFrameNamespace",
    "SeriesNamespace",
    "read_column",
    "read_lists",
    "read_table",
    "selected_names",
    "wrap",
]
