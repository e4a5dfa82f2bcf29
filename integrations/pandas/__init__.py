"""pandas in front of the kernels: `.onehot`, and three of pandas' own functions, faster.

>>> import pandas as pd
>>> import onehot_fast.integrations.pandas
>>> pd.Series(["b", "a", None], index=[10, 20, 30]).onehot()
        a      b
10  False   True
20   True  False
30  False  False

Importing the package registers the accessors: `OneHotAccessor` as ``Series.onehot`` and
``Index.onehot``, `FrameAccessor` as ``DataFrame.onehot``. `get_dummies`, `from_dummies` and
`str_get_dummies` give what ``pandas.get_dummies``, ``pandas.from_dummies`` and
``Series.str.get_dummies`` give.

A column is read into codes (its category's position, -1 where the value is missing) and the kernel
writes the codes as one (categories, rows) block. The frame is a view of that block: one block,
every column contiguous, nothing copied.
"""

from onehot_fast.integrations.pandas.accessors import OneHotAccessor
from onehot_fast.integrations.pandas.dummies import get_dummies
from onehot_fast.integrations.pandas.frame_accessor import FrameAccessor
from onehot_fast.integrations.pandas.lists import read_lists
from onehot_fast.integrations.pandas.read import factorize
from onehot_fast.integrations.pandas.strings import str_get_dummies
from onehot_fast.integrations.pandas.tables import read_column, read_table, wrap
from onehot_fast.integrations.pandas.undummies import from_dummies

__all__ = [
    "FrameAccessor",
    "OneHotAccessor",
    "factorize",
    "from_dummies",
    "get_dummies",
    "read_column",
    "read_lists",
    "read_table",
    "str_get_dummies",
    "wrap",
]
