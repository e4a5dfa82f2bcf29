"""Turn the features that are 1 in each row into decoded values, whose type no row decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast import Special
from onehot_fast.adapter import (
    ColumnSchema,
    LabelRows,
    identities,
    possible_specials,
    with_missing_rows,
)

from ._read import is_list_type
from ._types import (
    RowsWriter,
    cast_to,
    converted,
    fitted_type,
    layers,
    plain_type,
    rows_writer,
    scalar_array,
    taken,
)
from ._values import MAX_OFFSET, array_of_numbers, as_values, common_values

# Per row: the index of the feature that is one, -1 for zeros, -2 for a propagated missing value.
Classes: TypeAlias = npt.NDArray[np.int64]
# Which features are 1 in each row: at most one, or any number if rows have several labels.
Ones: TypeAlias = Classes | LabelRows
# Tells whether a file format can hold an array.
CanHold: TypeAlias = Callable[[pa.Array], bool]
# Returns the decoded values of some rows.
Decoder: TypeAlias = Callable[[Any], pa.Array | pa.ChunkedArray]
Substitutes: TypeAlias = Mapping[Special, Any]

CODABLE = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
TEXTS = pa.string(), pa.large_string(), pa.string_view()


def decoder(
    column: ColumnSchema, substitutes: Substitutes, can_hold: CanHold, texts_as_codes: bool
) -> tuple[pa.DataType, Decoder]:
    """Return the type of decoded values, and the function that decodes the ones of a batch.

    Neither depends on rows. The arguments are those of `decode_for`.
    """
    if column.is_ragged:
        is_joined = column.learned.is_split and column.options.sep is not None
        return (_texts_decoder if is_joined else _lists_decoder)(column, substitutes, can_hold)
    kind, write = _values_writer(column, fitted_type(column), substitutes, can_hold)
    if texts_as_codes and kind in CODABLE:
        values = write(np.arange(len(column.known) + len(Special)))
        keys = identities(as_values(values))
        kind, write = rows_writer(values, pa.dictionary(pa.int32(), kind), keys)
    n_categories = len(column.known)
    position_of = _positions_of_specials(column)
    missing = position_of[Special.MISSING]
    zero_row = column.zero_row_labels[0] if column.zero_row_labels else Special.MISSING
    dropped = int(np.argmax(column.feature_of_category < 0)) if n_categories else missing
    by_class = column.category_of_feature.tolist()
    by_class += [position_of[special] for special in column.specials]
    # The last two entries are for class -2 (a propagated missing value) and -1 (all zeros).
    by_class += [missing, position_of.get(zero_row, dropped)]
    position = np.array(by_class)
    return kind, lambda classes: write(position[classes])


def _positions_of_specials(column: ColumnSchema) -> dict[Special, int]:
    """Return the position of each special value in the values of `_values_writer`."""
    return {special: len(column.known) + i for i, special in enumerate(Special)}


def _values_writer(
    column: ColumnSchema, fitted: pa.DataType | None, substitutes: Substitutes, can_hold: CanHold
) -> tuple[pa.DataType, RowsWriter]:
    """Return the type of decoded values, and a function that writes the values at positions.

    The values are the categories, and then the substitutes. The type is `fitted` if it can
    represent all categories and all substitutes that may be decoded. Otherwise it is the type of
    the categories.
    """
    possible = possible_specials(column)
    used = [substitutes.get(special) if special in possible else None for special in Special]
    categories = common_values(column.categories, f"column {column.name!r}")
    if fitted is not None:
        keys = [*identities(column.categories), *identities(used)]
        known = converted(categories, plain_type(fitted), keys[: len(categories)])
        specials = [scalar_array(value, plain_type(fitted)) for value in used]
        if known is not None and all(special is not None for special in specials):
            values = pa.concat_arrays([known, *specials])
            for kind in (fitted, values.type):
                found, write = rows_writer(values, kind, keys)
                if can_hold(write(np.array([0, len(values) - 1]))):
                    return found, write
    specials = [
        _substitute(column, special, value, categories.type)
        for special, value in zip(Special, used, strict=True)
    ]
    values = pa.concat_arrays([categories, *specials])
    return values.type, lambda positions: taken(values, positions)


def _substitute(column: ColumnSchema, special: Special, value: Any, kind: pa.DataType) -> pa.Array:
    """Return an array of one element that replaces missing, unknown or infrequent values."""
    array = scalar_array(value, kind)
    if array is None:
        raise TypeError(
            f"{special.value} must be of type {kind}, the type of column {column.name!r}, got"
            f" {value!r}"
        )
    return array


# ---- Rows of several labels ----


def _lists_decoder(
    column: ColumnSchema, substitutes: Substitutes, can_hold: CanHold
) -> tuple[pa.DataType, Decoder]:
    """Return the results of `decoder` for lists of labels."""
    fitted = fitted_type(column)
    while isinstance(fitted, pa.BaseExtensionType):
        fitted = fitted.storage_type
    if fitted is None or not is_list_type(fitted):
        fitted = pa.list_(pa.null())
    lists: Any = partial(_list_type, fitted)
    if not can_hold(_lists(lists(pa.int8()), np.arange(3), pa.nulls(2, pa.int8()))):
        lists = pa.list_
    element = None if pa.types.is_null(fitted.value_type) else fitted.value_type
    if element is not None and any(map(pa.types.is_run_end_encoded, layers(element))):
        element = plain_type(element)  # runs would have to end with a batch

    def can_hold_lists(labels: pa.Array) -> bool:
        return can_hold(_lists(lists(labels.type), np.arange(len(labels) + 1), labels))

    label, write = _values_writer(column, element, substitutes, can_hold_lists)
    kind, labels_in = lists(label), _labels_reader(column, substitutes)
    substitute = substitutes.get(Special.MISSING)
    missing = _positions_of_specials(column)[Special.MISSING]

    def decoded(rows: LabelRows) -> pa.Array:
        offsets, positions, is_missing = labels_in(rows)
        if substitute is not None:  # a missing row has one label, the substitute
            positions = np.insert(positions, offsets[:-1][is_missing], missing)
            offsets = offsets + np.append(0, np.cumsum(is_missing))
            is_missing = np.zeros_like(is_missing)
        return _lists(kind, offsets, write(positions), is_missing)

    return kind, decoded


def _list_type(fitted: pa.DataType, element: pa.DataType) -> pa.DataType:
    """Return the type of lists like `fitted` with other elements, and of any size."""
    makers: dict[Any, Any] = {
        pa.types.is_large_list: pa.large_list,
        pa.types.is_list_view: pa.list_view,
        pa.types.is_large_list_view: pa.large_list_view,
    }
    make = next((make for fits, make in makers.items() if fits(fitted)), pa.list_)
    return make(pa.field(fitted.value_field.name, element))


def _lists(
    kind: pa.DataType,
    offsets: npt.NDArray[np.int64],
    labels: pa.Array,
    is_missing: npt.NDArray[np.bool_] | None = None,
) -> pa.Array:
    """Return lists of a type; list ``i`` has the labels ``offsets[i]:offsets[i + 1]``."""
    mask = None
    if is_missing is not None and is_missing.any():
        mask = array_of_numbers(is_missing)
    is_large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    if not is_large and len(labels) > MAX_OFFSET:
        raise ValueError(
            f"{len(labels):,} labels are too many for an array of type {kind}: decode the table in"
            " batches, with decode(table.to_reader(), ...)"
        )
    numbers = offsets.astype(np.int64 if is_large else np.int32)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        make = pa.LargeListViewArray if is_large else pa.ListViewArray
        starts, sizes = numbers[:-1], np.diff(numbers)
        return make.from_arrays(
            array_of_numbers(starts), array_of_numbers(sizes), labels, type=kind, mask=mask
        )
    make = pa.LargeListArray if is_large else pa.ListArray
    return make.from_arrays(array_of_numbers(numbers), labels, type=kind, mask=mask)


def _labels_reader(
    column: ColumnSchema, substitutes: Substitutes
) -> Callable[[LabelRows], LabelRows]:
    """Return a function from the features of each row to positions in `_values_writer`'s values.

    Labels that have no substitute are left out.
    """
    position_of = {
        special: position if special in substitutes else -1
        for special, position in _positions_of_specials(column).items()
    }
    by_feature = column.category_of_feature.tolist()
    by_feature = np.array([*by_feature, *map(position_of.get, column.specials)], np.int64)

    def labels_in(rows: LabelRows) -> LabelRows:
        offsets, features, is_missing = with_missing_rows(column, rows)
        positions = by_feature[features]
        is_kept = positions >= 0
        if not is_kept.all():
            offsets = np.append(0, np.cumsum(is_kept))[offsets]
            positions = positions[is_kept]
        return LabelRows(offsets, positions, is_missing)

    return labels_in


def _texts_decoder(
    column: ColumnSchema, substitutes: Substitutes, can_hold: CanHold
) -> tuple[pa.DataType, Decoder]:
    """Return the results of `decoder` for texts of labels with a separator.

    A text has no null labels, so those whose substitute is None are left out.
    """
    substitutes = {special: one for special, one in substitutes.items() if one is not None}
    labels_in, sep = _labels_reader(column, substitutes), str(column.options.sep)
    values = [*column.categories, *map(substitutes.get, Special)]
    texts = pa.array([v if isinstance(v, str) else None for v in values], pa.large_string())
    absent = substitutes.get(Special.MISSING)
    if not isinstance(absent, str | None):
        raise TypeError(f"missing must be a str or None for column {column.name!r}, got {absent!r}")
    fitted = fitted_type(column)
    kind = pa.string() if fitted is None else plain_type(fitted)
    if kind not in TEXTS or not can_hold(cast_to(pa.array(["", None]), kind)):
        kind = pa.string()

    def decoded(rows: LabelRows) -> pa.Array:
        offsets, positions, is_missing = labels_in(rows)
        labels = texts.take(array_of_numbers(positions))
        if labels.null_count:
            place = int(np.argmax(labels.is_null().to_numpy(zero_copy_only=False)))
            row = int(np.searchsorted(offsets, place, side="right")) - 1
            raise ValueError(
                f"column {column.name!r}, row {row}: {values[positions[place]]!r} is no text, so"
                f" that it cannot be joined with {sep!r}: pass texts as missing=, unknown= and"
                " infrequent=, or None to leave such labels out"
            )
        lists = _lists(pa.large_list(labels.type), offsets, labels)
        joined = pc.binary_join(lists, pa.scalar(sep, labels.type))
        if is_missing.any():
            joined = pc.if_else(
                array_of_numbers(~is_missing), joined, pa.scalar(absent, joined.type)
            )
        return cast_to(joined, kind)

    return kind, decoded
