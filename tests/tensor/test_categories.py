"""`one_hot` and `decode` with categories, against a slow loop with the equality of keys."""

from __future__ import annotations

import datetime
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given

import onehot_fast
from onehot_fast import UnknownValueError, decode, distinct_classes, infer_shape, one_hot
from onehot_fast._categories.keys import is_missing, key, plain
from support import oracle, strategies
from support.equal_values import EQUAL
from support.programs import run

# Every dtype of NumPy whose elements are scalars, in its own byte order.
DTYPES = tuple(
    np.dtype(f"{letter}8[us]" if letter in "mM" else f"{letter}3" if letter in "SU" else letter)
    for letter in np.typecodes["All"]
    if letter not in "VOpP"
)
MISSING = object()


def identity(value):
    """Return an object that is equal for all elements of one class."""
    return MISSING if is_missing(value) else key(plain(value))


def classes_of(elements, categories, ignored=()):
    """Return the class of each element: -1 if it is to be left out, -2 if it is unknown."""
    left_out, known = [*map(identity, ignored)], [*map(identity, categories)]
    found = []
    for element in map(identity, elements):
        if any(element == each for each in left_out):
            found.append(-1)
        else:
            places = (i for i, each in enumerate(known) if element == each)
            found.append(next(places, -2))
    return np.array(found, np.int64)


def pool_of(dtype):
    """Return elements of a dtype, among them those at which a comparison may go wrong."""
    if dtype.kind in "iu":
        return strategies.special_indices(dtype, 9)
    if dtype.kind == "f" and dtype.itemsize <= 8:
        more = [0.1, 0.3, 0.7, 7, 1e-7]
        return np.concatenate([strategies.special_indices(dtype, 9), np.array(more, dtype)])
    if dtype.kind in "fc":
        return np.array([0, -0.0, 1, 0.1, 0.5, math.nan, math.inf, 2**63], dtype)
    if dtype.kind in "mM":
        return np.array([0, 1, -1, 86_400_000_000, 2**62, np.iinfo(np.int64).min]).view(dtype)
    if dtype.kind in "SU":
        return np.array(["", "a", "b", "A", "ab", "abc", "7"], dtype)
    return np.array([False, True])


def distinct(values):
    """Return the values without equal ones."""
    return list({identity(value): value for value in values}.values())


@st.composite
def calls(draw, dtypes=DTYPES):
    """Draw an array, categories and elements to leave out, in any form."""
    dtype = draw(st.sampled_from(dtypes))
    pool = pool_of(dtype)
    some = st.lists(st.integers(0, len(pool) - 1), max_size=9)
    shape = draw(strategies.SHAPES.filter(lambda shape: math.prod(shape) <= 5000))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chosen = pool[draw(some)] if draw(st.booleans()) else pool
    array = rng.choice(chosen if len(chosen) else pool, math.prod(shape)).reshape(shape)
    array = strategies.LAYOUTS[draw(st.sampled_from(sorted(strategies.LAYOUTS)))](array)
    categories = distinct(pool[draw(some)])
    form = draw(st.sampled_from(["array", "list", "plain", "mixed"]))
    if form == "array":
        categories = np.array(categories, dtype)
    elif form == "plain":
        categories = [plain(value) for value in categories]
    elif form == "mixed":
        others = [7, 1.0, True, "a", b"a", None, Decimal(1), Fraction(1, 2), 2**70, 1j]
        categories = distinct([*categories, *draw(st.lists(st.sampled_from(others)))])
    ignored = list(pool[draw(st.lists(st.integers(0, len(pool) - 1), max_size=2))])
    return array, categories, ignored


@given(call=calls(), axis=st.integers(-6, 5), num_threads=st.sampled_from([None, 1, 2]))
def test_equals_the_loop(call, axis, num_threads):
    """Elements of every dtype, byte order and stride have the class of the loop."""
    array, categories, ignored = call
    axis = max(-array.ndim - 1, min(axis, array.ndim))
    before, elements = array.tobytes(), list(array.reshape(-1))
    expected = classes_of(elements, categories, ignored)
    options = {"axis": axis, "dtype": "u1", "num_threads": num_threads}
    if ignored:
        options["ignore_index"] = ignored
    actual = one_hot(array, categories=categories, handle_unknown="ignore", **options)
    on, off = np.array(1, "u1"), np.array(0, "u1")
    oracle.assert_same(
        actual,
        oracle.one_hot(expected.reshape(array.shape), len(categories), on, off, axis),
    )
    assert array.tobytes() == before
    if (expected == -2).any():
        first = np.unravel_index(int(np.argmax(expected == -2)), array.shape)
        place = re.escape(f"indices[{', '.join(map(str, first))}]" if array.ndim else "indices")
        with pytest.raises(UnknownValueError, match=place):
            one_hot(array, categories=categories, **options)
    else:
        oracle.assert_same(one_hot(array, categories=categories, **options), actual)


