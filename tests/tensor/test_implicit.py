"""The implicit one-hot matrix against the same matrix in SciPy and NumPy."""

from __future__ import annotations

import itertools
import pickle
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder, OneHotMatrix
from onehot_fast._kernels import implicit
from onehot_fast._pipeline import gram
from support.programs import run
from support.strategies import examples

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

CODES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4"]
# Bounds of one-byte codes and of a unit of the Gram matrix, and those of a shared code.
SIZES = [0, 1, 2, 3, 7, 15, 16, 63, 127, 128, 254, 255, 256]
WIDE = [4094, 4095, 4096, 65534, 65535]
# Small whole numbers: sums are exact in any order.
WHOLE = st.integers(-8, 8).map(float)


def reference(codes, sizes, numeric):
    """Return the matrix, cell by cell."""
    blocks = []
    for column, n in zip(codes, sizes, strict=True):
        block = np.zeros((len(numeric), n))
        for row, code in enumerate(np.asarray(column).tolist()):
            if code >= 0:
                block[row, code] = 1
        blocks.append(block)
    return np.hstack([*blocks, numeric])


@st.composite
def matrices(draw, wide=False):
    """Return an implicit matrix, and the dense one."""
    n_rows = draw(st.integers(0, 20))
    sizes = draw(st.lists(st.sampled_from(SIZES + WIDE * wide), max_size=4))
    codes = []
    for n in sizes:
        dtype = np.dtype(draw(st.sampled_from(CODES if n else ["int8"])))
        lowest = 0 if dtype.kind == "u" else -1
        values = st.integers(lowest, min(n - 1, np.iinfo(dtype).max))
        codes.append(np.array([draw(values) for _ in range(n_rows)], dtype))
    n_numeric = draw(st.integers(0, 3))
    elements = [draw(WHOLE) for _ in range(n_rows * n_numeric)]
    numeric = np.array(elements, float).reshape(n_rows, n_numeric)
    if not sizes and not n_numeric:
        sizes, codes = [1], [np.zeros(n_rows, np.int8)]
    return OneHotMatrix.from_codes(codes, sizes, numeric=numeric), reference(codes, sizes, numeric)


def operand(data, n):
    """Return a vector or a matrix with `n` rows, of any layout in memory."""
    seed = data.draw(st.integers(0, 1000))
    width = data.draw(st.sampled_from([None, 0, 1, 2, 7, 8, 9, 17]))
    values = np.random.default_rng(seed).integers(-8, 9, (n, 17)).astype(float)
    if width is None:
        return values[:, 3]
    layouts = {"C": values[:, :width].copy(), "F": np.asfortranarray(values[:, :width])}
    layouts["strided"] = values[:, :width]
    return layouts[data.draw(st.sampled_from(sorted(layouts)))]


@given(data=st.data())
@examples(1)
def test_products_and_forms_equal_those_of_the_dense_matrix(data):
    matrix, dense = data.draw(matrices(wide=True))
    x, y = operand(data, dense.shape[1]), operand(data, dense.shape[0])

    assert matrix.shape == dense.shape
    np.testing.assert_array_equal(matrix @ x, dense @ x)
    np.testing.assert_array_equal(matrix.T @ y, dense.T @ y)
    np.testing.assert_array_equal(y.T @ matrix, y.T @ dense)
    np.testing.assert_array_equal(x.T @ matrix.T, x.T @ dense.T)
    np.testing.assert_array_equal(matrix.to_numpy(), dense)
    np.testing.assert_array_equal(matrix.to_csr().toarray(), dense)
    np.testing.assert_array_equal(matrix.to_csc().toarray(), dense)
    assert matrix.to_csc().format == "csc"
    assert matrix.to_numpy("float32").dtype == np.float32
    again = pickle.loads(pickle.dumps(matrix))
    assert again.column_names == matrix.column_names
    np.testing.assert_array_equal(again.to_numpy(), dense)


