"""DataFrames of Spark: the same as in one process, whatever the partitions and the faults."""

from __future__ import annotations

import datetime as dt
import decimal
import doctest
import importlib
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from engines import CHOICES, OPTIONS, PARTS, Engine, Part, check_engine
from hypothesis import given
from strategies import examples

from onehot_fast import Encoder

pytest.importorskip("pyspark")

from pyspark.errors import PythonException
from pyspark.ml.linalg import DenseVector, SparseVector

from onehot_fast.integrations import spark as onehot_spark
from onehot_fast.integrations.spark import _learn, _workers, encode

# What it says of pandas 3 and of sockets that it leaves to the garbage collector is its own affair.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCHEMA = (
    "text string, level string, number long, real double, flag boolean, moment timestamp_ntz,"
    " kept long"
)


def frame_of(spark: Any, parts: Sequence[Part]) -> Any:
    """Return a partition for each part, also for one without rows."""

    def rows(part: Part) -> list[tuple[Any, ...]]:
        columns = [part.columns[field.split()[0]] for field in SCHEMA.split(",")]
        texts = [None if value != value else value for value in columns[0]]
        return [*zip(texts, *columns[1:], strict=True)]

    every = [rows(part) for part in parts]
    partitions = spark.sparkContext.parallelize(every, len(every)).flatMap(lambda rows: rows)
    return spark.createDataFrame(partitions, SCHEMA)


def columns_of(frame: Any) -> dict[str, list[Any]]:
    rows = frame.collect()
    return {name: [row[i] for row in rows] for i, name in enumerate(frame.columns)}


@examples(0.03)
@given(train=PARTS, test=PARTS, names=CHOICES, options=OPTIONS)
def test_partitions_teach_what_one_process_learns(spark, train, test, names, options):
    # No dictionaries come from Spark: what its partitions hold is all there is to compare.
    engine = Engine(
        "spark",
        lambda parts: frame_of(spark, parts),
        columns_of,
        declares=False,
        in_parts=True,
        errors=(ValueError, PythonException),
    )
    check_engine(engine, train, test, names, options)


DAY, ZONE = dt.date(2013, 1, 1), dt.UTC
TYPED = {
    "word": ("string", ["b", None, "a", "zz", "c", "é", "a\0b", ""]),
    "octets": ("binary", [b"b", b"", None, b"\xff", b"q", b"b", b"b", b"b"]),
    "whole": ("smallint", [1, 2, None, 3, 77, 1, 1, 2]),
    "real": ("float", [0.1, float("nan"), None, -0.0, 0.0, 1.5, 9.0, 2.0]),
    "flag": ("boolean", [True, None, False, True, True, False, True, True]),
    "day": ("date", [DAY, None, DAY.replace(day=2), DAY, DAY, DAY, DAY, DAY.replace(day=9)]),
    "price": ("decimal(10,2)", [decimal.Decimal(n) / 4 for n in [1, 2, 3, 1, 5, 1, 2, 2]]),
    "instant": ("timestamp", [dt.datetime(2013, 1, 1 + n % 3, tzinfo=ZONE) for n in range(8)]),
    "span": ("interval day to second", [dt.timedelta(hours=n % 2) for n in range(8)]),
}
BY_EXPRESSION = ["word", "octets", "whole", "real", "flag", "day"]


@pytest.fixture(scope="module")
def typed(spark: Any) -> Any:
    """Return columns of every type, and their names with dots and twice where they stay."""
    rows = [*zip(*(values for _, values in TYPED.values()), range(8), strict=True)]
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPED.items())
    frame = spark.createDataFrame(rows, f"{schema}, kept long").repartition(3)
    return frame.withColumn("a.b", frame.kept).sort("kept").cache()


