"""One contract for all exports of an encoder: what the engine computes equals `transform`."""

from __future__ import annotations

import datetime
import re
import sqlite3
import warnings
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from importlib import metadata
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support import onnx_models
from support.strategies import examples, policies

pl = pytest.importorskip("polars")

DAY, INSTANT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
LARGE, UTC = 2**53, datetime.UTC
TEXTS = [
    "a", "A", "", "'", "''", "it's", "a\\", "\\'", '"', "`", "a\nb", "a\tb", "a\0", "a\0b", "1",
    "'; DROP TABLE t; --", "\\'; DROP TABLE t; --", "/*", "%", "${x}", "é", "\U0001f600", "NULL",
    "^a.*$", "*", "a ", " a",
]  # fmt: skip
# The values of a column by its dtype.
COLUMNS = {
    pl.String: TEXTS,
    pl.Categorical: ["a", "A", "", "1"],
    pl.Enum(["a", "A", "b "]): ["a", "A", "b "],
    pl.Int8: [0, 1, -3, 127],
    pl.Int64: [0, 1, -3, LARGE, LARGE + 1, -(2**63), 2**63 - 1],
    pl.UInt64: [0, 1, 2**64 - 1],
    pl.Int128: [0, 1, 2**100],
    pl.Float64: [0.0, -0.0, 0.1, 1 / 3, 1.0, LARGE, 5e-324, 1.7e308, -1e-7, np.inf, np.nan],
    pl.Float32: [0.0, 0.1, 1.0, 3.4e38, np.nan],
    pl.Boolean: [True, False],
    pl.Date: [DAY, datetime.date(1969, 12, 31), datetime.date(1, 1, 1), datetime.date(1582, 10, 9)],
    pl.Datetime("us"): [INSTANT, datetime.datetime(2024, 2, 29), datetime.datetime(1969, 12, 31)],
    pl.Datetime("ns"): [INSTANT, datetime.datetime(2024, 2, 29)],
    pl.Datetime("us", "UTC"): [INSTANT.replace(tzinfo=UTC), INSTANT.replace(1968, tzinfo=UTC)],
    pl.Duration("us"): [datetime.timedelta(1), datetime.timedelta(microseconds=1)],
    pl.Time: [datetime.time(12, 30)],
    pl.Binary: [b"", b"a", b"'", b"\0\xff"],
    pl.Decimal(38, 2): [Decimal("1.00"), Decimal("1.50"), Decimal("1234567890123456789012.50")],
}
NAMES = ["c", 'a"b', "`", "x; DROP TABLE t", "'", "\\", "select", "a.b", "é", "c]", "--", "a b"]
if pl.DataFrame({"*": [1], "c": [1]}).select(pl.selectors.by_name("*")).columns == ["*"]:
    NAMES += ["*", "^c$"]  # for polars before 2.0 these are patterns, even as names
# Reasons for which an engine cannot do what the encoder does.
LIMITS = re.compile(
    r"has no features?|cannot be (written|encoded) in SQL|cannot raise errors|would both"
    r" be|BigQuery does not allow|narwhals (expressions )?cannot|narwhals compares"
    r"|ONNX|needs a float64 input|has no categories|has no missing value|cannot hold"
    r"|which SQL compares"
    r"|Expected object of length 1, got (length: )?0"  # narwhals 2.0, a literal for no rows
)
# The arguments of `collect` for each engine of polars.
POLARS_ENGINES = [{"engine": "in-memory"}, {"engine": "streaming"}]
FAILURES = r"unknown|missing|out of bounds|index"


@dataclass(frozen=True)
class Case:
    """A fitted encoder, and rows of its only column, perhaps of another dtype than it saw."""

    encoder: Encoder
    name: str
    rows: Any

    @property
    def names(self):
        """The names of the features."""
        return [*map(str, self.encoder.get_feature_names_out())]

    @property
    def values(self):
        """The rows as objects of Python."""
        return list(self.rows[self.name].to_list())


@st.composite
def cases(draw, *, has_other_dtypes=False, without=(), **others):
    """Return an encoder of one column with any policy, and rows; `others` as for `policies`."""
    dtypes = [
        dtype for dtype in COLUMNS if dtype.base_type() not in without and dtype not in without
    ]
    name = draw(st.sampled_from(NAMES))

    def frame(dtype, has_missing):
        pool = [value for value in COLUMNS[dtype] if has_missing or value == value]
        values = st.lists(st.sampled_from([*pool, None] if has_missing else pool), max_size=10)
        return pl.DataFrame({name: pl.Series(draw(values), dtype=dtype)})

    dtype = draw(st.sampled_from(dtypes))
    other = draw(st.sampled_from([dtype, dtype, *dtypes])) if has_other_dtypes else dtype
    options = draw(policies(dtype=["bool", "uint8", "int64", "float32", "float64"], **others))
    missing = options.get("handle_missing")
    if missing == "propagate":
        options["dtype"] = "float32"
    encoder = Encoder([name], **options, remainder="drop").fit(frame(dtype, missing != "error"))
    return Case(encoder, name, frame(other, True))


