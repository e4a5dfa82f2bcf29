"""What the outputs of a column stand for, as values of one type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._categories.keys import keys
from onehot_fast._categories.schema import ColumnSchema, Special
from onehot_fast._encode.decode import NO_VALUE, meanings_of
from onehot_fast.integrations.arrow.values import common_values

__all__ = ["Meanings"]


class Meanings:
    """The values of a column's outputs, in the order of the classes, and what stands for others.

    Parameters
    ----------
    column : ColumnSchema
    words : mapping of Special to scalar
        What stands for what is no category; None is null.

    Attributes
    ----------
    type : pyarrow.DataType

    Raises
    ------
    TypeError
        The categories have no common type, or a word is not of it.
    """

    def __init__(self, column: ColumnSchema, words: Mapping[Special, Any]) -> None:
        self._column = column
        categories = common_values(column.categories, f"column {column.name!r}")
        self.type = categories.type
        substitutes = {one: _substitute(column, one, words[one], self.type) for one in Special}
        values = pa.concat_arrays([categories, *substitutes.values()])
        place = dict(zip(keys(column.categories), range(len(categories)), strict=True))
        places = {one: len(categories) + at for at, one in enumerate(substitutes)}
        every = meanings_of(column, np.empty(0, np.int64))
        positions = [
            places[one] if isinstance(one, Special) else place[keys([one])[0]] for one in every
        ]
        self._values = values.take(pa.array(positions, pa.int64()))

    def of(self, classes: npt.NDArray[np.int64]) -> pa.Array:
        """Return the values of the rows, or refuse one that stands for nothing."""
        meanings_of(self._column, classes)
        return self._values.take(pa.array(classes - NO_VALUE))


def _substitute(column: ColumnSchema, special: Special, word: Any, kind: pa.DataType) -> pa.Array:
    """Return what stands for a special value, of the type of the categories."""
    try:
        return pa.array([word], kind)
    except (pa.ArrowException, TypeError, OverflowError, ValueError) as error:
        raise TypeError(
            f"{special.value} = {word!r} is no {kind}, the type of column {column.name!r}: {error}"
        ) from None