def in_one_process(frame: Any, names: Sequence[str], **options: Any) -> Encoder:
    return Encoder([*names], **options).fit(frame.toArrow())


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
def test_every_form_holds_what_one_process_encodes(typed, dtype):
    """Of the even rows it is fitted, so that others are unknown; the names are in the metadata."""
    options = {"handle_unknown": "indicator", "handle_missing": "indicator", "dtype": dtype}
    some = typed.where("kept % 2 = 0")
    encoder = in_one_process(some, TYPED, max_categories=3, **options)
    assert Encoder([*TYPED], max_categories=3, **options).fit(some) == encoder
    expected = encoder.transform(typed.toArrow(), "numpy")

    columns = encoder.transform(typed)
    assert columns.columns == [*encoder.get_feature_names_out(), "kept", "a.b"]
    rows = np.array([[*row] for row in columns.collect()])
    np.testing.assert_array_equal(rows[:, :-2], expected)
    np.testing.assert_array_equal(rows[:, -1], range(8))

    array = encoder.transform(typed, "array")
    element = {"bool": "tinyint", "uint8": "tinyint", "float32": "float"}[dtype]
    assert array.schema["features"].dataType.simpleString() == f"array<{element}>"
    np.testing.assert_array_equal([row.features for row in array.collect()], expected)

    vector = encoder.transform(typed, "vector")
    found = [row.features for row in vector.collect()]
    assert {type(each) for each in found} == {SparseVector}
    np.testing.assert_array_equal([each.toArray() for each in found], expected)
    attributes = vector.schema["features"].metadata["ml_attr"]["attrs"]["binary"]
    assert [each["name"] for each in attributes] == [*encoder.get_feature_names_out()]
    decoded = vector.sparkSession.createDataFrame(vector.collect(), vector.schema)
    words = {"unknown": None, "infrequent": None}
    values = encoder.inverse_transform(expected, **words)
    for each in (columns, array, decoded):
        row = encoder.inverse_transform(each, **words).collect()[3]
        assert row.word == values["word"][3]
        assert (row.price, row.day, row.instant.day) == (
            values["price"][3], values["day"][3], values["instant"][3].day,
        )  # fmt: skip


def test_expressions_give_what_the_workers_give(typed):
    some = typed.where("kept % 2 = 0")
    categories = {"whole": [1, 2.5, "3", 2**70, True + 1], "flag": [1, "no"], "day": [DAY, "x"]}
    options = {"drop": "last", "handle_missing": "propagate", "dtype": "float64"}
    encoder = Encoder(
        BY_EXPRESSION,
        handle_unknown="infrequent",
        max_categories=3,
        categories=categories,
        **options,
    ).fit(some)
    for output in ("columns", "array", "vector"):
        frames = [
            encode(typed, encoder, output=output, without_python=alone) for alone in (True, False)
        ]
        assert frames[0].columns == frames[1].columns
        assert "MapInArrow" not in frames[0]._jdf.queryExecution().toString()
        rows = [[*map(repr, map(in_full, frame.collect()))] for frame in frames]
        assert rows[0] == rows[1]
        assert "nan" in str(rows)


def in_full(row: Any) -> list[Any]:
    return [v.toArray().tolist() if isinstance(v, DenseVector | SparseVector) else v for v in row]


def test_expressions_refuse_what_the_workers_refuse(spark, typed):
    encoder = Encoder(["word"]).fit({"word": ["a", "b"]})
    for rows in ([("c",)], [(None,)]):
        frame = spark.createDataFrame(rows, "word string")
        strict = Encoder(["word"], handle_missing="error").fit({"word": ["a"]})
        with pytest.raises(Exception, match=r"column 'word': (c is unknown|the value is missing)"):
            encode(frame, strict, without_python=True).collect()
    with pytest.raises(TypeError, match=r"'price' is of Spark type decimal.*without_python=False"):
        encode(typed, Encoder(["price"]).fit({"price": [1]}), without_python=True)
    many = Encoder().fit({"word": [*map(str, range(300))]})
    with pytest.raises(ValueError, match="at most 200 features, and the encoder has 300"):
        encode(typed, many, without_python=True)
    assert encoder.transform({"word": ["a"]}).tolist() == [[True, False]]


def failing_twice(batches: Iterator[Any]) -> Iterator[Any]:
    """Fail after some rows, in two attempts out of three."""
    from pyspark import TaskContext

    for batch in batches:
        yield batch
        if TaskContext.get().attemptNumber() < 2:
            raise OSError("the machine went away")


