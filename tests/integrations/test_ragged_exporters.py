"""Columns with several labels in a row, in engines: expressions give what `transform` gives."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast import Encoder
from onehot_fast.integrations.sql import DIALECTS
from support.encoder_oracle import UNKNOWN_RULES
from support.strategies import examples

LABELS = ["a", "b", "c", "é€"]
ROWS = st.lists(
    st.none() | st.lists(st.sampled_from([*LABELS, None]), max_size=4), min_size=1, max_size=8
)
OPTIONS = st.fixed_dictionaries(
    {
        "handle_missing": st.sampled_from(["ignore", "indicator", "error", "propagate"]),
        "handle_unknown": st.sampled_from(UNKNOWN_RULES),
        "min_frequency": st.none() | st.integers(1, 3),
        "max_categories": st.none() | st.integers(1, 3),
        "dtype": st.sampled_from(["bool", "float32"]),
    }
)

AN_UNKNOWN_LABEL = {
    "fitted": [["a", "b"]],
    "rows": [["c"], ["a", "a"], [], None],
    "options": {
        "handle_missing": "ignore",
        "handle_unknown": "error",
        "min_frequency": None,
        "max_categories": None,
        "dtype": "bool",
    },
}
of_an_unknown_label = example(**AN_UNKNOWN_LABEL)


def fitted_on(rows, options):
    """Return a fitted encoder, or None if the options do not allow the rows or each other."""
    if options["handle_missing"] == "propagate":
        options = {**options, "dtype": "float32"}
    try:
        empty: object = "" if "sep" in options else []  # a row that shows the kind of the column
        return Encoder(["g"], **options).fit({"g": [empty, *rows]})
    except ValueError:
        return None


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize("form", ["list", "array", "text", "categorical"])
@pytest.mark.parametrize("lazily", [False, True])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.5)
@of_an_unknown_label
def test_expressions_of_polars_give_what_transform_gives(form, lazily, fitted, rows, options):
    """They also fail where `transform` does, whichever single feature a query selects."""
    pl = pytest.importorskip("polars", "1.32")
    if form in ("text", "categorical"):
        options = {**options, "sep": "|"}
        fitted, rows = ([_text(row) for row in each] for each in (fitted, rows))
    elif form == "array":
        rows = [None if row is None else (row + [None] * 4)[:4] for row in rows]
    encoder = fitted_on(fitted, options)
    if encoder is None:
        return
    dtype = {
        "list": pl.List(pl.String), "array": pl.Array(pl.String, 4),
        "text": pl.String(), "categorical": pl.Categorical(),
    }[form]  # fmt: skip
    frame = pl.DataFrame({"g": pl.Series(rows, dtype=dtype, strict=False)})
    try:
        features = encoder.expressions(frame)
    except ValueError:
        assert not encoder.schema.n_features  # nothing could raise the error
        return
    table = frame.lazy() if lazily else frame
    try:
        expected = encoder.transform({"g": rows}, output="numpy")
    except ValueError:
        for feature in features:
            with pytest.raises(pl.exceptions.PolarsError, match="'g'"):
                table.select(feature).lazy().collect()
        return
    result = table.select(features).lazy().collect()
    assert result.columns == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(result.to_numpy().reshape(expected.shape), expected)


def _text(row, sep="|"):
    """Return labels as a text, in which a missing label is an empty one."""
    return row if row is None else sep.join(label or "" for label in row)


VALUES = [
    ("Int64", [3, -(2**62), 5]),
    ("UInt8", [0, 255]),
    ("Float64", [0.5, float("nan"), -0.0]),
    ("Boolean", [True, False]),
    ("Date", [datetime.date(2024, 2, 29), datetime.date(1969, 1, 1)]),
    ("Binary", [b"a", b"\x00"]),
    ("Decimal", [Decimal("1.25"), Decimal("2.50")]),
]


@pytest.mark.parametrize(("dtype", "values"), VALUES, ids=[name for name, _ in VALUES])
def test_labels_of_every_kind_are_compared_in_polars(dtype, values):
    pl = pytest.importorskip("polars", "1.32")
    kind = pl.Decimal(10, 2) if dtype == "Decimal" else getattr(pl, dtype)
    rows = [values, values[:1], [], None, [values[-1], None]]
    frame = pl.DataFrame({"g": pl.Series(rows, dtype=pl.List(kind))})
    encoder = Encoder(["g"], handle_missing="indicator", handle_unknown="indicator").fit(frame[:2])
    expected = encoder.transform(frame, output="numpy")
    np.testing.assert_array_equal(frame.select(encoder.expressions(frame)).to_numpy(), expected)


def test_expressions_reject_a_column_without_lists():
    """The error names the column, its dtype and what was expected."""
    pl = pytest.importorskip("polars", "1.32")
    encoder = Encoder(["g"]).fit({"g": [["a"], ["b"]]})
    with pytest.raises(TypeError, match="'g' must have lists, as in fit, got dtype String"):
        encoder.expressions(pl.DataFrame({"g": ["a"]}))


def _native(library, texts):
    """Return a column of texts in a library of narwhals."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"g": pa.array(texts, pa.string())})
    if library == "polars":
        return pytest.importorskip("polars").DataFrame({"g": texts}, schema={"g": str}).lazy()
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame({"g": np.array(texts, object)})
    if library == "categorical":
        return pytest.importorskip("pandas").DataFrame(
            {"g": np.array(texts, object)}, dtype="category"
        )
    if library == "duckdb":
        return pytest.importorskip("duckdb").from_arrow(table)
    return table.cast(pa.schema([("g", pa.large_string())])) if library == "large" else table


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize(
    "library", ["polars", "pandas", "categorical", "pyarrow", "large", "duckdb"]
)
@given(fitted=ROWS, rows=ROWS, options=OPTIONS, sep=st.sampled_from(["|", ", ", "b", ".*", "\\"]))
@examples(0.3)
@example(**AN_UNKNOWN_LABEL, sep="|")
def test_expressions_of_narwhals_give_what_transform_gives(library, fitted, rows, options, sep):
    """Expressions of narwhals give what `transform` gives for texts, whatever the separator."""
    nw = pytest.importorskip("narwhals")
    if "error" in (options["handle_missing"], options["handle_unknown"]):
        options = {**options, "handle_missing": "indicator", "handle_unknown": "indicator"}
    fitted, rows = ([_text(row, sep) for row in each] for each in (fitted, rows))
    encoder = fitted_on(fitted, {**options, "sep": sep})
    if encoder is None or not encoder.schema.n_features:
        return
    expected = encoder.transform({"g": rows}, output="numpy")
    frame = nw.from_native(_native(library, rows))
    found = frame.select(encoder.expressions(frame)).lazy().collect("pyarrow")
    assert found.columns == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy().reshape(expected.shape), expected)


