"""A writer for each format, which writes one file batch by batch."""

from __future__ import annotations

import itertools
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as text_format
import pyarrow.parquet as pq

from onehot_fast.cli.arrow_batches import PLAIN_TEXTS
from onehot_fast.cli.formats import Format
from onehot_fast.cli.outputs import Destination
from onehot_fast.cli.parquet import GroupWriter
from onehot_fast.cli.plan import Plan
from onehot_fast.cli.reader import Reader
from onehot_fast.cli.signals import ends_process, result_of
from onehot_fast.integrations.arrow import require_scale

# The maximum number of files that are written at the same time.
MAX_OPEN = 64
# The maximum number of bytes that wait in memory until their row groups are full, in all files that
# are written at the same time.
GROUP_BYTES = 64 << 20
# The maximum rows of a row group; groups with many features have fewer, see `GROUP_BYTES`.
GROUP_ROWS = 1 << 20
# Measured: zstd halves the few bytes of features. It takes a fifth longer in total for columns that
# pass through, and saves a tenth of their bytes.
NEW_CODEC, KEPT_CODEC = "zstd", "snappy"
MAX_GROUP_ROWS = 1 << 26  # pyarrow would divide larger groups
INT32_MAX = np.iinfo(np.int32).max
COPY_BYTES = 1 << 20
# The date of every member of an archive, so that the same rows have the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)
# The number of rows that are written as text at once.
TEXT_ROWS = 1 << 13
# The type of the fields of a text file, whatever their encoding.
BYTES = pa.large_binary()
BINARY_TYPES = pa.binary(), pa.large_binary(), pa.binary_view()
STRINGS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), *PLAIN_TEXTS)


class Writer(ABC):
    """A file that is being written.

    The constructor takes an open file, the change of the rows, the options of the output, and the
    reader of the input.
    """

    n_rows = 0

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""

    @staticmethod
    def require_schema(batch: pa.RecordBatch, schema: pa.Schema) -> None:
        """Raise an error if rows do not have the names and types of the columns of the file.

        Otherwise, the file would be corrupt. Strings may be dictionaries, which take less memory.
        """
        if batch.schema.equals(schema):
            return
        pairs = itertools.zip_longest(batch.schema, schema)
        for i, (found, expected) in enumerate(pairs):
            is_same = found is not None and expected is not None and found.name == expected.name
            if not is_same or not _is_alike(found.type, expected.type):
                raise pa.ArrowInvalid(
                    f"column {i} of the rows is {found}, but column {i} of the file is {expected}"
                )

    def close(self) -> None:  # noqa: B027  a text file has no end of its own
        """Write the end of the file, but do not close the file object."""

    def abandon(self) -> None:  # noqa: B027  most have nothing to release
        """Release resources and leave the file incomplete, e.g. after an error."""


def _is_alike(kind: pa.DataType, expected: pa.DataType) -> bool:
    """Tell whether a type is the expected one, or a dictionary whose values are written alike."""
    if kind == expected or not pa.types.is_dictionary(kind):
        return bool(kind == expected)
    texts = [pa.string(), pa.large_string()], [pa.binary(), pa.large_binary()]
    return any(kind.value_type in each and expected in each for each in texts)


