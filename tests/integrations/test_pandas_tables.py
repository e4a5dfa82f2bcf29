"""How tables of pandas enter the core, and how they leave it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from frame_strategies import frames, series  # noqa: E402  after the skips above

from onehot_fast.adapter import CodedColumn, Decoded, Integration, Outputs, PassThrough  # noqa: E402
from onehot_fast.column import read_column  # noqa: E402
from onehot_fast.integrations import pandas as integration  # noqa: E402
from onehot_fast.integrations.pandas import wrap  # noqa: E402
from onehot_fast.table import read_table  # noqa: E402


def outputs(names: tuple[str, ...], n_rows: int, dtype: str = "bool") -> Outputs:
    """Return outputs of which the first is on in every row."""
    column = CodedColumn(np.zeros(n_rows, np.int8), None, len(names))
    return Outputs(names, (column,), np.dtype(dtype))


def test_the_package_is_an_integration():
    assert isinstance(integration, Integration)


@given(data=series())
def test_codes_and_categories_give_the_values_back(data):
    """A code is the position of the row's value among the categories, negative if it is missing."""
    zeros = {str(value) for value in data.dropna() if isinstance(value, float)}
    assume(not (isinstance(data.dtype, pd.ArrowDtype) and {"0.0", "-0.0"} <= zeros))  # pandas fails

    column = read_column(data)

    missing = data.isna().to_numpy(bool)
    np.testing.assert_array_equal(column.codes < 0, missing)
    found = pd.Index(column.categories).astype(object)[column.codes[~missing]]
    assert found.tolist() == data[~missing].astype(object).tolist()
    assert isinstance(column.categories, np.ndarray)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int8", "int8"),
        ("Int16", "int16"),
        ("float32", "float32"),
        ("Float64", "float64"),
        ("boolean", "bool"),
        ("uint8[pyarrow]", "uint8"),
        ("string[pyarrow]", "object"),
    ],
)
def test_categories_are_numpys_where_numpy_has_a_dtype(dtype, expected):
    assert read_column(pd.Series([1, 0], dtype="int8").astype(dtype)).categories.dtype == expected


def test_declared_categories_are_named_as_such():
    """Their order counts, and unused ones too; the codes are the column's own memory."""
    data = pd.Series(pd.Categorical(["S"], categories=["S", "M"], ordered=True))

    column = read_column(data)

    assert (column.source, column.ordered, column.categories.tolist()) == (
        "category",
        True,
        ["S", "M"],
    )
    assert np.shares_memory(column.codes, data.array.codes)


def test_a_series_is_a_table_of_its_name():
    """One column alone needs no frame; without a name it is called like an array's."""
    assert read_table(pd.Series(["a"], name="size")).names == ("size",)
    assert read_table(pd.Index(["a", "b"])).names == ("x0",)


@given(table=frames(), data=st.data())
def test_wrap_keeps_columns_as_they_are(table, data):
    """Input columns have their dtype, their place among the outputs, and the labels of the rows."""
    source = read_table(table)
    positions = data.draw(st.permutations(range(table.shape[1])))
    new = outputs(("new", "newer"), len(table))

    result = wrap(source, [PassThrough(positions[0]), new, *map(PassThrough, positions[1:])])

    order = [positions[0], *positions[1:]]
    kept = result.iloc[:, [0, *range(3, result.shape[1])]]
    expected = table.iloc[:, order].set_axis(kept.columns, axis=1)
    pd.testing.assert_frame_equal(kept, expected)
    assert kept.columns.tolist() == table.columns[order].tolist()
    assert result.columns[1:3].tolist() == ["new", "newer"]
    assert result["new"].all()
    assert not result["newer"].any()


def test_outputs_are_one_block_and_nothing_of_the_input():
    """Outputs of one dtype are a block of memory; writing to it leaves the input alone."""
    table = pd.DataFrame({"n": [1, 2]})

    result = wrap(read_table(table), [outputs(("a", "b"), 2, "uint8"), PassThrough(0)])
    first, second = (result[name].to_numpy() for name in ("a", "b"))
    result.iloc[0, 2] = 100

    assert second.ctypes.data - first.ctypes.data == first.nbytes
    assert table["n"].tolist() == [1, 2]


def test_the_labels_of_one_result_are_not_those_of_the_next():
    """Labels are made once; what a user calls them is no other frame's."""
    table = read_table(pd.DataFrame({"n": [1, 2]}))
    first = wrap(table, [outputs(("a",), 2)])

    first.columns.name = "renamed"

    assert wrap(table, [outputs(("a",), 2)]).columns.name is None


def test_decoded_columns_keep_their_dtype():
    parts = [Decoded("n", np.array([2, 1])), Decoded("s", np.array(["x", None], object))]

    result = wrap(read_table(pd.DataFrame({"a": [0, 0]}, index=["u", "v"])), parts)

    expected = pd.DataFrame({"n": [2, 1], "s": ["x", None]}, index=["u", "v"])
    pd.testing.assert_frame_equal(result, expected, check_dtype=False)
    assert result["n"].dtype == np.int64


def test_wrap_of_another_library_counts_the_rows():
    """A table that pandas did not read has no labels of rows."""
    source = read_table({"n": np.array([1, 2]), "s": ["x", None]})

    result = wrap(source, [PassThrough(0), outputs(("a",), 2), PassThrough(1)])

    expected = pd.DataFrame({"n": [1, 2], "a": [True, True], "s": ["x", None]})
    pd.testing.assert_frame_equal(result, expected)


def test_wrap_without_pieces_keeps_the_rows():
    table = pd.DataFrame({"n": [1, 2]}, index=["x", "y"])

    assert wrap(read_table(table), []).index.tolist() == ["x", "y"]
