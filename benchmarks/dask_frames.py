"""Five columns in partitions, encoded through Dask: ours beside `dd.get_dummies` and dask-ml.

``python -m benchmarks.dask_frames --rows 1_000_000`` has every way do the same work on the same
partitions in turns, on the one thread of Dask's synchronous scheduler, and prints the least
processor time of each and its multiple of ours. Every partition is made and dropped. "Learned" has
what must be known before in it: our fit, `categorize` of the others.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.kinds.frames import write_parts
from benchmarks.workloads import PARTS
from onehot_fast import Encoder

if TYPE_CHECKING:
    import dask.dataframe as dd

PARTITIONS = 8
Ways = dict[str, dict[str, Callable[[], Any]]]


def consume(collection: Any) -> Any:
    """Make every partition, or block, and keep none."""
    import dask

    parts = collection.to_delayed()
    return dask.compute([dask.delayed(np.shape)(part) for part in np.ravel(parts)])


def ways(frame: dd.DataFrame) -> Ways:
    """Return who can do each work."""
    import dask.dataframe as dd

    from onehot_fast.integrations.dask import get_dummies

    coded = frame.categorize().persist()
    encoder = Encoder(dtype=bool).fit(frame)
    found: Ways = {
        "texts learned, Booleans": {
            "onehot_fast get_dummies": lambda: consume(get_dummies(frame)),
            "onehot_fast Encoder": lambda: consume(Encoder().fit_transform(frame)),
            "dask categorize, get_dummies": lambda: consume(dd.get_dummies(frame.categorize())),
        },
        "texts known, Booleans": {
            "onehot_fast Encoder": lambda: consume(encoder.transform(frame)),
        },
        "categories known, Booleans": {
            "onehot_fast Encoder": lambda: consume(encoder.transform(coded)),
            "onehot_fast get_dummies": lambda: consume(get_dummies(coded)),
            "dask get_dummies": lambda: consume(dd.get_dummies(coded)),
        },
    }
    try:
        from dask_ml.preprocessing import OneHotEncoder
    except ImportError as error:
        print(f"without dask-ml: {error}")
        return found

    def dask_ml(source: dd.DataFrame) -> Any:
        return OneHotEncoder(sparse_output=True).fit(source).transform(source)

    numbers = Encoder(dtype="float64")
    found["texts learned, CSR of float64"] = {
        "onehot_fast Encoder": lambda: consume(numbers.fit_transform(frame, output="csr")),
        "dask-ml categorize, OneHotEncoder": lambda: consume(dask_ml(frame.categorize())),
    }
    found["categories, CSR of float64"] = {
        "onehot_fast Encoder": lambda: consume(numbers.fit_transform(coded, output="csr")),
        "dask-ml OneHotEncoder": lambda: consume(dask_ml(coded)),
    }
    return found


def least(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least processor time of each, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: min(each) for name, each in times.items()}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print a line for each."""
    import dask
    import dask.dataframe as dd

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=PARTS.rows)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        write_parts(PARTS, folder, PARTITIONS, chosen.rows / PARTS.rows)
        frame = dd.read_parquet(folder)
        for source, title in ((frame, "from Parquet"), (frame.persist(), "from memory")):
            for work, calls in ways(source).items():
                times = least(calls, chosen.rounds)
                ours = next(iter(times.values()))
                for name, seconds in times.items():
                    print(f"{title}, {work}: {name} {seconds * 1e3:,.0f} ms ({seconds / ours:.2f})")


if __name__ == "__main__":
    main()
