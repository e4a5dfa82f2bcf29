"""Conditions for the features of a column, for engines that encode without this library.

All options are applied here: dropped, infrequent, unknown and missing values. An engine writes four
kinds of conditions in its own language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from onehot_fast._categories.literals import literal_kind
from onehot_fast._schema.column_schema import ColumnSchema, Special

Expression = TypeVar("Expression")


class FeatureWriter(ABC, Generic[Expression]):
    """Write the features of one column in the language of an engine.

    A condition is an expression that is true or false. One that may be null counts as false.

    Parameters
    ----------
    column : ColumnSchema
    literals : sequence
        The categories as the engine writes them, None for those that its column cannot hold.
    """

    def __init__(self, column: ColumnSchema, literals: Sequence[Any]) -> None:
        self.column: ColumnSchema = column
        self.literals: Sequence[Any] = literals

    # The kind of a category: "text", "integer", "zoned", …; None for types that engines lack.
    kind_of = staticmethod(literal_kind)

    @abstractmethod
    def is_missing(self) -> Expression:
        """Return whether the value is missing."""

    @abstractmethod
    def is_among(self, literals: list[Any]) -> Expression:
        """Return whether the value equals one of some literals, of which there may be none."""

    @abstractmethod
    def is_other(self, literals: list[Any]) -> Expression:
        """Return whether the value is neither missing nor one of some literals."""

    @abstractmethod
    def feature(self, condition: Expression, errors: dict[str, Expression]) -> Expression:
        """Return one where a condition holds, else zero.

        Where a condition of `errors` holds, the query fails: its name says what the value is,
        "missing" or "unknown". If ``column.propagates_missing``, a missing value makes NaN.
        """

    def features(self) -> list[Expression]:
        """Return an expression for each feature. The first one holds the errors of the column."""
        column, errors = self.column, self._errors()
        if errors and not column.n_outputs:
            raise ValueError(
                f"column {column.name!r} has no feature in which an engine could reject a value;"
                " use set_params(handle_unknown='ignore', handle_missing='ignore')"
            )
        groups = [[i] for i in column.category_of_feature.tolist()]
        groups += map(self._categories_of, column.specials)
        conditions = [self._condition(*pair) for pair in enumerate(groups)]
        features = [self.feature(each, {}) for each in conditions[1:]]
        return [*(self.feature(each, errors) for each in conditions[:1]), *features]

    def _errors(self) -> dict[str, Expression]:
        """Return when the query must fail."""
        options, errors = self.column.options, {}
        if options.handle_missing == "error":
            errors["missing"] = self.is_missing()
        if options.handle_unknown == "error":
            errors["unknown"] = self._is_unknown_or([])
        return errors

    def _categories_of(self, special: Special) -> list[int]:
        """Return the categories of a feature that stands for no single one."""
        is_rare = self.column.is_infrequent
        return np.flatnonzero(is_rare).tolist() if special is Special.INFREQUENT else []

    def _condition(self, output: int, positions: list[int]) -> Expression:
        """Return when a feature is one, from its position and those of its categories."""
        if output == self.column.missing_output:
            return self.is_missing()
        if output == self.column.unknown_output:
            return self._is_unknown_or(positions)
        return self.is_among(self._chosen(positions))

    def _is_unknown_or(self, positions: list[int]) -> Expression:
        """Return whether the value is unknown or one of some categories."""
        others = np.delete(np.arange(len(self.column.known)), positions)
        return self.is_other(self._chosen(others.tolist()))

    def _chosen(self, positions: Iterable[int]) -> list[Any]:
        return [self.literals[i] for i in positions if self.literals[i] is not None]
