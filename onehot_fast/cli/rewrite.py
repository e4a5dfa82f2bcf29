"""Parquet to Parquet: what is not encoded crosses over as the bytes it is.

A column chunk knows nothing of the columns beside it, so the chunks of the columns that are kept
are copied with their encodings, statistics and indexes, and only the footer is new. They are
decoded too, in a thread beside, for no other reason than to notice that they are corrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any

import pyarrow as pa

from onehot_fast.cli.assembly import Assembly, Copied, NewChunk, Original
from onehot_fast.cli.change import Change
from onehot_fast.cli.chunks import bit_chunks, column_chunks, is_bits
from onehot_fast.cli.errors import reading
from onehot_fast.cli.footer import (
    CODEC,
    COLUMN_ORDERS,
    GROUP_ORDINAL,
    GROUP_ROWS,
    GROUP_SORTING,
    KEY_VALUES,
    SORTED_COLUMN,
    Footer,
    read_footer,
    written,
)
from onehot_fast.cli.pages import Codec, codec_of
from onehot_fast.cli.pipeline import ahead, batch_rows, beside
from onehot_fast.cli.readers import ParquetReader, Reader
from onehot_fast.cli.thrift import STRUCT, Struct, i32, listed, struct

__all__ = ["can_rewrite", "rewrite"]

# The new columns of a row group wait until they are together; so large they may be, but for bits
# that are compressed: most of them are off.
GROUP_BYTES = 128 << 20

NewColumns = dict[str, list[NewChunk]]


def can_rewrite(readers: Sequence[Reader], change: Change) -> bool:
    """Tell whether files can be taken apart: plain Parquet, of one schema, not too wide."""
    footers = []
    for reader in readers:
        if not isinstance(reader, ParquetReader):
            return False
        with reading(reader.name), open(reader.path, "rb") as file:
            footer = read_footer(file)
            if footer is None or not footer.is_plain:
                return False
            rows = max((group[GROUP_ROWS].value for group in footer.groups), default=0)
            is_small = _makes_bits(change) and _codec_beside(footer, change).compresses
        if not is_small and rows * change.row_bytes > GROUP_BYTES:
            return False
        footers.append(footer)
    if any(footer.elements != footers[0].elements for footer in footers):
        return False
    return len(set(change.before.names)) == len(change.before.names)


def _makes_bits(change: Change) -> bool:
    """Tell whether all new columns are bits."""
    return all(is_bits(change.after.field(name)) for name in change.new)


def rewrite(
    readers: Sequence[ParquetReader],
    change: Change,
    out: pa.NativeFile,
    name: str,
    step: Callable[[float], None],
    check: bool = True,
) -> None:
    """Write one Parquet file of the rows of all, whose row groups are those of the files.

    Parameters
    ----------
    readers : sequence of ParquetReader
        Of which `can_rewrite` holds.
    change : Change
    out : pyarrow.NativeFile
    name : str
        What the user calls the output.
    step : callable
        Is told the share that is done.
    check : bool, default True
        Whether to decode the columns that are kept.

    Raises
    ------
    CommandError
        The input is corrupt, or the output cannot be written.
    """
    output = Assembly(out, name)
    total = max(1, sum(reader.n_rows for reader in readers))
    done = 0
    plan: _Plan | None = None
    for reader in readers:
        with ExitStack() as stack:
            with reading(reader.name):
                file = stack.enter_context(open(reader.path, "rb"))
                footer = read_footer(file)
                assert footer is not None  # else `can_rewrite` would have said so
                plan = plan or _Plan(footer, change)
            if check and change.kept:
                stack.enter_context(beside(_decoded(reader, change)))
            original = Original(file, reader.name)
            groups = stack.enter_context(closing(ahead(_new_columns(reader, footer, change), 1)))
            for group, new in zip(footer.groups, groups, strict=True):
                n_rows = group[GROUP_ROWS].value
                chunks = plan.chunks(footer, group, original, new)
                output.add(n_rows, chunks, plan.order(group, output.n_groups))
                done += n_rows
                step(done / total)
    assert plan is not None  # there is at least one file
    output.finish(plan.fields(), plan.first.elements[0], plan.trees)


def _decoded(reader: ParquetReader, change: Change) -> Iterator[object]:
    """Decode the columns that are kept."""
    rows = batch_rows(reader.row_bytes)
    with reading(reader.name):
        yield from reader.batches(rows, change.kept, coded=change.kept)


def _new_columns(reader: ParquetReader, footer: Footer, change: Change) -> Iterator[NewColumns]:
    """Yield the chunks of the new columns, row group by row group."""
    rows = batch_rows(reader.row_bytes, change.row_bytes)
    with reader.open(change.old) as file:
        names = [name for name in file.schema_arrow.names if name in change.old]
        schema = pa.schema([file.schema_arrow.field(name) for name in names])
        with reading(reader.name):
            codec = _codec_beside(footer, change)
        for at in range(file.num_row_groups):
            if file.metadata.row_group(at).num_rows:
                batches = file.iter_batches(rows, row_groups=[at], columns=names)
                stream = _guarded(batches, reader.name)
                parts = change.apply(pa.RecordBatchReader.from_batches(schema, stream))
                yield _columns_of(parts, change, codec)


def _guarded(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Yield batches; what fails is the fault of the file."""
    with reading(name):
        yield from batches


