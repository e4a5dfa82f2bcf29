"""The functions of `write` against a matrix that is filled cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast.adapter import CodedColumn, write

CODES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@st.composite
def columns(draw: st.DrawFn) -> list[CodedColumn]:
    """Return columns of the same rows, with and without a look-up table."""
    n_rows, repeats = draw(st.integers(0, 12)), draw(st.sampled_from([1, 33]))  # few, and many rows

    def column() -> CodedColumn:
        n_outputs = draw(st.integers(0, 5))
        n_codes, lut = n_outputs, None
        if n_outputs == 0 or draw(st.booleans()):
            n_codes = draw(st.integers(1, 5))
            entries = [draw(st.integers(-1, n_outputs - 1)) for _ in range(n_codes + 1)]
            lut = np.array(entries, np.int32)
        dtype = np.dtype(draw(st.sampled_from(CODES)))
        values = st.integers(0 if dtype.kind == "u" else -1, n_codes - 1)
        codes = [draw(values) for _ in range(n_rows)]
        return CodedColumn(np.array(codes * repeats, dtype), lut, n_outputs)

    return [column() for _ in range(draw(st.integers(1, 3)))]


def expected(columns: list[CodedColumn]) -> np.ndarray[Any, Any]:
    """Return the matrix of all columns, cell by cell."""
    n_rows, width = len(columns[0].codes), sum(column.n_outputs for column in columns)
    matrix = np.zeros((n_rows, width), np.uint8)
    start = 0
    for column in columns:
        for row, code in enumerate(column.codes.tolist()):
            output = code if column.lut is None else int(column.lut[code])  # -1 is the last entry
            if output >= 0:
                matrix[row, start + output] = 1
        start += column.n_outputs
    return matrix


@given(given_columns=columns())
def test_every_form_holds_the_same(given_columns: list[CodedColumn]) -> None:
    matrix = expected(given_columns)
    n_rows, width = matrix.shape
    rows = write.rows(given_columns, "uint8")
    by_output = write.columns(given_columns, "uint8")
    packed = write.bits(given_columns)
    values, indices, indptr = write.sparse_parts("csr", given_columns, "uint8")

    np.testing.assert_array_equal(rows, matrix)
    np.testing.assert_array_equal(by_output, matrix.T)
    bits = np.unpackbits(packed, axis=1, bitorder="little", count=n_rows)
    np.testing.assert_array_equal(bits.reshape(width, n_rows), matrix.T)
    np.testing.assert_array_equal(indices, np.nonzero(matrix)[1])
    np.testing.assert_array_equal(indptr, [0, *np.cumsum(matrix.sum(axis=1))])
    assert (values == 1).all()
    _, by_column, ends = write.sparse_parts("csc", given_columns, "uint8")
    np.testing.assert_array_equal(by_column, np.nonzero(matrix.T)[1])
    np.testing.assert_array_equal(ends, [0, *np.cumsum(matrix.sum(axis=0))])


def test_long_bits_start_at_cache_lines() -> None:
    """Padding bytes are 0, in recycled memory too."""
    codes = np.random.default_rng(0).integers(-1, 60, 8 * write.LONG_BITS + 3).astype(np.int8)
    for _ in range(2):
        packed = write.bits([CodedColumn(codes, None, 60)])
        assert packed.shape[1] == write.LONG_BITS + write.LINE
        is_on = codes == np.arange(60)[:, None]
        is_on = np.pad(is_on, ((0, 0), (0, 8 * packed.shape[1] - len(codes))))
        np.testing.assert_array_equal(packed, np.packbits(is_on, axis=1, bitorder="little"))
        packed.fill(255)
