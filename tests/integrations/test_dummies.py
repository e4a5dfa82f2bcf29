"""The drop-in functions, held against those of pandas."""

import gc

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from onehot_fast.integrations.pandas import from_dummies, get_dummies, str_get_dummies  # noqa: E402
from support.frame_strategies import PANDAS_3, frames, indexes, labels, series  # noqa: E402
from support.side_by_side import assert_same_outcome  # noqa: E402
from support.strategies import examples  # noqa: E402

RESULTS = [None, "bool", "uint8", "int64", "float32", "complex64", "m8[ns]"]
EXTENSIONS = ["boolean", "Int8", "Float32", "bool[pyarrow]", "int16[pyarrow]", "category"]


def by_pandas(*args, sparse=False, dtype=None, **options):
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
def test_labels_of_categories_equal_those_of_pandas(categories, dummy_na):
    """The labels of categories, e.g. of times and intervals, equal those of pandas.

    Among times the label of missing values is NaT; pandas makes intervals of integers floats.
    """
    codes = [*range(len(categories)), -1]
    series = pd.Series(pd.Categorical.from_codes(codes, categories=categories), name="a")

    for data in (series, series.to_frame(), series.dropna()):
        for prefix in (None, "p"):
            assert_same_outcome(get_dummies, by_pandas, data, prefix, dummy_na=dummy_na)


@st.composite
def words(draw, names):
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


def objects(pool):
    """Return 10,000 objects: strings may be repeated, or each a new object."""
    values = np.empty(len(pool), object)
    values[:] = pool
    return pd.Series(values[np.arange(10_000) % len(pool)])


def dictionary(values):
    """Return a Series coded by Arrow."""
    kind = pd.ArrowDtype(pa.dictionary(pa.uint8(), pa.string()))
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind.pyarrow_dtype)))


CODED = pd.DataFrame({"n": [1, 2, 3], "d": dictionary(["b", "a", "b"])})


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        # Equal objects of different types are one level.
        objects(["b", "a", None, 1, True, 1.0, float("nan"), ("t",)]),
        objects([str(i % 50) for i in range(5_000)]),
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
        *([CODED] if PANDAS_3 else []),  # pandas 2 cannot read Arrow dictionaries at all
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


@pytest.mark.parametrize("sparse", [False, True])
def test_an_arrow_dictionary_may_contain_nulls_and_repetitions(sparse):
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


@pytest.mark.parametrize("dtype", ["boolean", "Int8"])
def test_each_column_has_its_own_mask(dtype):
    result = get_dummies(pd.Series(list("ab")), dtype=dtype)
    result.loc[0, "a"] = pd.NA
    assert result.isna().to_numpy().tolist() == [[True, False], [False, False]]


def test_a_result_that_is_too_large_is_rejected_first():
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


INDICATORS = ["bool", "uint8", "int64", "float32", "boolean", "Int8", "bool[pyarrow]", object]
INDICATORS += ["Sparse[bool]"]


@st.composite
def indicators(draw):
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
def test_from_dummies_equals_pandas(table, sep, default_category):
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
def test_odd_indicators_equal_pandas(table, default_category):
    assert_same_outcome(from_dummies, pd.from_dummies, table, default_category=default_category)


@pytest.mark.parametrize("sep", [5, b"_"])
def test_other_separators_are_rejected(sep):
    with pytest.raises(TypeError, match="Received 'sep' of type"):
        from_dummies(pd.DataFrame({"a_b": [1]}), sep=sep)


def test_names_that_confuse_pandas_are_decoded():
    """Its default hides behind a column named 0, and a name may occur twice and never be on."""
    table = pd.DataFrame([[1, 0], [0, 0]], columns=[0, 1])
    assert from_dummies(table, default_category=5)[""].tolist() == [0, 5]
    table = pd.DataFrame([[0, 0, 1]], columns=list("aab"))
    assert from_dummies(table)[""].tolist() == ["b"]


PYTHON = [object, "string[python]", "category"]
ARROW = ["string[pyarrow]", *(["str"] if PANDAS_3 else [])]
TYPED = [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
NUMPY = ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]
EXTENSIONS = ["boolean", "Int16", "Float64", "bool[pyarrow]", "uint8[pyarrow]"]
SEPARATORS = ["|", ",", ", ", "||", "a", "aa", "ab", ".", "..", "a.", "|b", "é", " ", ""]

pieces = st.text("ab|, .é", max_size=3)


