"""Columns of codes through tables: every kernel, in every variant, against plain NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._kernels import dispatch
from onehot_fast._pipeline import sparse
from onehot_fast._runtime import memory
from onehot_fast._schema.coded_column import recode
from onehot_fast.adapter import CodedColumn, write
from support.strategies import INDEX_DTYPES, examples

CODE_DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
ROWS = (0, 1, 7, 8, 9, 63, 64, 65, 100, 1000, 4095, 4096, 4097, 16385, 32805)
CATEGORIES = (0, 1, 2, 3, 12, 50, 100, 120)
# Of a column: its codes, how many categories it has, and what share of them is kept.
KINDS = tuple(itertools.product(CODE_DTYPES, CATEGORIES, (0.0, 0.5, 1.0)))
WIDTHS = (1, 2, 3, 4, 8, 16, 20)
# In one drawn output: several blocks of rows, and still fast.
MOST_ELEMENTS = 1_000_000

# Each of these runs in every variant, most of them in every width.
few = examples(0.3)


@st.composite
def columns(draw):
    """Draw columns of codes and their tables: categories dropped; no, few or many codes wild."""
    drawn = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=9))
    drawn *= draw(st.sampled_from((1, 1, 1, 1, 1, 1, 345)))  # or more than a block of codes
    wild = draw(st.sampled_from((0, 0.001, 0.5)))
    has_indicator = draw(st.booleans())
    most = MOST_ELEMENTS // max(1, sum(n_categories for _, n_categories, _ in drawn))
    n_rows = draw(st.sampled_from([n for n in ROWS if n <= most]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes, tables, first = [], [], 0
    for dtype, n_categories, share in drawn:
        low = 0 if dtype[0] == "u" else -2
        column = rng.integers(0, max(1, n_categories), n_rows)
        is_wild = rng.random(n_rows) < wild
        column[is_wild] = rng.integers(low, n_categories + 2, is_wild.sum())
        codes.append(column.astype(dtype))
        kept = np.append(rng.random(n_categories) < share, has_indicator)
        table = np.full(n_categories + 1, -1, np.int32)
        table[kept] = first + np.arange(kept.sum())
        tables.append(table)
        first += int(kept.sum())
    return codes, tables, first


def look_up(column, table):
    """Return the entry of each code, and the last entry for all other values."""
    is_code = (column >= 0) & (column < len(table) - 1)
    return np.where(is_code, table[np.where(is_code, column, 0)], table[-1])


def nonzeros(codes, tables, n_columns):
    """Return the Boolean matrix: the slow and obvious way."""
    is_on = np.zeros((len(codes[0]), n_columns), dtype=bool)
    for place in map(look_up, codes, tables):
        is_on[np.nonzero(place >= 0)[0], place[place >= 0]] = True
    return is_on


def elements(width):
    """Return two elements of a width, and an off whose bytes differ from each other."""
    raw = np.arange(1, 2 * width + 1, dtype=np.uint8)
    return raw[:width], raw[width:]


@pytest.mark.parametrize("width", WIDTHS)
@few
@given(drawn=columns())
def test_encode_matrix_writes_columns_side_by_side(mode, width, drawn):
    """Several columns become one row-major matrix."""
    codes, tables, n_columns = drawn
    on, off = elements(width)
    out = np.zeros((len(codes[0]), n_columns), f"V{width}")

    dispatch.encode_matrix(codes, tables, out, on, off, num_threads=2)

    expected = np.where(nonzeros(*drawn)[..., None], on, off)
    assert expected.astype(np.uint8).tobytes() == out.tobytes()


@pytest.mark.parametrize("width", WIDTHS)
@few
@given(drawn=columns(), has_table=st.booleans())
def test_encode_block_writes_planes(mode, has_table, width, drawn):
    """One column becomes planes; without a table, the codes are the columns."""
    codes, table = drawn[0][0], drawn[1][0]
    if not has_table:
        table = np.append(np.arange(len(table) - 1, dtype=np.int32), np.int32(-1))
    on, off = elements(width)
    n_columns = int(table.max()) + 1
    out = np.zeros((n_columns, len(codes)), f"V{width}")

    dispatch.encode_block(codes, table if has_table else None, out, on, off, num_threads=2)

    is_on = nonzeros([codes], [table], n_columns).T
    assert np.where(is_on[..., None], on, off).astype(np.uint8).tobytes() == out.tobytes()


@few
@given(drawn=columns(), line=st.sampled_from((1, 64)))
def test_encode_bits_writes_the_bits_of_arrow(mode, drawn, line):
    """Arrow's bits: the lowest first, 0 behind the last row; the bytes after these stay."""
    codes, tables, _ = drawn
    n_columns = int(tables[0].max()) + 1
    n_bytes = (len(codes[0]) + 7) // 8
    shape = n_columns, -(-n_bytes // line) * line
    out, _ = memory.allocate(shape, np.dtype(np.uint8))
    out.fill(255)

    dispatch.encode_bits(codes[0], tables[0], out, num_threads=2)

    is_on = nonzeros(codes[:1], tables[:1], n_columns).T
    assert np.array_equal(np.packbits(is_on, axis=1, bitorder="little"), out[:, :n_bytes])
    assert (out[:, n_bytes:] == 255).all()


def test_rows_of_many_bits_start_at_cache_lines():
    """Padding bytes are 0, in recycled memory too."""
    codes = np.random.default_rng(0).integers(-1, 60, 8 * write.LONG_BITS + 3).astype(np.int8)
    for _ in range(2):
        packed = write.bits([CodedColumn(codes, None, 60)])
        assert packed.shape[1] == write.LONG_BITS + write.LINE
        is_on = codes == np.arange(60)[:, None]
        is_on = np.pad(is_on, ((0, 0), (0, 8 * packed.shape[1] - len(codes))))
        np.testing.assert_array_equal(packed, np.packbits(is_on, axis=1, bitorder="little"))
        packed.fill(255)


@pytest.mark.parametrize("form", ["csr", "csc"])
@few
@given(drawn=columns(), threads=st.sampled_from((1, 2)))
def test_csr_and_csc_list_the_nonzeros_in_order(mode, threads, form, drawn):
    """CSR has the nonzeros row by row, CSC column by column, sorted, also with empty rows."""
    codes, tables, n_columns = drawn
    is_on = nonzeros(*drawn) if form == "csr" else nonzeros(*drawn).T

    is_csc = form == "csc"
    data, indices, indptr = sparse.compressed(codes, tables, n_columns, np.float32, is_csc, threads)

    major, minor = np.nonzero(is_on)
    assert np.array_equal(minor, indices)
    assert np.array_equal(np.searchsorted(major, np.arange(len(is_on) + 1)), indptr)
    assert np.array_equal(np.ones(len(major), np.float32), data)
    assert indices.dtype == indptr.dtype == np.int32


@few
@given(drawn=columns(), threads=st.sampled_from((1, 2)))
def test_recode_maps_codes_by_the_look_up_table(mode, drawn, threads):
    """Codes become the entries of their table; other values become the last entry."""
    for column, table in zip(*drawn[:2], strict=True):
        assert np.array_equal(recode(column, table, threads), look_up(column, table))


@examples(0.6)
@given(drawn=columns(), n_codes=st.integers(0, 130) | st.just(100_000))
def test_count_counts_codes_below_the_limit(drawn, n_codes):
    """Every code below the limit is counted, and nothing else."""
    codes = drawn[0][0]

    counts = dispatch.count(codes, n_codes)

    is_code = (codes >= 0) & (codes < n_codes)
    expected = np.bincount(codes[is_code].astype(np.int64), minlength=n_codes)
    assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("last", "dtype"),
    [
        *((-1, "i1"), (127, "i1"), (128, "i2"), (2**15 - 1, "i2"), (2**15, "i4")),
        *((2**31 - 2, "i4"), (2**31 - 1, "i4")),
    ],
)
def test_recode_takes_as_few_bytes_as_hold_the_codes(mode, last, dtype):
    """The highest column decides; no code is cut."""
    codes, table = np.tile([0, 1, -1, 9], 5000), np.array([last, min(last, 0), -1], np.int32)
    places = recode(codes, table)

    assert places.dtype == dtype
    assert places.tolist() == [last, min(last, 0), -1, -1] * 5000


