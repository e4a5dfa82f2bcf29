"""Output that appears whole or not at all: a temporary file or folder, fsync, and a rename."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from onehot_fast.cli.signals import held, raise_if_received

try:
    import fcntl as _fcntl
except ImportError:  # Windows: without locks, temporary files of killed runs are not removed
    locks: ModuleType | None = None
else:
    locks = _fcntl

__all__ = ["atomic_file", "atomic_folder", "is_replaceable"]


def is_replaceable(path: Path) -> bool:
    """Tell whether a file can be renamed onto a path: not onto a device or a pipe."""
    return not os.path.exists(path) or os.path.isfile(path)


@contextmanager
def atomic_file(target: Path, may_replace: bool = False) -> Iterator[Path]:
    """Give a temporary file beside the target, which replaces the target if the block succeeds.

    The caller writes the file and closes it. The content reaches the disk before the rename.

    Raises
    ------
    OSError
        The file cannot be written or renamed, or the target exists and may not be replaced. The
        target is unchanged.
    Interrupted
        A signal came before the file was renamed.
    """
    target = Path(os.path.realpath(target))  # through a symbolic link, as a plain write would go
    with _temporary(target, is_folder=False) as path:
        yield path
        _sync(path)
        if target.exists():
            os.chmod(path, stat.S_IMODE(os.stat(target).st_mode))
        with _last_step(target, may_replace):
            os.replace(path, target)


@contextmanager
def atomic_folder(target: Path, may_replace: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside the target, which gets its name if the block succeeds.

    An old folder is renamed first, and removed last: if the process is killed between the two
    renames, it is ``.<name>.<random>.onehot-fast-old``.

    Raises
    ------
    OSError, Interrupted
        As `atomic_file`; or the target is a file.
    """
    target = Path(os.path.realpath(target))
    with _temporary(target, is_folder=True) as path:
        yield path
        for folder, _, names in os.walk(path):
            for name in names:
                _sync(Path(folder, name))
            _sync_names(Path(folder))
        old = path.with_suffix(".onehot-fast-old") if target.is_dir() else None
        with _last_step(target, may_replace or (old is not None and not os.listdir(target))):
            if old is not None:  # Windows renames no folder onto another one, not even an empty one
                os.rename(target, old)
            try:
                os.rename(path, target)
            except BaseException:
                if old is not None:
                    os.rename(old, target)
                raise
            if old is not None:
                shutil.rmtree(old)


@contextmanager
def _last_step(target: Path, may_replace: bool) -> Iterator[None]:
    """Let the block put the output in its place, unless a signal or another file came first."""
    raise_if_received()
    if target.exists() and not may_replace:  # it did not exist when the run began
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    with held():
        yield
        _sync_names(target.parent)


@contextmanager
def _temporary(target: Path, is_folder: bool) -> Iterator[Path]:
    """Give a new temporary file or folder, which is locked, and remove it at the end."""
    _remove_stale(target)
    handle = None
    while handle is None:
        # A file name has at most 255 bytes, and a character up to 4.
        name = f".{target.name[:40]}.{secrets.token_hex(4)}.onehot-fast-part"
        path = target.with_name(name)
        try:
            path.mkdir() if is_folder else path.touch(exist_ok=False)
            handle = _locked(path)
            if handle is not None:
                yield path
        finally:
            with held():
                _remove(path)
                os.close(handle) if handle else None


def _locked(path: Path) -> int | None:
    """Return a handle that locks a new file or folder, or None if another run removes it.

    Another run takes an unlocked file for that of a killed run. 0 stands for no lock.
    """
    if locks is None:
        return 0
    handle = os.open(path, os.O_RDONLY)
    try:
        locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
        if os.path.samestat(os.stat(path), os.fstat(handle)):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:  # some network file systems have no locks
        return handle
    os.close(handle)
    return None


def _remove_stale(target: Path) -> None:
    """Remove the temporary files of killed runs with this target, which are not locked."""
    if locks is None:
        return
    pattern = f".{glob.escape(target.name[:40])}.*.onehot-fast-part"
    for path in target.parent.glob(pattern):
        with contextlib.suppress(OSError):  # locked, gone, or a link
            # Opening a pipe of that name must not block.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
                _remove(path)
            finally:
                os.close(handle)


def _remove(path: Path) -> None:
    """Remove a file or a folder if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows cannot and need not do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
