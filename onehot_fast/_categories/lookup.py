"""From the categories of the data at hand to output columns: decided once per category.

The table of a column (see `dispatch.encode_matrix`) gives each local code its output column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.grouping import shortened
from onehot_fast._categories.keys import keys, plain
from onehot_fast._categories.schema import ColumnSchema

AnyArray: TypeAlias = npt.NDArray[Any]

UNKNOWN = -2  # beside the places of the schema, where -1 is a category without a column


def table_of(
    schema: ColumnSchema,
    codes: AnyArray,
    categories: AnyArray,
    start: int,
    places: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int32]:
    """Return the table of a column whose output begins at `start`, or refuse a row of it.

    `places` is what `places_of` returns, where the categories were met before.
    """
    if schema.options.handle_missing == "error":
        check_no_missing(schema.name, codes)
    if places is None:
        places = places_of(schema, categories)
    is_unknown = places == UNKNOWN
    if is_unknown[:-1].any():
        if schema.options.handle_unknown == "error":
            check_known(schema.name, schema.categories, codes, categories, is_unknown)
        places = np.where(is_unknown, schema.unknown_place, places)
    return np.where(places >= 0, places + start, -1).astype(np.int32)


def places_of(schema: ColumnSchema, categories: AnyArray) -> npt.NDArray[np.int64]:
    """Return the output column of each local category, and in the last entry of a missing value."""
    known = schema.places
    found = (known.get(key, UNKNOWN) for key in _keys(categories))
    places = np.fromiter(found, np.int64, len(categories))
    return np.append(places, schema.missing_place)


def _keys(categories: AnyArray) -> Iterable[Any]:
    """Return the keys of an array; the elements of its plain dtypes are their own."""
    if categories.dtype.kind in "iubSUT":
        plain_values: list[Any] = categories.tolist()
        return plain_values
    return keys(categories)


def check_no_missing(name: Any, codes: AnyArray) -> None:
    """Refuse the first row without a value."""
    if codes.dtype.kind == "i" and codes.size and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"column {name!r}, row {row}: the value is missing; handle_missing= accepts 'ignore',"
            " 'indicator' and 'propagate' beside 'error'"
        )


def check_known(
    name: Any,
    known: Sequence[Any],
    codes: AnyArray,
    categories: AnyArray,
    is_unknown: npt.NDArray[np.bool_],
) -> None:
    """Refuse the first row whose value is unknown; a category without rows offends nobody."""
    # A missing code finds the last entry, which is that of -1.
    rows = is_unknown[codes if codes.dtype.kind == "u" else np.maximum(codes, -1)]
    if rows.any():
        row = int(np.argmax(rows))
        value = plain(categories[codes[row]])
        raise ValueError(
            f"column {name!r}, row {row}: {value!r} is unknown; the categories are"
            f" {shortened(known)}; handle_unknown= accepts 'ignore', 'indicator' and 'infrequent'"
            " beside 'error'"
        )
