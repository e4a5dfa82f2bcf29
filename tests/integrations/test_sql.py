"""SQL of an encoder: quotes, limits, and the types and settings of real databases."""

import datetime
import sqlite3
import uuid
from contextlib import closing
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Encoder
from onehot_fast.integrations.sql import DIALECTS


@pytest.fixture(scope="module")
def duck():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        yield connection


# Instants that are before or after the years of SQL in UTC.
BEYOND = [
    [end.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=hours)))]
    for end, hours in [(datetime.datetime.max, -12), (datetime.datetime.min, 12)]
]


@pytest.mark.parametrize(
    ("values", "dialect", "message"),
    [
        (["a", 1], "duckdb", r"'c' cannot be encoded in SQL: DuckDB has no column type"),
        *(
            ([datetime.timedelta(1)], dialect, r"for values like datetime.timedelta")
            for dialect in ("spark", "bigquery", "sqlite")
        ),
        *(([datetime.time(1)], dialect, "datetime.time") for dialect in ("spark", "sqlite")),
        *(([uuid.UUID(int=1)], dialect, "UUID") for dialect in ("spark", "bigquery", "sqlite")),
        ([datetime.time(1, tzinfo=datetime.UTC)], "duckdb", "times of day with a time zone"),
        ([1 + 2j], "spark", r"for values like \(1\+2j\) \(complex\)"),
        ([datetime.datetime.max.replace(tzinfo=datetime.UTC)], "sqlite", "with a time zone"),
        (["x" * 70], "postgres", r"at most 63 bytes in PostgreSQL"),
        ([*map(str, range(2001))], "sqlite", r"at most 2,000 columns, .* 2,001 features"),
        (["a.b", "a-b"], "bigquery", r"'c_a-b' and 'c_a.b' would both be named 'c_a_b'"),
        (["${env:HOME}"], "spark", "Spark reads .* as a variable"),
        *(
            (each, dialect, "years from 1 to 9999")
            for each in BEYOND
            for dialect in [*DIALECTS][:4]
        ),
    ],
)
def test_encoders_that_an_engine_cannot_represent_are_rejected(values, dialect, message):
    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": values})

    with pytest.raises(ValueError, match=message):
        encoder.to_sql(dialect)


