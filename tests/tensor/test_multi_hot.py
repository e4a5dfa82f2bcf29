"""Multi-hot: rows of any number of classes, against loops over Python lists."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Column, UnknownValueError, distinct_labels, multi_hot
from onehot_fast._categories.lists import Rows
from support import strategies

LABELS = ["a", "b", "ä", "a b", "", "long enough to leave every small buffer"]
DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")


def oracle(rows, classes, mode):
    counts = [[(row or []).count(one) for one in classes] for row in rows]
    return [[min(n, 1) if mode == "set" else n for n in row] for row in counts]


def dense(encoded, shape):
    """Return a matrix as an array; a sparse one has sorted positions without duplicates."""
    assert encoded.shape == shape
    if isinstance(encoded, np.ndarray):
        return encoded
    for start, stop in pairwise(encoded.indptr):
        assert (np.diff(encoded.indices[start:stop]) > 0).all()
    return encoded.toarray()


every_mode = pytest.mark.parametrize("mode", ["set", "count"])
every_output = pytest.mark.parametrize("output", ["numpy", "csr", "csr_matrix", "csc"])


@every_mode
@every_output
@given(
    rows=st.lists(st.none() | st.lists(st.integers(-2, 8), max_size=6), max_size=20),
    depth=st.integers(0, 7),
    dtype=st.sampled_from(DTYPES),
)
def test_lists_of_classes(rows, depth, mode, output, dtype):
    """Negative and too large integers are skipped; None is an empty row."""
    encoded = multi_hot(rows, depth, mode=mode, output=output, dtype=dtype)

    assert encoded.dtype == dtype
    wanted = np.array(oracle(rows, range(depth), mode)).reshape(len(rows), depth)
    np.testing.assert_array_equal(dense(encoded, wanted.shape), wanted)


@every_mode
@every_output
@given(
    rows=st.lists(st.lists(st.sampled_from([*LABELS, None, 1, 2.5]), max_size=6), max_size=20),
    categories=st.lists(st.sampled_from([*LABELS, 1, 2.5]), unique=True, max_size=5),
)
def test_lists_of_labels(rows, categories, mode, output):
    """Labels are looked up among the categories; others are skipped."""
    encoded = multi_hot(rows, categories=categories, mode=mode, output=output)

    wanted = np.array(oracle(rows, categories, mode)).reshape(len(rows), len(categories))
    np.testing.assert_array_equal(dense(encoded, wanted.shape), wanted)
    assert encoded.dtype == np.float32


@every_mode
@given(
    rows=st.lists(st.none() | st.lists(st.sampled_from(LABELS), max_size=5), max_size=20),
    sep=st.sampled_from(["|", ", ", "--"]),
)
def test_separated_texts(rows, sep, mode):
    """Texts are split at the separator; empty labels are skipped."""
    texts = [None if row is None else sep.join(row) for row in rows]
    labels = sorted({label for row in rows for label in row or [] if label})

    assert distinct_labels(texts, sep=sep).tolist() == labels
    encoded = multi_hot(texts, categories=labels, sep=sep, mode=mode)
    wanted = np.array(oracle(rows, labels, mode)).reshape(len(rows), len(labels))
    np.testing.assert_array_equal(encoded, wanted)


@every_mode
@every_output
@given(
    kind=st.sampled_from(strategies.INTEGERS),
    depth=st.integers(0, 80),
    dtype=st.sampled_from(DTYPES),
    lengths=st.lists(st.sampled_from([0, 1, 2, 5, 31, 33, 300, 1100]), max_size=9),
    before=st.integers(0, 2),
    options=st.fixed_dictionaries({}, optional={"num_threads": st.just(2)}),
    seed=st.integers(0, 2**32),
)
def test_flat_codes_with_offsets(mode, output, kind, depth, dtype, lengths, before, options, seed):
    """The elements before the first and after the last offset are in no row, as in a slice.

    Counts are modulo the range of an integer dtype.
    """
    offsets = before + np.cumsum([0, *lengths])
    codes = strategies.index_values(kind, depth, offsets[-1] + 2, seed)
    rows = [codes[start:stop].tolist() for start, stop in pairwise(offsets)]

    options |= {"mode": mode, "output": output, "dtype": dtype}
    encoded = multi_hot(codes, depth, offsets=offsets, **options)

    wanted = np.array(oracle(rows, range(depth), mode), np.int64).reshape(len(rows), depth)
    wanted = wanted.astype(dtype)
    np.testing.assert_array_equal(dense(encoded, wanted.shape), wanted)


@every_output
def test_flat_column(output):
    """Labels that are coded already keep their codes, or are looked up among other categories."""
    column = Column(np.array([1, 0, -1, 1], np.int8), np.array(["x", "y"]))
    own = multi_hot(column, offsets=[0, 1, 4], output=output)
    other = multi_hot(column, offsets=[0, 1, 4], categories=["y", "z"], output=output)

    assert dense(own, (2, 2)).tolist() == [[0, 1], [1, 1]]
    assert dense(other, (2, 2)).tolist() == [[1, 0], [1, 0]]


def test_codes_that_are_no_classes():
    """The codes of a Column are classes, but not those that a hash table gives to labels."""
    flat = Rows.read(Column(np.array([1, 0], np.int8), np.array(["x", "y"])), [0, 2])
    split = Rows.read(["y|x", "x"], sep="|")
    taken = split.take(np.array([1, -1]))

    assert isinstance(split.elements, Column)
    assert [each.codes_are_classes for each in (flat, split, taken)] == [True, False, False]
    assert taken.offsets.tolist() == [0, 1, 1]
    assert taken.elements.tolist() == ["x"]
    with pytest.raises(TypeError, match=r"rows must contain integers.*pass categories="):
        multi_hot(["y|x"], 2, sep="|")


@pytest.mark.parametrize("dtype", [bool, np.complex64, ">i4"])
def test_rows_of_many_kinds(dtype):
    """A row is any iterable but a text; a matrix is filled up with negative classes."""
    rows = [(1,), {0}, range(2), np.array([2**64 - 1, 2], "u8"), (k for k in [1, 2]), np.nan]
    matrix = np.array([[0, 2, -1], [1, 1, 1]], np.int16)

    encoded = multi_hot(rows, 3, dtype=dtype)
    assert encoded.dtype == dtype
    assert encoded.tolist() == [
        [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0],
    ]  # fmt: skip
    assert multi_hot(matrix, out_of_range="error").tolist() == [[1, 0, 1], [0, 1, 0]]
    assert multi_hot(matrix[::-1, ::-1], 4).tolist() == [[0, 1, 0, 0], [1, 0, 1, 0]]
    assert multi_hot(np.zeros((2, 0), int), 3).shape == (2, 3)
    labels = multi_hot([["a", None]], categories=["a"], out_of_range="error")
    assert labels.tolist() == [[1]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rows": [[0, 1], [2, 5]], "depth": 3, "out_of_range": "error"}, ValueError,
         r"rows\[1\]\[1\] must be in \[0, 3\), got 5"),
        ({"rows": [["a"], ["b", "z"]], "categories": ["a", "b"], "out_of_range": "error"},
         UnknownValueError, r"rows\[1\]\[1\] .* got 'z'; pass out_of_range='ignore'"),
        ({"rows": [["a"], ["b", "z"]], "categories": ["a", "b"], "handle_unknown": "error"},
         UnknownValueError, r"rows\[1\]\[1\] .* got 'z'; pass handle_unknown='ignore'"),
        ({"rows": np.array([9, 7]), "offsets": [1, 2], "depth": 3, "out_of_range": "error"},
         ValueError, r"rows\[0\]\[0\] must be .*, got 7"),
        ({"rows": [["a"]]}, TypeError, "rows must contain integers.*pass categories="),
        ({"rows": np.zeros((1, 1))}, TypeError, "elements of dtype float64"),
        ({"rows": ["a|b"]}, TypeError, "or a str if you pass sep=.* got a str"),
        ({"rows": [3]}, TypeError, r"rows\[0\] must be a sequence .* got an int: 3"),
        ({"rows": "ab"}, TypeError, "rows must be .* got a str"),
        ({"rows": 3}, TypeError, "rows must be .* got an int"),
        ({"rows": ["a", 1], "sep": "|", "categories": []}, TypeError, "with sep= .* got an int: 1"),
        ({"rows": ["a"], "sep": "", "categories": []}, ValueError, "sep must not be empty"),
        ({"rows": ["a"], "sep": 1, "categories": []}, TypeError, "sep must be a str, got 1"),
        ({"rows": [[0]], "depth": 1, "categories": [0]}, ValueError, "cannot be combined"),
        ({"rows": [["a"]], "categories": "auto"}, ValueError, "pass distinct_labels"),
        ({"rows": [[{}]], "categories": [1]}, TypeError, "row 0 must be hashable, got a dict"),
        ({"rows": [[]]}, ValueError, "depth=None needs an index"),
        ({"rows": [[0, 2**70]], "depth": 1}, ValueError, "labels must fit into int64, or"),
        ({"rows": [[0]], "depth": -1}, ValueError, "depth must be in \\[0, 2\\*\\*63\\), got -1"),
        ({"rows": [[0]], "depth": 2**31}, ValueError, "depth must be at most 2147483646"),
        ({"rows": [[0]], "mode": "sum"}, ValueError, "mode must be one of .*, got 'sum'"),
        ({"rows": [[0]], "output": "coo"}, ValueError, "output must be one of .*, got 'coo'"),
        ({"rows": [[0]], "out_of_range": "wrap"}, ValueError, "out_of_range .* got 'wrap'"),
        ({"rows": [[0]], "dtype": object}, TypeError, "must be a Boolean, integer, float"),
        ({"rows": [[0]], "dtype": "M8[s]"}, TypeError, "must be a Boolean, integer, float"),
        ({"rows": [[0]], "mode": "count", "dtype": bool}, TypeError, "for mode='count', got bool"),
        ({"rows": [[0]], "mode": "count", "dtype": "f2"}, TypeError, "got float16"),
        ({"rows": np.array([0]), "offsets": [0, 2], "depth": 1}, ValueError, r"in \[0, 1\]"),
        ({"rows": np.array([0]), "offsets": [-1, 1], "depth": 1}, ValueError, r"in \[0, 1\]"),
        ({"rows": np.array([0]), "offsets": [1, 0], "depth": 1}, ValueError, "the previous offset"),
        ({"rows": np.array([0]), "offsets": [0.0, 1.0]}, ValueError, "got dtype float64"),
        ({"rows": np.array([0]), "offsets": []}, ValueError, "n_rows . 1 integers"),
        ({"rows": [[0]], "num_threads": 0}, ValueError, "num_threads must be at least 1"),
    ],
)  # fmt: skip
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=message):
        multi_hot(**arguments)


@pytest.mark.parametrize("output", ["numpy", "csr"])
def test_sizes_are_checked_with_all_that_is_allocated(monkeypatch, output):
    """Positions and counts of a sparse result count, and codes outside the offsets do not."""
    n = 5_000_000
    codes = np.zeros(n, np.int8)
    monkeypatch.setattr("onehot_fast._runtime.system.available_memory", lambda: 17 * n)

    assert multi_hot(codes, 2, offsets=np.zeros(9, int), output="csr").nnz == 0
    with pytest.raises(MemoryError, match=r"the result needs [\d.]+ [MG]iB"):
        multi_hot(codes, 5, offsets=np.arange(n + 1), output=output)


@every_mode
def test_the_memory_of_a_sparse_result_follows_its_ons(mode):
    """Hashed features have any depth."""
    depth = 2**31 - 2
    multi_hot([[1]], 2, output="csr")  # which imports SciPy
    tracemalloc.start()
    try:
        encoded = multi_hot([[1, depth - 1, 1, depth, -1], []], depth, mode=mode, output="csr")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 100_000
    assert encoded.shape == (2, depth)
    assert encoded.indices.tolist() == [1, depth - 1]
    assert encoded.data.tolist() == ([1, 1] if mode == "set" else [2, 1])


def test_distinct_labels():
    """Labels are sorted, missing ones and those outside the offsets left out."""
    assert distinct_labels([["x", None], [3, 2.5], None]).tolist() == [2.5, 3, "x"]
    assert distinct_labels(np.array([7, 5, 5, 1]), offsets=[1, 3]).tolist() == [5]
    assert distinct_labels([]).tolist() == []


# ---- Elements to skip, offsets of embedding bags, weights ----


@every_mode
@every_output
@given(
    rows=st.lists(st.lists(st.integers(-2, 8), max_size=6), max_size=20),
    ignored=st.sets(st.integers(-1, 9), max_size=3),
    dtype=st.sampled_from([*DTYPES[:8], object]),
    labelled=st.booleans(),
)
def test_ignored_elements_are_skipped(rows, ignored, dtype, mode, output, labelled):
    """Elements to ignore never count and never raise; their columns stay."""
    rows = [[max(each, 0) if str(dtype)[0] == "u" else each for each in row] for row in rows]
    flat = np.array([each for row in rows for each in row], dtype)
    offsets = np.cumsum([0, *map(len, rows)])
    options = {"categories": range(7)} if labelled else {"depth": 7}
    encoded = multi_hot(
        flat, offsets=offsets, mode=mode, output=output, ignore_index=ignored, **options
    )
    kept = [[each for each in row if each not in ignored] for row in rows]
    wanted = np.array(oracle(kept, range(7), mode)).reshape(len(rows), 7)
    np.testing.assert_array_equal(dense(encoded, wanted.shape), wanted)
    too_large = multi_hot([[1, 99]], ignore_index=99, out_of_range="error", **options)
    assert too_large.sum() == 1


def test_ignored_labels():
    rows = [["a", "<pad>"], ["<pad>", "b"]]
    encoded = multi_hot(
        rows, categories=["a", "b"], ignore_index="<pad>", handle_unknown="error", dtype="u1"
    )
    assert encoded.tolist() == [[1, 0], [0, 1]]
    assert multi_hot([[0, 2], [1]], 3, ignore_index=[0, 1]).tolist() == [[0, 0, 1], [0, 0, 0]]
    with pytest.raises(TypeError, match="ignore_index"):
        multi_hot([[0]], 1, ignore_index="a")


def test_handle_unknown():
    assert multi_hot([["z"]], categories=["a"], handle_unknown="ignore").tolist() == [[0]]
    for options in ({"handle_unknown": "error"}, {"out_of_range": "error"}):
        with pytest.raises(ValueError, match=r"rows\[0\]\[1\].*'z'"):
            multi_hot([["a", "z", None]], categories=["a"], **options)
    with pytest.raises(TypeError, match="out_of_range"):
        multi_hot([[0]], 1, handle_unknown="error")
    with pytest.raises(TypeError, match="handle_unknown"):
        multi_hot([[0]], categories=[0], handle_unknown="ignore", out_of_range="error")
    with pytest.raises(ValueError, match="handle_unknown"):
        multi_hot([[0]], categories=[0], handle_unknown="warn")


@given(rows=st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=9))
def test_offsets_of_embedding_bags(rows):
    """The last row ends with the elements if the last offset is left out."""
    flat = np.array([each for row in rows for each in row], int)
    offsets = np.cumsum([0, *map(len, rows)])
    if not rows:  # elements without a row
        flat = flat[:0]
    bags = multi_hot(flat, 5, offsets=offsets[:-1], include_last_offset=False, mode="count")
    np.testing.assert_array_equal(bags, multi_hot(flat, 5, offsets=offsets, mode="count"))
    labels = distinct_labels(flat, offsets=offsets[:-1], include_last_offset=False)
    np.testing.assert_array_equal(labels, np.unique(flat))


@every_output
@given(
    rows=st.lists(st.lists(st.integers(-1, 6), max_size=6), max_size=9),
    dtype=st.sampled_from(["f4", "f8"]),
    data=st.data(),
)
def test_weights_are_added_up(output, rows, dtype, data):
    """An element is the sum of the weights of its class, in any order of the offsets."""
    flat = [each for row in rows for each in row]
    whole = st.integers(-8, 8).map(lambda number: number / 4)  # whose sums are exact
    weights = data.draw(st.lists(whole, min_size=len(flat), max_size=len(flat)))
    offsets = np.cumsum([0, *map(len, rows)])
    encoded = multi_hot(
        np.array(flat, int), 5, offsets=offsets, weights=weights, mode="count", dtype=dtype,
        output=output,
    )  # fmt: skip
    assert encoded.dtype == dtype
    wanted = np.zeros((len(rows), 5))
    for row, (start, stop) in enumerate(pairwise(offsets)):
        for label, weight in zip(flat[start:stop], weights[start:stop], strict=True):
            if 0 <= label < 5:
                wanted[row, label] += weight
    np.testing.assert_array_equal(dense(encoded, wanted.shape), wanted)


def test_weights_of_labels_and_of_parts():
    rows, weights = [["b", "a", "b"], ["z"]], [0.5, 2, 1, 7]
    encoded = multi_hot(rows, categories=["a", "b"], weights=weights, mode="count")
    assert encoded.tolist() == [[2, 1.5], [0, 0]]
    part = multi_hot(np.array([0, 1, 1, 0]), 2, offsets=[1, 3], weights=weights, mode="count")
    assert part.tolist() == [[0, 3]]
    with pytest.raises(ValueError, match="mode='count'"):
        multi_hot(rows, categories=["a"], weights=weights)
    with pytest.raises(TypeError, match="float32 or float64"):
        multi_hot(rows, categories=["a"], weights=weights, mode="count", dtype=int)
    for wrong in ([1, 2], [[1, 2, 3, 4]], ["a"] * 4):
        with pytest.raises(ValueError, match=r"weights must be .*\(4,\)"):
            multi_hot(rows, categories=["a"], weights=wrong, mode="count")
    for offsets in ([0, 5], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="offsets"):
            multi_hot(np.zeros(4, int), 2, offsets=offsets, weights=weights, mode="count")


@pytest.mark.parametrize("shape", [(2, 3), (1, 4), (3, 0), (0, 3)], ids=str)
def test_weights_of_a_matrix(shape):
    """Weights in the shape of a matrix mean the same as flat weights; other shapes are an error."""
    rows = np.arange(shape[0] * shape[1]).reshape(shape) % 5
    weights = np.arange(rows.size, dtype=float).reshape(shape)
    flat = multi_hot(rows, 5, weights=weights.reshape(-1), mode="count")
    for same in (rows, rows.tolist()):
        encoded = multi_hot(same, 5, weights=weights, mode="count")
        np.testing.assert_array_equal(encoded, flat[: len(same)], strict=True)
    for wrong in (weights.T, weights[None], np.zeros((*shape, 1))):
        if wrong.shape not in (shape, (rows.size,)):
            with pytest.raises(ValueError, match="one for each element") as caught:
                multi_hot(rows, 5, weights=wrong, mode="count")
            assert f"({rows.size},)" in str(caught.value)
            assert str(wrong.shape) in str(caught.value)


@given(
    rows=st.lists(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 9)), max_size=4)),
    as_rows=st.sampled_from([list, tuple, np.array]),
)
def test_weights_in_rows(rows, as_rows):
    """Weights in rows of any length equal the loop; rows of other lengths are an error."""
    expected = np.zeros((len(rows), 5), np.float32)
    for i, row in enumerate(rows):
        for label, weight in row:
            if 0 <= label < 5:
                expected[i, label] += weight
    labels = [[label for label, _ in row] for row in rows]
    weights = [as_rows([weight for _, weight in row]) for row in rows]
    encoded = multi_hot(labels, 5, weights=weights, mode="count")
    np.testing.assert_array_equal(encoded, expected)
    for wrong in ([*weights, as_rows([])], [*weights[:-1], as_rows([1] * 5)]):
        with pytest.raises(ValueError, match="one for each element"):
            multi_hot(labels, 5, weights=wrong, mode="count")


def test_weights_in_rows_need_one_for_each_element():
    """The total number is not enough: each row has its own weights."""
    with pytest.raises(ValueError, match="weights must be"):
        multi_hot([[0, 1], [2]], 3, weights=[[1], [2, 3]], mode="count")
    with pytest.raises(ValueError, match="weights must be"):
        multi_hot([[0, 1], [2]], 3, weights=[1, [2, 3]], mode="count")
    with pytest.raises(ValueError, match="weights must be"):  # the offsets skip an element
        multi_hot(np.arange(3), 3, offsets=[1, 3], weights=[[2, 3]], mode="count")


@pytest.mark.parametrize("dtype", ["i1", "u8", ">i4"])
def test_masked_elements_are_skipped(dtype):
    """A masked element is missing in a matrix, in a row, in flat elements and as a scalar."""
    matrix = np.ma.array([[0, 1], [2, 0]], mask=[[0, 1], [0, 0]], dtype=dtype)
    expected = [[1, 0, 0], [1, 0, 1]]
    scalars = [[0, np.ma.masked], [2, 0]]
    for rows in (matrix, matrix.T.copy().T, list(matrix), scalars):
        for options in ({"depth": 3}, {"categories": [0, 1, 2], "handle_unknown": "error"}):
            assert multi_hot(rows, **options).tolist() == expected
    assert multi_hot(matrix.reshape(-1), 3, offsets=[0, 2, 4]).tolist() == expected
    assert distinct_labels(matrix).tolist() == [0, 2]
    matrix.mask = False
    assert multi_hot(matrix, 3).tolist() == [[1, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("categories", "error", "remedy"),
    [
        ("ACGT", TypeError, r"list\('ACGT'\)"),
        ({1, 2}, TypeError, "sorted"),
        ({1: 2}, TypeError, "list"),
        ([1, 1], ValueError, "distinct_classes"),
        ([1, None], ValueError, "leave it out"),
        (np.ma.array([1, 2], mask=[0, 1]), ValueError, "leave it out"),
    ],
    ids=["text", "set", "dict", "twice", "missing", "masked"],
)
def test_rejects_categories(categories, error, remedy):
    with pytest.raises(error, match=remedy):
        multi_hot([[1]], categories=categories)
