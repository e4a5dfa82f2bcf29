"""The borders of the kernels: what the dispatch layer accepts, and what it refuses.

An output that a kernel cannot write in place must be an error: writing to a copy would lose it.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from onehot_fast._kernels import dispatch
from support.strategies import INDEX_DTYPES

CODE_DTYPES = [dtype for dtype in dispatch.INDEX_DTYPES if dtype.kind in "iu"]
ALL_DTYPES = [np.dtype(letter) for letter in np.typecodes["All"]]
N, DEPTH = 6, 3
ON, OFF = np.array(1, np.float32), np.array(0, np.float32)
LUT = np.array([2, 1, 0, -1], np.int32)
OFFSETS = np.array([0, 2, 2, N], np.int64)


def float_matrix(*shape):
    return np.full(shape, 7, np.float32)


# Each kernel of one column: a call with its indices and its output, and a new output.
KERNELS = {
    "encode": (
        lambda codes, out, lut=LUT: dispatch.encode(codes, out, DEPTH, 1, ON, OFF),
        lambda: float_matrix(N, DEPTH),
    ),
    "encode_block": (
        lambda codes, out, lut=LUT: dispatch.encode_block(codes, lut, out, ON, OFF),
        lambda: float_matrix(DEPTH, N),
    ),
    "encode_bits": (
        lambda codes, out, lut=LUT: dispatch.encode_bits(codes, lut, out),
        lambda: np.full((DEPTH, 1), 7, np.uint8),
    ),
    "recode": (
        lambda codes, out, lut=LUT: dispatch.recode(codes, lut, out, 1),
        lambda: np.full(N, 7, np.int16),
    ),
    "encode_ragged": (
        lambda codes, out, lut=LUT: dispatch.encode_ragged([OFFSETS], [codes], [lut], out, ON, OFF),
        lambda: float_matrix(len(OFFSETS) - 1, DEPTH),
    ),
    "multi_hot_count": (
        lambda codes, out, lut=LUT: dispatch.multi_hot_count(OFFSETS, codes, lut, out),
        lambda: np.zeros((len(OFFSETS) - 1, DEPTH), np.int16),
    ),
    "encode_matrix": (
        lambda codes, out, lut=LUT: dispatch.encode_matrix(
            [codes, codes], [lut, lut], out, ON, OFF
        ),
        lambda: float_matrix(N, DEPTH),
    ),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
CODES = np.arange(N) % (DEPTH + 1)


def result_of(kernel, codes):
    """Return the output of a kernel."""
    call, new_output = KERNELS[kernel]
    out = new_output()
    call(codes, out)
    return out


@every_kernel
def test_every_dtype_has_its_specialisation_and_every_other_is_an_error(kernel):
    accepted = dispatch.INDEX_DTYPES if kernel == "encode" else CODE_DTYPES
    expected = result_of(kernel, CODES)
    foreign = [dtype.newbyteorder() for dtype in INDEX_DTYPES if dtype.itemsize > 1]
    for dtype in [*ALL_DTYPES, *foreign]:
        if dtype in accepted:
            np.testing.assert_array_equal(result_of(kernel, CODES.astype(dtype)), expected)
        else:
            codes = np.zeros(N, dtype)
            with pytest.raises(ValueError, match=re.escape(str(codes.dtype))):
                result_of(kernel, codes)


@every_kernel
def test_indices_may_be_read_only(kernel):
    codes = CODES.copy()
    codes.flags.writeable = False
    np.testing.assert_array_equal(result_of(kernel, codes), result_of(kernel, CODES))


def test_no_rows_write_nothing():
    """An empty memoryview has no first element, whose address a kernel could take."""
    none, row = CODES[:0], float_matrix(0, DEPTH)
    dispatch.encode(none, row, DEPTH, 1, ON, OFF)
    dispatch.encode(CODES, float_matrix(N, 0), 0, 1, ON, OFF)
    dispatch.encode_block(none, LUT, float_matrix(DEPTH, 0), ON, OFF)
    dispatch.encode_block(CODES, LUT, float_matrix(0, N), ON, OFF)
    dispatch.encode_bits(none, LUT, np.empty((DEPTH, 0), np.uint8))
    dispatch.encode_bits(CODES, LUT, np.empty((0, 1), np.uint8))
    dispatch.recode(none, LUT, np.zeros(0, np.int16), 1)
    dispatch.encode_ragged([OFFSETS[:1]], [none], [LUT], row, ON, OFF)
    dispatch.encode_ragged([None], [CODES], [LUT], float_matrix(N, 0), ON, OFF)
    dispatch.multi_hot_count(OFFSETS[:1], none, LUT, row)
    dispatch.encode_matrix([none], [LUT], row, ON, OFF)
    assert dispatch.count(none, DEPTH).tolist() == [0] * DEPTH
    assert dispatch.first_invalid(none, 0, DEPTH, None) == -1
    for shape in [(0, DEPTH, 1), (N, DEPTH, 0)]:
        classes, *faults = dispatch.decode(float_matrix(*shape), ON, None, -1, 1)
        assert (len(classes), faults) == (0, [-1, -1, -1])
    assert dispatch.decode(float_matrix(2, 0, 3), ON, None, 5, 1)[0].tolist() == [5] * 6
    empty = np.zeros(0, np.int32)
    counts = np.zeros(0, np.int64)
    assert (
        dispatch.multi_hot_csr(OFFSETS[:1], none, LUT, empty, np.zeros(1, np.int64), counts, DEPTH)
        == 0
    )


@pytest.mark.parametrize("dtype", CODE_DTYPES, ids=str)
def test_rows_are_counted_once_for_each_feature(dtype):
    """`count_rows` counts a row once for each feature, even if two of its codes share one."""
    codes = np.array([0, 1, 2, 2, 3, 3], dtype)
    lut = np.array([1, 1, 0, 2, -1], np.int32)

    assert dispatch.count_rows(OFFSETS, codes, lut, DEPTH).tolist() == [1, 1, 1]
    assert dispatch.count_rows(OFFSETS, codes, None, DEPTH).tolist() == [1, 1, 1]
    assert dispatch.count_rows(OFFSETS[:1], codes[:0], lut, 0).tolist() == []
    with pytest.raises(ValueError, match="offsets"):
        dispatch.count_rows(np.array([0, 7]), codes, lut, DEPTH)


@pytest.mark.parametrize("dtype", CODE_DTYPES, ids=str)
def test_columns_of_both_kinds_share_a_matrix(dtype):
    """Ragged and plain columns fill one matrix, dense or CSR, with codes of every dtype."""
    codes = np.array([0, 1, 2, 2, 3, 3], dtype)
    plain = np.array([1, 0, 2], np.int8)
    ragged_lut, plain_lut = np.array([1, 1, 0, 2, -1], np.int32), np.array([3, 4, -1, -1], np.int32)
    columns = [OFFSETS, None], [codes, plain], [ragged_lut, plain_lut]
    expected = [[0, 1, 0, 0, 1], [0, 0, 0, 1, 0], [1, 0, 1, 0, 0]]
    out = float_matrix(3, 5)
    indices, indptr = np.full(9, 7, np.int32), np.full(4, 7)

    dispatch.encode_ragged(*columns, out, ON, OFF)
    total = dispatch.csr_ragged(*columns, indices, indptr, 5)

    assert out.tolist() == expected
    assert total == 5
    assert (indices[:total].tolist(), indptr.tolist()) == ([1, 4, 3, 0, 2], [0, 2, 3, 5])
    rows, starts = np.full(total, 7), np.array([0, 1, 2, 3, 4])
    dispatch.transpose(indices[:total], indptr, rows, starts)
    assert (rows.tolist(), starts.tolist()) == ([2, 0, 2, 1, 0], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], []), "one or more columns"),
        (([OFFSETS], [CODES], []), "one or more columns"),
        (([OFFSETS, None], [CODES, CODES], [LUT, LUT]), "column 1: there must be 3 rows"),
        (([np.array([0, 1, N + 1, N])], [CODES], [LUT]), "offsets"),
        (([np.array([-1, 0, 1, 2])], [CODES], [LUT]), "offsets"),
        (([OFFSETS], [CODES.astype(float)], [LUT]), "column 0: codes"),
        (([OFFSETS], [CODES], [LUT[:0]]), "look-up table"),
    ],
)
def test_columns_that_do_not_fit_are_an_error(columns, message):
    with pytest.raises(ValueError, match=message):
        dispatch.encode_ragged(*columns, float_matrix(3, DEPTH), ON, OFF)
    with pytest.raises(ValueError, match=message):
        dispatch.csr_ragged(*columns, np.zeros(20, np.int32), np.zeros(4, np.int64), DEPTH)


def test_a_row_may_have_more_codes_than_a_block():
    """A block of CSR has a number of codes unless one row has more."""
    rng = np.random.default_rng(0)
    lengths = np.array([3, 20_000, 0, 5, 9_000])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    codes = rng.integers(0, 50, offsets[-1])
    indices, indptr = np.zeros(len(codes), np.int32), np.zeros(6, np.int64)

    total = dispatch.csr_ragged([offsets], [codes], [None], indices, indptr, 50)

    rows = np.split(codes, offsets[1:-1])
    expected = [np.unique(row).tolist() for row in rows]
    assert [each.tolist() for each in np.split(indices[:total], indptr[1:-1])] == expected


@every_kernel
def test_an_output_with_gaps_is_an_error(kernel):
    call, new_output = KERNELS[kernel]
    plain = new_output()
    wide = np.zeros((*plain.shape[:-1], 2 * plain.shape[-1]), plain.dtype)
    with pytest.raises(ValueError, match="contiguous"):
        call(CODES, wide[..., ::2])
    assert not wide.any()


@every_kernel
def test_a_read_only_output_is_an_error(kernel):
    call, new_output = KERNELS[kernel]
    out = new_output()
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        call(CODES, out)


@every_kernel
def test_an_output_of_another_size_is_an_error(kernel):
    call, new_output = KERNELS[kernel]
    out = new_output()
    if kernel == "encode_bits":  # which accepts rows that are too long
        out = out[:, :0]
    else:
        out = np.concatenate([out, out], axis=int(kernel == "encode_block"))
    with pytest.raises(ValueError, match=r"must (be|have) .*(elements|rows|bytes)"):
        call(CODES, out)


@pytest.mark.parametrize("kernel", ["encode_block", "encode_bits", "recode", "encode_ragged"])
@pytest.mark.parametrize(
    ("lut", "fault"),
    [
        (LUT.astype(np.int64), "dtype"),
        (LUT[::2], "contiguous"),
        (LUT[None], "dimensions"),
        (LUT[:0], "at least one entry"),
    ],
)
def test_a_look_up_table_is_contiguous_int32(kernel, lut, fault):
    call, new_output = KERNELS[kernel]
    with pytest.raises(ValueError, match=fault):
        call(CODES, new_output(), lut)


def test_decoding_accepts_elements_of_any_dtype():
    """Elements are compared as unsigned integers of their width."""
    labels = np.array([2, 0, 1])
    for dtype in ("?", "i1", "S2", "f2", "U1", "f4", "M8[s]", "c8", "V8"):
        raw = np.array([3, 5], f"u{np.dtype(dtype).itemsize}")
        cube = raw[(labels[:, None] == np.arange(DEPTH)).astype(int)].view(dtype)[..., None]
        off, on = raw[:1].view(dtype), raw[1:].view(dtype)
        found = dispatch.decode(cube, on, off, -1, 1)
        assert found[0].tolist() == labels.tolist()
        assert found[1:] == (-1, -1, -1)
