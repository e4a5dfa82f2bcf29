"""A CSV file, read in batches of bounded size."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from onehot_fast.cli.errors import one_line
from onehot_fast.cli.formats import Format
from onehot_fast.cli.pipeline import sliced
from onehot_fast.cli.readers import Reader, position, unpacked
from onehot_fast.cli.stores import Place, open_place

__all__ = ["TextOptions", "TextReader"]

# So much text is parsed at once; the types of columns are inferred from the first such block.
BLOCK_BYTES = 4 << 20
DELIMITERS = ",;\t|"
HEADER_BYTES = 1 << 16
LONG_DIGITS = 18
# Digits that are no number, by the type they look like: a postal code; a telephone number, and
# what a float holds no more.
CODES = {
    pa.int64(): r"^\s*-?0[0-9]",
    pa.float64(): r"^\s*(-?0[0-9]|\+[0-9]{7,}\s*$|-?[0-9]{19,}\s*$)",
}


@dataclass(frozen=True)
class TextOptions:
    """How CSV is read.

    Attributes
    ----------
    delimiter : str, optional
        By default that of the format.
    missing : tuple of str, optional
        What stands for a missing value, by default what pyarrow takes for it.
    is_plain : bool
        Whether every column is text, whatever it looks like.
    columns : tuple of str
        Those that are text if not all are.
    encoding : str
    decimal : str
        What stands before the fraction of a number.
    """

    delimiter: str | None = None
    missing: tuple[str, ...] | None = None
    is_plain: bool = False
    columns: tuple[str, ...] = ()
    encoding: str = "utf8"
    decimal: str = "."


class TextReader(Reader):
    """A CSV file, perhaps compressed."""

    def __init__(self, path: Place, name: str, form: Format, text: TextOptions) -> None:
        super().__init__(path, name, form)
        self._text = text
        self._file: Any = None
        self._convert = csv.ConvertOptions(decimal_point=text.decimal)
        if text.missing is not None:
            self._convert.null_values = list(text.missing)
        self._check_start()
        with _explained():
            self.set_types(self._infer())

    def _check_start(self) -> None:
        """Refuse UTF-16, and a first line that has more of another delimiter than of its own."""
        with open_place(self.path) as file:
            start = bytes(unpacked(file, self.format).read(HEADER_BYTES))
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and (
            self._text.encoding == "utf8"
        ):
            raise ValueError("begins as UTF-16 does: --encoding utf-16")
        if self._text.delimiter is not None:
            return
        header = start.decode(self._text.encoding, "replace").splitlines()[:1]
        unquoted = re.sub('"[^"]*"', "", "".join(header))
        own = self.format.delimiter
        likely = max(DELIMITERS, key=lambda letter: (unquoted.count(letter), letter == own))
        if likely != own:
            has, lacks = _typed(likely), _typed(own)
            raise ValueError(
                f"the first line looks as if {has} stood between the fields, and not {lacks}:"
                f" --delimiter {has}; or --delimiter {lacks} to read it as it is"
            )

    def _infer(self) -> pa.Schema:
        """Return the types that the first rows look like; digits that are no number are text."""
        with open_place(self.path) as file:
            inferred = self._open(file, is_start=True).schema
        # Bytes are found where a text is not UTF-8: that is to be an error, in whatever row it is.
        types = {f.name: pa.string() for f in inferred if pa.types.is_binary(f.type)}
        numbers = {f.name: CODES[f.type] for f in inferred if f.type in CODES}
        if numbers:
            self._convert.column_types = dict.fromkeys(numbers, pa.string())
            with open_place(self.path) as file:
                first = self._open(file, list(numbers), is_start=True).read_next_batch()
            for name, code in numbers.items():
                if pc.any(pc.match_substring_regex(first.column(name), code)).as_py():
                    types[name] = pa.string()
        return pa.schema([f.with_type(types.get(f.name, f.type)) for f in inferred])

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns as these types, and no longer as those of the first rows."""
        self.schema = schema
        types = {field.name: field.type for field in schema}
        # Read as texts and converted here, so that no digit is lost further down in the file.
        kinds = [pa.int64(), pa.float64()] if self._text.decimal == "." else [pa.int64()]
        unique = {name: kind for name, kind in types.items() if schema.names.count(name) == 1}
        self._numbers = {name: kind for name, kind in unique.items() if kind in kinds}
        self._convert.column_types = {**types, **dict.fromkeys(self._numbers, pa.string())}

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        with open_place(self.path) as self._file, _explained():
            chosen = columns and [name for name in self.schema.names if name in columns]
            blocks = self._open(self._file, chosen)
            # Before they are sliced: in slices pyarrow 22 replaces texts by others.
            made = (self._without_missing(self._with_numbers(block), coded) for block in blocks)
            yield from sliced(made, rows)

    def _open(
        self, file: pa.NativeFile, columns: Sequence[str] | None = None, is_start: bool = False
    ) -> csv.CSVStreamingReader:
        """Start to parse the file, and not ahead of what is asked for if that is the start only."""
        convert = self._convert
        if columns is not None:
            convert = csv.ConvertOptions(
                column_types=convert.column_types,
                null_values=convert.null_values,
                decimal_point=convert.decimal_point,
                include_columns=list(columns),
            )
        return csv.open_csv(
            unpacked(file, self.format),
            read_options=csv.ReadOptions(
                use_threads=not is_start,
                block_size=BLOCK_BYTES,
                encoding=self._text.encoding,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self._text.delimiter or self.format.delimiter,
                newlines_in_values=True,
            ),
            convert_options=convert,
        )

    def _with_numbers(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch with its numbers, none of which had other digits."""
        for name, kind in self._numbers.items():
            i = batch.schema.get_field_index(name)
            if i >= 0:
                batch = batch.set_column(i, name, self._as_numbers(name, batch.column(i), kind))
        return batch

    def _as_numbers(self, name: str, texts: pa.Array, kind: pa.DataType) -> pa.Array:
        what = "integers" if kind == pa.int64() else "numbers"
        # Few begin as codes do, or are as long: only these are worth a regular expression.
        suspects = [pc.starts_with(texts, start) for start in ("0", "-", "+", " ", "\t")]
        suspects.append(pc.greater(pc.binary_length(texts), LONG_DIGITS))
        suspect = texts.filter(reduce(pc.or_, suspects))
        codes = suspect.filter(pc.match_substring_regex(suspect, CODES[kind]))
        if len(codes):
            raise ValueError(
                f"column {name!r} holds {what} in its first rows, and then {codes[0].as_py()!r},"
                f" which is none: --text-column {name!r} reads it as text"
            )
        if kind == pa.int64():
            with suppress(pa.ArrowInvalid):
                return pc.cast(texts, kind)
        try:
            return pc.cast(pc.utf8_trim_whitespace(self._nullified(texts)), kind)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"column {name!r} holds {what} in its first rows, and then something else:"
                f" {one_line(error)}; --text-column {name!r} reads it as text"
            ) from error

    def _without_missing(self, batch: pa.RecordBatch, coded: Sequence[str]) -> pa.RecordBatch:
        """Return a batch in whose encoded texts null stands for what is missing.

        pyarrow could do that for all columns only, and those that are kept stay as they are.
        """
        for name in coded:
            i = batch.schema.get_field_index(name)
            if i >= 0 and pa.types.is_string(batch.schema.field(i).type):
                batch = batch.set_column(i, name, self._nullified(batch.column(i)))
        return batch

    def _nullified(self, texts: pa.Array) -> pa.Array:
        """Return texts with null for those that mark a missing value."""
        marks = pa.array(self._convert.null_values, pa.string())
        present = pc.invert(pc.is_in(texts, marks))
        return pc.if_else(present, texts, pa.scalar(None, pa.string()))

    def share(self) -> float:
        """Return the share of the bytes."""
        return position(self._file) / max(1, self.n_bytes)


def _typed(delimiter: str) -> str:
    """Return a delimiter as one types it in a shell."""
    return r"'\t'" if delimiter == "\t" else f"'{delimiter}'"


@contextmanager
def _explained() -> Iterator[None]:
    """Say of texts that cannot be read which option may help."""
    try:
        yield
    except (pa.ArrowInvalid, UnicodeError) as error:
        text = one_line(error)
        if isinstance(error, UnicodeError) or "UTF8" in text:
            hint = "--encoding names another encoding than UTF-8, such as cp1252 or latin-1"
        elif "conversion error" in text:
            hint = "types are those of the first rows; --text-column COLUMN reads one as text"
        else:
            raise
        raise ValueError(f"{text}; {hint}") from error
