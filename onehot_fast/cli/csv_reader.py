"""A CSV file, read in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from onehot_fast.cli.formats import Format
from onehot_fast.cli.pipeline import sliced
from onehot_fast.cli.readers import Reader, position, unpacked

__all__ = ["TextOptions", "TextReader"]

# So much text is parsed at once; the types of columns are inferred from the first such block.
BLOCK_BYTES = 4 << 20


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
    """

    delimiter: str | None = None
    missing: tuple[str, ...] | None = None
    is_plain: bool = False


class TextReader(Reader):
    """A CSV file, perhaps compressed."""

    def __init__(self, path: Path, name: str, form: Format, text: TextOptions) -> None:
        super().__init__(path, name, form)
        self._text = text
        self._file: Any = None
        self._convert = csv.ConvertOptions()
        if text.missing is not None:
            self._convert.null_values = list(text.missing)
        with pa.OSFile(str(path)) as file:
            inferred = self._open(file).schema
        # Bytes are found where a text is not UTF-8: that is to be an error, in whatever row it is.
        texts = [f.with_type(pa.string()) if pa.types.is_binary(f.type) else f for f in inferred]
        self.set_types(pa.schema(texts))

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns as these types, and no longer as those of the first rows."""
        self.schema = schema
        self._convert.column_types = {field.name: field.type for field in schema}

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        with pa.OSFile(str(self.path)) as self._file:
            for batch in sliced(self._open(self._file, columns), rows):
                yield self._without_missing(batch, coded)

    def _open(
        self, file: pa.NativeFile, columns: Sequence[str] | None = None
    ) -> csv.CSVStreamingReader:
        """Start to parse the file."""
        convert = self._convert
        if columns is not None:
            names = [name for name in self.schema.names if name in columns]
            convert = csv.ConvertOptions(
                column_types=convert.column_types,
                null_values=convert.null_values,
                include_columns=names,
            )
        return csv.open_csv(
            unpacked(file, self.format),
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=csv.ParseOptions(
                delimiter=self._text.delimiter or self.format.delimiter,
                newlines_in_values=True,
            ),
            convert_options=convert,
        )

    def _without_missing(self, batch: pa.RecordBatch, coded: Sequence[str]) -> pa.RecordBatch:
        """Return a batch in whose encoded texts null stands for what is missing.

        pyarrow could do that for all columns only, and those that are kept stay as they are.
        """
        for name in coded:
            i = batch.schema.get_field_index(name)
            if i >= 0 and pa.types.is_string(batch.schema.field(i).type):
                column = batch.column(i)
                marks = pa.array(self._convert.null_values, pa.string())
                present = pc.invert(pc.is_in(column, marks))
                nothing = pa.scalar(None, pa.string())
                batch = batch.set_column(i, name, pc.if_else(present, column, nothing))
        return batch

    def share(self) -> float:
        """Return the share of the bytes."""
        return position(self._file) / max(1, self.n_bytes)
