"""What an encoder says in SQL: the same as `transform`, whatever categories and names hold."""

from __future__ import annotations

import datetime
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from postgres import QueryError, Session

from onehot_fast import Encoder
from onehot_fast.integrations.sql import DIALECTS

TEXTS = [
    "a", "A", "", "'", "''", "it's", "a\\", "\\'", '"', "`", "a\nb", "a\tb", "a\0", "a\0b", "1",
    "'; DROP TABLE t; --", "\\'; DROP TABLE t; --", "/*", "%", "${x}", "é", "\U0001f600", "NULL",
]  # fmt: skip
FLOATS = [0.0, -0.0, 0.1, 1.5, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53, -1e-7, np.inf]
DAYS = [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), datetime.date(1, 1, 1)]
INSTANTS = [
    datetime.datetime(2024, 2, 29, 12, 30, 1, 5), datetime.datetime(1969, 12, 31),
    datetime.datetime(2024, 2, 29, 12, 30),
]  # fmt: skip
# The values of a column, the type of a column of DuckDB, and what makes a column of them.
KINDS: dict[str, tuple[list[Any], str, Any]] = {
    "texts": (TEXTS, "VARCHAR", list),
    "padded texts": (["a", "a ", " a", ""], "VARCHAR", list),
    "nothing": ([], "DOUBLE", lambda v: np.array(v, float)),
    "integers": ([0, 1, -3, 2**53, 2**53 + 1, -(2**63), 2**63 - 1], "BIGINT", list),
    "bytes": ([0, 1, -128, 127], "TINYINT", lambda v: np.array(v, np.int8) if None not in v else v),
    "floats": ([*FLOATS, np.nan], "DOUBLE", lambda v: np.array(v, float)),
    "singles": ([0.1, 0.5, 3.4e38, np.nan], "FLOAT", lambda v: np.array(v, np.float32)),
    "Booleans": ([True, False], "BOOLEAN", list),
    "days": (DAYS, "DATE", list),
    "instants": (INSTANTS, "TIMESTAMP", list),
    "NumPy's instants": (INSTANTS, "TIMESTAMP", lambda v: np.array(v, "M8[us]")),
    "binary": ([b"", b"a", b"'", b"\0\xff"], "BLOB", list),
}  # fmt: skip
REFUSED = re.compile(
    r"has no features?|cannot be written in SQL|can fail on purpose|would both be"
    r"|BigQuery has no column named"
)
NAMES = ["c", 'a"b', "`", "x; DROP TABLE t", "'", "\\", "select", "a.b", "é", "c]", "--", "a b"]


@dataclass(frozen=True)
class Case:
    """An encoder, and rows of its only column."""

    encoder: Encoder
    kind: str
    name: str
    rows: list[Any]

    def expected(self) -> Any:
        """Return what `transform` gives, or its error."""
        make = KINDS[self.kind][2]
        try:
            return self.encoder.transform({self.name: make(self.rows)}, "numpy")
        except ValueError as error:
            return error


@st.composite
def cases(draw: st.DrawFn, without: str = "") -> Case:
    kind = draw(st.sampled_from([kind for kind in KINDS if kind != without]))
    pool, _, make = KINDS[kind]
    values = st.lists(st.sampled_from([*pool, None]), max_size=12)
    train, name = draw(values), draw(st.sampled_from(NAMES))
    # A column in which `fit` sees no value can have values later.
    rows = draw(values if pool else st.lists(st.sampled_from([1.5, np.nan, None]), max_size=5))
    options: dict[str, Any] = {
        "handle_missing": st.sampled_from(["ignore", "indicator", "error", "propagate"]),
        "handle_unknown": st.sampled_from(["error", "ignore", "indicator", "infrequent"]),
        "drop": st.sampled_from([None, "first", "last", "if_binary", "most_frequent"]),
        "min_frequency": st.sampled_from([None, 2, 3]),
        "max_categories": st.sampled_from([None, 2, 3]),
        "dtype": st.sampled_from(["bool", "uint8", "int64", "float32", "float64"]),
    }
    chosen = {key: draw(option) for key, option in options.items()}
    if chosen["handle_missing"] == "propagate":
        chosen["dtype"] = "float32"
    if chosen["handle_missing"] == "error":
        train = [value for value in train if value is not None and value == value]
    encoder = Encoder([name], **chosen).fit({name: make(train)})
    return Case(encoder, kind, name, rows)


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        yield connection


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def statement_of(case: Case, dialect: str, table: Any) -> str | None:
    """Return the statement, None where it is refused for one of the reasons that there are."""
    try:
        return case.encoder.to_sql(dialect, table=table)
    except ValueError as error:
        if REFUSED.search(str(error)):
            return None
        raise


