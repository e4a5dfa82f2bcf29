"""SQL of an encoder: quotes, limits, and the types and settings of real databases."""

import datetime
import sqlite3
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
        ([datetime.timedelta(1)], "postgres", r"for values like datetime.timedelta"),
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
    """Also after a round trip through JSON; a text "NaN" is a value."""
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


def test_decimals_that_few_columns_hold(duck, postgres):
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


@pytest.mark.parametrize(("dialect", "double"), [("spark", "DOUBLE"), ("bigquery", "FLOAT64")])
def test_infinite_decimals_are_not_in_the_list_of_decimals(dialect, double):
    """In one list with a float, the engines would compare the decimals as floats."""
    values = [Decimal("Infinity"), Decimal(2), Decimal(3)]
    encoder = Encoder(["x"], handle_unknown="indicator").fit({"x": values})

    two, three = ("2", "3") if dialect == "spark" else ("BIGNUMERIC '2'", "BIGNUMERIC '3'")
    condition = f"(`x` IN ({two}, {three}) OR `x` = CAST('Infinity' AS {double}))"
    assert condition in encoder.to_sql(dialect)


def test_features_whose_names_differ_only_by_case(duck):
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


def test_collations_and_types_of_text_columns(duck, postgres):
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
