"""``onehot-fast inspect``: what is in a file, and how large its encoding would be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import checks
from onehot_fast.cli.encoders import ENCODER_KEY, Encoders, parse_encoders
from onehot_fast.cli.errors import CommandError, Exit, one_line, plural, printable, reading
from onehot_fast.cli.learning import chosen_columns, notes_on
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.progress import note, showing
from onehot_fast.cli.sources import Input, Source, open_source
from onehot_fast.encoder import Encoder

__all__ = ["run_inspect"]


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


def run_inspect(
    spec: Input, columns: Sequence[str], limit: int, as_json: bool, is_quiet: bool
) -> None:
    """Print what is in a file.

    Raises
    ------
    CommandError
        See `Exit`.
    """
    with ExitStack() as resources:
        source = open_source(spec, resources)
        chosen = chosen_columns(source, columns) if columns else _texts(source)
        n_rows, facts = _facts(source, limit, is_quiet)
        encoder = _encoder(source, facts, chosen)
        report = _report(source, n_rows, facts, chosen, limit, encoder)
    for text in () if columns else notes_on(source, Encoders(encoder)):
        note(text, is_quiet)
    click.echo(json.dumps(report, indent=1) if as_json else _as_text(report))


def _texts(source: Source) -> tuple[str, ...]:
    """Return the columns that are encoded where nobody says which; there may be none."""
    try:
        return chosen_columns(source, ())
    except CommandError:
        return ()


def _facts(source: Source, limit: int, is_quiet: bool) -> tuple[int, dict[str, ColumnFacts]]:
    """Read all rows."""
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
            step(source.share())
    return n_rows, dict(zip(names, facts, strict=True))


def _report(
    source: Source,
    n_rows: int,
    facts: dict[str, ColumnFacts],
    chosen: Sequence[str],
    limit: int,
    encoder: Encoder,
) -> dict[str, Any]:
    """Return all that is printed."""
    columns = [
        {
            "name": name,
            "type": str(source.schema.field(name).type),
            "nulls": one.nulls,
            "distinct": None if one.is_large else 0 if one.values is None else len(one.values),
            "encoded": name in chosen,
        }
        for name, one in facts.items()
    ]
    names, estimate = list(encoder.columns or ()), encoder.estimate(n_rows)
    encoding = {"columns": names, "features": estimate.columns, "bytes": estimate.bytes}
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


def _encoder(source: Source, facts: dict[str, ColumnFacts], chosen: Sequence[str]) -> Encoder:
    """Return what encodes the columns whose values were kept."""
    values = {name: facts[name].values for name in chosen if not facts[name].is_large}
    most = max((len(distinct) for distinct in values.values() if distinct is not None), default=0)
    rows = {
        name: _padded(
            source.schema.field(name).type if distinct is None else distinct.type, distinct, most
        )
        for name, distinct in values.items()
    }
    try:
        return Encoder(list(rows)).fit(pa.table(rows))
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {one_line(error)}") from error


def _padded(kind: pa.DataType, values: Any, length: int) -> Any:
    """Return distinct values with nulls behind them."""
    nulls = pa.nulls(length - (0 if values is None else len(values)), kind)
    return nulls if values is None else pa.chunked_array([values, nulls])


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
            f"> {report['limit']:,}" if column["distinct"] is None else f"{column['distinct']:,}",
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


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
