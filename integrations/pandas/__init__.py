"""One-hot encode pandas data with `.onehot` or with faster versions of three pandas functions.

>>> import pandas as pd
>>> import onehot_fast.integrations.pandas
>>> pd.Series(["b", "a", None], index=[10, 20, 30]).onehot()
        a      b
10  False   True
20   True  False
30  False  False

Importing the package registers the accessors: `OneHotAccessor` as ``Series.onehot`` and
``Index.onehot``, `FrameAccessor` as ``DataFrame.onehot``. `get_dummies`, `from_dummies` and
`str_get_dummies` replace ``pandas.get_dummies``, ``pandas.from_dummies`` and
``Series.str.get_dummies``.

The columns of a result share one block of memory, which is written from the category codes.
"""

from onehot_fast.adapter import require

require("pandas")

from ._from_dummies import from_dummies
from ._get_dummies import get_dummies
from ._read import are_lists as are_lists
from ._read import read_column as read_column
from ._read import read_lists as read_lists
from ._read import read_ragged as read_ragged
from ._read import read_table as read_table
from ._str_get_dummies import str_get_dummies
from ._write import fitted_categories as fitted_categories
from ._write import wrap as wrap
from .accessors import FrameAccessor, OneHotAccessor, onehot

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
