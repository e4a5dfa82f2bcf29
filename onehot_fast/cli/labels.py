"""Columns whose rows hold several labels: lists, or texts with something between the labels.

What is learned of such a column is an `Encoder` of its labels, so that all options mean for labels
what they mean for values. A row is on for each of its labels; a row that is null for what
``handle_missing`` says of missing values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import CodedColumn, lookup, write
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import encoded_schema, read_column

__all__ = ["LabelColumn", "holds_lists", "with_labels", "without_features"]

Offsets: TypeAlias = npt.NDArray[np.int64]


def holds_lists(kind: pa.DataType) -> bool:
    """Tell whether a column holds lists of values, and not of lists or structures."""
    tests = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(test(kind) for test in tests) and not pa.types.is_nested(kind.value_type)


@dataclass(frozen=True)
class LabelColumn:
    """A column of rows of labels.

    Attributes
    ----------
    name : str
    sep : str, optional
        What stands between the labels of a text; None: the rows are lists.
    encoder : Encoder
        Of a table of one column of this name, which holds the labels.
    """

    name: str
    sep: str | None
    encoder: Encoder

    def learn(self, column: Any) -> None:
        """Let the encoder see the labels of some rows, and those rows that are null."""
        _, labels, is_null = self._read(column)
        missing = pa.nulls(int(is_null.sum()), labels.type)
        self.encoder.partial_fit(pa.table({self.name: pa.chunked_array([labels, missing])}))

    def fields(self) -> list[pa.Field]:
        """Return the fields of the features."""
        return list(encoded_schema(pa.schema([(self.name, pa.string())]), self.encoder))

    def columns(self, column: Any) -> list[pa.Array]:
        """Return the features of some rows, a column each."""
        offsets, coded, dtype = self._coded(column)
        matrix = write.multi_hot(offsets, coded, dtype)
        n_rows = len(matrix)
        if dtype == np.bool_:
            bits = np.ascontiguousarray(np.packbits(matrix, axis=0, bitorder="little").T)
            buffers = [pa.py_buffer(column) for column in bits]
            return [pa.Array.from_buffers(pa.bool_(), n_rows, [None, bits]) for bits in buffers]
        return [pa.array(column) for column in np.ascontiguousarray(matrix.T)]

    def rows(self, column: Any) -> Any:
        """Return the features of some rows as a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        offsets, coded, dtype = self._coded(column)
        parts = write.multi_hot_csr(offsets, coded, dtype)
        return csr_array(parts, shape=(len(offsets) - 1, coded.n_outputs))

    def _coded(self, column: Any) -> tuple[Offsets, CodedColumn, np.dtype[Any]]:
        """Return rows of codes; a row that is null has the code of a missing value."""
        offsets, labels, is_null = self._read(column)
        if is_null.any():
            lengths = np.diff(offsets)
            lengths[is_null] = 1
            positions = offsets[:-1][is_null]
            order = np.insert(np.arange(len(labels)), positions, -1)
            labels = labels.take(pa.array(order, mask=order < 0))
            offsets = np.concatenate([[0], np.cumsum(lengths)])
        schema = self.encoder.schema.columns[0]
        coded = lookup.code_column(schema, read_column(labels))
        return offsets, coded, schema.options.dtype

    def _read(self, column: Any) -> tuple[Offsets, Any, npt.NDArray[np.bool_]]:
        """Return where the labels of each row begin, and end; all labels; which rows are null."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        lists, sep = column, self.sep
        if sep is not None:
            lists = _split(column, sep, self.name)
        elif not holds_lists(lists.type):
            raise TypeError(
                f"column {self.name!r} holds {lists.type}; accepted are lists of values, and texts"
                " with --sep"
            )
        # Slices of a list of fixed size have more elements than rows, where these are null.
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        labels = pc.list_flatten(lists)
        if sep is not None:
            is_label = pc.not_equal(labels, "").to_numpy(zero_copy_only=False)
            before = np.concatenate([[0], np.cumsum(is_label, dtype=np.int64)])
            offsets, labels = before[offsets], labels.filter(pa.array(is_label))
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        if is_null.any() and self.encoder.get_params()["handle_missing"] == "error":
            row = int(np.argmax(is_null))
            raise ValueError(f"column {self.name!r}, row {row}: the labels are missing")
        return offsets, labels, is_null

    def decoded(self, features: pa.RecordBatch) -> Any:
        """Return the labels of the features of some rows: lists, or texts.

        They stand in the order of the features; a row that was null is null where null has a
        feature, and else without labels. What is unknown or infrequent is not known any more.
        """
        known = self.encoder.features
        columns = [features.column(name).to_numpy(zero_copy_only=False) for name in known["name"]]
        matrix = np.column_stack(columns or [np.empty((features.num_rows, 0))]) == 1
        is_label = known["kind"] == "category"
        labels = matrix[:, is_label]
        is_missing = matrix[:, known["kind"] == "missing"].any(axis=1)
        is_empty = ~labels.any(axis=1)
        # Among labels what is missing is an element of the list, which comes back as the last one.
        is_null, is_element = is_missing & is_empty, is_missing & ~is_empty & (self.sep is None)
        row, label = np.nonzero(np.column_stack([labels, is_element]))
        categories = [*known["category"][is_label].tolist(), None]
        values = pa.array(categories, pa.string() if self.sep is not None else None)
        values = values.take(pa.array(label))
        offsets = np.searchsorted(row, np.arange(features.num_rows + 1))
        starts = pa.array(offsets.astype(np.int32), mask=np.append(is_null, False))
        lists = pa.ListArray.from_arrays(starts, values)
        return lists if self.sep is None else pc.binary_join(lists, self.sep)


def _split(column: Any, sep: str, name: str) -> Any:
    """Return lists of what stands between the separators of each text."""
    if pa.types.is_dictionary(column.type):
        return _split(column.dictionary, sep, name).take(column.indices)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise TypeError(f"column {name!r} holds {column.type}, no texts that --sep can separate")
    return pc.split_pattern(column, sep)


def with_labels(
    batches: Iterable[pa.RecordBatch], columns: Sequence[LabelColumn]
) -> Iterator[pa.RecordBatch]:
    """Yield batches with features in place of columns of labels."""
    for batch in batches:
        for column in columns:
            i = batch.schema.get_field_index(column.name)
            new = column.columns(batch.column(i))
            batch = _replaced(batch, range(i, i + 1), column.fields(), new)
        yield batch


def without_features(
    batches: Iterable[pa.RecordBatch], columns: Sequence[LabelColumn]
) -> Iterator[pa.RecordBatch]:
    """Yield batches with columns of labels in place of their features."""
    for batch in batches:
        for column in columns:
            names = set(column.encoder.schema.names)
            places = [i for i, name in enumerate(batch.schema.names) if name in names]
            decoded = column.decoded(batch)
            field = pa.field(column.name, decoded.type)
            batch = _replaced(batch, places, [field], [decoded])
        yield batch


def _replaced(
    batch: pa.RecordBatch, places: Sequence[int], fields: Sequence[pa.Field], new: Sequence[Any]
) -> pa.RecordBatch:
    """Return a batch with new columns where the first of some others stood."""
    first = min(places, default=batch.num_columns)
    pairs = list(zip(batch.schema, batch.columns, strict=True))
    before = pairs[:first]
    after = [pair for i, pair in enumerate(pairs) if i > first and i not in places]
    pairs = [*before, *zip(fields, new, strict=True), *after]
    schema = pa.schema([field for field, _ in pairs], batch.schema.metadata)
    return pa.RecordBatch.from_arrays([column for _, column in pairs], schema=schema)
