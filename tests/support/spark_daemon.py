"""The daemon of Spark's Python workers, with all that they import in it: a worker is a fork."""

import pyarrow  # noqa: F401
from pyspark.daemon import manager

import onehot_fast.integrations.spark._workers  # noqa: F401

if __name__ == "__main__":
    manager()
