"""`one_hot` of an Arrow column, in every layout, against a few lines of Python."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from onehot_fast import UnknownValueError  # noqa: E402
from onehot_fast.integrations.arrow import one_hot  # noqa: E402
from support.arrow_strategies import INTEGERS, TEXTS, columns  # noqa: E402  after the skip above

LAYOUTS = ("columns", "struct", "array", "tensor", "dictionary")
layouts = st.sampled_from(LAYOUTS)
dtypes = st.sampled_from(["bool", "uint8", "int64", "float16", "float64"])
SIZES = pa.array(["M", None, "S", "M"])


def cells_of(rows, classes):
    """Return what one_hot should give."""
    return [[int(row == one and row is not None) for one in classes] for row in rows]


def rows_of(arrow):
    """Return the cells that Arrow itself sees in a result."""
    if isinstance(arrow, pa.DictionaryArray):
        return cells_of(arrow.to_pylist(), arrow.dictionary.to_pylist())
    rows = arrow.to_pylist()
    return [list(row.values()) if isinstance(row, dict) else list(row) for row in rows]


@given(drawn=columns([*TEXTS, *INTEGERS, pa.bool_()]), layout=layouts, dtype=dtypes, data=st.data())
def test_categories_tell_the_classes(drawn, layout, dtype, data):
    values = sorted({value for value in drawn.values if value is not None})
    known = data.draw(st.permutations([*values, *(["other"] if layout != "dictionary" else [])]))
    known = known[: data.draw(st.integers(0, len(known)))]

    result = one_hot(drawn.column, categories=known, layout=layout, dtype=dtype)

    expected = np.array(cells_of(drawn.values, known)).reshape(len(drawn.values), len(known))
    np.testing.assert_array_equal(np.asarray(result), expected)
    assert rows_of(result.to_arrow()) == expected.tolist() or not known
    assert len(result) == result.shape[0] == len(drawn.values)
    result.to_arrow().validate(full=True)


@given(drawn=columns(INTEGERS, ("plain",)), depth=st.integers(0, 9), layout=layouts, dtype=dtypes)
def test_integers_are_the_classes_where_a_depth_is_given(drawn, depth, layout, dtype):
    result = one_hot(drawn.column, depth=depth, layout=layout, dtype=dtype)

    expected = np.array(cells_of(drawn.values, list(range(depth)))).reshape(result.shape)
    np.testing.assert_array_equal(np.asarray(result), expected)
    assert list(result.categories) == list(range(depth))


def test_only_integers_are_classes_themselves():
    for array in (SIZES, SIZES.dictionary_encode(), pa.array([1.0])):
        with pytest.raises(TypeError, match="array must hold integers if depth is given"):
            one_hot(array, depth=2)


@given(drawn=columns([*TEXTS, *INTEGERS, pa.bool_()]))
def test_classes_are_by_default_the_values(drawn):
    result = one_hot(drawn.column)

    if pa.types.is_dictionary(drawn.column.type):
        chunks = getattr(drawn.column, "chunks", [drawn.column])
        every = [word for chunk in chunks for word in chunk.dictionary.to_pylist()]
        assert list(result.categories) == [w for w in dict.fromkeys(every) if w is not None]
    else:
        assert list(result.categories) == sorted({v for v in drawn.values if v is not None})
    expected = cells_of(drawn.values, list(result.categories))
    np.testing.assert_array_equal(np.asarray(result), np.array(expected).reshape(result.shape))


@pytest.mark.parametrize(
    ("layout", "dtype", "expected"),
    [
        ("tensor", "uint8", "extension<arrow.fixed_shape_tensor[value_type=uint8, shape=[2]]>"),
        ("tensor", "bool", "extension<arrow.fixed_shape_tensor[value_type=uint8, shape=[2]]>"),
        ("array", "bool", "fixed_size_list<item: uint8>[2]"),
        ("array", ">f4", "fixed_size_list<item: float>[2]"),
        ("struct", "bool", "struct<M: bool not null, S: bool not null>"),
        ("struct", "int8", "struct<M: int8 not null, S: int8 not null>"),
        ("columns", "bool", "struct<M: bool not null, S: bool not null>"),
        ("dictionary", "uint8", "dictionary<values=string, indices=int8, ordered=0>"),
    ],
)
def test_types(layout, dtype, expected):
    result = one_hot(SIZES, layout=layout, dtype=dtype)

    assert str(pa.array(result).type) == expected
    assert pa.field(result).type == pa.array(result).type
    assert f"({len(SIZES)} rows, 2 classes, " in repr(result)


def test_categories_are_compared_as_values():
    """Scalars of Arrow are the values that they hold; 1 and "1" have one name only."""
    of_arrow = one_hot(SIZES, categories=pa.chunked_array([["S"], ["M"]]))
    of_one_name = one_hot(pa.array([1, 2]), categories=[1, "1"])

    assert np.asarray(of_arrow).tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]
    assert np.asarray(of_one_name).tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("layout", ["tensor", "struct", "dictionary"])
def test_array_protocol(layout):
    result = one_hot(SIZES, layout=layout)
    copy = np.array(result)
    copy[0, 0] = 7

    assert np.asarray(result, "f4").dtype == "f4"
    assert np.asarray(result)[0, 0] == 1
    assert np.array(result, "f8").tolist() == [[1, 0], [0, 0], [0, 1], [1, 0]]
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(result, "f4" if layout == "tensor" else "u1", copy=False)


@pytest.mark.parametrize("layout", ["tensor", "columns"])
def test_a_consumer_of_the_first_dlpack_gets_the_matrix(layout):
    """A consumer that knows only the first protocol, without a flag for read-only, can read."""
    capsule = one_hot(SIZES, layout=layout).__dlpack__()
    exported = type("Exported", (), {"__dlpack__": lambda _self, **_options: capsule})()
    exported.__class__.__dlpack_device__ = lambda _self: (1, 0)

    assert np.from_dlpack(exported).tolist() == [[1, 0], [0, 0], [0, 1], [1, 0]]
    assert one_hot(SIZES, layout=layout).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"layout": "rows"}, ValueError, "got 'rows'"),
        ({"dtype": "str"}, TypeError, "got 'str'"),
        ({"dtype": "complex64"}, TypeError, "dtype must be .*, got complex64"),
        ({"depth": 2, "categories": ["S"]}, ValueError, "both given"),
        (
            {"categories": ["S", None]},
            ValueError,
            r"categories\[1\] must not be a missing value, got None",
        ),
        ({"categories": ["S", "S"]}, ValueError, r"categories\[1\] must differ.*distinct_classes"),
        ({"categories": "SM"}, TypeError, r"list\('SM'\)"),
        ({"categories": {"S"}}, TypeError, "sorted"),
        ({"categories": "auto"}, ValueError, "got 'auto'"),
        *(
            ({"num_threads": 0, "layout": layout}, ValueError, "num_threads must be at least 1")
            for layout in ("tensor", "struct", "dictionary")
        ),
        ({"categories": [1, "1"], "layout": "columns"}, ValueError, "would be named '1'"),
        ({"categories": [1, "1"], "layout": "dictionary"}, ValueError, "would have the label '1'"),
    ],
    ids=str,
)
def test_arguments_are_checked(options, error, match):
    with pytest.raises(error, match=match):
        one_hot(SIZES, **options)


def test_a_result_too_large_is_rejected_before_it_is_allocated():
    with pytest.raises((MemoryError, ValueError)):
        one_hot(pa.nulls(1 << 20, pa.int8()), depth=1 << 30)


@pytest.mark.parametrize("layout", ["tensor", "columns"])
def test_a_table_is_not_a_column(layout):
    table = pa.table({"size": SIZES, "n": [1, 2, 3, 4]})

    with pytest.raises(TypeError, match=r"got a table with columns \['size', 'n'\]: pass"):
        one_hot(table, layout=layout)


@pytest.mark.parametrize("values", [[], [None], [True, True], [False], [True, None, False]])
@pytest.mark.parametrize("form", ["plain", "chunks", "runs"])
def test_the_classes_of_booleans_are_those_that_occur(values, form):
    """Booleans have the classes that occur, as other types do; `categories` gives others."""
    array = pa.array(values, pa.bool_())
    column = {
        "plain": lambda: array,
        "chunks": lambda: pa.chunked_array([array, array[:0]]),
        "runs": lambda: pa.RunEndEncodedArray.from_arrays(
            pa.array(range(1, len(values) + 1), pa.int32()), array
        ),
    }[form]()
    classes = sorted({value for value in values if value is not None})
    expected = [[value == one for one in classes] for value in values]

    encoded = one_hot(column)

    assert encoded.categories.tolist() == classes
    assert np.asarray(encoded).tolist() == expected
    assert one_hot(column, categories=[False, True]).shape == (len(values), 2)


@pytest.mark.parametrize("layout", ["tensor", "columns", "struct", "dictionary"])
def test_a_notebook_shows_the_frequency_of_each_class(layout):
    values = pa.array(["<b>", "a", None, "a"])

    page = one_hot(values, layout=layout)._repr_html_()
    assert page.startswith("<div><code>OneHotArray(4 rows, 2 classes, ")
    assert "&lt;b&gt;" in page
    assert re.findall(r"<td>(\d+)</td>.*?width:([\d.]+)em", page) == [("1", "3.00"), ("2", "6.00")]
    many = one_hot(pa.array(range(30)), layout=layout)._repr_html_()
    assert many.count("<tr>") == 20
    assert "10 more classes" in many


@pytest.mark.parametrize("encoded", [False, True])
def test_unknown_values_are_an_error_on_request(encoded):
    """`handle_unknown="error"` rejects unknown values; a missing value is never unknown."""
    column = SIZES.dictionary_encode() if encoded else SIZES
    known = one_hot(column, categories=["S", "M"], handle_unknown="error")
    assert np.asarray(known).tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]
    with pytest.raises(
        UnknownValueError, match=r"array\[2\] .* got 'S'; .*handle_unknown='ignore'"
    ):
        one_hot(column, categories=["M"], handle_unknown="error")
    assert len(one_hot(column, categories=["M"], handle_unknown="ignore")) == 4
    with pytest.raises(TypeError, match="needs categories"):
        one_hot(column, handle_unknown="error")
    with pytest.raises(ValueError, match="handle_unknown"):
        one_hot(column, categories=["M"], handle_unknown="warn")


@pytest.mark.parametrize("kind", INTEGERS)
def test_labels_out_of_range_are_an_error_on_request(kind):
    labels = pa.array([2, None, 0], kind)
    assert np.asarray(one_hot(labels, depth=3, out_of_range="error")).sum() == 2
    with pytest.raises(ValueError, match=r"array\[0\] must be in \[0, 2\), got 2"):
        one_hot(labels, depth=2, out_of_range="error")
    if str(kind).startswith("int"):
        with pytest.raises(ValueError, match=r"array\[1\].*got -1"):
            one_hot(pa.array([None, -1], kind), depth=2, out_of_range="error")
    with pytest.raises(TypeError, match="needs depth"):
        one_hot(labels, out_of_range="error")
