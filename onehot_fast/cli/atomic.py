"""Output that appears whole or not at all: a temporary file or folder, and one rename."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

from onehot_fast.cli.signals import raise_if_signalled

try:
    import fcntl as _fcntl
except ImportError:  # Windows: nothing tells a stale temporary from a live one, so all stay
    locks: ModuleType | None = None
else:
    locks = _fcntl

__all__ = ["atomic_file", "atomic_folder", "is_replaceable"]

MARK = "onehot-fast-part"
# So long is written before the disk is asked for it again.
SYNC_SECONDS = 0.2
# Of Linux.
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def is_replaceable(path: Path) -> bool:
    """Tell whether a path can be renamed onto: what is there already is no device or pipe."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


@contextmanager
def atomic_file(target: Path, may_replace: bool = False) -> Iterator[Path]:
    """Give a temporary file beside the target, which takes its place if all goes well.

    The temporary file is ``.<name>.<random>.onehot-fast-part``. It is on the disk before it is
    renamed, and so is its name afterwards. What runs before left behind when they were killed, and
    no process holds any more, is removed.

    Raises
    ------
    OSError
        The file cannot be written, synchronised or renamed, or one is there that may not be
        replaced. The target is as it was.
    Interrupted
        A signal came before the file was renamed.
    """
    target = Path(os.path.realpath(target))  # through a symbolic link, as a plain write would go
    with _temporary(target, is_folder=False) as (path, handle):
        with _synchronised(handle):
            yield path
        with contextlib.suppress(FileNotFoundError):
            os.chmod(path, stat.S_IMODE(os.stat(target).st_mode))
        os.fsync(handle)
        raise_if_signalled()
        if not may_replace and target.exists():  # since it was looked for
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.replace(path, target)
        _sync_folder(target.parent)


@contextmanager
def _synchronised(handle: int) -> Iterator[None]:
    """Let what is written go to the disk meanwhile: little is left to wait for at the end."""
    is_over = Event()

    def synchronise() -> None:
        while not is_over.wait(SYNC_SECONDS):
            os.fsync(handle)

    with ThreadPoolExecutor(1) as thread:
        going = thread.submit(synchronise)
        try:
            yield
        finally:
            is_over.set()
    going.result()  # an error of the disk is told once, maybe to this thread


@contextmanager
def atomic_folder(target: Path, may_replace: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside the target, which gets its name if all goes well.

    A folder that is there and may be replaced changes its name with it, at once where the system
    can do that, and is removed then.

    Raises
    ------
    OSError, Interrupted
        As `atomic_file`; and the target is a file.
    """
    target = Path(os.path.realpath(target))
    with _temporary(target, is_folder=True) as (path, _):
        yield path
        for folder, _, names in os.walk(path):
            for name in names:
                raise_if_signalled()
                _sync_file(Path(folder, name))
            _sync_folder(Path(folder))
        raise_if_signalled()
        if may_replace and target.is_dir() and exchange(path, target):
            _sync_folder(target.parent)
            return  # what is removed as a temporary folder is now the old one
        with _moved_aside(target) if may_replace and target.is_dir() else nullcontext():
            os.rename(path, target)  # refused onto a file, or a folder with something in it
        _sync_folder(target.parent)


def exchange(one: Path, other: Path) -> bool:
    """Let two names change places at once, where the system and the file system can do that.

    Raises
    ------
    OSError
        They may not, or one is not there.
    """
    if sys.platform != "linux":
        return False
    rename: Any = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # a C library of before 2018
        return False
    places = os.fsencode(one), os.fsencode(other)
    if not rename(AT_FDCWD, places[0], AT_FDCWD, places[1], RENAME_EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EPERM):  # EPERM: of a sandbox
        return False
    raise OSError(code, os.strerror(code), str(other))


@contextmanager
def _moved_aside(folder: Path) -> Iterator[None]:
    """Give an old folder another name, and remove it when the block has ended well.

    Where names cannot be exchanged: a kill before the second rename leaves nothing at the place.

    The other name is none that a later run removes: it may be all that a killed run left.
    """
    aside = folder.with_name(f".{folder.name[:40]}.{secrets.token_hex(4)}.onehot-fast-old")
    os.rename(folder, aside)
    try:
        yield
    except BaseException:
        os.rename(aside, folder)
        raise
    shutil.rmtree(aside)


@contextmanager
def _temporary(target: Path, is_folder: bool) -> Iterator[tuple[Path, int]]:
    """Give a new temporary file or folder and a handle that holds its lock; remove what is left."""
    remove_stale(target)
    # A name may have 255 bytes, and a letter 4.
    path = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.{MARK}")
    handle = _claim(path, is_folder)
    try:
        yield path, handle
    finally:
        _remove(path)
        os.close(handle)


def remove_stale(target: Path) -> None:
    """Remove what killed runs with this target left: the lock of each is free."""
    if locks is None:
        return
    for path in target.parent.glob(f".{_escaped(target.name[:40])}.*.{MARK}"):
        with contextlib.suppress(OSError):  # held, gone or not ours
            # A pipe of that name would wait for somebody who writes to it.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
                _remove(path)
            finally:
                os.close(handle)


def _escaped(name: str) -> str:
    """Return a name as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _claim(path: Path, is_folder: bool) -> int:
    """Make a temporary file or folder, and return a handle that holds its lock."""
    while True:
        if is_folder:
            os.mkdir(path)
            handle = os.open(path, os.O_RDONLY)
        else:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if locks is None:
            return handle
        # Until it is locked, another run takes the new one for stale: then begin again.
        with contextlib.suppress(OSError):
            locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
            if os.path.samestat(os.stat(path), os.fstat(handle)):
                return handle
        os.close(handle)


def _remove(path: Path) -> None:
    """Remove a file or a folder if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