class ParquetWriter(Writer):
    """A Parquet file, written row group by row group."""

    def __init__(self, file: Any, plan: Plan, destination: Destination, source: Reader) -> None:
        _require_parquet(plan.after)
        described = _leaves(plan.after, plan.new)
        coded = [path for path in described if path not in source.plain]
        options: dict[str, Any] = {"use_dictionary": coded, "write_statistics": described}
        codecs = destination.compression or NEW_CODEC, destination.compression or KEPT_CODEC
        n_files = MAX_OPEN if destination.partition_by else 1
        self._schema = plan.after
        self._writer = GroupWriter(
            file, plan.after, plan.new, *codecs, n_files, result_of, **options
        )
        group_rows = destination.group_rows or GROUP_ROWS
        self._max_rows = min(group_rows, MAX_GROUP_ROWS)
        self._max_bytes = GROUP_BYTES // n_files
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Collect rows, and write a row group when it is full."""
        self.require_schema(batch, self._schema)
        while batch.num_rows:
            part = batch.slice(0, self._max_rows - self._rows)
            batch = batch.slice(part.num_rows)
            self._waiting.append(part)
            self._rows += part.num_rows
            self._bytes += self._writer.n_bytes(part)
            if self._rows == self._max_rows or self._bytes >= self._max_bytes:
                self._flush()

    def _flush(self) -> None:
        """Write the collected rows as a row group, if there are any."""
        if self._rows:
            # pyarrow can write the codes unchanged only while the dictionary stays the same.
            self._writer.write(pa.Table.from_batches(self._waiting).unify_dictionaries())
            self.n_rows += self._rows
            self._waiting = []
            self._rows = self._bytes = 0

    def close(self) -> None:
        """Write the last row group and the footer."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Write no footer, so that the file stays incomplete."""
        self._writer.abandon(wait=not ends_process())


