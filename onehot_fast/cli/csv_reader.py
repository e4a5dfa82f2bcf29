"""A CSV file, read in batches of bounded size."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from onehot_fast.cli.errors import one_line
from onehot_fast.cli.places import Format, Place
from onehot_fast.cli.readers import Reader, sliced, unpacked

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


class TextReader(Reader):
    """A CSV file, which may be compressed."""

    def __init__(self, place: Place, name: str, form: Format, spec: Input) -> None:
        super().__init__(place, name, form)
        self._spec = spec
        self._nulls = list(spec.nulls) or csv.ConvertOptions().null_values
        self._types: dict[str, pa.DataType] = {}
        self._check_start()
        with _explained():
            self.set_types(self._infer())

    def _check_start(self) -> None:
        """Raise an error if the file seems to be UTF-16, or to have another delimiter."""
        with self.place.open() as file:
            start = bytes(unpacked(file, self.format).read(HEADER_BYTES))
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and (
            self._spec.encoding == "utf8"
        ):
            raise ValueError("the file begins like UTF-16; pass --encoding utf-16")
        if self._spec.delimiter is not None:
            return
        header = start.decode(self._spec.encoding, "replace").splitlines()[:1]
        unquoted = re.sub('"[^"]*"', "", "".join(header))
        own = self.format.delimiter
        likely = max(DELIMITERS, key=lambda letter: (unquoted.count(letter), letter == own))
        if likely != own:
            has, lacks = _typed(likely), _typed(own)
            raise ValueError(
                f"the fields of the first line seem to be delimited by {has}, not {lacks}; pass"
                f" --delimiter {has}, or --delimiter {lacks} to keep {lacks}"
            )

    def _infer(self) -> pa.Schema:
        """Infer the types from the first rows; digits that are not numbers are strings."""
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
        """Read the columns as the types of `schema`, not as those of the first rows."""
        self.schema = schema
        types = {field.name: field.type for field in schema}
        # Numbers are read as strings and converted here, so that later rows do not lose digits.
        kinds = [pa.int64(), pa.float64()] if self._spec.decimal == "." else [pa.int64()]
        unique = {name: kind for name, kind in types.items() if schema.names.count(name) == 1}
        self._numbers = {name: kind for name, kind in unique.items() if kind in kinds}
        self._types = {**types, **dict.fromkeys(self._numbers, pa.string())}

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
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
        """Start to parse `columns` (if empty, all); `is_start`: only the start, without threads."""
        return csv.open_csv(
            unpacked(file, self.format),
            read_options=csv.ReadOptions(
                use_threads=not is_start,
                block_size=BLOCK_BYTES,
                encoding=self._spec.encoding,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self._spec.delimiter or self.format.delimiter,
                newlines_in_values=True,
            ),
            convert_options=csv.ConvertOptions(
                column_types=self._types,
                null_values=self._nulls,
                decimal_point=self._spec.decimal,
                include_columns=list(columns),
            ),
        )

    def _converted(self, batch: pa.RecordBatch, coded: Sequence[str]) -> pa.RecordBatch:
        """Convert columns of numbers, and make missing values in `coded` columns of strings null.

        The option of pyarrow, ``strings_can_be_null``, would change the other columns too.
        """
        for i, field in enumerate(batch.schema):
            if field.name in self._numbers:
                column = self._as_numbers(field.name, batch.column(i), self._numbers[field.name])
            elif field.name in coded and pa.types.is_string(field.type):
                column = self._nullified(batch.column(i))
            else:
                continue
            batch = batch.set_column(i, field.name, column)
        return batch

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
                f"column {name!r} has {what} in its first rows, but then {codes[0].as_py()!r};"
                f" pass --text-column {name!r} to read it as text"
            )
        if kind == pa.int64():
            with suppress(pa.ArrowInvalid):
                return pc.cast(texts, kind)
        try:
            return pc.cast(pc.utf8_trim_whitespace(self._nullified(texts)), kind)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"column {name!r} has {what} in its first rows, but not later:"
                f" {one_line(error)}; pass --text-column {name!r} to read it as text"
            ) from error

    def _nullified(self, texts: pa.Array) -> pa.Array:
        """Replace strings that mark a missing value by null."""
        marks = pa.array(self._nulls, pa.string())
        present = pc.invert(pc.is_in(texts, marks))
        return pc.if_else(present, texts, pa.scalar(None, pa.string()))


def _typed(delimiter: str) -> str:
    """Return a delimiter as it is typed in a shell."""
    return r"'\t'" if delimiter == "\t" else f"'{delimiter}'"


@contextmanager
def _explained() -> Iterator[None]:
    """Add the option that may help to the error message of a file that cannot be parsed."""
    try:
        yield
    except (pa.ArrowInvalid, UnicodeError) as error:
        text = one_line(error)
        if isinstance(error, UnicodeError) or "UTF8" in text:
            hint = "pass --encoding if the file is not UTF-8, e.g. cp1252 or latin-1"
        elif "conversion error" in text:
            hint = "the first rows determine the types; pass --text-column COLUMN to keep its text"
        else:
            raise
        raise ValueError(f"{text}; {hint}") from error
