"""Where the rows go, and how the files are written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onehot_fast.cli.errors import CommandError, Exit
from onehot_fast.cli.formats import Format, without_suffix
from onehot_fast.cli.sources import Input, Source
from onehot_fast.cli.stores import Place, is_remote, is_remote_folder, place_of
from onehot_fast.cli.target import format_for, is_folder, require_free

__all__ = ["Output", "name_within"]


@dataclass(frozen=True)
class Output:
    """Where the rows go, and how they are written.

    Attributes
    ----------
    path : str
        A file, a folder or "-".
    wanted : Format, optional
        By default what the name says, or else that of the input.
    compression : str, optional
    group_rows : int, optional
        See `WriteOptions`.
    file_rows : int, optional
        The rows of each file of a folder; by default each input becomes a file.
    partition_by : tuple of str
        The columns whose values become the names of folders.
    is_quiet : bool
    may_replace : bool
        What is there already.
    is_folder : bool
    delimiter : str, optional
        Of CSV.
    """

    path: str
    wanted: Format | None = None
    compression: str | None = None
    group_rows: int | None = None
    file_rows: int | None = None
    partition_by: tuple[str, ...] = ()
    is_quiet: bool = False
    may_replace: bool = False
    is_folder: bool = False
    delimiter: str | None = None

    def format(self, source: Source) -> Format:
        """Return the format for what comes from a source."""
        return format_for(self.path, self.wanted, source.format, self.is_folder)

    def prepared(self, source: Source, spec: Input, *others: str | None) -> Output:
        """Return where exactly the rows of a source go.

        Raises
        ------
        CommandError
            That would destroy something: the input, one of the other files that are read, or what
            is there already.
        """
        into_parts = self.file_rows is not None or bool(self.partition_by)
        is_many = source.folder is not None or into_parts
        path = str(place_of(self.path)) if self.path.startswith("file://") else self.path
        path += "/" * (self.path.endswith("/") and not path.endswith("/"))
        into_folder = (is_remote_folder if is_remote(path) else is_folder)(path, is_many)
        if into_parts and not into_folder:
            option = "--partition-by" if self.partition_by else "--rows-per-file"
            text = f"{path}: {option} writes a folder; name one, with a slash as in parts/"
            raise CommandError(Exit.USAGE, text)
        source.require(self.partition_by)
        if into_folder and not is_many and Path(path).is_dir():
            name = name_within(source, source.readers[0].path, self.wanted or source.format)
            path, into_folder = str(Path(path, name)), False
        if source.folder is not None and _is_below(path, source.folder):
            text = f"{path}: lies in the input; the next run would read it"
            raise CommandError(Exit.OUTPUT, text)
        require_free(path, source.identities(), self.may_replace, source.addresses())
        for other in others:
            place = None if other is None else place_of(other)
            if isinstance(place, Path):
                require_free(path, [place.stat()] if place.exists() else [], may_replace=True)
            elif place is not None:
                require_free(path, [], True, [str(place)])
        return replace(self, path=path, is_folder=into_folder, delimiter=spec.text.delimiter)

    def keys(self, source: Source) -> list[str]:
        """Return the columns that are in the names of the folders, and not in the files."""
        if self.partition_by:
            return list(self.partition_by)
        return source.keys if self.is_folder and self.file_rows is None else []


def _is_below(path: str, folder: Place) -> bool:
    """Tell whether something is in a folder, or in one below it; or is that folder."""
    if is_remote(path) or not isinstance(folder, Path):
        return is_remote(path) and f"{place_of(path)}/".startswith(f"{folder}/")
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def name_within(source: Source, path: Place, form: Format) -> Path:
    """Return the name that the output of a file has in the folder."""
    if source.folder is None:
        name = "stdin" if source.name == "standard input" else Path(source.name).name
        return Path(f"{without_suffix(name)}{form.suffix}")
    folder: Any = source.folder  # a path of the same kind
    below = Path(str(path.relative_to(folder)))
    return below.with_name(f"{without_suffix(below.name)}{form.suffix}")
