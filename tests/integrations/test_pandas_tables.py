"""How tables of pandas enter the core, and how they leave it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from frame_strategies import frames, series  # noqa: E402  after the skips above

from onehot_fast.column import Block, Kept, read_column, read_table  # noqa: E402
from onehot_fast.integrations.pandas import factorize, wrap  # noqa: E402


@given(data=series())
def test_codes_and_categories_give_the_values_back(data: Any) -> None:
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
def test_categories_are_numpys_where_numpy_has_a_dtype(dtype: Any, expected: str) -> None:
    """A nullable column has the categories that the column without nulls would have."""
    assert read_column(pd.Series([1, 0], dtype="int8").astype(dtype)).categories.dtype == expected


def test_declared_categories_are_named_as_such() -> None:
    """Their order counts, and unused ones too; the codes are the column's own memory."""
    data = pd.Series(pd.Categorical(["S"], categories=["S", "M"], ordered=True))

    column = read_column(data)

    assert (column.source, column.ordered, column.categories.tolist()) == (
        "category",
        True,
        ["S", "M"],
    )
    assert np.shares_memory(column.codes, data.array.codes)


def test_a_series_is_a_table_of_its_name() -> None:
    """One column alone needs no frame; without a name it is called like an array's."""
    assert read_table(pd.Series(["a"], name="size")).names == ("size",)
    assert read_table(pd.Index(["a", "b"])).names == ("x0",)


@given(table=frames(), data=st.data())
def test_wrap_keeps_columns_as_they_are(table: Any, data: Any) -> None:
    """Kept columns have their dtype, their place among the blocks, and the labels of the rows."""
    source = read_table(table)
    positions = data.draw(st.permutations(range(table.shape[1])))
    block = Block(("new", "newer"), np.ones((2, len(table)), bool))

    result = wrap(source, [Kept(positions[0]), block, *map(Kept, positions[1:])])

    order = [positions[0], *positions[1:]]
    kept = result.iloc[:, [0, *range(3, result.shape[1])]]
    expected = table.iloc[:, order].set_axis(kept.columns, axis=1)
    pd.testing.assert_frame_equal(kept, expected)
    assert kept.columns.tolist() == table.columns[order].tolist()
    assert result.columns[1:3].tolist() == ["new", "newer"]
    assert result.iloc[:, 1:3].to_numpy().all()


def test_wrap_shares_the_block_and_nothing_of_the_input() -> None:
    """The block becomes the frame's memory; writing to the frame leaves the input alone."""
    table = pd.DataFrame({"n": [1, 2]})
    values = np.zeros((1, 2), np.uint8)

    result = wrap(read_table(table), [Block(("a",), values), Kept(0)])
    shared = np.shares_memory(result["a"].to_numpy(), values)
    result.iloc[0, 1] = 100

    assert shared
    assert table["n"].tolist() == [1, 2]


def test_wrap_of_another_library_counts_the_rows() -> None:
    """A table that pandas did not read has no labels of rows."""
    source = read_table({"n": np.array([1, 2]), "s": ["x", None]})

    result = wrap(source, [Kept(0), Block(("a",), np.ones((1, 2), bool)), Kept(1)])

    expected = pd.DataFrame({"n": [1, 2], "a": [True, True], "s": ["x", None]})
    pd.testing.assert_frame_equal(result, expected)


def test_wrap_without_pieces_keeps_the_rows() -> None:
    """A table without columns still has its rows."""
    table = pd.DataFrame({"n": [1, 2]}, index=["x", "y"])

    assert wrap(read_table(table), []).index.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "values",
    [
        np.array([2.5, np.nan, 2.5]),
        np.array([2**40, -1, 2**40]),
        np.array(["b", None, "a", "b"] * 2000, dtype=object),
        np.array([str(number) for number in range(3000)], dtype=object),
        np.array(["bb", "a"]),
    ],
    ids=["floats", "integers", "repeated", "distinct", "fixed width"],
)
def test_factorize_finds_every_value(values: Any) -> None:
    """The core lends pandas' hash tables for its own arrays."""
    codes, categories = factorize(values)

    missing = pd.isna(values)
    np.testing.assert_array_equal(codes < 0, missing)
    assert categories[codes[~missing]].tolist() == values[~missing].tolist()
    assert categories.dtype == values.dtype
