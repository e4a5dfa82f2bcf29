"""Frames of narwhals: the integration of the library beneath reads and wraps them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import narwhals as nw

from onehot_fast import Column
from onehot_fast.adapter import Part, Rows, Table, Values, integration, read_values, reader_of
from onehot_fast.adapter import (
    read_table as read_native_table,
)

__all__ = ["read_column", "read_lists", "read_table", "wrap"]


def read_table(table: Any) -> Table:
    """Return a DataFrame or Series of narwhals as a `Table`, without reading a column."""
    if isinstance(table, nw.LazyFrame):
        raise TypeError(
            "a narwhals.LazyFrame has no rows: pass frame.collect(), or let its engine encode with"
            " frame.select(encoder.expressions(frame))"
        )
    if isinstance(table, nw.Series) and table.name:
        table = table.to_frame()  # arrays of pyarrow have no name
    native = read_native_table(_native(table))
    native.library, native.owner = "narwhals", table
    return native


def read_column(column: Any) -> Column | Values:
    """Return a Series of narwhals as the integration of its library reads it."""
    return read_values(_native(column))


def read_lists(rows: Any) -> Rows:
    """Return a Series of lists as offsets and flat elements."""
    return Rows.read(_native(rows))


def wrap(
    table: Table,
    parts: Sequence[Part],
    memo: dict[str, Any] | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return the parts as a frame of narwhals, of the version of its API that came in."""
    library = reader_of(table.source) or "arrow"
    native = integration(library).wrap(table, parts, memo, num_threads)
    api = sys.modules[type(table.owner).__module__]
    return getattr(api, "from_native", nw.from_native)(native, eager_only=True)


def _native(data: Any) -> Any:
    """Return the native object, or its Arrow data if no integration reads its library."""
    native = nw.to_native(data)
    return data.to_arrow() if reader_of(native) is None else native