@pytest.mark.parametrize("name", ["", "a\0", "\ud800"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_no_engine_has_are_rejected(dialect, name):
    encoder = Encoder([name], handle_unknown="ignore", prefix="p").fit({name: ["x"]})

    with pytest.raises(ValueError, match="cannot be written in SQL"):
        encoder.to_sql(dialect)
    with pytest.raises(ValueError, match="cannot be written in SQL"):
        Encoder(handle_unknown="ignore").fit({"c": ["x"]}).to_sql(dialect, table=name)


@pytest.mark.parametrize("table", [5, [], ["schema", 5]])
def test_invalid_names_of_tables_are_rejected(table):
    with pytest.raises(TypeError, match=r"a name or a list of names"):
        Encoder().fit({"c": ["x"]}).to_sql(table=table)


INDICATE = {"handle_unknown": "indicator", "handle_missing": "indicator", "dtype": "int64"}


@pytest.mark.parametrize("values", [[None], [], [np.nan], np.array([np.nan]), [Decimal("NaN")]])
def test_nan_is_missing_where_no_category_tells_the_type(duck, postgres, values):
    """NaN is missing if no category tells the type, also after JSON; a text "NaN" is a value."""
    fitted = Encoder(["x"], **INDICATE).fit({"x": values})
    rows = "(VALUES (1, {0}), (2, {1}), (3, NULL)) AS t (place, x)"
    numbers = rows.format("CAST('NaN' AS DOUBLE PRECISION)", "1.5")
    texts = rows.format("'NaN'", "'nan'")
    for encoder in (fitted, Encoder.from_json(fitted.to_json())):
        for source, expected in [(numbers, [0, 1, 0]), (texts, [1, 1, 0])]:
            items = encoder.to_sql("duckdb"), encoder.to_sql("postgres")
            found = duck.execute(f"SELECT {items[0]} FROM {source} ORDER BY place").fetchall()
            assert [row[0] for row in found] == expected
            found = postgres.execute(f"SELECT {items[1]} FROM {source} ORDER BY place")
            assert [[int(cell or 0) for cell in row] for row in found] == [
                [unknown, 1 - unknown] for unknown in expected
            ]


def test_decimals_are_written_where_a_column_can_hold_them(duck, postgres):
    """Infinity, many digits and large exponents are written where a column can hold them."""
    values = [Decimal(v) for v in ("Infinity", "1E+40", "1E-16390", "1.50", "-7", "0E+9999999")]
    encoder = Encoder(["x"], **INDICATE).fit({"x": values})
    rows, doubles = ["1.5", "-7.00", "0", "3"], [1.5, -7.0, np.inf, -np.inf, 3.0]
    for kind, given, expected in [
        ("NUMERIC(18, 5)", [*map(float, rows)], encoder.transform({"x": [*map(Decimal, rows)]})),
        ("DOUBLE", doubles, encoder.transform({"x": np.array(doubles)})),
    ]:
        source = f"FROM (SELECT CAST(UNNEST(?::DOUBLE[]) AS {kind}) AS x) AS t"
        found = duck.execute(f"SELECT {encoder.to_sql()} {source}", [given]).fetchall()
        np.testing.assert_array_equal(np.array(found), expected)
    assert expected[2].tolist() != expected[3].tolist()

    rows += ["1e309", "1e-330", "1e40", "Infinity", "NaN"]
    for fitted in (encoder, Encoder(["x"], **INDICATE).fit({"x": [3, 10**50]})):
        source = f"FROM UNNEST(CAST(ARRAY{rows} AS NUMERIC[])) AS t (x)"
        found = postgres.execute(f"SELECT {fitted.to_sql('postgres')} {source}")
        expected = fitted.transform({"x": [*map(Decimal, rows)]})
        np.testing.assert_array_equal(np.array(found, int), expected)


MICROSECOND = datetime.timedelta(microseconds=1)
SPANS = [
    datetime.timedelta(0), MICROSECOND, -MICROSECOND, datetime.timedelta(hours=25, microseconds=5),
    datetime.timedelta(days=-40, seconds=1), (2**63 - 1) * MICROSECOND, -(2**63 - 1) * MICROSECOND,
]  # fmt: skip
CLOCKS = [
    datetime.time.min, datetime.time.max, datetime.time(12, 30), datetime.time(0, 0, 0, 1)
]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kind", "other"),
    [
        (SPANS, "INTERVAL", 2 * MICROSECOND),
        (CLOCKS, "TIME", datetime.time(7, 8)),
        ([uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)], "UUID", uuid.UUID(int=1)),
    ],
)
def test_durations_times_of_day_and_uuids_are_found(values, kind, other, duck, postgres):
    """SQL finds durations, times of day and UUIDs exactly, over the whole range of both engines."""
    encoder = Encoder(["x"], **INDICATE).fit({"x": values})
    rows = [*values, other, None]
    expected = encoder.transform({"x": rows})

    duck.execute(f"CREATE OR REPLACE TEMPORARY TABLE spans (place INT, x {kind})")
    duck.executemany("INSERT INTO spans VALUES (?, ?)", [[i, row] for i, row in enumerate(rows)])
    found = duck.execute(f"{encoder.to_sql(table='spans')} ORDER BY place").fetchall()
    np.testing.assert_array_equal(np.array(found), expected)

    texts = [_span_text(row) for row in rows]
    lines = ", ".join(f"({i}, CAST({text} AS {kind}))" for i, text in enumerate(texts))
    source = f"(VALUES {lines}) AS t (place, x)"
    found = postgres.execute(f"SELECT {encoder.to_sql('postgres')} FROM {source} ORDER BY place")
    np.testing.assert_array_equal(np.array(found, int), expected)


