"""Fit and encode Spark DataFrames on the executors, also as a stage of a Spark ML pipeline.

`onehot_fast.Encoder` accepts a ``pyspark.sql.DataFrame``. `fit` reads the rows once: Spark fits an
encoder to each partition, and the driver merges the encoders. `transform` is lazy, and the schema
of its result is known before anything runs.

>>> from onehot_fast import Encoder
>>> frame = spark.createDataFrame([("S", 1), ("L", 3), (None, 2)], "size string, price int")
>>> encoder = Encoder(["size"]).fit(frame)
>>> encoder.transform(frame).collect()[0]
Row(size_L=False, size_S=True, price=1)
>>> encoder.transform({"size": ["L"], "price": [2]})  # the same encoder without Spark
array([[1, 0, 2]])

Install this package on every worker node, too.
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

# Imported at first use: every Python worker imports this package but does not need Spark ML, which
# would import SciPy and pandas.
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
    """Return the public names."""
    return [*__all__]
