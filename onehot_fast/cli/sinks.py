"""One file of each format, written a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as text_format
import pyarrow.parquet as pq

from onehot_fast.cli.errors import writing
from onehot_fast.cli.formats import Format
from onehot_fast.cli.parquet_writer import GroupWriter

__all__ = ["Sink", "WriteOptions", "open_sink"]

# The rows of a row group wait in memory, while the one before is written; so large those that wait
# are together in all files being written.
GROUP_BYTES = 64 << 20
GROUP_ROWS = 1 << 20
MOST_GROUP_ROWS = 1 << 26  # pyarrow cuts larger ones
# What pyarrow does not write as text, and what it is written as.
VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


@dataclass(frozen=True)
class WriteOptions:
    """How a file is written.

    Attributes
    ----------
    compression : str, optional
        The codec within Parquet and Arrow files; by default that of the input, or else the
        library's default.
    group_rows : int, optional
        The rows of a row group of Parquet; by default those of the input.
    n_at_once : int
        The files that are written at a time, which share the memory for rows of row groups.
    new : collection of str
        The names of the columns that the command made.
    plain : collection of str
        The paths of columns that Parquet gives no dictionary.
    is_text : bool
        Whether the other columns are texts as they stood in a text file: then nothing, as an empty
        text, is nothing again, without quotation marks.
    delimiter : str, optional
        Of CSV.
    folder : str, optional
        Where a matrix may put aside what it cannot write yet.
    """

    compression: str | None = None
    group_rows: int | None = None
    n_at_once: int = 1
    new: Collection[str] = ()
    plain: Collection[str] = ()
    is_text: bool = False
    delimiter: str | None = None
    folder: str | None = None


class Sink(ABC):
    """A file that is being written."""

    n_rows = 0  # so many are written

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left; the file below stays open."""

    def abandon(self) -> None:  # noqa: B027  most hold nothing
        """Let go of a file that nobody will read, and write nothing more to it."""


Make: TypeAlias = Callable[[pa.NativeFile, pa.Schema, Format, WriteOptions], Sink]


@contextmanager
def open_sink(
    file: pa.NativeFile,
    name: str,
    schema: pa.Schema,
    form: Format,
    options: WriteOptions,
    others: Mapping[str, Make] = {},
) -> Iterator[Sink]:
    """Begin a file of a format, and end it with the block; nothing ends it if the block fails.

    What is made for formats that are not of tables is in `others`.
    """
    with writing(name):
        sink = others.get(form.kind, _sink)(file, schema, form, options)
    try:
        yield sink
        with writing(name):
            sink.close()
    except BaseException:
        sink.abandon()
        raise


def _sink(file: pa.NativeFile, schema: pa.Schema, form: Format, options: WriteOptions) -> Sink:
    """Return what writes a format."""
    if form.kind == "parquet":
        return ParquetSink(file, schema, options)
    if form.is_text:
        return TextSink(file, schema, form, options)
    return ArrowSink(file, schema, form, options)


class ParquetSink(Sink):
    """A Parquet file, a row group at a time."""

    def __init__(self, file: pa.NativeFile, schema: pa.Schema, options: WriteOptions) -> None:
        described = _leaves(schema, options.new)
        coded = [path for path in described if path not in options.plain]
        self._writer = GroupWriter(
            file,
            schema,
            options.new,
            options.compression or "snappy",
            options.n_at_once,
            use_dictionary=coded,
            write_statistics=described,
        )
        self._most = min(options.group_rows or GROUP_ROWS, MOST_GROUP_ROWS)
        self._most_bytes = GROUP_BYTES // options.n_at_once
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows once those of a row group are together."""
        while batch.num_rows:
            part = batch.slice(0, self._most - self._rows)
            batch = batch.slice(part.num_rows)
            self._waiting.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows == self._most or self._bytes >= self._most_bytes:
                self._flush()

    def _flush(self) -> None:
        """Write a row group."""
        if self._rows:
            # The writer keeps codes as long as the dictionary stays the same.
            self._writer.write(pa.Table.from_batches(self._waiting).unify_dictionaries())
            self.n_rows += self._rows
            self._waiting = []
            self._rows = self._bytes = 0

    def close(self) -> None:
        """Write the rest and the footer."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Write no footer: with it a part would be a valid file."""
        self._writer.abandon()


def _leaves(schema: pa.Schema, new: Collection[str]) -> list[str]:
    """Return the paths of the values that get statistics.

    Features that are Booleans within structures or lists do not: the least and the greatest of a
    million are False and True, which costs a quarter of the time that pyarrow needs to write them.
    """
    kept = [field for field in schema if field.name not in new or not _holds_bits(field.type)]
    empty = pa.BufferOutputStream()
    pq.ParquetWriter(empty, pa.schema(kept)).close()
    leaves = pq.ParquetFile(pa.BufferReader(empty.getvalue())).schema
    return [leaves.column(i).path for i in range(len(leaves))]


