"""The reader of the Arrow C data interface with handmade structures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from onehot_fast.adapter import read_arrow as read
from support.arrow_producer import INTEGERS, dictionary_pair, packed, producer

__all__ = ["producer"]


def read_one(producer, format, buffers, **fields):
    """Make an array without children, and read it."""
    (array,) = read(producer.pair(producer.schema(format), producer.array(buffers, **fields)))
    return array


# ---- Integers and indices ----


@pytest.mark.parametrize("format", INTEGERS)
def test_integers_are_a_view_of_the_memory_of_the_producer(producer, format):
    """The codes of integers without nulls share the producer's memory, and are read-only."""
    data = np.arange(10, dtype=INTEGERS[format])
    codes = read_one(producer, format.encode(), [None, data], length=7, offset=2).codes()

    assert (codes.dtype, codes.tolist()) == (data.dtype, [2, 3, 4, 5, 6, 7, 8])
    assert np.shares_memory(codes, data)
    assert not codes.flags.writeable


@pytest.mark.parametrize("format", INTEGERS)
def test_nulls_are_minus_one(producer, format):
    """A null is -1 in a signed copy; other values are unchanged."""
    for n, begin in itertools.product([0, 1, 9, 65, 1024, 2100], [0, 3, 8]):
        random = np.random.default_rng(n)
        data = random.integers(0, 120, n + begin).astype(INTEGERS[format])
        valid = random.random(n) < 0.8
        rows = {"length": n, "offset": begin, "null_count": -1}
        array = read_one(producer, format.encode(), [packed(valid, begin), data], **rows)
        expected = np.where(valid, data[begin:].astype(np.int64), -1)
        codes, rows = array.codes(), array.valid()

        assert codes.tolist() == expected.tolist()
        assert valid.all() or codes.dtype.kind == "i"
        assert array.null_count == n - valid.sum()
        assert (rows is None and valid.all()) or rows.tolist() == valid.tolist()


def test_a_bitmap_without_a_null_needs_no_copy(producer):
    """The bits of the rows decide, even if the producer counts nulls."""
    data = np.arange(100, dtype=np.uint8)
    bitmap = packed([0] * 9 + [1] * 90 + [0])
    array = read_one(producer, b"C", [bitmap, data], length=90, offset=9, null_count=10)

    assert np.shares_memory(array.codes(), data)
    assert (array.null_count, array.valid()) == (0, None)


def test_unaligned_integers_are_copied(producer):
    block = np.zeros(17, np.uint8)
    data = block[1:]
    data[:] = np.array([3, 1, 2, 0], np.int32).view(np.uint8)
    whole = read_one(producer, b"i", [None, data], length=4)
    nulls = read_one(producer, b"i", [packed([1, 0, 1, 1]), data], length=4, null_count=1)

    assert whole.codes().tolist() == [3, 1, 2, 0]
    assert nulls.codes().tolist() == [3, -1, 2, 0]


@pytest.mark.parametrize(
    ("format", "n_texts", "dtype"),
    [("C", 128, "i1"), ("C", 129, "i2"), ("S", 1 << 15, "i2"), ("S", (1 << 15) + 1, "i4"),
     ("I", 1 << 31, "i4"), ("I", (1 << 31) + 1, "i8"), ("L", 5, "i8"), ("c", 300, "i1")],
)  # fmt: skip
def test_codes_are_as_wide_as_the_dictionary_needs(producer, format, n_texts, dtype):
    """An unsigned index with nulls is widened if half its range is too small."""
    (array,) = read(dictionary_pair(producer, [1, 0], format, n_texts, valid=[1, 0]))

    assert (array.codes().dtype, array.codes().tolist()) == (np.dtype(dtype), [1, -1])


