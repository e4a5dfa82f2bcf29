"""Decode encoded rows to the values of each column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import scatter
from onehot_fast._arguments.values import resolve_values
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_array, as_objects, is_missing, name_key, name_keys
from onehot_fast._categories.lists import starts_of
from onehot_fast._kernels import dispatch
from onehot_fast._pipeline.layout import Decoded, DecodedLists, EncodedLayout, Part, PassThrough
from onehot_fast._runtime import parallel
from onehot_fast._runtime.cache import Cache
from onehot_fast._schema.column_schema import MAX_OF_LIBRARIES, ColumnSchema, Special
from onehot_fast._schema.schema import Schema, categories_of_features
from onehot_fast.table import ArrayTable, Table, column_positions

AnyArray: TypeAlias = npt.NDArray[Any]
Classes: TypeAlias = npt.NDArray[np.int64]

# Up to this many cells, columns are read in one call, because each call has an overhead.
SMALL_CELLS = 1 << 20
# The kinds of dtypes that contain 0 and 1; "V" are dtypes of other packages, such as bfloat16.
NUMBERS = "biufcOV"
ZERO_ROW = -1  # the class of a row without a 1
SOME_VALUES = 6  # the maximum number of categories in an error message
# The missing value of each kind of dtype that has one.
ABSENT: dict[str, Any] = {"f": np.nan, "c": np.nan, "m": "NaT", "M": "NaT"}
STRING_DTYPES: dict[str, np.dtype[Any]] = {
    repr(dtype): dtype
    for dtype in (
        np.dtypes.StringDType(),
        np.dtypes.StringDType(na_object=None),
        np.dtypes.StringDType(na_object=np.nan),
    )
}
NO_VALUE = -2  # the class of a row whose missing value was propagated


def decode_matrix(
    schema: Schema, encoded: Any, substitutes: Mapping[Special, Any]
) -> dict[Hashable, AnyArray]:
    """Return a dict of the decoded columns, and of the columns that were not encoded."""
    return decoded_mapping(*decoded_matrix(schema, encoded, substitutes))


def decoded_matrix(
    schema: Schema, encoded: Any, substitutes: Mapping[Special, Any]
) -> tuple[Table, list[Part]]:
    """Return the columns of a decoded matrix, and a table of the columns that were not encoded.

    The matrix is dense or sparse. It has all columns of `transform`, or only the features.
    `substitutes` contains the values to return for missing, unknown and infrequent values.
    """
    others = _others(schema)
    accepted = [schema.n_features, *([schema.n_features + len(others)] if others else [])]
    if encoded.ndim != 2 or encoded.shape[1] not in accepted:
        shapes = " or ".join(f"(n_rows, {width})" for width in accepted)
        raise ValueError(f"encoded must have shape {shapes}, got {encoded.shape}")
    if encoded.dtype.kind not in NUMBERS:
        raise TypeError(f"encoded must hold Booleans or numbers, got dtype {encoded.dtype}")
    if encoded.shape[1] == schema.n_features:
        others = []
    if hasattr(encoded, "tocsc"):
        encoded = encoded.tocsc()
    features = encoded
    if others:
        width = np.arange(encoded.shape[1])
        features = encoded[:, np.delete(width, [place for _, place in others])]
    parts: dict[Hashable, Part] = {}  # by the key of the name
    is_sparse = hasattr(encoded, "tocsc")
    for column, start in zip(schema.columns, schema.starts, strict=False):
        own = slice(start, start + column.n_features)
        part: Decoded | DecodedLists
        if column.is_ragged:
            cells = features[:, own]
            rows = _sparse_labels(column, cells) if is_sparse else labels_of(column, cells, False)
            part = _decoded_rows(column, rows, substitutes)
        elif is_sparse:  # a slice of a sparse matrix would take longer than its few elements
            part = _decoded(column, _sparse_classes(column, features, start), substitutes)
        else:
            classes = classes_of(column, features[:, own], nan_is_null=False)
            part = _decoded(column, classes, substitutes)
        parts[name_key(column.name)] = part
    arrays = []
    for position, (name, place) in enumerate(others):
        if name_key(name) in parts:
            raise ValueError(
                f"two columns are named {name!r}, but the result is a dict with unique names: pass"
                " only the features of the matrix, or decode a DataFrame"
            )
        values = encoded[:, [place]]
        arrays.append((values.toarray() if hasattr(values, "toarray") else values).ravel())
        parts[name_key(name)] = PassThrough(name, position)
    table = ArrayTable([name for name, _ in others], arrays, None, encoded.shape[0])
    keys = name_keys(schema.fitted_names or ()) if others else parts
    return table, [parts[key] for key in keys]


def _others(schema: Schema) -> list[tuple[Hashable, int]]:
    """Return the name of each column that is not encoded, and its position in the matrix."""
    if not schema.has_other_columns:
        return []
    names = schema.fitted_names or ()
    layout = schema.cached_for(names, EncodedLayout)
    return [(names[position], place) for place, position in layout.others]


def decoded_parts(table: Table, schema: Schema, substitutes: Mapping[Special, Any]) -> list[Part]:
    """Return the columns of the decoded table, in which decoded columns replace the features.

    The encoded table must have all features of the schema.
    """
    layout = schema.cached_for(table.names, DecodedLayout)
    table.check_complete(layout.features)
    starts = schema.starts
    decoded: list[Decoded | DecodedLists] = []
    max_features = max(1, SMALL_CELLS // max(1, table.n_rows))
    for _, run in groupby(range(len(schema.columns)), lambda i: starts[i] // max_features):
        indices = [*run]
        first, last = starts[indices[0]], starts[indices[-1] + 1]
        block = table.block(layout.features[first:last]) if first < last else None
        for i in indices:
            column, start, stop = schema.columns[i], starts[i], starts[i + 1]
            if block is None:
                cells = _cells(table, layout.features[start:stop])
            else:
                cells = block[start - first : stop - first]
            if column.is_ragged:
                rows = labels_of(column, cells.T)
                decoded.append(_decoded_rows(column, rows, substitutes))
            else:
                decoded.append(_decoded(column, classes_of(column, cells.T), substitutes))
    return [decoded[part] if isinstance(part, int) else part for part in layout.columns]


def _cells(table: Table, positions: Sequence[int]) -> AnyArray:
    """Return the features of one column as the rows of an array."""
    block = table.block(positions) if positions else None
    if block is None:
        block = np.empty((len(positions), table.n_rows))
        for row, position in zip(block, positions, strict=True):
            row[:] = as_cells(table.to_numpy(position))
    return block


def as_cells(values: AnyArray) -> AnyArray:
    """Return an array of numbers unchanged, and an array of objects as floats.

    A missing object becomes NaN. An object that is not a number becomes infinity.
    """
    if values.dtype.kind in "biufc":
        return values
    cells = np.empty(len(values))
    for i, value in enumerate(values.tolist()):
        try:
            cells[i] = np.nan if is_missing(value) else value
        except (TypeError, ValueError, OverflowError):
            cells[i] = np.inf
    return cells


def classes_of(column: ColumnSchema, cells: AnyArray, *, nan_is_null: bool = True) -> Classes:
    """Return the class of each row: the index of the feature that is 1, or ZERO_ROW or NO_VALUE.

    `cells` contains the features of one column, with shape (n_rows, n_features). NO_VALUE is the
    class of a row whose missing value was propagated as null. The other features of a row must be 0
    or null. NaN counts as null if `nan_is_null`.
    """
    classes = np.full(len(cells), ZERO_ROW, np.int64)
    if cells.size:
        _, on, off = resolve_values(1, 0, cells.dtype)
        # A subclass such as numpy.matrix would not support the next line.
        cells = np.asarray(cells) if cells.flags.forc else np.ascontiguousarray(cells)
        cube = cells[:, :, np.newaxis] if cells.flags.c_contiguous else cells.T[np.newaxis]
        classes, _, several, uneven = scatter.decode(cube, on, off, ZERO_ROW)
        if several >= 0:
            _reject_several(column, several)
        if column.propagates_missing:
            classes[_is_null(cells[:, 0])] = NO_VALUE
        if uneven >= 0:  # an element with other bits than 0 and 1, which may be null or -0.0
            _check_zeros(column, cells, classes, nan_is_null)
    _check_zero_rows(column, classes)
    return classes


def classes_of_bits(
    column: ColumnSchema,
    planes: npt.NDArray[np.uintp],
    starts: npt.NDArray[np.int64],
    n_rows: int,
) -> Classes:
    """Return the class of each row, like `classes_of`, for features that are bitmaps without nulls.

    `planes` are the addresses of the bitmaps, and `starts` their first bits.
    """
    threads = parallel.resolve(None, n_rows * len(planes) // 8)
    classes, several = dispatch.decode_bits(planes, starts, n_rows, threads)
    if several >= 0:
        _reject_several(column, several)
    _check_zero_rows(column, classes)
    return classes


def _is_null(cells: AnyArray) -> npt.NDArray[np.bool_]:
    """Tell which cells are null: missing objects if the dtype is object, else NaN."""
    if cells.dtype == object:
        return np.array([*map(is_missing, cells.flat)], bool).reshape(cells.shape)
    return np.asarray(cells != cells, bool)


def _check_zeros(column: ColumnSchema, rows: AnyArray, classes: Classes, nan_is_null: bool) -> None:
    """Raise an error for the first row with a value other than 0, null and its only 1."""
    checked = np.flatnonzero(classes != NO_VALUE)
    accepts_null = nan_is_null or rows.dtype == object
    for start in range(0, len(checked), step := max(1, SMALL_CELLS // rows.shape[1])):
        numbers = checked[start : start + step]
        block = rows[numbers]
        if accepts_null:
            block = np.where(_is_null(block), 0, block)
        is_odd = np.asarray(block != 0, bool)
        hot = np.flatnonzero(classes[numbers] >= 0)
        is_odd[hot, classes[numbers[hot]]] = False
        if is_odd.any():
            i, feature = np.unravel_index(is_odd.argmax(), is_odd.shape)
            row = int(numbers[i])
            _reject_cell(column, classes, row, int(feature), block[i, feature])


def _reject_cell(
    column: ColumnSchema, classes: Classes, row: int, feature: int, value: Any
) -> NoReturn:
    """Raise the error for a feature that is neither 0 nor 1."""
    n_ones = "no" if classes[row] == ZERO_ROW else "one"
    raise ValueError(
        f"column {column.name!r}, row {row}: {n_ones} feature is 1, and {column.names[feature]!r}"
        f" is {value}, expected 0 or 1; use onehot_fast.decode(scores, rule='argmax') for scores"
    )


def _sparse_classes(column: ColumnSchema, matrix: Any, start: int) -> Classes:
    """Return the class of each row, like `classes_of`, for a SciPy matrix in CSC format."""
    n_rows, ends = matrix.shape[0], matrix.indptr[start : start + column.n_features + 1]
    rows, cells = (each[ends[0] : ends[-1]] for each in (matrix.indices, matrix.data))
    features = np.repeat(np.arange(column.n_features), np.diff(ends))
    is_one = cells == 1
    classes = np.full(n_rows, ZERO_ROW, np.int64)
    if column.propagates_missing:
        classes[rows[np.isnan(cells)]] = NO_VALUE
    rows_of_ones = rows[is_one]
    often = np.flatnonzero(np.bincount(rows_of_ones, minlength=n_rows) > 1)
    if len(often):
        _reject_several(column, int(often[0]))
    classes[rows_of_ones] = features[is_one]
    odd = np.flatnonzero(~is_one & (cells != 0))
    odd = odd[classes[rows[odd]] != NO_VALUE]
    if len(odd):
        first = odd[np.argmin(rows[odd])]
        _reject_cell(column, classes, int(rows[first]), int(features[first]), cells[first])
    return classes


def _reject_several(column: ColumnSchema, row: int) -> NoReturn:
    """Raise the error for a row in which several features of the column are 1."""
    raise ValueError(f"column {column.name!r}, row {row}: more than one feature is 1")


def _check_zero_rows(column: ColumnSchema, classes: Classes) -> None:
    """Raise an error for the first row without a 1, unless zeros encode a value of the column."""
    if not column.zero_row_labels and (classes == ZERO_ROW).any():
        raise ValueError(
            f"column {column.name!r}, row {np.argmax(classes == ZERO_ROW)}: no feature is 1;"
            " exactly one must be 1, because no value of this column is encoded as zeros"
        )


def _decoded(column: ColumnSchema, classes: Classes, substitutes: Mapping[Special, Any]) -> Decoded:
    """Return the decoded values of a column; `classes` is the result of `classes_of`.

    If all decoded values are categories, they have the dtype of the categories.
    """
    _check_zero_rows(column, classes)
    shifted = classes - NO_VALUE
    is_used = np.zeros(column.n_features - NO_VALUE, np.bool_)
    is_used[shifted] = True
    used = np.flatnonzero(is_used)
    if not len(used):
        no_values = column.known.take(range(min(1, len(column.known)))).to_array()[:0]
        return Decoded(column.name, no_values, shifted, column)
    rank = np.cumsum(is_used) - 1
    n_own = len(column.category_of_feature)
    features = used + NO_VALUE
    if features[0] >= 0 and features[-1] < n_own:
        values = column.known.take(column.category_of_feature[features]).to_array()
    else:
        zero_row = next(iter(column.zero_row_labels), None)
        without_one = {NO_VALUE: Special.MISSING, ZERO_ROW: zero_row}
        labels = [column.labels[i] if i >= 0 else without_one[i] for i in features.tolist()]
        values = as_array(
            [substitutes[label] if isinstance(label, Special) else label for label in labels]
        )
    return Decoded(column.name, values, rank[shifted], column)


class LabelRows(NamedTuple):
    """The features that are 1 in each row of a column with several labels in a row."""

    offsets: npt.NDArray[np.int64]  # row i has the features offsets[i]:offsets[i + 1]
    features: npt.NDArray[np.int64]  # in ascending order in each row
    is_missing: npt.NDArray[np.bool_]  # whether the missing value of a row was propagated


def labels_of(column: ColumnSchema, cells: AnyArray, nan_is_null: bool = True) -> LabelRows:
    """Return the features that are 1 in each row; raise an error for another value than 0 and 1.

    `cells` contains the features of one column, with shape (n_rows, n_features). All features are
    null in a row whose missing value was propagated. NaN counts as null if `nan_is_null`.
    """
    cells = np.asarray(cells)
    readable = scatter.comparable(cells)
    if readable is None:
        return _odd_labels(column, cells, np.arange(len(cells)), nan_is_null)
    _, on, off = resolve_values(1, 0, cells.dtype)
    threads = parallel.resolve(None, cells.nbytes)
    lengths, is_odd = dispatch.count_ones(readable, on, off, threads)
    # Rows with elements that have other bits than 0 and 1, which may be null or -0.0.
    odd = np.flatnonzero(is_odd)
    others = _odd_labels(column, cells, odd, nan_is_null)
    lengths[odd] = np.diff(others.offsets)
    offsets = starts_of(lengths)
    features = dispatch.find_ones(readable, on, off, offsets, threads)
    shifts = np.repeat(offsets[odd] - others.offsets[:-1], lengths[odd])
    features[np.arange(len(shifts)) + shifts] = others.features
    is_missing = np.zeros(len(cells), np.bool_)
    is_missing[odd] = others.is_missing
    return LabelRows(offsets, features, is_missing)


def _odd_labels(
    column: ColumnSchema, cells: AnyArray, rows: npt.NDArray[np.intp], nan_is_null: bool
) -> LabelRows:
    """Return the features that are 1 in some rows, like `labels_of`, for elements of any kind."""
    lengths, is_missing = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
    found = [np.zeros(0, np.int64)]
    n_features = cells.shape[1]
    step = max(1, SMALL_CELLS // max(1, n_features))
    for start in range(0, len(rows) if n_features else 0, step):
        block = cells[rows[start : start + step]]
        is_null, is_one = _is_null(block), np.asarray(block == 1, bool)
        is_absent = np.zeros(len(block), np.bool_)
        if column.propagates_missing:
            is_absent = is_null[:, 0]
        is_bad = ~is_one & np.asarray(block != 0, bool) & ~is_absent[:, np.newaxis]
        if nan_is_null or block.dtype == object:
            is_bad &= ~is_null
        if is_bad.any():
            row, feature = np.unravel_index(is_bad.argmax(), is_bad.shape)
            _reject_label(column, int(rows[start + row]), int(feature), block[row, feature])
        is_missing[start : start + step] = is_absent
        lengths[start : start + step] = is_one.sum(axis=1)
        found.append(np.nonzero(is_one)[1])
    return LabelRows(starts_of(lengths), np.concatenate(found), is_missing)


def _sparse_labels(column: ColumnSchema, features: Any) -> LabelRows:
    """Return the features that are 1 in each row of a SciPy matrix, like `labels_of`."""
    rows = features.tocsr().copy()
    rows.sum_duplicates()  # also sorts the indices; a sum of ones is rejected
    n_rows = rows.shape[0]
    row_of = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    is_one, is_missing = rows.data == 1, np.zeros(n_rows, np.bool_)
    if column.propagates_missing:
        is_missing[row_of[np.isnan(rows.data)]] = True
    is_odd = ~is_one & (rows.data != 0) & ~is_missing[row_of]
    if is_odd.any():
        first = int(is_odd.argmax())
        _reject_label(column, int(row_of[first]), int(rows.indices[first]), rows.data[first])
    lengths = np.bincount(row_of[is_one], minlength=n_rows)
    return LabelRows(starts_of(lengths), rows.indices[is_one].astype(np.int64), is_missing)


def _reject_label(column: ColumnSchema, row: int, feature: int, value: Any) -> NoReturn:
    """Raise the error for a feature of a label that is neither 0 nor 1."""
    raise ValueError(
        f"column {column.name!r}, row {row}: {column.names[feature]!r} is {value}, expected 0 or 1;"
        " for scores, pass e.g. scores > 0.5"
    )


def with_missing_rows(column: ColumnSchema, rows: LabelRows) -> LabelRows:
    """Return rows of which each one whose only label is the missing one is a missing row."""
    lengths, is_absent = np.diff(rows.offsets), rows.is_missing.copy()
    if column.missing_feature >= 0:
        firsts = np.append(rows.features, -1)[rows.offsets[:-1]]
        is_absent |= (lengths == 1) & (firsts == column.missing_feature)
    features = rows.features[~np.repeat(is_absent, lengths)]
    return LabelRows(starts_of(np.where(is_absent, 0, lengths)), features, is_absent)


def _decoded_rows(
    column: ColumnSchema, rows: LabelRows, substitutes: Mapping[Special, Any]
) -> Decoded | DecodedLists:
    """Return the decoded rows of a column with several labels in a row.

    The labels of a row are in the order of the features. They are joined if `fit` saw texts. A row
    whose only label is the missing one is missing.
    """
    offsets, features, is_absent = with_missing_rows(column, rows)
    lists = DecodedLists(column.name, _decoded(column, features, substitutes), offsets, is_absent)
    absent = substitutes[Special.MISSING]
    if column.learned.is_split and column.options.sep is not None:
        return _joined(lists, absent)
    if is_absent.any() and not is_missing(absent):  # a list whose only label is the substitute
        return _with_substitute(lists, absent)
    return lists


def _with_substitute(lists: DecodedLists, substitute: Any) -> DecodedLists:
    """Return decoded lists in which a missing row has one label, the substitute."""
    labels, lengths = lists.labels, np.diff(lists.offsets)
    distinct = as_array([*labels.distinct.tolist(), substitute])
    places = lists.offsets[:-1][lists.is_missing]
    positions = np.insert(labels.positions.astype(np.int64), places, len(distinct) - 1)
    return DecodedLists(
        lists.name,
        replace(labels, distinct=distinct, positions=positions),
        starts_of(np.where(lists.is_missing, 1, lengths)),
        np.zeros_like(lists.is_missing),
    )


def _joined(lists: DecodedLists, absent: Any) -> Decoded:
    """Return the labels of each row as a text; `absent` stands for a missing row.

    Labels whose substitute is None are left out.
    """
    column = lists.labels.schema
    sep = str(column.options.sep)
    place_of: dict[Any, int] = {}
    positions = np.empty(len(lists.is_missing), np.int64)
    for i, row in enumerate(lists.tolist()):
        labels = [label for label in row or () if label is not None]
        for label in labels:
            if not isinstance(label, str):
                raise ValueError(
                    f"column {column.name!r}, row {i}: {label!r} is no text, so that it cannot be"
                    f" joined with {sep!r}: pass unknown= and infrequent= as texts, or as None to"
                    " leave such labels out"
                )
        value = absent if row is None else sep.join(labels)
        positions[i] = place_of.setdefault(value, len(place_of))
    return Decoded(column.name, as_array(place_of), positions, column)


def possible_specials(column: ColumnSchema) -> list[Special]:
    """Return the special values that may be decoded, in any row of any encoded table."""
    in_zeros = [label for label in column.zero_row_labels if isinstance(label, Special)][:1]
    if column.is_ragged:  # a row of zeros has no labels
        in_zeros = []
    propagated = [Special.MISSING] if column.propagates_missing else []
    return list(dict.fromkeys([*propagated, *in_zeros, *column.specials]))


def every_value(column: ColumnSchema, substitutes: Mapping[Special, Any]) -> Decoded | DecodedLists:
    """Return a decoded column that has each value that may be decoded, in any row, once.

    If rows have several labels, each label is in a row of its own.
    """
    if column.is_ragged:
        ends = np.minimum(np.arange(column.n_features + 2), column.n_features)
        is_missing = np.zeros(column.n_features + 1, np.bool_)
        is_missing[-1] = column.propagates_missing
        rows = LabelRows(ends, np.arange(column.n_features), is_missing)
        return _decoded_rows(column, rows, substitutes)
    used = [substitutes[special] for special in possible_specials(column)]
    values = as_array([*column.categories, *used]) if used else column.known.to_array()
    return Decoded(column.name, values, np.arange(len(values)), column)


def holds_categories(schema: Schema, names: Sequence[Hashable]) -> bool:
    """Tell whether a table has all columns that `fit` encoded, by name, but not all features."""
    found = {*name_keys(names)}
    return found.issuperset(name_key(column.name) for column in schema.columns) and not (
        found.issuperset(schema.names)
    )


def category_parts(table: Table, schema: Schema, substitutes: Mapping[Special, Any]) -> list[Part]:
    """Decode a table that was encoded with ``output="category"``, and return its columns."""
    schema.check_plain("the inverse_transform of output='category'")
    parts: list[Part] = [PassThrough(name, i) for i, name in enumerate(table.names)]
    triples = zip(
        schema.columns,
        schema.of_categories.columns,
        schema.positions_in(table.names),
        strict=True,
    )
    for column, grouped, position in triples:
        read = table.read_column(position).encode()
        known = categories_of_features(grouped, as_text=table.library == "polars")
        classes = np.append(known.find(Categories.of(read.categories)), ZERO_ROW)[read.codes]
        is_unknown = (classes < 0) & (read.codes >= 0)
        if is_unknown.any():
            row = int(is_unknown.argmax())
            value = read.categories[read.codes[row]]
            raise ValueError(
                f"column {column.name!r}, row {row}: {value!r} is not one of the encoder's"
                f" categories {known.tolist()[:SOME_VALUES]!r}"
            )
        # A null never means a dropped category: categorical output drops no category.
        nulls = [Special.MISSING] if column.propagates_missing else []
        meaning = replace(grouped, zero_row_labels=(*nulls, *grouped.zero_row_labels))
        parts[position] = _decoded(meaning, classes, substitutes)
    return parts


class DecodedLayout:
    """The columns that `inverse_transform` returns for tables with the column names `names`.

    A decoded column replaces its features. If an encoded column has no features, it is inserted
    after the columns that preceded it in `fit`. Raise a ValueError if a feature is absent or its
    name is duplicated.
    """

    def __init__(self, schema: Schema, names: Sequence[Hashable]) -> None:
        # What an integration makes for the next table with these names, by a key that names it.
        self.of_library: Cache[Any] = Cache(MAX_OF_LIBRARIES)
        # The position of each feature of the schema in the encoded table.
        self.features: list[int] = column_positions(names, schema.names)
        named = zip(names, name_keys(names), strict=True)
        owner: dict[Hashable, int] = {
            name: i for i, column in enumerate(schema.columns) for name in column.names
        }
        every = (owner.get(key, PassThrough(name, i)) for i, (name, key) in enumerate(named))
        # The columns of the decoded table; an int is an index of `schema.columns`.
        self.columns: list[PassThrough | int] = list(dict.fromkeys(every))
        if not all(column.n_features for column in schema.columns):
            self.columns = _with_empty_columns(schema, self.columns)


def _with_empty_columns(
    schema: Schema, columns: Sequence[PassThrough | int]
) -> list[PassThrough | int]:
    """Return the columns of a `DecodedLayout` with the encoded columns that have no features."""
    encoded = name_keys([column.name for column in schema.columns])
    order = encoded if schema.fitted_names is None else name_keys(schema.fitted_names)
    rank_of: dict[Hashable, int] = {}
    for rank, key in enumerate(order):
        rank_of.setdefault(key, rank)
    place_of: dict[int, int] = {}  # from a rank to the last place of a column with this rank
    for place, part in enumerate(columns):
        key = encoded[part] if isinstance(part, int) else name_key(part.name)
        if key in rank_of:
            place_of[rank_of[key]] = place
    empty = {rank_of[key]: i for i, key in enumerate(encoded) if not schema.columns[i].n_features}
    after: dict[int, list[int]] = {}  # from a place to the columns inserted after it
    last = -1
    for rank in range(len(order)):
        if rank in empty:
            after.setdefault(last, []).append(empty[rank])
        last = max(last, place_of.get(rank, -1))
    found: list[PassThrough | int] = [*after.get(-1, ())]
    for place, part in enumerate(columns):
        found += [part, *after.get(place, ())]
    return found


def decoded_mapping(table: Table, parts: Sequence[Part]) -> dict[Hashable, AnyArray]:
    """Return the columns of a decoded table as a dict from names to arrays."""
    columns: dict[Hashable, AnyArray] = {}
    for part in parts:
        if isinstance(part, PassThrough):
            columns[part.name] = table.to_numpy(part.position)
        elif isinstance(part, Decoded):
            columns[part.name] = _numpy_values(part)
        elif isinstance(part, DecodedLists):
            columns[part.name] = as_objects(part.tolist())
    return columns


def _numpy_values(part: Decoded) -> AnyArray:
    """Return the values as an array, with the column's dtype in `fit` if it can hold them all."""
    distinct = part.distinct
    fitted = _common_dtype(part.types_in("numpy"))
    if fitted is not None and fitted != distinct.dtype:
        cast = _as_dtype(distinct, fitted)
        distinct = cast if cast is not None and part.holds(cast) else distinct
    return distinct[part.positions]