def test_the_kernels_read_every_index_type():
    """The kernels read every index type there is, except float16, which is widened."""
    assert set(dispatch.INDEX_DTYPES) == set(INDEX_DTYPES) - {np.dtype("f2")}


@pytest.mark.parametrize("num_threads", [-1, 0])
def test_a_kernel_without_threads_has_one(num_threads):
    """GNU OpenMP would end the process over a negative number."""
    indices, out = np.zeros(3 << 20, np.int8), np.zeros(3 << 20, np.uint8)
    on, off = np.full(1, 7, np.uint8), np.zeros(1, np.uint8)
    dispatch.encode(indices, out, 1, 1, on, off, num_threads=num_threads)

    assert (out == 7).all()


def test_csc_notices_codes_that_change_while_it_reads(monkeypatch):
    """CSC counts first and then writes: rows that are not written would be any numbers."""
    codes = np.arange(100, dtype=np.int8) % 3
    real = dispatch.csc

    def csc(*arguments):
        real(*arguments)
        codes[:] = 2

    monkeypatch.setattr(dispatch, "csc", csc)
    with pytest.raises(RuntimeError, match="another thread changed the codes"):
        sparse.compressed([codes], [None], 3, np.int8, is_csc=True)


@pytest.mark.parametrize("lowest", [0, -1], ids=["full rows", "rows with gaps"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_positions_of_64_bits_equal_those_of_32(lowest, num_threads, monkeypatch):
    """64-bit positions, as for more than 2**31 nonzeros, equal those of 32 bits."""
    n, depth = 40_000, 21
    rng = np.random.default_rng(0)
    codes = [rng.integers(lowest, depth, n).astype(dtype) for dtype in ("i1", "i8")]
    tables = [np.array([*range(start, start + depth), -1], "i4") for start in (0, depth)]
    offsets = np.sort(rng.integers(0, n, n // 3))

    def results():
        for is_csc in (False, True):
            yield sparse.compressed(codes, tables, 2 * depth, np.int8, is_csc, num_threads)
        yield sparse.multi_hot_counts(offsets, codes[1], None, depth, np.int8)

    expected = list(results())
    monkeypatch.setattr(sparse, "_position_dtype", lambda *_: np.dtype(np.int64))
    for narrow, wide in zip(expected, results(), strict=True):
        assert [part.dtype for part in wide[1:]] == [np.int64, np.int64]
        for each, other in zip(narrow, wide, strict=True):
            np.testing.assert_array_equal(each, other)


def drawn_codes(data, n_codes, dtype):
    """Draw codes below `n_codes`; -1 is a missing value, if the dtype has a sign."""
    choices = range(0 if dtype[0] == "u" else -1, n_codes)
    return data.draw(st.lists(st.sampled_from(choices), max_size=9)) if choices else []


@few
@given(
    st.lists(st.integers(-1, 40), max_size=40),
    st.integers(-1, 40),
    st.sampled_from(CODE_DTYPES),
    st.data(),
)
def test_the_feature_of_a_code_may_be_its_position(positions, missing, dtype, data):
    """The feature of a code is its position; a missing value has the position `missing`."""
    codes = drawn_codes(data, len(positions), dtype)

    column = CodedColumn.of_positions(
        np.array(codes, dtype), np.array(positions, np.int64), 41, missing
    )

    expected = [positions[code] if code >= 0 else missing for code in codes]
    assert column.features().tolist() == expected
    assert (column.lut.dtype, column.n_features) == (np.int32, 41)


@few
@given(st.integers(0, 40), st.sampled_from(CODE_DTYPES), st.data())
def test_the_feature_of_a_code_may_be_its_place_in_an_order(n_codes, dtype, data):
    """The feature of a code is its place in the order; other codes and missing values have none."""
    order = data.draw(st.permutations(range(n_codes)).map(lambda all_codes: all_codes[::2]))
    codes = drawn_codes(data, n_codes, dtype)

    column = CodedColumn.of_order(np.array(codes, dtype), np.array(order, np.int64), n_codes)

    expected = [order.index(code) if code in order else -1 for code in codes]
    assert column.features().tolist() == expected
    assert (len(column.lut), column.n_features) == (n_codes + 1, len(order))