@pytest.mark.parametrize("n", [1, 4, 1024, 5000])
@pytest.mark.parametrize("has_nulls", [False, True])
@pytest.mark.parametrize("n_texts", [0, 1, 3, 200, 1 << 40])
@pytest.mark.parametrize("format", INTEGERS)
def test_an_index_outside_its_dictionary_is_rejected(producer, format, n_texts, has_nulls, n):
    """The error has the first row in any block, value and length; values of nulls are ignored."""
    limits = np.iinfo(INTEGERS[format])
    codes = np.zeros(n, INTEGERS[format])
    valid, first = (np.arange(n) >= n // 2, n // 2) if has_nulls else (None, 0)
    codes[:first] = 77
    row = n - 1 if n_texts else first
    for wrong in (-1, n_texts):
        if limits.min <= wrong <= limits.max:
            codes[-1] = wrong
            (array,) = read(dictionary_pair(producer, codes, format, n_texts, valid))
            message = rf"row {row}: .*\[0, {n_texts}\), got {codes[row]}"
            with pytest.raises(ValueError, match=message):
                array.codes()
    if n_texts:
        codes[-1] = last = min(n_texts - 1, limits.max)
        (array,) = read(dictionary_pair(producer, codes, format, n_texts, valid))
        assert array.codes()[-1] == last


def test_a_uint64_beyond_int64_is_rejected_beside_a_null(producer):
    data = np.array([1, 2**63, 5], np.uint64)
    whole = read_one(producer, b"L", [None, data], length=3)
    nulls = read_one(producer, b"L", [packed([1, 1, 0]), data], length=3, null_count=1)

    assert whole.codes().tolist() == data.tolist()
    with pytest.raises(ValueError, match=r"row 1: .* below 2\*\*63, got 9223372036854775808"):
        nulls.codes()


@pytest.mark.parametrize("format", [b"C", b"b"])
def test_an_empty_array_needs_no_buffers(producer, format):
    array = read_one(producer, format, [None, None])

    assert (array.codes().shape, array.valid(), len(array)) == ((0,), None, 0)


# ---- Structs ----


BLOCK_DTYPES = ("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8")


@pytest.mark.parametrize("begin", [0, 3])
@pytest.mark.parametrize("dtype", BLOCK_DTYPES)
def test_columns_of_one_type_are_read_as_a_matrix(dtype, begin):
    """Columns of one type are read as a matrix; mixed types, nulls or no columns give None."""
    pyarrow = pytest.importorskip("pyarrow")
    rows = (np.arange(60).reshape(4, 15) % 7 % 2).astype(dtype)
    if dtype == "f2" and int(pyarrow.__version__.split(".")[0]) < 21:
        pytest.skip("this pyarrow makes float16 of NumPy's scalars alone")
    names = list("abcd")
    batch = pyarrow.RecordBatch.from_arrays([*map(pyarrow.array, rows)], names).slice(begin)
    (array,) = read(batch)

    for positions in ([0, 1, 2, 3], [3, 1, 1], [2]):
        block = array.block(positions)
        assert (block.dtype, block.flags.c_contiguous) == (np.dtype(dtype), True)
        np.testing.assert_array_equal(block, rows[positions, begin:])
    assert array.block([]) is None
    for other in (
        pyarrow.array([None, *rows[0].tolist()[1:]], batch.schema.types[0]),
        pyarrow.array(rows[0].astype("f8" if dtype != "f8" else "f4")),
        pyarrow.array(["x"] * 15),
        pyarrow.array(rows[0].tolist()).dictionary_encode(),
    ):
        mixed = pyarrow.RecordBatch.from_arrays([pyarrow.array(rows[0]), other], ["a", "b"])
        (array,) = read(mixed.slice(0, 15 - begin))
        assert array.block([0, 1]) is None
        np.testing.assert_array_equal(array.block([0]), rows[:1, : 15 - begin])
    with pytest.raises(IndexError, match=r"must be in \[0, 2\), got 2"):
        array.block([0, 2])
    with pytest.raises(TypeError, match="not a struct"):
        array.child(0).block([0])


def test_a_matrix_may_have_no_rows():
    pyarrow = pytest.importorskip("pyarrow")
    (empty,) = read(pyarrow.RecordBatch.from_arrays([pyarrow.array([], "bool")] * 2, ["a", "b"]))
    assert empty.block([1, 0]).shape == (2, 0)


@pytest.mark.parametrize("format", [b"u", b"g", b"+s", b"n"])
def test_other_types_have_no_codes(producer, format):
    n_buffers = {b"u": 3, b"g": 2, b"+s": 1, b"n": 0}[format]
    array = read_one(producer, format, [None] * n_buffers)

    with pytest.raises(
        TypeError, match="must be an array of integers or Booleans or a dictionary array"
    ):
        array.codes()
