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

from onehot_fast.adapter import require

require("pandas")

from ._read import read_column as read_column
from ._read import read_lists as read_lists
from ._read import read_table as read_table
from ._write import wrap as wrap
from .accessors import FrameAccessor, OneHotAccessor, onehot
from .dummies import get_dummies
from .str_dummies import str_get_dummies
from .undummies import from_dummies

__all__ = [
    "FrameAccessor",
    "OneHotAccessor",
    "from_dummies",
    "get_dummies",
    "onehot",
    "str_get_dummies",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
