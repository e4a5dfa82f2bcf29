"""from_dummies, held against pandas.from_dummies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from frame_strategies import indexes  # noqa: E402  after the skips above
from side_by_side import assert_same_outcome  # noqa: E402

from onehot_fast.integrations.pandas import from_dummies  # noqa: E402

INDICATORS = ["bool", "uint8", "int64", "float32", "boolean", "Int8", "bool[pyarrow]", object]
INDICATORS += ["Sparse[bool]"]


@st.composite
def indicators(draw: st.DrawFn) -> Any:
    """Return a frame of mostly proper indicators, of one dtype or of one for each column."""
    widths = draw(st.dictionaries(st.sampled_from("xyz"), st.integers(1, 3), min_size=1))
    n_rows = draw(st.integers(0, 8))
    chosen = {
        name: draw(st.lists(st.integers(0, width - 1), min_size=n_rows, max_size=n_rows))
        for name, width in widths.items()
    }
    columns = {
        f"{name}_{i}": np.array(chosen[name], int) == i
        for name, width in widths.items()
        for i in range(width)
    }
    table = pd.DataFrame(columns, dtype=bool)
    row, column = draw(st.integers(-1, n_rows - 1)), draw(st.integers(0, len(columns) - 1))
    if row >= 0 and draw(st.booleans()):
        table.iloc[row, column] = not table.iloc[row, column]  # one too many, or one too few
    dtypes = draw(
        st.sampled_from(INDICATORS).map(lambda dtype: dict.fromkeys(columns, dtype))
        | st.fixed_dictionaries(dict.fromkeys(columns, st.sampled_from(INDICATORS)))
    )
    order = draw(st.permutations(list(columns)))
    return table.astype(dtypes)[order].set_axis(draw(indexes(n_rows)))


defaults = st.none() | st.just("other") | st.dictionaries(st.sampled_from("xyz"), st.just("d"))


@given(table=indicators(), sep=st.sampled_from([None, "_", "-"]), default_category=defaults)
def test_equals_pandas(table, sep, default_category):
    """Values, dtypes, labels and errors are those of pandas."""
    assert_same_outcome(from_dummies, pd.from_dummies, table, sep, default_category)


ODD = {
    "no frame": "text",
    "a missing value": pd.DataFrame({"a": [1.0, None], "b": [0, 1]}),
    "a missing Boolean": pd.DataFrame({"a": pd.array([True, None]), "b": [False, True]}),
    "two": pd.DataFrame({"a": [2, 0], "b": [0, 1]}),
    "a half": pd.DataFrame({"a": [0.5, 0], "b": [0, 1]}),
    "complex": pd.DataFrame({"a": [1j, 0]}),
    "text": pd.DataFrame({"a": ["1", "0"]}),
    "dates": pd.DataFrame({"a": pd.to_datetime(["2013-01-01"])}),
    "nothing": pd.DataFrame(),
    "no rows": pd.DataFrame({"a": [], "b": []}, dtype=int),
    "no columns": pd.DataFrame(index=[1, 2]),
    "categorical names": pd.DataFrame([[1, 0]], columns=pd.CategoricalIndex(["u", "v"])),
    "tuples for names": pd.DataFrame([[1, 0]], columns=pd.MultiIndex.from_product([["a"], [1, 2]])),
    "one name twice, on": pd.DataFrame([[1, 0, 0]], columns=list("aab")),
    "numbers for names": pd.DataFrame([[1, 0], [0, 1]], columns=[3, 1]),
    "the fullest row": pd.DataFrame({"a": [1, 1], "b": [1, 1], "c": [0, 1]}, index=[5, 6]),
}


@pytest.mark.parametrize("default_category", [None, "d", 7, ["list"], {"": "d"}, {"other": "d"}])
@pytest.mark.parametrize("table", ODD.values(), ids=ODD.keys())
@pytest.mark.filterwarnings("ignore:Constructing a Categorical")
def test_odd_inputs_equal_pandas(table, default_category):
    assert_same_outcome(from_dummies, pd.from_dummies, table, default_category=default_category)


@pytest.mark.parametrize("sep", [5, b"_"])
def test_other_separators_are_rejected(sep):
    with pytest.raises(TypeError, match="Received 'sep' of type"):
        from_dummies(pd.DataFrame({"a_b": [1]}), sep=sep)


def test_names_that_confuse_pandas():
    """Its default hides behind a column named 0, and a name may occur twice and never be on."""
    table = pd.DataFrame([[1, 0], [0, 0]], columns=[0, 1])
    assert from_dummies(table, default_category=5)[""].tolist() == [0, 5]
    table = pd.DataFrame([[0, 0, 1]], columns=list("aab"))
    assert from_dummies(table)[""].tolist() == ["b"]
