"""Which format a file is in: by its name, or by its first bytes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "FORMATS",
    "Format",
    "format_of_content",
    "format_of_name",
    "parse_format",
    "without_suffix",
]

KINDS = {
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "arrows": "arrows",
    "csv": "csv", "tsv": "tsv",
    "npz": "npz",
}  # fmt: skip
COMPRESSIONS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
# Files that are read from front to back; the others are read in parts, from their end.
SEQUENTIAL = {"arrows", "csv", "tsv"}
FORMATS = "parquet, arrow (or feather, ipc), arrows (a stream), csv, tsv; npz (a matrix, only written); arrows, csv and tsv also as .gz, .bz2, .zst, .lz4 or .br"  # noqa: E501
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrows"))
COMPRESSED_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
)


@dataclass(frozen=True)
class Format:
    """A format, and the compression around it."""

    kind: str
    compression: str | None = None

    @property
    def delimiter(self) -> str:
        """What stands between two fields of a text file."""
        return "\t" if self.kind == "tsv" else ","

    @property
    def is_text(self) -> bool:
        """Whether values are written as text."""
        return self.kind in ("csv", "tsv")

    @property
    def suffix(self) -> str:
        """How the name of such a file ends."""
        ends = {value: f".{key}" for key, value in COMPRESSIONS.items()}
        return f".{self.kind}{ends.get(self.compression or '', '')}"


def parse_format(text: str) -> Format | None:
    """Return the format of a name such as ``csv.gz``, None if it is none."""
    kind, _, packed = text.lower().partition(".")
    if kind not in KINDS or (packed and (packed not in COMPRESSIONS or kind not in SEQUENTIAL)):
        return None
    return Format(KINDS[kind], COMPRESSIONS[packed] if packed else None)


def format_of_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that the end of a file's name says."""
    parts = Path(path).name.lower().split(".")[1:]
    for text in (".".join(parts[-2:]), parts[-1] if parts else ""):
        found = parse_format(text)
        if found is not None:
            return found
    return None


def without_suffix(name: str) -> str:
    """Return the name of a file without the end that says its format."""
    form, parts = format_of_name(name), name.split(".")
    n_ends = 0 if form is None else 1 + (form.compression is not None)
    return ".".join(parts[: len(parts) - n_ends])


def format_of_content(start: bytes) -> Format:
    """Return the format of a file by its first bytes; what is none of the others is CSV."""
    for magic, kind in MAGIC:
        if start.startswith(magic):
            return Format(kind)
    for magic, compression in COMPRESSED_MAGIC:
        if start.startswith(magic):
            return Format("csv", compression)
    return Format("csv")
