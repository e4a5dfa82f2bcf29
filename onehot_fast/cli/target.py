"""Where the output goes: a file or a folder that appears whole, or standard output."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from onehot_fast.cli.atomic import atomic_file, atomic_folder, is_replaceable
from onehot_fast.cli.errors import CommandError, Exit, writing
from onehot_fast.cli.formats import FORMATS, Format, format_of_name
from onehot_fast.cli.signals import PATIENCE, raise_if_signalled, wait_until_ready
from onehot_fast.cli.stores import is_remote, require_free_place, uploading

__all__ = [
    "STDOUT",
    "format_for",
    "is_folder",
    "new_file",
    "new_folder",
    "require_free",
    "save_text",
]

STDOUT = "-"


def is_folder(path: str, from_folder: bool) -> bool:
    """Tell whether the user named a folder, one that is there or one to make."""
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        return True
    is_name_of_file = path == STDOUT or Path(path).exists() or format_of_name(path) is not None
    return from_folder and not is_name_of_file


def require_free(
    path: str,
    inputs: Sequence[os.stat_result],
    may_replace: bool,
    addresses: Sequence[str] = (),
) -> None:
    """Refuse an output that is an input, or is there already if it may not be replaced.

    A folder is replaced as a whole, and only if there is nothing in it but files of data.
    `addresses` are those of inputs in stores.
    """
    if is_remote(path):
        require_free_place(path, addresses, may_replace)
        return
    try:
        there = os.fstat(sys.stdout.fileno()) if path == STDOUT else os.stat(path)
    except (OSError, ValueError):  # nothing is there; or what prevents looking prevents writing
        return
    if stat.S_ISREG(there.st_mode):
        if any(os.path.samestat(there, each) for each in inputs):
            name = "standard output" if path == STDOUT else path
            raise CommandError(Exit.OUTPUT, f"{name}: is the input; name another output")
        if path != STDOUT and not may_replace:
            raise CommandError(Exit.OUTPUT, f"{path}: is there already; --overwrite replaces it")
    elif stat.S_ISDIR(there.st_mode):
        _require_free_folder(Path(path), inputs, may_replace)


def _require_free_folder(folder: Path, inputs: Sequence[os.stat_result], may_replace: bool) -> None:
    """Refuse a folder that has something in it; see `require_free`."""
    below = list(folder.rglob("*"))
    for path in below:
        if path.is_dir() and not path.is_symlink():
            continue
        if path.is_file() and any(os.path.samestat(path.stat(), each) for each in inputs):
            raise CommandError(Exit.OUTPUT, f"{folder}: holds the input; name another output")
        if may_replace and format_of_name(path) is None:
            text = f"{folder}: holds {path.name}, which is not a data file; name another output"
            raise CommandError(Exit.OUTPUT, text)
    if below and not may_replace:
        text = f"{folder}: is there already, and not empty; --overwrite replaces it"
        raise CommandError(Exit.OUTPUT, text)


def format_for(
    path: str, chosen: Format | None, source: Format, into_folder: bool = False
) -> Format:
    """Return the format to write: what was asked for, what the name says, or that of the input."""
    if chosen is not None:
        return chosen
    if path == STDOUT or into_folder:
        return source
    found = format_of_name(path)
    if found is None:
        text = f"{path}: the name says no format; --output-format takes {FORMATS}"
        raise CommandError(Exit.USAGE, text)
    return found


@contextmanager
def new_file(path: str, form: Format, may_replace: bool = False) -> Iterator[pa.NativeFile]:
    """Give a file to write to, which is at its place when the block has ended well."""
    if path == STDOUT or not is_replaceable(Path(path)):
        with (
            writing("standard output" if path == STDOUT else path),
            _opened(path, form) as out,
            pa.PythonFile(out, "w") as raw,
            _packed(raw, form) as file,
        ):
            yield file
        return
    with (
        writing(path),
        atomic_file(Path(path), may_replace) as part,
        pa.OSFile(str(part), "wb") as raw,
        _packed(raw, form) as file,
    ):
        yield file


@contextmanager
def _packed(raw: pa.NativeFile, form: Format) -> Iterator[pa.NativeFile]:
    """Give a file that compresses what is written, where the format wants that.

    If the block fails, nothing more is written: no end that makes a part look like a whole.
    """
    if form.compression is None:
        yield raw
        return
    with pa.CompressedOutputStream(raw, form.compression) as file:
        try:
            yield file
        except BaseException:
            raw.close()
            with suppress(OSError, ValueError):
                file.close()
            raise


class _InSteps(io.FileIO):
    """A pipe or a device, whose reader is never waited for without an eye on signals."""

    def write(self, data: Any) -> int:
        """Write all of the data, so much at once as a pipe takes without waiting."""
        is_file = stat.S_ISREG(os.fstat(self.fileno()).st_mode)
        step = 1 << 20 if is_file else getattr(select, "PIPE_BUF", 1 << 20)
        view, done = memoryview(data).cast("B"), 0
        while done < len(view):
            wait_until_ready(writable=[self])
            done += super().write(view[done : done + step]) or 0
        return done


def _opened(path: str, form: Format) -> io.FileIO:
    """Open standard output, a pipe or a device."""
    if path == STDOUT:
        if sys.stdout.isatty() and not form.is_text:
            text = f"standard output is a terminal, no place for {form.kind}"
            raise CommandError(Exit.USAGE, text)
        # A handle of our own, for what compresses closes what it writes to.
        return _InSteps(os.dup(sys.stdout.fileno()), "wb")
    while True:
        try:
            return _InSteps(path, "wb", opener=_open_at_once)
        except OSError as error:
            if error.errno != errno.ENXIO or not Path(path).is_fifo():
                raise
        raise_if_signalled()
        time.sleep(PATIENCE)  # until somebody opens the pipe to read it


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody reads is an error."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def new_folder(path: str, may_replace: bool = False) -> Iterator[Path]:
    """Give a folder to write to, which is at its place when the block has ended well."""
    with writing(path), atomic_folder(Path(path), may_replace) as part:
        yield part


def save_text(path: str, text: str, may_replace: bool = False) -> None:
    """Write a text file, whole or not at all."""
    if is_remote(path):
        with uploading(path) as local:
            Path(local).write_text(text, encoding="utf-8")
        return
    with writing(path), atomic_file(Path(path), may_replace) as part:
        part.write_text(text, encoding="utf-8")