def _span_text(value):
    """Return a duration, a time of day or a UUID as a text of PostgreSQL."""
    if value is None:
        return "NULL"
    if not isinstance(value, datetime.timedelta):
        return f"'{value}'"
    # The days and the time of day apart, as another way to write the same interval.
    return f"'{value.days} days {value.seconds} seconds {value.microseconds} microseconds'"


def test_durations_that_no_interval_holds_are_false(duck):
    """An interval has microseconds, so that no value equals these categories."""
    values = [np.timedelta64(1, "ns"), np.timedelta64(2**63 - 1, "s"), np.timedelta64(1, "us")]
    encoder = Encoder(["x"], **INDICATE).fit({"x": values})
    items = encoder.to_sql()
    found = duck.execute(f"SELECT {items} FROM (SELECT INTERVAL '1 microsecond' AS x)").fetchall()
    np.testing.assert_array_equal(np.array(found), encoder.transform({"x": values[2:]}))


@pytest.mark.parametrize(("dialect", "double"), [("spark", "DOUBLE"), ("bigquery", "FLOAT64")])
def test_infinite_decimals_are_not_in_the_list_of_decimals(dialect, double):
    """SQL compares an infinite decimal on its own, and not in the list of the finite ones.

    In one list with a float, the engines would compare the decimals as floats.
    """
    values = [Decimal("Infinity"), Decimal(2), Decimal(3)]
    encoder = Encoder(["x"], handle_unknown="indicator").fit({"x": values})

    two, three = ("2", "3") if dialect == "spark" else ("BIGNUMERIC '2'", "BIGNUMERIC '3'")
    condition = f"(`x` IN ({two}, {three}) OR `x` = CAST('Infinity' AS {double}))"
    assert condition in encoder.to_sql(dialect)


