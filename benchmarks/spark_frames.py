"""Spark: our encoder beside Spark's StringIndexer and OneHotEncoder, from Parquet to a sink.

    python -m benchmarks.spark_frames --rows 1000000

Every entry is timed in turn, once a round, in one session; the processor time is that of all
processes of Spark, and the least of the rounds counts. The first round is for Java's compiler. A
Python worker that Spark ends, after a minute without work, takes its processor time with it: where
a round takes longer, only wall times count.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kinds.frames import write_parts
from benchmarks.workloads import PARTS


def processor_seconds() -> float:
    """Return the processor time of all processes that this one has started."""
    children: dict[int, list[tuple[int, int]]] = {}
    for entry in os.listdir("/proc"):
        try:
            fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if entry.isdigit():
            children.setdefault(int(fields[1]), []).append(
                (int(entry), sum(map(int, fields[11:15])))
            )
    ticks, pending = 0, [os.getpid()]
    while pending:
        for process, time_of in children.get(pending.pop(), []):
            ticks += time_of
            pending.append(process)
    return ticks / os.sysconf("SC_CLK_TCK")


def entries(frame: Any, sink: Callable[[Any], None]) -> dict[str, Callable[[], None]]:
    """Return what is timed, by name: end to end, from Parquet to the sink."""
    from pyspark.ml import Pipeline, feature
    from pyspark.ml.functions import vector_to_array

    from onehot_fast import Encoder
    from onehot_fast.integrations.spark import encode

    columns = frame.columns
    indices, vectors = ([f"{name}_{kind}" for name in columns] for kind in ("index", "vector"))
    indexer = feature.StringIndexer(inputCols=columns, outputCols=indices)
    pipeline = Pipeline(
        stages=[
            indexer,
            feature.OneHotEncoder(inputCols=indices, outputCols=vectors, dropLast=False),
            feature.VectorAssembler(inputCols=vectors, outputCol="features"),
        ]
    )

    def theirs() -> Any:
        return pipeline.fit(frame).transform(frame)

    def ours(output: Any, **options: Any) -> Any:
        return encode(frame, Encoder(columns, **options).fit(frame), output=output)

    def ours_each() -> Any:
        return encode(frame, Encoder(columns).fit(frame), output="vector", names=vectors)

    return {
        "fit: onehot_fast": lambda: Encoder(columns).fit(frame) and None,
        "fit: Spark": lambda: pipeline.fit(frame) and None,
        "vector of all: onehot_fast": lambda: sink(ours("vector")),
        "vector of all: Spark": lambda: sink(theirs().select("features")),
        "vector of each: onehot_fast": lambda: sink(ours_each()),
        "vector of each: Spark": lambda: sink(theirs().select(*vectors)),
        "array of float: onehot_fast": lambda: sink(ours("array", dtype="float32")),
        "array of int8: onehot_fast": lambda: sink(ours("array")),
        # Spark makes arrays in no other way.
        "array of float: Spark": lambda: sink(
            theirs().select(vector_to_array("features", "float32"))
        ),
        "array of int8: Spark": lambda: sink(
            theirs().select(vector_to_array("features", "float32").cast("array<tinyint>"))
        ),
        "codes: onehot_fast": lambda: sink(ours("codes")),
        "codes: Spark": lambda: sink(indexer.fit(frame).transform(frame).select(*indices)),
        "columns: onehot_fast": lambda: sink(ours("columns")),
        "columns of int8: onehot_fast": lambda: sink(ours("columns", dtype="int8")),
    }


def main() -> None:
    """Print the seconds of each entry."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=PARTS.rows)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="entries whose names a regular expression finds")
    parser.add_argument("--parquet", action="store_true", help="write Parquet, not nothing")
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {"spark.ui.showConsoleProgress": "false", "spark.driver.memory": "6g"}
    builder = SparkSession.builder.master(f"local[{arguments.workers}]")
    session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder, "rows")).mkdir()
        write_parts(PARTS, str(source), 2, arguments.rows / PARTS.rows)
        frame = session.read.parquet(str(source))

        def sink(table: Any) -> None:
            form, path = ("parquet", f"{folder}/out") if arguments.parquet else ("noop", None)
            table.write.format(form).mode("overwrite").save(path)

        timed = {k: v for k, v in entries(frame, sink).items() if re.search(arguments.only, k)}
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in timed}
        for _ in range(arguments.rounds + 1):
            for name, call in timed.items():
                processor, wall = processor_seconds(), time.perf_counter()
                call()
                elapsed = time.perf_counter() - wall
                seconds[name].append((processor_seconds() - processor, elapsed))
                print(f"{name}: {seconds[name][-1]}", file=sys.stderr)
        print(f"{arguments.rows:,} rows, {arguments.workers} workers, {session.version}")
        for name, times in seconds.items():
            processor, wall = zip(*(times[1:] or times), strict=True)
            print(
                f"{name:30} {min(processor):7.1f} s of processor {min(wall):7.1f} s,"
                f" median {median(wall):7.1f} s, first {times[0][1]:7.1f} s"
            )
    session.stop()


if __name__ == "__main__":
    main()