def test_what_a_failed_task_has_learned_is_not_counted_twice(spark):
    cloudpickle = importlib.import_module("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(importlib.import_module(__name__))
    frame = spark.range(0, 100, 1, 3).selectExpr("string(id % 7) AS digit")
    lost = frame.mapInArrow(failing_twice, frame.schema)

    encoder = Encoder(handle_missing="indicator").fit(lost)

    assert encoder == in_one_process(frame, ["digit"], handle_missing="indicator")
    np.testing.assert_array_equal(
        np.array([[*row] for row in encoder.transform(lost).collect()]),
        encoder.transform(frame.toArrow(), "numpy"),
    )


def test_large_states_are_merged_by_the_tasks(spark, monkeypatch):
    """With no state small enough for the driver a tree leaves one."""
    monkeypatch.setattr(_learn, "SMALL_STATE", 0)
    monkeypatch.setattr(_learn, "MOST_COLLECTED", 0)
    monkeypatch.setattr(_learn, "FAN_IN", 2)
    rounds: list[int] = []
    small = _learn._small_states
    monkeypatch.setattr(_learn, "_small_states", lambda states: rounds.append(1) or small(states))
    frame = spark.range(0, 3000, 1, 4).selectExpr("concat('level ', id % 1009) AS name")

    encoder = Encoder(["name"], min_frequency=3).fit(frame)

    assert len(rounds) > 1
    assert encoder == in_one_process(frame, ["name"], min_frequency=3)


def test_errors_before_anything_runs(spark):
    frame = spark.range(2).selectExpr("'a' AS word", "array(1) AS list", "id")
    with pytest.raises(ValueError, match="no column 'wrod': did you mean 'word'"):
        Encoder(["wrod"]).fit(frame)
    with pytest.raises(TypeError, match=r"column 'list': Spark type array<int> cannot be encoded"):
        Encoder(["list"]).fit(frame)
    encoder = Encoder(["word"]).fit({"word": ["a"]})
    with pytest.raises(ValueError, match="no column 'word'"):
        encoder.transform(frame.drop("word"))
    with pytest.raises(ValueError, match="would be named 'id'"):
        encode(frame, encoder, output="vector", names="id")
    with pytest.raises(ValueError, match=r"output = 'csr' is unknown.*'vector'"):
        encoder.transform(frame, "csr")
    with pytest.raises(TypeError, match=r"missing = 3 is an int; column 'word' holds string"):
        encoder.inverse_transform(encoder.transform(frame), missing=3)


def test_errors_of_rows_name_column_and_value(spark):
    frame = spark.createDataFrame([("a", 1), ("zz", None)], "word string, n int")
    with pytest.raises(PythonException, match=r"column 'word', row \d: 'zz' is unknown"):
        Encoder(["word"]).fit({"word": ["a"]}).transform(frame).collect()
    with pytest.raises(PythonException, match=r"partition \d, .*column 'n', row 0: .* missing"):
        Encoder(["n"], handle_missing="error").fit(frame)


def test_an_encoder_comes_once_to_a_process():
    encoder = Encoder().fit({"size": ["S", "L"]})
    first, second = (pickle.loads(pickle.dumps(_workers.Shipped(encoder))) for _ in range(2))

    assert first is second
    assert first.encoder == encoder


def test_columns_that_nobody_named(spark):
    """Texts are encoded, numbers stay; without texts there is nothing to encode but rows."""
    frame = spark.createDataFrame([("a", 1), ("b", 2)], "word string, n int")
    seen: list[list[str]] = []
    chosen = Encoder(lambda table: seen.append(table.columns) or ["n"]).fit(frame)

    assert Encoder().fit(frame).columns == ("word",)
    assert (chosen.columns, seen) == (("n",), [["word", "n"]])
    with pytest.warns(UserWarning, match="nothing is encoded"):
        nothing = Encoder().fit(frame.select("n"))
    assert repr(nothing).endswith("from 2 rows>")
    assert chosen.estimate(frame).rows == 2
    assert chosen.partial_fit(frame).features["count"].tolist() == [2, 2]


@pytest.mark.parametrize("name", ["__init__", "encoding", "ml"])
def test_examples_give_what_they_show(spark, name):
    module = importlib.import_module(f"{onehot_spark.__name__}.{name}".removesuffix(".__init__"))
    found = doctest.testmod(module, extraglobs={"spark": spark})

    assert (found.failed, found.attempted > 0) == (0, True)


def test_what_leaves_other_columns_out(spark):
    frame = spark.range(0, 40, 1, 2).selectExpr("string(id % 3) AS digit", "id")
    encoded = Encoder(["digit"], remainder="drop").fit(frame).transform(frame)

    assert [field.dataType.simpleString() for field in encoded.schema] == ["boolean"] * 3
    assert sum(sum(row) for row in encoded.collect()) == 40
