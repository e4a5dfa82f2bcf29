"""A block of columns as an Arrow struct array that shares and keeps its memory."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from onehot_fast.adapter import ArrowBlock, read_arrow


def bits():
    """Return two Boolean columns of ten rows."""
    truth = np.arange(20).reshape(2, 10) % 3 == 0
    return np.packbits(truth, axis=1, bitorder="little"), truth.tolist()


FORMATS = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8",
}  # fmt: skip


@pytest.mark.parametrize("letter", FORMATS)
def test_pyarrow_reads_columns_as_rows_of_the_block(letter):
    """The columns of the batch are rows of the block, without a copy."""
    pa = pytest.importorskip("pyarrow")
    block = np.arange(6, dtype=FORMATS[letter]).reshape(2, 3)

    batch = pa.record_batch(ArrowBlock(["a", "é"], block, 3, letter, 8 * block.itemsize))

    batch.validate(full=True)
    assert batch.schema.names == ["a", "é"]
    for column, row in zip(batch.columns, block, strict=True):
        assert np.asarray(column).tolist() == row.tolist()
        assert column.buffers()[1].address == row.ctypes.data


@pytest.mark.parametrize("library", ["pyarrow", "polars", "nanoarrow"])
def test_booleans_are_bits_of_the_block(library):
    module = pytest.importorskip(library)
    packed, truth = bits()
    rows = [dict(zip("ab", row, strict=True)) for row in zip(*truth, strict=True)]
    make = {"pyarrow": "array", "polars": "Series", "nanoarrow": "Array"}[library]

    struct = getattr(module, make)(ArrowBlock(["a", "b"], packed, 10, "b", 1))

    assert (struct.to_list() if library == "polars" else struct.to_pylist()) == rows


def test_our_own_reader_reads_the_block():
    (array,) = read_arrow(ArrowBlock(["a", "b"], np.array([[1, 2], [3, 4]], "u1"), 2, "C", 8))

    assert [field.name for field in array.schema.children] == ["a", "b"]
    assert [array.child(i).codes().tolist() for i in range(2)] == [[1, 2], [3, 4]]


@pytest.mark.parametrize(("shape", "n_rows"), [((0, 4), 4), ((2, 0), 0)], ids=str)
def test_a_block_without_rows_or_columns_is_exported(shape, n_rows):
    pa = pytest.importorskip("pyarrow")
    names = list("ab")[: shape[0]]

    array = pa.array(ArrowBlock(names, np.zeros(shape, "u1"), n_rows, "C", 8))

    array.validate(full=True)
    assert (len(array), array.type.num_fields) == (n_rows, shape[0])


def test_users_keep_the_block():
    """A column keeps it even after its batch, and so do two exports and capsules."""
    pa = pytest.importorskip("pyarrow")
    block = np.array([[1, 2], [3, 4]], "u1")
    before = sys.getrefcount(block)
    exported = ArrowBlock(["a", "b"], block, 2, "C", 8)
    kept = [pa.record_batch(exported).column(1), pa.record_batch(exported)]
    kept.append(exported.__arrow_c_array__())

    assert pa.schema(exported) == kept[1].schema
    del exported
    gc.collect()
    assert (kept[0].to_pylist(), kept[1].to_pydict()) == ([3, 4], {"a": [1, 2], "b": [3, 4]})
    while kept:
        assert sys.getrefcount(block) > before
        kept.pop(0)
    assert sys.getrefcount(block) == before


@pytest.mark.parametrize(
    ("names", "block", "n_rows", "message"),
    [
        (["a"], np.zeros(4, "u1"), 4, "one contiguous row for each name"),
        (["a"], np.zeros((2, 4), "u1"), 4, "one contiguous row for each name"),
        (["a"], np.zeros((1, 8), "u1")[:, ::2], 4, "one contiguous row for each name"),
        (["a"], np.zeros((1, 4), "u1"), 5, "must have room for 5 values of 8 bits"),
        (["a"], np.zeros((1, 4), "u1"), -1, "must have room for -1 values"),
        # The number of bits is beyond 64-bit integers.
        (["a"], np.zeros((1, 4), "u1"), 2**62, f"must have room for {2**62} values"),
    ],
)
def test_blocks_of_a_wrong_size_are_rejected(names, block, n_rows, message):
    with pytest.raises(ValueError, match=message):
        ArrowBlock(names, block, n_rows, "C", 8)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_a_new_shape_of_the_block_does_not_change_the_export():
    pa = pytest.importorskip("pyarrow")
    block = np.arange(6, dtype=np.int8).reshape(2, 3)
    exported = ArrowBlock(["a", "b"], block, 3, "c", 8)
    exported.block.shape = (6, 1)

    columns = pa.record_batch(exported).columns
    assert [column.to_pylist() for column in columns] == [[0, 1, 2], [3, 4, 5]]
