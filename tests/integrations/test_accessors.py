"""The accessors of pandas and polars: their options, and that every form of a column is the same.

The labels are held against pandas in test_pandas.py, against polars in test_polars.py.
"""

import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.libraries import cells, equal
from support.strategies import policies

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

import onehot_fast.integrations.pandas  # noqa: E402
import onehot_fast.integrations.polars  # noqa: E402
from onehot_fast import Column, Encoder, UnknownValueError  # noqa: E402
from support import frame_strategies as pandas_columns  # noqa: E402  after the skips above
from support import polars_strategies as polars_columns  # noqa: E402

pytestmark = pytest.mark.parametrize("library", ["pandas", "polars"], indirect=True)

OPTIONS = policies(handle_missing=["ignore", "indicator"])
BARE = {"n": [1, 2, 3], "size": ["S", None, "L"], "kind": list("xyx"), "m": [0, 1, 2]}
FLOAT64 = {"pandas": "float64", "polars": pl.Float64}


@st.composite
def pandas_series(draw):
    """Return texts, categories or numbers with missing values."""
    n_rows = draw(st.integers(0, 20))
    letters = st.sampled_from(["a", "b", "c", "d", None])
    kinds = [
        pandas_columns.typed(letters, pandas_columns.TEXT, n_rows),
        pandas_columns.declared(n_rows),
        pandas_columns.typed(st.none() | st.integers(0, 5), ["Int8"], n_rows),
    ]
    return draw(st.one_of(kinds)).rename("k")


SERIES = {"pandas": pandas_series(), "polars": polars_columns.series()}


def series(library, values, name="size"):
    """Return a column of a library, which in pandas is one of objects."""
    column = library.table({name: values})[name]
    return column.astype(object) if library.name == "pandas" else column


@given(data=st.data(), prefix=st.sampled_from([None, "k"]), options=OPTIONS)
def test_every_form_equals_an_encoder(library, data, prefix, options):
    column = data.draw(SERIES[library.name])
    if library.name == "pandas":
        table = column.to_frame().astype("category")
    else:
        table = {"k": column.to_list()}
        if column.dtype == pl.Enum:
            options = {"categories": column.dtype.categories.to_list(), **options}
    encoder = Encoder(["k"], dtype="int8", **options).fit(table)
    expected = encoder.transform(table, "numpy")
    names = encoder.get_feature_names_out().tolist()

    frame = column.onehot(prefix=prefix, dtype="float32", num_threads=2, **options)
    array = column.onehot.to_numpy(**options)
    batch = column.onehot.to_arrow(prefix=prefix, **options)

    np.testing.assert_array_equal(cells(library, frame, len(column)), expected)
    assert [str(name).rpartition("(")[2] for name in frame.columns if "(" in str(name)] == [
        name.rpartition("(")[2] for name in names if "(" in name
    ]
    assert library.name == "pandas" or column.dtype.is_temporal() or frame.columns == names
    np.testing.assert_array_equal(array, expected)
    assert (array.dtype, array.flags.c_contiguous) == (np.float32, True)
    batch.validate(full=True)
    assert batch.num_rows == len(column)
    assert batch.to_pydict() == library.columns(frame)
    for form in (column.onehot.to_csr, column.onehot.to_csc):
        sparse = form(dtype=FLOAT64[library.name], **options)
        np.testing.assert_array_equal(sparse.toarray(), expected)
        assert (sparse.dtype, sparse.has_canonical_format) == (np.float64, True)
        assert form(**options).dtype == np.float32


@pytest.mark.parametrize("values", [[None, None], []])
def test_an_arrow_batch_without_columns_has_rows(library, values):
    batch = series(library, values).onehot.to_arrow()

    assert (batch.num_rows, batch.num_columns) == (len(values), 0)


@given(data=st.data())
def test_codes_name_the_column_that_is_on(library, data):
    kinds = {"pandas": pandas_columns.series(), "polars": polars_columns.series()}
    column = data.draw(kinds[library.name])

    codes, array = column.onehot.codes(), column.onehot.to_numpy(dtype=bool)

    missing = column.isna() if library.name == "pandas" else column.is_null()
    assert codes.dtype.kind == "i" or (codes.dtype.kind == "u" and not missing.any())
    np.testing.assert_array_equal(codes.astype(int) == -1, missing.to_numpy())
    np.testing.assert_array_equal(array, codes[:, np.newaxis] == np.arange(array.shape[1]))


def test_codes_of_declared_categories_are_the_columns_own(library):
    column = library.table({"k": library.coded(list("bab"), ["b", "a"])})["k"]
    own = column.array.codes if library.name == "pandas" else column.to_physical().to_numpy()

    codes = column.onehot.codes()

    assert np.shares_memory(codes, own)
    assert not codes.flags.writeable


def test_declared_categories_keep_their_order(library):
    frame = series(library, ["b", "a", None]).onehot(
        ["c", "a"], prefix="is", prefix_sep="=", handle_unknown="indicator", dtype="uint8"
    )

    assert library.columns(frame) == {
        "is=c": [0, 0, 0],
        "is=a": [0, 1, 0],
        "is=(unknown)": [1, 0, 0],
    }


