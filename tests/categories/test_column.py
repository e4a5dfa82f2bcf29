"""Columns and tables that the core reads, alone or with an integration."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Column, Encoder
from onehot_fast._categories.values import read_column
from onehot_fast.table import ArrayTable, read_table
from support import strategies

CATEGORY = np.array(["a"])


def values_of(column):
    labels = [*column.categories.tolist(), None]
    return [labels[code] for code in column.codes]


def plain(values):
    items = np.asarray(values).tolist()
    return [None if item is None or item != item else item for item in items]


COLUMNS = {
    "small integers": np.array([3, -128, 127, 3], np.int8),
    "integers far apart": np.array([2**63 - 1, -(2**63), 0, 0], np.int64),
    "large integers": np.array([2**64 - 1, 2**64 - 3], np.uint64),
    "swapped": np.array([300, 1, 300], ">i2"),
    "floats": np.array([0.5, np.nan, np.inf, -0.5, 0.5], np.float32),
    "half floats": np.array([0.5, np.nan, 2], np.float16),
    "long doubles": np.array([0.5, np.nan, 2], np.longdouble),
    "complex": np.array([1j, complex(np.nan, 0), 1j]),
    "Booleans": np.array([True, True]),
    "texts": np.array(["b", "", "ä"]),
    "bytes": np.array([b"b", b"", b"b"]),
    "dates": np.array(["2024-02-29", "NaT", "1969-12-31"], "M8[D]"),
    "dates near each other": np.array(["2024-02-29", "NaT", "2024-02-28"], "M8[D]"),
    "swapped times": np.array([5, 1], ">M8[us]"),
    "durations": np.array([7, -7], "m8[s]"),
    "objects": np.array(["x", None, 2, np.nan, ("t",), datetime.date(2024, 1, 1)], object),
    "no rows": np.array([], "U1"),
    "no numbers": np.array([], np.int64),
    "none known": np.array([np.nan, np.nan]),
}


@pytest.mark.parametrize("layout", ["contiguous", "strided", "reversed", "read_only", "unaligned"])
@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS.keys())
def test_codes_stand_for_the_values(values, layout):
    """Codes select the values of a column of any dtype and layout, and -1 is missing."""
    if layout == "unaligned" and values.dtype.hasobject:
        pytest.skip("references are always aligned")
    given_values = strategies.LAYOUTS[layout](values)
    column = read_column(given_values).encode()

    assert values_of(column) == plain(given_values)
    assert column.codes.flags.c_contiguous
    assert len(set(column.categories.tolist())) == len(column.categories)


@given(
    dtype=st.sampled_from(strategies.INTEGERS),
    n=st.integers(0, 200),
    seed=st.integers(0, 2**32),
    is_narrow=st.booleans(),
)
def test_integers_of_any_range_are_encoded(dtype, n, seed, is_narrow):
    values = strategies.index_values(dtype, 5, n, seed)
    if is_narrow and n:  # all are near the first one, which may be an extreme
        info, first = np.iinfo(dtype), int(values[0])
        values = values.clip(max(info.min, first - 50), min(info.max, first + 50))

    assert values_of(read_column(values).encode()) == values.tolist()


def test_a_nan_decimal_is_missing_and_a_signaling_one_an_error():
    assert values_of(read_column([Decimal("NaN"), Decimal("1.5")]).encode()) == [
        None,
        Decimal("1.5"),
    ]
    with pytest.raises(TypeError, match=r"row 0 must be .* a Decimal \(Cannot hash a signaling"):
        read_column([Decimal("sNaN")]).encode()


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.ma.MaskedArray([1, 2, 3], [False, True, False]), ["p_1", "p_3"]),
        (np.array(["b", None, "a"], np.dtypes.StringDType(na_object=None)), ["p_a", "p_b"]),
    ],
    ids=["masked", "texts of variable width"],
)
def test_missing_values_of_numpy_are_read(values, names):
    assert values_of(read_column(values).encode()) == values.tolist()
    assert Encoder(["p"]).fit({"p": values}).get_feature_names_out().tolist() == names


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.zeros((2, 2)), ValueError, r"must have one dimension, got shape \(2, 2\)"),
        (np.zeros(2, "V3"), TypeError, r"got \|V3"),
        ([*range(5000), []], TypeError, "row 5000 must be hashable, got a list"),
        ([1, [2]], TypeError, r"row 1 must be .* a list .*, but row 0 .* 1; pass lists .*\[1\]"),
        ("text", TypeError, "a column must be .* got a str"),
        (3, TypeError, "a column must be .* got an int"),
    ],
)
def test_columns_that_cannot_be_read_raise_an_error(values, error, message):
    with pytest.raises(error, match=message):
        read_column(values).encode()


@pytest.mark.parametrize(
    ("codes", "categories", "error", "message"),
    [
        ([0], CATEGORY, TypeError, "codes must be an ndarray, got a list"),
        (np.array([0]), ["a"], TypeError, "categories must be an ndarray, got a list"),
        (np.array([0.0]), CATEGORY, TypeError, "codes must be integers, got dtype float64"),
        (np.array([[0]]), CATEGORY, ValueError, r"codes must have one .*, got shape \(1, 1\)"),
        (np.array([0, 0, 0])[::2], CATEGORY, ValueError, "contiguous, aligned"),
        (np.array([0, 0], ">i4"), CATEGORY, ValueError, "native byte order"),
        (np.array([0, -1, 1]), CATEGORY, ValueError, r"codes\[2\] must be in \[-1, 1\), got 1"),
        (np.array([0], np.uint64), np.array([]), ValueError, r"codes\[0\] must be in"),
    ],
)
def test_a_column_checks_its_arrays(codes, categories, error, message):
    assert len(Column(np.array([0, 0])[::2], CATEGORY)) == 1
    with pytest.raises(error, match=message):
        Column(codes, categories)


class Reading(NamedTuple):
    """A tuple with a name."""

    value: float
    unit: str


@pytest.mark.parametrize("kind", [lambda *parts: parts, Reading])
@pytest.mark.parametrize("nan", [float, np.float32, Decimal, lambda text: (float(text), 1)])
def test_nan_in_a_tuple_equals_nan(kind, nan):
    """Tuples with NaN are one category, which transform finds, also after JSON and pickle."""
    rows = {"c": [kind(nan("nan"), "V"), kind(nan("nan"), "V"), kind(1.5, "V"), kind(None, "V")]}
    others = {"c": [(nan("nan"), "V"), (None, "V")]}
    encoder = Encoder(["c"]).fit(rows)

    assert len(encoder.get_feature_names_out()) == 3
    first = encoder.transform(rows, "numpy")[[0, 3]]
    for copied in (encoder, pickle.loads(pickle.dumps(encoder))):
        np.testing.assert_array_equal(copied.transform(others, "numpy"), first)
    if kind is not Reading:
        loaded = Encoder.from_json(encoder.to_json())
        np.testing.assert_array_equal(loaded.transform(others, "numpy"), first)


def test_the_repr_of_a_column_is_short():
    column = Column(np.array([0, -1]), np.array(["a", "b"]), ordered=True, source="category")

    assert repr(column) == "Column(2 rows, 2 ordered categories, source='category')"
    assert column.declared


def test_texts_and_objects_of_a_mapping_are_encoded():
    """Texts and objects are encoded by default, numbers, Booleans and times are not."""
    table = read_table(
        {
            "text": ["a", None],
            "number": [1.5, None],
            "bool": np.array([True, False]),
            "time": np.array([0, 1], "M8[s]"),
            "object": np.array([1, 2], object),
            "codes": Column(np.array([0, 0]), np.array(["a"])),
        }
    )

    assert table.encodable == (True, False, False, False, True, True)
    assert table.to_numpy(0).tolist() == ["a", None]
    assert table.to_numpy(5).tolist() == ["a", "a"]
    assert table.n_rows == 2


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (np.array([["a", "b"], ["c", "d"]]), ("x0", "x1")),
        (np.array([[1, 2, 3]]), ("x0", "x1", "x2")),
        (np.array(["a", "b"]), ("x0",)),
        (np.empty((0, 2)), ("x0", "x1")),
        (np.array([]), ("x0",)),
    ],
)
def test_an_array_gives_its_columns(source, names):
    table = read_table(source)

    assert (table.names, table.n_rows) == (names, len(source))
    assert all(table.encodable)
    assert Encoder().fit(source).columns == names


def test_a_structured_array_gives_its_fields():
    records = np.array([("a", 1), ("b", 2)], [("name", "U1"), ("rank", "i1")])
    encoder = Encoder().fit(records)

    assert tuple(encoder.get_feature_names_out()) == ("name_a", "name_b", "rank")
    assert encoder.transform(records[:1]).tolist() == [[1, 0, 1]]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ([["a"]], TypeError, r"not a table \(pass np\.array\(rows, object\)"),
        (np.zeros((1, 1, 1)), ValueError, r"the table must have .* got shape \(1, 1, 1\)"),
        ({"a": [1], "b": [1, 2]}, ValueError, r"must have the same length, got {'a': 1, 'b': 2}"),
        (
            {"a": 3, "b": [1], "c": "x"},
            TypeError,
            r"of 'a', 'c' are scalars.* one row, pass 'a': \[3\]",
        ),
        ({"a": np.zeros((2, 2), "U1")}, ValueError, "column 'a': a column must have one"),
        ({"a": ["x", {}]}, TypeError, "column 'a': the value in row 1 must .* got a dict"),
    ],
)
def test_tables_that_cannot_be_read_raise_an_error(source, error, message):
    with pytest.raises(error, match=message):
        Encoder().fit(source)


def test_only_kept_columns_may_share_a_name():
    table = ArrayTable(("p", "q", "p"), [[1], ["a"], [2]], None)

    assert Encoder().fit(table).columns == ("q",)
    with pytest.raises(ValueError, match="the table has 2 columns named 'p'"):
        Encoder(["p"]).fit(table)


def test_outputs_follow_the_schema():
    """Columns are in the order of `fit`, whatever the order of the rows to encode."""
    pd = pytest.importorskip("pandas")
    encoder = Encoder(dtype={"q": "f4"}, handle_missing={"q": "propagate"})
    encoder.fit({"p": ["a", "b"], "n": [1, 2], "q": ["x", "y"]})
    rows = pd.DataFrame({"q": ["x", None], "n": [0, 0], "p": [None, "b"]})
    encoded = encoder.transform(rows, "pandas")

    assert [*encoded.columns] == ["p_a", "p_b", "n", "q_x", "q_y"]
    np.testing.assert_array_equal(encoded[["p_a", "p_b"]], [[False, False], [False, True]])
    np.testing.assert_array_equal(encoded[["q_x", "q_y"]], [[1, 0], [np.nan, np.nan]])


def test_an_output_must_not_have_the_name_of_a_kept_column():
    pytest.importorskip("pandas")
    table = {"p": ["a"], "p_a": [1.0]}
    encoder = Encoder().fit(table)

    for output in ("numpy", "pandas"):
        with pytest.raises(ValueError, match="category 'a', and one for column 'p_a', which is"):
            encoder.transform(table, output)


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS.keys())
def test_hashed_categories_are_known_to_be_distinct(values):
    """So are those of some of its rows, but not those of a Column that a user makes."""
    column = read_column(values).encode()
    given_column = Column(column.codes, column.categories)
    rows = np.arange(len(column))[::-1]

    assert (column.is_distinct, column.take(rows).is_distinct) == (True, True)
    assert (given_column.is_distinct, given_column.take(rows).is_distinct) == (False, False)
    assert column.take(rows).tolist() == column.tolist()[::-1]
