"""Classes that are given, as the schema of a column that no encoder learned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._categories.keys import keys
from onehot_fast._categories.options import ColumnOptions, declared_categories
from onehot_fast._categories.schema import ColumnSchema

__all__ = ["column_of", "given_classes", "labels_of"]


def given_classes(categories: Any) -> tuple[Any, ...]:
    """Return classes in the order in which they are given.

    Raises
    ------
    TypeError, ValueError
        They are no sequence of scalars, one is missing, or two are equal.
    """
    if isinstance(categories, pa.Array | pa.ChunkedArray):
        categories = categories.to_pylist()
    known = declared_categories(categories, "categories")
    if known is None:
        raise ValueError("categories = 'auto' is not accepted here")
    return known


def column_of(categories: Any, element: np.dtype[Any]) -> ColumnSchema:
    """Return the schema in which all else than the classes is off; names are the classes alone."""
    labels = given_classes(categories)
    options = ColumnOptions(
        labels, handle_unknown="ignore", dtype=element, prefix="", prefix_sep=""
    )
    places = {key: at for at, key in enumerate(keys(labels))}
    return ColumnSchema("array", options, labels, labels, places, ())


def labels_of(categories: Iterable[Any]) -> npt.NDArray[np.object_]:
    """Return categories as an array of objects, whatever they are."""
    items = list(categories)
    array = np.empty(len(items), object)
    array[:] = items
    return array
