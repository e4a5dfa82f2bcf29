"""DataFrames of Spark are encoded as in one process, for any partitions and faults."""

import copy
import datetime as dt
import decimal
import doctest
import importlib
import pickle
import subprocess
import sys
import warnings
from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import given

from onehot_fast import Encoder, UnknownValueWarning
from support.engines import CHOICES, OPTIONS, PARTS, Engine, check_engine, document
from support.strategies import examples

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.errors import PythonException
from pyspark.ml.feature import IndexToString
from pyspark.ml.linalg import DenseVector, SparseVector, VectorUDT
from pyspark.sql.types import StructField, StructType

from onehot_fast.integrations import spark as onehot_spark
from onehot_fast.integrations.spark import _columns, _learn, _workers, encode
from onehot_fast.integrations.spark._columns import PlannedSchema
from onehot_fast.integrations.sql import coded_features

# Spark warns of pandas 3, and leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCHEMA = (
    "text string, level string, number long, real double, flag boolean, moment timestamp_ntz,"
    " kept long"
)


def frame_of(spark, parts):
    """Return a frame with a partition for each part, which may be empty."""

    def rows(part):
        columns = [part.columns[field.split()[0]] for field in SCHEMA.split(",")]
        texts = [None if value != value else value for value in columns[0]]
        return [*zip(texts, *columns[1:], strict=True)]

    every = [rows(part) for part in parts]
    partitions = spark.sparkContext.parallelize(every, len(every)).flatMap(lambda rows: rows)
    return spark.createDataFrame(partitions, SCHEMA)


def columns_of(frame):
    rows = frame.collect()
    return {name: [row[i] for row in rows] for i, name in enumerate(frame.columns)}


@pytest.mark.long
@examples(0.03)
@given(train=PARTS, test=PARTS, names=CHOICES, options=OPTIONS)
def test_partitions_are_learned_as_in_one_process(spark, train, test, names, options):
    # Spark has no dictionaries that could declare categories.
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
def typed(spark):
    """Return columns of every type, and one with a dot in its name."""
    rows = [*zip(*(values for _, values in TYPED.values()), range(8), strict=True)]
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPED.items())
    frame = spark.createDataFrame(rows, f"{schema}, kept long").repartition(3)
    return frame.withColumn("a.b", frame.kept).sort("kept").cache()


def in_one_process(frame, names, **options):
    return Encoder([*names], **options).fit(frame.toArrow())