def test_an_encoder_encodes_a_series(library):
    both = Encoder(["m", "k"], drop={"k": "first"}).fit({"k": ["a", "b"], "m": ["c", "c"]})
    alone = Encoder(["x"], handle_unknown="ignore").fit({"x": ["a", "b"]})
    column = series(library, ["b", "a", "b"], "k")

    assert library.columns(column.onehot(both, dtype="uint8")) == {"k_b": [1, 0, 1]}
    assert library.columns(column.onehot(alone)) == {
        "x_a": [False, True, False],
        "x_b": [True, False, True],
    }
    assert column.onehot.to_csr(alone).toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
    with pytest.raises(TypeError, match="drop= cannot be combined with an Encoder"):
        column.onehot(alone, drop="first")
    with pytest.raises(ValueError, match=r"must be one of \['x', 'y'\], got 'k'"):
        column.onehot(Encoder().fit({"x": ["a"], "y": ["a"]}))


def test_the_name_of_the_series_is_not_a_category(library):
    with pytest.raises(UnknownValueError, match=r"categories, not columns; call series\.onehot"):
        series(library, ["a", None]).onehot(["size"])
    with pytest.raises(UnknownValueError, match="row 1: 'a' is unknown"):
        series(library, ["size", "a"]).onehot(["size"])
    with pytest.raises(UnknownValueError, match="row 0: 'a' is unknown"):
        series(library, ["a"]).onehot(Column(np.array([0]), np.array(["other"])))


@pytest.mark.parametrize("drop", ["a", ["a"], {"size": "first"}], ids=str)
def test_a_category_can_be_dropped(library, drop):
    column = series(library, ["last", "first", "a"])

    assert list(column.onehot(prefix="p", drop=drop).columns) == ["p_first", "p_last"]
    assert list(column.onehot(prefix="p", drop=["last"]).columns) == ["p_a", "p_first"]


@pytest.mark.parametrize("form", ["__call__", "to_numpy", "to_csr", "to_csc"])
def test_missing_values_propagate(library, form):
    call = getattr(series(library, ["b", None]).onehot, form)
    result = call(dtype="float64", handle_missing="propagate")
    values = result.toarray() if "to_cs" in form else np.asarray(result)

    np.testing.assert_array_equal(values, [[1.0], [np.nan]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"order": "a"}, TypeError, "'order' is not an option: use one of 'categories', 'drop', "),
        ({"drops": "a"}, TypeError, "did you mean 'drop'?"),
        ({"drop": "z"}, ValueError, r"drop\['size'\] must be one of"),
        ({"categories": ["a"]}, ValueError, "column 'size', row 1: 'b' is unknown"),
        ({"categories": "is"}, TypeError, "to use it in the .* names, pass prefix='is'"),
        ({"handle_missing": "error"}, ValueError, "column 'size', row 2: the value is missing"),
        ({"handle_missing": "propagate"}, ValueError, "must be a float type"),
        ({"max_categories": "2"}, TypeError, "max_categories must be an int or None, got a str"),
        ({"prefix": 1}, TypeError, "prefix must be a str, got 1"),
        ({"prefix": ["x"]}, TypeError, r"prefix must be a str, got \['x'\]"),
        ({"prefix_sep": None}, TypeError, "prefix_sep must be a str, got None"),
    ],
    ids=lambda value: str(value)[:20],
)
@pytest.mark.parametrize("form", ["__call__", "to_arrow"])
def test_invalid_options_are_rejected(library, form, options, error, message):
    column = series(library, ["a", "b", None])

    with pytest.raises(error, match=message):
        getattr(column.onehot, form)(**options)


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("scipy.sparse", lambda of: of.to_csr()),
        ("scipy.sparse", lambda of: of.to_csc()),
        ("scipy.sparse", lambda of: of.multi_hot("|", output="csr")),
        ("pyarrow", lambda of: of.to_arrow()),
    ],
    ids=["to_csr", "to_csc", "multi_hot", "to_arrow"],
)
def test_a_missing_library_is_named(library, missing, call, monkeypatch):
    column = series(library, ["a", None])
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(ImportError, match=rf"needs {missing.split('.')[0]}: pip install "):
        call(column.onehot)
    assert column.onehot.to_numpy().tolist() == [[1.0], [0.0]]


def test_options_may_differ_by_column(library):
    frame = library.table(BARE).onehot(
        ["size", "m"], prefix={"m": "M"}, prefix_sep=".", drop={"size": "L"}, dtype={"m": float}
    )

    assert list(frame.columns) == ["n", "size.S", "kind", "M.0", "M.1", "M.2"]
    assert str(frame["size.S"].dtype).startswith("bool" if library.name == "pandas" else "Bool")
    assert [type(value) for value in frame["M.1"].to_list()] == [float] * 3
    assert frame["M.1"].to_list() == [0.0, 1.0, 0.0]


