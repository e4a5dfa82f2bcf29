"""Folders named ``key=value``: what they say becomes columns, and columns become such folders."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit
from onehot_fast.cli.readers import Reader

__all__ = ["KeyedReader", "folder_name", "keys_of", "with_keys"]

# What Hive, Spark, pyarrow, DuckDB and polars write where there is no value.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})")

Keys = dict[str, str | None]


def keys_of(folders: Iterable[str]) -> Keys:
    """Return what the names of folders say, None where they say that there is no value.

    Examples
    --------
    >>> keys_of(["year=2013", "raw", "carrier=U%20A", "gate=__HIVE_DEFAULT_PARTITION__"])
    {'year': '2013', 'carrier': 'U A', 'gate': None}
    """
    pairs = [name.split("=", 1) for name in folders if "=" in name[1:]]
    return {unquote(key): None if value == NO_VALUE else unquote(value) for key, value in pairs}


def folder_name(key: str, value: str | None) -> str:
    """Return the name of a folder; letters that a system or a store may not take are encoded.

    Examples
    --------
    >>> folder_name("from/to", "é 1=2"), folder_name("gate", None)
    ('from%2Fto=é 1%3D2', 'gate=__HIVE_DEFAULT_PARTITION__')
    """
    return f"{_encoded(key)}={NO_VALUE if value is None else _encoded(value)}"


def _encoded(text: str) -> str:
    """Return a text in which only letters that are safe in any name stand as they are."""
    return "".join(c if c.isalnum() or c in " -_.,+" else quote(c, safe="") for c in text)


def with_keys(readers: Sequence[Reader], keys: Sequence[Keys]) -> tuple[list[Reader], list[str]]:
    """Return readers that add what the folders of their files say, and the names of these columns.

    A column that the files have themselves is theirs. Whole numbers are integers if all of a key
    are.

    Raises
    ------
    CommandError
        A file lies below other keys than the first.
    """
    first = keys[0]
    for reader, its in zip(readers, keys, strict=True):
        if list(its) != list(first):
            one, two = ("/".join(names) or "no key" for names in (first, its))
            text = f"{reader.name}: lies in folders of {two}, and {readers[0].name} of {one}"
            raise CommandError(Exit.SCHEMA, text)
    names = [name for name in first if name not in readers[0].schema.names]
    types = {name: _type_of([its[name] for its in keys]) for name in names}
    if not names:
        return list(readers), []
    pairs = zip(readers, keys, strict=True)
    return [KeyedReader(r, {n: (types[n], its[n]) for n in names}) for r, its in pairs], names


def _type_of(values: Iterable[str | None]) -> pa.DataType:
    """Return the type of a key; digits with a leading zero are a text."""
    known = [value for value in values if value is not None]
    is_number = known and all(WHOLE_NUMBER.fullmatch(value) for value in known)
    return pa.int64() if is_number else pa.string()


class KeyedReader(Reader):
    """A file, and behind its columns those that the names of its folders tell.

    Parameters
    ----------
    inner : Reader
    keys : dict of str to (pyarrow.DataType, str or None)
        The type and the value of each such column.
    """

    def __init__(self, inner: Reader, keys: dict[str, tuple[pa.DataType, str | None]]) -> None:
        self._inner = inner
        super().__init__(inner.path, inner.name, inner.format)
        self.n_rows: int | None = inner.n_rows
        self.compression: str | None = inner.compression
        self.group_rows: int | None = inner.group_rows
        self.plain: Collection[str] = inner.plain
        self.repeated: Collection[str] = inner.repeated
        self._texts = {name: pa.scalar(value, pa.string()) for name, (_, value) in keys.items()}
        self._keys = {name: self._texts[name].cast(kind) for name, (kind, _) in keys.items()}
        self._add_keys()

    def _add_keys(self) -> None:
        self.schema: pa.Schema = self._with_keys(self._inner.schema, ())

    def _with_keys(self, schema: pa.Schema, coded: Sequence[str]) -> pa.Schema:
        """Return a schema with those of the keys; a coded text is a dictionary of one value."""
        for name, value in self._keys.items():
            schema = schema.append(pa.field(name, self._array(name, value, 0, coded).type))
        return schema

    @staticmethod
    def _array(name: str, value: Any, rows: int, coded: Sequence[str]) -> Any:
        """Return the same value for so many rows."""
        if name in coded and pa.types.is_string(value.type) and value.is_valid:
            codes = pa.repeat(pa.scalar(0, pa.int32()), rows)
            return pa.DictionaryArray.from_arrays(codes, pa.array([value.as_py()]))
        array = pa.repeat(value, rows)
        is_coded = name in coded and pa.types.is_string(value.type)
        return array.dictionary_encode() if is_coded else array

    @property
    def row_bytes(self) -> float:
        """About how many bytes a row takes in memory."""
        texts = [value.as_py() for value in self._keys.values()]
        return self._inner.row_bytes + sum(len(t) if isinstance(t, str) else 8 for t in texts)

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns of the file itself as these types, and keys that are texts as texts."""
        self._inner.set_types(pa.schema([f for f in schema if f.name not in self._keys]))
        for name, text in self._texts.items():
            if schema.field(name).type == pa.string():
                self._keys[name] = text
        self._add_keys()

    def coded_schema(self, coded: Sequence[str]) -> pa.Schema:
        """Return the schema of the batches."""
        of_file = [name for name in coded if name not in self._keys]
        return self._with_keys(self._inner.coded_schema(of_file), coded)

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        wanted = list(self._keys) if columns is None else [n for n in self._keys if n in columns]
        chosen = columns and [name for name in columns if name not in self._keys]
        # Something has to tell how many rows there are.
        counted = [] if columns is None or chosen else self._inner.schema.names[:1]
        of_file = [name for name in coded if name not in self._keys]
        for batch in self._inner.batches(rows, counted or chosen, of_file):
            n_rows = batch.num_rows
            if counted:
                batch = batch.drop_columns(counted)
            for name in wanted:
                added = self._array(name, self._keys[name], n_rows, coded)
                batch = batch.append_column(pa.field(name, added.type), added)
            yield batch

    def share(self) -> float:
        """Return which share has been read."""
        return self._inner.share()
