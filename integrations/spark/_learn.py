"""From a DataFrame to a fitted encoder: what each partition teaches, merged."""

from __future__ import annotations

import pickle
from math import ceil
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from onehot_fast import Encoder

from ._columns import as_frame, without_rows
from ._workers import STATE, learn_batches, merge_states

# States of up to so many bytes come to the driver at once; where one is larger, the tasks merge
# so many at a time until all together are no larger than that.
SMALL_STATE = 1 << 16
FAN_IN = 8
MOST_COLLECTED = 1 << 27


def learn(encoder: Encoder, table: Any) -> Encoder:
    """Return an encoder that has learned all rows; see `onehot_fast.adapter.Engine`."""
    frame = as_frame(table)
    encoder.partial_fit(without_rows(frame))
    names = list(encoder.columns or ())
    if not names:
        return Encoder(**{**encoder.get_params(), "columns": []}).partial_fit(
            without_rows(frame, frame.count())
        )
    part = Encoder(**{**encoder.get_params(), "columns": names})
    columns = positional(frame, [frame.columns.index(str(name)) for name in names])
    states = columns.mapInArrow(lambda batches: learn_batches(part, batches), STATE)
    return encoder.merge(*(pickle.loads(state) for state in collected(states)))


def positional(frame: DataFrame, positions: list[int]) -> DataFrame:
    """Return some columns, named so that every name is plain and there once."""
    names = [f"c{i}" for i in range(len(frame.columns))]
    return frame.toDF(*names).select(*(names[i] for i in positions))


def collected(states: DataFrame) -> list[bytes]:
    """Return the states of all partitions, merged by the tasks where they are large."""
    states = states.persist()
    found = _small_states(states)
    try:
        while any(row.state is None for row in found):
            if len(found) == 1 or sum(row.size for row in found) <= MOST_COLLECTED:
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
    """Return the size of each state, and the state itself if it is small."""
    size = F.length("state")
    small = F.when(size <= SMALL_STATE, F.col("state"))
    return states.select(size.alias("size"), small.alias("state")).collect()
