"""Columns with several labels in a row, in the tables of engines: the results of one process."""

import datetime as dt
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support.encoder_oracle import UNKNOWN_RULES
from support.strategies import examples

LABELS = ["a", "b", "c", "é€"]
ROWS = st.lists(st.none() | st.lists(st.sampled_from([*LABELS, None]), max_size=4), max_size=5)
PARTS = st.lists(ROWS, min_size=1, max_size=3)
OPTIONS = st.fixed_dictionaries(
    {
        "handle_missing": st.sampled_from(["ignore", "indicator", "error", "propagate"]),
        "handle_unknown": st.sampled_from(UNKNOWN_RULES),
        "min_frequency": st.none() | st.integers(1, 3) | st.just(0.3),
        "max_categories": st.none() | st.integers(1, 3),
        "categories": st.sampled_from(["auto", {"g": ["b", "a"]}]),
        "dtype": st.just("float32"),
    }
)
PLAIN = {"missing": None, "unknown": "(unknown)", "infrequent": "(infrequent)"}


def text_of(row):
    """Return labels as a text, which has no missing label."""
    return row if row is None else "|".join(filter(None, row))


def outcome(work, errors=ValueError):
    """Return a result, or None if the options reject a row or each other."""
    try:
        return work()
    except errors:
        return None


def shown(value):
    """Return a decoded row as Python objects, None where it is missing."""
    if value is None or str(value) in ("nan", "<NA>"):
        return None
    return value if isinstance(value, str) else [None if v is None else v for v in value]


# ---- Dask ----

FORMS = ["objects", "arrow", "texts"]


