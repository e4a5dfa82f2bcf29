"""Encode Spark DataFrames on the executors, with an `Encoder` or a stage of a Spark ML pipeline.

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
    from .encoding import encode
    from .ml import OneHotEncoder, OneHotEncoderModel

require("pyspark")
require("pyarrow")

__all__ = ["OneHotEncoder", "OneHotEncoderModel", "encode"]

_OF_ENGINE = ("count_rows", "inverse_transform", "learn", "transform")


def __getattr__(name: str) -> Any:
    # Imported at first use: every Python worker imports this package but does not need Spark ML,
    # which would import SciPy and pandas.
    if name not in (*__all__, *_OF_ENGINE):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "ml" if name.startswith("OneHotEncoder") else "encoding"
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
