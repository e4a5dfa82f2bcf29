"""The ways that benchmarks/spark_frames.py measures compute the same."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
SCALE = 0.003

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def session(spark):
    """Return the session, with batches as large as usual while the test runs."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, "10000")
    yield spark
    spark.conf.set(name, before)


@pytest.fixture
def benchmarks(monkeypatch):
    """Return the script, the module that draws its table, and the table's recipe."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    names = ("spark_frames", "kinds.frames", "workloads")
    script, frames, workloads = (importlib.import_module(f"benchmarks.{name}") for name in names)
    return script, frames, workloads.PARTS


def cells(row):
    """Return the cells of a row of vectors, arrays or numbers, one after the other."""
    values = (each.toArray() if hasattr(each, "toArray") else each for each in row)
    return np.concatenate([np.atleast_1d(value) for value in values])


def test_every_way_gives_the_encoding(benchmarks, session, tmp_path):
    """Spark numbers the categories by their frequency, which is that of their order here.

    Our first three codes are reserved for values without a category.
    """
    script, frames, recipe = benchmarks
    frames.write_parts(recipe, str(tmp_path), 1, SCALE)
    given = recipe.make(SCALE)
    results = []
    ways = script.entries(session.read.parquet(str(tmp_path)), results.append)
    codes = np.stack(given.codes, axis=1)
    expected = {"codes: onehot_fast": codes + 3, "codes: Spark": codes}

    assert {name.split(": ")[1] for name in ways} == {"onehot_fast", "Spark"}
    for name, call in ways.items():
        call()
        if not name.startswith("fit"):
            rows = np.stack([cells(row) for row in results.pop().collect()])
            np.testing.assert_array_equal(rows, expected.get(name, given.expected.T), err_msg=name)
    assert results == []
