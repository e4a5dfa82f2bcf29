"""From the categories of the data at hand to output columns: decided once per category.

The look-up table of a column (see `CodedColumn`) gives each code its output column; its last entry
is that of a missing value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.grouping import shortened
from onehot_fast._categories.keys import plain
from onehot_fast._categories.review import UnknownValueError
from onehot_fast._categories.schema import UNKNOWN, ColumnSchema

AnyArray: TypeAlias = npt.NDArray[Any]

# So few codes Python looks through in less time than NumPy.
FEW_CODES = 64
# How a refusal says what to do.
ACCEPTING_UNKNOWN = "handle_unknown='ignore' (or 'warn', 'indicator', 'infrequent')"
# It names so many categories.
SOME_CATEGORIES = 6


def codes_of_known(schema: ColumnSchema, codes: npt.NDArray[np.int32]) -> AnyArray | None:
    """Return the positions of known categories as codes for `ColumnSchema.lut`.

    `codes` are those of `Values.lookup`, and changed in place. None where a row is refused.
    """
    lowest = min(codes.tolist(), default=0) if len(codes) <= FEW_CODES else int(codes.min())
    if lowest >= 0:
        return codes
    options = schema.options
    if options.handle_missing == "error" and (codes == -1).any():
        return None
    if lowest == UNKNOWN:
        if options.handle_unknown == "error":
            return None
        codes[codes == UNKNOWN] = len(schema.known)
    return codes


def lut_of(
    schema: ColumnSchema,
    codes: AnyArray,
    categories: Any,
    outputs: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int32]:
    """Return the look-up table of a column, code → output column, or refuse a row of it.

    `outputs` is what `ColumnSchema.outputs_of` returns, where the categories were met before.
    """
    if schema.options.handle_missing == "error":
        check_no_missing(schema.name, codes)
    if outputs is None:
        outputs = schema.outputs_of(categories)
    is_unknown = outputs == UNKNOWN
    if is_unknown[:-1].any():
        if schema.options.handle_unknown == "error":
            check_known(schema.name, schema.known, codes, categories, is_unknown)
        outputs = np.where(is_unknown, schema.unknown_output, outputs)
    return np.maximum(outputs, -1).astype(np.int32)


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
    known: Categories,
    codes: AnyArray,
    categories: Any,
    is_unknown: npt.NDArray[np.bool_],
) -> None:
    """Refuse the first row whose value is unknown; a category without rows offends nobody."""
    # A missing code finds the last entry, which is that of -1.
    rows = is_unknown[codes if codes.dtype.kind == "u" else np.maximum(codes, -1)]
    if rows.any():
        row = int(np.argmax(rows))
        value = plain(categories[codes[row]])
        raise UnknownValueError(
            f"column {name!r}, row {row}: {shown(value)} is unknown; {ACCEPTING_UNKNOWN} accepts"
            f" it; the categories are {shortened(known, SOME_CATEGORIES)}"
        )
