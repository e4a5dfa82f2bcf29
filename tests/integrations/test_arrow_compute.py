"""One-hot encoding in pyarrow's own pipelines: functions and expressions."""

import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
acero = pytest.importorskip("pyarrow.acero")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

import pyarrow.compute as pc  # noqa: E402

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.integrations.arrow import encode, expression, register  # noqa: E402
from onehot_fast.integrations.arrow.functions import _column, _Function  # noqa: E402
from support.arrow_strategies import INTEGERS, NAN, TEXTS, can, columns  # noqa: E402
from support.encoder_oracle import UNKNOWN_RULES  # noqa: E402
from support.strategies import policies  # noqa: E402

TABLE = pa.table({"size": ["S", "L", None, "S", "new"], "n": [1, 2, 3, 4, 5]})
TRAIN = TABLE.slice(0, 4)
BOTH = Encoder(["size", "n"], handle_unknown="ignore").fit(TRAIN)


def cast(array, kind):
    """Cast as expressions do, also to the same type."""
    return projected(pa.table({"c": array}), {"c": pc.field("c").cast(kind)})


def projected(table, columns):
    """Return what a scanner makes of a table in memory."""
    return ds.dataset(table).scanner(columns=columns).to_table()


VIEW = pa.array(["a"], TEXTS[-1])
CASTABLE = TEXTS if can(lambda: cast(VIEW, pa.string())) else TEXTS[:2]
DAYS = [datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)]
CASTABLE_DAYS = [(DAYS, pa.date32())] if can(lambda: cast(pa.array(DAYS), pa.date32())) else []


@pytest.mark.parametrize("layout", ["tensor", "array", "struct"])
@given(
    drawn=columns(CASTABLE, ("plain",))
    | columns([*TEXTS[:2], pa.bool_(), pa.float64(), *INTEGERS[:6]], ("plain", "dictionary")),
    size=st.integers(1, 9),
    options=policies(
        handle_missing=["ignore", "indicator", "propagate"], handle_unknown=UNKNOWN_RULES[1:]
    ),
)
def test_an_expression_gives_the_result_of_encode(layout, drawn, size, options):
    """An expression for a column gives the result of `encode`, in batches of any size.

    The column may have chunks, slices, dictionaries, NaN and -0.0. Dictionaries of views are those
    that pyarrow itself can make nothing of.
    """
    table = pa.table({"c": drawn.column})
    # Numbers are compared as floats, and the cast refuses those that no float is.
    assume(all(type(v) is not int or abs(v) <= 2**53 for v in table["c"].to_pylist()))
    options = {"handle_unknown": "ignore", "dtype": "float32"} | options
    encoder = Encoder(["c"], **options).fit(table.slice(0, 3))
    assume(len(encoder.categories["c"]))

    columns = {"c": expression(encoder, "c", layout=layout)}
    found = ds.dataset(table).scanner(columns=columns, batch_size=size).to_table()["c"]

    expected = encode(table, encoder, layout=layout)["c"]
    assert found.type == expected.type
    # The texts are compared, because NaN does not equal itself.
    assert str(found.to_pylist()) == str(expected.to_pylist())


@pytest.mark.parametrize("values", [[None, "a"], [None, 1], [NAN, 0.0]], ids=str)
def test_fields_are_not_cast_without_categories(values):
    table = pa.table({"c": values})
    encoder = Encoder(["c"], handle_missing="indicator", handle_unknown="indicator")
    encoder.fit(table.slice(0, 1))

    found = projected(table, {"c": expression(encoder, "c")})

    assert found["c"].to_pylist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 1)], pa.timestamp("s")),
        ([datetime.timedelta(1), datetime.timedelta(2)], pa.duration("us")),
        *CASTABLE_DAYS,
        ([b"a", b"b"], pa.large_binary()),
        ([2**60, 2**60 + 1], pa.int64()),
        ([2, 3], pa.float32()),
    ],
    ids=str,
)
def test_a_field_is_cast_to_compare_it(values, kind):
    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": np.array([*values, None], object)})
    table = pa.table({"c": pa.array([*values, None], kind)})

    found = projected(table, {"c": expression(encoder, "c")})

    assert found["c"].combine_chunks().storage.to_pylist() == [[1, 0], [0, 1], [0, 0]]


def test_a_scanner_reads_files_with_threads(tmp_path):
    rng = np.random.default_rng(7)
    words = np.array([*"abcdefghijklmnop", None], object)
    rows = rng.integers(0, len(words), 300_000)
    table = pa.table({"c": pa.array(words[rows]).dictionary_encode(), "at": np.arange(len(rows))})
    for part in range(2):
        pq.write_table(
            table.slice(part * 150_000, 150_000), tmp_path / f"{part}.parquet", row_group_size=9000
        )
    encoder = Encoder(["c"], remainder="drop").fit(table)
    dataset = ds.dataset(tmp_path)

    found = dataset.scanner(
        columns={"c": expression(encoder, "c"), "at": ds.field("at")}, use_threads=True
    ).to_table()

    cells = np.concatenate([chunk.to_numpy_ndarray() for chunk in found["c"].chunks])
    expected = encoder.transform(table, "numpy")[found["at"].to_numpy()]
    np.testing.assert_array_equal(cells, expected)
    assert sorted(found["at"].to_pylist()) == table["at"].to_pylist()


