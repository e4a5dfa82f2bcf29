"""Files in object stores, such as ``s3://bucket/flights.parquet``, where fsspec is installed.

They are read where they are. What is written is made whole on the local disk, and then uploaded: an
object of S3, Google's or Azure's stores is there when its upload is complete, and never in parts.
A folder is uploaded file by file; if one fails, those before it are removed, and what an old folder
had beyond the new files goes last.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, one_line, writing
from onehot_fast.cli.formats import format_of_name
from onehot_fast.cli.signals import raise_if_signalled

__all__ = [
    "Place",
    "RemotePath",
    "is_remote",
    "is_remote_folder",
    "open_place",
    "place_of",
    "require_free_place",
    "size_of",
    "uploading",
]


@dataclass(frozen=True)
class RemotePath:
    """A file or a folder of a file system of fsspec.

    Attributes
    ----------
    system : fsspec.AbstractFileSystem
    key : str
        The path within it.
    """

    system: Any
    key: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.key).name

    def __str__(self) -> str:
        """Return the address."""
        return str(self.system.unstrip_protocol(self.key))

    def relative_to(self, folder: Any) -> PurePosixPath:
        """Return the path below a folder of the same file system."""
        return PurePosixPath(self.key).relative_to(folder.key)

    def files(self) -> list[RemotePath]:
        """Return the files of a folder and those below it, in the order of their names."""
        return [RemotePath(self.system, key) for key in sorted(self.system.find(self.key))]


Place: TypeAlias = Path | RemotePath


def is_remote(path: str) -> bool:
    """Tell whether a path is the address of something in a store."""
    return "://" in path


def place_of(path: str) -> Place:
    """Return where a path leads; ``file://`` leads to the local disk.

    Raises
    ------
    CommandError
        fsspec, or what it needs for this kind of store, is not installed.
    """
    if not is_remote(path):
        return Path(path)
    try:
        from fsspec.core import url_to_fs

        system, key = url_to_fs(path)
    except (ImportError, ValueError) as error:
        text = f"{path}: {one_line(error)}; an address needs fsspec and what it asks for"
        raise CommandError(Exit.FAILED, text) from error
    kinds = system.protocol if isinstance(system.protocol, tuple | list) else (system.protocol,)
    return Path(key) if "file" in kinds else RemotePath(system, key.rstrip("/"))


def open_place(place: Place) -> Any:
    """Open a file to read it, anywhere in it."""
    if isinstance(place, Path):
        return pa.OSFile(str(place))
    return pa.PythonFile(place.system.open(place.key, "rb"), "r")


def size_of(place: Place) -> int:
    """Return the size of a file in bytes."""
    return place.stat().st_size if isinstance(place, Path) else int(place.system.size(place.key))


def is_remote_folder(path: str, from_folder: bool) -> bool:
    """Tell whether an address is that of a folder, one that is there or one to make."""
    place = place_of(path)
    assert isinstance(place, RemotePath)
    if path.endswith("/") or place.system.isdir(place.key):
        return True
    return from_folder and not place.system.exists(place.key) and format_of_name(path) is None


def require_free_place(path: str, inputs: Sequence[str], may_replace: bool) -> None:
    """Refuse an address that is an input, or where something is that may not be replaced."""
    place = place_of(path)
    assert isinstance(place, RemotePath)
    there = [str(one) for one in place.files()]
    if set(there) & set(inputs):
        raise CommandError(Exit.OUTPUT, f"{path}: is or holds the input; name another output")
    if there and not may_replace:
        raise CommandError(Exit.OUTPUT, f"{path}: is there already; --overwrite replaces it")
    for name in there:
        if place.system.isdir(place.key) and format_of_name(name) is None:
            text = f"{path}: holds {name}, which is not a data file; name another output"
            raise CommandError(Exit.OUTPUT, text)


@contextmanager
def uploading(path: str) -> Iterator[str]:
    """Give a local path to write a file or a folder to, which is uploaded when the block ended."""
    place = place_of(path)
    assert isinstance(place, RemotePath)
    with tempfile.TemporaryDirectory(prefix="onehot-fast-") as folder:
        local = Path(folder, place.name or "output")
        yield str(local)
        raise_if_signalled()
        with writing(path):
            _upload(local, place)


def _upload(local: Path, place: RemotePath) -> None:
    """Upload what is complete; if that fails, remove what is there of it."""
    names = sorted(one for one in local.rglob("*") if one.is_file()) if local.is_dir() else [local]
    is_folder, system = local.is_dir(), place.system
    keys = [f"{place.key}/{one.relative_to(local).as_posix()}" for one in names]
    keys = keys if is_folder else [place.key]
    old = set(system.find(place.key)) if is_folder else set()
    done: list[str] = []
    try:
        for one, key in zip(names, keys, strict=True):
            raise_if_signalled()
            if is_folder:
                system.makedirs(key.rpartition("/")[0], exist_ok=True)
            system.put_file(str(one), key)
            done.append(key)
    except BaseException:
        for key in done if is_folder else ():
            with suppress(Exception):
                system.rm_file(key)
        raise
    for key in old - set(keys):
        system.rm_file(key)
