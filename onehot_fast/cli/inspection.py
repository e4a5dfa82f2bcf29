"""``onehot-fast inspect``: the columns of a file, and the size of their encoding."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import ColumnSchema, human_size, number_of
from onehot_fast.cli.arrow_batches import PLAIN_TEXTS
from onehot_fast.cli.batches import ahead, batch_rows
from onehot_fast.cli.encoders import ENCODER_KEY, names_of, parsed_encoder
from onehot_fast.cli.learning import chosen_columns, learn
from onehot_fast.cli.messages import CommandError, encoding_input, printable, reading, showing
from onehot_fast.cli.notes import note_marks, note_reading, note_suspects
from onehot_fast.cli.reader import Input
from onehot_fast.cli.source import InputFiles, open_source
from onehot_fast.cli.typed_options import new_encoder, only_columns
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import is_list_type

BAR_WIDTH, LABEL_WIDTH = 24, 40


@dataclass
class ColumnFacts:
    """The nulls and distinct values of a column."""

    nulls: int = 0
    values: Any = None  # an Arrow array; None before the first row, and if there are too many
    is_large: bool = False  # there are too many distinct values, or they are not counted
    is_counted: bool = True  # whether pyarrow can compare values of the type

    def add(self, column: pa.Array, limit: int) -> None:
        """Add the nulls and distinct values of more rows; count at most `limit` distinct values."""
        column = _comparable(column)
        values = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_nested(values):
            self.nulls, self.is_large = self.nulls + column.null_count, True
            self.is_counted = False
            return
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


def _comparable(column: pa.Array) -> pa.Array:
    """Return a column with a type of which pyarrow finds the distinct values, if there is one."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _comparable(column.storage)
    if pa.types.is_run_end_encoded(kind):
        runs = pa.RunEndEncodedArray.from_arrays(column.run_ends, _comparable(column.values))
        return pc.run_end_decode(runs.slice(column.offset, len(column)))
    if kind in PLAIN_TEXTS:  # of views, pyarrow finds some values twice
        return column.cast(PLAIN_TEXTS[kind])
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_dictionary(kind):
        values = _comparable(column.dictionary)
        if values.type != kind.value_type:
            return pa.DictionaryArray.from_arrays(column.indices, values, ordered=kind.ordered)
    return column