def check(case, write, run):
    """Compare what an engine computes with `transform`, rejected values included."""
    if not case.encoder.n_features:
        return
    try:
        program = write(case)
    except (TypeError, ValueError) as error:
        assert LIMITS.search(str(error)), error  # noqa: PT017  # the reason is what is tested
        return
    try:
        expected = case.encoder.transform(case.rows, "numpy")
    except ValueError:
        with pytest.raises(Exception, match=FAILURES):
            run(program, case)
        return
    found = np.array(run(program, case), dtype=float).reshape(expected.shape)
    np.testing.assert_array_equal(found, expected.astype(float))


def same_schema(found, case):
    """Return a frame of polars as a matrix if it has the names and dtypes of the features."""
    expected = case.encoder.transform(case.rows[:0])
    assert found.schema == expected.schema
    return found.to_numpy()


def in_polars(case):
    lazy = case.rows.lazy()
    return lazy.select(case.encoder.expressions(lazy))


@given(case=cases(has_other_dtypes=True))
def test_expressions_of_polars_equal_the_oracle(case):
    check(case, in_polars, lambda lazy, case: same_schema(lazy.collect(), case))


def subsets(case):
    """Return the positions of each feature alone, and of each pair of features."""
    features = range(case.encoder.n_features)
    return [[i] for i in features] + [[*pair] for pair in combinations(features, 2)]


def check_each_subset(case, run):
    """Compare what a query returns that selects only some features with `transform`.

    `run` returns the given features. A value that the options reject must make every query fail.
    """
    try:
        expected = case.encoder.transform(case.rows, "numpy").astype(float)
    except ValueError:
        expected = None
    for chosen in subsets(case):
        if expected is None:
            with pytest.raises(Exception, match=FAILURES):
                run(chosen)
        else:
            found = np.array(run(chosen), dtype=float).reshape(len(expected), len(chosen))
            np.testing.assert_array_equal(found, expected[:, chosen])


# Options that reject values, together with any others.
STRICT = {"handle_unknown": ["error", "indicator"], "handle_missing": ["error", "propagate"]}


@pytest.mark.parametrize("engine", POLARS_ENGINES)
@examples(0.5)
@given(case=cases(has_other_dtypes=True, **STRICT))
def test_polars_rejects_values_whichever_features_a_query_selects(engine, case):
    try:
        lazy = in_polars(case)
    except ValueError as error:
        assert LIMITS.search(str(error)), error  # noqa: PT017
        return

    def run(chosen):
        return lazy.select(case.names[i] for i in chosen).collect(**engine).to_numpy()

    check_each_subset(case, run)


def in_narwhals(case, native):
    import narwhals

    frame = narwhals.from_native(native(case.rows))
    return frame.select(case.encoder.expressions(frame))


# narwhals cannot compare these dtypes.
UNNAMED = (pl.Duration, pl.Time, pl.Binary, pl.Decimal, pl.Int128)


@given(case=cases(has_other_dtypes=True, without=UNNAMED))
def test_narwhals_over_polars_equals_the_oracle(case):
    pytest.importorskip("narwhals")

    def run(frame, case):
        return same_schema(frame.collect().to_native(), case)

    check(case, lambda case: in_narwhals(case, lambda rows: rows.lazy()), run)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "duckdb"])
@examples(0.5)
@given(case=cases(without=(*UNNAMED, pl.UInt64, pl.Enum, pl.Categorical, pl.Datetime("ns"))))
def test_narwhals_over_other_libraries_equals_the_oracle(library, case):
    pytest.importorskip("narwhals")
    other = pytest.importorskip(library)
    if (library, case.name) == ("duckdb", "*"):  # narwhals cannot name such a column of DuckDB
        return
    native = {
        "pandas": lambda rows: rows.to_pandas(use_pyarrow_extension_array=True),
        "pyarrow": lambda rows: rows.to_arrow(),
        "duckdb": lambda rows: other.from_arrow(rows.to_arrow()),
    }[library]

    def run(frame, case):
        table = frame.lazy().collect("pyarrow").to_native()  # polars ends names at a "\\0"
        return np.column_stack([column.to_numpy() for column in table.columns])

    check(case, lambda case: in_narwhals(case, native), run)