def test_features_may_differ_by_the_case_of_their_names(duck):
    """A view can give them other names."""
    encoder = Encoder(["c"], dtype="int8", handle_unknown="ignore").fit({"c": ["a", "A"]})
    with closing(sqlite3.connect(":memory:")) as memory:
        for dialect, execute in [("duckdb", duck.execute), ("sqlite", memory.execute)]:
            execute("CREATE TEMPORARY TABLE letters AS SELECT 'a' AS c")
            statement = encoder.to_sql(dialect, table="letters")
            assert execute(statement).fetchall() == [(0, 1)]
            execute(f"CREATE TEMPORARY VIEW cased (upper_a, lower_a) AS {statement}")
            assert execute("SELECT lower_a, upper_a FROM cased").fetchall() == [(1, 0)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("other", [2, 0.5, Decimal("0.5")])
def test_the_statement_is_as_long_as_the_categories(dialect, other):
    """Exponents are never written out, and integers beyond float64 match no float."""
    values = [Decimal("1E+999999999"), Decimal("1E-99999999"), 10**400, other, other]
    encoder = Encoder(["x"], min_frequency=2, **INDICATE).fit({"x": values})

    assert len(encoder.to_sql(dialect)) < 3000


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("names", [[0, "0"], ["c", "C"]])
def test_columns_that_sql_cannot_tell_apart_are_rejected(dialect, names):
    encoder = Encoder(names, prefix={names[0]: "p"}).fit({name: ["a"] for name in names})

    if (dialect, names) == ("postgres", ["c", "C"]):
        assert '"C"' in encoder.to_sql(dialect)
    else:
        with pytest.raises(ValueError, match="cannot tell the columns"):
            encoder.to_sql(dialect)


def test_texts_are_compared_by_their_characters(duck, postgres):
    """Texts are compared by their characters, whatever the column declares."""
    postgres.execute("CREATE EXTENSION IF NOT EXISTS citext")
    postgres.execute(
        "CREATE COLLATION IF NOT EXISTS loose"
        " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    )
    postgres.execute("DROP TYPE IF EXISTS letter CASCADE")
    postgres.execute("CREATE TYPE letter AS ENUM ('a', 'A', 'z')")
    columns = {"t": "text", "n": "text COLLATE loose", "i": "citext", "e": "letter", "w": "char(2)"}
    kinds = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    postgres.execute(f"CREATE TEMPORARY TABLE typed ({kinds}, place integer)")
    letters = ["a", "A", "z", None]
    for i, letter in enumerate(letters):
        row = ", ".join(["NULL" if letter is None else f"'{letter}'"] * len(columns))
        postgres.execute(f"INSERT INTO typed VALUES ({row}, {i})")
    table = {name: [c and c + " " * (name == "w") for c in letters] for name in columns}
    known = {
        name: [*values[:1], "b "] if name == "w" else ["a", "b"] for name, values in table.items()
    }
    encoder = Encoder([*columns], **INDICATE).fit(known)
    for fitted in (encoder, Encoder(["w"], **INDICATE).fit({"w": ["a", "a "]})):
        found = postgres.execute(f"{fitted.to_sql('postgres', 'typed')} ORDER BY place")
        np.testing.assert_array_equal(np.array(found, int), fitted.transform(table))

    duck.execute("CREATE OR REPLACE TEMPORARY TABLE typed (c VARCHAR COLLATE NOCASE, i INTEGER)")
    duck.execute("INSERT INTO typed VALUES ('a', 0), ('A', 1), ('z', 2), (NULL, 3)")
    encoder = Encoder(["c"], **INDICATE).fit({"c": ["a", "b"]})
    found = duck.execute(f"{encoder.to_sql(table='typed')} ORDER BY i").fetchall()
    np.testing.assert_array_equal(np.array(found), encoder.transform({"c": letters}))


REJECTING = [
    ({}, "zz"),
    ({"handle_missing": "error"}, None),
    ({"handle_missing": "indicator"}, "zz"),
    ({"handle_unknown": "ignore", "handle_missing": "error"}, None),
    ({"drop": "first"}, "zz"),
    ({"max_categories": 2}, "zz"),
]


def each_feature(encoder, dialect, execute, accept=lambda: None):
    """Run queries of each feature alone, and of the rows that a condition selects.

    `accept` deletes the rejected row, which some engines check although the condition excludes it.
    """
    statement = encoder.to_sql(dialect, table="t")
    quote = DIALECTS[dialect].identifier
    for name in encoder.get_feature_names_out():
        with pytest.raises(Exception, match=r"the value is (unknown|missing)"):
            execute(f"SELECT {quote(name)} FROM ({statement}) AS x")
    accept()
    accepted = execute(f"{statement} WHERE {quote('place')} < 2 ORDER BY {quote('place')} DESC")
    expected = encoder.transform({"c": ["b", "a"]}, "numpy").astype(int).tolist()
    assert [[*map(int, row)] for row in accepted] == expected
    by_table = f"{statement} WHERE {quote('t')}.{quote('place')} = 0"
    assert [[*map(int, row)] for row in execute(by_table)] == expected[1:]


@pytest.mark.parametrize(("options", "value"), REJECTING)
def test_every_feature_of_duckdb_rejects_the_value(options, value, duck):
    """Whichever features a query selects; columns of the table remain visible."""
    encoder = Encoder(["c"], remainder="drop", **options).fit({"c": ["a", "b", "c", "c"]})
    duck.execute("CREATE OR REPLACE TABLE t (c VARCHAR, place INTEGER)")
    duck.executemany("INSERT INTO t VALUES (?, ?)", [["a", 0], ["b", 1], [value, 2]])

    each_feature(encoder, "duckdb", lambda query: duck.execute(query).fetchall())


@pytest.mark.parametrize(("options", "value"), REJECTING)
def test_every_feature_of_postgres_rejects_the_value(options, value, postgres):
    encoder = Encoder(["c"], remainder="drop", **options).fit({"c": ["a", "b", "c", "c"]})
    postgres.execute("DROP TABLE IF EXISTS t")
    postgres.execute("CREATE TABLE t (c text, place integer)")
    shown = "NULL" if value is None else f"'{value}'"
    postgres.execute(f"INSERT INTO t VALUES ('a', 0), ('b', 1), ({shown}, 2)")

    def execute(query):
        return [[{"t": 1, "f": 0}[cell] for cell in row] for row in postgres.execute(query)]

    each_feature(
        encoder, "postgres", execute, lambda: postgres.execute("DELETE FROM t WHERE place = 2")
    )


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(("options", "value"), REJECTING)
def test_every_feature_of_spark_rejects_the_value(options, value, spark):
    encoder = Encoder(["c"], remainder="drop", **options).fit({"c": ["a", "b", "c", "c"]})
    frame = spark.createDataFrame([("a", 0), ("b", 1), (value, 2)], "c string, place int")
    frame.createOrReplaceTempView("t")

    each_feature(encoder, "spark", lambda query: spark.sql(query).collect())


def test_the_code_has_a_name_of_its_own(duck):
    """A table that was made by a query of ours can be encoded again."""
    encoder = Encoder(["c"]).fit({"c": ["a", "b"]})
    duck.execute("CREATE OR REPLACE TABLE t AS SELECT 'a' AS c")
    first = encoder.to_sql("duckdb", table="t")
    [code] = {word for word in first.split('"') if word.startswith("onehot_fast_code")}
    other = Encoder(["d"]).fit({"d": ["a"]}).to_sql("duckdb", table="t")

    assert code not in other
    duck.execute(f"CREATE OR REPLACE TABLE u AS SELECT *, c AS d FROM ({first}), t")
    again = Encoder(["d"]).fit({"d": ["a"]}).to_sql("duckdb", table="u")
    assert duck.execute(again).fetchall() == [(True,)]


def test_an_integer_of_39_digits_equals_itself(duck):
    """DuckDB exports a HUGEINT as a decimal."""
    largest = 2**127 - 1
    duck.execute(f"CREATE OR REPLACE TABLE t AS SELECT unnest([{largest}, 5, -{largest}]) AS c")
    for item in (Decimal(largest), largest):
        encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": [item, 5]})
        found = duck.execute(encoder.to_sql("duckdb", table="t")).fetchall()
        assert found == [(False, True), (True, False), (False, False)]


@pytest.mark.parametrize("value", [Decimal("1E+999999"), Decimal("0.5E-60"), Decimal(2**200)])
def test_a_decimal_that_no_column_holds_is_false(value, duck):
    duck.execute("CREATE OR REPLACE TABLE t AS SELECT 5.0 AS c")
    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": [value, Decimal(5)]})

    assert sorted(duck.execute(encoder.to_sql("duckdb", table="t")).fetchall()[0]) == [False, True]


CHECKED_TYPES = {
    "INTEGER": [1, 2, -3],
    "DOUBLE": [1.5, -0.0, 2.0],
    "DECIMAL(9, 2)": [Decimal("1.50"), Decimal(2)],
    "BOOLEAN": [True, False],
    "VARCHAR": ["a", "b'", ""],
    "BLOB": [b"a", b"\0"],
    "DATE": [datetime.date(2024, 1, 1), datetime.date.min],
    "TIMESTAMP": [datetime.datetime(2024, 1, 1, 3), datetime.datetime(1969, 1, 1)],
    "TIME": CLOCKS,
    "INTERVAL": SPANS,
    "UUID": [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)],
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"handle_missing": "indicator", "dtype": "int8"},
        {"handle_missing": "propagate", "dtype": "float32"},
        {"drop": "first", "dtype": "uint64"},
        {"max_categories": 2, "dtype": "float64"},
    ],
)
@pytest.mark.parametrize("kind", CHECKED_TYPES)
def test_checked_values_of_each_type_equal_transform(kind, options, duck):
    values = CHECKED_TYPES[kind]
    encoder = Encoder(["c"], **options).fit({"c": [*values, values[-1]]})
    rows = [*values, values[0], None]
    duck.execute(f"CREATE OR REPLACE TABLE t (place INTEGER, c {kind})")
    duck.executemany("INSERT INTO t VALUES (?, ?)", [[i, row] for i, row in enumerate(rows)])

    statement = encoder.to_sql("duckdb", table="t")
    found = duck.execute(f"{statement} ORDER BY place").fetchall()
    expected = encoder.transform({"c": rows}, "numpy")
    np.testing.assert_array_equal(np.array(found, float), expected.astype(float))
