"""Rows of several labels in pandas, polars and Arrow: lists, and separated texts.

They are read by `onehot_fast.multi_hot`, and by `.onehot.multi_hot` where there is an accessor.
"""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pytest.importorskip("scipy")

import pyarrow.compute as pc  # noqa: E402  after the skips above

import onehot_fast  # noqa: E402
import onehot_fast.integrations.pandas  # noqa: E402
import onehot_fast.integrations.polars  # noqa: E402
from support import arrow_strategies  # noqa: E402  after the skips above
from support.arrow_strategies import can  # noqa: E402
from support.frame_strategies import TEXT  # noqa: E402

every_library = pytest.mark.parametrize("library", ["pandas", "polars", "arrow"], indirect=True)
every_accessor = pytest.mark.parametrize("library", ["pandas", "polars"], indirect=True)
SERIES = {
    "pandas": lambda rows, dtype=None: pd.Series(rows, dtype=dtype),
    "polars": lambda rows, dtype=None: pl.Series("k", rows, dtype=dtype),
    "arrow": lambda rows, dtype=None: pa.array(rows, dtype),
}
LABELS = pl.Enum(["d", "c", "b", "a", "cut off"])
ARROW = [pa.list_(pa.string()), pa.list_(pa.dictionary(pa.int8(), pa.string()))]
ARROW.append(pa.list_(pa.string(), 2))  # the last one has lists of two
LISTS = {
    "pandas": [object, pd.ArrowDtype(pa.large_list(pa.large_string())), *map(pd.ArrowDtype, ARROW)],
    "polars": [*map(pl.List, (pl.String, pl.Categorical, LABELS)), pl.Array(pl.String, 2)],
    "arrow": ARROW,
}
TEXTS = {
    "pandas": [*TEXT, "category"],
    "polars": [pl.String, pl.Categorical]
    + ([pl.Categorical(pl.Categories("labels"))] if hasattr(pl, "Categories") else []),
    "arrow": [*arrow_strategies.TEXTS, pa.dictionary(pa.int8(), pa.string())],
}
WHOLE = {
    "pandas": lambda name: pd.ArrowDtype(pa.list_(getattr(pa, name.lower())())),
    "polars": lambda name: pl.List(getattr(pl, name)),
    "arrow": lambda name: pa.list_(getattr(pa, name.lower())()),
}


def read_lists(library, column):
    """Return the lists of a column, as the integration of its library reads them."""
    return import_module(f"onehot_fast.integrations.{library.name}").read_lists(column)


def in_chunks(column, cut):
    """Return the same rows in two chunks, if the library has chunks."""
    if not cut:
        return column
    if isinstance(column, pa.Array):
        return pa.chunked_array([column[:cut], column[cut:]])
    if isinstance(column, pd.Series):
        return pd.concat([column.iloc[:cut], column.iloc[cut:]])
    return pl.concat([column[:cut], column[cut:]], rechunk=False)


def counted(rows):
    """Return how often each label is in each row: the oracle."""
    labels = sorted({label for row in rows for label in row or [] if label})
    return {label: [(row or []).count(label) for row in rows] for label in labels}


def assert_counted(column, expected, **options):
    """Compare what the core counts."""
    known = [*expected, "no label"]
    counts = onehot_fast.multi_hot(column, categories=known, mode="count", dtype=int, **options)

    assert counts.T.tolist() == [*expected.values(), [0] * len(column)]


@every_library
@given(
    rows=st.lists(
        st.none() | st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=4), max_size=15
    ),
    start=st.integers(0, 3),
    cut=st.integers(0, 5),
    data=st.data(),
)
def test_lists_are_counted(library, rows, start, cut, data):
    """Counts are those of the rows, also of slices and chunks; missing labels count nothing.

    In lists of one size, a null list has room for elements.
    """
    dtype = data.draw(st.sampled_from(LISTS[library.name]))
    if dtype == LISTS[library.name][-1]:
        rows = [row if row is None else [*row, None, None][:2] for row in rows]
    rows = [["cut off", None], *rows]
    whole = SERIES[library.name](rows, dtype)
    column = in_chunks(whole[start:], cut)
    expected = counted(rows[start:])

    assert_counted(column, expected)
    if library.name == "arrow":
        return
    counts = column.onehot.multi_hot(mode="count")
    present = column.onehot.multi_hot()

    assert library.columns(counts) == expected
    assert library.columns(present) == {
        label: [n > 0 for n in column] for label, column in expected.items()
    }
    assert {str(dtype).lower() for dtype in counts.dtypes} <= {"int64"}
    assert {str(dtype).lower()[:4] for dtype in present.dtypes} <= {"bool"}
    assert library.name == "polars" or counts.index.equals(column.index)


@every_library
@given(
    rows=st.lists(
        st.none() | st.lists(st.sampled_from(["", "a", "b", "c", "é€"]), max_size=3), max_size=20
    ),
    cut=st.integers(0, 5),
    data=st.data(),
)
def test_separated_texts_are_counted(library, rows, cut, data):
    """The result is that of pandas' ``str.get_dummies``, without its column for an empty label."""
    texts = [None if row is None else "|".join(row) for row in rows]
    dtype = data.draw(st.sampled_from(TEXTS[library.name]))
    column = in_chunks(SERIES[library.name](texts, dtype), cut)

    assert_counted(column, counted(rows), sep="|")
    if library.name != "arrow":
        frame = column.onehot.multi_hot("|", mode="count")
        assert library.columns(frame) == counted(rows)


