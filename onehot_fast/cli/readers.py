"""Readers of each format, which read a file in batches of bounded size."""

from __future__ import annotations

import codecs
import itertools
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from onehot_fast.cli.messages import one_line
from onehot_fast.cli.places import Format, Place

Batches: TypeAlias = Generator[pa.RecordBatch, None, None]
Names: TypeAlias = Collection[str]

# The size of the buffers through which column chunks are read, however large they are.
BUFFER_BYTES = 1 << 20
# The size of a value in memory, for each type of Parquet.
VALUE_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
TEXT = "BYTE_ARRAY"
# The types that Parquet can read as dictionaries.
TEXT_TYPES = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
# The size of the length before each string that is stored without a dictionary.
BYTES_OF_LENGTH = 4
# A dictionary of numbers is useless if the column takes more than this share of its plain size.
MAX_DICTIONARY_SHARE = 0.9
# An Arrow file with a larger batch is memory-mapped, and copied slice by slice.
MAX_READ_BYTES = 64 << 20
# The size of the magic and its padding, after which an Arrow file contains the same messages as a
# stream.
MAGIC_BYTES = 8
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
# The size of the blocks that are parsed; the first block determines the types of the columns.
BLOCK_BYTES = 4 << 20
DELIMITERS = ",;\t|"
HEADER_BYTES = 1 << 16
LONG_DIGITS = 18
# Patterns of digits that are not numbers, for each type that pyarrow would infer: postal codes,
# telephone numbers, and integers that a float cannot represent.
CODES = {
    pa.int64(): r"^\s*-?0[0-9]",
    pa.float64(): r"^\s*(-?0[0-9]|\+[0-9]{7,}\s*$|-?[0-9]{19,}\s*$)",
}


@dataclass(frozen=True)
class Input:
    """The input that the user named, and how it is read."""

    input_path: str  # a file, a folder or "-"
    input_format: Format | None = None  # None: the format of the name, or that of the content
    # For CSV:
    delimiter: str | None = None  # None: the delimiter of the format
    nulls: Sequence[str] = ()  # marks of a missing value; if empty, pyarrow's defaults
    is_text: bool = False  # whether all columns are read as strings
    text_columns: Sequence[str] = ()  # the columns that are read as strings
    encoding: str = "utf8"
    decimal: str = "."


class Reader(ABC):
    """A file that is read in batches."""

    n_rows: int | None = None  # None: not known before the file has been read
    schema: pa.Schema
    # How the file is written, for an output of the same format.
    compression: str | None = None
    group_rows: int | None = None
    # The paths of columns whose values hardly repeat, so that a dictionary is useless.
    plain: Collection[str] = ()
    # The columns whose strings repeat so often that they are read and written as dictionaries.
    repeated: Collection[str] = ()
    share: float = 0.0  # how much of the file has been read

    def __init__(self, place: Place, name: str, form: Format, spec: Input) -> None:
        self.place: Place = place
        self.name: str = name
        self.format: Format = form
        self.spec: Input = spec
        self.n_bytes: int = place.system.get_file_info(place.path).size or 0
        # The columns in the names of the file's folders, as in year=2013/, and their values.
        self.keys: dict[str, str | None] = {}
        self._describe()

    @abstractmethod
    def _describe(self) -> None:
        """Read the schema and the other attributes of the file."""

    @property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, from the types; a string counts as 32 bytes."""
        total = 0.0
        for field in self.schema:
            try:
                total += field.type.bit_width / 8
            except ValueError:
                total += 32
        return total

    @abstractmethod
    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; see `InputFiles.batches`."""

    def set_types(self, schema: pa.Schema) -> None:  # noqa: B027  most files have fixed types
        """Read the columns of a CSV file as the types of `schema`."""


