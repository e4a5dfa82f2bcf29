"""When each output of a column is on, said without any rows: for engines that encode by themselves.

All policies are in it: what is dropped, infrequent, unknown or missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from onehot_fast._schema.schema import ColumnSchema, Special


@dataclass(frozen=True, eq=False)
class Condition:
    """What has to be true of a value.

    Attributes
    ----------
    kind : {"among", "outside", "missing"}
        It is one of some categories; it is there and none of them; it is missing.
    positions : ndarray of int64
        Those of the categories, in ``ColumnSchema.known``; none for "missing".
    """

    kind: Literal["among", "outside", "missing"]
    positions: npt.NDArray[np.int64]


def conditions(column: ColumnSchema) -> list[Condition]:
    """Return when each output of a column is on, in their order."""
    features = [Condition("among", column.labelled[i : i + 1]) for i in range(len(column.labelled))]
    for special in column.specials:
        if special is Special.MISSING:
            features.append(_MISSING)
        elif special is Special.UNKNOWN:
            features.append(_unknown(column))
        elif column.options.handle_unknown == "infrequent":
            features.append(Condition("outside", np.flatnonzero(~column.is_infrequent)))
        else:
            features.append(Condition("among", np.flatnonzero(column.is_infrequent)))
    return features


def refusals(column: ColumnSchema) -> list[Condition]:
    """Return when a value of a column is refused."""
    refused = [_MISSING] if column.options.handle_missing == "error" else []
    return refused + ([_unknown(column)] if column.options.handle_unknown == "error" else [])


def _unknown(column: ColumnSchema) -> Condition:
    return Condition("outside", np.arange(len(column.known)))


_MISSING = Condition("missing", np.empty(0, np.int64))
