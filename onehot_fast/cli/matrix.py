"""A sparse matrix in an npz file, which ``scipy.sparse.load_npz`` reads.

The archive needs the number of nonzeros before them. So they go to temporary files beside the
output first, and memory does not grow with the rows.
"""

from __future__ import annotations

import copy
import io
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast.cli.encoders import Encoders
from onehot_fast.cli.errors import CommandError, Exit
from onehot_fast.cli.writers import WriteOptions, Writer

__all__ = ["MatrixWriter", "matrix_rows", "matrix_schema"]

INT32_MAX = np.iinfo(np.int32).max
COPY_BYTES = 1 << 20
# The date of every member, so that the same rows have the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)


def matrix_schema(encoders: Encoders, metadata: dict[bytes, bytes]) -> pa.Schema:
    """Return the schema of rows of nonzeros: their columns, and their values."""
    dtypes = [c.options.dtype for encoder in encoders.each for c in encoder.schema.columns]
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(bool)
    if dtype.kind not in "biuf" or dtype == np.float16:
        raise CommandError(Exit.USAGE, f"--dtype {dtype}: SciPy has no sparse matrix of this dtype")
    kind = pa.from_numpy_dtype(dtype)
    lists = {"indices": pa.list_(pa.int32()), "data": pa.list_(kind)}
    return pa.schema(list(lists.items()), metadata)


def matrix_rows(
    batches: Iterable[pa.RecordBatch], encoders: Encoders, names: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the nonzeros of rows; `names` are the features in order."""
    try:
        from scipy import sparse
    except ImportError as error:
        raise CommandError(Exit.FAILED, "npz requires SciPy: pip install scipy") from error
    found = [name for encoder in encoders.each for name in encoder.schema.names]
    positions = {name: i for i, name in enumerate(found)}
    order = [positions[name] for name in names]
    kind = schema.field("data").type.value_type
    features_alone = copy.copy(encoders.values).set_params(remainder="drop")
    for batch in batches:
        blocks = [features_alone.transform(batch, "csr")]
        blocks += [column.rows(batch.column(column.name)) for column in encoders.labels]
        rows = blocks[0] if len(blocks) == 1 else sparse.hstack(blocks, format="csr")
        if order != sorted(order):
            rows = rows[:, np.asarray(order)]
            rows.sort_indices()
        offsets = pa.array(rows.indptr.astype(np.int32))
        indices = pa.array(rows.indices.astype(np.int32, copy=False))
        lists = [
            pa.ListArray.from_arrays(offsets, indices),
            pa.ListArray.from_arrays(offsets, pa.array(rows.data).cast(kind)),
        ]
        yield pa.RecordBatch.from_arrays(lists, schema=schema)


class MatrixWriter(Writer):
    """An archive of the arrays of a ``csr_array``, and of the names of its columns."""

    def __init__(self, file: pa.NativeFile, schema: pa.Schema, options: WriteOptions) -> None:
        self._file, self._schema, self._names = file, schema, list(options.new)
        kind = schema.field("data").type.value_type
        # pyarrow's `to_pandas_dtype` requires pandas.
        self._dtype = pa.array([], kind).to_numpy(zero_copy_only=False).dtype
        self._temporary = ExitStack()
        self._indices, self._data, self._ends = [
            self._temporary.enter_context(tempfile.TemporaryFile(dir=options.folder))  # noqa: SIM115
            for _ in range(3)
        ]
        self._ends.write(bytes(8))
        self._n_nonzeros = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the nonzeros of some rows into the temporary files."""
        indices, data = batch.column("indices"), batch.column("data")
        ends = indices.offsets.to_numpy().astype(np.int64)
        self._ends.write(ends[1:] - ends[0] + self._n_nonzeros)
        self._n_nonzeros += int(ends[-1] - ends[0])
        self._indices.write(indices.flatten().to_numpy())
        self._data.write(data.flatten().to_numpy(zero_copy_only=False).astype(self._dtype))
        self.n_rows += batch.num_rows

    def close(self) -> None:
        """Write the archive."""
        is_small = max(self._n_nonzeros, len(self._names)) <= INT32_MAX
        index = np.dtype(np.int32 if is_small else np.int64)
        metadata = self._schema.metadata or {}
        small = {
            "format": np.array(b"csr"),
            "shape": np.array([self.n_rows, len(self._names)], np.int64),
            "_is_array": np.array(True),
            "names": np.array(self._names, dtype=np.str_),
            **{key.decode(): np.array(text.decode()) for key, text in metadata.items()},
        }
        with zipfile.ZipFile(_Unseekable(self._file), "w") as archive:
            for name, array in small.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy", DATE), "w") as member:
                    np.lib.format.write_array(member, array)
            _copy(archive, "indptr", self._ends, np.dtype(np.int64), index)
            _copy(archive, "indices", self._indices, np.dtype(np.int32), index)
            _copy(archive, "data", self._data, self._dtype, self._dtype)
        self.abandon()

    def abandon(self) -> None:
        """Remove the temporary files."""
        self._temporary.close()


def _copy(
    archive: zipfile.ZipFile, name: str, source: Any, old: np.dtype[Any], new: np.dtype[Any]
) -> None:
    """Write a temporary file as an array."""
    n_items = source.tell() // old.itemsize
    source.seek(0)
    header = {"descr": new.str, "fortran_order": False, "shape": (n_items,)}
    with archive.open(zipfile.ZipInfo(f"{name}.npy", DATE), "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, header)
        while block := source.read(COPY_BYTES):
            member.write(np.frombuffer(block, old).astype(new, copy=False).tobytes())


class _Unseekable(io.RawIOBase):
    """A file that is written from front to back, and that stays open."""

    def __init__(self, file: pa.NativeFile) -> None:
        self._file = file

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write all of the data."""
        view = memoryview(data).cast("B")
        self._file.write(view)
        return len(view)
