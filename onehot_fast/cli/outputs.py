"""Outputs: standard output, an object store, or a file or folder that appears when complete."""

from __future__ import annotations

import errno
import glob
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from onehot_fast.cli.formats import EXTENSIONS, Format, split_name
from onehot_fast.cli.messages import CommandError, Exit, writing
from onehot_fast.cli.places import Place, local_place, uploading
from onehot_fast.cli.reader import Input
from onehot_fast.cli.signals import held, raise_if_received
from onehot_fast.cli.source import InputFiles

# Windows has no such locks: temporary files of killed runs are not removed.
locks: Any = import_module("fcntl") if os.name == "posix" else None


@dataclass(frozen=True)
class Destination:
    """Where and how the rows are written."""

    place: Place  # a file, a folder or standard output
    format: Format
    is_folder: bool
    keys: Sequence[str]  # the columns that are in the names of folders, and not in the files
    partition_by: Sequence[str]  # the columns whose values name new folders
    file_rows: int | None  # the rows of each file; None: a file for each input file
    delimiter: str | None  # for CSV
    may_replace: bool
    is_quiet: bool
    compression: str | None  # the codec within Parquet and Arrow files; None: the default
    group_rows: int | None  # the rows of a row group of Parquet; None: the default


def resolved_destination(
    source: InputFiles,
    spec: Input,
    encoder_file: Place | None,
    target: Place,
    wanted: Format | None,
    partition_by: Sequence[str],
    file_rows: int | None,
    **settings: Any,
) -> Destination:
    """Return the output that the user named; raise an error if it is the input or `encoder_file`.

    The parameters from `target` on are the options of the command. `wanted` is the format. If it is
    None, the extension of an output file determines the format; standard output and the files in
    a folder have the format of the source.
    """
    partition_by = tuple(dict.fromkeys(partition_by))
    is_divided = file_rows is not None or bool(partition_by)
    is_many = source.folder is not None or is_divided
    with writing(target.address):  # the name may be too long
        is_folder = _is_folder(target, is_many)
    if is_divided and not is_folder:
        option = "--partition-by" if partition_by else "--rows-per-file"
        raise CommandError(
            Exit.USAGE,
            f"{target.address}: {option} writes a folder; end its name with a slash, e.g."
            " -o parts/",
        )
    source.require(partition_by)
    if is_folder and not is_many and target.local is not None and target.local.is_dir():
        name = name_within(source, source.readers[0].place, wanted or source.format)
        target, is_folder = local_place(target.local / name), False
    if not target.is_standard and source.folder is not None and target.is_within(source.folder):
        raise CommandError(
            Exit.OUTPUT,
            f"{target.address} is within the input folder, where the next run would read it as"
            " input; name another output",
        )
    inputs = source.identities()
    if encoder_file is not None and encoder_file.kind == fs.FileType.File:
        inputs.append(encoder_file.identity)
    _require_free(target, inputs, settings["may_replace"])
    has_format = not target.is_standard and not is_folder
    form = wanted or (target.format if has_format else source.format)
    if form is None:
        raise CommandError(
            Exit.USAGE,
            f"{target.address}: the name has no known extension; pass --output-format with one of"
            f" {', '.join(EXTENSIONS)}",
        )
    own_keys = list(source.keys) if is_folder and file_rows is None else []
    keys = partition_by or own_keys
    return Destination(
        target, form, is_folder, keys, partition_by, file_rows, spec.delimiter, **settings
    )


def name_within(source: InputFiles, place: Place, form: Format) -> Path:
    """Return the path of the output of one input file, relative to the output folder."""
    below = Path(place.name) if source.folder is None else place.below(source.folder)
    return below.with_name(f"{split_name(below.name)[0]}{form.suffix}")