@given(data=st.data(), is_weighted=st.booleans())
@examples(1)
def test_gram_equals_the_product(data, is_weighted):
    matrix, dense = data.draw(matrices())
    weights = np.array([data.draw(WHOLE) for _ in range(len(matrix))]) if is_weighted else None
    scaled = dense if weights is None else dense * weights[:, None]
    sparse_result = matrix.gram(weights, output="csr")

    np.testing.assert_array_equal(matrix.gram(weights), scaled.T @ dense)
    np.testing.assert_array_equal(sparse_result.toarray(), scaled.T @ dense)
    assert isinstance(sparse_result, sparse.csr_array)
    parts = [matrix[: len(matrix) // 3], matrix[len(matrix) // 3 :]]
    np.testing.assert_array_equal(sum(part.gram() for part in parts), dense.T @ dense)
    np.testing.assert_array_equal(OneHotMatrix.vstack(parts).to_numpy(), dense)


def narrow_columns(n_rows, sizes, seed=0):
    """Return a matrix of random codes, some of them missing, and the same matrix of SciPy."""
    generator = np.random.default_rng(seed)
    codes = [generator.integers(-1, n, n_rows) for n in sizes]
    numeric = generator.integers(-3, 4, (n_rows, 2)).astype(float)
    matrix = OneHotMatrix.from_codes(codes, sizes, numeric=numeric)
    return matrix, matrix.to_csr()


# For each way to compute a Gram matrix, the costs that make it the cheapest.
WAYS = {
    "tables": {"_cost_of_rows": np.inf, "MAX_DENSE": 0, "_cost_of_pairs": 0},
    "small batches": {"_cost_of_rows": np.inf, "MAX_BATCH": 100, "TERM": np.inf},
    "rows": {"_cost_of_tables": np.inf, "MAX_DENSE": 0, "_cost_of_pairs": np.inf},
    "rows and their mirror image": {"_cost_of_tables": np.inf, "MAX_MIRRORED": 1 << 20, "TERM": 0},
    "blocks of rows": {"_cost_of_tables": np.inf, "BLOCK_ENTRIES": 1024, "TERM": np.inf},
    "features that occur": {"MAX_DENSE": 0, "MAX_SPREAD": 0, "_cost_of_pairs": np.inf},
    "sorted pairs": {"MAX_TABLE": 0, "MAX_DENSE": 0, "_cost_of_pairs": 0},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("n_rows", "sizes"),
    [
        (0, [2, 3]), (1, [1]), (7, []), (5, [0]), (5, [0, 0]), (30, [2] * 30),
        (500, [2, 300, 1, 0, 40, 3] * 2),
        (3, [500]), (2, [200, 300]),
    ],
)  # fmt: skip
def test_every_way_to_compute_a_gram_matrix_gives_it(way, n_rows, sizes, monkeypatch):
    """The sizes choose the way, and the way changes no sum of whole numbers."""
    for name, value in WAYS[way].items():
        is_cost = name.startswith("_")
        monkeypatch.setattr(gram, name, (lambda *_, value=value: value) if is_cost else value)
    matrix, csr = narrow_columns(n_rows, sizes)
    weights = np.random.default_rng(1).integers(-2, 3, n_rows).astype(float)

    for w in (None, weights):
        scaled = csr if w is None else sparse.diags_array(w) @ csr
        expected = (csr.T @ scaled).toarray()
        np.testing.assert_array_equal(matrix.gram(w), expected)
        as_csr = matrix.gram(w, output="csr")
        np.testing.assert_array_equal(as_csr.toarray(), expected)
        assert as_csr.nnz == np.count_nonzero(expected)


@pytest.mark.parametrize("way", WAYS)
def test_sums_of_every_way_do_not_depend_on_the_number_of_threads(way, monkeypatch):
    for name, value in WAYS[way].items():
        is_cost = name.startswith("_")
        monkeypatch.setattr(gram, name, (lambda *_, value=value: value) if is_cost else value)
    matrix, _ = narrow_columns(2000, [2, 3, 2, 50, 4, 2])
    weights = np.random.default_rng(2).normal(size=2000)

    for output in ("dense", "csr"):
        one, two, five = (matrix.gram(weights, output=output, num_threads=n) for n in (1, 2, 5))
        for other in (two, five):
            assert abs(one - other).max() == 0


@given(data=st.data(), n=st.sampled_from([1, 2, 31, 32, 33, 100]), k=st.integers(1, 5))
@examples(1)
def test_kernels_add_the_pairs_of_features_of_each_row(data, n, k):
    """A row may lack features; the rows are added in order, so that all sums are equal bits."""
    rows = data.draw(st.lists(st.sets(st.integers(0, n - 1), max_size=k), max_size=20))
    features = np.full((len(rows), k), -1, np.int32)
    for each, row in zip(features, rows, strict=True):
        at = data.draw(st.sets(st.integers(0, k - 1), min_size=len(row), max_size=len(row)))
        each[sorted(at)] = sorted(row)
    weights = np.random.default_rng(0).normal(size=len(rows))
    expected = np.zeros((n, n))
    for row, weight in zip(rows, weights, strict=True):
        for one, other in itertools.product(row, row):
            expected[one, other] += weight

    for is_mirrored, num_threads in itertools.product([True, False], [1, 3]):
        found = np.zeros((n, n))
        implicit.add_gram(features, weights, found, is_mirrored, num_threads)
        if not is_mirrored:
            assert not np.tril(found, -1).any()
            implicit.mirror(found)
        np.testing.assert_array_equal(found, expected)
    parts = implicit.sparse_gram(features, weights, n)
    assert parts[1].dtype == parts[2].dtype == np.int32
    np.testing.assert_array_equal(sparse.csr_array(parts, shape=(n, n)).toarray(), expected)
    assert len(parts[0]) == len({pair for row in rows for pair in itertools.product(row, row)})


def test_a_gram_matrix_without_features():
    matrix = OneHotMatrix.from_codes([[-1, -1], [-1, -1]], [0, 0])
    assert matrix.gram().shape == matrix.gram(output="csr").shape == (0, 0)


@pytest.mark.parametrize("feature", [3, 2**31 - 1])
def test_kernels_reject_features_beyond_the_matrix(feature):
    features, weights = np.array([[0, feature]], np.int32), np.ones(1)
    with pytest.raises(ValueError, match=f"below 3, got {feature}"):
        implicit.add_gram(features, weights, np.zeros((3, 3)), True, 1)
    with pytest.raises(ValueError, match=f"below 3, got {feature}"):
        implicit.sparse_gram(features, weights, 3)
    with pytest.raises(ValueError, match="do not fit 1 rows"):
        implicit.sparse_gram(features[:, :1], np.ones(2), 3)
    with pytest.raises(ValueError, match="do not fit 1 rows"):
        implicit.add_gram(features[:, :1], np.ones(2), np.zeros((3, 3)), True, 1)
    with pytest.raises(ValueError, match="must be square"):
        implicit.mirror(np.zeros((2, 3)))


@pytest.mark.parametrize("output", ["dense", "csr"])
def test_a_gram_matrix_of_many_columns_needs_memory_in_proportion_to_the_result(output):
    """The tables of all pairs of 400 columns have a hundred times as many entries."""
    matrix, _ = narrow_columns(20, [2] * 400)
    tracemalloc.start()
    result = matrix.gram(output=output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    n_bytes = result.nbytes if output == "dense" else 20 * result.nnz
    assert peak < 3 * n_bytes + (8 << 20)


def test_a_column_of_many_categories_needs_memory_for_its_rows_alone():
    tracemalloc.start()
    matrix = OneHotMatrix.from_codes([[0, 10**8 - 1, -1], [1, 0, 1]], [10**8, 2])
    csr = matrix.to_csr()
    assert (matrix[[1]].nbytes, csr.nnz) == (5, 5)
    assert csr.indices.tolist() == [0, 10**8 + 1, 10**8 - 1, 10**8, 10**8 + 1]
    largest = OneHotMatrix.from_codes([[0, 2**31 - 4]], [2**31 - 3])
    assert largest.to_csr().indices.tolist() == [0, 2**31 - 4]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_sparse_gram_matrix_of_many_categories_needs_memory_for_its_result_alone():
    matrix = OneHotMatrix.from_codes([[0, 10**7 - 1, -1], [1, 0, 1]], [10**7, 2])
    tracemalloc.start()
    result = matrix.gram(output="csr")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < result.indptr.nbytes + (1 << 20)
    rows = [0, 10**7 - 1, 10**7, 10**7 + 1]
    assert result[rows][:, rows].toarray().tolist() == [
        [1, 0, 0, 1],
        [0, 1, 1, 0],
        [0, 1, 1, 0],
        [1, 0, 0, 2],
    ]
    assert result.nnz == 8


def test_a_sparse_gram_matrix_of_propagated_values_needs_three_times_its_memory():
    table = {"a": [*map(str, range(1000)), None], "b": ["u"] * 1001}
    encoder = Encoder(["a", "b"], handle_missing="propagate", dtype="float64").fit(table)
    matrix = encoder.transform({"a": ["1", "2", None], "b": ["u"] * 3}, "implicit")

    tracemalloc.start()
    result = matrix.gram(output="csr")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.nnz == 1001**2
    assert np.isnan(result.toarray()[:, :1000]).all()
    assert result[1000, 1000] == 3
    assert peak < 3 * 12 * result.nnz + (1 << 20)


@given(data=st.data())
@examples(0.5)
def test_sums_means_and_deviations_are_weighted(data):
    matrix, dense = data.draw(matrices().filter(lambda pair: len(pair[0]) > 0))
    weights = np.array([data.draw(st.integers(1, 5)) for _ in range(len(matrix))], float)
    deviation = np.sqrt(np.average((dense - np.average(dense, 0, weights)) ** 2, 0, weights))

    np.testing.assert_array_equal(matrix.sum(0), dense.sum(0))
    np.testing.assert_array_equal(matrix.sum(0, weights), weights @ dense)
    np.testing.assert_array_equal(matrix.sum(1), dense.sum(1))
    np.testing.assert_array_equal(matrix.sum(1, weights), dense.sum(1) * weights)
    assert matrix.sum() == dense.sum()
    np.testing.assert_allclose(matrix.mean(), dense.mean(0), atol=1e-15)
    np.testing.assert_allclose(matrix.mean(weights), np.average(dense, 0, weights), atol=1e-15)
    np.testing.assert_allclose(matrix.std(), dense.std(0), atol=1e-12)
    np.testing.assert_allclose(matrix.std(weights), deviation, atol=1e-12)
    ramp = 1e9 + np.arange(4.0)[:, None]  # a large mean keeps its digits
    deviation = OneHotMatrix.from_codes([], [], numeric=ramp).std()
    np.testing.assert_allclose(deviation, ramp.std(0), rtol=1e-12)


@given(data=st.data())
@examples(0.5)
def test_rows_are_selected_as_in_numpy(data):
    matrix, dense = data.draw(matrices())
    n = len(matrix)
    ends = st.none() | st.integers(-n - 2, n + 2)
    step = data.draw(st.sampled_from([None, 1, 2, -1, -3]))
    selections: list[Any] = [slice(data.draw(ends), data.draw(ends), step)]
    selections.append(np.array([data.draw(st.booleans()) for _ in range(n)], bool))
    if n:
        selections.append(data.draw(st.lists(st.integers(-n, n - 1))))
    for rows in selections:
        chosen = dense[np.asarray(rows, np.intp)] if isinstance(rows, list) else dense[rows]
        np.testing.assert_array_equal(matrix[rows].to_numpy(), chosen)


@pytest.fixture(scope="module")
def large():
    """Return a matrix of several blocks of rows, whose sums are not exact."""
    generator = np.random.default_rng(0)
    n_rows, sizes = 300_000, [2, 3, 20, 40]
    codes = [generator.integers(-1, n, n_rows) for n in sizes]
    return OneHotMatrix.from_codes(codes, sizes, numeric=generator.normal(size=(n_rows, 2)))


def test_many_rows_equal_those_of_scipy_with_any_number_of_threads(large):
    """The number of threads changes no bit."""
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(large.shape[1], 9)), generator.normal(size=(len(large), 9))
    weights = generator.random(len(large))
    csr = large.to_csr()
    gram_matrix = (csr.T @ csr.multiply(weights[:, None]).tocsr()).toarray()

    alone = [large.matvec(x, num_threads=1), large.rmatvec(y, num_threads=1)]
    alone.append(large.gram(weights, num_threads=1))
    for n in (2, 3, 7):
        team = [large.matvec(x, num_threads=n), large.rmatvec(y, num_threads=n)]
        team.append(large.gram(weights, num_threads=n))
        for one, many in zip(alone, team, strict=True):
            np.testing.assert_array_equal(one, many)
    alone.append(large.gram(weights, output="csr").toarray())
    for one, other in zip(alone, [csr @ x, csr.T @ y, gram_matrix, gram_matrix], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_codes_are_small_copies():
    """Columns of few categories share a code; the others take the smallest integers."""
    code, numeric = np.array([0, 1], np.uint8), np.ones((2, 1))
    names = ["Oslo", "Rome", "size"]
    matrix = OneHotMatrix.from_codes([code], [2], numeric=numeric, column_names=names)
    code[:] = 1
    numeric[:] = 5

    assert matrix.to_numpy().tolist() == [[1, 0, 1], [0, 1, 1]]
    assert matrix.group_sums([1, 2]) == {"Oslo": 1.0, "Rome": 2.0, "size": 3.0}
    assert matrix.group_sums(np.ones((2, 2)))["size"].tolist() == [2, 2]
    codes = [np.zeros(1000, np.int8)] * 6
    assert OneHotMatrix.from_codes(codes, [10] * 6).nbytes == 1000 * (2 + 2)
    assert OneHotMatrix.from_codes(codes[:5], [3, 12, 50, 100, 300]).nbytes <= 1000 * (4 + 2)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 40])
@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("missing", ["ignore", "propagate"])
def test_few_rows_of_many_categories_equal_the_dense_matrix(missing, drop, n_rows):
    """The implicit matrix of few rows equals the dense one, with dropped and missing values."""
    values = ["a", None, "b", "c"] * 10
    options = {"drop": drop, "handle_missing": missing, "dtype": "float64"}
    encoder = Encoder(["x"], **options).fit({"x": values})
    rows = {"x": values[:n_rows]}
    np.testing.assert_array_equal(
        encoder.transform(rows, "implicit").to_numpy(), encoder.transform(rows, "numpy")
    )


def test_propagated_missing_values_are_rows_of_nan():
    table = {"a": ["x", None, "y"], "b": ["u", "v", "u"]}
    encoder = Encoder(handle_missing="propagate", dtype="float64").fit(table)
    matrix = encoder.transform(table, "implicit")
    dense = encoder.transform(table, "numpy")
    nan = np.isnan(dense).any(0)

    np.testing.assert_array_equal(matrix @ np.zeros(4), [0, np.nan, 0])
    np.testing.assert_array_equal(matrix.T @ np.zeros(3), [np.nan, np.nan, 0, 0])
    expected = np.where(nan[:, None] | nan, np.nan, np.nan_to_num(dense).T @ np.nan_to_num(dense))
    np.testing.assert_array_equal(matrix.gram(), expected)
    np.testing.assert_array_equal(matrix.gram(output="csr").toarray(), expected)
    np.testing.assert_array_equal(matrix[[0, 2]].T @ np.ones(2), [1, 1, 2, 0])
    np.testing.assert_array_equal(matrix.std(), [np.nan, np.nan, *dense[:, 2:].std(0)])


def test_an_infinite_operand_affects_its_category_alone():
    matrix = OneHotMatrix.from_codes([[0, 1, -1]], [2])

    assert (matrix @ [np.inf, 1]).tolist() == [np.inf, 1, 0]
    assert (matrix.T @ [np.inf, 1, np.nan]).tolist() == [np.inf, 1]


def test_linear_operators_of_scipy_accept_it(large):
    matrix = large[:2000]
    csr, y = matrix.to_csr(), np.arange(2000.0)
    operator = linalg.aslinearoperator(matrix)
    ridge = linalg.LinearOperator(
        (matrix.shape[1],) * 2, lambda x: matrix.T @ (matrix @ x) + x, dtype=float
    )

    np.testing.assert_allclose(operator @ np.ones(matrix.shape[1]), csr.sum(1))
    for solve in (linalg.lsqr, linalg.lsmr):
        solutions = [solve(a, y, damp=1.0, atol=1e-12, btol=1e-12)[0] for a in (matrix, csr)]
        np.testing.assert_allclose(*solutions, atol=1e-6)
    solution, failed = linalg.cg(ridge, matrix.T @ y, rtol=1e-10)
    assert not failed
    np.testing.assert_allclose(matrix.gram() @ solution + solution, csr.T @ y, atol=1e-4)
    start = np.ones(min(csr.shape))
    singular_values = [linalg.svds(a, k=3, v0=start)[1] for a in (operator, csr)]
    np.testing.assert_allclose(*singular_values)


def test_products_are_written_into_out():
    matrix = OneHotMatrix.from_codes([[0, 1, 1]], [2], numeric=np.ones((3, 1)))
    room = np.empty((3, 4))
    for out in (np.empty(3), room[:, 1]):
        assert matrix.matvec([1, 2, 3], out) is out
        assert out.tolist() == [4, 5, 5]
    out = np.empty((3, 2), order="F")
    assert matrix.rmatvec(np.ones((3, 2)), out) is out
    assert out.tolist() == [[1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("width", [None, 1, 3, 9])
@pytest.mark.parametrize("shift", [-2, -1, 0, 1])
def test_out_may_overlap_the_operand(n_columns, width, shift):
    """A fixed-point iteration writes ``X @ v`` into ``v``."""
    n = 24 // n_columns
    codes = np.random.default_rng(0).integers(-1, n, (n_columns, 24))
    matrix = OneHotMatrix.from_codes(codes, [n] * n_columns)
    assert matrix.shape == (24, 24)
    shape = (28,) if width is None else (28, width)
    for product, of_dense in (
        (matrix.matvec, matrix.to_numpy()), (matrix.rmatvec, matrix.to_numpy().T),
    ):  # fmt: skip
        room = np.random.default_rng(1).normal(size=shape)
        operand, out = room[2:26], room[2 + shift : 26 + shift]
        expected = of_dense @ operand
        assert product(operand, out) is out
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def unaligned(array):
    """Return an equal array whose elements are not aligned."""
    array = np.asarray(array)
    room = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    room[...] = array
    assert not room.flags.aligned
    return room


def test_unaligned_operands_are_read_and_written():
    codes, numeric = np.array([0, 1, -1, 1]), np.ones((4, 1))
    matrix = OneHotMatrix.from_codes([unaligned(codes)], [2], numeric=unaligned(numeric))
    dense = matrix.to_numpy()
    assert dense.tolist() == [[1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 1]]
    x, y = np.array([1.0, 2, 3]), np.array([1.0, 2, 3, 4])
    out = unaligned(np.empty(4))
    assert matrix.matvec(unaligned(x), out) is out
    np.testing.assert_array_equal(out, dense @ x)
    out = unaligned(np.empty(3))
    assert matrix.rmatvec(unaligned(y), out) is out
    np.testing.assert_array_equal(out, dense.T @ y)
    for output in ("dense", "csr"):
        result = matrix.gram(unaligned(y), output=output)
        expected = dense.T @ (y[:, None] * dense)
        np.testing.assert_array_equal(result if output == "dense" else result.toarray(), expected)
    np.testing.assert_array_equal(matrix.group_sums(unaligned(y))["x0_1"], 6)


def test_a_mask_is_read_once(monkeypatch):
    """A mask that changes between two columns would select rows of different lengths."""
    codes = np.random.default_rng(0).integers(0, 300, (3, 10))
    matrix = OneHotMatrix.from_codes(codes, [300] * 3, numeric=np.zeros((10, 1)))
    mask = np.zeros(10, bool)
    mask[::2] = True
    used = []
    monkeypatch.setattr(matrix, "_codes", [_Watched(group, mask, used) for group in matrix._codes])

    chosen = matrix[mask]

    assert chosen.shape == (5, 901)
    assert all(positions.tolist() == [0, 2, 4, 6, 8] for positions in used)
    assert len(used) == 3


class _Watched:
    """An array that changes the mask whenever it is indexed."""

    def __init__(self, array, mask, used):
        self.array, self.mask, self.used = array, mask, used

    def __getitem__(self, index):
        self.mask[:] = ~self.mask
        self.used.append(index)
        return self.array[index]


@pytest.mark.parametrize("names", [None, ["a", "b", "c", "n"]])
def test_a_pickle_holds_plain_types(names):
    """The matrix is its only class of ours, and its names need no encoder."""
    matrix = OneHotMatrix.from_codes(
        [[0, -1], [0, 0]], [2, 1], numeric=[[1.0], [2.0]], column_names=names
    )
    state = matrix.__getstate__()
    plain = (str, int, bool, list, np.ndarray, type(None))
    assert all(isinstance(value, plain) for value in state.values())
    again = pickle.loads(pickle.dumps(matrix))
    assert again.column_names == matrix.column_names
    np.testing.assert_array_equal(again.to_numpy(), matrix.to_numpy())
    assert OneHotMatrix.vstack([matrix, again]).shape == (4, 4)


def test_skops_saves_and_loads_it():
    skops = pytest.importorskip("skops.io")
    table = {"a": ["x", "y", "x"], "n": [1.5, 2, 3]}
    matrix = Encoder().fit_transform(table, output="implicit")

    saved = skops.dumps(matrix)
    assert skops.get_untrusted_types(data=saved) == ["onehot_fast.implicit.OneHotMatrix"]
    again = skops.loads(saved, trusted=["onehot_fast.implicit.OneHotMatrix"])
    assert again.column_names == ("a_x", "a_y", "n")
    np.testing.assert_array_equal(again.to_numpy(), matrix.to_numpy())


@pytest.mark.parametrize("version", ["0.0.9", None])
def test_a_pickle_of_another_version_says_so(version):
    encoder = Encoder().fit({"a": ["x"]})
    for each in (encoder, encoder.transform({"a": ["x"]}, "implicit")):
        state = each.__getstate__()
        del state["version"]
        if version is not None:
            state["version"] = version
        new = type(each).__new__(type(each))
        with pytest.raises(ValueError, match=version or "an older release"):
            new.__setstate__(state)


def test_all_columns_may_be_selected_beside_rows():
    """scikit-learn's `train_test_split` writes ``X[rows, ...]``."""
    matrix = OneHotMatrix.from_codes([[0, 1, 0]], [2])

    for rows in ([2, 0], slice(1, None), np.array([True, False, True])):
        expected = matrix[rows].to_numpy()
        np.testing.assert_array_equal(matrix[rows, :].to_numpy(), expected)
        np.testing.assert_array_equal(matrix[rows, ...].to_numpy(), expected)


def test_products_work_on_threads_with_small_stacks():
    """Products need at most 2 KiB; a thread may have 16 KiB, the smallest stack of Linux."""
    program = """
import numpy as np
from onehot_fast import OneHotMatrix
rng = np.random.default_rng(0)
X = OneHotMatrix.from_codes(rng.integers(0, 40, (3, 300_000)), [40] * 3, num_threads=1)
for k in (1, 3, 8, 9, 17):
    x, y = rng.normal(size=(120, k)), rng.normal(size=(300_000, k))
    np.testing.assert_array_equal(X.matvec(x, num_threads=2), X.matvec(x, num_threads=1))
    np.testing.assert_array_equal(X.rmatvec(y, num_threads=2), X.rmatvec(y, num_threads=1))
"""
    assert run(program, OMP_STACKSIZE="16k") == ""


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda x: np.asarray(x), TypeError, r"X\.to_numpy\(\), or X\.to_csr\(\)"),
    (lambda x: np.asarray(x.T), TypeError, r"X\.to_numpy\(\)"),
    (lambda x: list(x), TypeError, "not iterable"),
    (lambda x: x[0], TypeError, r"use X\[i:i\+1\]"),
    (lambda x: x[0, 1], TypeError, r"X\.to_csr\(\) to select columns"),
    (lambda x: x[[True]], IndexError, "mask must have 3 entries, got 1"),
    (lambda x: x[[3]], IndexError, "out of bounds"),
    (lambda x: x @ [1], ValueError, r"x must have shape \(5,\) or \(5, k\), got \(1,\)"),
    (lambda x: x.T @ [1], ValueError, r"y must have shape \(3,\)"),
    (lambda x: x @ np.ones(5, complex), TypeError, "x must be an array of real numbers"),
    (lambda x: x.T @ x, TypeError, r"X\.gram\(\)"),
    (lambda x: x.matvec(np.ones(5), np.empty(2)), ValueError, r"out must be .* \(3,\)"),
    (lambda x: x.matvec(np.ones(5), np.empty(3, "f4")), ValueError, "float64"),
    (lambda x: x.matvec(np.ones(5), np.lib.stride_tricks.as_strided(np.empty(1), (3,), (0,))),
     ValueError, "elements of out overlap"),
    (lambda x: setattr(x, "shape", (3, 5)), AttributeError, "shape"),
    (lambda x: x.gram([1]), ValueError, r"weights must have shape \(3,\), got \(1,\)"),
    (lambda x: x.gram(output="csc"), ValueError, "output must be one of .*, got 'csc'"),
    (lambda x: x.sum(2), ValueError, "axis must be None, 0 or 1, got 2"),
    (lambda x: OneHotMatrix.vstack([x, 5]), TypeError, r"parts\[1\] must be a OneHotMatrix"),
    (lambda x: OneHotMatrix.vstack([]), ValueError, "at least one"),
    (lambda x: OneHotMatrix.vstack([x, OneHotMatrix.from_codes([[0]], [5])]), ValueError, "parts"),
    (lambda x: OneHotMatrix.from_codes([[0, 2]], [2]), ValueError, r"codes\[0\]\[1\] must be b"),
    (lambda x: OneHotMatrix.from_codes([[0.5]], [2]), TypeError, r"codes\[0\] must be a 1-D"),
    (lambda x: OneHotMatrix.from_codes([[-1]], [-1]), ValueError, r"n_categories\[0\] must be"),
    (lambda x: OneHotMatrix.from_codes([[0], [0, 1]], [2, 2]), ValueError, "has 2 rows"),
    (lambda x: OneHotMatrix.from_codes([[0]], [2, 2]), ValueError, "n_categories"),
    (lambda x: OneHotMatrix.from_codes([[0]], [2], numeric=[1, 2]), ValueError, "numeric must"),
    (lambda x: OneHotMatrix.from_codes([[0]], [2], column_names="aa"), ValueError, "different"),
    (lambda x: OneHotMatrix.from_codes([[0]], [10_000_000]).gram(), MemoryError, "needs"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_say_what_to_write(call, error, message):
    matrix = OneHotMatrix.from_codes([[0, 1, 0], [2, -1, 1]], [2, 3])

    with pytest.raises(error, match=message):
        call(matrix)


def test_gram_of_many_categories_counts_the_pairs_that_occur():
    """A table of all pairs of codes would be far larger than the rows."""
    generator = np.random.default_rng(5)
    codes = [generator.integers(-1, 1100, 200) for _ in range(2)]
    matrix, weights = OneHotMatrix.from_codes(codes, [1100] * 2), generator.random(200)
    csr = matrix.to_csr()

    for w, row_weights in ((weights, weights), (None, np.ones(200))):
        expected = csr.T @ csr.multiply(row_weights[:, None]).tocsr()
        difference = matrix.gram(w, output="csr") - expected
        assert abs(difference).max() < 1e-12


def test_one_row_needs_little_memory():
    """A second implicit `transform` of one row takes less than a byte for each category."""
    encoder = Encoder(["a"]).fit({"a": [*map(str, range(20_000))]})
    encoder.transform({"a": ["7"]}, "implicit")

    tracemalloc.start()
    matrix = encoder.transform({"a": ["7"]}, "implicit")
    assert tracemalloc.get_traced_memory()[1] < 20_000
    tracemalloc.stop()
    assert matrix.gram(output="csr").nnz == 1


MOSTLY_EMPTY = """
import resource
import numpy as np
from onehot_fast import OneHotMatrix

n = 5_000
codes = np.arange(20) * 250
matrix = OneHotMatrix.from_codes([codes, codes[::-1]], [n, n])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = matrix.gram()
del first
gram = matrix.gram()
assert gram.shape == (2 * n, 2 * n)
assert gram[codes[:, None], codes].tolist() == np.eye(20).tolist()
assert gram[codes, n + codes[::-1]].tolist() == [1] * 20 == gram[n + codes[::-1], codes].tolist()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss")
def test_a_gram_matrix_of_few_rows_takes_the_memory_of_its_entries():
    """The result has 0.8 GB of zeros, of which 60 entries are written."""
    assert int(run(MOSTLY_EMPTY)) < 64 << 10
