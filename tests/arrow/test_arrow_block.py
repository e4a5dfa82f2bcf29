"""A block of columns as an Arrow struct array that shares and keeps its memory."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from onehot_fast.adapter import ArrowBlock


def bits() -> Any:
    """Return two Boolean columns of ten rows."""
    truth = np.arange(20).reshape(2, 10) % 3 == 0
    return np.packbits(truth, axis=1, bitorder="little"), truth.tolist()


FORMATS = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8",
}  # fmt: skip


class TestImport:
    """What other libraries make of it."""

    @pytest.mark.parametrize("letter", FORMATS)
    def test_pyarrow(self, letter):
        """The columns of the batch are rows of the block, without a copy."""
        pa = pytest.importorskip("pyarrow")
        block = np.arange(6, dtype=FORMATS[letter]).reshape(2, 3)

        batch = pa.record_batch(ArrowBlock(["a", "é"], block, 3, letter, 8 * block.itemsize))

        batch.validate(full=True)
        assert batch.schema.names == ["a", "é"]
        assert [np.asarray(column).tolist() for column in batch.columns] == block.tolist()
        assert all(
            column.buffers()[1].address == row.ctypes.data
            for column, row in zip(batch.columns, block, strict=True)
        )

    def test_pyarrow_booleans(self):
        pa = pytest.importorskip("pyarrow")
        packed, truth = bits()

        batch = pa.record_batch(ArrowBlock(["a", "b"], packed, 10, "b", 1))

        batch.validate(full=True)
        assert [column.to_pylist() for column in batch.columns] == truth

    def test_polars(self):
        pl = pytest.importorskip("polars")
        packed, truth = bits()

        struct = pl.Series(ArrowBlock(["a", "b"], packed, 10, "b", 1))

        assert [column.to_list() for column in struct.struct.unnest()] == truth

    def test_nanoarrow(self):
        na = pytest.importorskip("nanoarrow")

        array = na.Array(ArrowBlock(["a"], np.array([[1, 2, 3]], "i2"), 3, "s", 16))

        assert array.schema.type == na.Type.STRUCT
        assert array.to_pylist() == [{"a": 1}, {"a": 2}, {"a": 3}]

    def test_our_own_reader(self):
        from onehot_fast.adapter import read_arrow as read

        (array,) = read(ArrowBlock(["a", "b"], np.array([[1, 2], [3, 4]], "u1"), 2, "C", 8))

        assert [field.name for field in array.schema.children] == ["a", "b"]
        assert [array.child(i).codes().tolist() for i in range(2)] == [[1, 2], [3, 4]]

    @pytest.mark.parametrize(("shape", "n_rows"), [((0, 4), 4), ((2, 0), 0)], ids=str)
    def test_nothing(self, shape, n_rows):
        pa = pytest.importorskip("pyarrow")
        names = list("ab")[: shape[0]]

        array = pa.array(ArrowBlock(names, np.zeros(shape, "u1"), n_rows, "C", 8))

        array.validate(full=True)
        assert (len(array), array.type.num_fields) == (n_rows, shape[0])


class TestLife:
    """Whose memory it is."""

    def test_a_column_keeps_the_block(self):
        """The last column releases the block, even after its batch."""
        pa = pytest.importorskip("pyarrow")
        block = np.array([[1, 2], [3, 4]], "u1")
        before = sys.getrefcount(block)

        column = pa.record_batch(ArrowBlock(["a", "b"], block, 2, "C", 8)).column(1)
        gc.collect()
        while_used = sys.getrefcount(block)

        assert column.to_pylist() == [3, 4]
        assert while_used > before
        del column
        assert sys.getrefcount(block) == before

    def test_capsules_that_are_not_imported(self):
        """Array and schema are released with their capsules."""
        block = np.zeros((3, 8), "u1")
        before = sys.getrefcount(block)

        capsules = ArrowBlock(["a", "b", "c"], block, 8, "C", 8).__arrow_c_array__()

        assert sys.getrefcount(block) > before
        del capsules
        assert sys.getrefcount(block) == before

    def test_exports_are_independent(self):
        pa = pytest.importorskip("pyarrow")
        exported = ArrowBlock(["a"], np.array([[1, 2]], "u1"), 2, "C", 8)

        first, second = pa.record_batch(exported), pa.record_batch(exported)
        del first

        assert second.to_pydict() == {"a": [1, 2]}
        assert pa.schema(exported) == second.schema


@pytest.mark.parametrize(
    ("names", "block", "n_rows", "message"),
    [
        (["a"], np.zeros(4, "u1"), 4, "one contiguous row for each name"),
        (["a"], np.zeros((2, 4), "u1"), 4, "one contiguous row for each name"),
        (["a"], np.zeros((1, 8), "u1")[:, ::2], 4, "one contiguous row for each name"),
        (["a"], np.zeros((1, 4), "u1"), 5, "must have room for 5 rows"),
        (["a"], np.zeros((1, 4), "u1"), -1, "must have room for -1 rows"),
        # The number of bits is beyond 64-bit integers.
        (["a"], np.zeros((1, 4), "u1"), 2**62, f"must have room for {2**62} rows"),
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