def check_encoder_place(place: Place, source: InputFiles, destination: Destination) -> None:
    """Raise an error if the encoder cannot be saved at `place`."""
    if place.is_standard:
        raise CommandError(
            Exit.USAGE, "--save-encoder cannot write to standard output (-); name a file"
        )
    if not destination.place.is_standard and place.is_within(destination.place):
        raise CommandError(
            Exit.USAGE,
            f"{place.address} is the output or is within it; name another file for the encoder",
        )
    _require_free(place, source.identities(), destination.may_replace)


def _is_folder(place: Place, from_many: bool) -> bool:
    """Tell whether `place` means a folder.

    If `from_many`, the output can be several files, and a new name without a known extension also
    means a folder.
    """
    if place.is_standard:
        return False
    kind = place.kind
    if place.address.endswith(("/", os.sep)) or kind == fs.FileType.Directory:
        return True
    return from_many and kind == fs.FileType.NotFound and place.format is None


def _require_free(place: Place, inputs: Sequence[Any], may_replace: bool) -> None:
    """Raise an error if an output is an input, may not be replaced, or has no parent folder.

    A folder is replaced as a whole, and only if all files in it are data files. `inputs` are
    values of `Place.identity`.
    """
    if place.is_standard:
        with suppress(OSError, ValueError):  # closed, or no file
            out = os.fstat(sys.stdout.fileno())
            if (out.st_dev, out.st_ino) in inputs and stat.S_ISREG(out.st_mode):
                raise CommandError(
                    Exit.OUTPUT, "standard output is the input file; name another output"
                )
        return
    with writing(place.address):  # the name may be too long
        kind = place.kind
    is_folder = kind == fs.FileType.Directory
    if place.local is not None and not place.local.parent.is_dir():
        raise CommandError(
            Exit.OUTPUT,
            f"{place.address}: the folder {str(place.local.parent)!r} does not exist; create it"
            " first",
        )
    if not is_folder and kind != fs.FileType.File:
        return
    files = place.files()
    for file in files:
        if file.identity in inputs:
            if is_folder:
                raise CommandError(
                    Exit.OUTPUT, f"{place.address} contains the input; name another output"
                )
            raise CommandError(Exit.OUTPUT, f"{place.address} is the input; name another output")
        if is_folder and may_replace and file.format is None:
            raise CommandError(
                Exit.OUTPUT,
                f"{place.address} contains {file.name}, which is not a data file; name another"
                " output",
            )
    is_empty = not files and (place.local is None or not os.listdir(place.local))
    if not is_empty and not may_replace:
        raise CommandError(
            Exit.OUTPUT, f"{place.address} already exists; pass --overwrite to replace it"
        )


@contextmanager
def new_output(place: Place, may_replace: bool = False, is_folder: bool = False) -> Iterator[Path]:
    """Yield a local path to write to; the output appears at `place` only if the block succeeds."""
    local = place.local
    made = replaced(local, may_replace, is_folder) if local else uploading(place, is_folder)
    with writing(place.address), made as part:
        yield part


@contextmanager
def new_file(place: Place, form: Format, may_replace: bool = False) -> Iterator[pa.NativeFile]:
    """Yield an open file to write to; a file appears at `place` only if the block succeeds."""
    if place.is_standard or place.is_device:
        with (
            writing("standard output" if place.is_standard else place.address),
            _opened(place, form) as out,
            pa.PythonFile(out, "w") as raw,
            _packed(raw, form) as file,
        ):
            yield file
        return
    with new_output(place, may_replace) as part, written(part, form) as file:
        yield file


@contextmanager
def written(path: Path, form: Format) -> Iterator[pa.NativeFile]:
    """Open an empty local file for writing, e.g. in a folder that `new_output` yielded."""
    with pa.OSFile(os.fsencode(path), "wb") as raw, _packed(raw, form) as file:
        yield file


