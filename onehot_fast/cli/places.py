"""The places of files, on the local disk or in an object store, and the formats of files.

``s3://bucket/flights.parquet`` or any other address that fsspec supports is read in place, through
`pyarrow.fs`. An output is written to the local disk and then uploaded. The store shows an object
only after its upload is complete.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
from pyarrow import fs

from onehot_fast.cli.messages import CommandError, Exit, one_line

# The path of standard input or output.
STANDARD = "-"
# Hive, Spark, pyarrow, DuckDB and polars write this for a missing value in the name of a folder.
MISSING = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Format:
    """A file format, and the compression around it."""

    kind: str
    compression: str | None = None

    @property
    def delimiter(self) -> str:
        """The delimiter of a text file."""
        return "\t" if self.kind == "tsv" else ","

    @property
    def is_text(self) -> bool:
        """Whether values are written as text."""
        return self.kind in ("csv", "tsv")

    @property
    def suffix(self) -> str:
        """The extension of a file name, e.g. ``.csv.gz``."""
        return "." + next(name for name, form in EXTENSIONS.items() if form == self)


# The format of each extension; outputs get the first extension of their format.
EXTENSIONS = {
    "parquet": Format("parquet"), "pq": Format("parquet"), "parq": Format("parquet"),
    "arrow": Format("arrow"), "feather": Format("arrow"), "ipc": Format("arrow"),
    "arrows": Format("arrows"),
    "csv": Format("csv"), "tsv": Format("tsv"),
    "npz": Format("npz"),
}  # fmt: skip
CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
# These formats are read from front to back; the others are read from their end.
for _kind, (_end, _codec) in itertools.product(("arrows", "csv", "tsv"), CODECS.items()):
    EXTENSIONS[f"{_kind}.{_end}"] = Format(_kind, _codec)
# The first bytes of each format; a file that begins with other bytes is CSV.
MAGIC = {
    b"PAR1": Format("parquet"),
    b"ARROW1": Format("arrow"),
    b"\xff\xff\xff\xff": Format("arrows"),
    b"\x1f\x8b": Format("csv", "gzip"),
    b"BZh": Format("csv", "bz2"),
    b"\x28\xb5\x2f\xfd": Format("csv", "zstd"),
    b"\x04\x22\x4d\x18": Format("csv", "lz4"),
}


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
    return next((form for magic, form in MAGIC.items() if start.startswith(magic)), Format("csv"))


def _is_old_stream(start: bytes) -> bool:
    """Tell whether a file begins like an Arrow stream of a version before 0.15.

    Its first message begins with its length, and then the position of its root table. Text never
    begins so, in no encoding.
    """
    length, root = int.from_bytes(start[:4], "little"), int.from_bytes(start[4:8], "little")
    return 8 < length < 1 << 24 and 4 <= root < 64 and root % 4 == 0


# The first bytes of files that are not CSV, what they are, and Python code that converts one to
# Parquet. Without code, it is a program that unpacks it.
EXCEL = "import pandas; pandas.read_excel({path}).to_parquet({new})"
FOREIGN = {
    b"PK\x03\x04": ("a zip archive", "python -m zipfile -e {path} FOLDER"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", EXCEL),
    b"ORC": (
        "ORC",
        "import pyarrow.orc as orc, pyarrow.parquet as parquet;"
        " parquet.write_table(orc.read_table({path}), {new})",
    ),
    b"SQLite format 3\0": (
        "an SQLite database",
        "import pandas, sqlite3; pandas.read_sql('select * from TABLE',"
        " sqlite3.connect({path})).to_parquet({new})",
    ),
    b"Obj\x01": ("Avro", "import polars; polars.read_avro({path}).write_parquet({new})"),
    b"\x89HDF": ("HDF5", "import pandas; pandas.read_hdf({path}).to_parquet({new})"),
    b"<?xml": ("XML", "import pandas; pandas.read_xml({path}).to_parquet({new})"),
    b"<!DOCTYPE": ("HTML", "import pandas; pandas.read_html({path})[0].to_parquet({new})"),
    b"<html": ("HTML", "import pandas; pandas.read_html({path})[0].to_parquet({new})"),
    b"{": ("JSON", "import duckdb; duckdb.read_json({path}).write_parquet({new})"),
    b"%PDF-": ("a PDF document", ""),
    b"7z\xbc\xaf": ("a 7z archive", ""),
}
# Magic bytes that could begin the first name of a CSV file, which contains no control characters.
TEXT_MAGIC = (b"ORC", b"PAR1", b"ARROW1")
TAR_MAGIC, TAR_AT = b"ustar", 257
# A path that needs no escape within quotation marks of a shell and of Python.
PLAIN_PATH = re.compile(r"[\w./:=@%+,-]+")


def foreign(start: bytes, path: str) -> str | None:
    """Return what a file is that begins with `start` and is not CSV, and how to read it.

    Return None if it may be CSV. `start` is long enough for a line of JSON.
    """
    if start.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")) and _is_binary(start):
        kind = format_of_content(start).kind
        return f"the file is {kind}, not CSV; pass --input-format {kind}"
    if start[TAR_AT:].startswith(TAR_MAGIC):
        return f"the file is a tar archive, not CSV; unpack it first, e.g. with tar -xf {path}"
    is_json = _is_json(start.lstrip())
    for magic, (what, how) in FOREIGN.items():
        if not (is_json if magic == b"{" else start.lstrip().startswith(magic)):
            continue
        if magic in TEXT_MAGIC and not _is_binary(start):
            continue
        if b"[Content_Types].xml" in start or b"_rels/.rels" in start:
            what, how = "an Excel workbook", EXCEL
        doubt = "; if it is CSV, pass --input-format csv" if is_json else ""
        if how.startswith("import"):
            return (
                f"the file is {what}, not CSV; convert it to Parquet first, e.g. with"
                f" {python_line(how, path)}{doubt}"
            )
        if how:
            return (
                f"the file is {what}, not CSV; unpack it first, e.g. with"
                f" {how.format(path=shlex.quote(path))}{doubt}"
            )
        return f"the file is {what}, not CSV; name another input{doubt}"
    return None


def _is_binary(start: bytes) -> bool:
    """Tell whether bytes contain control characters other than tabs and line breaks."""
    return any(byte < ord(" ") and byte not in b"\t\n\r\f" for byte in start[:64])


def _is_json(start: bytes) -> bool:
    """Tell whether a file is a JSON document, or has a JSON document in each line."""
    if re.match(rb"\[\s*[\[{]", start):
        return True
    if not re.match(rb'\{\s*["}]', start):
        return False
    line = start.splitlines()[0].strip()
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line == b"{" or bool(re.match(rb'\{\s*"[^"]*"\s*:', line))


def python_line(code: str, path: str) -> str:
    """Return a shell command that runs Python code on a file; {new} is a Parquet file beside it."""
    stem = re.sub(r"(\.\w{1,7})?(\.(gz|bz2|zst|lz4|br))?$", "", path)
    code = code.format(path=repr(path), new=repr(f"{stem}.parquet"))
    quoted = f'"{code}"' if PLAIN_PATH.fullmatch(path) else shlex.quote(code)
    return f"python -c {quoted}"


@dataclass(frozen=True)
class Place:
    """The file system and path of a file or folder, which need not exist."""

    system: fs.FileSystem
    path: str  # within the file system
    address: str  # as the user typed it, but without file://

    @property
    def is_standard(self) -> bool:
        """Whether the user typed ``-``, standard input or standard output."""
        return self.address == STANDARD

    @property
    def is_device(self) -> bool:
        """Whether the place is a pipe or a device, which cannot be replaced."""
        return self.local is not None and self.local.exists() and not self.local.is_file()

    @property
    def local(self) -> Path | None:
        """The path on the local disk; None in other file systems."""
        return Path(self.path) if isinstance(self.system, fs.LocalFileSystem) else None

    @property
    def raw(self) -> str | bytes:
        """The path for `pyarrow`, which would reject a local path that is not UTF-8."""
        return self.path if self.local is None else os.fsencode(self.path)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return Path(self.path).name

    @property
    def format(self) -> Format | None:
        """The format of the extension; None if the extension is unknown."""
        return format_of_name(self.name)

    @property
    def kind(self) -> fs.FileType:
        """Whether the place is a file, is a folder or does not exist."""
        return self.system.get_file_info(self.raw).type

    @property
    def identity(self) -> Any:
        """A value that is equal for two places if they are the same file, even through links."""
        if self.local is None:
            return self.system, self.path
        there = os.stat(self.local)
        return there.st_dev, there.st_ino

    def open(self) -> pa.NativeFile:
        """Open the file for reading at any position."""
        return self.system.open_input_file(self.raw)

    def is_within(self, folder: Place) -> bool:
        """Tell whether the place is `folder`, or is below it."""
        if self.local is not None and folder.local is not None:
            return Path(os.path.realpath(self.local)).is_relative_to(os.path.realpath(folder.local))
        return self.system == folder.system and f"{self.path}/".startswith(f"{folder.path}/")

    def below(self, folder: Place) -> Path:
        """Return the path relative to a folder of the same file system."""
        return Path(os.path.relpath(self.path, folder.path))

    def files(self) -> list[Place]:
        """Return the file itself, or the files in the folder, sorted by path."""
        if self.kind == fs.FileType.File:
            return [self]
        if self.local is not None:  # not through `pyarrow.fs`, which follows links to folders
            return [local_place(path) for path in sorted(self.local.rglob("*")) if path.is_file()]
        selector = fs.FileSelector(self.path, recursive=True, allow_not_found=True)
        found = [one.path for one in self.system.get_file_info(selector) if one.is_file]
        here = self.address.rstrip("/").removesuffix(self.path)
        return [Place(self.system, path, f"{here}{path}") for path in sorted(found)]


def local_place(path: Path | str) -> Place:
    """Return the place of a path on the local disk."""
    return Place(fs.LocalFileSystem(), str(path), str(path))


def place_of(path: str) -> Place:
    """Return the place of a path or an address such as ``s3://bucket/flights.parquet``.

    The command calls this once for each path that the user typed; see `commands.PlaceType`.
    """
    if "://" not in path:
        return local_place(path)
    try:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        system, key = url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise CommandError(
            Exit.FAILED,
            f"{path}: {one_line(error)}; install fsspec and the package for this store",
        ) from error
    if isinstance(system, LocalFileSystem):
        return Place(fs.LocalFileSystem(), key, key + "/" * path.endswith("/"))
    return Place(fs.PyFileSystem(fs.FSSpecHandler(system)), key.rstrip("/"), path)


@contextmanager
def uploading(place: Place, is_folder: bool = False) -> Iterator[Path]:
    """Yield a local file or folder to write to, and upload it if the block succeeds."""
    with tempfile.TemporaryDirectory(prefix="onehot-fast-") as folder:
        local = Path(folder, place.name or "output")
        if is_folder:
            local.mkdir()
        yield local
        _upload(local, place)


def _upload(local: Path, place: Place) -> None:
    """Upload a file or all files of a folder; after an error, remove the uploaded files."""
    system: Any = place.system.handler.fs
    if local.is_file():
        system.put_file(str(local), place.path)
        return
    paths = [path for path in sorted(local.rglob("*")) if path.is_file()]
    new = {f"{place.path}/{path.relative_to(local).as_posix()}": path for path in paths}
    old, done = set(system.find(place.path)), []
    try:
        for key, path in new.items():
            system.makedirs(key.rpartition("/")[0], exist_ok=True)
            # Not through `pyarrow.fs`, which may complete an object whose upload failed.
            system.put_file(str(path), key)
            done.append(key)
    except BaseException:
        for key in done:
            with suppress(Exception):
                system.rm_file(key)
        raise
    for key in old - set(new):
        system.rm_file(key)


# --- names of folders such as year=2013; the columns in the names are the keys


def keys_of(folders: Iterable[str]) -> dict[str, str | None]:
    """Parse names of folders such as year=2013 to keys and values; None is a missing value."""
    pairs = [name.split("=", 1) for name in folders if "=" in name[1:]]
    return {unquote(key): None if value == MISSING else unquote(value) for key, value in pairs}


def folder_name(key: str, value: str | None) -> str:
    """Return the name of a folder, e.g. from%2Fto=XL%2E for the key "from/to" and value "XL."."""
    text = MISSING if value is None else _encoded(value)
    if text[-1:] in (".", " "):  # Windows ignores these at the end
        text = f"{text[:-1]}%{ord(text[-1]):02X}"
    return f"{_encoded(key)}={text}"


def _encoded(text: str) -> str:
    """Percent-encode the characters of a string, except those that every system accepts."""
    return "".join(c if c.isalnum() or c in " -_.,+" else quote(c, safe="") for c in text)


def key_type(values: Sequence[str | None]) -> pa.DataType:
    """Return int64 if all values are integers without leading zeros, and string otherwise."""
    present = [value for value in values if value is not None]
    is_number = present and all(WHOLE_NUMBER.fullmatch(value) for value in present)
    return pa.int64() if is_number else pa.string()