@st.composite
def strings(draw, dtypes, sep):
    """Return a Series of joined pieces."""
    values = st.none() | st.lists(pieces, max_size=3).map(sep.join)
    pool = draw(st.lists(values, min_size=1, max_size=5))
    rows = draw(st.lists(st.sampled_from(pool), max_size=12))
    series = pd.Series(rows, dtype=draw(st.sampled_from(dtypes)))
    return series.set_axis(draw(indexes(len(rows)))).rename(draw(st.none() | pieces))


def split_by_pandas(data, sep, **options):
    return data.str.get_dummies(sep, **options)


@pytest.mark.parametrize("sep", ["", "|"])
@pytest.mark.parametrize("dtype", [*PYTHON[:2], *ARROW], ids=str)
def test_from_dummies_without_strings_equals_pandas(dtype, sep):
    assert_same_outcome(str_get_dummies, split_by_pandas, pd.Series([], dtype=dtype), sep)


@pytest.mark.parametrize("as_index", [False, True])
@pytest.mark.parametrize(
    ("dtypes", "results"),
    [
        (PYTHON, [*NUMPY, *EXTENSIONS]),
        (ARROW, [*NUMPY, *EXTENSIONS]),
        (TYPED, NUMPY),  # their indicators are of ArrowDtype
    ],
    ids=["python", "arrow", "typed"],
)
@examples(0.5)
@given(data=st.data(), sep=st.sampled_from(SEPARATORS))
def test_str_get_dummies_equals_pandas(as_index, dtypes, results, data, sep):
    """`str_get_dummies` equals pandas for any separator, of a Series and of an Index.

    Separators may be patterns, or overlap; an Index becomes levels or an array. In Arrow memory the
    empty piece is a tag.
    """
    column = data.draw(strings(dtypes, sep))
    # Without any string pandas fails for some dtypes, and an Index has no `.str`.
    assume(column.notna().any() or not (as_index or dtypes is not PYTHON))
    # Before pandas 3 there is no dtype; of an Index, it is one of NumPy.
    known = (NUMPY if as_index else results) if PANDAS_3 else []
    dtype = data.draw(st.sampled_from([None, *known]))
    column = pd.Index(column) if as_index else column

    assert_same_outcome(
        str_get_dummies, split_by_pandas, column, sep, **({} if dtype is None else {"dtype": dtype})
    )


@pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 there is no dtype")
@pytest.mark.parametrize("dtype", [object, TYPED[0]], ids=str)
def test_booleans_of_an_index_equal_pandas(dtype):
    """They are an array or, for strings in Arrow memory, the levels of an index."""
    index = pd.Index(["a|b", "b", None], dtype=dtype)

    assert_same_outcome(str_get_dummies, split_by_pandas, index, "|", dtype="bool")


@pytest.mark.parametrize(
    "values",
    [
        *(["a;b", "a", 7], [1, True, "1", 1.5, None], [["a"], "b;a"], [b"a;b", b"c"], [1, 2]),
        *([], [None, None], ["", ""], ["a\0;b", "\0"], ["\ud800;a", "a"]),
    ],
    ids=repr,
)
def test_odd_objects_equal_pandas(values):
    """`str_get_dummies` treats objects that are no strings, and odd strings, as pandas does."""
    assert_same_outcome(str_get_dummies, split_by_pandas, pd.Series(values, dtype=object), ";")


def test_other_dtypes_are_rejected():
    for dtype in (str, "datetime64[ns]", object):
        with pytest.raises(ValueError, match="Only numeric or boolean dtypes"):
            str_get_dummies(pd.Series(["a"]), dtype=dtype)
    with pytest.raises(AttributeError, match=r"Can only use \.str accessor"):
        str_get_dummies(pd.Series([1, 2]))


@pytest.mark.parametrize("dtype", [*ARROW, *TYPED], ids=str)
def test_arrow_strings_work_where_pandas_fails(dtype):
    """Arrow strings without a tag give no column, and indicators may have a nullable dtype."""
    missing = str_get_dummies(pd.Series([None, None], index=["x", "y"], dtype=dtype))
    nullable = str_get_dummies(pd.Series(["a|b", None], dtype=dtype), dtype="Int8")

    assert missing.shape == (2, 0)
    assert missing.index.tolist() == ["x", "y"]
    expected = pd.DataFrame({"a": [1, 0], "b": [1, 0]}, dtype="Int8")
    pd.testing.assert_frame_equal(nullable, expected)


def test_a_category_that_does_not_occur_has_no_tags():
    series = pd.Series(pd.Categorical(["a|b"], categories=["c", "a|b"]))
    series.attrs["source"] = "here"

    encoded = str_get_dummies(series)

    assert encoded.columns.tolist() == ["a", "b"]
    assert encoded.attrs == {"source": "here"}