def dask_frame(form, parts):
    """Return a Dask DataFrame with a partition for each part, which may be empty."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    import dask

    dtype: object = object
    if form == "arrow":
        pa = pytest.importorskip("pyarrow")
        dtype = pd.ArrowDtype(pa.list_(pa.string()))
    frames = [
        pd.DataFrame({"g": pd.Series(rows, dtype=dtype), "kept": np.arange(len(rows))})
        for rows in parts
    ]
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda i: frames[i], range(len(frames)), meta=frames[0].iloc[:0])


@pytest.fixture
def in_this_thread():
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("form", FORMS)
@given(train=PARTS, test=PARTS, options=OPTIONS)
@examples(0.2)
@example(train=[[], [None], [["a", "a"]], [[]]], test=[[["b"], []], [None]], options={
    "handle_missing": "indicator", "handle_unknown": "indicator", "dtype": "float32"})  # fmt: skip
def test_dask_gives_what_one_process_gives(form, train, test, options):
    """Dask encodes and decodes labels as one process does, and announces the schema of the rows."""
    if form == "texts":
        options = {**options, "sep": "|"}
        train, test = ([[*map(text_of, rows)] for rows in parts] for parts in (train, test))
    # A row that shows the kind of the column, which one without values lacks.
    train = [["" if form == "texts" else []], *train]
    whole = [row for rows in train for row in rows]
    alone = outcome(lambda: Encoder(["g"], **options).fit({"g": whole}))
    if alone is None:
        with pytest.raises(ValueError):  # noqa: PT011, the core's tests compare messages
            Encoder(["g"], **options).fit(dask_frame(form, train))
        return
    encoder = Encoder(["g"], **options).fit(dask_frame(form, train))
    assert encoder.features["count"].tolist() == alone.features["count"].tolist()
    assert encoder.get_feature_names_out().tolist()[:-1] == alone.get_feature_names_out().tolist()

    rows, table = [row for part in test for row in part], dask_frame(form, test)
    expected = outcome(lambda: alone.transform({"g": rows}, "numpy"))
    if expected is None:
        with pytest.raises(ValueError, match="'g'"):
            encoder.transform(table).compute()
        return
    lazy = encoder.transform(table)
    found = lazy.compute()
    assert found.dtypes.tolist() == lazy.dtypes.tolist()
    np.testing.assert_array_equal(found[alone.get_feature_names_out()].to_numpy(), expected)
    assert found["kept"].tolist() == [i for part in test for i in range(len(part))]
    for output in ("numpy", "csr"):
        matrix = encoder.set_params(remainder="drop").transform(table, output).compute()
        np.testing.assert_array_equal(getattr(matrix, "toarray", lambda m=matrix: m)(), expected)

    values = alone.inverse_transform(expected, **PLAIN)["g"].tolist()
    decoded = encoder.inverse_transform(encoder.transform(table), **PLAIN)
    found = decoded.compute()
    assert found["g"].dtype == decoded.dtypes["g"]
    assert [shown(row) for row in found["g"].tolist()] == [shown(row) for row in values]


@pytest.mark.usefixtures("in_this_thread")
def test_dask_decodes_to_the_fitted_type():
    """A list type of Arrow stays one unless a substitute does not fit; texts stay texts."""
    frame = dask_frame("arrow", [[["a", "b"], None], [[]]])
    encoder = Encoder(["g"], handle_unknown="indicator", handle_missing="indicator").fit(frame)
    encoded = encoder.transform(frame)
    decoded = encoder.inverse_transform(encoded, unknown="?")
    assert decoded.dtypes["g"] == decoded.compute().dtypes["g"] == frame.dtypes["g"]
    decoded = encoder.inverse_transform(encoded)
    assert decoded.dtypes["g"] == decoded.compute().dtypes["g"]
    assert decoded.dtypes["g"].kind == "O"
    assert not hasattr(decoded.dtypes["g"], "pyarrow_dtype")

    frame = dask_frame("texts", [["a|b", None], [""]])
    encoder = Encoder(["g"], sep="|", handle_unknown="indicator").fit(frame)
    with pytest.raises(ValueError, match="unknown="):
        encoder.inverse_transform(encoder.transform(frame))


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("sep", [None, "|"])
def test_dask_never_encodes_lists_of_numbers_by_default(sep):
    """The columns are chosen without rows, so that an error tells what to choose."""
    frame = dask_frame("objects", [[[1, 2]], [[2]]])
    with pytest.raises(TypeError, match=r"'g' has lists of numbers.*columns=\[...\]"):
        Encoder(sep=sep).fit(frame)
    assert Encoder(["g"]).fit(frame).schema.names == ("g_1", "g_2")


@pytest.mark.usefixtures("in_this_thread")
def test_a_separator_applies_to_the_texts_of_dask_alone():
    """A column of objects that are no texts is encoded as before."""
    frame = dask_frame("objects", [[None], [1, 2]])
    encoder = Encoder(["g"], sep="|").fit(frame)
    assert not encoder.schema.columns[0].is_ragged
    assert encoder.schema.names == ("g_1", "g_2")


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("options", [{}, {"categories": {"g": ["a"]}, "handle_unknown": "ignore"}])
def test_dask_looks_for_the_separator_in_all_parts(options):
    """It warns once, after the last part, if no text of the whole column has it."""
    encoder = Encoder(["g"], sep="|", **options)
    for parts, warns in [([["b"], ["a|b"]], 0), ([["b|"], ["a"]], 0), ([["b"], ["c"]], 1)]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            encoder.fit(dask_frame("objects", parts))
        found = [one for one in caught if "contains the separator '|'" in str(one.message)]
        assert len(found) == warns


def test_get_dummies_of_dask_rejects_lists():
    dummies = pytest.importorskip("onehot_fast.integrations.dask").get_dummies
    with pytest.raises(ValueError, match=r"'g' has several labels.*get_dummies"):
        dummies(dask_frame("objects", [[["a"]]])[["g"]])


# ---- Spark ----

SPARK = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TRAIN = [["a", "it's"], ["a", "a", None], [], None, ["b", "é€"], ["b", "c"]]
TEST = [["a", "a", "zz"], ["it's"], [], None, ["é€", "b", None], [None]]
CHOICES = [
    {"handle_missing": "indicator", "handle_unknown": "indicator"},
    {"handle_missing": "propagate", "handle_unknown": "ignore"},
    {"min_frequency": 2, "handle_unknown": "infrequent", "sep": "|"},
    {"max_categories": 2, "handle_unknown": "ignore", "sep": "|", "handle_missing": "indicator"},
]


def spark_frame(spark, kind, rows):
    """Return a frame of two partitions with the columns "g" and "kept"."""
    numbered = [(row, i) for i, row in enumerate(rows)]
    partitions = spark.sparkContext.parallelize(numbered, 2)
    return spark.createDataFrame(partitions, f"g {kind}, kept long")


def by_row(frame):
    """Return the rows of a frame in the order of "kept", without this column."""
    rows = [row.asDict() for row in frame.collect()]
    rows.sort(key=lambda row: row.pop("kept"))
    return rows


class TestSpark:
    """Arrays, and texts with a separator, of Spark."""

    pytestmark = SPARK

    @pytest.mark.parametrize("options", CHOICES)
    def test_every_form_equals_that_of_one_process(self, spark, options):
        """Columns, arrays, vectors, their SQL, and decoded rows."""
        from onehot_fast.integrations.spark import encode

        kind, train, test = "array<string>", TRAIN, TEST
        if "sep" in options:
            kind = "string"
            train, test = ([*map(text_of, rows)] for rows in (TRAIN, TEST))
        options = {**options, "dtype": "float32"}
        alone = Encoder(["g"], **options).fit({"g": train})
        encoder = Encoder(["g"], **options).fit(spark_frame(spark, kind, train))
        assert encoder.features["count"].tolist() == alone.features["count"].tolist()
        assert encoder.schema.names == alone.schema.names

        table, expected = spark_frame(spark, kind, test), alone.transform({"g": test}, "numpy")
        columns = encoder.transform(table)
        assert columns.columns == [*alone.schema.names, "kept"]
        found = np.array([[*row.values()] for row in by_row(columns)])
        np.testing.assert_array_equal(found, expected)
        for output in ("array", "vector"):
            rows = by_row(encode(table, encoder, output=output).drop("g"))
            cells = [row["features"] for row in rows]
            found = np.array([getattr(each, "toArray", lambda e=each: e)() for each in cells])
            np.testing.assert_array_equal(found, expected)
        in_sql = by_row(encode(table, encoder, without_python=True))
        np.testing.assert_array_equal([[*row.values()] for row in in_sql], expected)

        values = alone.inverse_transform(expected, **PLAIN)["g"].tolist()
        for encoded in (columns, encode(table, encoder, output="vector")):
            decoded = encoder.inverse_transform(encoded, **PLAIN)
            assert decoded.schema["g"].dataType.simpleString() == kind
            assert [row["g"] for row in by_row(decoded)] == values

    def test_labels_of_every_type_are_read(self, spark):
        """Of times with a zone, in any zone of the session."""
        moments = [dt.datetime(2013, 1, 1, tzinfo=dt.UTC), dt.datetime(1969, 7, 1, tzinfo=dt.UTC)]
        rows = {
            "timestamp": [moments, moments[:1], []],
            "bigint": [[3, -(2**62)], [], None],
            "double": [[0.5, float("nan")], [-0.0, 0.0], []],
            "boolean": [[True], [False, True], None],
            "date": [[dt.date(2024, 2, 29)], [], None],
            "binary": [[b"a", b""], [b"a"], []],
        }
        zone = spark.conf.get("spark.sql.session.timeZone")
        try:
            spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
            for kind, column in rows.items():
                options = {"handle_missing": "indicator", "dtype": "int8"}
                alone = Encoder(["g"], **options).fit({"g": column})
                frame = spark_frame(spark, f"array<{kind}>", column)
                encoder = Encoder(["g"], **options).fit(frame)
                encoded = encoder.transform(frame)
                found = [[*row.values()] for row in by_row(encoded)]
                np.testing.assert_array_equal(found, alone.transform({"g": column}, "numpy"))
                decoded = encoder.inverse_transform(encoded)
                assert decoded.schema["g"].dataType.simpleString() == f"array<{kind}>"
        finally:
            spark.conf.set("spark.sql.session.timeZone", zone)

    def test_arrays_of_texts_are_chosen_by_default(self, spark):
        frame = spark.createDataFrame(
            [(["a"], [1.5], "x|y")], "tags array<string>, vector array<double>, text string"
        )
        assert Encoder(sep={"text": "|"}).fit(frame).schema.names == ("tags_a", "text_x", "text_y")

    def test_rows_are_rejected_as_in_one_process(self, spark):
        """The error names the column, and codes are rejected before anything runs."""
        from pyspark.errors import PythonException

        from onehot_fast.integrations.spark import encode

        frame = spark_frame(spark, "array<string>", [["a"], ["b", "c"]])
        encoder = Encoder(["g"]).fit(frame)
        unknown = spark_frame(spark, "array<string>", [["a"], ["a", "zz"]])
        with pytest.raises(PythonException, match=r"column 'g'.*'zz'"):
            encoder.transform(unknown).collect()
        for feature in encoder.schema.names:
            with pytest.raises(Exception, match="the value is unknown"):
                encode(unknown, encoder, without_python=True).select(feature).collect()
        for output in ("codes", "indices"):
            with pytest.raises(ValueError, match=rf"'g' has several labels.*{output}"):
                encode(frame, encoder, output=output)
        with pytest.raises(TypeError, match=r"'g' must have arrays, as in fit, got .*string"):
            encode(spark_frame(spark, "string", ["a"]), encoder, without_python=True)
        texts = Encoder(["g"], sep="|", handle_unknown="indicator").fit({"g": ["a|b"]})
        encoded = texts.transform(spark_frame(spark, "string", ["a|z"]))
        with pytest.raises(TypeError, match=r"unknown must be a text for column 'g'"):
            texts.inverse_transform(encoded)

    def test_nested_arrays_are_rejected(self, spark):
        frame = spark_frame(spark, "array<array<string>>", [[["a"]]])
        with pytest.raises(TypeError, match=r"'g'.*an array of such values.*array<string>"):
            Encoder(["g"]).fit(frame)