@given(data=st.data(), options=OPTIONS)
def test_a_table_equals_an_encoder(library, data, options):
    column = data.draw(SERIES[library.name])
    table = column.to_frame()
    table = table.assign(n=1.5) if library.name == "pandas" else table.with_columns(n=1.5)

    actual = table.onehot(["k"], **options)

    assert equal(actual, Encoder(["k"], **options).fit_transform(table))
    assert equal(table.onehot(table.onehot.fit(["k"], **options)), actual)


NAMED_N = {"prefix": "n", "prefix_sep": "", "categories": ["", 0, 1, 2]}


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        ("kinds", {}, ValueError, "no column 'kinds': did you mean 'kind'"),
        (None, {"dummy_na": 1}, TypeError, "use handle_missing='indicator'"),
        (["no"], {}, ValueError, "the table has no column 'no'"),
        (None, {"order": 1}, TypeError, "'order' is not an option: use one of 'categories'"),
        (None, {"dtype": "U3"}, TypeError, "dtype must be a Boolean, .* got 'U3'"),
        (["m"], NAMED_N, ValueError, "two output columns would be named 'n'"),
        (Encoder(), {}, RuntimeError, "the encoder is not fitted"),
        (Encoder(), {"drop": "first"}, TypeError, "drop= cannot be combined with an Encoder"),
    ],
    ids=["name", "elsewhere", "absent", "option", "dtype", "two", "not fitted", "encoder"],
)
def test_invalid_options_of_a_table_are_rejected(library, columns, options, error, message):
    """Invalid options of a table raise the same errors for a frame and for a lazy frame."""
    frame = library.table(BARE)
    declared = {} if isinstance(columns, Encoder) else {"categories": [0, 1, 2]}
    calls = [lambda: frame.onehot(columns, **options)]
    if library.name == "polars":
        calls.append(lambda: frame.lazy().onehot(columns, **declared | options))
    for call in calls:
        with pytest.raises(error, match=message):
            call()


def test_columns_must_be_one_list(library):
    frame = library.table(BARE)
    calls = [frame.onehot, frame.onehot.fit, Encoder]
    calls += [frame.lazy().onehot, frame.lazy().onehot.fit] if library.name == "polars" else []

    for call in calls:
        with pytest.raises(TypeError, match=r"^unexpected argument 'n': pass the columns as one"):
            call("kind", "n")


def test_the_function_is_the_accessor(library):
    """`onehot(data)` is `data.onehot()`, for those whose type checker knows no accessors."""
    onehot = import_module(f"onehot_fast.integrations.{library.name}").onehot
    frame = library.table(BARE)
    for data in (frame, frame["size"]):
        assert equal(onehot(data), data.onehot())
    encoded = onehot(frame, ["size"], prefix="is")
    assert list(encoded.columns) == ["n", "is_L", "is_S", "kind", "m"]
    assert list(onehot(frame["size"], prefix="is", dtype="uint8").columns) == ["is_L", "is_S"]
    with pytest.raises(TypeError, match=f"data must be a {library.name} DataFrame, "):
        onehot([1, 2])
    if library.name == "pandas":
        module = onehot_fast.integrations.pandas
        assert onehot(pd.Index(["b", "a"])).columns.tolist() == ["a", "b"]
        assert module.OneHotAccessor(frame["size"]).codes().tolist() == [1, -1, 0]
        assert module.FrameAccessor(frame).fit(["size"]).columns == ("size",)
        return
    encoder = onehot_fast.integrations.polars.LazyFrameNamespace(frame.lazy()).fit(["size"])
    assert onehot(frame.lazy(), encoder).collect().equals(frame.onehot(encoder))
    encoded = frame.select(onehot(pl.col("size"), ["S", "L"], layout="struct", prefix="is"))
    assert encoded.unnest("size").columns == ["is_S", "is_L"]


def test_the_repr_of_an_accessor_lists_its_methods(library):
    column = series(library, ["a", "b", None]).onehot

    public = {name for name in dir(column) if not name.startswith("_")}
    assert public == {"codes", "multi_hot", "to_arrow", "to_csc", "to_csr", "to_numpy"}
    start, _, forms = repr(column).partition(", or ")
    assert start == "<onehot of a column: call it for its features"
    for name in forms.rstrip(">").replace(" or ", ", ").split(", "):
        assert callable(getattr(column, name))
    frame = library.table({"size": ["a", "b"]})
    start, _, forms = repr(frame.onehot).partition(", or ")
    assert start == "<onehot of a table: call it with the columns to encode"
    public = {name for name in dir(frame.onehot) if not name.startswith("_")}
    assert {*forms.rstrip(">").replace(" or ", ", ").split(", ")} == public
    if library.name == "polars":
        expected = "<onehot of a lazy table: call it with columns or an Encoder, or call fit>"
        assert repr(frame.lazy().onehot) == expected
        assert "of an expression: call it" in repr(pl.col("size").onehot)