def test_every_form_equals_that_of_one_process(spark, typed):
    """Odd rows have unknown values; the metadata hold the names of the features."""
    options = {"handle_unknown": "indicator", "handle_missing": "indicator", "max_categories": 3}
    some = typed.where("kept % 2 = 0")
    encoder = Encoder([*TYPED], **options).fit(some)
    assert document(encoder) == document(in_one_process(some, TYPED, **options))
    alone = copy.copy(encoder).set_params(remainder="drop")
    expected = alone.transform(typed.toArrow(), "numpy")

    columns = encoder.transform(typed)
    assert columns.columns == encoder.get_feature_names_out().tolist()
    assert columns.columns == [*encoder.schema.names, "kept", "a.b"]
    vector = encoder.transform(typed, "vector")
    attributes = vector.schema["features"].metadata["ml_attr"]["attrs"]["binary"]
    assert [each["name"] for each in attributes] == [*encoder.schema.names]
    dense = spark.createDataFrame([(DenseVector(row),) for row in expected], vector.schema[-1:])
    frames = {SparseVector: [vector], DenseVector: [dense], list: []}
    elements = {"bool": "tinyint", "uint8": "tinyint", "float32": "float", "float64": "double"}
    for dtype, element in elements.items():
        array = copy.copy(encoder).set_params(dtype=dtype).transform(typed, "array")
        assert array.schema["features"].dataType.simpleString() == f"array<{element}>"
        frames[list].append(array)

    np.testing.assert_array_equal([row[:-2] for row in columns.collect()], expected)
    for kind, frame in [(kind, frame) for kind, several in frames.items() for frame in several]:
        values = [row.features for row in frame.collect()]
        assert {type(each) for each in values} == {kind}
        np.testing.assert_array_equal([np.array(each) for each in values], expected)
    nulls = {"unknown": None, "infrequent": None}
    values = encoder.inverse_transform(expected, **nulls)
    for frame in (columns, vector, dense, array):
        row = encoder.inverse_transform(frame, **nulls).collect()[3]
        assert (row.word, row.price, row.day) == (
            values["word"][3], values["price"][3], values["day"][3],
        )  # fmt: skip
        assert row.instant.day == values["instant"][3].day


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_the_time_zone_of_the_session_does_not_matter(spark, zone):
    """The time zone of Spark's session changes no result, not even in an hour that occurs twice."""
    hours = [dt.datetime(2013, 11, 3, 4 + n, 30, tzinfo=ZONE) for n in range(4)]
    rows = [*zip([*hours, None, dt.datetime.min.replace(tzinfo=ZONE)], range(6), strict=True)]
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        texts = [(None if t is None else t.isoformat(), n) for t, n in rows]
        frame = spark.createDataFrame(texts, "t string, n int").repartition(2)
        frame = frame.selectExpr(
            "timestamp(t) AS t", "cast(t AS timestamp_ntz) AS local", "date(t) AS day"
        )
        encoder = Encoder(["t", "local", "day"], handle_missing="indicator").fit(frame)
        table = frame.toArrow()
        expected = encoder.transform(table, "numpy")
        encoded = encoder.transform(frame)
        decoded = encoder.inverse_transform(encoded)

        assert document(encoder) == document(encoder.fit(table))
        assert len(encoder.categories["t"]) == 5
        assert decoded.schema.simpleString() == "struct<t:timestamp,local:timestamp_ntz,day:date>"
        np.testing.assert_array_equal(np.array([[*row] for row in encoded.collect()]), expected)
        assert decoded.toArrow().to_pylist() == table.to_pylist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_codes_equal_those_of_one_process(typed):
    """The codes of Spark equal those of one process, and metadata name them for Spark's ML."""
    some = typed.where("kept % 2 = 0")
    encoder = in_one_process(some, TYPED, handle_unknown="ignore", max_categories=3)
    table = typed.toArrow()
    names = [f"{name} index" for name in TYPED]

    codes = encoder.transform(typed, "codes")
    assert codes.columns == typed.columns
    assert {kind for _, kind in codes.dtypes[: len(TYPED)]} == {"int"}
    found = np.array([row[: len(TYPED)] for row in codes.collect()])
    np.testing.assert_array_equal(found, encoder.transform(table, "codes"))
    indices = encode(typed, encoder, output="indices", names=names, keep=True)
    assert indices.columns == [*typed.columns, *names]
    found = np.array([row[-len(names) :] for row in indices.collect()])
    np.testing.assert_array_equal(found, encoder.transform(table, "indices"))

    texts = codes.schema["word"].metadata["ml_attr"]["vals"]
    assert texts[:3] == ["(missing)", "(unknown)", "(infrequent)"]
    assert len(texts) == encoder.cardinalities["word"]
    names = IndexToString(inputCol="word", outputCol="text").transform(codes)
    codes_of = encoder.transform(table, "codes")[:, 0].tolist()
    assert [row.text for row in names.select("text").collect()] == [texts[i] for i in codes_of]


def test_expressions_equal_the_results_of_workers(typed):
    some = typed.where("kept % 2 = 0")
    options = {"handle_unknown": "infrequent", "handle_missing": "propagate", "dtype": "float64"}
    options["categories"] = {"whole": [1, 2.5, "3", 2**70, True + 1], "flag": [1, "no"]}
    options["categories"]["day"] = [DAY, "x"]
    encoder = Encoder(BY_EXPRESSION, max_categories=3, drop="last", **options).fit(some)
    frames = []
    for alone in (True, False):
        frame = typed
        for output, names in [("array", "array"), ("vector", "vector"), ("columns", None)]:
            frame = encode(
                frame, encoder, output=output, names=names, keep=True, without_python=alone
            )
        frames.append(frame)
    # A vector is the result of a function of Spark's ML, which is nullable.
    fields = [[f for f in frame.schema if f.name != "vector"] for frame in frames]
    assert fields[0] == fields[1]
    assert frames[0].columns == frames[1].columns
    assert "MapInArrow" not in frames[0]._jdf.queryExecution().toString()
    rows = [[*map(repr, map(in_full, frame.collect()))] for frame in frames]
    assert rows[0] == rows[1]
    assert "nan" in str(rows)