@pytest.mark.parametrize(
    ("fitted", "sep", "error", "remedy"),
    [
        ([["a"], ["b"]], None, ValueError, "Encoder.transform"),
        (["a||b"], "||", ValueError, "another separator"),
        (["a-b-a"], "a-b-a", ValueError, "another separator"),
    ],
    ids=["lists", "repeated", "overlapping"],
)
def test_expressions_of_narwhals_reject_what_they_cannot_find(fitted, sep, error, remedy):
    nw, pl = pytest.importorskip("narwhals"), pytest.importorskip("polars")
    encoder = Encoder(["g"], sep=sep, handle_unknown="ignore").fit({"g": fitted})
    with pytest.raises(error, match=f"column 'g' .*{remedy}"):
        encoder.expressions(nw.from_native(pl.DataFrame({"g": ["a"]})))
    texts = Encoder(["g"], sep="|", handle_unknown="ignore").fit({"g": ["a|b"]})
    with pytest.raises(TypeError, match=r"column 'g' must have texts with the separator '\|'"):
        texts.expressions(nw.from_native(pl.DataFrame({"g": [1]})))


@pytest.fixture(scope="module")
def duck():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize("form", ["list", "text"])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.5)
@of_an_unknown_label
def test_sql_of_duckdb_gives_what_transform_gives(form, duck, fitted, rows, options):
    """Every single feature of a table's query fails where `transform` does."""
    if form == "text":
        options = {**options, "sep": "|"}
        fitted, rows = ([_text(row) for row in each] for each in (fitted, rows))
    encoder = fitted_on(fitted, options)
    if encoder is None or not encoder.schema.n_features:
        return
    kind = "VARCHAR[]" if form == "list" else "VARCHAR"
    duck.execute(f"CREATE OR REPLACE TABLE t (g {kind}, place INTEGER)")
    duck.executemany("INSERT INTO t VALUES (?, ?)", [[row, i] for i, row in enumerate(rows)])
    statements = [
        f"SELECT {encoder.to_sql('duckdb')} FROM t ORDER BY place",
        f"{encoder.to_sql('duckdb', table='t')} ORDER BY place",
    ]
    try:
        expected = encoder.transform({"g": rows}, output="numpy")
    except ValueError:
        for name in encoder.get_feature_names_out():
            with pytest.raises(Exception, match="column 'g': the value is"):
                duck.execute(f'SELECT "{name}" FROM ({statements[1]})').fetchall()
        with pytest.raises(Exception, match="column 'g': the value is"):
            duck.execute(statements[0]).fetchall()
        return
    for statement in statements:
        result = np.array(duck.execute(statement).fetchall(), expected.dtype)
        np.testing.assert_array_equal(result.reshape(expected.shape), expected)