def _holds_bits(kind: pa.DataType) -> bool:
    """Tell whether a column holds Booleans, or structs or lists of nothing else."""
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        return all(_holds_bits(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_boolean(kind))


class ArrowSink(Sink):
    """An Arrow IPC file or stream."""

    def __init__(
        self, file: pa.NativeFile, schema: pa.Schema, form: Format, options: WriteOptions
    ) -> None:
        is_file = form.kind == "arrow"
        settings = pa.ipc.IpcWriteOptions(
            compression=_codec_of_arrow(options.compression), emit_dictionary_deltas=is_file
        )
        make = pa.ipc.new_file if is_file else pa.ipc.new_stream
        self._writer = make(file, schema, options=settings)
        coded = [i for i, field in enumerate(schema) if pa.types.is_dictionary(field.type)]
        # A file has one dictionary for each column, to which can only be added.
        self._dictionaries = {i: _Growing() for i in coded} if is_file else {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        if self._dictionaries:
            columns = list(batch.columns)
            for i, growing in self._dictionaries.items():
                columns[i] = growing.coded(columns[i])
            batch = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
        self._writer.write_batch(batch)
        self.n_rows += batch.num_rows

    def close(self) -> None:
        """Write the end."""
        self._writer.close()


def _codec_of_arrow(compression: str | None) -> str | None:
    """Return the codec of an Arrow file: that of Parquet if it has it too, or else none."""
    return compression if compression in ("lz4", "zstd") else None


class _Growing:
    """A dictionary that the values of each batch are added to."""

    def __init__(self) -> None:
        self._values: Any = None

    def coded(self, array: Any) -> Any:
        """Return an array in the codes of this dictionary."""
        if self._values is None or array.dictionary.equals(self._values):
            self._values = array.dictionary
            return array
        positions = pc.index_in(array.dictionary, self._values)
        new = array.dictionary.filter(pc.is_null(positions))
        if len(new):
            self._values = pa.concat_arrays([self._values, new])
            positions = pc.index_in(array.dictionary, self._values)
        indices = positions.take(array.indices).cast(array.type.index_type)
        return pa.DictionaryArray.from_arrays(
            indices, self._values, ordered=array.type.ordered, safe=False
        )


class TextSink(Sink):
    """A CSV file; a Boolean that the command made is 1 or 0."""

    def __init__(
        self, file: pa.NativeFile, schema: pa.Schema, form: Format, options: WriteOptions
    ) -> None:
        _require_text(schema, form)
        of_csv = options.delimiter if form.kind == "csv" else None
        self._file, self._delimiter = file, of_csv or form.delimiter
        self._is_text = options.is_text
        # A line without anything in it would be no row.
        as_it_was = options.is_text and len(schema) > 1
        self._styles = ("none", "needed") if as_it_was else ("needed",)
        self._bits = [
            i
            for i, field in enumerate(schema)
            if field.name in options.new and pa.types.is_boolean(field.type)
        ]
        self._views = [i for i, field in enumerate(schema) if field.type in VIEWS]
        names = [pa.array([name], pa.string()) for name in schema.names]
        self._write(pa.RecordBatch.from_arrays(names, schema.names))

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        for i in self._bits:
            name = batch.schema.names[i]
            batch = batch.set_column(i, name, batch.column(i).cast(pa.uint8()))
        for i in self._views:
            batch = batch.set_column(i, batch.schema.names[i], _without_view(batch.column(i)))
        if batch.num_columns == 1 and batch.column(0).null_count:
            # As nothing at all the line of a null would be no row: an empty text is one.
            texts = pc.fill_null(batch.column(0).cast(pa.large_string()), "")
            batch = batch.set_column(0, batch.schema.names[0], texts)
        if self._is_text:
            # Texts in any encoding, as they came: nobody checks or changes them.
            columns = [
                column.view(pa.string()) if pa.types.is_binary(column.type) else column
                for column in batch.columns
            ]
            batch = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
        self._write(batch)
        self.n_rows += batch.num_rows

    def _write(self, batch: pa.RecordBatch) -> None:
        """Write rows with quotation marks only where one of the values needs them."""
        for style in self._styles:
            buffer = pa.BufferOutputStream()
            options = text_format.WriteOptions(
                include_header=False, delimiter=self._delimiter, quoting_style=style
            )
            try:
                text_format.write_csv(batch, buffer, options)
            except pa.ArrowInvalid:
                if style == self._styles[-1]:
                    raise
            else:
                self._file.write(buffer.getvalue())
                return

    def close(self) -> None:
        """Nothing is left to write."""


def _without_view(column: pa.Array) -> pa.Array:
    """Return a column as one that pyarrow writes as text."""
    return column.cast(VIEWS[column.type]) if column.type in VIEWS else column


def _require_text(schema: pa.Schema, form: Format) -> None:
    """Refuse a column that has no form as text, and rows without columns."""
    if not len(schema):
        text = f"no column is left to write, and {form.kind} has no form for rows without columns"
        raise pa.ArrowInvalid(text)
    for field in schema:
        column = _without_view(pa.nulls(0, field.type))
        try:
            text_format.write_csv(pa.record_batch([column], ["x"]), pa.BufferOutputStream())
        except pa.ArrowException as error:
            text = f"column {field.name!r} holds {field.type}, which {form.kind} cannot hold"
            raise pa.ArrowInvalid(text) from error