def run_inspect(
    spec: Input,
    columns: Sequence[str],
    typed: dict[str, Sequence[str]],
    limit: int,
    top: int,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Print a report on a file; count up to `limit` distinct values, and show `top` categories."""
    with open_source(spec) as source:
        note_reading(source, spec, is_quiet)
        source.decide()
        chosen: list[str] = []
        with suppress(*([] if columns else [CommandError])):  # no column contains strings
            chosen = chosen_columns(source, columns)
        n_rows, facts = _facts(source, limit, is_quiet)
        is_other = {f.name for f in source.schema if not pa.types.is_string(f.type)}
        note_marks(source, is_other.union(chosen), is_quiet)
        pairs = list(zip(source.schema, facts, strict=True))
        encoder = new_encoder(source.schema, chosen, typed)
        # Categories of large columns are not shown. The labels of a row have not been counted.
        shown = [
            field.name
            for field, one in pairs
            if field.name in chosen
            and (is_list_type(field.type) or field.name in (encoder.sep or ()) or not one.is_large)
        ]
        encoder = only_columns(encoder, shown)
        learn(source, encoder, is_quiet)
    with encoding_input(source.name):  # categories may not be UTF-8
        encoded = _encoding_entry(encoder, n_rows, top) if shown else None
    report = {
        "file": source.name,
        "format": source.format.kind,
        "files": len(source.readers),
        "rows": n_rows,
        "bytes": sum(reader.n_bytes for reader in source.readers),
        "limit": limit,
        "columns": [_column_entry(field, one, field.name in chosen) for field, one in pairs],
        "encoding": encoded,
        "made_from": _made_from(source),
    }
    if not columns:
        note_suspects(source, encoder, is_quiet)
    click.echo(json.dumps(report, indent=1) if as_json else _in_color(_report_text(report)))


def _facts(source: InputFiles, limit: int, is_quiet: bool) -> tuple[int, list[ColumnFacts]]:
    """Read all rows, and return their number and the facts of each column."""
    names = source.schema.names
    facts, n_rows = [ColumnFacts() for _ in names], 0
    batches = source.batches(batch_rows(source.row_bytes), coded=names)
    with showing("reading", is_quiet) as step, closing(ahead(batches)) as parts:
        for part in parts:
            n_rows += part.num_rows
            with reading(source.name):  # a code may exceed its dictionary
                for one, column in zip(facts, part.columns, strict=True):
                    one.add(column, limit)
            step(source.share, n_rows)
    return n_rows, facts


# --- the report, as values that JSON supports


def _column_entry(field: pa.Field, facts: ColumnFacts, is_encoded: bool) -> dict[str, Any]:
    """Return the entry of a column in the report."""
    return {
        "name": field.name,
        "type": str(field.type),
        "nested": pa.types.is_nested(field.type),
        "counted": facts.is_counted,
        "nulls": facts.nulls,
        "distinct": None if facts.is_large else len(facts.values or ()),
        "encoded": is_encoded,
    }


def _encoding_entry(encoder: Encoder, n_rows: int, top: int) -> dict[str, Any]:
    """Return the entry of the encoded columns in the report."""
    return {
        "columns": names_of(encoder),
        "features": encoder.n_features,
        "bytes": encoder.estimate(n_rows).bytes,
        "frequencies": {
            str(one.name): _frequencies(one, n_rows, top) for one in encoder.schema.columns
        },
    }


def _frequencies(column: ColumnSchema, n_rows: int, top: int) -> dict[str, Any]:
    """Return the `top` most frequent categories of a column, and how many are infrequent."""
    counts, is_infrequent = column.learned.counts, column.is_infrequent
    order = (-counts).argsort(kind="stable")[:top]
    values = column.known.take(order).tolist(), counts[order], is_infrequent[order]
    return {
        "categories": len(counts),
        "features": column.n_features,
        "top": [
            {
                "category": _as_json(category),
                "count": int(count),
                "share": int(count) / max(1, n_rows),
                "infrequent": bool(is_rare),
            }
            for category, count, is_rare in zip(*values, strict=True)
        ],
        "infrequent": {
            "categories": int(is_infrequent.sum()),
            # A row may have several infrequent labels.
            "rows": None if column.is_ragged else int(counts[is_infrequent].sum()),
        },
    }


def _as_json(value: Any) -> Any:
    """Convert a category to a value that JSON supports, or else to a string."""
    # NumPy would convert nanoseconds to an integer.
    if isinstance(value, np.generic) and value.dtype not in ("M8[ns]", "m8[ns]"):
        value = value.item()
    is_finite = isinstance(value, float) and math.isfinite(value)
    return value if is_finite or isinstance(value, str | int) else str(value)


def _made_from(source: InputFiles) -> dict[str, Any]:
    """Return the feature names of each column that is already encoded in the file."""
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    schemas = [] if text is None else parsed_encoder(text, source.name).schema.columns
    return {str(column.name): column.names for column in schemas}


# --- the report as text


def _report_text(report: dict[str, Any]) -> str:
    """Return the report as text."""
    rows = number_of(report["rows"], "row")
    columns = number_of(len(report["columns"]), "column")
    files = f" in {report['files']} files" if report["files"] > 1 else ""
    size = f"{human_size(report['bytes'])}{files}"
    lines = [f"{printable(report['file'])}: {report['format']}, {rows}, {columns}, {size}", ""]
    features = {name for names in report["made_from"].values() for name in names}
    table = [["column", "type", "nulls", "distinct", "encoded"]]
    for column in report["columns"]:
        if column["name"] not in features:
            distinct = "not counted" if not column["counted"] else f"> {report['limit']:,}"
            if column["distinct"] is not None:
                distinct = f"{column['distinct']:,}"
            mark = "yes" if column["encoded"] else ""
            table.append([column["name"], column["type"], f"{column['nulls']:,}", distinct, mark])
    lines += _aligned(table)
    for name, names in report["made_from"].items():
        lines += ["", f"{printable(name)} is encoded as {number_of(len(names), 'feature')}"]
    encoding = report["encoding"]
    if encoding is not None:
        names = printable(", ".join(encoding["columns"]))
        lines += ["", f"{names} as {number_of(encoding['features'], 'feature')}:", ""]
        sizes = [(form, human_size(size)) for form, size in encoding["bytes"].items()]
        lines += _aligned([("form", "size"), *sizes])
        for name, one in encoding["frequencies"].items():
            lines += _frequency_lines(name, one)
    return "\n".join(lines)


def _in_color(text: str) -> str:
    """Return the report with bars in color, unless the user wants no colors."""
    if "NO_COLOR" in os.environ:
        return text
    return re.sub("█+", lambda bar: click.style(bar[0], fg="cyan"), text)


def _aligned(rows: Sequence[Sequence[str]], between: str = "  ") -> list[str]:
    """Return the rows of a table as lines in which the columns are aligned."""
    rows = [list(map(printable, row)) for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [between.join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _frequency_lines(name: str, found: dict[str, Any]) -> list[str]:
    """Return a table of the most frequent categories of a column, with bars on a terminal."""
    categories = number_of(found["categories"], "category", "categories")
    features = number_of(found["features"], "feature")
    top, rare = found["top"], found["infrequent"]
    most = max([1, *(one["count"] for one in top)])
    rows = []
    for one in top:
        label, count = printable(str(one["category"])), f"{one['count']:,}"
        label = label if len(label) <= LABEL_WIDTH else f"{label[:LABEL_WIDTH]}…"
        cells = [label, count.rjust(len(f"{most:,}")), f"{one['share']:>7.2%}"]
        if sys.stdout.isatty():
            cells.append("█" * round(BAR_WIDTH * one["count"] / most))
        rows.append([*cells, "infrequent" if one["infrequent"] else ""])
    lines = _aligned(rows, " ")
    if found["categories"] > len(top):
        lines.append(f"{found['categories'] - len(top):,} more")
    if rare["categories"]:
        rows_of_all = "" if rare["rows"] is None else f" with {number_of(rare['rows'], 'row')}"
        lines.append(f"infrequent, in one feature: {rare['categories']:,}{rows_of_all}")
    return ["", f"{printable(name)}: {categories}, {features}", *(f"  {line}" for line in lines)]