def test_expressions_run_in_filters_plans_and_datasets(tmp_path):
    encoder = Encoder(["size"], handle_unknown="ignore").fit(TRAIN)
    is_small = pc.struct_field(expression(encoder, "size", layout="struct"), ["size_S"])
    tensors = expression(encoder, "size")

    plan = acero.Declaration.from_sequence(
        [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(TABLE)),
            acero.Declaration("project", acero.ProjectNodeOptions([tensors], ["size"])),
        ]
    )
    scanner = ds.dataset(TABLE).scanner(columns={"size": tensors})
    ds.write_dataset(scanner, tmp_path, format="parquet")

    expected = [[0, 1], [1, 0], [0, 0], [0, 1], [0, 0]]
    assert TABLE.filter(is_small)["n"].to_pylist() == [1, 4]
    assert plan.to_table()["size"].to_pylist() == expected
    assert ds.dataset(tmp_path).to_table()["size"].to_pylist() == expected


def test_registering_twice_is_registering_once():
    encoder = Encoder().fit(TRAIN)
    copy = Encoder.from_json(encoder.to_json())

    name = register(encoder)

    assert register(copy) == name
    assert name.startswith("onehot_fast.")
    assert name in pc.list_functions()
    assert register(encoder, layout="struct") != name
    assert register(encoder, "test.sizes") == register(copy, "test.sizes") == "test.sizes"
    for taken in ("test.sizes", "add"):
        with pytest.raises(ValueError, match=f"another compute function is named '{taken}'"):
            register(["a", "b", "c"], taken)


def test_the_function_takes_numbers_of_categories():
    name = register(["a", "b", "c"])
    numbers = pa.array([7, 0, None, 3, -5, 2], pa.int32()).slice(1)
    expected = [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]
    chunks = pa.chunked_array([numbers, numbers.slice(4), numbers.slice(9)])

    assert pc.call_function(name, [numbers]).to_pylist() == expected
    assert pc.call_function(name, [chunks]).to_pylist() == [*expected, expected[4]]
    assert pc.call_function(name, [pa.scalar(1, pa.int32())]).as_py() == [0, 1, 0]
    assert pc.call_function(name, [pa.array([], pa.int32())]).to_pylist() == []
    with pytest.raises(ValueError, match=r"positions must be in \[0, 3\], got 4"):
        pc.call_function(name, [pa.array([1, 4], pa.int32())])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "column 'size', row 4 of a batch: the value is unknown"),
        ({"handle_missing": "error"}, "column 'size', row 2: the value is missing"),
    ],
)
def test_values_that_the_encoder_rejects_are_rejected(options, match):
    encoder = Encoder(["size"], **options).fit(TRAIN.slice(0, 2))
    columns = {"size": expression(encoder, "size")}

    with pytest.raises(ValueError, match=match):
        projected(TABLE, columns)


def test_the_length_of_a_batch_is_checked():
    """Pyarrow would take a column of another length for the whole."""
    function = _Function(_column(["a"], None), "tensor")

    with pytest.raises(ValueError, match="one position per row of the batch"):
        function(SimpleNamespace(batch_length=2), pa.array([0], pa.int32()))


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"encoder": Encoder()}, RuntimeError, "not fitted"),
        ({"encoder": 7}, TypeError, "categories must be"),
        ({"column": "n"}, ValueError, "one of the encoder's columns, .'size'., got 'n'"),
        ({"encoder": BOTH}, ValueError, "one of the encoder's .*, got None"),
        ({"encoder": ["a"], "column": "size"}, TypeError, "can only be given with an Encoder"),
        ({"layout": "columns"}, ValueError, "layout must be one of .*, got 'columns'"),
        ({"name": 7}, TypeError, "name must be a str, got 7"),
    ],
    ids=str,
)
def test_arguments_are_checked(change, error, match):
    given = {"encoder": Encoder(["size"]).fit(TRAIN)} | change

    with pytest.raises(error, match=match):
        register(**given)


def test_expressions_take_names_expressions_and_categories():
    by_name = projected(TABLE, {"x": expression(BOTH, "n")})["x"].to_pylist()
    longer = expression(BOTH, pc.field("n") + 1, column="n")
    without_encoder = projected(TABLE, {"x": expression(["L", "S"], "size")})["x"]

    assert by_name[0] == [1, 0, 0, 0]
    assert without_encoder.to_pylist() == [[0, 1], [1, 0], [0, 0], [0, 1], [0, 0]]
    assert projected(TABLE, {"x": longer})["x"].to_pylist()[0] == [0, 1, 0, 0]
    with pytest.raises(TypeError, match=r"field must be .*, got an int"):
        expression(BOTH, 7)
