"""Codes in place of outputs: one number for each category, and the same reserved ones everywhere.

A schema of codes is a `Schema` like any other, of which no output is ever written: each entry of
its look-up tables is a code. So the codes obey every policy as the outputs do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects
from onehot_fast._schema.listing import Listing
from onehot_fast._schema.schema import ColumnSchema, Schema, Special

# The same in every column; the categories follow.
RESERVED = {Special.MISSING: 0, Special.UNKNOWN: 1, Special.INFREQUENT: 2}


def coding(schema: Schema, names: tuple[Hashable, ...] = ()) -> Schema:
    """Return the schema whose outputs are codes; `names` is for `Schema.remember`."""
    return dataclasses.replace(schema, columns=tuple(map(_codes_of, schema.columns)))


def _codes_of(column: ColumnSchema) -> ColumnSchema:
    own = ~column.is_infrequent
    codes = np.where(own, own.cumsum() + len(RESERVED) - 1, RESERVED[Special.INFREQUENT])
    n_codes = len(RESERVED) + int(own.sum())
    return dataclasses.replace(
        column,
        outputs=codes.astype(np.int32),
        specials=RESERVED,
        n_outputs=n_codes,
        zero_row_labels=(),
    )


def grouping(schema: Schema, names: tuple[Hashable, ...] = ()) -> Schema:
    """Return the schema whose outputs are the levels of a categorical column: none is dropped."""
    return dataclasses.replace(schema, columns=tuple(map(_levels_of, schema.columns)))


def _levels_of(column: ColumnSchema) -> ColumnSchema:
    is_frequent, options = ~column.is_infrequent, column.options
    has_level = [Special.INFREQUENT] if not is_frequent.all() else []
    has_level += [Special.UNKNOWN] if options.handle_unknown == "indicator" else []
    has_level += [Special.MISSING] if options.handle_missing == "indicator" else []
    n = int(is_frequent.sum())
    levels = np.where(is_frequent, is_frequent.cumsum() - 1, n).astype(np.int32)
    specials = {special: n + i for i, special in enumerate(has_level)}
    return dataclasses.replace(
        column, outputs=levels, specials=specials, n_outputs=n + len(has_level), zero_row_labels=()
    )


def levels(column: ColumnSchema, *, as_text: bool) -> Categories:
    """Return what the outputs of a column of `grouping` stand for; all texts where one is."""
    if as_text or column.specials:
        return Categories.of(as_objects(column.titles))
    return column.known.take(column.labelled)


def vocabulary_listing(schema: Schema) -> Listing:
    """Return what each code stands for, one row for each, in the order of their indices."""
    coded = coding(schema).columns
    sizes = [column.n_outputs for column in coded]
    kinds: list[npt.NDArray[np.object_]] = [np.empty(0, object)]
    categories: list[npt.NDArray[np.object_]] = [np.empty(0, object)]
    for column in coded:
        kinds.append(np.full(column.n_outputs, "category", object))
        categories.append(np.full(column.n_outputs, None, object))
        for special, code in RESERVED.items():
            kinds[-1][code] = special.value
        own = np.flatnonzero(column.outputs >= len(RESERVED))
        categories[-1][len(RESERVED) :] = as_objects(column.known.take(own).tolist())
    return Listing(
        column=np.repeat(as_objects([column.name for column in coded]), sizes),
        kind=np.concatenate(kinds),
        category=np.concatenate(categories),
        code=np.concatenate([np.empty(0, np.int64), *map(np.arange, sizes)]).astype(np.int64),
        index=np.arange(sum(sizes)),
    )
