"""One-hot encode Arrow arrays, tables and streams, directly or in pyarrow pipelines.

>>> import pyarrow as pa
>>> from onehot_fast import Encoder
>>> from onehot_fast.integrations.arrow import encode, one_hot
>>> one_hot(pa.array(["b", "a", None])).to_arrow().to_numpy_ndarray()
array([[0, 1],
       [1, 0],
       [0, 0]], dtype=uint8)
>>> table = pa.table({"size": ["S", "L", None], "price": [1, 3, 2]})
>>> encode(table, Encoder().fit(table)).to_pydict()
{'size_L': [False, True, False], 'size_S': [True, False, False], 'price': [1, 3, 2]}

`one_hot` encodes one column. `encode` and `decode` take tables and readers; they process a reader
batch by batch, so its data may be larger than memory. `register` and `expression` let scanners,
filters and Acero use an encoder. Every object with the Arrow PyCapsule interface is accepted, e.g.
from pyarrow, polars, pandas, DuckDB or nanoarrow. Reading and exporting copy no data.
"""

from onehot_fast.adapter import require

require("pyarrow")

from ._read import are_lists as are_lists
from ._read import flattened as flattened
from ._read import is_encodable as is_encodable
from ._read import is_list_type as is_list_type
from ._read import read_column as read_column
from ._read import read_lists as read_lists
from ._read import read_ragged as read_ragged
from ._read import read_table as read_table
from ._types import can_represent as can_represent
from ._types import cast_to as cast_to
from ._types import common_type as common_type
from ._types import fitted_type as fitted_type
from ._types import plain_type as plain_type
from ._types import rows_of as rows_of
from ._types import scalar_array as scalar_array
from ._types import taken as taken
from ._types import type_name as type_name
from ._types import type_of_name as type_of_name
from ._values import require_scale as require_scale
from ._write import LAYOUTS as LAYOUTS
from ._write import wrap as wrap
from .decoding import decode
from .decoding import decode_for as decode_for
from .encoding import encode, encoded_schema
from .functions import expression, register
from .tensors import OneHotArray, one_hot

__all__ = ["OneHotArray", "decode", "encode", "encoded_schema", "expression", "one_hot", "register"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
