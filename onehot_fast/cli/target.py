"""Where the output goes: a file or a folder that appears whole, or standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from onehot_fast.cli.atomic import atomic_file, atomic_folder, is_replaceable
from onehot_fast.cli.errors import CommandError, Exit, writing
from onehot_fast.cli.formats import FORMATS, Format, format_of_name

__all__ = ["STDOUT", "format_for", "is_folder", "new_file", "new_folder", "save_text"]

STDOUT = "-"


def is_folder(path: str) -> bool:
    """Tell whether the user named a folder, one that is there or one to make."""
    return path.endswith(("/", os.sep)) or Path(path).is_dir()


def format_for(path: str, wanted: Format | None, source: Format) -> Format:
    """Return the format to write: what was asked for, what the name says, or that of the input."""
    if wanted is not None:
        return wanted
    if path == STDOUT or is_folder(path):
        return source
    found = format_of_name(path)
    if found is None:
        text = f"{path}: the name says no format; --output-format takes {FORMATS}"
        raise CommandError(Exit.USAGE, text)
    return found


@contextmanager
def new_file(path: str, form: Format) -> Iterator[pa.NativeFile]:
    """Give a file to write to, which is at its place when the block has ended well."""
    if path == STDOUT:
        if sys.stdout.isatty() and not form.is_text:
            raise CommandError(
                Exit.USAGE, f"standard output is a terminal, no place for {form.kind}"
            )
        # A handle of our own, for what compresses closes what it writes to.
        with (
            writing("standard output"),
            os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out,
            pa.PythonFile(out, "w") as raw,
            _packed(raw, form) as file,
        ):
            yield file
        return
    if not is_replaceable(Path(path)):
        with writing(path), pa.OSFile(path, "wb") as raw, _packed(raw, form) as file:
            yield file
        return
    with (
        writing(path),
        atomic_file(Path(path)) as part,
        pa.OSFile(str(part), "wb") as raw,
        _packed(raw, form) as file,
    ):
        yield file


@contextmanager
def _packed(raw: pa.NativeFile, form: Format) -> Iterator[pa.NativeFile]:
    """Give a file that compresses what is written, where the format wants that."""
    if form.compression is None:
        yield raw
        return
    with pa.CompressedOutputStream(raw, form.compression) as file:
        yield file


@contextmanager
def new_folder(path: str) -> Iterator[Path]:
    """Give a folder to write to, which is at its place when the block has ended well."""
    with writing(path), atomic_folder(Path(path)) as part:
        yield part


def save_text(path: str, text: str) -> None:
    """Write a text file, whole or not at all."""
    with writing(path), atomic_file(Path(path)) as part:
        part.write_text(text, encoding="utf-8")