@given(call=calls(), axis=st.integers(-6, 5))
def test_decode_is_the_inverse(call, axis):
    """`decode` returns an equal element of the dtype of the categories, or the default."""
    array, categories, ignored = call
    axis = max(-array.ndim - 1, min(axis, array.ndim))
    planes = one_hot(
        array, categories=categories, handle_unknown="ignore", ignore_index=ignored, axis=axis
    )
    classes = classes_of(list(array.reshape(-1)), categories, ignored)
    if not len(categories) or (classes < 0).any():
        if array.size:
            with pytest.raises(ValueError, match="no element"):
                decode(planes, axis, categories=categories)
        return
    actual = decode(planes, axis, categories=categories)
    assert isinstance(actual, np.ndarray)
    assert actual.shape == array.shape
    if isinstance(categories, np.ndarray):
        assert actual.dtype == categories.dtype
    for got, its_class in zip(actual.reshape(-1), classes, strict=True):
        assert identity(got) == identity(categories[its_class])


@pytest.mark.parametrize("group", EQUAL)
def test_equal_values_are_one_category(group):
    """Values of several types that are equal are one category, in the categories and in x."""
    if isinstance(group[0], tuple):
        with pytest.raises(TypeError, match="scalar"):
            one_hot(group, categories=[group[0]])
        return
    # Some versions of NumPy read the text of a complex number as a double.
    group = [value for value in group if identity(value) == identity(group[0])]
    for category in group:
        elements = np.fromiter(group, object, len(group))
        assert one_hot(elements, categories=["zz", category])[:, 1].all()
        with pytest.raises(ValueError, match="must differ"):
            one_hot([], categories=[category, group[0]])
        for element in group:
            one = one_hot(np.fromiter([element], object, 1), categories=[category])
            assert one.tolist() == [[1]]


@pytest.mark.parametrize("missing", [None, math.nan, np.datetime64("NaT", "s"), np.float32("nan")])
def test_missing_is_one_element(missing):
    elements = np.array([None, math.nan, "a", np.timedelta64("NaT", "s")], object)
    with pytest.raises(UnknownValueError, match=r"indices\[0\].*None"):
        one_hot(elements, categories=["a"])
    found = one_hot(elements, categories=["a", missing], dtype="u1")
    assert found.tolist() == [[0, 1], [0, 1], [1, 0], [0, 1]]
    left_out = one_hot(elements, categories=["a", missing], ignore_index=[missing], dtype="u1")
    assert left_out.tolist() == [[0, 0], [0, 0], [1, 0], [0, 0]]
    with pytest.raises(ValueError, match=r"categories\[1\] must differ"):
        one_hot(elements, categories=[None, missing])


MASKED = np.ma.array([[7, 8], [7, 11]], mask=[[0, 1], [0, 0]])


@pytest.mark.parametrize(
    "array",
    [
        MASKED,
        MASKED.astype("f4"),
        MASKED.T.copy().T,
        [[7, np.ma.masked], [7, 11]],
        [MASKED[0], MASKED[1]],
        [MASKED[0], [7, 11]],
    ],
    ids=["integers", "floats", "in Fortran order", "scalars", "rows", "a row beside a list"],
)
def test_masked_elements_are_missing(array):
    """Masked elements are one missing element: a class, to be left out, or unknown."""
    found = one_hot(array, categories=[7, 8, 11, None], dtype="u1")
    assert found.argmax(-1).tolist() == [[0, 3], [0, 2]]
    left_out = one_hot(array, categories=[7, 8, 11], ignore_index=[None], dtype="u1")
    assert left_out.tolist() == [[[1, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 1]]]
    with pytest.raises(UnknownValueError, match=r"indices\[0, 1\].*list None in categories"):
        one_hot(array, categories=[7, 8, 11])
    assert distinct_classes(array).tolist() == [7, 11]


@pytest.mark.parametrize(
    "masked", [np.ma.masked, np.ma.array(7, mask=True), np.ma.array([7], mask=[1])], ids=repr
)
def test_a_masked_scalar_is_missing(masked):
    """A masked scalar is missing alone, in the categories, and as an element to leave out."""
    known = [7, *np.atleast_1d(masked)] if masked.ndim else [7, masked]
    expected = np.array([[0, 1]], np.float32)
    oracle.assert_same(one_hot(masked, categories=known).reshape(1, 2), expected)
    oracle.assert_same(one_hot([None], categories=known), expected)
    assert decode(expected, categories=known).tolist() == [None]
    assert not one_hot([None], categories=[7], ignore_index=masked).any()
    with pytest.raises(UnknownValueError, match="list None in categories"):
        one_hot(masked, categories=[7])


