"""``onehot-fast inspect``: what is in a file, and how large its encoding would be."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import checks
from onehot_fast.cli.encoder_options import new_encoders
from onehot_fast.cli.encoders import ENCODER_KEY, Encoders, parse_encoders
from onehot_fast.cli.errors import CommandError, plural, printable, reading
from onehot_fast.cli.frequencies import frequencies
from onehot_fast.cli.labels import holds_lists
from onehot_fast.cli.learning import chosen_columns, learn, notes_on
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.progress import note, showing
from onehot_fast.cli.sources import Input, Source, open_source

__all__ = ["Looking", "run_inspect"]


@dataclass
class ColumnFacts:
    """What is known of a column after some rows.

    Attributes
    ----------
    nulls : int
    values : pyarrow array, optional
        The distinct ones; None once they are too many to keep.
    """

    nulls: int = 0
    values: Any = None
    is_large: bool = False

    def add(self, column: pa.Array, limit: int) -> None:
        """Take in some rows."""
        if pa.types.is_dictionary(column.type):
            present = pc.unique(column.indices).drop_null()
            values = column.dictionary.take(present)
            self.nulls += pc.sum(pc.is_null(column, nan_is_null=False)).as_py() or 0
        else:
            self.nulls += column.null_count
            if self.is_large:
                return
            values = column
        if self.is_large:
            return
        found = pc.unique(values).drop_null()
        if self.values is not None:
            found = pc.unique(pa.concat_arrays([self.values, found]))
        self.values = found
        if len(found) > limit:
            self.values, self.is_large = None, True


@dataclass(frozen=True)
class Looking:
    """What is to be shown.

    Attributes
    ----------
    columns : sequence of str
        Those to encode; none: all texts.
    typed : dict of str to sequence of str
        The options of the encoder, as they were typed.
    limit : int
        Distinct values are counted up to so many.
    top : int
        So many of the most frequent categories are shown.
    as_json, is_quiet : bool
    """

    columns: Sequence[str]
    typed: dict[str, Sequence[str]]
    limit: int
    top: int
    as_json: bool
    is_quiet: bool


def run_inspect(spec: Input, looking: Looking) -> None:
    """Print what is in a file.

    Raises
    ------
    CommandError
        See `Exit`.
    """
    named = looking.columns
    with ExitStack() as resources:
        source = open_source(spec, resources)
        chosen = chosen_columns(source, named) if named else _texts(source)
        n_rows, facts = _facts(source, looking.limit, looking.is_quiet)
        kinds = {name: source.schema.field(name).type for name in chosen}
        # Of columns of too many values only that is told; the labels of lists were not counted.
        large = {name for name, one in zip(source.schema.names, facts, strict=True) if one.is_large}
        kinds = {n: k for n, k in kinds.items() if n not in large or holds_lists(k)}
        encoders, top = _learned(source, kinds, looking, n_rows)
        report = _report(source, n_rows, facts, chosen, looking.limit, encoders, top)
    for text in () if named else notes_on(source, encoders):
        note(text, looking.is_quiet)
    if looking.as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        click.echo(_as_text(report))
        from onehot_fast.cli.drawing import show_frequencies

        show_frequencies(top)


def _learned(
    source: Source, kinds: dict[str, Any], looking: Looking, n_rows: int
) -> tuple[Encoders, dict[str, Any]]:
    """Return what encodes the columns, and how frequent their categories are."""
    options = {name: texts for name, texts in looking.typed.items() if texts}
    which = {name: texts for name, texts in options.items() if name == "sep"}
    learned = []
    for typed in [which] if options == which else [which, options]:
        encoders = new_encoders(kinds, typed)
        with showing("learning", looking.is_quiet) as step:
            learn(source, encoders, step, math.inf, is_early=False)
        learned.append(encoders)
    plain, chosen = learned[0], learned[-1]
    found: dict[str, Any] = {}
    for one, other in zip(plain.each, chosen.each, strict=True):
        found |= frequencies(one, other, n_rows, looking.top)
    return chosen, found


def _texts(source: Source) -> tuple[str, ...]:
    """Return the columns that are encoded where nobody says which; there may be none."""
    try:
        return chosen_columns(source, ())
    except CommandError:
        return ()


def _facts(source: Source, limit: int, is_quiet: bool) -> tuple[int, list[ColumnFacts]]:
    """Read all rows, and return their number and what is known of each column."""
    names = source.schema.names
    facts = [ColumnFacts() for _ in names]
    n_rows = 0
    batches = source.batches(batch_rows(source.row_bytes), coded=names)
    with showing("reading", is_quiet) as step, closing(ahead(batches)) as parts:
        for part in parts:
            n_rows += part.num_rows
            for one, column in zip(facts, part.columns, strict=True):
                if pa.types.is_nested(column.type):
                    one.nulls, one.is_large = one.nulls + column.null_count, True
                    continue
                with reading(source.name):  # a code may be outside of its dictionary
                    one.add(column, limit)
            step(source.share(), n_rows)
    return n_rows, facts


def _report(
    source: Source,
    n_rows: int,
    facts: Sequence[ColumnFacts],
    chosen: Sequence[str],
    limit: int,
    encoders: Encoders,
    top: dict[str, Any],
) -> dict[str, Any]:
    """Return all that is printed."""
    columns = [
        {
            "name": field.name,
            "type": str(field.type),
            "nested": pa.types.is_nested(field.type),
            "nulls": one.nulls,
            "distinct": None if one.is_large else 0 if one.values is None else len(one.values),
            "encoded": field.name in chosen,
        }
        for field, one in zip(source.schema, facts, strict=True)
    ]
    names, n_features = encoders.columns, encoders.n_features
    sizes = encoders.bytes(n_rows)
    encoding = {"columns": names, "features": n_features, "bytes": sizes, "frequencies": top}
    return {
        "file": source.name,
        "format": source.format.kind,
        "files": len(source.readers),
        "rows": n_rows,
        "bytes": source.n_bytes,
        "limit": limit,
        "columns": columns,
        "encoding": encoding if names else None,
        "made_from": _made_from(source),
    }


def _made_from(source: Source) -> dict[str, list[str]]:
    """Return the features of each column that this file was encoded from by this command."""
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    if text is None:
        return {}
    return parse_encoders(text, source.name).features()


def _as_text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    files = f" in {report['files']} files" if report["files"] > 1 else ""
    lines = [
        f"{report['file']}: {report['format']}, {plural(report['rows'], 'row')},"
        f" {plural(len(report['columns']), 'column')}, {checks.human_size(report['bytes'])}{files}",
        "",
    ]
    features = {name for names in report["made_from"].values() for name in names}
    header = "column", "type", "nulls", "distinct", "encoded"
    rows = [
        (
            printable(column["name"]),
            printable(column["type"]),
            f"{column['nulls']:,}",
            _distinct(column, report["limit"]),
            "yes" if column["encoded"] else "",
        )
        for column in report["columns"]
        if column["name"] not in features
    ]
    lines += _aligned([header, *rows])
    for name, names in report["made_from"].items():
        lines += ["", f"{name} is encoded as {plural(len(names), 'feature')}"]
    encoding = report["encoding"]
    if encoding is not None:
        encoded = plural(encoding["features"], "feature")
        lines += ["", f"{', '.join(encoding['columns'])} as {encoded}:", ""]
        sizes = [(form, checks.human_size(size)) for form, size in encoding["bytes"].items()]
        lines += _aligned([("form", "size"), *sizes])
    return "\n".join(map(printable, lines))


def _distinct(column: dict[str, Any], limit: int) -> str:
    """Return how many values a column has, as people read it."""
    if column["distinct"] is not None:
        return f"{column['distinct']:,}"
    return "not counted" if column["nested"] else f"> {limit:,}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
