"""What an encoder says in SQL: the same as `transform`, whatever categories and names hold."""

from __future__ import annotations

import datetime
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    r"has no features?|no name in SQL|can fail on purpose|would both be|replaces variables"
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
    train, rows, name = draw(values), draw(values), draw(st.sampled_from(NAMES))
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
    read = [re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), each) for each in found]
    assert text in read


@pytest.mark.parametrize(
    ("values", "dialect", "message"),
    [
        (["a", 1], "duckdb", r"'c' cannot be written in SQL: DuckDB has no column that holds"),
        ([datetime.timedelta(1)], "postgres", r"no values like datetime.timedelta"),
        ([1 + 2j], "spark", r"no values like \(1\+2j\) \(complex\)"),
        ([datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)], "sqlite", r"instants with a zone"),
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

    with pytest.raises(ValueError, match="no name in SQL"):
        encoder.to_sql(dialect)
    with pytest.raises(ValueError, match="no name in SQL"):
        Encoder(handle_unknown="ignore").fit({"c": ["x"]}).to_sql(dialect, table=name)


@pytest.mark.parametrize("table", [5, [], ["schema", 5]])
def test_what_names_no_table_is_refused(table: Any) -> None:
    with pytest.raises(TypeError, match=r"accepted are a name, and a list of names"):
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
