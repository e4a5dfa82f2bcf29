"""A column of labels, of which each row has any number.

Labels are the items of a list, or the parts of a string between separators. A column of labels has
its own `Encoder`, for which each label is a row, so that every option also applies to labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import OPTIONS, CodedColumn, code_column, write
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import (
    cast_to,
    encoded_schema,
    fitted_type,
    flattened,
    plain_type,
    read_column,
    read_table,
    rows_of,
    taken,
)

Offsets: TypeAlias = npt.NDArray[np.int64]
TEXTS = pa.string(), pa.large_string(), pa.string_view()


def has_lists(kind: pa.DataType) -> bool:
    """Tell whether a column contains lists whose elements are not nested (no lists or structs)."""
    tests = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(test(kind) for test in tests) and not pa.types.is_nested(kind.value_type)


def has_strings(kind: pa.DataType) -> bool:
    """Tell whether a column contains strings."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind in TEXTS


@dataclass(frozen=True)
class LabelColumn:
    """A column with any number of labels in each row."""

    name: str
    sep: str | None  # the separator of labels in a string; None: the rows are lists
    encoder: Encoder  # fitted to a table whose only column, `name`, contains the labels

    def learn(self, column: Any, types: pa.Schema) -> None:
        """Fit the encoder to the labels of more rows; `types` has the type of the column."""
        _, labels = self._read(column)
        self.encoder.partial_fit(read_table(pa.table({self.name: labels}), types))

    def encoded(self, column: Any) -> pa.RecordBatch:
        """Return the features of some rows as columns."""
        matrix = write.rows([self._coded(column)], self._dtype)
        schema = encoded_schema(pa.schema([(self.name, pa.string())]), self.encoder)
        columns = [pa.array(column) for column in np.ascontiguousarray(matrix.T)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def rows(self, column: Any) -> Any:
        """Return the features of some rows as a `scipy.sparse.csr_array`."""
        return write.sparse_array("csr", [self._coded(column)], self._dtype)

    @property
    def _dtype(self) -> np.dtype[Any]:
        return self.encoder.schema.columns[0].options.dtype

    def _coded(self, column: Any) -> CodedColumn:
        """Return the codes of the labels of each row."""
        offsets, labels = self._read(column)
        coded = code_column(self.encoder.schema.columns[0], read_column(labels))
        coded.offsets = offsets
        return coded

    def _read(self, column: Any) -> tuple[Offsets, Any]:
        """Return the offsets of the rows, and all labels; a null row has null as its only label."""
        if isinstance(column, pa.ChunkedArray):  # the column has no rows
            column = column.combine_chunks()
        if self.sep is not None and has_strings(column.type):
            offsets, labels = flattened(_split_labels(column, self.sep))
            is_label = pc.not_equal(labels, "").to_numpy(zero_copy_only=False)
            before = np.concatenate([[0], np.cumsum(is_label, dtype=np.int64)])
            offsets, labels = before[offsets], labels.filter(pa.array(is_label))
        elif self.sep is None and has_lists(column.type):
            offsets, labels = flattened(column)
        else:
            if self.sep is None:
                raise TypeError(
                    f"column {self.name!r} must contain lists of single values, got {column.type}"
                )
            raise TypeError(f"column {self.name!r} must contain strings, got {column.type}")
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        if not is_null.any():
            return offsets, labels
        if self.encoder.get_params()["handle_missing"] == "error":
            row = int(np.argmax(is_null))
            raise ValueError(
                f"column {self.name!r}: the labels of row {row} are missing; use"
                f" {OPTIONS['handle_missing'].instead_of_error('propagate')}"
            )
        order = np.insert(np.arange(len(labels)), offsets[:-1][is_null], -1)
        offsets[1:] += np.cumsum(is_null)
        return offsets, taken(labels, pa.array(order, mask=order < 0))

    def decoded(
        self, features: pa.RecordBatch, can_hold: Callable[[pa.Array], bool]
    ) -> pa.RecordBatch:
        """Decode features to a column of labels; the labels are in the order of the features.

        The column has the type that `fit` saw, unless this is a type of fixed-size lists, or one
        that the output cannot hold. If there is a feature for missing values, null rows become null
        again. Otherwise, they become rows without labels. Unknown and infrequent labels are lost.
        """
        known = self.encoder.features
        columns = [features.column(name).to_numpy(zero_copy_only=False) for name in known["name"]]
        matrix = np.column_stack(columns or [np.empty((features.num_rows, 0))]) == 1
        is_label = known["kind"] == "category"
        labels = matrix[:, is_label]
        is_missing = matrix[:, known["kind"] == "missing"].any(axis=1)
        is_empty = ~labels.any(axis=1)
        # A missing value among other labels was an item of the list; it becomes the last one.
        is_null, is_element = is_missing & is_empty, is_missing & ~is_empty & (self.sep is None)
        row, label = np.nonzero(np.column_stack([labels, is_element]))
        categories = [*known["category"][is_label].tolist(), None]
        values = pa.array(categories, pa.string() if self.sep is not None else None)
        offsets = np.searchsorted(row, np.arange(features.num_rows + 1))
        starts = pa.array(offsets.astype(np.int32), mask=np.append(is_null, False))
        kind = fitted_type(self.encoder.schema.columns[0])
        if self.sep is not None:
            texts = pc.binary_join(pa.ListArray.from_arrays(starts, values.take(label)), self.sep)
            kind = pa.string() if kind is None else plain_type(kind)
            fitted = cast_to(texts, kind) if kind in TEXTS else texts
            return pa.record_batch([fitted if can_hold(fitted[:1]) else texts], [self.name])
        elements = [] if kind is None or not has_lists(kind) else [kind.value_type]
        for element in [*elements, *map(plain_type, elements)]:
            lists = _lists(starts, rows_of(values, element, label), pa.types.is_large_list(kind))
            if can_hold(lists[:1]):
                return pa.record_batch([lists], [self.name])
        lists = pa.ListArray.from_arrays(starts, values.take(label))
        return pa.record_batch([lists], [self.name])


def _lists(starts: pa.Array, elements: pa.Array, is_large: bool) -> pa.Array:
    """Return the lists of elements that begin at some positions."""
    if not is_large:
        return pa.ListArray.from_arrays(starts, elements)
    return pa.LargeListArray.from_arrays(starts.cast(pa.int64()), elements)


def _split_labels(column: Any, sep: str) -> Any:
    """Split each string of a column into a list of labels."""
    if pa.types.is_dictionary(column.type):
        return _split_labels(column.dictionary, sep).take(column.indices)
    if pa.types.is_string_view(column.type):  # which pyarrow cannot split
        column = column.cast(pa.large_string())
    return pc.split_pattern(column, sep)