ACCEPTED = [
    {"handle_missing": "indicator", "handle_unknown": "indicator"},
    {"handle_missing": "propagate", "handle_unknown": "ignore", "dtype": "float32"},
    {"min_frequency": 2, "handle_unknown": "infrequent"},
    {"handle_unknown": "error"},
]
FITTED = [["a", "it's"], ["a", "a"], ["b\\", "é€"], []]
ENCODED = [["a", "a", "b\\"], ["it's"], [], None, ["é€", "b\\"]]
SEPARATORS = ["|", ".", "\\", "'", "$ ", "[a]", "é"]


def _is_one(cell):
    return {"t": 1.0, "f": 0.0}[cell] if cell in ("t", "f") else float(cell)


@pytest.mark.parametrize("options", ACCEPTED)
def test_sql_of_postgres_gives_what_transform_gives(options, postgres):
    encoder = Encoder(["g"], **options).fit({"g": FITTED})
    postgres.execute("DROP TABLE IF EXISTS t")
    postgres.execute("CREATE TABLE t (g text[], place integer)")
    for i, row in enumerate(ENCODED):
        cells = [DIALECTS["postgres"].text(label) for label in row or []]
        shown = "NULL" if row is None else f"ARRAY[{', '.join(cells)}]::text[]"
        postgres.execute(f"INSERT INTO t VALUES ({shown}, {i})")
    expected = encoder.transform({"g": ENCODED}, "numpy").astype(float)
    for statement in (
        f"SELECT {encoder.to_sql('postgres')} FROM t ORDER BY place",
        f"{encoder.to_sql('postgres', table='t')} ORDER BY place",
    ):
        result = [[_is_one(cell) for cell in row] for row in postgres.execute(statement)]
        np.testing.assert_array_equal(result, expected)


def test_sql_of_postgres_rejects_unknown_labels(postgres):
    """Whichever feature a query selects, and the message shows the row."""
    encoder = Encoder(["g"]).fit({"g": [["a", "b"]]})
    postgres.execute("DROP TABLE IF EXISTS t")
    postgres.execute("CREATE TABLE t (g text[])")
    postgres.execute("INSERT INTO t VALUES (ARRAY['a', 'zz'])")
    for name in encoder.get_feature_names_out():
        with pytest.raises(Exception, match=r"the value is unknown: \{a,zz\}"):
            postgres.execute(f'SELECT "{name}" FROM ({encoder.to_sql("postgres", table="t")}) AS x')


