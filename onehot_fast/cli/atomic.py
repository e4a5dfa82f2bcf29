"""Output that appears whole or not at all: a temporary file or folder, fsync, and a rename."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from onehot_fast.cli.signals import held, raise_if_received

try:
    import fcntl as _fcntl
except ImportError:  # Windows: without locks, temporary files of killed runs are not removed
    locks: ModuleType | None = None
else:
    locks = _fcntl


@contextmanager
def replaced(target: Path, may_replace: bool = False, is_folder: bool = False) -> Iterator[Path]:
    """Give a temporary file or folder beside the target, which replaces it if the block succeeds.

    The caller writes files and closes them. They reach the disk before the rename. An old folder is
    renamed first and removed last: if the process is killed between the two renames, it is
    ``.<name>.<random>.onehot-fast-old``. After an error or a signal, the target is unchanged.
    """
    target = Path(os.path.realpath(target))  # through a symbolic link, as a plain write would go
    with _temporary(target, is_folder) as path:
        yield path
        _sync(path)
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
            _sync_names(target.parent)


def _replace_folder(path: Path, target: Path) -> None:
    """Rename a folder onto another one; if that fails, the old one gets its name back."""
    # Windows renames no folder onto another one, not even onto an empty one.
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
    """Give a new temporary file or folder, which is locked, and remove it at the end."""
    _remove_stale(target)
    # A file name has at most 255 bytes, and a character up to 4.
    path = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.onehot-fast-part")
    with ExitStack() as resources:
        try:
            # Until it is locked, another run may take it for that of a killed run and remove it.
            while not path.exists():
                path.mkdir() if is_folder else path.touch(exist_ok=False)
                with suppress(OSError):  # removed, or the file system has no locks
                    resources.enter_context(_locked(path))
            yield path
        finally:
            with held():
                _remove(path)


def _remove_stale(target: Path) -> None:
    """Remove the temporary files of killed runs with this target, which are not locked."""
    pattern = f".{glob.escape(target.name[:40])}.*.onehot-fast-part"
    for path in target.parent.glob(pattern):
        with suppress(OSError), _locked(path, wait=False):
            _remove(path)


@contextmanager
def _locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Lock a file or folder, or raise an OSError; a link or a pipe is not opened."""
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
    """Wait until a file, or a folder with all files in it, is on the disk."""
    for one in (path, *path.rglob("*")):
        if one.is_dir():
            _sync_names(one)
        else:
            with one.open("rb+") as file:
                os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows cannot and need not do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
