"""The formats of files: extensions, compressions and first bytes, and the values that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as text_format
import pyarrow.parquet as pq

from onehot_fast.integrations.arrow import LAYOUTS, plain_type


@dataclass(frozen=True)
class Kind:
    """What the files of a format are called, and what they can contain."""

    extensions: Sequence[str]  # outputs get the first one
    layouts: Sequence[str] = LAYOUTS  # of the features; the first one is the default
    delimiter: str | None = None  # between the fields of a text file
    is_sequential: bool = False  # read from front to back, so that the whole may be compressed
    is_readable: bool = True
    has_only_features: bool = False  # and no other columns


# Text files have no nested columns.
TEXT_LAYOUTS = ("columns", "dictionary")
# The formats that the command reads and writes, and nothing else lists them: `source.READERS` and
# `writers.WRITERS` have a class for each.
KINDS = {
    "parquet": Kind(("parquet", "pq", "parq")),
    "arrow": Kind(("arrow", "feather", "ipc")),
    "arrows": Kind(("arrows",), is_sequential=True),
    "csv": Kind(("csv",), TEXT_LAYOUTS, delimiter=",", is_sequential=True),
    "tsv": Kind(("tsv",), TEXT_LAYOUTS, delimiter="\t", is_sequential=True),
    "npz": Kind(("npz",), ("csr",), is_readable=False, has_only_features=True),
}
# The compression around a file, for each extension that follows that of the format.
COMPRESSIONS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}


@dataclass(frozen=True)
class Format:
    """A file format, and the compression around it."""

    kind: str  # a key of `KINDS`
    compression: str | None = None

    @property
    def delimiter(self) -> str:
        """The delimiter of a text file."""
        return KINDS[self.kind].delimiter or ","

    @property
    def is_text(self) -> bool:
        """Whether values are written as text."""
        return KINDS[self.kind].delimiter is not None

    @property
    def is_readable(self) -> bool:
        """Whether the command reads the format."""
        return KINDS[self.kind].is_readable

    @property
    def has_only_features(self) -> bool:
        """Whether a file contains the features and no other columns."""
        return KINDS[self.kind].has_only_features

    @property
    def layouts(self) -> Sequence[str]:
        """The layouts of features that a file can contain; the first one is the default."""
        return KINDS[self.kind].layouts

    @property
    def suffix(self) -> str:
        """The extension of a file name, e.g. ``.csv.gz``."""
        return "." + next(name for name, form in EXTENSIONS.items() if form == self)


# The format of each extension.
EXTENSIONS = {name: Format(kind) for kind, one in KINDS.items() for name in one.extensions}
EXTENSIONS |= {
    f"{name}.{end}": Format(kind, compression)
    for kind, one in KINDS.items()
    if one.is_sequential
    for name in one.extensions
    for end, compression in COMPRESSIONS.items()
}
READABLE = {name: form for name, form in EXTENSIONS.items() if form.is_readable}
# The first bytes of each format; a file that begins with other bytes is CSV.
FIRST_BYTES = {
    b"PAR1": Format("parquet"),
    b"ARROW1": Format("arrow"),
    b"\xff\xff\xff\xff": Format("arrows"),
    b"\x1f\x8b": Format("csv", "gzip"),
    b"BZh": Format("csv", "bz2"),
    b"\x28\xb5\x2f\xfd": Format("csv", "zstd"),
    b"\x04\x22\x4d\x18": Format("csv", "lz4"),
}


def layouts_of(formats: Iterable[Format]) -> list[str]:
    """Return the layouts that any of these formats can contain."""
    return [*dict.fromkeys(layout for form in formats for layout in form.layouts)]


def split_name(name: str) -> tuple[str, Format | None]:
    """Return a file name without its extension, and the format; None if that is unknown."""
    stem, *ends = name.split(".")
    for n in (2, 1):
        form = EXTENSIONS.get(".".join(ends[-n:]).lower())
        if form is not None:
            return ".".join([stem, *ends[:-n]]), form
    return name, None


def format_of_name(name: str) -> Format | None:
    """Return the format of the extension of a file name; None if the extension is unknown."""
    return split_name(name)[1]


def format_of_content(start: bytes) -> Format:
    """Return the format of a file that begins with the bytes `start`."""
    if _is_old_stream(start):
        return Format("arrows")
    return next(
        (form for magic, form in FIRST_BYTES.items() if start.startswith(magic)), Format("csv")
    )


def _is_old_stream(start: bytes) -> bool:
    """Tell whether a file begins like an Arrow stream of a version before 0.15.

    Its first message begins with its length, and then the position of its root table. Text never
    begins so, in no encoding.
    """
    length, root = int.from_bytes(start[:4], "little"), int.from_bytes(start[4:8], "little")
    return 8 < length < 1 << 24 and 4 <= root < 64 and root % 4 == 0


def can_hold(form: Format, values: pa.Array) -> bool:
    """Tell whether a format can hold values, i.e. whether they can be written.

    An Arrow file must also give the same type back; it has no dictionaries of extension types. A
    Parquet file must give back the same values from a dictionary as without one: pyarrow reads a
    dictionary of durations as integers, and one of times with a time zone as times in UTC.
    """
    if not len(values):
        values = pa.nulls(1, values.type)
    table, file = pa.table({"x": pa.chunked_array([values, values])}), pa.BufferOutputStream()
    try:
        if form.kind == "parquet":
            kind = _type_in_parquet(table)
            if not isinstance(values, pa.DictionaryArray):
                return True
            plain = _type_in_parquet(pa.table({"x": values.dictionary}))
            return bool(plain_type(kind) == plain_type(plain))
        if form.is_text:
            text_format.write_csv(pa.table({"x": pa.array([], values.type)}), file)
            return not isinstance(values, pa.DictionaryArray)
        with pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
        return bool(pa.ipc.open_stream(file.getvalue()).read_all().schema == table.schema)
    except (pa.ArrowException, OSError):
        return False


def _type_in_parquet(table: pa.Table) -> pa.DataType:
    """Return the type that pyarrow reads after it wrote a table of one column to Parquet."""
    file = pa.BufferOutputStream()
    pq.write_table(table.unify_dictionaries(), file)
    # `read_table` would import pyarrow.dataset, and with it pandas.
    return pq.ParquetFile(pa.BufferReader(file.getvalue())).read().schema.field(0).type
