"""Spark: DataFrames fitted and encoded by the workers, and a stage of Spark's ML pipelines.

`onehot_fast.Encoder` takes a ``pyspark.sql.DataFrame`` where it takes one of pandas. `fit` learns
in one pass, a state for each partition that the driver merges; `transform` is lazy, and its schema
is known before anything runs.

>>> from onehot_fast import Encoder
>>> frame = spark.createDataFrame([("S", 1), ("L", 3), (None, 2)], "size string, price int")
>>> encoder = Encoder(["size"]).fit(frame)
>>> encoder.transform(frame).collect()[0]
Row(size_L=False, size_S=True, price=1)
>>> encoder.transform({"size": ["L"], "price": [2]})  # the same encoder, where there is no Spark
array([[1, 0, 2]])

The package has to be installed where the workers run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onehot_fast.adapter import require

if TYPE_CHECKING:
    from ._columns import count_rows as count_rows
    from ._learn import learn as learn
    from .encoding import encode
    from .encoding import inverse_transform as inverse_transform
    from .encoding import transform as transform
    from .ml import OneHotEncoder, OneHotEncoderModel

require("pyspark")
require("pyarrow")

__all__ = ["OneHotEncoder", "OneHotEncoderModel", "encode"]

# Imported when first asked for: every Python worker imports this package, and none needs Spark's
# ML, with which SciPy and pandas come.
_MODULES = {
    "OneHotEncoder": "ml",
    "OneHotEncoderModel": "ml",
    "count_rows": "_columns",
    "encode": "encoding",
    "inverse_transform": "encoding",
    "learn": "_learn",
    "transform": "encoding",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
