"""The interface of the readers, which read a file in batches of bounded size, and its input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa

from onehot_fast.cli.formats import Format
from onehot_fast.cli.places import Place

Batches: TypeAlias = Generator[pa.RecordBatch, None, None]
Names: TypeAlias = Collection[str]


@dataclass(frozen=True)
class Input:
    """The input that the user named, and how it is read."""

    place: Place  # a file, a folder or standard input
    input_format: Format | None = None  # None: the format of the name, or that of the content
    # For CSV:
    delimiter: str | None = None  # None: the delimiter of the format
    nulls: Sequence[str] = ()  # marks of a missing value, besides the empty field
    keep_empty: bool = False  # whether the empty field of a column of text is a string
    is_text: bool = False  # whether all columns are read as strings
    text_columns: Sequence[str] = ()  # the columns that are read as strings
    encoding: str = "utf8"
    decimal: str = "."
    no_header: bool = False  # whether the first row is data
    names: Sequence[str] | None = None  # the names of the columns, if the first row is data
    fill_rows: bool = False  # whether short rows are filled with missing values
    # For Arrow streams:
    may_lack_end: bool = False  # whether a stream without an end marker is read

    @property
    def has_header(self) -> bool:
        """Whether the first row of a CSV file contains the names of the columns."""
        return not self.no_header and self.names is None


class Reader(ABC):
    """A file that is read in batches."""

    n_rows: int | None = None  # None: not known before the file has been read
    schema: pa.Schema
    # The codec of the file, for an Arrow output.
    compression: str | None = None
    # The paths of columns whose values hardly repeat, so that a dictionary is useless.
    plain: Collection[str] = ()
    # The columns whose strings repeat so often that they are read and written as dictionaries.
    repeated: Collection[str] = ()
    share: float = 0.0  # how much of the file has been read
    notes: Sequence[str] = ()  # on how the file is read
    # The types in the file of columns that are read as another type, but decoded to this one.
    types_in_file: Mapping[str, pa.DataType] = MappingProxyType({})

    def __init__(self, place: Place, name: str, form: Format, spec: Input) -> None:
        self.place: Place = place
        self.name: str = name
        self.format: Format = form
        self.spec: Input = spec
        self.n_bytes: int = place.system.get_file_info(place.raw).size or 0
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

    # For CSV files; the columns of other files have fixed types, names and missing values.

    def set_types(self, schema: pa.Schema) -> None:  # noqa: B027
        """Read the columns of a CSV file as the types of `schema`."""

    def decide(self, names: Names) -> dict[str, pa.DataType]:
        """Return the types of columns that have no type yet, as far as the file contains values."""
        return {}

    @property
    def marked(self) -> Names:
        """The columns without a type that contain a mark of a missing value."""
        return ()

    def marks(self, name: str) -> Counter[str]:
        """Return how often a column contains each usual mark of a missing value."""
        return Counter()


def unpacked(file: pa.NativeFile, form: Format) -> Any:
    """Return a file object that decompresses a file of the format `form`."""
    return file if form.compression is None else pa.CompressedInputStream(file, form.compression)


def sliced(batch: pa.RecordBatch, rows: int) -> Batches:
    """Yield views of a batch, of at most `rows` rows each."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