@pytest.mark.parametrize("sep", SEPARATORS)
def test_separators_of_sql_are_literal(sep, duck, postgres):
    """No character of a separator is a pattern, and empty labels are skipped."""
    texts = [f"x{sep}y", f"{sep}{sep}y{sep}", "", None, "x"]
    encoder = Encoder(["g"], sep=sep, dtype="int8").fit({"g": texts})
    expected = encoder.transform({"g": texts}, "numpy")
    duck.execute("CREATE OR REPLACE TABLE t (g VARCHAR, place INTEGER)")
    duck.executemany("INSERT INTO t VALUES (?, ?)", [[text, i] for i, text in enumerate(texts)])
    result = duck.execute(f"{encoder.to_sql('duckdb', table='t')} ORDER BY place").fetchall()
    np.testing.assert_array_equal(np.array(result), expected)

    postgres.execute("DROP TABLE IF EXISTS t")
    postgres.execute("CREATE TABLE t (g text, place integer)")
    for i, text in enumerate(texts):
        cell = "NULL" if text is None else DIALECTS["postgres"].text(text)
        postgres.execute(f"INSERT INTO t VALUES ({cell}, {i})")
    result = postgres.execute(f"{encoder.to_sql('postgres', table='t')} ORDER BY place")
    np.testing.assert_array_equal([[*map(int, row)] for row in result], expected)


def test_sql_splits_texts_alone(duck):
    """One separator for all columns does not concern a column of lists."""
    table = {"texts": ["a|b", "b"], "lists": [["a|b"], ["c", "d"]]}
    encoder = Encoder(sep="|").fit(table)
    duck.execute("CREATE OR REPLACE TABLE t (texts VARCHAR, lists VARCHAR[], place INTEGER)")
    rows = [[*row, i] for i, row in enumerate(zip(*table.values(), strict=True))]
    duck.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    found = duck.execute(f"{encoder.to_sql('duckdb', table='t')} ORDER BY place").fetchall()
    np.testing.assert_array_equal(np.array(found), encoder.transform(table, "numpy"))


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
def test_sql_of_spark_gives_what_transform_gives(spark):
    frame = spark.createDataFrame(
        [(row, i) for i, row in enumerate(ENCODED)], "g array<string>, place int"
    )
    frame.createOrReplaceTempView("t")
    for options in ACCEPTED:
        encoder = Encoder(["g"], **options).fit({"g": FITTED})
        rows = spark.sql(f"{encoder.to_sql('spark', table='t')} ORDER BY place").collect()
        expected = encoder.transform({"g": ENCODED}, "numpy")
        np.testing.assert_array_equal(np.array(rows, float), expected.astype(float))
    for sep in SEPARATORS:
        texts = [f"x{sep}y", f"{sep}{sep}y{sep}", "", None, "x"]
        encoder = Encoder(["g"], sep=sep).fit({"g": texts})
        frame = spark.createDataFrame([*zip(texts, range(5), strict=True)], "g string, place int")
        frame.createOrReplaceTempView("t")
        rows = spark.sql(f"{encoder.to_sql('spark', table='t')} ORDER BY place").collect()
        np.testing.assert_array_equal(np.array(rows), encoder.transform({"g": texts}, "numpy"))


def test_sql_of_bigquery_is_read_by_a_parser():
    """An array has its own subquery, and no cast to text."""
    sqlglot = pytest.importorskip("sqlglot")
    for options in ({}, {"sep": ";"}):
        rows = ["a;b"] if options else [["a", "b"]]
        text = Encoder(["g"], **options).fit({"g": rows}).to_sql("bigquery", table="t")
        parsed = sqlglot.parse_one(text, read="bigquery")
        assert len(list(parsed.find_all(sqlglot.exp.Unnest))) == 3
        assert bool(list(parsed.find_all(sqlglot.exp.Split))) == bool(options)


