"""Copy rows from a source to a destination, and replace columns as the plan says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from onehot_fast.cli.batches import ahead, batch_rows
from onehot_fast.cli.messages import CommandError, Exit, Step, encoding_input, showing
from onehot_fast.cli.outputs import Destination, name_within, new_file, new_output, written
from onehot_fast.cli.partitions import Files
from onehot_fast.cli.plan import Plan
from onehot_fast.cli.signals import held, raise_if_received
from onehot_fast.cli.source import InputFiles
from onehot_fast.cli.writers import WRITERS, Writer


def convert(source: InputFiles, plan: Plan, destination: Destination) -> None:
    """Write the changed rows of a source into a file or a folder.

    An output folder contains one file for each input file, one file for each `file_rows` rows, or
    one subfolder for each value of the columns `partition_by`.
    """
    _check_keys(source, plan, destination)
    keys = [name for name in destination.keys if name in plan.after.names and name not in plan.new]
    after = pa.schema([f for f in plan.after if f.name not in keys], plan.after.metadata)
    plan = replace(plan, after=after)

    def write(file: pa.NativeFile, part: InputFiles) -> AbstractContextManager[Writer]:
        return open_writer(
            WRITERS[destination.format.kind], file, plan, destination, part.readers[0]
        )

    @contextmanager
    def begin(path: Path, part: InputFiles = source) -> Iterator[Writer]:
        path.parent.mkdir(parents=True, exist_ok=True)
        # On some systems two names that differ only by case are one file.
        path.touch(exist_ok=False)
        with written(path, destination.format) as file, write(file, part) as writer:
            yield writer

    with showing("writing", destination.is_quiet) as step:
        if not destination.is_folder:
            opened = new_file(destination.place, destination.format, destination.may_replace)
            with opened as file, write(file, source) as writer:
                _copy_rows(source, plan, destination, writer, step)
            return
        with new_output(destination.place, destination.may_replace, is_folder=True) as folder:
            if destination.partition_by or destination.file_rows is not None:
                with open_writer(Files, destination, folder, begin) as writer:
                    _copy_rows(source, plan, destination, writer, step)
                return
            n_rows, n_files = 0, len(source.readers)
            for i, reader in enumerate(source.readers):
                path = folder / name_within(source, reader.place, destination.format)
                if path.exists():
                    raise CommandError(
                        Exit.OUTPUT,
                        f"{destination.place.address}: {reader.name} and another file would both"
                        f" become {path.name}; rename one of them",
                    )

                def step_of_part(share: float, rows: int, i: int = i, before: int = n_rows) -> None:
                    step((i + share) / n_files, before + rows)

                part = replace(source, name=reader.name, readers=[reader])
                with begin(path, part) as writer:
                    _copy_rows(part, plan, destination, writer, step_of_part, keys)
                n_rows += reader.n_rows or 0


def _check_keys(source: InputFiles, plan: Plan, destination: Destination) -> None:
    """Raise an error if a column of --partition-by cannot name folders."""
    for name in destination.partition_by:
        if name in plan.old:
            raise CommandError(
                Exit.USAGE,
                f"--partition-by {name}: the column is encoded, so it cannot name folders;"
                " choose another one, or pass -c to encode others",
            )
        if pa.types.is_nested(source.schema.field(name).type):
            raise CommandError(
                Exit.COLUMN,
                f"--partition-by {name}: the column must not contain lists or structs; choose"
                " another column",
            )
        if not name or name.startswith(("_", ".")):
            raise CommandError(
                Exit.USAGE,
                f"--partition-by {name!r}: readers skip folders named '{name}=...'; rename the"
                " column",
            )


@contextmanager
def open_writer(make: Callable[..., Writer], *arguments: Any) -> Iterator[Writer]:
    """Yield the writer that `make` returns. Close it after the block; abandon it after an error."""
    with held():
        writer = make(*arguments)
    try:
        raise_if_received()
        yield writer
        writer.close()
    except BaseException:
        with held():
            writer.abandon()
        raise


def _copy_rows(
    source: InputFiles,
    plan: Plan,
    destination: Destination,
    writer: Writer,
    step: Step,
    dropped: Sequence[str] = (),
) -> None:
    """Write the changed rows without the columns `dropped`.

    Three threads read, encode and write at the same time.
    """
    rows, n_rows = batch_rows(source.row_bytes, plan.row_bytes), source.n_rows
    reads = plan.old if destination.format.has_only_features else None
    coded = {*plan.old, *destination.partition_by}
    if destination.format.kind == "parquet":
        coded |= set.intersection(*(set(reader.repeated) for reader in source.readers))
    with closing(ahead(source.batches(rows, reads, coded))) as batches:
        first = next(batches, None)
        if first is None:
            return
        stream = pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))

        def changed() -> Generator[pa.RecordBatch, None, None]:
            with encoding_input(source.name, is_loaded=plan.is_loaded):
                yield from plan.apply(stream)

        with closing(ahead(changed())) as parts:
            for part in parts:
                writer.write(part.drop_columns(list(dropped)))
                # Show the progress of writing, because it takes most of the time.
                share = source.share if n_rows is None else writer.n_rows / max(1, n_rows)
                step(share, writer.n_rows)
