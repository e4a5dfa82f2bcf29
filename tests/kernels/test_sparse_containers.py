"""SciPy's matrices of few rows are copies of an empty one: they equal those of the constructor."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import multi_hot
from onehot_fast._pipeline.write import MAX_COPIED_GROUPS, SCIPY_DTYPES, _empty_matrix, wrap_sparse
from onehot_fast._schema.formats import SPARSE_CLASSES

sparse = pytest.importorskip("scipy.sparse")

every_form = pytest.mark.parametrize("form", [*SPARSE_CLASSES])
dtypes = st.sampled_from([*SCIPY_DTYPES, ">i4", ">f8"])
positions = st.sampled_from([np.int32, np.int64])


@st.composite
def dense_matrices(draw):
    """Draw a matrix of zeros and ones, of 0 to 40 rows and columns: copied and constructed ones."""
    shape = draw(st.tuples(st.integers(0, 40), st.integers(0, 40)))
    share = draw(st.sampled_from((0, 0.02, 0.3, 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return (rng.random(shape) < share).astype(draw(dtypes))


def parts_of(form, dense, position=np.int32):
    """Return new arrays of the canonical ``(data, indices, indptr)``, made without SciPy."""
    by_groups = dense.T if form.startswith("csc") else dense
    groups, indices = np.nonzero(by_groups)
    lengths = np.bincount(groups, minlength=len(by_groups))
    indptr = np.append(0, np.cumsum(lengths)).astype(position)
    return by_groups[groups, indices], indices.astype(position), indptr


def constructed(form, parts, shape):
    """Return the matrix of SciPy's constructor, which finds out itself that it is canonical."""
    matrix = getattr(sparse, SPARSE_CLASSES[form])(parts, shape=shape, copy=True)
    assert matrix.has_canonical_format
    assert matrix.has_sorted_indices
    return matrix


def assert_same(matrix, expected):
    assert type(matrix) is type(expected)
    assert matrix.shape == expected.shape
    assert matrix.dtype == expected.dtype
    assert matrix.nnz == expected.nnz
    assert matrix.has_canonical_format is expected.has_canonical_format is True
    assert matrix.has_sorted_indices is expected.has_sorted_indices is True
    assert vars(matrix).keys() == vars(expected).keys()
    for name in ("data", "indices", "indptr"):
        array, other = getattr(matrix, name), getattr(expected, name)
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)
    matrix.check_format(full_check=True)


@every_form
@given(dense=dense_matrices(), position=positions)
def test_a_matrix_equals_that_of_the_constructor(form, dense, position):
    parts = parts_of(form, dense, position)
    expected = constructed(form, parts, dense.shape)
    matrix = wrap_sparse(form, parts, dense.shape)

    assert_same(matrix, expected)
    unpickled = pickle.loads(pickle.dumps(matrix))
    for each in (matrix, unpickled):
        np.testing.assert_array_equal(each.toarray(), dense)
    # The byte order of a pickled array depends on its memory and on the protocol, and SciPy copies
    # only matrices of native byte order.
    if dense.dtype.isnative:
        assert_same(unpickled, expected)
        assert_same(matrix.copy(), expected)


@every_form
@given(dense=dense_matrices())
def test_writing_into_a_matrix_changes_no_later_one(form, dense):
    parts = parts_of(form, dense)
    expected = constructed(form, parts, dense.shape)
    matrix = wrap_sparse(form, parts_of(form, dense), dense.shape)
    matrix.data[:] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)
        if dense.size:
            matrix[0, 0] = matrix[-1, -1] = 1
    matrix.eliminate_zeros()
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    matrix.resize(dense.shape[0] + 1, dense.shape[1] + 2)

    assert_same(wrap_sparse(form, parts, dense.shape), expected)
    empty = np.zeros(dense.shape, bool)
    assert_same(
        wrap_sparse(form, parts_of(form, empty), dense.shape),
        constructed(form, parts_of(form, empty), dense.shape),
    )
    assert_same(
        _empty_matrix(getattr(sparse, SPARSE_CLASSES[form]), dense.shape),
        constructed(form, parts_of(form, empty), dense.shape),
    )


@every_form
@pytest.mark.parametrize("n", [1, MAX_COPIED_GROUPS, MAX_COPIED_GROUPS + 1])
def test_a_matrix_keeps_no_large_buffer_of_which_it_uses_little(form, n):
    """Kernels allocate room for all codes, and return a view if few of them are features."""
    dense = np.eye(n, dtype=np.float32)
    data, indices, indptr = parts_of(form, dense)
    room = np.zeros((2, 100_000), np.int32)
    room[0, :n], room[1, :n] = data.view(np.int32), indices
    parts = room[0, :n].view(np.float32), room[1, :n], indptr
    matrix = wrap_sparse(form, parts, dense.shape)

    # First, because a check of SciPy's would copy the arrays.
    assert not np.shares_memory(matrix.data, room)
    assert not np.shares_memory(matrix.indices, room)
    assert_same(matrix, constructed(form, parts, dense.shape))


def test_few_features_of_many_codes_keep_little_memory():
    matrix = multi_hot(np.zeros(100_000, np.int64), offsets=[0, 100_000], depth=2, output="csr")

    assert matrix.indices.base is None or matrix.indices.base.nbytes < 1_000
    assert matrix.toarray().tolist() == [[1, 0]]


@every_form
def test_matrices_on_both_sides_of_the_bound_of_copies(form):
    """The largest copy and the smallest matrix of the constructor."""
    for n in (MAX_COPIED_GROUPS, MAX_COPIED_GROUPS + 1):
        dense = np.eye(n, dtype=np.float32)
        before = _empty_matrix.cache_info()
        matrix = wrap_sparse(form, parts_of(form, dense), dense.shape)
        after = _empty_matrix.cache_info()

        assert_same(matrix, constructed(form, parts_of(form, dense), dense.shape))
        asked = after.hits + after.misses - before.hits - before.misses
        assert asked == (n == MAX_COPIED_GROUPS)