class ParquetReader(Reader):
    """A Parquet file."""

    def _describe(self) -> None:
        with self.open() as file:
            self.schema: pa.Schema = file.schema_arrow
            self.metadata: pq.FileMetaData = file.metadata
        self.n_rows: int = self.metadata.num_rows
        groups = self._groups()
        if groups and groups[0]:
            self.group_rows: int | None = self.metadata.row_group(0).num_rows or None
            codec: str = groups[0][0].compression.lower()
            self.compression: str | None = codec.replace("uncompressed", "none")
            self.plain: Collection[str] = {c.path_in_schema for c in groups[0] if _is_plain(c)}
            # A chunk without a dictionary would store the length of each string. If every chunk is
            # smaller than these lengths, the strings count as repeated.
            others = {
                chunk.path_in_schema
                for chunk in itertools.chain.from_iterable(groups)
                if chunk.total_uncompressed_size >= BYTES_OF_LENGTH * chunk.num_values
            }
            self.repeated: Collection[str] = set(self._texts(self.schema.names)) - others

    def _groups(self) -> list[list[pq.ColumnChunkMetaData]]:
        """Return the column chunks of each row group."""
        groups = map(self.metadata.row_group, range(self.metadata.num_row_groups))
        return [[group.column(i) for i in range(group.num_columns)] for group in groups]

    @cached_property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, without compression and dictionaries."""
        groups, largest, total = self._groups(), 0.0, 0.0
        texts = [c.path_in_schema for c in groups[0] if c.physical_type == TEXT] if groups else []
        with self.open(texts) as file:
            for number, chunks in enumerate(groups):
                n_rows = max(1, self.metadata.row_group(number).num_rows)
                total += self.metadata.row_group(number).total_byte_size
                fixed = sum(c.num_values * VALUE_BYTES.get(c.physical_type, 0) for c in chunks)
                # Reading one value reads the whole dictionary.
                first = next(file.iter_batches(64, row_groups=[number], columns=texts), None)
                lengths = [] if first is None else [*_longest_of(first.columns)]
                coded = [c.num_values for c in chunks if c.physical_type == TEXT]
                longest = 0
                if len(lengths) == len(coded):
                    longest = sum(n * length for n, length in zip(coded, lengths, strict=True))
                # Rows whose strings all have the maximum length are rare; 64 MB of them do no harm.
                largest = max(largest, fixed / n_rows, longest / 4 / n_rows)
        return max(2 * total / max(1, self.n_rows), largest)

    def _texts(self, names: Names) -> list[str]:
        """Return those of the columns `names` that pyarrow can read as dictionaries."""
        return [f.name for f in self.schema if f.name in names and f.type in TEXT_TYPES]

    @contextmanager
    def open(self, dictionaries: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
        """Open the file; the columns with the paths `dictionaries` are read as dictionaries."""
        with self.place.open() as file:
            yield pq.ParquetFile(
                file,
                read_dictionary=list(dictionaries),
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; pyarrow decodes the columns of a batch in several threads."""
        with self.open(self._texts(coded)) as file:
            for batch in file.iter_batches(rows, columns=columns):
                self.share: float = self.share + batch.num_rows / max(1, self.n_rows)
                yield batch


class ArrowReader(Reader):
    """An Arrow IPC file.

    If a memory-mapped file is truncated, the system kills a process that reads beyond the new end.
    Therefore, only files with very large batches are mapped, and the size of the file is checked
    before each slice is read.
    """

    def _describe(self) -> None:
        with self.place.open() as file:
            reader = pa.ipc.open_file(file)
            self.schema: pa.Schema = reader.schema
            n_batches = reader.num_record_batches
        local = self.place.local
        self._is_mapped = local is not None and _largest_batch(local, n_batches) > MAX_READ_BYTES

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        opened = pa.memory_map(str(self.place.local)) if self._is_mapped else self.place.open()
        with opened as file:
            reader = pa.ipc.open_file(file, options=_only(self.schema, columns))
            for i in range(reader.num_record_batches):
                self.share: float = i / reader.num_record_batches
                self._require_size()
                for part in sliced(reader.get_batch(i), rows):
                    self._require_size()
                    part.validate(full=True)  # no offset or code points outside its data
                    if self._is_mapped:
                        arrays = [_copied(array) for array in part.columns]
                        part = pa.RecordBatch.from_arrays(arrays, schema=part.schema)
                    yield part

    def _require_size(self) -> None:
        """Raise an error if the file has become smaller since it was opened."""
        if self._is_mapped and os.stat(self.place.path).st_size < self.n_bytes:
            raise EOFError("the file was truncated while it was read")


def _largest_batch(path: Path, n_batches: int) -> int:
    """Return the bytes of the largest batch of an Arrow file, without reading the batches."""
    with pa.memory_map(str(path)) as file:
        file.seek(MAGIC_BYTES)
        messages = pa.ipc.MessageReader.open_stream(file)
        sizes = (message.body.size for message in messages if message.type == "record batch")
        return max(itertools.islice(sizes, n_batches), default=0)