def _require_parquet(schema: pa.Schema) -> None:
    """Raise an error if Parquet has no type for a column."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), schema).close()
    except pa.ArrowNotImplementedError:
        for field in schema:
            try:
                pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
            except pa.ArrowNotImplementedError as error:
                raise pa.ArrowInvalid(
                    f"column {field.name!r} has type {field.type}, which parquet cannot hold;"
                    " choose another format, e.g. .arrow"
                ) from error
        raise


def _leaves(schema: pa.Schema, new: Collection[str]) -> list[str]:
    """Return the paths of the columns for which pyarrow writes statistics.

    Boolean features within structs or lists get no statistics. Their minimum and maximum would be
    useless, and writing would take a quarter longer.
    """
    kept = [field for field in schema if field.name not in new or not _is_boolean(field.type)]
    empty = pa.BufferOutputStream()
    pq.ParquetWriter(empty, pa.schema(kept)).close()
    leaves = pq.ParquetFile(pa.BufferReader(empty.getvalue())).schema
    return [leaves.column(i).path for i in range(len(leaves))]


def _is_boolean(kind: pa.DataType) -> bool:
    """Tell whether a column contains only Booleans, directly or within structs or lists."""
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        return all(_is_boolean(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_boolean(kind))


class ArrowWriter(Writer):
    """An Arrow IPC file or stream."""

    def __init__(self, file: Any, plan: Plan, destination: Destination, source: Reader) -> None:
        is_file = destination.format.kind == "arrow"
        codec = destination.compression or source.compression
        codec = codec if codec in ("lz4", "zstd") else None  # Parquet has others
        settings = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=is_file)
        make = pa.ipc.new_file if is_file else pa.ipc.new_stream
        self._schema = plan.after
        self._writer = make(file, plan.after, options=settings)
        coded = [i for i, field in enumerate(plan.after) if pa.types.is_dictionary(field.type)]
        # A file has one dictionary for each column, which can only grow.
        self._dictionaries: dict[int, Any] = dict.fromkeys(coded) if is_file else {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        self.require_schema(batch, self._schema)
        if self._dictionaries:
            columns = list(batch.columns)
            for i, values in self._dictionaries.items():
                columns[i] = _recoded(columns[i], values)
                self._dictionaries[i] = columns[i].dictionary
            batch = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
        self._writer.write_batch(batch)
        self.n_rows += batch.num_rows

    def close(self) -> None:
        """Write the footer, or the end of the stream."""
        self._writer.close()


def _recoded(array: Any, values: Any) -> Any:
    """Return an array whose dictionary is `values`, followed by new values of the array."""
    if values is None or array.dictionary.equals(values):
        return array
    positions = pc.index_in(array.dictionary, values)
    new = array.dictionary.filter(pc.is_null(positions))
    if len(new):
        values = pa.concat_arrays([values, new])
        positions = pc.index_in(array.dictionary, values)
    indices = positions.take(array.indices).cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=array.type.ordered, safe=False)


class TextWriter(Writer):
    """A CSV file; Boolean features are written as 1 and 0, and other Booleans as true and false.

    The texts of a CSV input get quotation marks only if they need them. The strings of other inputs
    always get them, so that readers do not take 007 for a number. pyarrow's own writer cannot
    choose for each value, and writes 2002.0 as 2002, which readers take for an integer.
    """

    def __init__(self, file: Any, plan: Plan, destination: Destination, source: Reader) -> None:
        form = destination.format
        _require_text_types(plan.after, form)
        of_csv = destination.delimiter if form.kind == "csv" else None
        self._file, self._delimiter = file, of_csv or form.delimiter
        self._schema, self._is_text = plan.after, source.format.is_text
        self._features = set(plan.new) if plan.are_features else set()
        # The kept numbers of a CSV file are unchanged text, so new ones get the same comma.
        self._decimal = source.spec.decimal if self._is_text else "."
        self._write_rows([self._quoted(pa.array([name], BYTES)) for name in plan.after.names])

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        self.require_schema(batch, self._schema)
        # The texts of many rows would take much memory.
        for start in range(0, batch.num_rows, TEXT_ROWS):
            pairs = zip(self._schema, batch.slice(start, TEXT_ROWS).columns, strict=True)
            self._write_rows([self._fields(field, column) for field, column in pairs])
        self.n_rows += batch.num_rows

    def _fields(self, field: pa.Field, column: pa.Array) -> pa.Array:
        """Return the fields of a column, as they are written."""
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        kind, is_feature = column.type, field.name in self._features
        if pa.types.is_boolean(kind) and is_feature:
            return pc.if_else(column, pa.scalar(b"1", BYTES), pa.scalar(b"0", BYTES))
        if not self._is_text:
            self._require_utf8(field, column)
        if kind in STRINGS:
            return self._quoted(column.cast(BYTES))
        texts = column.cast(pa.string())
        if pa.types.is_floating(kind) and not is_feature:
            is_whole = pc.invert(pc.match_substring_regex(texts, "[.en]"))  # not 1e+20, nan, inf
            texts = pc.if_else(is_whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
            if self._decimal != ".":
                texts = pc.replace_substring(texts, ".", self._decimal)
        return self._quoted(texts.cast(BYTES), is_string=False)

    @staticmethod
    def _require_utf8(field: pa.Field, column: pa.Array) -> None:
        """Raise an error if a column contains bytes that are not text."""
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        kind = column.type
        if kind in BINARY_TYPES or pa.types.is_fixed_size_binary(kind):
            try:
                column.cast(BYTES).cast(pa.large_string())
            except pa.ArrowInvalid as error:
                raise pa.ArrowInvalid(
                    f"column {field.name!r} contains bytes that are not UTF-8, which a text file"
                    " cannot hold; choose another format"
                ) from error

    def _quoted(self, texts: pa.Array, is_string: bool = True) -> pa.Array:
        """Add quotation marks to texts that need them."""
        special = (b'"', self._delimiter.encode(), b"\n", b"\r")
        needs = reduce(pc.or_, (pc.match_substring(texts, one) for one in special))
        # An empty, unquoted field is a missing value.
        needs = pc.or_(needs, pc.equal(pc.binary_length(texts), 0))
        if is_string and not self._is_text:
            needs = pc.is_valid(texts)
        if not pc.any(needs).as_py():
            return texts
        mark = pa.scalar(b'"', BYTES)
        doubled = pc.replace_substring(texts, b'"', b'""')
        empty = pa.scalar(b"", BYTES)
        return pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, empty), texts)

    def _write_rows(self, columns: list[pa.Array]) -> None:
        """Write rows of fields."""
        # In a file of one column, readers would skip the line of a missing value.
        empty = pa.scalar(b'""' if len(columns) == 1 else b"", BYTES)
        columns = [
            pc.fill_null(column, empty) if column.null_count else column for column in columns
        ]
        delimiter, end = pa.scalar(self._delimiter.encode(), BYTES), pa.scalar(b"\n", BYTES)
        rows = pc.binary_join_element_wise(*columns, delimiter)
        lines = pc.binary_join_element_wise(rows, end, pa.scalar(b"", BYTES))
        offsets = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset :][: len(lines) + 1]
        self._file.write(lines.buffers()[2].slice(offsets[0], offsets[-1] - offsets[0]))


def _without_text_views(kind: pa.DataType) -> pa.DataType:
    """Return a type that pyarrow can write as text; some types have no hash, so none is a key."""
    return next((plain for view, plain in PLAIN_TEXTS.items() if kind == view), kind)


def _require_text_types(schema: pa.Schema, form: Format) -> None:
    """Raise an error if a column cannot be written as text, or if there is no column."""
    if not len(schema):
        raise pa.ArrowInvalid(
            f"there is no column to write, and {form.kind} requires one; choose another format"
        )
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        try:
            # Of no rows, pyarrow also writes types that it does not cast to text. Nested types it
            # never writes, and to make a null of a union of no types ends the process.
            stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
            require_scale(stored)
            named = pa.schema([("x", _without_text_views(kind))])
            alone = pa.Table.from_batches([], named)
            if not pa.types.is_nested(stored):
                alone = pa.table([pa.nulls(1, named.field(0).type)], named)
            text_format.write_csv(alone, pa.BufferOutputStream())
        except (pa.ArrowException, ValueError) as error:
            raise pa.ArrowInvalid(
                f"column {field.name!r} has type {field.type}, which {form.kind} cannot hold;"
                " choose another format"
            ) from error


class MatrixWriter(Writer):
    """A sparse matrix in an npz file, which ``scipy.sparse.load_npz`` reads.

    The archive contains the number of nonzeros before the nonzeros, but the number is known only
    after the last row. Until then, temporary files contain the nonzeros, so that memory does not
    grow with the number of rows. The temporary files are in the folder of a local output.
    """

    def __init__(self, file: Any, plan: Plan, destination: Destination, source: Reader) -> None:
        self._file, self._schema, self._names = file, plan.after, list(plan.new)
        kind = plan.after.field("data").type.value_type
        # pyarrow's `to_pandas_dtype` requires pandas.
        self._dtype = pa.array([], kind).to_numpy(zero_copy_only=False).dtype
        local = None if destination.place.is_standard else destination.place.local
        folder = None if local is None else local.parent
        self._temporary = ExitStack()
        self._indices, self._data, self._ends = [
            self._temporary.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115
            for _ in range(3)
        ]
        self._ends.write(bytes(8))
        self._n_nonzeros = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the nonzeros of some rows into the temporary files."""
        self.require_schema(batch, self._schema)
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
        with zipfile.ZipFile(self._file, "w") as archive:
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
    """Copy an array of dtype `old` from a temporary file to the archive, as an array of `new`."""
    n_items = source.tell() // old.itemsize
    source.seek(0)
    header = {"descr": new.str, "fortran_order": False, "shape": (n_items,)}
    with archive.open(zipfile.ZipInfo(f"{name}.npy", DATE), "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, header)
        while block := source.read(COPY_BYTES):
            member.write(np.frombuffer(block, old).astype(new, copy=False).tobytes())


WRITERS: dict[str, Callable[..., Writer]] = {
    "parquet": ParquetWriter,
    "arrow": ArrowWriter,
    "arrows": ArrowWriter,
    "csv": TextWriter,
    "tsv": TextWriter,
    "npz": MatrixWriter,
}