def test_masked_categories():
    """A masked category is the missing one; an array without masked elements keeps its dtype."""
    known = np.ma.array([7, 8], mask=[0, 1], dtype="i2")
    assert one_hot([8, None, 7], categories=known, handle_unknown="ignore").tolist() == [
        [0, 0],
        [0, 1],
        [1, 0],
    ]
    oracle.assert_same(decode(np.eye(2), categories=known), np.array([7, None], object))
    known.mask = False
    oracle.assert_same(decode(np.eye(2), categories=known), np.array([7, 8], "i2"))
    oracle.assert_same(
        one_hot([1, 3], categories=np.ma.array([(1,), (3,)])[:, 0]), np.eye(2, dtype="f4")
    )


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan"), np.datetime64("NaT", "s")])
def test_ignored_missing_elements(missing):
    """A missing element in a sequence is left out; None instead of a sequence is no element."""
    elements = [7, None, math.nan]
    for ignored in ([missing], (missing, 8), {missing}):
        found = one_hot(elements, categories=[7, 8], ignore_index=ignored)
        assert found.tolist() == [[1, 0], [0, 0], [0, 0]]
    if missing is None:
        with pytest.raises(UnknownValueError, match=r"indices\[1\]"):
            one_hot(elements, categories=[7, 8], ignore_index=None)
    else:
        assert one_hot(elements, categories=[7, 8], ignore_index=missing).sum() == 1


def test_messages_for_none_or_one_category():
    with pytest.raises(
        UnknownValueError, match=r"indices\[0\] must be 8, the only category, got 7"
    ):
        one_hot([7], categories=[8])
    with pytest.raises(UnknownValueError, match=r"\(1, 2\).*got \(1, 3\)"):
        one_hot([[1, 3]], categories=[(1, 2)])
    with pytest.raises(UnknownValueError, match=r"is empty.*distinct_classes\(indices\)"):
        one_hot([7], categories=[])
    with pytest.raises(ValueError, match=r"no element.*default="):
        decode(np.zeros((2, 0)), categories=[])
    with pytest.raises(ValueError, match="1 position on axis 1"):
        decode(np.eye(2), categories=[8])


def test_nested_lists_are_not_converted():
    """[1, "a"] stays a number and a text; rows of other lengths are an error."""
    found = one_hot([[1, "a"], ["1", b"a"]], categories=["a", 1, "1", b"a"], dtype="u1")
    assert found.argmax(-1).tolist() == [[1, 0], [2, 3]]
    assert one_hot([[], []], categories=[1]).shape == (2, 0, 1)
    assert one_hot([], categories=[]).shape == (0, 0)
    assert one_hot("A", categories=["A"]).shape == (1,)
    assert one_hot([np.array([7, 8]), np.array([8, 8])], categories=[7, 8]).shape == (2, 2, 2)
    assert one_hot([np.array([7, 8]), ["a", "b"]], categories=[7, 8, "a", "b"]).shape == (2, 2, 4)
    with pytest.raises(ValueError, match="rows of one shape"):
        one_hot([[1, 2], [3]], categories=[1, 2, 3])
    with pytest.raises(TypeError, match="set"):
        one_hot({1, 2}, categories=[1, 2])


