"""The reader of CSV and TSV files: names, dialect, types and blocks of rows."""

from __future__ import annotations

import codecs
import io
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from onehot_fast.adapter import number_of
from onehot_fast.cli import cells
from onehot_fast.cli.foreign import foreign, python_line
from onehot_fast.cli.messages import one_line
from onehot_fast.cli.reader import Batches, Names, Reader, sliced, unpacked

# The size of the blocks that are parsed. A row must fit into a block, so larger rows need larger
# blocks, up to pyarrow's limit.
BLOCK_BYTES = 4 << 20
MAX_BLOCK_BYTES = 1 << 30
# The size of the start of a file, from which its names and dialect are read.
START_BYTES = 1 << 16
DELIMITERS = ",;\t|"
DECIMAL_COMMA = r'(?m)(^|{0})"?\s*-?[0-9]+,[0-9]+\s*"?({0}|$)'
# The texts of pyarrow's errors for a row that does not fit into a block, for a file without a
# complete row, and for a row with another number of fields.
ROW_TOO_LARGE, NO_ROW = "straddl", "Empty CSV file"
OTHER_FIELDS = re.compile(r"Expected (\d+) columns, got (\d+)")
MAX_NAMED = 3  # the maximum number of columns in a note


class TextReader(Reader):
    """A CSV or TSV file, which may be compressed.

    Every column is parsed as bytes, and then converted to its type. A column has no type (null)
    while all of its cells are missing values or marks of them; `decide` reads on until it has one.
    """

    def _describe(self) -> None:
        spec = self.spec
        self._block_bytes = BLOCK_BYTES
        self._content: bytes | None = None  # the whole file, if it consists of a single line
        self._marks = (*cells.MARKS, *spec.nulls) if spec.nulls else cells.MARKS
        # How often each column contains each mark, in the rows that were read last.
        self._found: dict[str, Counter[str]] = {}
        self._has_marks: set[str] = set()  # the undecided columns that contain a mark
        self.notes: list[str] = []
        start = self._start()
        self._check_dialect(start)
        empty = re.match("(?:\r\n|\r|\n)*", start)
        n_empty = len(empty[0].splitlines()) if empty else 0
        with self._explained():
            typed = self._read_names()
        self._n_skipped = n_empty + 1 if spec.has_header else 0
        if spec.no_header:
            typed = [""] * len(typed)
        names = spec.names if spec.names is not None else unique_names(typed)
        if spec.names is not None and len(names) != len(typed):
            raise ValueError(
                f"--names has {number_of(len(names), 'name')}, but the first row has"
                f" {number_of(len(typed), 'field')}; name each field"
            )
        self._names: list[str] | None = list(names)
        with self._explained():
            self._set_kinds(self._infer())
        if spec.has_header:
            self._note_names(typed)

    @property
    def _path(self) -> str:
        """The path in remedies; standard input has none."""
        return self.place.address if self.name == self.place.address else "FILE"

    # --- the start of the file

    def _start(self) -> str:
        """Return the first characters, without a byte order mark."""
        with self.place.open() as file:
            start = bytes(unpacked(file, self.format).read(START_BYTES))
        if self.spec.input_format is None and (what := foreign(start, self._path)):
            raise ValueError(what)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and (
            self.spec.encoding == "utf8"
        ):
            raise ValueError("the file begins like UTF-16; pass --encoding utf-16")
        text = start.decode(self.spec.encoding, "replace")
        return text.removeprefix("\ufeff")

    def _check_dialect(self, start: str) -> None:
        """Raise an error if the file seems to have another delimiter."""
        first, *others = start.strip("\r\n").splitlines()[:20] or [""]
        if self.spec.delimiter is not None:
            return
        unquoted = re.sub('"[^"]*"', "", first)
        own = self.format.delimiter
        likely = max(DELIMITERS, key=lambda letter: (unquoted.count(letter), letter == own))
        if likely != own:
            find_comma = re.compile(DECIMAL_COMMA.format(re.escape(likely))).search
            has_comma = self.spec.decimal == "." and likely != "," and find_comma("\n".join(others))
            raise ValueError(
                f"the fields of the first line seem to be delimited by {likely!r}, not {own!r};"
                f" pass --delimiter {likely!r}{' --decimal ,' if has_comma else ''}"
                f" (or --delimiter {own!r} to keep {own!r})"
            )

    def _read_names(self) -> list[str]:
        """Return the fields of the first row."""
        self._names = None
        size = START_BYTES
        while True:
            try:
                with self.place.open() as file:
                    return list(self._parser(file, size).schema.names)
            except pa.ArrowInvalid as error:
                if ROW_TOO_LARGE in str(error) and size < MAX_BLOCK_BYTES:
                    size *= 4
                elif NO_ROW in str(error) and self._content is None:
                    # The first row is the whole file, or does not fit.
                    if not self._take_only_line(size):
                        size *= 4
                    self._block_bytes = max(self._block_bytes, size)
                else:
                    raise

    def _take_only_line(self, size: int) -> bool:
        """Keep the content of a file whose only line has no line break, and add one.

        Tell whether the file has at most `size` bytes; a larger one may have other lines.
        """
        with self.place.open() as file:
            stream = self._stream(file)
            content = bytes(stream.read(size))
            if len(content) == size < MAX_BLOCK_BYTES and bytes(stream.read(1)):
                return False
        text = content.decode("utf8", "replace").removeprefix("\ufeff").strip("\r\n")
        if not text:
            if self.spec.has_header:
                raise ValueError(
                    "the file is empty; a CSV file begins with the names of the columns"
                )
            raise ValueError("the file is empty; a CSV file begins with the first row")
        self._content = content + b"\n"
        return True

    def _note_names(self, typed: Sequence[str]) -> None:
        """Add a note on columns that are renamed, and on a first row that seems to be data."""
        pairs = list(zip(typed, self.schema, strict=True))
        renamed = [
            f"column {i} ({old!r}) as {field.name!r}"
            for i, (old, field) in enumerate(pairs, 1)
            if old != field.name
        ]
        # A single name that is no value of its column contradicts, and ends the search.
        candidates = [
            (old, field.type)
            for old, field in pairs
            if field.type in cells.COLUMN_TYPES and old not in self._marks
        ]
        is_data = bool(candidates) and all(
            _is_like(old, kind, self.spec.decimal) for old, kind in candidates
        )
        texts = []
        if renamed:
            more = f", {len(renamed) - MAX_NAMED} more" if len(renamed) > MAX_NAMED else ""
            named = ", ".join(renamed[:MAX_NAMED]) + more
            texts.append(f"names in the header repeat or are empty; read {named}")
        elif is_data:
            named = ", ".join(repr(old) for old, _ in candidates[:MAX_NAMED])
            texts.append(f"the first row looks like data ({named})")
        if texts and (is_data or len(set(typed) - {""}) < sum(map(bool, typed))):
            texts.append("pass --no-header if the first row is data")
        if texts:
            self.notes.append("; ".join(texts))

    # --- types

    def _infer(self) -> dict[str, pa.DataType]:
        """Return the types in the first block of rows; those of undecided columns are null."""
        names = self._names or []
        block = next(self._blocks(names, is_start=True), None)
        kinds = dict.fromkeys(names, pa.null())
        if block is not None:
            kinds |= self._decided(block)
        elif self.spec.has_header:
            self.notes.append("the file has names, but no rows")
        return kinds

    def _decided(self, block: pa.RecordBatch) -> dict[str, pa.DataType]:
        """Return the types of the columns of a block that contain a value other than a mark."""
        kinds = {}
        for name, column in zip(block.schema.names, block.columns, strict=True):
            if not self.spec.nulls and cells.digits_of(column) is not None:
                kinds[name] = pa.int64()
                continue
            column = column.drop_null()
            if not cells.are_utf8(column):
                kinds[name] = pa.string()  # reading it raises an error with the row
                continue
            texts = cells.as_text(column)
            values = texts.filter(pc.invert(pc.is_in(texts, pa.array(self._marks, pa.string()))))
            if len(values):
                kinds[name] = cells.kind_of(values, self.spec.decimal)
            elif len(cells.without(texts, self.spec.nulls).drop_null()):
                self._has_marks.add(name)
        return kinds

    def decide(self, names: Names) -> dict[str, pa.DataType]:
        """Return the types of undecided columns, from the first block with a value of each."""
        left = [name for name in self.schema.names if name in names]
        kinds: dict[str, pa.DataType] = {}
        with self._explained():
            blocks = self._blocks(left, is_start=True) if left else iter(())
            for block in blocks:
                kinds = {**self._decided(block), **kinds}
                if len(kinds) == len(left):
                    break
        return kinds

    @property
    def marked(self) -> Collection[str]:
        """The columns of which only missing values and marks have been read, and a mark."""
        return self._has_marks

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns as the types of `schema`, not as those inferred from the first rows."""
        self._set_kinds(dict(zip(self.schema.names, schema.types, strict=True)))

    def _set_kinds(self, kinds: dict[str, pa.DataType]) -> None:
        """Read the columns as these types."""
        self.schema: pa.Schema = pa.schema([(name, kinds[name]) for name in self._names or []])

    # --- rows

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        names = self.schema.names
        chosen = [name for name in names if columns is None or name in columns]
        self._found = {name: Counter() for name in chosen}
        n_rows = 0
        with self._explained():
            for block in self._blocks(chosen):
                converted = self._typed_block(block, coded, n_rows)
                n_rows += block.num_rows
                # Convert before slicing: pyarrow 22 replaces strings in slices by other strings.
                yield from sliced(converted, rows)

    def _blocks(self, columns: Sequence[str], is_start: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield blocks of rows as bytes; begin again with larger blocks if a row is too large.

        `is_start` tells whether only the first rows are read, which needs no threads.
        """
        n_done = 0
        while True:
            n_left = n_done  # rows that have been read before
            try:
                with self.place.open() as file:
                    for block in self._parser(file, self._block_bytes, columns, is_start):
                        self.share: float = file.tell() / max(1, self.n_bytes)
                        known = min(n_left, block.num_rows)
                        n_left -= known
                        if block.num_rows > known:
                            n_done += block.num_rows - known
                            yield _without_rows(block, known)
                return
            except pa.ArrowInvalid as error:
                if ROW_TOO_LARGE in str(error) and self._block_bytes < MAX_BLOCK_BYTES:
                    self._block_bytes *= 4
                elif OTHER_FIELDS.search(str(error)) and not is_start:
                    is_start = True  # without threads, the error names the row
                else:
                    raise

    def _parser(
        self,
        file: pa.NativeFile,
        block_bytes: int,
        columns: Sequence[str] = (),
        is_start: bool = True,
    ) -> csv.CSVStreamingReader:
        """Return a parser of `columns` as bytes; while names are unknown, of the first row only."""
        spec, names = self.spec, self._names
        read = csv.ReadOptions(use_threads=not is_start, block_size=block_bytes)
        # In a file of one column, an empty line is a row: a missing value.
        parse = csv.ParseOptions(
            delimiter=spec.delimiter or self.format.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=names is None or len(names) > 1,
        )
        convert = csv.ConvertOptions(
            strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        )
        if names is None:
            read.autogenerate_column_names = not spec.has_header
        else:
            read.column_names, read.skip_rows_after_names = names, self._n_skipped
            convert.include_columns = list(columns)
            convert.column_types = dict.fromkeys(columns, pa.binary())
        return csv.open_csv(self._stream(file), read, parse, convert)

    def _stream(self, file: pa.NativeFile) -> Any:
        """Return a stream of the content as UTF-8."""
        if self._content is not None:
            return pa.BufferReader(self._content)
        stream = unpacked(file, self.format)
        if self.spec.encoding != "utf8":
            stream = pa.transcoding_input_stream(stream, self.spec.encoding, "utf8")
        if self.spec.fill_rows:
            delimiter = self.spec.delimiter or self.format.delimiter
            if self._names is None:  # the first row says how many fields a row has
                return pa.BufferReader(FilledRows(stream, delimiter, 0).first_row())
            stream = FilledRows(stream, delimiter, len(self._names))
        return stream

    def _typed_block(self, block: pa.RecordBatch, coded: Names, n_before: int) -> pa.RecordBatch:
        """Convert the columns of a block to their types; `n_before` rows were read before it."""
        columns = []
        for name, column in zip(block.schema.names, block.columns, strict=True):
            kind = self.schema.field(name).type
            try:
                columns.append(self._typed_column(name, column, kind, name in coded))
            except cells.CellError as error:
                row = n_before + error.row + 1
                if "--encoding" in str(error):
                    raise ValueError(f"column {name!r}, row {row:,}: {error}") from error
                raise ValueError(
                    f"column {name!r}, row {row:,}: {error} is not one of the"
                    f" {cells.described(kind)} that the column has before;"
                    f" pass --text-column {name!r} to read it as text"
                ) from error
        return pa.record_batch(columns, block.schema.names)

    def _typed_column(
        self, name: str, column: pa.Array, kind: pa.DataType, is_coded: bool
    ) -> pa.Array:
        """Convert a column to its type."""
        if pa.types.is_binary(kind):
            return column
        if pa.types.is_integer(kind) and not self.spec.nulls:  # otherwise, a mark may be a digit
            digits = cells.digits_of(column)
            if digits is not None:
                return pa.array(digits).cast(kind)
        texts = cells.as_text(column)
        if not pa.types.is_string(kind):
            if pa.types.is_null(kind):
                return pa.nulls(len(texts))
            found = self._found[name]
            return cells.typed(texts, kind, self.spec.decimal, self._marks, found)
        nulls = list(self.spec.nulls)
        if self.spec.keep_empty:
            texts = pc.fill_null(texts, "")
        elif len(self.schema) == 1:
            nulls.append("")  # pandas and pyarrow write a missing value so
        if nulls:
            texts = cells.without(texts, nulls)
        if is_coded:
            self._found[name].update(cells.counts_of(texts, cells.MARKS))
        return texts

    def marks(self, name: str) -> Counter[str]:
        """Return how often a column contains each usual mark, in the rows that were read last."""
        found = self._found.get(name, Counter())
        return Counter({mark: n for mark, n in found.items() if mark not in self.spec.nulls})

    # --- errors

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """If the file cannot be parsed, add to the error message what may help."""
        try:
            yield
        except (pa.ArrowInvalid, UnicodeError) as error:
            text = one_line(error)
            if isinstance(error, UnicodeError) or "UTF8" in text:
                raise ValueError(
                    f"{text}; pass --encoding if the file is not UTF-8, e.g. cp1252 or latin-1"
                ) from error
            raise ValueError(self._with_remedy(text)) from error

    def _is_decodable(self) -> bool:
        """Tell whether the encoding of the file is right, as far as a decoder can tell."""
        decoder = codecs.getincrementaldecoder(self.spec.encoding)()
        try:
            with self.place.open() as file:
                stream = unpacked(file, self.format)
                while block := bytes(stream.read(BLOCK_BYTES)):
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return False
        return True

    def _with_remedy(self, text: str) -> str:
        """Return the message `text` of an error of pyarrow's parser, and what to type instead."""
        line = self._converting_line()
        fields = OTHER_FIELDS.search(text)
        if fields and int(fields[2]) < int(fields[1]):
            return (
                f"{text}; pass --fill-rows to fill short rows with missing values, or convert it to"
                f" Parquet first, e.g. with {line}"
            )
        if NO_ROW in text:
            return (
                "the file has no complete row; a quotation mark may not be closed; convert it to"
                f" Parquet first, e.g. with {line}"
            )
        if ROW_TOO_LARGE in text:
            return (
                f"a row has more than {MAX_BLOCK_BYTES >> 20} MiB; a quotation mark may not be"
                f" closed; convert it to Parquet first, e.g. with {line}"
            )
        return f"{text}; convert it to Parquet first, e.g. with {line}"

    def _converting_line(self) -> str:
        """Return a shell command with which DuckDB converts the file to Parquet."""
        encoding = self.spec.encoding if self._is_decodable() else "latin-1"
        has_header = str(self.spec.has_header).lower()
        read_csv = (
            f"from read_csv(?, header={has_header}, all_varchar=true, null_padding=true,"
            " strict_mode=false, parallel=false)"
        )
        if encoding == "utf8":
            code = (
                f"import duckdb; duckdb.sql('{read_csv}', params=[{{path}}]).write_parquet({{new}})"
            )
        else:  # DuckDB reads few encodings, and not every byte of Latin-1.
            code = (
                "import duckdb, pyarrow, tempfile; f = tempfile.NamedTemporaryFile();"
                f" f.write(pyarrow.input_stream({{path}}).read().decode({encoding!r}).encode());"
                f" f.flush(); duckdb.sql('{read_csv}', params=[f.name]).write_parquet({{new}});"
                " f.close()"
            )
        return python_line(code, self._path)


