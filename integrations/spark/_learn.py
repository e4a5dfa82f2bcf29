"""Fit an encoder to a DataFrame: either Spark counts strings, or Python workers read the rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from onehot_fast import Column, Encoder
from onehot_fast.adapter import read_column

from ._columns import SparkTable, as_frame
from ._workers import STATE, learn_batches, merge_states

# A state is a pickled encoder that has learned a partition. The driver collects all states of up to
# MAX_SMALL_STATE bytes with their sizes. If a state is larger, each task merges about FAN_IN
# states, until all states together have at most MAX_COLLECTED bytes.
MAX_SMALL_STATE = 1 << 16
FAN_IN = 8
MAX_COLLECTED = 1 << 27


def learn(encoder: Encoder, table: Any) -> Encoder:
    """Return an encoder fitted to all rows of a DataFrame; see `onehot_fast.adapter.Engine`."""
    frame = as_frame(table)
    encoder.partial_fit(SparkTable(frame))
    names = list(encoder.columns or ())
    part = Encoder(**{**encoder.get_params(), "columns": names})
    if not names:
        return part.partial_fit(SparkTable(frame, frame.count()))
    position_of = {name: i for i, name in enumerate(frame.columns)}
    positions = [position_of[str(name)] for name in names]
    if _spark_counts(frame, positions, encoder):
        return encoder.partial_fit(CountedTable(frame, positions))
    part.partial_fit(SparkTable(frame))
    columns = positional(frame, positions)
    states = columns.mapInArrow(lambda batches: learn_batches(part, batches), STATE)
    return encoder.merge(*(pickle.loads(state) for state in collected(states)))


def _spark_counts(frame: DataFrame, positions: Sequence[int], encoder: Encoder) -> bool:
    """Tell whether Spark can count the values of the columns.

    All columns must be strings that are not split into labels. No option may raise an error for a
    value, because the message names the row, and counts have no row numbers. Counting in Spark is
    faster than passing the rows to Python, unless nearly all strings differ.
    """
    options = encoder.get_params()
    categories, rules = options["categories"], options["handle_missing"]
    return (
        all(frame.schema[i].dataType == StringType() for i in positions)
        and options["sep"] is None
        and (categories is None or isinstance(categories, str))
        and "error" not in (rules.values() if isinstance(rules, dict) else [rules])
    )


class CountedTable(SparkTable):
    """A table of the distinct strings in some columns of a DataFrame, with counts from Spark."""

    def __init__(self, frame: DataFrame, positions: list[int]) -> None:
        pairs = ", ".join(f"{position}, c{position}" for position in positions)
        values = positional(frame, positions).selectExpr(f"stack({len(positions)}, {pairs})")
        counted = values.toDF("column", "value").groupBy("column", "value").count().toArrow()
        first = counted.filter(pc.field("column") == positions[0])
        super().__init__(frame, pc.sum(first["count"]).as_py() or 0)
        self._counted = counted

    def read_column(self, position: int) -> Column:
        """Return the distinct values of a column and the number of rows of each value."""
        is_of_column = pc.field("column") == position
        present = self._counted.filter(is_of_column & pc.field("value").is_valid())
        column = read_column(present["value"]).encode()
        column.counts = present["count"].to_numpy().astype(np.int64)
        return column


def positional(frame: DataFrame, positions: list[int]) -> DataFrame:
    """Return the columns at some positions, renamed to c0, c1, … by their position."""
    names = [f"c{i}" for i in range(len(frame.columns))]
    return frame.toDF(*names).select(*(names[i] for i in positions))


def collected(states: DataFrame) -> list[bytes]:
    """Collect the states (pickled encoders) of all partitions; tasks merge large states first."""
    states = states.persist()
    found = _small_states(states)
    try:
        while any(row.state is None for row in found):
            if len(found) == 1 or sum(row.size for row in found) <= MAX_COLLECTED:
                return [bytes(row.state) for row in states.collect()]
            fewer = states.repartition(ceil(len(found) / FAN_IN))
            merged = fewer.mapInArrow(merge_states, STATE).persist()
            found = _small_states(merged)
            states.unpersist()
            states = merged
        return [bytes(row.state) for row in found]
    finally:
        states.unpersist()


def _small_states(states: DataFrame) -> list[Row]:
    """Collect each state with its size; None replaces a state that is larger than the limit."""
    size = F.length("state")
    small = F.when(size <= MAX_SMALL_STATE, F.col("state"))
    return states.select(size.alias("size"), small.alias("state")).collect()