REJECTED = {
    "text": ("ACGT", TypeError, r"list\('ACGT'\)"),
    "bytes": (b"ACGT", TypeError, "for each byte"),
    "auto": ("auto", TypeError, "distinct_classes"),
    "a set": ({1, 2}, TypeError, "sorted"),
    "a dict": ({1: 2}, TypeError, "list"),
    "a number": (3, TypeError, "sequence"),
    "a repeated number": (
        [1, 2, 1.0],
        ValueError,
        r"categories\[2\].*categories\[0\].*distinct_classes",
    ),
    "tuples of text": ([("a", "b")], TypeError, r"categories\[0\]"),
    "a tuple beside a scalar": ([(1, 2), 3], TypeError, r"categories\[1\].*only scalars"),
    "a scalar beside a list": ([1, [2]], TypeError, r"categories\[0\].*only scalars"),
    "an unhashable item": ([{1: 2}], TypeError, "hashable"),
    "a matrix of text": (np.array([["a", "b"]]), TypeError, "channels of colors"),
    "three dimensions": (np.zeros((1, 2, 3)), ValueError, r"reshape\(-1, 3\)"),
    "rows of rows": ([[[1, 2], [3, 4]]], ValueError, r"numpy\.concatenate\(categories\)"),
    "a masked color": (
        np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]),
        ValueError,
        "compress_rows",
    ),
    "rows of two lengths": ([(1, 2), (1, 2, 3)], ValueError, "one length"),
    "a repeated color": (
        [(1, 2), (1.0, 2)],
        ValueError,
        r"categories\[1\].*categories\[0\].*distinct_classes",
    ),
    "NaN in a color": ([(1, math.nan)], ValueError, "NaN"),
    "too many channels": (np.zeros((1, 17)), ValueError, "16"),
    "no channel": (np.zeros((2, 0)), ValueError, "16"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejects_categories(name):
    categories, error, message = REJECTED[name]
    with pytest.raises(error, match=message):
        one_hot(np.zeros((2, 2), int), categories=categories)
    with pytest.raises(error, match=message):
        decode(np.eye(2), categories=categories)


def test_rejects_options_of_a_depth():
    with pytest.raises(TypeError, match="depth and categories"):
        one_hot([1], 3, categories=[1])
    with pytest.raises(TypeError, match="depth and categories"):
        one_hot([1], None, categories=[1])
    for name in ("out_of_range", "negative_indices"):
        for value in ("ignore", "error"):
            with pytest.raises(TypeError, match=rf"{name}.*handle_unknown"):
                one_hot([1], categories=[1], **{name: value})
    with pytest.raises(TypeError, match="needs categories"):
        one_hot([1], 3, handle_unknown="error")
    with pytest.raises(ValueError, match="handle_unknown"):
        one_hot([1], categories=[1], handle_unknown="warn")
    with pytest.raises(TypeError, match="depth"):
        one_hot([1])


def test_all_other_options_are_those_of_a_depth():
    ids, codes = np.array([[7, 11], [8, 7]]), np.array([[0, 2], [1, 0]])
    for options in (
        {"on_value": "yes", "off_value": "no"},
        {"label_smoothing": 0.1, "axis": 0},
        {"dtype": object},
        {"on_value": 2, "dtype": ">i4"},
    ):
        oracle.assert_same(
            one_hot(ids, categories=[7, 8, 11], **options), one_hot(codes, 3, **options)
        )
    out = np.empty((2, 3, 2), np.int8, order="F")
    assert one_hot(ids, categories=[7, 8, 11], axis=1, out=out) is out
    assert (out == one_hot(codes, 3, axis=1, dtype="i1")).all()
    with pytest.raises(ValueError, match="overlaps"):
        one_hot(out[0, :2, 0], categories=[0, 1], out=out[0, :2])


@pytest.mark.parametrize(
    "options",
    [
        {"categories": [7, 7]},
        {"categories": "ab"},
        {"categories": [7, 8], "ignore_index": [(1, 2)]},
        {"categories": [7, 8], "dtype": "i8"},
        {"categories": [7, 8, 9]},
        {"categories": [7, 8], "axis": 3},
        {"categories": [7, 8], "label_smoothing": 2},
        {"categories": [7, 8], "handle_unknown": "warn"},
    ],
    ids=str,
)
def test_out_is_unchanged_after_an_error_of_an_argument(options):
    out = np.full((2, 2), 9, np.float32)
    with pytest.raises((TypeError, ValueError)):
        one_hot([7, 8], out=out, **options)
    assert (out == 9).all()


def test_names_unknown_elements_and_the_remedy():
    with pytest.raises(UnknownValueError) as caught:
        one_hot([[7, 9], [12, 9]], categories=[7, 8])
    for part in ("indices[0, 1]", "got 9", "12 at indices[1, 0]", "handle_unknown='ignore'"):
        assert part in str(caught.value)
    with pytest.raises(UnknownValueError, match=r"numpy\.array\(categories, 'float32'\)"):
        one_hot(np.float32([0.1, 0.5]), categories=[0.1, 0.5])
    with pytest.raises(UnknownValueError, match=r"numpy\.asarray\(indices, 'float32'\)"):
        one_hot([0.1, 0.5], categories=np.float32([0.1, 0.5]))
    with pytest.raises(UnknownValueError, match="text; categories are integers"):
        one_hot(["7"], categories=[7])
    assert issubclass(UnknownValueError, ValueError)


def test_decode_with_a_default():
    planes = np.array([[0, 1, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match="no element"):
        decode(planes, categories=[7, 8, 11])
    with pytest.raises(ValueError, match="no element"):
        decode(planes, categories=[7, 8, 11], default="error")
    small = np.array([7, 8, 11], np.uint8)
    oracle.assert_same(decode(planes, categories=small, default=255), np.array([8, 255], "u1"))
    for default in (256, -1, 0.5, "a"):
        with pytest.raises((ValueError, TypeError), match="default"):
            decode(planes, categories=small, default=default)
    with pytest.raises(ValueError, match="default"):
        decode(planes, categories=np.float32([1, 2, 3]), default=0.1)
    assert decode(planes, categories=["a", "b", "c"], default=None).tolist() == ["b", None]
    texts = np.array(["a", "b", "c"])
    oracle.assert_same(decode(planes, categories=texts, default="-"), np.array(["b", "-"]))
    with pytest.raises(ValueError, match="default"):
        decode(planes, categories=texts, default="long")
    with pytest.raises(ValueError, match="3 positions on axis 1"):
        decode(planes.T, categories=texts)


DAY = np.datetime64("2020-01-01")
DTYPES_OF_LISTS = [
    ([7, 8], "i8"),
    ([-(2**63), 2**63 - 1], "i8"),
    ([0, 2**63], "O"),
    ([True, False], "?"),
    ([0.5, 1.0], "f8"),
    ([1, 0.5], "O"),
    ([1, True + 1], "i8"),
    ([0, True], "O"),
    ([1j, 2j], "c16"),
    (["a", "b"], "O"),
    ([b"a", b"b"], "O"),
    ([1, "a"], "O"),
    ([1, None], "O"),
    ([0.5, math.nan], "f8"),
    ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "O"),
    ([Decimal(1), Decimal(2)], "O"),
    ([DAY, DAY + np.timedelta64(1, "D")], "M8[D]"),
    ([DAY, np.datetime64("2020-01-02", "s")], "M8[s]"),
    ([np.timedelta64(1, "s"), np.timedelta64(2, "s")], "m8[s]"),
    ([np.float32(1), np.float32(2)], "f4"),
    ([np.int8(1), np.int8(2)], "i8"),
    ([np.float32(1), np.float64(2)], "O"),
    (range(2), "i8"),
    ([(1, 2), (3, 4)], "i8"),
    ([(0, 2**63), (3, 4)], "u8"),
    ([(1, 0.5), (3, 4)], "f8"),
    ([(True, False), (False, False)], "?"),
]


@pytest.mark.parametrize(("categories", "dtype"), DTYPES_OF_LISTS, ids=str)
def test_decode_gives_lists_a_dtype(categories, dtype):
    """Elements of one type have its dtype, and elements of other lists are objects, unchanged."""
    expected = np.empty(len(categories), object)
    expected[:] = categories
    if isinstance(categories[0], tuple) or dtype != "O":
        expected = np.array(list(categories), dtype)
    found = decode(np.eye(2), categories=categories)
    oracle.assert_same(found, expected)
    oracle.assert_same(decode(np.eye(2)[::-1], 0, categories=categories), expected[::-1])


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool"])
def test_decode_keeps_the_dtype_of_columns(dtype):
    """Numbers of a column come back in its dtype, like those of an array."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    expected = np.array([1, 0], dtype)
    for categories in (pandas.Series(expected), polars.Series(expected), pyarrow.array(expected)):
        oracle.assert_same(decode(np.eye(2), categories=categories), expected)


def test_decode_names_the_largest_score():
    scores = [[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]]
    names = np.array(["cat", "dog", "fox"])
    oracle.assert_same(
        decode(scores, categories=names, rule="argmax"), np.array(["dog", "cat"], "U3")
    )
    with pytest.raises(TypeError, match="argmax"):
        decode(scores, categories=names, rule="argmax", default="cat")


# ---- Colours ----

NUMBER_DTYPES = tuple(dtype for dtype in DTYPES if dtype.kind in "biuf" and dtype.itemsize <= 8)


@st.composite
def images(draw):
    """Draw an image, a palette in any form and colours to leave out."""
    dtype = draw(st.sampled_from(NUMBER_DTYPES))
    n_channels = draw(st.integers(1, 16))
    pool = pool_of(dtype)
    few = pool[draw(st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=3))]
    shape = draw(st.lists(st.integers(0, 9), max_size=3).map(tuple))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    image = rng.choice(few, (*shape, n_channels))
    if draw(st.booleans()) and image.size:  # few colours
        flat = image.reshape(-1, n_channels)
        image = flat[rng.integers(0, min(3, len(flat)), len(flat))].reshape(image.shape)
    colors = [tuple(map(plain, row)) for row in image.reshape(-1, n_channels)[:5].tolist()]
    colors = [color for color in colors if not any(number != number for number in color)]
    colors += [(draw(st.sampled_from([0, 1, 0.5, 300])),) * n_channels]
    colors = list(dict.fromkeys(colors))
    ignored = colors[:1] if draw(st.booleans()) else []
    image = strategies.LAYOUTS[draw(st.sampled_from(sorted(strategies.LAYOUTS)))](image)
    return image, draw(st.permutations(colors)), ignored


def have_one_dtype(colors):
    """Tell whether int64, uint64 or float64 can hold all numbers of colours that an image has."""
    numbers = [number for color in colors for number in color]
    has_floats = any(isinstance(number, float) for number in numbers)
    return not has_floats or all(float(number) == number for number in numbers)


# An integer that float64 rounds, beside a fraction.
@example(call=(np.array([-(2**63) + 1]), [(-(2**63) + 1,), (0.5,)], []), axis=0)
@given(call=images(), axis=st.integers(-4, 3))
def test_colors_equal_the_loop(call, axis):
    image, palette, ignored = call
    if not have_one_dtype(palette):
        with pytest.raises(ValueError, match=r"categories must fit float64.*leave out"):
            one_hot(image, categories=palette, handle_unknown="ignore")
        return
    shape = image.shape[:-1]
    axis = max(-len(shape) - 1, min(axis, len(shape)))
    classes = []
    for pixel in image.reshape(-1, image.shape[-1]).tolist():
        color = tuple(pixel)
        classes.append(-1 if color in ignored else palette.index(color) if color in palette else -2)
    expected = np.array(classes, np.int64)
    options = {"axis": axis, "dtype": "u1"} | ({"ignore_index": ignored} if ignored else {})
    actual = one_hot(image, categories=palette, handle_unknown="ignore", **options)
    on, off = np.array(1, "u1"), np.array(0, "u1")
    oracle.assert_same(actual, oracle.one_hot(expected.reshape(shape), len(palette), on, off, axis))
    if (expected == -2).any():
        with pytest.raises(UnknownValueError):
            one_hot(image, categories=palette, **options)
    elif not ignored and image.size:
        back = decode(actual, axis, categories=palette)
        assert back.shape == image.shape
        assert (back == image).all()


PALETTE = [(0, 0, 0), (255, 0, 0), (0, 255, 0)]


@pytest.mark.parametrize("dtype", NUMBER_DTYPES)
@pytest.mark.parametrize("form", [list, np.array, lambda colors: tuple(map(list, colors))])
def test_palettes_of_every_form_and_dtype(dtype, form):
    """A palette is compared by value: colours beyond the dtype of the image never occur."""
    possible = [c for c in PALETTE if np.array(c).astype(dtype).tolist() == list(c)]
    image = np.array(possible).astype(dtype).reshape(1, -1, 3)
    found = one_hot(image, categories=form(PALETTE), axis=0)
    assert found.shape == (3, *image.shape[:2])
    assert decode(found, 0, categories=form(PALETTE)).tolist() == image.tolist()


@pytest.mark.parametrize(
    "palette",
    [
        [(2**53 + 1,), (0.5,)], [(np.int64(2**53 + 1),), (0.5,)],
        [(np.uint64(2**64 - 1),), (np.float32(0.5),)], [(10**400,), (0.5,)],
        [(2**63,), (-1,)], [(2**64,), (0,)],
    ],
    ids=str,
)  # fmt: skip
def test_palettes_without_a_dtype_that_holds_all_numbers_are_rejected(palette):
    """No palette rounds an integer because a fraction stands beside it."""
    with pytest.raises(ValueError, match=r"categories.*must fit"):
        one_hot(np.zeros((2, 1)), categories=palette)


def test_palettes_of_several_types_that_float64_holds():
    palette = [(2**53, True), (np.float32(0.5), np.int8(-1)), (np.inf, np.uint64(2**63))]
    image = np.array([[0.5, -1], [np.inf, 2.0**63], [2.0**53, 1]])
    assert one_hot(image, categories=palette).argmax(1).tolist() == [1, 2, 0]


@pytest.mark.parametrize("channel", [1j, Decimal(1), Fraction(1, 2), "a", None], ids=repr)
def test_channels_that_are_no_integers_or_floats_are_rejected(channel):
    with pytest.raises(TypeError, match=r"categories\[1\] must be a color.*integers, floats"):
        one_hot(np.zeros((2, 1)), categories=[(0,), (channel,)])


def test_colors_to_leave_out():
    image = np.array([[[0, 0, 0], [9, 9, 9]], [[255, 0, 0], [8, 8, 8]]], np.uint8)
    for ignored in ([(9, 9, 9), (8, 8, 8)], np.array([[8, 8, 8], [9, 9, 9]])):
        found = one_hot(image, categories=PALETTE, ignore_index=ignored, dtype="u1")
        assert found.sum(-1).tolist() == [[1, 0], [1, 0]]
    with pytest.raises(UnknownValueError, match=r"indices\[1, 1\].*\(8, 8, 8\)"):
        one_hot(image, categories=PALETTE, ignore_index=(9, 9, 9))
    with pytest.raises(ValueError, match="3 numbers"):
        one_hot(image, categories=PALETTE, ignore_index=(9, 9))
    with pytest.raises(TypeError, match="ignore_index"):
        one_hot(image, categories=PALETTE, ignore_index=255)
    for color in ([(9, 9, 9)], [[9, 9, 9]]):  # a color never equals a scalar
        with pytest.raises(TypeError, match=r"ignore_index.*as colors"):
            one_hot([7], categories=[7], ignore_index=color)


def test_names_the_channels():
    with pytest.raises(ValueError, match=r"indices\[\.\.\., :3\]"):
        one_hot(np.zeros((2, 2, 4), "u1"), categories=PALETTE)
    with pytest.raises(ValueError, match=r"moveaxis\(indices, 0, -1\)"):
        one_hot(np.zeros((3, 2, 2), "u1"), categories=PALETTE)
    with pytest.raises(ValueError, match=r"moveaxis\(indices, 1, -1\).*indices\[\.\.\., :3\]"):
        one_hot(np.zeros((2, 3, 4, 4), "u1"), categories=PALETTE)
    with pytest.raises(ValueError, match=r"numpy\.ravel\(categories\)"):
        one_hot([7, 8], categories=[[7], [8]])
    with pytest.raises(TypeError, match="numbers"):
        one_hot([["a", "b", "c"]], categories=PALETTE)
    with pytest.raises(UnknownValueError, match="'uint8'"):
        one_hot(np.full((1, 3), 1, "u1"), categories=[(0.5, 0, 0)])
    planes = np.zeros((2, 3, 4, 5), np.uint8)
    assert one_hot(np.moveaxis(planes, 1, -1), categories=PALETTE).shape == (2, 4, 5, 3)


def test_decode_colors():
    planes = np.array([[0, 1, 0], [0, 0, 0]])
    small = np.array(PALETTE, np.uint8)
    oracle.assert_same(
        decode(planes, categories=small, default=(9, 9, 9)),
        np.array([[255, 0, 0], [9, 9, 9]], np.uint8),
    )
    for default in ((256, 0, 0), (0, 0), 0, [(1, 1, 1), (2, 2, 2)], "a"):
        with pytest.raises((ValueError, TypeError), match="default"):
            decode(planes, categories=small, default=default)


# ---- The classes of an array ----


@given(call=calls())
def test_distinct_classes_are_sorted_and_complete(call):
    array = call[0]
    found = distinct_classes(array)
    elements = [element for element in array.reshape(-1) if not is_missing(element)]
    assert {*map(identity, found)} == {*map(identity, elements)}
    assert len(found) == len({*map(identity, found)})
    assert found.dtype == array.dtype.newbyteorder("=")
    if found.dtype.kind not in "c":
        assert (np.sort(found) == found).all()


@given(call=images())
def test_distinct_colors_are_sorted_and_complete(call):
    image = call[0]
    found = distinct_classes(image, palette=True)
    pixels = [tuple(pixel) for pixel in image.reshape(-1, image.shape[-1]).tolist()]
    pixels = [pixel for pixel in pixels if not any(number != number for number in pixel)]
    assert [*map(tuple, found.tolist())] == sorted(set(pixels))
    assert found.dtype == image.dtype.newbyteorder("=")


def test_distinct_classes_of_lists_and_of_no_image():
    assert distinct_classes([["b", "a"], [None, "a"]]).tolist() == ["a", "b"]
    assert distinct_classes([1, "a", 0.5]).tolist() == [0.5, 1, "a"]
    with pytest.raises(TypeError, match="channels"):
        distinct_classes(["a"], palette=True)
    with pytest.raises(ValueError, match="palette=True"):
        distinct_classes(np.zeros((2, 0)), palette=True)


# ---- Containers of other libraries ----


def containers():
    """Return functions that make an array of a library from a list."""
    yield "pandas", "Series", lambda module, values: module.Series(values)
    yield "pandas", "Categorical", lambda module, values: module.Series(values, dtype="category")
    yield "pandas", "Index", lambda module, values: module.Index(values)
    yield "polars", "Series", lambda module, values: module.Series(values)
    yield "pyarrow", "array", lambda module, values: module.array(values)
    yield "pyarrow", "dictionary", lambda module, values: module.array(values).dictionary_encode()
    yield (
        "pyarrow",
        "chunked",
        lambda module, values: module.chunked_array([values, values])[: len(values)],
    )


CONTAINERS = [*containers()]
LISTS = {
    "integers": ([7, 11, 8, 7], [7, 8, 11]),
    "far integers": ([2**40, 7, 7], [7, 2**40]),
    "floats": ([0.5, 7.0, 0.5], [7, 0.5]),
    "text": (["b", "a", "b"], ["a", "b"]),
    "with missing text": (["b", None, "b"], ["b", None]),
    "Booleans": ([True, False, True], [False, 1]),
    "datetimes": (
        [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)],
        [datetime.datetime(2021, 1, 1), datetime.datetime(2020, 1, 1)],
    ),
}


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda each: f"{each[0]}-{each[1]}")
@pytest.mark.parametrize("name", LISTS)
def test_columns_of_libraries(container, name):
    """A column of a library, as x and as categories, means the same as a list."""
    module = pytest.importorskip(container[0])
    values, categories = LISTS[name]
    expected = one_hot(values, categories=categories)
    column = container[2](module, values)
    oracle.assert_same(one_hot(column, categories=categories), expected)
    if name not in ("floats", "Booleans"):
        oracle.assert_same(one_hot(column, categories=container[2](module, categories)), expected)


def test_tensors_and_buffers():
    torch = pytest.importorskip("torch")
    ids = torch.tensor([[7, 11], [8, 7]])
    expected = one_hot([[7, 11], [8, 7]], categories=[7, 8, 11])
    oracle.assert_same(one_hot(ids, categories=torch.tensor([7, 8, 11])), expected)
    oracle.assert_same(one_hot(ids.t(), categories=[7, 8, 11], axis=1), expected.transpose(1, 2, 0))
    image = torch.zeros((2, 3, 4, 5), dtype=torch.uint8).movedim(1, -1)
    assert one_hot(image, categories=torch.tensor(PALETTE)).shape == (2, 4, 5, 3)
    letters = one_hot(memoryview(b"GATTACA"), categories=list(b"ACGT"))
    assert letters.argmax(-1).tolist() == [2, 0, 3, 3, 0, 1, 0]


def test_strings_of_every_dtype():
    values, categories = ["b", "", "äß", "b" * 40], ["äß", "b", "", "b" * 40]
    for dtype in ("U", "O", np.dtypes.StringDType(), np.dtypes.StringDType(na_object=None)):
        array = np.array(values, dtype).reshape(2, 2)
        for given_as in (categories, np.array(categories, dtype)):
            found = one_hot(array, categories=given_as)
            assert found.argmax(-1).tolist() == [[1, 2], [0, 3]]
            back = decode(found, categories=given_as)
            assert back.tolist() == array.tolist()
            assert not isinstance(given_as, np.ndarray) or back.dtype == given_as.dtype


def test_the_module_is_public():
    assert onehot_fast.distinct_classes is distinct_classes


# ---- Shapes ----


def test_infer_shape_of_categories():
    assert infer_shape((2, None), categories=[7, 8, 11], axis=1) == (2, 3, None)
    for channels in (3, None, -1, "c"):
        assert infer_shape(("n", 4, 5, channels), categories=PALETTE, axis=1) == ("n", 3, 4, 5)
    assert infer_shape(None, categories=PALETTE) is None
    with pytest.raises(ValueError, match="channels"):
        infer_shape((4, 5, 4), categories=PALETTE)
    for arguments in ({}, {"depth": 3, "categories": [1]}):
        with pytest.raises(TypeError, match="either depth or categories"):
            infer_shape((2,), **arguments)


@pytest.mark.parametrize("dtype", NUMBER_DTYPES)
@pytest.mark.parametrize("n_channels", [2, 5, 16])
def test_masked_pixels_are_missing(dtype, n_channels):
    """A pixel with a masked channel is missing, whatever the data under the mask are."""
    palette = np.array([[1] * n_channels, [0] * n_channels]).astype(dtype)
    image = np.ma.array(palette[[0, 0, 1, 1]])
    assert one_hot(image, categories=palette).argmax(-1).tolist() == [0, 0, 1, 1]
    image[1, 1] = np.ma.masked
    image[3, -1] = np.ma.masked
    for ignored in ([None], None):
        found = one_hot(image, categories=palette, ignore_index=ignored, handle_unknown="ignore")
        assert found.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]
    found = one_hot(image, categories=palette, ignore_index=[palette[0], np.ma.masked])
    assert found.tolist() == [[0, 0], [0, 0], [0, 1], [0, 0]]
    with pytest.raises(UnknownValueError, match=r"indices\[1\].*None.*ignore_index=\[None\]"):
        one_hot(image, categories=palette)
    assert distinct_classes(image[:2], palette=True).tolist() == palette[:1].tolist()
    assert distinct_classes(image[1:2], palette=True).shape == (0, n_channels)


def test_pixels_with_nan_are_missing():
    image = np.array([[0, 0], [0, math.nan], [9, 9]])
    found = one_hot(image, categories=[(0, 0)], ignore_index=[None, (9, 9)])
    assert found.tolist() == [[1], [0], [0]]
    for ignored in (math.nan, [math.nan], (math.nan, math.nan)):
        found = one_hot(image[:2], categories=[(0, 0)], ignore_index=ignored)
        assert found.tolist() == [[1], [0]]
    with pytest.raises(UnknownValueError, match=r"indices\[1\].*missing"):
        one_hot(image, categories=[(0, 0)], ignore_index=[(9, 9)])
    with pytest.raises(ValueError, match=r"ignore_index.*pass None"):
        one_hot(image, categories=[(0, 0)], ignore_index=[(0, math.nan)])


def test_numbers_in_objects_are_colors():
    """Lists of integers beside floats, and arrays of dtype object, are numbers."""
    for image in ([[0, 0.5], [1, 0]], np.array([[0, 0.5], [1, 0]], object)):
        found = one_hot(image, categories=[(1, 0), (0, 0.5)])
        assert found.tolist() == [[0, 1], [1, 0]]
        assert one_hot([(1, 0)], categories=np.array(image, object)).tolist() == [[0, 1]]
        with pytest.raises(UnknownValueError, match=r"indices\[0\].*got \(0, 0.5\)"):
            one_hot(image, categories=[(1, 0)])
        assert distinct_classes(image, palette=True).tolist() == [[0, 0.5], [1, 0]]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30, -1e30, 2.0**63])
@pytest.mark.parametrize("categories", [[1, 2], [-(2**63), 1], [0.5, 1]], ids=str)
def test_floats_without_an_integer_are_unknown(value, categories):
    """Such a float is unknown; no cast warns, and the error does not advise to round."""
    with pytest.raises(UnknownValueError) as caught:
        one_hot(np.array([1, value]), categories=categories)
    assert "rounding" not in str(caught.value)


HASHED = """
import resource
import numpy as np
from onehot_fast import one_hot

n = 4_000_000
pool = np.random.default_rng(3).integers(-(2**62), 2**62, 100)
elements = pool[np.arange(n) % 100]
colors = np.random.default_rng(3).integers(0, 256, ({n_colors}, 3), np.uint8)
image = colors[np.arange(n) % {n_colors}]
elements, classes = {which}
one_hot(elements[:10_000], categories=classes, dtype="uint8", num_threads=1)  # load the code
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = one_hot(elements, categories=classes, dtype="uint8", num_threads=1)
assert result[:, 1].sum() == n // len(classes)
extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before - result.nbytes // 1024
print(extra * 1024 // n)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss")
@pytest.mark.parametrize(
    ("which", "n_colors", "limit"),
    [
        pytest.param("(elements, pool)", 1, 5, id="ids"),
        pytest.param("(image, colors)", 200, 5, id="many colors"),
        pytest.param("(image, colors)", 20, 1, id="few colors"),
    ],
)
def test_a_hashed_element_takes_four_bytes_beside_the_result(which, n_colors, limit):
    """Few colors are read where they are; the codes of other elements have four bytes each."""
    extra = int(run(HASHED.format(which=which, n_colors=n_colors)))
    assert extra < limit
