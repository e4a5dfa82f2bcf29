"""polars in front of the kernels: `.onehot` on Series, expressions, and frames, lazy ones too.

>>> import polars as pl
>>> import onehot_fast.integrations.polars
>>> pl.Series("is", ["b", "a", None]).onehot().to_dict(as_series=False)
{'is_a': [False, True, False], 'is_b': [True, False, False]}

Importing the package registers the namespaces: `SeriesNamespace` as ``Series.onehot``,
`ExprNamespace` as ``Expr.onehot``, `DataFrameNamespace` as ``DataFrame.onehot`` and
`LazyFrameNamespace` as ``LazyFrame.onehot``.

A column is read into codes, by the Arrow C data interface where they lie in memory already. The
kernel writes the outputs of a column as one block, bit-packed where they are Booleans, which polars
takes over without a copy. It needs no pyarrow.
"""

from onehot_fast.integrations.polars.expr_namespace import ExprNamespace
from onehot_fast.integrations.polars.frame_namespaces import DataFrameNamespace, LazyFrameNamespace
from onehot_fast.integrations.polars.frames import block
from onehot_fast.integrations.polars.lists import read_lists
from onehot_fast.integrations.polars.read import read_column
from onehot_fast.integrations.polars.series_namespace import SeriesNamespace
from onehot_fast.integrations.polars.tables import read_table, wrap

__all__ = [
    "DataFrameNamespace",
    "ExprNamespace",
    "LazyFrameNamespace",
    "SeriesNamespace",
    "block",
    "read_column",
    "read_lists",
    "read_table",
    "wrap",
]