def items(dialect):
    """Return what writes the items of a SELECT, under names that every engine has."""

    def write(case):
        case.encoder.to_sql(dialect, table=["s", "t"])
        from onehot_fast.integrations.sql.statements import column_features

        [column] = case.encoder.schema.columns
        features = column_features(column, dialect, case.name)
        return ", ".join(f"{feature} AS f{i}" for i, feature in enumerate(features))

    return write


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@given(case=cases(without=(pl.Int128,)))
def test_sql_of_duckdb_equals_the_oracle(case):
    """The statement has the names and the types of the features."""
    duckdb = pytest.importorskip("duckdb")
    types = {"uint8": "UTINYINT", "int64": "BIGINT", "float32": "FLOAT", "float64": "DOUBLE"}

    def run(statement, case):
        with duckdb.connect() as connection:
            connection.register("t", case.rows.to_arrow())
            result = connection.execute(statement)
            found = [(column[0], str(column[1])) for column in result.description]
            kind = types.get(str(case.encoder.schema.dtype), "BOOLEAN")
            assert found == [(name, kind) for name in case.names]
            return result.fetchall()

    check(case, lambda case: case.encoder.to_sql("duckdb", table="t"), run)


@given(case=cases(without=(pl.UInt64, pl.Int128, pl.Decimal, pl.Duration, pl.Time)))
def test_sql_of_sqlite_equals_the_oracle(case):
    """SQLite gives what the oracle gives for a column without a type whose collation is NOCASE.

    Texts are no numbers, and "a" is not "A".
    """

    def run(statement, case):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute(f"CREATE TABLE t ({quoted(case.name)} COLLATE NOCASE, place)")
            for i, row in enumerate(case.values):
                plain = str(row) if isinstance(row, datetime.date) else row
                connection.execute("INSERT INTO t VALUES (?, ?)", [plain, i])
            found = connection.execute(statement + " ORDER BY place")
            return [[np.nan if cell is None else cell for cell in row] for row in found]

    check(case, lambda case: case.encoder.to_sql("sqlite", table="t"), run)


POSTGRES = {
    pl.Int8: "smallint", pl.Int64: "bigint", pl.UInt64: "numeric(20)", pl.Int128: "numeric",
    pl.Float64: "double precision", pl.Float32: "real", pl.Boolean: "boolean", pl.Date: "date",
    pl.Datetime("us", "UTC"): "timestamptz", pl.Datetime("us"): "timestamp",
    pl.Datetime("ns"): "timestamp", pl.Binary: "bytea", pl.Decimal(38, 2): "numeric(38, 2)",
}  # fmt: skip


def in_postgres(value):
    """Return a value as a literal that has nothing in common with those of `to_sql`."""
    if value is None:
        return "NULL"
    if isinstance(value, str | bytes):
        written = value.encode() if isinstance(value, str) else value
        as_bytes = f"decode('{written.hex()}', 'hex')"
        return f"convert_from({as_bytes}, 'UTF8')" if isinstance(value, str) else as_bytes
    return f"'{value}'"


@given(case=cases(without=(pl.Duration, pl.Time)))
def test_sql_of_postgres_equals_the_oracle(postgres, case):
    texts = [value for value in case.values if isinstance(value, str)]
    if any("\0" in text for text in texts):  # no column holds it
        return

    def run(statement, case):
        [dtype] = case.rows.dtypes
        kind = POSTGRES.get(dtype, "text")
        postgres.execute("DROP TABLE IF EXISTS t")
        postgres.execute(f"CREATE TABLE t ({quoted(case.name)} {kind}, place integer)")
        for i, row in enumerate(case.values):
            postgres.execute(f"INSERT INTO t VALUES ({in_postgres(row)}, {i})")
        found = postgres.execute(f"SELECT {statement} FROM t ORDER BY place")
        cells = {"t": 1, "f": 0}
        return [[cells.get(cell, cell) for cell in row] for row in found]

    check(case, items("postgres"), run)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", ["sql", "without_python"])
@examples(0.2)
@given(case=cases(without=(pl.UInt64, pl.Int128, pl.Duration, pl.Time, pl.Datetime("ns"))))
def test_expressions_of_spark_equal_the_oracle(spark, path, case):
    texts = (pl.Categorical, pl.Enum)
    rows = case.rows.with_columns(pl.col(texts).cast(pl.String)).with_row_index("place")
    rows = rows.cast({"place": pl.Int32}).rename({case.name: "c"})
    case = Case(case.encoder, "c", case.rows)
    frame = spark.createDataFrame(rows.to_arrow())

    def write(case):
        from onehot_fast.integrations.spark import encode

        if path == "without_python":
            return encode(frame.withColumnRenamed("c", case.encoder.columns[0]), case.encoder,
                          output="array", without_python=True)  # fmt: skip
        frame.createOrReplaceTempView("t")
        return items("spark")(case)

    def run(program, case):
        if path == "sql":
            return spark.sql(f"SELECT {program} FROM t ORDER BY place").collect()
        return [row.features for row in program.collect()]

    check(case, write, run)


