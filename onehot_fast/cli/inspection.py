"""``onehot-fast inspect``: the columns of a file, and the size of their encoding."""

from __future__ import annotations

import copy
import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import checks
from onehot_fast.cli.conversion import ahead, batch_rows
from onehot_fast.cli.encode import chosen_columns, learn, notes_on
from onehot_fast.cli.encoders import ENCODER_KEY, Encoders, has_lists, new_encoders, parse_encoders
from onehot_fast.cli.errors import CommandError, plural, printable, reading
from onehot_fast.cli.progress import note, showing
from onehot_fast.cli.source import Input, InputFiles, open_source
from onehot_fast.encoder import Encoder

BAR_WIDTH, LABEL_WIDTH = 24, 40


@dataclass
class ColumnFacts:
    """The distinct values and nulls of a column."""

    nulls: int = 0
    values: Any = None  # an Arrow array; None before the first row, and if there are too many
    is_large: bool = False  # there are too many distinct values

    def add(self, column: pa.Array, limit: int) -> None:
        """Count the nulls of some rows, and add their values; forget all if more than `limit`."""
        self.nulls += pc.sum(pc.is_null(column)).as_py() or 0
        if self.is_large:
            return
        found = pc.unique(column)
        if pa.types.is_dictionary(column.type):
            found = found.dictionary_decode()
        earlier = [] if self.values is None else [self.values]
        self.values = pc.unique(pa.concat_arrays([*earlier, found.drop_null()]))
        if len(self.values) > limit:
            self.values, self.is_large = None, True


def run_inspect(
    spec: Input,
    columns: Sequence[str],
    typed: dict[str, Sequence[str]],
    limit: int,
    top: int,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Print the columns of a file; count up to `limit` distinct values, and show `top` categories.

    `columns` are the columns to encode (if empty, all columns of strings); `typed` are the options.
    """
    with ExitStack() as resources:
        source = open_source(spec, resources)
        chosen: tuple[str, ...] = ()
        try:
            chosen = chosen_columns(source, columns)
        except CommandError:
            if columns:
                raise
        n_rows, facts = _facts(source, limit, is_quiet)
        # Categories of large columns are not shown. The labels of lists have not been counted.
        kinds = {
            field.name: field.type
            for field, one in zip(source.schema, facts, strict=True)
            if field.name in chosen and (has_lists(field.type) or not one.is_large)
        }
        encoders = new_encoders(kinds, typed)
        with showing("learning", is_quiet) as step:
            learn(source, encoders, step)
        frequencies: dict[str, Any] = {}
        for encoder in encoders.each:
            frequencies |= _frequencies(encoder, n_rows, top)
        report = _report(source, n_rows, facts, chosen, limit, encoders, frequencies)
    for text in () if columns else notes_on(source, encoders):
        note(text, is_quiet)
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        lines = _frequency_lines(frequencies, sys.stdout.isatty())
        click.echo("\n".join([_as_text(report), *lines]))


def _facts(source: InputFiles, limit: int, is_quiet: bool) -> tuple[int, list[ColumnFacts]]:
    """Read all rows, and return their number and the facts of each column."""
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
                with reading(source.name):  # a code may exceed its dictionary
                    one.add(column, limit)
            step(source.share(), n_rows)
    return n_rows, facts


def _report(
    source: InputFiles,
    n_rows: int,
    facts: Sequence[ColumnFacts],
    chosen: Sequence[str],
    limit: int,
    encoders: Encoders,
    top: dict[str, Any],
) -> dict[str, Any]:
    """Return a dict of everything that is printed, as text or as JSON."""
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
    encoding = {
        "columns": encoders.columns,
        "features": encoders.n_features,
        "bytes": encoders.bytes(n_rows),
        "frequencies": top,
    }
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    earlier = [] if text is None else parse_encoders(text, source.name).each
    earlier_columns = [column for encoder in earlier for column in encoder.schema.columns]
    made_from = {str(column.name): column.names for column in earlier_columns}
    return {
        "file": source.name,
        "format": source.format.kind,
        "files": len(source.readers),
        "rows": n_rows,
        "bytes": source.n_bytes,
        "limit": limit,
        "columns": columns,
        "encoding": encoding if encoders.columns else None,
        "made_from": made_from,
    }


def _as_text(report: dict[str, Any]) -> str:
    """Return the report as text."""
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
    """Return the number of distinct values as a string."""
    if column["distinct"] is not None:
        return f"{column['distinct']:,}"
    return "not counted" if column["nested"] else f"> {limit:,}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines in which the columns are aligned."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _frequencies(encoder: Encoder, n_rows: int, top: int) -> dict[str, Any]:
    """Return the `top` most frequent categories of each column, and which are infrequent."""
    ungrouped = copy.copy(encoder).set_params(drop=None, min_frequency=None, max_categories=None)
    listing, infrequent = ungrouped.features, encoder.infrequent_categories
    found: dict[str, Any] = {}
    for column in encoder.schema.columns:
        name = str(column.name)
        here = (listing["column"] == column.name) & (listing["kind"] == "category")
        categories, counts = listing["category"][here], listing["count"][here]
        rare = set(infrequent[column.name].tolist())
        is_rare = np.array([one in rare for one in categories.tolist()], bool)
        order = np.argsort(-counts, kind="stable")[:top]
        found[name] = {
            "categories": len(categories),
            "features": column.n_outputs,
            "top": [
                {
                    "category": _plain(categories[i]),
                    "count": int(counts[i]),
                    "share": int(counts[i]) / max(1, n_rows),
                    "infrequent": bool(is_rare[i]),
                }
                for i in order.tolist()
            ],
            "infrequent": {
                "categories": int(is_rare.sum()),
                "rows": int(counts[is_rare].sum()),
            },
        }
    return found


def _plain(value: Any) -> Any:
    """Convert a category to a value that JSON supports, or else to a string."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


def _frequency_lines(found: dict[str, Any], has_bars: bool) -> list[str]:
    """Return a table for each column, with bars on a terminal."""
    lines: list[str] = []
    for name, one in found.items():
        n_categories, n_features = one["categories"], plural(one["features"], "feature")
        noun = "category" if n_categories == 1 else "categories"
        lines += ["", printable(f"{name}: {n_categories:,} {noun}, {n_features}")]
        labels = [printable(str(each["category"])) for each in one["top"]]
        labels = [text if len(text) <= LABEL_WIDTH else f"{text[:LABEL_WIDTH]}…" for text in labels]
        width = max(map(len, labels), default=0)
        most = max([1, *(each["count"] for each in one["top"])])
        for label, each in zip(labels, one["top"], strict=True):
            cells = [f"  {label.ljust(width)}", f"{each['count']:>{len(f'{most:,}')},}"]
            cells.append(f"{each['share']:>7.2%}")
            if has_bars:
                bar = "█" * round(BAR_WIDTH * each["count"] / most)
                colour = None if "NO_COLOR" in os.environ else "cyan"
                cells.append(click.style(bar.ljust(BAR_WIDTH), fg=colour))
            lines.append(" ".join([*cells, *["infrequent"] * each["infrequent"]]).rstrip())
        more, rare = n_categories - len(one["top"]), one["infrequent"]
        lines += [f"  {more:,} more"] if more else []
        if rare["categories"]:
            n_rows = plural(rare["rows"], "row")
            lines.append(f"  infrequent, in one feature: {rare['categories']:,} with {n_rows}")
    return lines
