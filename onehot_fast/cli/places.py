"""The places of files, on the local disk or in an object store.

``s3://bucket/flights.parquet`` or any other address that fsspec supports is read in place, through
`pyarrow.fs`. An output is written to the local disk and then uploaded. The store shows an object
only after its upload is complete.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from onehot_fast.cli.formats import Format, format_of_name
from onehot_fast.cli.messages import CommandError, Exit, one_line

# The path of standard input or output.
STANDARD = "-"


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