def _codec_beside(footer: Footer, change: Change) -> Codec:
    """Return the compression of the first of the old columns."""
    first = next(tree.first for tree in footer.trees if tree.name in change.old)
    numbers = (footer.chunks(group)[first].metadata[CODEC].value for group in footer.groups)
    return codec_of(next(numbers, 0))


def _columns_of(parts: Iterable[Any], change: Change, codec: Codec) -> NewColumns:
    """Return the chunks of the new columns in a row group."""
    if _makes_bits(change):
        chunks = bit_chunks(change.new, parts, codec)
        return {name: [chunk] for name, chunk in zip(change.new, chunks, strict=True)}
    columns = zip(*(part.columns for part in parts), strict=True)
    return {
        name: column_chunks(change.after.field(name), column, codec)
        for name, column in zip(change.new, columns, strict=True)
    }


class _Plan:
    """What the output has from the input, and where."""

    def __init__(self, first: Footer, change: Change) -> None:
        self.first, self._change = first, change
        _, self._empty = written(change.after.empty_table())
        kept = {tree.name: tree for tree in first.trees if tree.name in change.kept}
        self.trees = [kept.get(tree.name, tree) for tree in self._empty.trees]
        self._kept = kept
        # Where each leaf that is kept goes.
        self._places: dict[int, int] = {}
        at = 0
        for tree in self.trees:
            if tree.name in kept:
                self._places.update((tree.first + leaf, at + leaf) for leaf in range(tree.n_leaves))
            at += tree.n_leaves
        self._n_leaves = at

    def chunks(
        self, footer: Footer, group: Struct, original: Original, new: NewColumns
    ) -> Iterator[NewChunk | Copied]:
        """Yield the chunks of a row group."""
        with reading(original.name):
            found = footer.chunks(group)
        for tree in self.trees:
            if tree.name in self._kept:
                leaves = found[tree.first : tree.first + tree.n_leaves]
                yield from (Copied(chunk, original) for chunk in leaves)
            else:
                yield from new[tree.name]

    def order(self, group: Struct, at: int) -> Struct:
        """Return the number of a row group, and by which kept columns it is sorted."""
        found: Struct = {}
        if GROUP_ORDINAL in group and at < 1 << 15:
            found[GROUP_ORDINAL] = group[GROUP_ORDINAL]._replace(value=at)
        sorting = []
        for one in group[GROUP_SORTING].value[1] if GROUP_SORTING in group else []:
            place = self._places.get(one[SORTED_COLUMN].value)
            if place is None:  # what follows sorts the rows of one such value only
                break
            sorting.append({**one, SORTED_COLUMN: i32(place)})
        if sorting:
            found[GROUP_SORTING] = listed(STRUCT, sorting)
        return found

    def fields(self) -> Struct:
        """Return the fields of the footer that are not those of this output's own chunks."""
        fields = {**self.first.fields, KEY_VALUES: self._empty.fields[KEY_VALUES]}
        if COLUMN_ORDERS in fields:
            by_type: Struct = {1: struct({})}
            orders = dict.fromkeys(range(self._n_leaves), by_type)
            given = fields[COLUMN_ORDERS].value[1]
            orders |= {to: given[of] for of, to in self._places.items()}
            fields[COLUMN_ORDERS] = listed(STRUCT, [orders[at] for at in range(self._n_leaves)])
        return fields
