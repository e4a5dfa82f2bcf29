"""Write a folder of files with N rows each, or with a subfolder per value (``carrier=UA/``)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from re import compile as pattern
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.cli.errors import CommandError, Exit, plural
from onehot_fast.cli.writers import Writer

# The maximum number of open files; to open one more, the least recently written one is closed.
MAX_OPEN = 64
# The maximum number of bytes that wait in all partitions; if more wait, the largest are written.
MAX_WAITING_BYTES = 64 << 20
# More folders are nearly always a mistake: the column is an identifier or a time.
MAX_PARTITIONS = 10_000
# Hive, Spark, pyarrow, DuckDB and polars write this for a missing value.
MISSING = "__HIVE_DEFAULT_PARTITION__"
# The name of the column of row numbers in a table of keys; no key may have this name.
ROW = ""
WHOLE_NUMBER = pattern(r"-?(0|[1-9][0-9]{0,17})")

Begin: TypeAlias = Callable[[Path], AbstractContextManager[Writer]]


def keys_of(folders: Iterable[str]) -> dict[str, str | None]:
    """Return the keys and values in names of folders such as year=2013; None is a missing value."""
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
    """Return int64 if all values of a key are integers without leading zeros, else string."""
    present = [value for value in values if value is not None]
    is_number = present and all(WHOLE_NUMBER.fullmatch(value) for value in present)
    return pa.int64() if is_number else pa.string()


@dataclass
class _Partition:
    """The rows with the same values of all keys."""

    folder: Path
    batches: list[pa.RecordBatch] = field(default_factory=list)
    n_bytes: int = 0
    n_files: int = 0
    n_rows: int = 0  # in the open file
    writer: Writer | None = None  # of the open file
    file: Any = None  # the context of its writer


class Files(Writer):
    """Divide rows into files of at most `rows` rows, in a folder for each value of columns `keys`.

    `begin` opens a new file. Rows wait in memory until they are written. Files do not contain the
    columns `keys`.
    """

    def __init__(self, keys: Sequence[str], rows: int | None, begin: Begin) -> None:
        self._keys, self._rows, self._begin = list(keys), rows, begin
        self._partitions: dict[Path, _Partition] = {}
        self._open: dict[Path, _Partition] = {}  # the one that was written last is at the end
        self._n_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows; if too many bytes wait in memory, write the rows of the largest partitions."""
        if self._keys:
            for folder, rows in self._divided(batch):
                self._add(folder, rows)
        else:
            self._add(Path(), batch)
        self.n_rows += batch.num_rows
        while self._n_bytes > (MAX_WAITING_BYTES if self._keys else 0):
            self._flush(max(self._partitions.values(), key=lambda one: one.n_bytes))

    def _divided(self, batch: pa.RecordBatch) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Yield each folder with its rows, without the columns of the keys."""
        places = {name: batch.schema.get_field_index(name) for name in self._keys}
        keys = {name: _texts(batch.column(i)) for name, i in places.items()}
        for name, column in keys.items():
            if pc.any(pc.equal(column, MISSING)).as_py():
                text = f"--partition-by {name}: the column contains {MISSING}, which stands for a"
                text += " missing value in folder names; replace this value"
                raise CommandError(Exit.VALUE, text)
        left = batch.drop_columns(self._keys)
        table = pa.table({**keys, ROW: np.arange(batch.num_rows)})
        groups = table.group_by(self._keys, use_threads=False).aggregate([(ROW, "list")])
        rows = groups.column(f"{ROW}_list").combine_chunks()
        for values, positions in zip(groups.select(self._keys).to_pylist(), rows, strict=True):
            yield Path(*itertools.starmap(folder_name, values.items())), left.take(positions.values)

    def _add(self, folder: Path, rows: pa.RecordBatch) -> None:
        """Keep the rows of a folder in memory until they are written."""
        partition = self._partitions.setdefault(folder, _Partition(folder))
        if len(self._partitions) > MAX_PARTITIONS:
            names = ", ".join(self._keys)
            text = f"--partition-by {names}: more than {plural(MAX_PARTITIONS, 'folder')}"
            raise CommandError(Exit.VALUE, f"{text}; choose a column with fewer values")
        partition.batches.append(rows)
        partition.n_bytes += rows.nbytes + 1
        self._n_bytes += rows.nbytes + 1

    def _flush(self, partition: _Partition) -> None:
        """Write the waiting rows of a partition."""
        batches = partition.batches
        if len(batches) > 1:
            table = pa.Table.from_batches(batches).unify_dictionaries()
            batches = table.combine_chunks().to_batches()
        self._n_bytes -= partition.n_bytes
        partition.batches, partition.n_bytes = [], 0
        for batch in batches:
            while batch.num_rows:
                writer = self._writer_of(partition)
                n_rows = batch.num_rows if self._rows is None else self._rows - partition.n_rows
                writer.write(batch.slice(0, n_rows))
                partition.n_rows += min(n_rows, batch.num_rows)
                batch = batch.slice(n_rows)
                if partition.n_rows == self._rows:
                    self._close(partition)

    def _writer_of(self, partition: _Partition) -> Writer:
        """Return the writer of a partition; open a file if none is open."""
        if partition.writer is None:
            if len(self._open) == MAX_OPEN:
                self._close(next(iter(self._open.values())))
            path = Path(partition.folder, f"part-{partition.n_files:06}")
            partition.file = self._begin(path)
            partition.writer = partition.file.__enter__()
            partition.n_files, partition.n_rows = partition.n_files + 1, 0
        self._open.pop(partition.folder, None)
        self._open[partition.folder] = partition
        return partition.writer

    def _close(self, partition: _Partition) -> None:
        """Complete the file of a partition."""
        del self._open[partition.folder]
        partition.writer = None
        partition.file.__exit__(None, None, None)

    def close(self) -> None:
        """Write all waiting rows, and complete all files."""
        for partition in self._partitions.values():
            self._flush(partition)
        if not self._keys and not self.n_rows:  # a folder without keys always has a file
            self._writer_of(_Partition(Path()))
        while self._open:
            self._close(next(iter(self._open.values())))

    def abandon(self) -> None:
        """Abandon all open files after an error; rows that wait in memory are not written."""
        for partition in self._open.values():
            partition.file.__exit__(*sys.exc_info())


def _texts(column: Any) -> Any:
    """Return the values of a key as strings."""
    if pa.types.is_dictionary(column.type):
        values = _texts(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    return column.cast(pa.string())