@given(case=cases())
def test_bigquery_is_read_back(case):
    """A parser finds one statement, the name of the column, and each feature."""
    sqlglot = pytest.importorskip("sqlglot")

    try:
        statement = case.encoder.to_sql("bigquery", table=["s", "t"])
    except ValueError as error:
        assert LIMITS.search(str(error)), error  # noqa: PT017
        return
    [parsed] = sqlglot.parse(statement, dialect="bigquery")
    aliases = [re.sub(r"^(?=\d)|\W", "_", name) for name in case.names]
    assert [column.alias for column in parsed.expressions] == aliases
    columns = {column.name for column in parsed.find_all(sqlglot.exp.Column)}
    assert {name for name in columns if not name.startswith("onehot_fast_code_")} <= {case.name}
    [table] = parsed.find_all(sqlglot.exp.Table)
    assert (table.db, table.name) == ("s", "t")


@pytest.mark.parametrize("text", [text for text in TEXTS if not {*text} & {"\0", "\n"}])
def test_a_text_is_one_literal_in_bigquery(text):
    sqlglot = pytest.importorskip("sqlglot")
    encoder = Encoder(drop={"c": [text]}, handle_unknown="indicator").fit({"c": [text, "other"]})

    parsed = sqlglot.parse_one(encoder.to_sql("bigquery", table="t"), dialect="bigquery")
    assert text in [node.this for node in parsed.walk() if isinstance(node.this, str)]


# ONNX has no type for these dtypes.
UNTYPED = (pl.Int128, pl.Date, pl.Datetime, pl.Duration, pl.Time, pl.Binary, pl.Decimal)


def is_older(package, version):
    """Tell whether the installed version of a package is lower than a version."""
    numbers = [
        tuple(map(int, text.split(".")[:2])) for text in (metadata.version(package), version)
    ]
    return numbers[0] < numbers[1]


@pytest.mark.parametrize("engine", ["onnxruntime", "reference"])
@pytest.mark.parametrize("output", ["matrix", "columns"])
@examples(1.5)
@given(case=cases(without=UNTYPED), is_half=st.booleans())
def test_models_equal_transform(engine, output, case, is_half):
    """The outputs have the bytes of `transform`, also those of float16."""
    onnx = pytest.importorskip("onehot_fast.integrations.onnx")
    if "" in case.values and "" not in case.encoder.categories[case.name]:
        return  # the empty text is a missing value in ONNX
    if engine == "reference" and not len(case.rows) and is_older("onnx", "1.17"):
        return  # its LabelEncoder loses a dimension of a column without rows
    if is_half:
        case.encoder.set_params(dtype="float16")

    def run(program, case):
        outputs = onnx_models.run(*program, engine)
        found = outputs[0] if output == "matrix" else np.stack(outputs, axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of unknown values
            expected = case.encoder.transform(case.rows, "numpy")
        onnx_models.assert_same(np.ascontiguousarray(found), expected)
        return found

    def write(case):
        model = case.encoder.to_onnx(output=output)
        return model, onnx.input_feed(model, case.rows)

    check(case, write, run)


@pytest.mark.parametrize("dtype", [*COLUMNS], ids=str)
def test_categories_beyond_every_dtype_are_never_found(dtype):
    """Expressions of categories beyond every dtype equal `transform`; `to_onnx` rejects them."""
    nw = pytest.importorskip("narwhals")
    frame = pl.DataFrame({"c": pl.Series([*COLUMNS[dtype], None], dtype=dtype)})
    values = [Decimal("1E+999999999"), Decimal("1E-99999999"), 10**400, 2, 0.1, Decimal("1.5")]
    encoder = Encoder(["c"], handle_unknown="indicator").fit({"c": values})

    expected = encoder.transform(frame)
    assert frame.select(encoder.expressions(frame)).equals(expected)
    if dtype.base_type() not in UNNAMED:
        narwhal = nw.from_native(frame)
        assert narwhal.select(encoder.expressions(narwhal)).to_native().equals(expected)
    with pytest.raises(ValueError, match=r"needs a float64 input|categories of the types?"):
        encoder.to_onnx()
