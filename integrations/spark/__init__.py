"""Spark: DataFrames fitted and encoded by the workers, and a stage of Spark's ML pipelines.

`onehot_fast.Encoder` takes a ``pyspark.sql.DataFrame`` where it takes one of pandas. `fit` learns
in one pass, a state for each partition that the driver merges; `transform` is lazy, and its schema
is known before anything runs.

>>> from onehot_fast import Encoder
>>> frame = spark.createDataFrame([("S", 1), ("L", 3), (None, 2)], "size string, price int")
>>> encoder = Encoder(["size"]).fit(frame)
>>> encoder.transform(frame).collect()[0]
Row(size_L=False, size_S=True, price=1)
>>> encoder.transform({"size": ["L"]})  # the same encoder, where there is no Spark
array([[ True, False]])

The package has to be installed where the workers run.
"""

from onehot_fast.adapter import require

require("pyspark")
require("pyarrow")

from ._columns import count_rows as count_rows
from ._learn import learn as learn
from .encoding import encode
from .encoding import inverse_transform as inverse_transform
from .encoding import transform as transform
from .ml import OneHotEncoder, OneHotEncoderModel

__all__ = ["OneHotEncoder", "OneHotEncoderModel", "encode"]