HARD_TEXTS = ["a", "A", "a ", "it's", "a\\b", "$x", "${x}", "a\nb", '"', "é"]
HARD_TYPES = {
    "plain": ("string", HARD_TEXTS),
    "folded": ("string collate utf8_lcase", HARD_TEXTS),
    "trimmed": ("string collate unicode_ci_rtrim", HARD_TEXTS),
    "day": ("date", [dt.date(1582, 10, 4 + i) for i in range(9)] + [dt.date(999, 1, 1)]),
    "whole": ("decimal(38,0)", [decimal.Decimal(i) for i in range(10)]),
    "price": ("decimal(38,18)", [decimal.Decimal(i) / 4 for i in range(10)]),
    "nothing": ("double", [float("nan"), None, 1.5, *[float("nan")] * 7]),
}


@pytest.mark.parametrize("setting", ["escapedStringLiterals", "quotedRegexColumnNames"])
def test_sql_equals_the_results_of_workers(spark, setting):
    """Collations, days of two calendars, rounded decimals, columns of NaN, and two settings."""
    rows = [*zip(*(values for _, values in HARD_TYPES.values()), strict=True)]
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in HARD_TYPES.items())
    frame = spark.createDataFrame(rows, schema)
    categories = {"price": [decimal.Decimal("1.5"), 2], "day": [dt.date(1582, 10, 10)]}
    categories |= {"whole": [decimal.Decimal("1.5"), decimal.Decimal("1E+40"), 3]}
    categories |= {name: [*HARD_TEXTS[::2], "a  "] for name in ("plain", "folded", "trimmed")}
    options = {"handle_unknown": "indicator", "handle_missing": "indicator", "dtype": "int32"}
    encoder = Encoder([*HARD_TYPES], categories=categories, **options)
    encoder.fit(frame.where("nothing IS NULL"))
    # Without the names of the features, in which Spark would replace a variable.
    items = [coded_features(c, "spark", c.name, "code")[1] for c in encoder.schema.columns]
    statement = ", ".join(f"{item} AS f{i}" for i, item in enumerate(chain(*items)))
    frame.createOrReplaceTempView("hard")
    spark.conf.set(f"spark.sql.parser.{setting}", "true")
    try:
        found = np.array(spark.sql(f"SELECT {statement} FROM hard").collect())
    finally:
        spark.conf.unset(f"spark.sql.parser.{setting}")

    expected = encoder.transform({n: values for n, (_, values) in HARD_TYPES.items()}, "numpy")
    np.testing.assert_array_equal(found, expected)
    frame = frame.drop("nothing")
    plain = Encoder(["plain", "folded", "day"], **options).fit(frame.limit(4))
    assert encode(frame, plain, without_python=True).collect() == encode(frame, plain).collect()


def test_char_columns_are_compared_with_their_blanks(spark):
    """`to_sql` and both ways of `encode` give the same features for a column of type CHAR.

    Spark returns 'a' in a char(2) as 'a '.
    """
    spark.sql("CREATE TABLE padded (c CHAR(2)) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('a'), ('ab'), (NULL)")
    frame = spark.table("padded").sort("c")
    encoder = Encoder(["c"], handle_unknown="indicator").fit({"c": ["a", "a "]})

    found = spark.sql(f"{encoder.to_sql('spark', 'padded')} ORDER BY c").collect()
    features = ["c_a", "c_a ", "c_(unknown)"]
    assert [[row[name] for name in features].index(True) for row in found[1:]] == [1, 2]
    assert found == encode(frame, encoder).collect()
    assert found == encode(frame, encoder, without_python=True).collect()


def in_full(row):
    return [v.toArray().tolist() if isinstance(v, DenseVector | SparseVector) else v for v in row]


def failing_twice(batches):
    """Fail in one partition after some rows, in two attempts out of three."""
    from pyspark import TaskContext

    task = TaskContext.get()
    for batch in batches:
        yield batch
        if task.partitionId() == 1 and task.attemptNumber() < 2:
            raise OSError("the machine went away")


