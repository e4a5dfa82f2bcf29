"""get_dummies, held against pandas.get_dummies."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from frame_strategies import PANDAS_3, frames, labels, series  # noqa: E402  after the skips
from side_by_side import assert_same_outcome  # noqa: E402

from onehot_fast.integrations.pandas import get_dummies  # noqa: E402

RESULTS = [None, "bool", "uint8", "int64", "float32", "complex64", "m8[ns]"]
EXTENSIONS = ["boolean", "Int8", "Float32", "bool[pyarrow]", "int16[pyarrow]", "category"]


def by_pandas(*args: Any, sparse: bool = False, dtype: Any = None, **options: Any) -> Any:
    """Return what pandas returns, with the one dtype it can make sparse where none is given."""
    if sparse and dtype is None:
        dtype = bool
    return pd.get_dummies(*args, sparse=sparse, dtype=dtype, **options)


options_of_all = {
    "dummy_na": st.booleans(),
    "drop_first": st.booleans(),
    "sparse": st.booleans(),
    "dtype": st.sampled_from(RESULTS + EXTENSIONS),
}


@given(
    data=series(),
    prefix=st.none() | labels,
    prefix_sep=labels,
    options=st.fixed_dictionaries(options_of_all),
)
@example(data=pd.Series(["a", None], dtype="string"), prefix=None, prefix_sep="_", options={})
def test_series_equal_pandas(data, prefix, prefix_sep, options):
    """Values, dtypes, labels, the types of both indexes and errors are those of pandas."""
    assert_same_outcome(get_dummies, by_pandas, data, prefix, prefix_sep, **options)


DAYS = pd.to_datetime(["2013-01-02", "2013-01-03"])
LEVELS = [DAYS, DAYS.to_period("D"), ["a"], [1], []]
LEVELS += map(pd.IntervalIndex.from_breaks, ([0, 1, 2], [0.5, 1.5], DAYS))


@pytest.mark.parametrize("dummy_na", [True, False])
@pytest.mark.parametrize("categories", LEVELS, ids=lambda levels: str(pd.Index(levels).dtype))
def test_labels_of_categories_equal_pandas(categories, dummy_na):
    """Among times the label of missing values is NaT; pandas makes intervals of integers floats."""
    codes = [*range(len(categories)), -1]
    series = pd.Series(pd.Categorical.from_codes(codes, categories=categories), name="a")

    for data in (series, series.to_frame(), series.dropna()):
        for prefix in (None, "p"):
            assert_same_outcome(get_dummies, by_pandas, data, prefix, dummy_na=dummy_na)


@st.composite
def words(draw: st.DrawFn, names: list[Any]) -> Any:
    """Return a prefix for all columns, one for each, or one by name; not always enough."""
    return draw(
        st.none()
        | labels
        | st.lists(labels | st.none(), max_size=len(names))
        | st.lists(labels, min_size=len(names), max_size=len(names))
        | st.fixed_dictionaries(dict.fromkeys(names, labels))
    )


@given(data=st.data(), table=frames(), options=st.fixed_dictionaries(options_of_all))
def test_frames_equal_pandas(data, table, options):
    """So are those of frames: which columns are encoded, where they go, how they are called."""
    names = list(table.columns)
    options["columns"] = data.draw(st.none() | st.lists(st.sampled_from(names), unique=True))
    encoded = names if options["columns"] is None else options["columns"]
    options["prefix"] = data.draw(words(encoded))
    options["prefix_sep"] = data.draw(labels | words(encoded).filter(lambda sep: sep is not None))

    assert_same_outcome(get_dummies, by_pandas, table, **options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        [],
        ["a", None, "b"],
        ("x", 1, None),
        np.array([3, 1, 1]),
        np.array([True, False]),
        np.array([["a"]]),
        [("a", 1), ("b", 2)],
        [[1], [2]],
        range(3),
        pd.Index(["b", "a"], name="named"),
        pd.Categorical(["b", "a"], categories=["b", "a", "c"]),
        pd.DataFrame(),
        pd.DataFrame(index=[1, 2]),
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": [None, None], "b": ["x", "y"]}),
        pd.DataFrame({"a": ["x"], "b": ["y"]}, index=["row"]),
        pd.DataFrame([["x", "y", 1]], columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]])),
        pd.DataFrame([["x", "y"]], columns=pd.CategoricalIndex(["u", "v"])),
    ],
    ids=repr,
)
def test_other_inputs_equal_pandas(data, sparse):
    assert_same_outcome(get_dummies, by_pandas, data, sparse=sparse)


NAMES = {"a": "x", "b": "y", "c": "z"}


@pytest.mark.parametrize(
    "options",
    [
        *({"dtype": dtype} for dtype in (object, "m8[ns]", "no such dtype")),
        *({"columns": columns} for columns in ("a", ["missing"], [], ["a", "a"])),
        *({"prefix": prefix} for prefix in (["one"], {"a": "x"}, 5, NAMES)),
        *({"prefix_sep": sep} for sep in (["one", "two", "three"], {"a": "x", "c": "y"})),
    ],
    ids=repr,
)
def test_odd_options_equal_pandas(options):
    table = pd.DataFrame({"a": ["x", "y"], "b": ["z", "z"], "n": [1, 2]})

    assert_same_outcome(get_dummies, pd.get_dummies, table, **options)


@pytest.mark.parametrize(
    "pool",
    [["b", "a", None, 1, True, 1.0, float("nan"), ("t",)], [str(i % 50) for i in range(5_000)]],
    ids=["repeated", "distinct"],
)
def test_many_objects_equal_pandas(pool):
    """Equal objects of different types are one level; strings may be repeated or new objects."""
    values = np.empty(len(pool), object)
    values[:] = pool
    data = pd.Series(values[np.arange(10_000) % len(pool)])

    assert_same_outcome(get_dummies, pd.get_dummies, data)


def dictionary(values: list[Any]) -> Any:
    """Return a Series coded by Arrow."""
    kind = pd.ArrowDtype(pa.dictionary(pa.uint8(), pa.string()))
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind.pyarrow_dtype)))


@pytest.mark.parametrize("sparse", [False, True])
def test_nulls_and_repetitions_in_an_arrow_dictionary(sparse):
    """Pandas cannot read such a column: a null is no level, and a repeated value is one level."""
    actual = get_dummies(dictionary(["b", None, "a", "b"]), sparse=sparse)

    assert actual.columns.tolist() == ["b", "a"]
    expected = [[True, False], [False, False], [False, True], [True, False]]
    np.testing.assert_array_equal(actual.to_numpy(bool), expected)
    assert set(actual.dtypes) == {pd.SparseDtype(bool) if sparse else pd.ArrowDtype(pa.bool_())}
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None]), ["x", None, "x", "y"])
    series = pd.Series(pd.arrays.ArrowExtensionArray(array))
    actual = get_dummies(series, dummy_na=True, dtype=int, sparse=sparse)
    assert actual.columns.tolist()[:2] == ["x", "y"]
    assert actual.to_numpy().tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.skipif(not PANDAS_3, reason="pandas 2 cannot read Arrow dictionaries at all")
def test_arrow_dictionary_without_nulls_equals_pandas():
    table = pd.DataFrame({"n": [1, 2, 3], "d": dictionary(["b", "a", "b"])})

    assert_same_outcome(get_dummies, pd.get_dummies, table)


@pytest.mark.parametrize("dtype", ["boolean", "Int8"])
def test_masks_are_each_columns_own(dtype):
    result = get_dummies(pd.Series(list("ab")), dtype=dtype)
    result.loc[0, "a"] = pd.NA
    assert result.isna().to_numpy().tolist() == [[True, False], [False, False]]


def test_too_large_a_result_is_rejected_before_it_is_allocated():
    """The error names the arguments to type instead, of the function and of the accessor."""
    wide = pd.CategoricalDtype(range(10_000_000))
    data = pd.Series(pd.Categorical.from_codes(np.zeros(1_000_000, np.int32), dtype=wide))

    with pytest.raises(MemoryError, match=r"; smaller: sparse=True \(4\.8 MiB"):
        get_dummies(data, dtype="float64")
    with pytest.raises(MemoryError, match=r"smaller: output='csr' or \.onehot\.to_csr\(\) \("):
        data.onehot()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled):
    """It pauses while pandas makes its columns, and goes on if it was on."""
    (gc.enable if enabled else gc.disable)()
    try:
        get_dummies(pd.Series(list("abc")), sparse=True)
        was_enabled = gc.isenabled()
    finally:
        gc.enable()

    assert was_enabled is enabled