def fill(connection: Any, case: Case, kind: str) -> None:
    """Make the table of a case."""
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t ({quoted(case.name)} {kind}, place INTEGER)")
    for i, row in enumerate(case.rows):
        connection.execute("INSERT INTO t VALUES (?, ?)", [row, i])


def check(found: list[Any], case: Case) -> None:
    """Compare the rows of a query with those of `transform`."""
    expected = case.expected()
    assert isinstance(expected, np.ndarray)
    matrix = np.array(found, float).reshape(expected.shape)
    np.testing.assert_array_equal(matrix, expected.astype(float))


@given(case=cases())
def test_duckdb_encodes_as_transform_does(duck: Any, case: Case) -> None:
    """Every policy, every kind of value, and what has to be refused is refused."""
    fill(duck, case, KINDS[case.kind][1])
    statement = statement_of(case, "duckdb", table="t")
    if statement is None:
        names = case.encoder.schema.names
        assert not names or any("\0" in name for name in names)
        return
    statement += " ORDER BY place"
    if isinstance(case.expected(), Exception):
        with pytest.raises(Exception, match=r"is unknown|is missing"):
            duck.execute(statement).fetchall()
        return
    result = duck.execute(statement)

    assert [column[0] for column in result.description] == list(case.encoder.schema.names)
    check(result.fetchall(), case)
    kinds = {"uint8": "UTINYINT", "float32": "FLOAT", "bool": "BOOLEAN"}
    dtype = str(case.encoder.schema.dtype)
    if dtype in kinds:
        assert {str(column[1]) for column in duck.execute(statement).description} == {kinds[dtype]}


POSTGRES = {
    "VARCHAR": ("text", lambda v: f"convert_from('\\x{v.encode().hex()}', 'UTF8')"),
    "BIGINT": ("bigint", str),
    "TINYINT": ("smallint", str),
    "DOUBLE": ("double precision", lambda v: f"'{v!r}'::float8"),
    "FLOAT": ("real", lambda v: f"'{v!r}'::real"),
    "BOOLEAN": ("boolean", str),
    "DATE": ("date", lambda v: f"'{v}'::date"),
    "TIMESTAMP": ("timestamp", lambda v: f"'{v}'::timestamp"),
    "BLOB": ("bytea", lambda v: f"'\\x{v.hex()}'::bytea"),
}


@given(case=cases())
def test_postgres_encodes_as_transform_does(postgres: Session, case: Case) -> None:
    """A real server: every policy, every kind of value, and each rejected value fails."""
    rows = [None if isinstance(v, str) and "\0" in v else v for v in case.rows]
    case = replace(case, rows=rows)
    statement = statement_of(case, "postgres", table="t")
    if statement is None:
        return
    kind, written = POSTGRES[KINDS[case.kind][1]]
    postgres.execute("DROP TABLE IF EXISTS t")
    postgres.execute(f"CREATE TABLE t ({quoted(case.name)} {kind}, place integer)")
    for i, row in enumerate(rows):
        value = "NULL" if row is None else written(row)
        postgres.execute(f"INSERT INTO t VALUES ({value}, {i})")
    statement += " ORDER BY place"
    if isinstance(case.expected(), Exception):
        with pytest.raises(QueryError, match=r"is unknown|is missing"):
            postgres.execute(statement)
        return
    cells = {"t": 1, "f": 0}
    found = [[cells.get(str(cell), cell) for cell in row] for row in postgres.execute(statement)]
    check(found, case)


@given(case=cases(without="singles"))
def test_sqlite_encodes_as_transform_does(case: Case) -> None:
    """Whatever affinity and collation the column has: texts are no numbers, and "a" is not "A"."""
    policies = {case.encoder.get_params()[p] for p in ("handle_missing", "handle_unknown")}
    statement = statement_of(case, "sqlite", table="t")
    if "error" in policies and case.encoder.n_features:
        assert statement is None
    if statement is None:
        return
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({quoted(case.name)} COLLATE NOCASE, place)")
        for i, row in enumerate(case.rows):
            plain = str(row) if isinstance(row, datetime.date) else row
            connection.execute("INSERT INTO t VALUES (?, ?)", [plain, i])
        found = connection.execute(statement + " ORDER BY place")
        rows = [[np.nan if cell is None else cell for cell in row] for row in found]

    check(rows, case)