class StreamReader(Reader):
    """An Arrow IPC stream, which may be compressed as a whole."""

    def _describe(self) -> None:
        with self.place.open() as file:
            self.schema: pa.Schema = pa.ipc.open_stream(unpacked(file, self.format)).schema

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        with self.place.open() as packed:
            file = unpacked(packed, self.format)
            reader = pa.ipc.open_stream(file, options=_only(self.schema, columns))
            for batch in reader:
                self.share: float = packed.tell() / self.n_bytes
                batch.validate(full=True)  # no offset or code points outside its data
                yield from sliced(batch, rows)
            file.read()  # checks the length or checksum at the end of a compressed file
            if self.format.compression is None:  # may be truncated between batches
                packed.seek(max(0, self.n_bytes - len(END_OF_STREAM)))
                if bytes(packed.read()) != END_OF_STREAM:
                    raise EOFError("the stream is truncated: it has no end marker")


def unpacked(file: pa.NativeFile, form: Format) -> Any:
    """Return a file object that decompresses a file of the format `form`."""
    return file if form.compression is None else pa.CompressedInputStream(file, form.compression)


def sliced(batch: pa.RecordBatch, rows: int) -> Batches:
    """Yield views of a batch, of at most `rows` rows each."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _copied(array: pa.Array) -> pa.Array:
    """Return a copy of an array, so that it does not depend on a mapped file."""
    if pa.types.is_dictionary(array.type):
        codes, values = _copied(array.indices), _copied(array.dictionary)
        return pa.DictionaryArray.from_arrays(codes, values, ordered=array.type.ordered)
    return pa.concat_arrays([array, array.slice(0, 0)])


def _only(schema: pa.Schema, columns: Names | None) -> pa.ipc.IpcReadOptions:
    """Return options for reading only some columns; None means all columns."""
    found = [i for i, name in enumerate(schema.names) if columns is None or name in columns]
    return pa.ipc.IpcReadOptions(included_fields=found)


def _is_plain(chunk: pq.ColumnChunkMetaData) -> bool:
    """Tell whether a column has no dictionary, or one that saves almost no space."""
    if not any("DICTIONARY" in encoding for encoding in chunk.encodings):
        return True
    n_null = chunk.statistics.null_count if chunk.is_stats_set else None
    n_bytes = VALUE_BYTES.get(chunk.physical_type, 0) * (chunk.num_values - (n_null or 0))
    return bool(0 < MAX_DICTIONARY_SHARE * n_bytes < chunk.total_uncompressed_size)


def _longest_of(columns: Iterable[pa.Array]) -> Iterator[int]:
    """Yield the length of the longest string in each dictionary, at any depth of nesting."""
    for column in columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            yield pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        elif pa.types.is_struct(kind):
            yield from _longest_of(column.field(i) for i in range(kind.num_fields))
        elif pa.types.is_nested(kind):
            yield from _longest_of((column.values,))


class TextReader(Reader):
    """A CSV file, which may be compressed."""

    def _describe(self) -> None:
        self._nulls = list(self.spec.nulls) or csv.ConvertOptions().null_values
        self._types: dict[str, pa.DataType] = {}
        self._check_start()
        with _explained():
            self.set_types(self._infer())

    def _check_start(self) -> None:
        """Raise an error if the file seems to be UTF-16, or to have another delimiter."""
        with self.place.open() as file:
            start = bytes(unpacked(file, self.format).read(HEADER_BYTES))
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and (
            self.spec.encoding == "utf8"
        ):
            raise ValueError("the file begins like UTF-16; pass --encoding utf-16")
        if self.spec.delimiter is not None:
            return
        header = start.decode(self.spec.encoding, "replace").splitlines()[:1]
        unquoted = re.sub('"[^"]*"', "", "".join(header))
        own = self.format.delimiter
        likely = max(DELIMITERS, key=lambda letter: (unquoted.count(letter), letter == own))
        if likely != own:
            raise ValueError(
                f"the fields of the first line seem to be delimited by {likely!r}, not {own!r};"
                f" pass --delimiter {likely!r}, or --delimiter {own!r} to keep {own!r}"
            )

    def _infer(self) -> pa.Schema:
        """Infer the types from the first rows; columns with codes such as 007 become strings."""
        with self.place.open() as file:
            inferred = self._open(file, is_start=True).schema
        # pyarrow infers binary for text that is not UTF-8. As strings, it raises an error.
        types = {f.name: pa.string() for f in inferred if pa.types.is_binary(f.type)}
        numbers = {f.name: CODES[f.type] for f in inferred if f.type in CODES}
        if numbers:
            self._types = dict.fromkeys(numbers, pa.string())
            with self.place.open() as file:
                first = self._open(file, list(numbers), is_start=True).read_next_batch()
            for name, code in numbers.items():
                if pc.any(pc.match_substring_regex(first.column(name), code)).as_py():
                    types[name] = pa.string()
        return pa.schema([f.with_type(types.get(f.name, f.type)) for f in inferred])

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns as the types of `schema`, not as those inferred from the first rows."""
        self.schema = schema
        types = {field.name: field.type for field in schema}
        # Numbers are read as strings and converted here, so that later rows do not lose digits.
        kinds = [pa.int64(), pa.float64()] if self.spec.decimal == "." else [pa.int64()]
        counts = Counter(schema.names)
        self._numbers = {n: kind for n, kind in types.items() if kind in kinds and counts[n] == 1}
        self._types = {**types, **dict.fromkeys(self._numbers, pa.string())}

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        with self.place.open() as file, _explained():
            chosen = [name for name in self.schema.names if name in (columns or ())]
            for block in self._open(file, chosen):
                self.share: float = file.tell() / self.n_bytes
                # Convert before slicing: pyarrow 22 replaces strings in slices by other strings.
                yield from sliced(self._converted(block, coded), rows)

    def _open(
        self, file: pa.NativeFile, columns: Sequence[str] = (), is_start: bool = False
    ) -> csv.CSVStreamingReader:
        """Return a parser of `columns`, by default of all columns.

        `is_start` tells whether only the first rows are read, which needs no threads.
        """
        read = csv.ReadOptions(use_threads=not is_start, block_size=BLOCK_BYTES)
        read.encoding = self.spec.encoding
        delimiter = self.spec.delimiter or self.format.delimiter
        parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        convert = csv.ConvertOptions(
            column_types=self._types,
            null_values=self._nulls,
            decimal_point=self.spec.decimal,
            include_columns=list(columns),
        )
        return csv.open_csv(unpacked(file, self.format), read, parse, convert)

    def _converted(self, batch: pa.RecordBatch, coded: Names) -> pa.RecordBatch:
        """Convert columns of numbers, and replace marks of missing values by null.

        Marks are replaced only in the columns of strings in `coded`. pyarrow's option
        ``strings_can_be_null`` would also replace them in the other columns.
        """
        columns = batch.columns
        for i, (name, column) in enumerate(zip(batch.schema.names, columns, strict=True)):
            if name in self._numbers:
                columns[i] = self._as_numbers(name, column, self._numbers[name])
            elif name in coded and pa.types.is_string(column.type):
                columns[i] = self._nullified(column)
        return pa.record_batch(columns, batch.schema.names)

    def _as_numbers(self, name: str, texts: pa.Array, kind: pa.DataType) -> pa.Array:
        """Convert strings to numbers; raise an error for codes such as 007."""
        what = "integers" if kind == pa.int64() else "numbers"
        # A regular expression is slow, so select the few strings that can be codes first.
        suspects = [pc.starts_with(texts, start) for start in ("0", "-", "+", " ", "\t")]
        suspects.append(pc.greater(pc.binary_length(texts), LONG_DIGITS))
        suspect = texts.filter(reduce(pc.or_, suspects))
        codes = suspect.filter(pc.match_substring_regex(suspect, CODES[kind]))
        if len(codes):
            raise ValueError(
                f"column {name!r} has {what} in its first rows, but later {codes[0].as_py()!r};"
                f" pass --text-column {name!r} to read it as text"
            )
        texts = self._nullified(texts)
        with suppress(pa.ArrowInvalid):
            return pc.cast(texts, kind)
        try:
            return pc.cast(pc.utf8_trim_whitespace(texts), kind)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"column {name!r} has {what} in its first rows, but not later:"
                f" {one_line(error)}; pass --text-column {name!r} to read it as text"
            ) from error

    def _nullified(self, texts: pa.Array) -> pa.Array:
        """Replace strings that mark a missing value by null."""
        is_mark = pc.is_in(texts, pa.array(self._nulls, pa.string()))
        return pc.if_else(is_mark, pa.scalar(None, pa.string()), texts)


@contextmanager
def _explained() -> Iterator[None]:
    """If a file cannot be parsed, add to the error message which option may help."""
    try:
        yield
    except (pa.ArrowInvalid, UnicodeError) as error:
        text = one_line(error)
        if isinstance(error, UnicodeError) or "UTF8" in text:
            hint = "pass --encoding if the file is not UTF-8, e.g. cp1252 or latin-1"
        elif "conversion error" in text:
            hint = "types come from the first rows; pass --text-column COLUMN to read it as text"
        else:
            raise
        raise ValueError(f"{text}; {hint}") from error


READERS: dict[str, type[Reader]] = {
    "parquet": ParquetReader,
    "arrow": ArrowReader,
    "arrows": StreamReader,
    "csv": TextReader,
    "tsv": TextReader,
}
