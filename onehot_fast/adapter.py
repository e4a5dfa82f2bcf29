"""The interface between the core and the integrations.

An integration reads the containers of its library as a `Table`. It returns results in containers
of its library, which wrap memory that the module `write` has filled. The core does everything else.
From the core, an integration imports only `onehot_fast`, `onehot_fast.encoder` and this module.
Most names in this module are types, whose methods do the work. Checks of a schema are in
the module `guards`. `OPTIONS` and `FORMATS` are the tables of options and of output formats.

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

from onehot_fast._arguments.arraylikes import as_scalar, is_container, items_of
from onehot_fast._arguments.checks import (
    check_choice,
    check_options,
    check_text,
    columns_only,
    keywords,
    max_positional,
    number_dtype,
)
from onehot_fast._arguments.messages import (
    did_you_mean,
    error_at,
    human_size,
    number_of,
    shown,
    with_article,
    with_column_context,
)
from onehot_fast._arrow.array import ArrowBlock
from onehot_fast._arrow.array import read as read_arrow
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.classes import read_classes
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import name_key, name_keys
from onehot_fast._categories.lists import Rows
from onehot_fast._categories.literals import as_literal
from onehot_fast._categories.palettes import wrong_channels
from onehot_fast._categories.ragged import (
    RaggedColumn,
    are_lists,
    hold_numbers,
    of_lists,
    read_lists,
)
from onehot_fast._categories.strings import Strings
from onehot_fast._categories.values import Values, read_column
from onehot_fast._pipeline import write
from onehot_fast._pipeline.decode import (
    DecodedLayout,
    LabelRows,
    classes_of,
    classes_of_bits,
    decoded_matrix,
    every_value,
    labels_of,
    possible_specials,
    with_missing_rows,
)
from onehot_fast._pipeline.layout import (
    Categorical,
    Decoded,
    DecodedLists,
    EncodedLayout,
    FeatureBlock,
    Part,
    PassThrough,
    identities,
)
from onehot_fast._reports import guards
from onehot_fast._reports.bars import frequency_table
from onehot_fast._reports.unknown import warning_once
from onehot_fast._runtime.cache import Cache
from onehot_fast._runtime.parallel import parallel_map as map_columns
from onehot_fast._runtime.parallel import part_of_table
from onehot_fast._runtime.registry import integration, library, reader_of, require
from onehot_fast._runtime.utils import cached_property, collector_paused
from onehot_fast._schema.coded_column import (
    CodedColumn,
    lowest_code,
    lut_of,
    lut_of_order,
    new_luts,
)
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.conditions import FeatureWriter
from onehot_fast._schema.formats import FORMATS, checked_format, format_names
from onehot_fast._schema.options import (
    OPTIONS,
    ColumnKeywords,
    DeclaredKeywords,
    TableKeywords,
    option_names,
)
from onehot_fast._schema.schema import Schema
from onehot_fast._transform import code_column, code_table
from onehot_fast.encoder import Encoder
from onehot_fast.ragged import distinct_labels
from onehot_fast.table import Table, read_table

__all__ = [
    "FORMATS",
    "OPTIONS",
    "ArrowBlock",
    "Cache",
    "Categorical",
    "Categories",
    "CodedColumn",
    "ColumnKeywords",
    "ColumnSchema",
    "DeclaredKeywords",
    "Decoded",
    "DecodedLayout",
    "DecodedLists",
    "EncodedLayout",
    "Engine",
    "FeatureBlock",
    "FeatureWriter",
    "Integration",
    "LabelRows",
    "Part",
    "PassThrough",
    "RaggedColumn",
    "Rows",
    "Schema",
    "Strings",
    "Table",
    "TableKeywords",
    "Values",
    "are_lists",
    "as_literal",
    "as_scalar",
    "cached_property",
    "check_choice",
    "check_options",
    "check_text",
    "checked_format",
    "classes_of",
    "classes_of_bits",
    "code_column",
    "code_table",
    "collector_paused",
    "columns_only",
    "decoded_matrix",
    "did_you_mean",
    "distinct_labels",
    "error_at",
    "every_value",
    "format_names",
    "frequency_table",
    "guards",
    "hold_numbers",
    "human_size",
    "identities",
    "integration",
    "is_container",
    "items_of",
    "keywords",
    "labels_of",
    "library",
    "lowest_code",
    "lut_of",
    "lut_of_order",
    "map_columns",
    "max_positional",
    "name_key",
    "name_keys",
    "new_luts",
    "number_dtype",
    "number_of",
    "of_lists",
    "option_names",
    "part_of_table",
    "possible_specials",
    "read_arrow",
    "read_classes",
    "read_column",
    "read_lists",
    "read_table",
    "reader_of",
    "require",
    "shown",
    "warning_once",
    "with_article",
    "with_column_context",
    "with_missing_rows",
    "write",
    "wrong_channels",
]  # fmt: skip


@runtime_checkable
class Integration(Protocol):
    """The functions that the core calls in ``onehot_fast.integrations.<library>``."""

    def read_table(self, table: Any) -> Table:
        """Wrap a table of the library in a `Table`, without reading a column."""

    def read_column(self, column: Any) -> Column | Values:
        """Return a `Column` if the library's column stores codes, otherwise its `Values`."""

    def are_lists(self, column: Any) -> bool:
        """Tell whether the rows of a column are lists of labels."""

    def read_ragged(self, column: Any) -> RaggedColumn:
        """Return a column whose rows are lists as rows of labels; a missing list is missing."""

    def wrap(
        self,
        table: Table,
        parts: Sequence[Part],
        cache: Cache[Any] | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Return a table of the library with the columns that `parts` describes, in this order.

        If `table` belongs to another library, read its columns that are not encoded with
        ``table.to_numpy(position)``. The result may own the memory that `write` fills. An
        integration can keep objects in `cache` for the next table with the same columns and parts.
        `cache` is empty for the first table, and None if there is none.
        """


@runtime_checkable
class Engine(Protocol):
    """The functions that the core calls for an engine (Dask or Spark), which splits tables.

    `Encoder` passes every table of the engine to these functions. Each part of such a table is
    itself a table that the core can read. An ordinary `Encoder` encodes the part on the machine
    that stores it.
    """

    def learn(self, encoder: Encoder, table: Any) -> Encoder:
        """Return an encoder with the same options that has learned from all rows.

        `encoder` is not fitted. Let it choose its columns from a table without rows, fit an encoder
        of these columns to each part with ``partial_fit``, and ``merge`` the encoders, in any order
        and grouping. These encoders have no schema and are therefore small. The caller creates
        the schema.
        """

    def transform(
        self, encoder: Encoder, table: Any, output: str | None, num_threads: int | None
    ) -> Any:
        """Return the encoded table as a lazy object, by default as a table of the engine.

        The encoder is fitted. Its pickle is small, and you need to send it only once per process.
        """

    def inverse_transform(
        self, encoder: Encoder, encoded: Any, missing: Any, unknown: Any, infrequent: Any
    ) -> Any:
        """Return the decoded table as a lazy object."""

    def count_rows(self, table: Any) -> int:
        """Return the number of rows of a table."""