@every_library
@pytest.mark.parametrize("dtype", ["Int8", "UInt8", "UInt64"])
def test_numbers_are_labels_too(library, dtype):
    """The accessor reads integers as labels, `multi_hot` as classes; a null is neither."""
    column = SERIES[library.name]([[3, None], None, [1, 3]], WHOLE[library.name](dtype))

    classes = onehot_fast.multi_hot(column, 4, dtype=int)

    if library.name != "arrow":
        frame = column.onehot.multi_hot(dtype=int)
        assert library.columns(frame) == {"1": [0, 0, 1], "3": [1, 0, 1]}
    assert classes.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize("kind", [pa.large_list(pa.int64()), pa.list_view(pa.int32())], ids=str)
@pytest.mark.parametrize("chunked", [False, True])
def test_classes_in_rare_lists_of_arrow(kind, chunked):
    """A null list is empty, a null in a list is no class; slices and chunks change nothing."""
    # Early versions know little more of a list view than the name.
    if not can(lambda: pc.list_value_length(pa.array([[1]], kind))):
        pytest.skip("this pyarrow cannot read list views")
    lists = pa.array([[2], [2, 0], None, [], [1, None, 1]], kind).slice(1)
    lists = pa.chunked_array([lists.slice(0, 2), lists.slice(2)]) if chunked else lists
    items = pa.array([0, 1, 2, 2, 1, 1])
    sized = pa.FixedSizeListArray.from_arrays(items, 2, mask=pa.array([False, True, False]))

    assert onehot_fast.multi_hot(lists, 3).tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert onehot_fast.multi_hot(sized, 3).tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0]]


@every_accessor
def test_integers_are_not_copied(library):
    """The kernel reads the classes where the lists lie."""
    column = SERIES[library.name]([[3, 1], [2]], WHOLE[library.name]("Int32"))
    if library.name == "pandas":
        own = np.asarray(pa.array(column.array).flatten())
    else:
        own = column.explode().to_numpy()

    assert np.shares_memory(read_lists(library, column).elements, own)


@every_accessor
@pytest.mark.parametrize("output", [None, "library", "numpy", "csr", "csc"])
@pytest.mark.parametrize("declare", ["list", "dtype"])
def test_forms_and_categories(library, output, declare):
    """Columns follow the order of the declared labels; other labels are skipped."""
    column = SERIES[library.name](["a,z", None, "b,a,,a"])
    labels = ["b", "no", "a"]
    dtypes = {"pandas": pd.CategoricalDtype(labels), "polars": pl.Enum(labels)}
    categories = labels if declare == "list" else dtypes[library.name]

    form = library.name if output == "library" else output

    result = column.onehot.multi_hot(",", categories=categories, output=form)

    values = result.toarray() if output in ("csr", "csc") else np.asarray(result)
    assert values.astype(int).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 1]]
    assert output in ("numpy", "csr", "csc") or list(result.columns) == labels


@every_accessor
@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (["a"], {}, TypeError, "(need|with|if|pass) sep="),
        ([1], {"sep": "|"}, TypeError, "with sep= every row must be a (str or None|string)"),
        ([["a"]], {"sep": "|"}, TypeError, "with sep= every row must be a str"),
        (["a"], {"sep": ""}, ValueError, "sep must not be empty"),
        (["a"], {"sep": 1}, TypeError, "sep must be a str, got 1"),
        (["a"], {"sep": "|", "mode": "all"}, ValueError, "mode"),
        (["a"], {"sep": "|", "output": "xml"}, ValueError, "output"),
        (["a"], {"sep": "|", "dtype": "O"}, TypeError, "must be a Boolean"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_invalid_arguments_are_rejected(library, rows, options, error, message):
    """The error names the rows or the option."""
    with pytest.raises(error, match=message):
        SERIES[library.name](rows).onehot.multi_hot(**options)


@every_accessor
def test_lists_are_rejected_as_categories(library):
    """One list is not one value of a Series: the error says what takes lists. Frames do."""
    for dtype in LISTS[library.name]:
        column = SERIES[library.name]([["a", "b"]], dtype)
        forms = column.onehot, column.onehot.to_numpy, column.onehot.to_csr, column.onehot.codes
        for form in forms:
            with pytest.raises(TypeError, match=r"categories.*: use multi_hot to encode lists"):
                form()
        frame = column.to_frame("k").onehot(["k"])
        ones = [name for name in frame.columns if np.array(frame[name])[0]]
        assert sorted(ones) == ["k_a", "k_b"]  # an Enum also declares labels that no row has


@pytest.mark.parametrize("dtype", [pl.UInt8, "float32"])
def test_dtypes_of_polars_or_of_numpy(dtype):
    frame = pl.Series([["b", "b"], ["a"]]).onehot.multi_hot(mode="count", dtype=dtype)

    assert frame.to_dict(as_series=False) == {"a": [0, 1], "b": [2, 0]}
    assert set(frame.dtypes) == {pl.UInt8 if dtype == pl.UInt8 else pl.Float32}
    with pytest.raises(ValueError, match="column names must be unique in polars, got '1' twice"):
        pl.Series([["1"]]).onehot.multi_hot(categories=["1", 1])  # two labels of one name


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt64])
@pytest.mark.parametrize("library", ["polars"], indirect=True)
def test_wide_integers_of_polars(library, dtype):
    """Integers wider than NumPy's are read; beyond int64 they are no classes."""
    column = pl.Series("k", [[3, None], [1]], dtype=pl.List(dtype))
    far = pl.Series("k", [[2**63, None]], dtype=pl.List(dtype))

    assert read_lists(library, column).elements.tolist() == [3, -1, 1]
    assert read_lists(library, column.list.drop_nulls()).elements.tolist() == [3, 1]
    with pytest.raises(ValueError, match=r"depth must be|int64 cannot hold"):
        onehot_fast.multi_hot(far)
    if dtype == pl.Int128:  # as labels, they need not fit
        assert onehot_fast.multi_hot(far, categories=[2**63]).tolist() == [[1]]
