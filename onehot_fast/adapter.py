"""All that an integration may use of the core, and what the core asks of an integration.

An integration does two things: it reads its library's containers into columns of codes, and it
wraps the memory that `write` fills in its library's containers. What stands between the two is the
core's. It imports `onehot_fast`, `onehot_fast.encoder` and this module, and nothing else of the
core.

Most names are types, whose methods do the work. `write` is the module that turns codes into memory.
The command also uses the modules `checks`, `lookup` and `reports`.

Examples
--------
>>> import numpy as np
>>> from onehot_fast.adapter import CodedColumn, write
>>> column = CodedColumn(np.array([1, -1, 0], np.int8), None, 2)
>>> write.rows([column], "uint8")
array([[0, 1],
       [0, 0],
       [1, 0]], dtype=uint8)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from onehot_fast._accessor_series import SeriesAccessor
from onehot_fast._accessor_table import TableAccessor, TableKeywords
from onehot_fast._arguments import choices as checks
from onehot_fast._arguments.choices import (
    check_choice,
    check_options,
    columns_only,
    number_dtype,
    with_article,
)
from onehot_fast._arrow.array import read as read_arrow
from onehot_fast._arrow.block import ArrowBlock
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.lists import Rows
from onehot_fast._categories.literals import as_literal, literal_kind
from onehot_fast._categories.strings import Strings
from onehot_fast._encode import write
from onehot_fast._encode.decode import DecodedLayout, classes_of
from onehot_fast._encode.table_layout import (
    Categorical,
    Decoded,
    EncodedLayout,
    Outputs,
    Part,
    PassThrough,
)
from onehot_fast._runtime.parallel import parallel_map as map_columns
from onehot_fast._runtime.parallel import part_of_table
from onehot_fast._runtime.registry import integration, reader_of, require
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema import lookup, reports
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.conditions import FeatureWriter
from onehot_fast._schema.lookup import check_no_missing, code_column
from onehot_fast._schema.options import ColumnKeywords
from onehot_fast._schema.schema import Schema
from onehot_fast.column import Column, Values, read_values
from onehot_fast.encoder import Encoder
from onehot_fast.table import Table, read_table

__all__ = [
    "ArrowBlock",
    "Categorical",
    "Categories",
    "CodedColumn",
    "ColumnKeywords",
    "ColumnSchema",
    "Decoded",
    "DecodedLayout",
    "EncodedLayout",
    "Engine",
    "FeatureWriter",
    "Integration",
    "Outputs",
    "Part",
    "PassThrough",
    "Rows",
    "Schema",
    "SeriesAccessor",
    "Strings",
    "Table",
    "TableAccessor",
    "TableKeywords",
    "Values",
    "as_literal",
    "cached_property",
    "check_choice",
    "check_no_missing",
    "check_options",
    "checks",
    "classes_of",
    "code_column",
    "columns_only",
    "integration",
    "literal_kind",
    "lookup",
    "map_columns",
    "number_dtype",
    "part_of_table",
    "read_arrow",
    "read_table",
    "read_values",
    "reader_of",
    "reports",
    "require",
    "with_article",
    "write",
]


@runtime_checkable
class Integration(Protocol):
    """What the core calls in ``onehot_fast.integrations.<library>``, by these names."""

    def read_table(self, table: Any) -> Table:
        """Return a table of the library, without reading a column."""

    def read_column(self, column: Any) -> Column | Values:
        """Return a column of the library: `Column` where it holds codes, else its `Values`."""

    def wrap(
        self,
        table: Table,
        parts: Sequence[Part],
        memo: dict[str, Any] | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Return the library's table of these columns, in their order.

        `table` may come from another library, or from the core itself: then a column that stays
        is ``table.values(position)``, and there is no index to keep. The memory that `write`
        fills for `Outputs` is the caller's to give away. In `memo` an integration finds again what
        it kept there for the last table whose columns have the same names, in the same order, and
        the same outputs, or decoded columns, in their stead: it is empty for the first, None where
        nobody keeps it.
        """


@runtime_checkable
class Engine(Protocol):
    """What the core calls in the integration of an engine that has tables in parts.

    `Encoder` hands it every table of the engine. A part is a table of a library that the core
    reads: what becomes of it is told by an ordinary `Encoder`, on the machine where the part is.
    """

    def learn(self, encoder: Encoder, table: Any) -> Encoder:
        """Return an encoder of the same options that has learned all rows.

        `encoder` has learned nothing, and chooses its columns from a table without rows; with
        those as its ``columns=`` another one takes each part in ``partial_fit``, and ``merge``
        makes one of many, in any order and grouping. It is small until it makes its schema, which
        is for the caller.
        """

    def transform(
        self, encoder: Encoder, table: Any, output: str | None, num_threads: int | None
    ) -> Any:
        """Return the encoded table, lazily; `output` None is the table of the engine.

        The encoder is fitted. Its pickle has neither hash tables nor an object for each category:
        it goes to each process once.
        """

    def inverse_transform(
        self, encoder: Encoder, encoded: Any, missing: Any, unknown: Any, infrequent: Any
    ) -> Any:
        """Return the decoded table, lazily."""

    def count_rows(self, table: Any) -> int:
        """Return how many rows a table has."""