def test_sqlite_has_no_arrays():
    encoder = Encoder(["g"], sep="|", handle_unknown="ignore").fit({"g": ["a|b"]})
    with pytest.raises(ValueError, match=r"'g' cannot be encoded in SQL: SQLite .*transform"):
        encoder.to_sql("sqlite")


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize("layout", ["columns", "struct", "array", "tensor"])
@pytest.mark.parametrize("form", ["list", "text"])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.3)
def test_streams_of_arrow_give_what_transform_gives(form, layout, fitted, rows, options):
    """Streams of Arrow give what `transform` gives, in every layout with a place per feature."""
    pa = pytest.importorskip("pyarrow")
    from onehot_fast.integrations.arrow import encode

    kind = pa.list_(pa.string())
    if form == "text":
        options, kind = {**options, "sep": "|"}, pa.string()
        fitted, rows = ([_text(row) for row in each] for each in (fitted, rows))
    encoder = fitted_on(fitted, options)
    if encoder is None or not encoder.schema.n_features:
        return
    table = pa.table({"g": pa.array(rows, kind), "kept": range(len(rows))})
    try:
        expected = encoder.transform({"g": rows}, output="numpy").astype(float)
    except ValueError:
        with pytest.raises(ValueError, match="'g'"):
            encode(table.to_reader(2), encoder, layout=layout).read_all()
        return
    found = encode(table.to_reader(2), encoder, layout=layout).read_all()
    assert found["kept"].to_pylist() == [*range(len(rows))]
    if layout == "columns":
        cells = [found[name].to_pylist() for name in encoder.schema.names]
    elif layout == "struct":
        cells = [*zip(*(row.values() for row in found["g"].to_pylist()), strict=True)]
    else:
        column = found["g"].combine_chunks()
        cells = [*zip(*(getattr(column, "storage", column)).to_pylist(), strict=True)]
    np.testing.assert_array_equal(np.array(cells, float).T, expected)


def test_a_dictionary_has_one_feature_in_each_row():
    pa = pytest.importorskip("pyarrow")
    from onehot_fast.integrations.arrow import encode

    table = pa.table({"g": [["a", "b"]]})
    with pytest.raises(ValueError, match=r"'g' has several labels.*layout='dictionary'"):
        encode(table, Encoder(["g"]).fit(table), layout="dictionary")


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize("output", ["matrix", "columns"])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.3)
@example(fitted=[["a", "b"]], rows=[[], None], options={
    "handle_missing": "ignore", "handle_unknown": "error", "min_frequency": None,
    "max_categories": None, "dtype": "bool"})  # fmt: skip
def test_onnx_gives_what_transform_gives(output, fitted, rows, options):
    """ONNX gives what `transform` gives for texts of labels beside a column of single values."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from onehot_fast.integrations.onnx import input_feed

    options = {**options, "sep": {"g": "| "}, "handle_missing": "ignore"}
    fitted, rows = ([_joined(row) for row in each] for each in (fitted, rows))
    try:
        table = {"n": ["x"] * (len(fitted) + 1), "g": ["", *fitted]}
        encoder = Encoder(["n", "g"], **options).fit(table)
    except ValueError:
        return  # the options do not allow each other
    if not len(encoder.schema.columns[1].known):
        with pytest.raises(ValueError, match="'g' has no categories"):
            encoder.to_onnx(output=output)
        return
    model = encoder.to_onnx(output=output)
    table = {"n": ["x"] * len(rows), "g": rows}
    session = runtime.InferenceSession(model.SerializeToString())
    feed = input_feed(model, table)
    try:
        expected = encoder.transform(table, "numpy")
    except ValueError:
        with pytest.raises(Exception, match="column 'g': unknown value"):
            session.run(None, feed)
        return
    found = session.run(None, feed)
    found = found[0] if output == "matrix" else np.column_stack(found)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def _joined(row):
    """Return labels as a text with empty labels, which are skipped."""
    return row if row is None else "| ".join(label or "" for label in row)


def test_onnx_names_what_it_cannot_represent():
    """Lists have no input, a missing text is an empty one, and the operator has a version."""
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=r"'g' has lists.*sep="):
        Encoder(["g"]).fit({"g": [["a"]]}).to_onnx()
    texts = {"g": ["a|b", "a"]}
    for rule in ("indicator", "error", "propagate"):
        encoder = Encoder(["g"], sep="|", handle_missing=rule, dtype="float32").fit(texts)
        with pytest.raises(ValueError, match=r"'g' has handle_missing=.*handle_missing='ignore'"):
            encoder.to_onnx()
    encoder = Encoder(["g"], sep="|").fit(texts)
    with pytest.raises(ValueError, match=r"opset must be in \[20, "):
        encoder.to_onnx(opset=19)
    assert encoder.to_onnx(opset=21).opset_import[0].version == 21