@pytest.mark.parametrize("value", ["string(id % 7)", "int(id % 7)"])
def test_rows_of_a_failed_task_count_once(spark, value):
    """Whether Spark or a worker counts them."""
    cloudpickle = importlib.import_module("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(importlib.import_module(__name__))
    frame = spark.range(0, 100, 1, 3).selectExpr(f"{value} AS digit")
    lost = frame.mapInArrow(failing_twice, frame.schema)

    encoder = Encoder(["digit"], handle_missing="indicator").fit(lost)

    assert encoder == in_one_process(frame, ["digit"], handle_missing="indicator")
    np.testing.assert_array_equal(
        np.array([[*row] for row in encoder.transform(lost).collect()]),
        encoder.transform(frame.toArrow(), "numpy"),
    )


def test_large_states_are_merged_by_the_tasks(spark, monkeypatch):
    """Tasks that merge large states learn what one process learns, even if Spark loses states."""
    monkeypatch.setattr(_learn, "MAX_SMALL_STATE", 0)
    monkeypatch.setattr(_learn, "MAX_COLLECTED", 0)
    monkeypatch.setattr(_learn, "FAN_IN", 2)
    rounds = []
    small = _learn._small_states
    monkeypatch.setattr(
        _learn, "_small_states", lambda states: rounds.append(1) or small(states.unpersist())
    )
    runs = spark.sparkContext.accumulator(0)

    def counted(batches):
        runs.add(1)
        yield from batches

    frame = spark.range(0, 400, 1, 4).selectExpr("id % 131 AS number")

    encoder = Encoder(["number"], min_frequency=3).fit(frame.mapInArrow(counted, frame.schema))

    assert len(rounds) > 1
    assert runs.value >= 2 * 4
    assert encoder == in_one_process(frame, ["number"], min_frequency=3)


def test_spark_counts_texts_like_one_process(spark, monkeypatch):
    """Workers count texts with a collation, and rows in which a missing value is an error."""
    counted, count = [], _learn.CountedTable
    monkeypatch.setattr(_learn, "CountedTable", lambda *given: counted.append(1) or count(*given))
    rows = [("b", None, "x"), ("", "é", "x"), (None, None, "a.b"), ("a\0b", "é", "x")] * 3
    frame = spark.createDataFrame(rows, "word string, `a.b` string, kept string").repartition(5)
    names = ["word", "a.b"]

    for options in ({}, {"min_frequency": 4}, {"handle_missing": {"word": "indicator"}}):
        encoder = Encoder(names, **options).fit(frame)
        assert document(encoder) == document(in_one_process(frame, names, **options))
    assert encoder.partial_fit(frame) == in_one_process(frame.union(frame), names, **options)
    assert Encoder(names).fit(frame.limit(0)) == in_one_process(frame.limit(0), names)
    assert len(counted) == 5

    lower = frame.selectExpr("word COLLATE UTF8_LCASE AS word")
    assert Encoder(["word"]).fit(lower) == in_one_process(lower, ["word"])
    with pytest.raises(PythonException, match=r"column '(word|a\.b)'"):
        Encoder(names, handle_missing="error").fit(frame)
    known = {"categories": np.array(["b", ""]), "handle_unknown": "ignore"}
    assert Encoder(["word"], **known).fit(frame) == in_one_process(frame, ["word"], **known)
    assert len(counted) == 5


def test_errors_come_before_anything_runs(spark):
    frame = spark.range(2).selectExpr("'a' AS word", "struct(1) AS pair", "id", "1.5 AS price")
    encoder = Encoder(["word"]).fit({"word": ["a"]})
    many = Encoder().fit({"word": [*map(str, range(300))]})
    strange = Encoder(["word"]).fit({"word": ["\ud800"]})
    price = Encoder(["price"]).fit({"price": [1]})
    alone = {"without_python": True}
    for work, error, message in [
        (lambda: Encoder(["wrod"]).fit(frame), ValueError, "no column 'wrod': did you mean 'word'"),
        (lambda: Encoder(["pair"]).fit(frame), TypeError, r"column 'pair': .*, got struct<"),
        (lambda: encoder.transform(frame.drop("word")), ValueError, "no column 'word'"),
        (lambda: encoder.transform(frame.word), TypeError, r"got a Column; pass frame.select\(col"),
        (lambda: encoder.transform(frame, "csr"), ValueError,
         r"must be one of .*'vector'.* got 'csr'; .*toArrow"),
        (lambda: encoder.transform(frame, "vectors"), ValueError,
         r"output must be one of .*, got 'vectors'; did you mean 'vector'"),
        (lambda: encoder.transform(frame, "category"), ValueError,
         "Spark has no categorical type; use output='codes'"),
        (lambda: encoder.inverse_transform(encoder.transform(frame), missing=3), TypeError,
         "missing must be of type string for column 'word', got 3"),
        (lambda: encode(frame, frame), TypeError, "encoder must be an Encoder, got a DataFrame"),
        (lambda: encode(frame, encoder, output="vector", names="id"), ValueError, "be named 'id'"),
        (lambda: encode(frame, encoder, names=["w"]), ValueError, "set prefix= of the encoder"),
        (lambda: encode(frame, encoder, output="codes", names="x"), ValueError,
         r"a list with one name for each of the columns \['word'\], got 'x'"),
        (lambda: encode(frame, encoder, output="codes", **alone), ValueError,
         "output='codes' needs Python workers"),
        (lambda: encode(frame, strange, **alone), ValueError, "has a lone surrogate"),
        (lambda: encode(frame, price, **alone), TypeError,
         r"'price' has Spark type decimal.*without_python=False"),
        (lambda: encode(frame, many, **alone), ValueError, r"most 200 .*has 300"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            work()


def test_errors_of_rows_name_column_and_value(spark):
    frame = spark.createDataFrame([("a", 1), ("zz", None)], "word string, n int")
    strict = Encoder(["word"], handle_missing="error").fit({"word": ["a"]})
    with pytest.raises(PythonException, match=r"column 'word', row \d: 'zz' is unknown"):
        encode(frame, strict).collect()
    with pytest.raises(PythonException, match=r"partition \d, .*column 'n', row 0: .* missing"):
        Encoder(["n"], handle_missing="error").fit(frame)
    for rows, message in (
        (frame, "unknown: zz"),
        (frame.selectExpr("string(NULL) AS word"), "missing"),
    ):
        with pytest.raises(Exception, match=f"column .word.: the value is {message}"):
            encode(rows, strict, without_python=True).collect()


@pytest.mark.parametrize("output", ["columns", "array", "vector"])
def test_every_expression_rejects_the_value(spark, output):
    """Whichever columns of the result a query selects; the others are those of the workers."""
    words = spark.createDataFrame([("a", 1), ("b", 2), ("zz", 1)], "word string, n int")
    encoder = Encoder(["n", "word"], dtype="float64").fit({"word": ["a", "b", "c"], "n": [1, 2, 3]})
    names = None if output == "columns" else ["word_all", "n_all"]
    encoded = encode(words, encoder, output=output, names=names, without_python=True)

    chosen = [name for name in encoded.columns if name.startswith("word")]
    assert len(chosen) == (3 if output == "columns" else 1)
    for name in chosen:
        with pytest.raises(Exception, match=r"column .word.: the value is unknown: zz"):
            encoded.select(name).collect()
    known = words.where("word != 'zz'")
    found = encode(known, encoder, output=output, names=names, without_python=True).collect()
    assert found == encode(known, encoder, output=output, names=names).collect()


def test_an_encoder_is_unpickled_once_in_a_process():
    encoder = Encoder().fit({"size": ["S", "L"]})
    first, second = (pickle.loads(pickle.dumps(_workers.CachedEncoder(encoder))) for _ in range(2))

    assert first is second
    assert first.encoder == encoder


WORKER = """
import pickle, sys
works, schema, batch = pickle.load(sys.stdin.buffer)
for work in works:
    for made in work([batch]):
        assert made.num_rows, schema
print(sorted({"pandas", "scipy", "pyspark.ml"} & {*sys.modules}))
"""


def test_a_worker_imports_no_large_library():
    """Spark's ML would import pandas and SciPy, which takes seconds for each worker."""
    encoder = Encoder(["word"]).fit({"word": ["a", "b"]})
    schema = PlannedSchema([StructField("features", VectorUDT(), False, {"names": ["a", "b"]})])
    works = [partial(_workers.learn_batches, Encoder(["word"]))]
    for output in ("columns", "codes", "vector", "array"):
        names = ["c0", "c1"] if output == "columns" else ["c0"]
        cached = _workers.CachedEncoder(encoder)
        work = partial(_workers.encode_batch, cached, [0], output, [[0]], None)
        order = [~i for i in range(len(names))]
        works.append(partial(_workers.replace_columns, work, 0, order, names))
    batch = pa.record_batch({"word": ["a", "b", None]})
    sent = pickle.dumps((works, schema, batch))

    worker = [sys.executable, "-c", WORKER]

    assert subprocess.run(worker, input=sent, stdout=subprocess.PIPE).stdout.split() == [b"[]"]
    plain = pickle.loads(pickle.dumps(schema))
    assert (type(plain), plain["features"].metadata) == (StructType, {})
    assert plain["features"].dataType == VectorUDT.sqlType()


def test_columns_have_the_order_of_fit(spark):
    """Columns that fit did not see are last, in every form."""
    train = spark.createDataFrame([(1, "a", 2.0), (2, "b", 3.0)], "n int, word string, x double")
    encoder = Encoder(["word"]).fit(train)
    test = train.selectExpr("x", "word", "n", "true AS new")

    assert encoder.get_feature_names_out().tolist() == ["n", "word_a", "word_b", "x"]
    columns = ["n", "word_a", "word_b", "x", "new"]
    assert encoder.transform(test).columns == columns
    assert encode(test, encoder, without_python=True).columns == columns
    assert encoder.transform(test, "vector").columns == ["n", "x", "new", "features"]
    assert encoder.transform(test, "codes").columns == ["n", "word", "x", "new"]
    [first, _] = encoder.transform(test).sort("n").collect()
    assert tuple(first) == (1, True, False, 2.0, True)
    alone = copy.copy(encoder).set_params(remainder="drop")
    assert alone.transform(test).columns == ["word_a", "word_b"]
    with pytest.warns(UserWarning, match="lacks the column 'x', which fit saw"):
        assert encoder.transform(test.drop("x")).columns == ["n", "word_a", "word_b", "new"]


def test_columns_are_chosen_by_default(spark):
    """Texts are encoded; without texts nothing is."""
    frame = spark.createDataFrame([("a", 1), ("b", 2)], "word string, n int")
    seen = []
    chosen = Encoder(lambda table: seen.append(table.columns) or ["n"]).fit(frame)

    assert Encoder().fit(frame).columns == ("word",)
    assert (chosen.columns, seen) == (("n",), [["word", "n"]])
    with pytest.warns(UserWarning, match="nothing is encoded"):
        nothing = Encoder().fit(frame.select("n"))
    assert repr(nothing).endswith("from 2 rows>")
    assert chosen.estimate(frame).rows == 2
    assert chosen.partial_fit(frame).features["count"].tolist() == [2, 2]


@pytest.mark.parametrize("name", ["", ".encoding", ".ml"])
def test_examples_print_their_results(spark, name):
    module = importlib.import_module(f"{onehot_spark.__name__}{name}")
    found = doctest.testmod(module, extraglobs={"spark": spark})

    assert (found.failed, found.attempted > 0) == (0, True)


def test_the_batches_of_a_stage_warn_once():
    """A worker calls `encode_batch` for each batch; each kind of output warns alike."""
    for output, n_warnings in (("columns", 1), ("array", 1), ("vector", 1), ("codes", 0)):
        encoder = Encoder(["p"], drop="first", handle_unknown="ignore").fit({"p": ["a", "b"]})
        cached = _workers.CachedEncoder(encoder.set_params(remainder="drop"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for value in ("a", "x", "y"):
                batch = pa.record_batch({"p": [value]})
                _workers.encode_batch(cached, [0], output, [[0]], 1, batch)
        assert [each.category for each in caught] == [UnknownValueWarning] * n_warnings


EVERY_TYPE = (
    "select * from values"
    " (1Y, 1S, 1, 1L, 1.5F, 1.5D, true, 'a', X'00FF', 1.50BD, date'2024-02-29',"
    " timestamp'2024-02-29 12:00:00', timestamp_ntz'2024-02-29 12:00:00', null,"
    " interval '1' day, interval '1:30' hour to minute, cast('v' as varchar(3))),"
    " (2Y, 2S, 2, 2L, 0.1F, 0.1D, false, 'b', X'01', -1.00BD, date'1969-01-01',"
    " timestamp'1969-01-01 00:00:00', timestamp_ntz'1969-01-01 00:00:00', null,"
    " interval '-1' day, interval '0:01' hour to minute, cast('w' as varchar(3))),"
    " (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,"
    " null, null)"
)


def frame_of_every_type(spark):
    """Return three rows of every type that can be encoded, with a wider decimal type."""
    return spark.sql(EVERY_TYPE).selectExpr(
        "* except (col10)", "cast(col10 as decimal(20, 2)) col10"
    )


def test_decoded_columns_have_the_types_that_fit_saw(spark):
    """Decoded columns and vectors have the types that `fit` saw, also after JSON and merge.

    The schema is known before the rows.
    """
    frame = frame_of_every_type(spark)
    encoder = Encoder(frame.columns).fit(frame)
    kinds = {type(field.dataType).__name__ for field in frame.schema}

    for copied in (encoder, Encoder.from_json(encoder.to_json()), encoder.merge(encoder)):
        for encoded in (copied.transform(frame), encode(frame, copied, output="vector")):
            decoded = copied.inverse_transform(encoded)
            assert {f.name: f.dataType for f in decoded.schema} == {
                f.name: f.dataType for f in frame.schema
            }
            found = [row.asDict() for row in decoded.collect()]
            assert found == [row.asDict() for row in frame.collect()]
    encodable = {*_columns.ENCODABLE} - {"CharType", "VarcharType", "TimeType"}
    assert kinds == encodable
    assert decoded.unionByName(frame).count() == 2 * frame.count()


@pytest.mark.parametrize(
    ("name", "missing", "expected"),
    [
        ("tinyint", 3, "tinyint"),
        ("tinyint", 300, "bigint"),
        ("tinyint", "?", None),
        ("decimal(20,2)", decimal.Decimal("9.99"), "decimal(20,2)"),
        ("float", 0.1, "float"),
        ("void", "?", "string"),
        ("void", 3, None),
    ],
)
def test_a_substitute_may_change_the_type(spark, name, missing, expected):
    value = "null" if name == "void" else f"cast(1 as {name})"
    frame = spark.sql(f"select {value} c, 0 kept union all select null, 1")
    encoder = Encoder(["c"]).fit(frame)
    encoded = encoder.transform(frame)

    if expected is None:
        with pytest.raises(TypeError, match=r"missing must be of type .* for column 'c'"):
            encoder.inverse_transform(encoded, missing=missing)
        return
    decoded = encoder.inverse_transform(encoded, missing=missing)

    assert decoded.schema["c"].dataType.simpleString() == expected
    assert decoded.collect()[-1].c == pytest.approx(missing) or missing == "?"


def test_an_encoder_of_another_library_gives_the_types_of_its_categories(spark):
    encoder = Encoder(["c"]).fit(pa.table({"c": pa.array([1, 2], pa.int8())}))
    encoded = encoder.transform(spark.createDataFrame([(1,), (2,)], "c tinyint"))

    assert encoder.inverse_transform(encoded).schema.simpleString() == "struct<c:bigint>"


def test_several_types_have_a_common_one(spark):
    small, large = (
        spark.createDataFrame([(i,)], f"c {t}") for i, t in [(1, "tinyint"), (2, "int")]
    )
    encoder = Encoder(["c"]).fit(small).merge(Encoder(["c"]).fit(large))

    decoded = encoder.inverse_transform(encoder.transform(small))
    assert decoded.schema.simpleString() == "struct<c:int>"


@pytest.mark.parametrize("output", ["columns", "array", "vector"])
def test_an_encoder_without_features_is_decoded(spark, output):
    frame = spark.createDataFrame([(None, 1), (None, 2)], "c string, kept int")
    encoder = Encoder(["c"]).fit(frame)
    encoded = encode(frame, encoder, output=output)

    decoded = encoder.inverse_transform(encoded)

    assert [(row.c, row.kept) for row in decoded.collect()] == [(None, 1), (None, 2)]


@pytest.mark.parametrize("without_python", [False, True])
def test_rows_without_any_column_are_kept(spark, without_python):
    """The only column has no features, so the result has rows and no columns."""
    frame = spark.createDataFrame([("x",), (None,), ("x",)], "a string").coalesce(1)
    encoder = Encoder(["a"], drop="first", handle_unknown="ignore").fit(frame)

    encoded = encode(frame, encoder, without_python=without_python)
    assert encoded.columns == []
    assert len(encoded.collect()) == encoded.count() == 3
    assert [row.a for row in encoder.inverse_transform(encoded).collect()] == ["x", "x", "x"]