def _common_dtype(names: Sequence[str]) -> np.dtype[Any] | None:
    """Return the common dtype of the arrays that `fit` read, or None if there is none."""
    try:
        dtypes = [*map(dtype_of_name, names)]
        # `result_type` loses the byte order.
        return np.result_type(*dtypes) if len(dtypes) > 1 else dtypes[0] if dtypes else None
    except TypeError:  # e.g. of texts and times, or a name of a newer NumPy
        return None


def dtype_of_name(name: str) -> np.dtype[Any]:
    """Return the dtype that `Table.type_of` names; raise TypeError for an unknown name."""
    dtype = STRING_DTYPES.get(name)
    return np.dtype(name) if dtype is None else dtype


def _as_dtype(values: AnyArray, dtype: np.dtype[Any]) -> AnyArray | None:
    """Return values in a dtype, with its own missing value, or None if it cannot hold them."""
    if values.dtype != object:
        try:
            return values.astype(dtype)
        except (TypeError, ValueError):
            return None
    is_absent = np.array([is_missing(value) for value in values], np.bool_)
    absent = getattr(dtype, "na_object", None) if dtype.kind == "T" else ABSENT.get(dtype.kind)
    has_absent = dtype.kind in ABSENT or hasattr(dtype, "na_object")
    if is_absent.any() and not has_absent:
        return None
    found = np.empty(len(values), dtype)
    try:
        found[~is_absent] = np.array(values[~is_absent].tolist(), dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    if is_absent.any():
        found[is_absent] = absent
    return found
