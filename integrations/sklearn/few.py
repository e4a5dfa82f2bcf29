"""A few rows of a fitted encoder: each value is looked up in a dictionary, and nothing is read."""

from __future__ import annotations

import copy
import math
from itertools import chain
from typing import Any

import numpy as np

from onehot_fast._categories.keys import PLAIN
from onehot_fast._categories.schema import Schema
from onehot_fast.integrations.sklearn.lookup import unknown_place
from onehot_fast.integrations.sklearn.output import csr_container
from onehot_fast.integrations.sklearn.source import NAN, AnyArray

# So many cells are looked up in 150 us; the general way takes 250 us for an array of 5 columns and
# 900 us for a frame.
LIMIT = 512
# A cell of a frame by itself takes 4 us, a column 14 to 50.
FEWER = 4
# Kinds of arrays whose elements are, as Python's objects, what the categories are.
KINDS = "OUSbiuf"


class Places(dict[Any, int]):
    """The output of each value of a feature, -1 for none."""

    unknown: int | None = None  # that of a value that is not here, if nobody need hear of it

    def __missing__(self, value: Any) -> int:
        """Return that of an unknown value, or of NaN, of which there are many objects."""
        if isinstance(value, float) and value != value and NAN in self:
            return self[NAN]
        if self.unknown is not None and type(value) in (str, int):
            return self.unknown
        raise KeyError(value)


class Few:
    """The look-up of a few rows, or None where the general way must decide."""

    def __init__(self, schema: Schema, missing: str, names: list[str] | None) -> None:
        self.schema, self.missing, self.names = schema, missing, names
        self._tables: dict[str | None, list[Places]] = {}  # by what becomes of unknown values
        self._columns: Any = None  # of the last DataFrame with these names
        self._template: Any = None  # a sparse matrix of as many rows as the last one

    def __reduce__(self) -> Any:
        """Leave out what is quickly made again."""
        return Few, (self.schema, self.missing, self.names)

    def places(self, rows: Any, unknown: str | None, missing: str) -> list[list[int]] | None:
        """Return the output of each value, row by row.

        `unknown` is the word that holds for unknown values, None where a value must be known.
        """
        values = self._values(rows) if missing == self.missing else None
        if values is None:
            return None
        tables = self._tables.get(unknown)
        if tables is None:
            tables = self._tables[unknown] = self._make_tables(unknown)
        try:
            return [
                [table[value] for table, value in zip(tables, row, strict=True)] for row in values
            ]
        except (KeyError, TypeError, ValueError):  # unknown, without a hash, of another length
            return None

    def _values(self, rows: Any) -> list[Any] | None:
        """Return the rows as lists, if they are few and of the plain kind."""
        kind = type(rows)
        if kind is np.ndarray:
            if self.names is not None or rows.ndim != 2 or rows.dtype.kind not in KINDS:
                return None
            return rows.tolist() if 0 < rows.size <= LIMIT else None
        if kind is list:
            if self.names is not None or not 0 < len(rows) * len(self.schema.columns) <= LIMIT:
                return None
            return rows if all(type(row) is list for row in rows) else None
        if self.names is None or not hasattr(rows, "iloc") or len(rows.shape) != 2:
            return None
        return self._values_of_frame(rows) if 0 < math.prod(rows.shape) <= LIMIT else None

    def _values_of_frame(self, frame: Any) -> list[Any] | None:
        """Return the rows of a DataFrame, if its columns have the right names."""
        if frame.columns is not self._columns:
            if frame.columns.tolist() != self.names:
                return None
            self._columns = frame.columns
        n_rows, n_columns = frame.shape
        if n_rows <= FEWER:
            at = frame.iat
            return [[at[row, column] for column in range(n_columns)] for row in range(n_rows)]
        return list(zip(*(column.tolist() for _, column in frame.items()), strict=True))

    def _make_tables(self, unknown: str | None) -> list[Places]:
        """Return the look-up tables; a category of an odd type is left to the general way."""
        tables = []
        for column, start in zip(self.schema.columns, self.schema.starts, strict=False):
            places = Places(column.places)
            if self.missing in ("ignore", "indicator"):
                places[None] = places[NAN] = column.missing_place
            for key, place in places.items():
                places[key] = place + start if place >= 0 else -1
            if unknown is not None and all(
                key in (None, NAN) or type(key) in PLAIN for key in places
            ):
                place = unknown_place(column, unknown)
                places.unknown = place + start if place >= 0 else -1
            tables.append(places)
        return tables

    def csr(self, places: list[list[int]], dtype: np.dtype[Any]) -> Any:
        """Return a CSR matrix of ones."""
        rows = [[place for place in row if place >= 0] for row in places]
        template, container = self._template, csr_container()
        shape = len(rows), self.schema.n_features
        if type(template) is not container or template.shape != shape:
            self._template = template = container(shape, dtype=dtype)
            template.has_canonical_format = True
        # A sixth of what the constructor takes, which would look at what we know to be right.
        matrix = copy.copy(template)
        ends = [0]
        for row in rows:
            ends.append(ends[-1] + len(row))
        matrix.indptr = np.array(ends, np.int32)
        matrix.indices = np.array([*chain.from_iterable(rows)], np.int32)
        matrix.data = np.ones(ends[-1], dtype)
        return matrix

    def dense(self, places: list[list[int]], dtype: np.dtype[Any]) -> AnyArray:
        """Return the (rows, features) matrix."""
        width = self.schema.n_features
        out = np.zeros(len(places) * width, dtype)
        starts = range(0, len(out), width) if width else ()
        rows = zip(starts, places, strict=bool(width))
        out[[start + place for start, row in rows for place in row if place >= 0]] = 1
        return out.reshape(len(places), width)