@given(case=cases())
def test_every_dialect_is_one_statement_with_the_same_texts(case: Case) -> None:
    """Another reader of the dialects finds the names and the categories, and nothing else."""
    sqlglot = pytest.importorskip("sqlglot")
    for dialect in DIALECTS:
        statement = statement_of(case, dialect, table=["s", "t"])
        if statement is None:
            continue
        [parsed] = sqlglot.parse(statement, dialect=dialect)
        names = list(case.encoder.schema.names)
        assert [column.alias for column in parsed.expressions] == list(
            DIALECTS[dialect].aliases(names)
        )
        assert {column.name for column in parsed.find_all(sqlglot.exp.Column)} <= {case.name}
        [table] = parsed.find_all(sqlglot.exp.Table)
        assert (table.db, table.name) == ("s", "t")


@pytest.mark.parametrize("text", [text for text in TEXTS if "\0" not in text and "\n" not in text])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_is_one_literal(dialect: str, text: str) -> None:
    """The category stands in the statement as one text, and is read back as it was."""
    sqlglot = pytest.importorskip("sqlglot")
    encoder = Encoder(drop={"c": [text]}, handle_unknown="indicator").fit({"c": [text, "other"]})

    parsed = sqlglot.parse_one(encoder.to_sql(dialect, table="t"), dialect=dialect)

    found = [node.this for node in parsed.walk() if isinstance(node.this, str)]
    if dialect == "spark":  # the bytes of a text that a setting of Spark would change
        found += [bytes.fromhex(n.this).decode() for n in parsed.find_all(sqlglot.exp.HexString)]
    assert text in found


@pytest.mark.parametrize(
    ("values", "dialect", "message"),
    [
        (["a", 1], "duckdb", r"'c' cannot be written in SQL: DuckDB has no column that holds"),
        ([datetime.timedelta(1)], "postgres", r"no values like datetime.timedelta"),
        ([1 + 2j], "spark", r"no values like \(1\+2j\) \(complex\)"),
        (
            [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)],
            "sqlite",
            r"instants with a time zone",
        ),
        (["x" * 70], "postgres", r"PostgreSQL has at most 63 bytes"),
        ([*map(str, range(2001))], "sqlite", r"at most 2,000 columns, .* 2,001 features"),
        (["a.b", "a-b"], "bigquery", r"'c_a-b' and 'c_a.b' would both be 'c_a_b'"),
    ],
)
def test_what_an_engine_cannot_say_is_refused(values: Any, dialect: str, message: str) -> None:
    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": values})

    with pytest.raises(ValueError, match=message):
        encoder.to_sql(dialect)