@contextmanager
def _packed(raw: pa.NativeFile, form: Format) -> Iterator[pa.NativeFile]:
    """Yield a file that compresses what is written to `raw`, if `form` is a compressed format.

    After an error in the block, the end of the compressed data is not written.
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


class _Unbuffered(io.FileIO):
    """A pipe or device without a buffer, so that closing it writes nothing."""

    def write(self, data: Any) -> int:
        """Write all the data, if necessary with several system calls."""
        view, n_done = memoryview(data).cast("B"), 0
        while n_done < len(view):
            n_done += super().write(view[n_done:]) or 0
        return n_done


def _opened(place: Place, form: Format) -> io.FileIO:
    """Open standard output, a pipe or a device."""
    if not place.is_standard:
        return _Unbuffered(place.path, "wb")  # waits until a pipe is opened for reading
    if sys.stdout.isatty() and not form.is_text:
        raise CommandError(
            Exit.USAGE,
            f"standard output is a terminal, which cannot show {form.kind}; name a file",
        )
    # A separate handle, because a compressed stream closes what it writes to.
    handle = os.dup(sys.stdout.fileno())
    if os.name == "posix":
        os.set_blocking(handle, True)
    return _Unbuffered(handle, "wb")


# --- outputs that appear whole or not at all: a temporary file or folder, fsync, and a rename


@contextmanager
def replaced(target: Path, may_replace: bool = False, is_folder: bool = False) -> Iterator[Path]:
    """Yield a temporary file or folder that replaces the target if the block succeeds.

    The block must close the files that it writes. After the block, they are synced to the disk, and
    the temporary path is renamed to the target. An existing folder is first renamed to
    ``.<name>.<random>.onehot-fast-old``, and removed at the end. If the process is killed in
    between, the old folder keeps this name. If the block raises an error, or if a signal comes, the
    target does not change.
    """
    target = Path(os.path.realpath(target))  # through a symbolic link, as a plain write would go
    with _temporary(target, is_folder) as path:
        yield path
        for one in (path, *path.rglob("*")):
            _sync(one)
        raise_if_received()
        is_empty = target.is_dir() and not os.listdir(target)
        if target.exists() and not may_replace and not is_empty:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with held():
            if is_folder and target.is_dir():
                _replace_folder(path, target)
            else:
                if target.is_file():
                    os.chmod(path, stat.S_IMODE(os.stat(target).st_mode))
                os.replace(path, target)
            _sync(target.parent)


def _replace_folder(path: Path, target: Path) -> None:
    """Replace the folder `target` by `path`; if the rename fails, restore the old folder."""
    # Windows cannot rename a folder onto another one, even if the other one is empty.
    old = path.with_suffix(".onehot-fast-old")
    os.rename(target, old)
    try:
        os.rename(path, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old)


@contextmanager
def _temporary(target: Path, is_folder: bool) -> Iterator[Path]:
    """Yield a new, locked temporary file or folder, and remove it at the end."""
    _remove_stale(target)
    # A file name has at most 255 bytes, and a character up to 4.
    path = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.onehot-fast-part")
    with ExitStack() as resources:
        try:
            # Before the path is locked, another run may remove it, as if this run was killed.
            while not path.exists():
                path.mkdir() if is_folder else path.touch(exist_ok=False)
                with suppress(OSError):  # removed, or the file system has no locks
                    resources.enter_context(_locked(path))
            yield path
        finally:
            with held():
                _remove(path)


def _remove_stale(target: Path) -> None:
    """Remove the temporary files that killed runs have left for this target.

    The temporary files of active runs are locked, and stay.
    """
    pattern = f".{glob.escape(target.name[:40])}.*.onehot-fast-part"
    for path in target.parent.glob(pattern):
        with suppress(OSError), _locked(path, wait=False):
            _remove(path)


@contextmanager
def _locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Lock a file or folder for the block; raise OSError if that fails, e.g. for a link."""
    if locks is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        locks.flock(handle, locks.LOCK_EX | (0 if wait else locks.LOCK_NB))
        yield
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    """Remove a file or a folder if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until the content of a file, or the list of files in a folder, is on the disk."""
    is_folder = path.is_dir()
    with suppress(*([OSError] if is_folder else [])):  # Windows cannot and need not sync folders
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