def _without_rows(block: pa.RecordBatch, n_rows: int) -> pa.RecordBatch:
    """Return a copy of a block without its first rows."""
    return block.take(pa.array(range(n_rows, block.num_rows))) if n_rows else block


def _is_like(text: str, kind: pa.DataType, decimal: str) -> bool:
    """Tell whether a name in the header could be a value of a column."""
    try:
        cells.typed(pa.array([text]), kind, decimal, (), Counter())
    except cells.CellError:
        return False
    return True


def unique_names(names: Sequence[str]) -> list[str]:
    """Name each column differently: duplicates of x become x.1, x.2, and empty names column0.

    The number of an empty name is its position. Names that the file already has are skipped.
    """
    taken, unique = set(names) - {""}, list(names)
    seen: set[str] = set()
    # Columns with a name keep it, so those without a name come last.
    for i in sorted(range(len(names)), key=lambda i: not names[i]):
        name = names[i] or f"column{i}"
        is_new = name not in (seen if names[i] else taken)
        if not is_new:
            numbered = (f"{name}.{number}" for number in itertools.count(1))
            unique[i] = next(one for one in numbered if one not in taken)
        else:
            unique[i] = name
        seen.add(name)
        taken.add(unique[i])
    return unique


class FilledRows(io.RawIOBase):
    """A stream of CSV in UTF-8 whose short rows are filled with empty, unquoted fields."""

    def __init__(self, stream: Any, delimiter: str, n_fields: int) -> None:
        self._stream, self._n_fields = stream, n_fields
        self._delimiter = delimiter.encode()
        d = re.escape(self._delimiter)
        # As in pyarrow, a quotation mark has a meaning only at the beginning of a field.
        field = rb'(?:"(?:[^"]++|"")*+"[^%b\r\n]*+|[^"%b\r\n][^%b\r\n]*+|)' % (d, d, d)
        self._row = re.compile(rb"(%b(?:%b%b)*+)(\r\n|\r(?!$)|\n)" % (field, d, field))
        self._field = re.compile(rb"%b%b" % (field, d))
        self._rest, self._ready, self._is_ended = b"", b"", False

    def readable(self) -> bool:
        """Tell that the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes; none at the end."""
        while not self._ready and not self._is_ended:
            self._fill()
        size = len(self._ready) if size is None or size < 0 else size
        part, self._ready = self._ready[:size], self._ready[size:]
        return part

    def first_row(self) -> bytes:
        """Return the first row that is not an empty line, with its line break."""
        text = b""
        while part := self.read():
            text = (text + part).lstrip(b"\r\n")
            if match := self._row.match(text):
                return match[0]
        return text

    def _fill(self) -> None:
        """Read more, and fill the rows that are complete."""
        new = bytes(self._stream.read(BLOCK_BYTES))
        self._is_ended = not new
        text, end, rows = self._rest + new, 0, []
        if self._is_ended and text and not text.endswith(b"\n"):
            text += b"\n"
        while match := self._row.match(text, end):
            end = match.end()
            rows.append(self._filled(match[1]) + match[2])
        self._rest = text[end:]
        if self._is_ended:
            rows.append(self._rest)
        self._ready = b"".join(rows)

    def _filled(self, row: bytes) -> bytes:
        """Add empty fields to a row; an empty line stays empty."""
        if not row:
            return row
        n_delimiters = row.count(self._delimiter)
        if b'"' in row:  # so some delimiters may be within fields
            n_delimiters, end = 0, 0
            while match := self._field.match(row, end):
                n_delimiters, end = n_delimiters + 1, match.end()
        return row + self._delimiter * (self._n_fields - 1 - n_delimiters)