@pytest.mark.parametrize("name", ["", "a\0", "\ud800"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_no_engine_has_are_refused(dialect: str, name: str) -> None:
    encoder = Encoder([name], handle_unknown="ignore", prefix="p").fit({name: ["x"]})

    with pytest.raises(ValueError, match="cannot be written in SQL"):
        encoder.to_sql(dialect)
    with pytest.raises(ValueError, match="cannot be written in SQL"):
        Encoder(handle_unknown="ignore").fit({"c": ["x"]}).to_sql(dialect, table=name)


@pytest.mark.parametrize("table", [5, [], ["schema", 5]])
def test_what_names_no_table_is_refused(table: Any) -> None:
    with pytest.raises(TypeError, match=r"a name or a list of names"):
        Encoder().fit({"c": ["x"]}).to_sql(table=table)


def test_other_numbers_and_zones(duck: Any) -> None:
    """Decimals, integers beyond 64 bits, nanoseconds, and instants with a zone."""
    zone = datetime.timezone(datetime.timedelta(hours=2))
    columns: dict[str, tuple[str, list[Any]]] = {
        "d": ("DECIMAL(18, 3)", [Decimal("1.5"), Decimal("1.1")]),
        "h": ("HUGEINT", [2**70, 5]),
        "n": ("TIMESTAMP_NS", [np.datetime64(1, "ns"), np.datetime64("2024-01-01", "ns")]),
        "z": ("TIMESTAMPTZ", [datetime.datetime(2024, 1, 1, 2, tzinfo=zone)] * 2),
    }  # fmt: skip
    duck.execute("DROP TABLE IF EXISTS t")
    duck.execute(f"CREATE TABLE t ({', '.join(f'{name} {k}' for name, (k, _) in columns.items())})")
    for row in zip(*(values for _, values in columns.values()), strict=True):
        duck.execute("INSERT INTO t SELECT ?, ?, ?::VARCHAR, ?", [*row[:2], str(row[2]), row[3]])
    table = {name: values for name, (_, values) in columns.items()}
    encoder = Encoder([*columns], dtype="uint8").fit(table)

    found = duck.execute(encoder.to_sql(table="t")).fetchall()

    np.testing.assert_array_equal(np.array(found), encoder.transform(table))


def test_spark_replaces_no_variable() -> None:
    encoder = Encoder(["c"], handle_unknown="ignore", prefix="p").fit({"c": ["x"]})
    assert "${" not in encoder.to_sql("spark")

    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": ["${env:HOME}"]})
    with pytest.raises(ValueError, match="Spark replaces variables"):
        encoder.to_sql("spark")


INDICATE = {"handle_unknown": "indicator", "handle_missing": "indicator", "dtype": "int64"}


@pytest.mark.parametrize("values", [[None], [], [np.nan], np.array([np.nan]), [Decimal("NaN")]])
def test_nan_is_missing_where_no_category_tells_the_type(
    duck: Any, postgres: Session, values: Any
) -> None:
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


def test_decimals_that_few_columns_hold(duck: Any, postgres: Session) -> None:
    """Infinity, many digits and large exponents are written where a column can hold them."""
    values = [Decimal(v) for v in ("Infinity", "1E+40", "1E-16390", "1.50", "-7", "0E+9999999")]
    encoder = Encoder(["x"], **INDICATE).fit({"x": values})
    rows = ["1.5", "-7.00", "0", "3"]
    source = "FROM (SELECT CAST(UNNEST({}) AS NUMERIC(18, 5)) AS x) AS t"
    found = duck.execute(f"SELECT {encoder.to_sql()} {source.format([*map(float, rows)])}")
    expected = encoder.transform({"x": [*map(Decimal, rows)]})
    np.testing.assert_array_equal(np.array(found.fetchall()), expected)

    rows += ["1e309", "1e-330", "1e40", "Infinity", "NaN"]
    source = f"FROM UNNEST(CAST(ARRAY{rows} AS NUMERIC[])) AS t (x)"
    statement = f"SELECT {encoder.to_sql('postgres')} {source}"
    expected = encoder.transform({"x": [*map(Decimal, rows)]})
    np.testing.assert_array_equal(np.array(postgres.execute(statement), int), expected)
    whole = Encoder(["x"], **INDICATE).fit({"x": [3, 10**50]})
    statement = f"SELECT {whole.to_sql('postgres')} {source}"
    expected = whole.transform({"x": [*map(Decimal, rows)]})
    np.testing.assert_array_equal(np.array(postgres.execute(statement), int), expected)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("other", [2, 0.5, Decimal("0.5")])
def test_the_statement_is_as_long_as_the_categories(dialect: str, other: Any) -> None:
    """Exponents are never written out, and integers beyond float64 match no float."""
    values = [Decimal("1E+999999999"), Decimal("1E-99999999"), 10**400, other, other]
    encoder = Encoder(["x"], min_frequency=2, **INDICATE).fit({"x": values})

    assert len(encoder.to_sql(dialect)) < 3000


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "bigquery"])
def test_instants_beyond_the_years_of_sql_are_rejected(dialect: str, sign: int) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=-12 * sign))
    end = datetime.datetime.max if sign == 1 else datetime.datetime.min
    encoder = Encoder(["x"], **INDICATE).fit({"x": [end.replace(tzinfo=zone)]})

    with pytest.raises(ValueError, match="the years from 1 to 9999"):
        encoder.to_sql(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("names", [[0, "0"], ["c", "C"]])
def test_columns_that_sql_cannot_tell_apart_are_rejected(dialect: str, names: Any) -> None:
    encoder = Encoder(names, prefix={names[0]: "p"}).fit({name: ["a"] for name in names})

    if (dialect, names) == ("postgres", ["c", "C"]):
        assert '"C"' in encoder.to_sql(dialect)
    else:
        with pytest.raises(ValueError, match="cannot tell the columns"):
            encoder.to_sql(dialect)


def test_collations_and_types_of_text_columns(duck: Any, postgres: Session) -> None:
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
    statement = f"{encoder.to_sql('postgres', 'typed')} ORDER BY place"
    np.testing.assert_array_equal(
        np.array(postgres.execute(statement), int), encoder.transform(table)
    )
    encoder = Encoder(["w"], **INDICATE).fit({"w": ["a", "a "]})
    found = postgres.execute(f"{encoder.to_sql('postgres', 'typed')} ORDER BY place")
    np.testing.assert_array_equal(np.array(found, int), encoder.transform(table))

    duck.execute("CREATE OR REPLACE TEMPORARY TABLE typed (c VARCHAR COLLATE NOCASE, i INTEGER)")
    duck.execute("INSERT INTO typed VALUES ('a', 0), ('A', 1), ('z', 2), (NULL, 3)")
    encoder = Encoder(["c"], **INDICATE).fit({"c": ["a", "b"]})
    found = duck.execute(f"{encoder.to_sql(table='typed')} ORDER BY i").fetchall()
    np.testing.assert_array_equal(np.array(found), encoder.transform({"c": letters}))
