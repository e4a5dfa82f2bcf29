"""Read Parquet and Arrow files with all checks of pyarrow, and compare columns value by value."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa  # noqa: TID253
import pyarrow.parquet as parquet  # noqa: TID253

from onehot_fast.cli.formats import Format, format_of_content, format_of_name


def format_of(path: Path) -> Format:
    """Return the format of a file, as the command finds it."""
    with path.open("rb") as file:
        return format_of_name(path.name) or format_of_content(file.read(8))


def by_pyarrow(path: Path) -> pa.Table:
    """Read a file with all checks that pyarrow has."""
    form = format_of(path)
    if form.kind == "parquet":
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            str(file.schema_arrow.names)  # a struct without fields has a name, but is not read
            table = file.read()
            # pyarrow does not compare them; polars and DuckDB reject a number below zero.
            if len(table) != file.metadata.num_rows:
                raise ValueError(f"{len(table)} rows, but the footer says {file.metadata.num_rows}")
    else:
        with pa.input_stream(str(path), compression=form.compression) as file:
            content = file.read()
        is_file = form.kind == "arrow"
        reader = pa.ipc.open_file(content) if is_file else pa.ipc.open_stream(content)
        if is_file:
            batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        else:
            batches = [*reader]
        for batch in batches:
            batch.validate(full=True)  # a table has lost the counts of nulls of its batches
        table = pa.Table.from_batches(batches, reader.schema)
    table.validate(full=True)
    str(table.schema)  # decodes the names
    for column in table.columns:
        list(column.chunks)  # raises an error if Python has no such arrays
    return table


def cell(value: Any) -> Any:
    """Return a value that equals itself, even if it contains NaN, and no value of another type."""
    return repr(value)


def cells(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return the values of a column; those that Python does not have are compared as integers."""
    kind = column.type
    try:
        return [cell(value) for value in column.to_pylist()]
    except (ValueError, OverflowError, pa.ArrowException):
        if pa.types.is_dictionary(kind):
            return cells(column.cast(kind.value_type))
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return [cell(value) for value in column.cast(width).to_pylist()]


def decoded(values: list[Any]) -> list[Any]:
    """Return cells as decoding restores them: NaN is missing, and zero has no sign."""
    return [{"nan": "None", "-0.0": "0.0"}.get(value, value) for value in values]


def difference(
    expected: Any, found: Any, is_any_type: bool = False, is_decoded: bool = False
) -> str:
    """Return the first difference between two columns, with their types or in any type."""
    if expected.type != found.type and not is_any_type:
        return f"type {found.type}, not {expected.type}"
    one, two = cells(expected), cells(found)
    if is_decoded:
        one, two = decoded(one), decoded(two)
    pairs = enumerate(itertools.zip_longest(one, two))
    wrong = next(((row, a, b) for row, (a, b) in pairs if a != b), None)
    return "" if wrong is None else f"row {wrong[0]}: {wrong[2]}, not {wrong[1]}"


def wrong_features(before: pa.Table, after: pa.Table) -> str:
    """Tell which row has wrong features: one for each value, the same for equal values only."""
    if any(pa.types.is_nested(kind) for kind in before.schema.types):
        return ""  # several labels in a row
    values = [decoded(cells(before[name])) for name in before.column_names]
    n_features = sum(len({*column} - {"None"}) for column in values)
    if after.num_columns != n_features:
        return f"{after.num_columns} features, not {n_features}"
    features = [after[i].to_pylist() for i in range(after.num_columns)]
    patterns: dict[Any, Any] = {}
    values_of: dict[Any, Any] = {}
    for row in range(len(before)):
        key = tuple(column[row] for column in values)
        pattern = tuple(bool(column[row]) for column in features)
        if sum(pattern) != len(key) - key.count("None"):
            return f"row {row} has {sum(pattern)} features"
        if (
            patterns.setdefault(key, pattern) != pattern
            or values_of.setdefault(pattern, key) != key
        ):
            return f"row {row} has the features of other values"
    return ""
