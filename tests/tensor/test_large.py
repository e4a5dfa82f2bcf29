"""Sizes beyond 32 bits, of up to 12 gigabytes each, and one of 20: ``pytest -m large -n 0``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onehot_fast import Column, Encoder, decode, one_hot

pytestmark = pytest.mark.large
BEYOND = 2**31
DEPTH = 100
N = BEYOND // DEPTH + 4099


@pytest.mark.parametrize("axis", [0, -1])
def test_a_dense_result_may_exceed_int32_elements(axis):
    """More than 2**31 elements: each row has one on, where its index says, and is read back."""
    indices = np.arange(N) * 7 % DEPTH
    tensor = one_hot(indices, DEPTH, axis=axis, dtype="u1")
    assert tensor.size > BEYOND

    ones = (tensor if axis == 0 else tensor.T).reshape(DEPTH, N)
    assert [int(np.count_nonzero(ones[k])) for k in (0, DEPTH - 1)] == [
        int((indices == k).sum()) for k in (0, DEPTH - 1)
    ]
    for start in (0, N // 2, N - 5000):  # the last rows are behind 2**31 bytes
        window = ones[:, start : start + 5000]
        assert (window == (indices[start : start + 5000] == np.arange(DEPTH)[:, None])).all()
    np.testing.assert_array_equal(decode(tensor, axis), indices)


def test_a_sparse_matrix_may_exceed_int32_elements():
    """Rows times columns are 10**13; and 10**6 categories are found again."""
    n = 10_000_000
    texts = np.array([f"user {i:x}" for i in range(1_000_000)], object)
    codes = np.random.default_rng(0).integers(0, len(texts), n)
    encoder = Encoder(["u"]).fit({"u": texts})
    rank = np.empty(len(texts), np.int64)
    rank[np.argsort(texts)] = np.arange(len(texts))
    matrix = encoder.transform({"u": texts[codes]}, "csr")

    assert matrix.shape == (n, len(texts))
    np.testing.assert_array_equal(matrix.indices, rank[codes])
    np.testing.assert_array_equal(matrix.indptr, np.arange(n + 1))


def test_a_sparse_matrix_may_have_more_nonzeros_than_int32():
    """Positions of 8 bytes each, 17 GB, beside ones of a byte."""
    n_columns, depth = 64, 3
    n = BEYOND // n_columns + 4099
    needed = n * n_columns * 9 + 2 * 10**9
    memory = Path("/proc/meminfo").read_text() if Path("/proc/meminfo").exists() else ""
    free = next((line.split()[1] for line in memory.splitlines() if "Available" in line), "0")
    if int(free) * 1024 < needed:
        pytest.skip(f"{needed / 1e9:.0f} GB of memory are not free here")
    names = [f"c{i}" for i in range(n_columns)]
    codes = (np.arange(n) % 7 % depth).astype("i1")
    column = Column(codes, np.arange(depth))
    encoder = Encoder(names, dtype="i1").fit(dict.fromkeys(names, column))
    matrix = encoder.transform(dict.fromkeys(names, column), "csr")

    assert (matrix.nnz, matrix.shape) == (n * n_columns, (n, n_columns * depth))
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int64
    for start in (0, n // 2, n - 5000):  # the last ones are behind 2**31 others
        rows = slice(start, start + 5000)
        placed = matrix.indices.reshape(n, n_columns)[rows]
        np.testing.assert_array_equal(placed, codes[rows, None] + depth * np.arange(n_columns))
    np.testing.assert_array_equal(matrix.indptr, np.arange(n + 1) * n_columns)


def test_texts_may_exceed_four_gibibytes():
    """70 million texts of 64 bytes each are numbered as they were drawn."""
    pa = pytest.importorskip("pyarrow")
    n, width, n_levels = 70_000_000, 64, 1000
    pool = np.array([f"{i:05d}".ljust(width, "x") for i in range(n_levels)], f"S{width}")
    codes = np.random.default_rng(0).integers(0, n_levels, n, np.int32)
    data = np.take(pool, codes)
    offsets = np.arange(n + 1, dtype=np.int64) * width
    assert data.nbytes > 2**32
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    column = pa.Array.from_buffers(pa.large_string(), n, buffers)
    matrix = Encoder(["c"], dtype="u1").fit_transform({"c": column}, output="csr")

    assert matrix.shape == (n, n_levels)
    np.testing.assert_array_equal(matrix.indices, codes)
