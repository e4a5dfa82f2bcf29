"""Conditions that compute the features of a column in an engine, such as a SQL database.

This module applies the options for dropped, infrequent, unknown and missing values. Each engine has
a subclass of `FeatureWriter`, whose methods write the expressions in the engine's language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from onehot_fast._categories.literals import literal_kind
from onehot_fast._schema.column_schema import ColumnSchema, Special

Expression = TypeVar("Expression")


class FeatureWriter(ABC, Generic[Expression]):
    """A writer of the features of one column as expressions in the language of an engine.

    A condition is an expression that is true or false. Null counts as false. `literals` has one
    entry for each category: the category as a literal in the language of the engine, or None if the
    engine's column cannot contain the category.
    """

    # Whether a condition may be about the labels of a row; it is true if one of them satisfies it.
    takes_labels: ClassVar[bool] = False

    def __init__(self, column: ColumnSchema, literals: Sequence[Any]) -> None:
        if not self.takes_labels:
            column.check_plain("an expression of the engine")
        self.column: ColumnSchema = column
        self.literals: Sequence[Any] = literals

    kind_of: ClassVar[staticmethod[[Any], str | None]] = staticmethod(literal_kind)

    @abstractmethod
    def is_missing(self) -> Expression:
        """Return the condition that the value is missing."""

    @abstractmethod
    def is_among(self, literals: list[Any]) -> Expression:
        """Return the condition that the value equals one of the literals, which may be empty."""

    @abstractmethod
    def is_other(self, literals: list[Any]) -> Expression:
        """Return the condition that the value is neither missing nor one of the literals."""

    @abstractmethod
    def feature(self, condition: Expression, errors: dict[str, Expression]) -> Expression:
        """Return an expression that is one where the condition is true, else zero.

        `errors` maps "missing" or "unknown" to a condition. Where this condition is true, the query
        must fail with an error message for a missing or an unknown value. If
        ``column.propagates_missing`` is true, a missing value must become NaN.
        """

    def features(self) -> list[Expression]:
        """Return an expression for each feature.

        The first expression also makes the query fail if the options reject a value.
        """
        errors = self.errors()
        return [self.feature(each, {} if i else errors) for i, each in enumerate(self.conditions())]

    def conditions(self) -> list[Expression]:
        """Return for each feature the condition under which it is one."""
        column = self.column
        groups = [[i] for i in column.category_of_feature.tolist()]
        rare = np.flatnonzero(column.is_infrequent).tolist()
        groups += [rare if each is Special.INFREQUENT else [] for each in column.specials]
        return [self._condition(*pair) for pair in enumerate(groups)]

    def errors(self) -> dict[str, Expression]:
        """Return the conditions under which the query must fail, see `feature`.

        Raise ValueError if there are such conditions but no feature that could fail.
        """
        options, errors = self.column.options, {}
        if options.handle_missing == "error":
            errors["missing"] = self.is_missing()
        if options.handle_unknown == "error":
            errors["unknown"] = self._is_unknown_or([])
        if errors and not self.column.n_features:
            raise ValueError(
                f"column {self.column.name!r} has no features, and without them no expression can"
                " raise the error for missing or unknown values; to accept such values, use"
                " set_params(handle_unknown='ignore', handle_missing='ignore')"
            )
        return errors

    def _condition(self, feature: int, positions: list[int]) -> Expression:
        """Return the condition that feature `feature` is one; its categories are at `positions`."""
        if feature == self.column.missing_feature:
            return self.is_missing()
        if feature == self.column.unknown_feature:
            return self._is_unknown_or(positions)
        return self.is_among(self._chosen(positions))

    def _is_unknown_or(self, positions: list[int]) -> Expression:
        """Return the condition that the value is unknown or a category at one of `positions`."""
        others = np.delete(np.arange(len(self.column.known)), positions)
        return self.is_other(self._chosen(others.tolist()))

    def _chosen(self, positions: Iterable[int]) -> list[Any]:
        return [self.literals[i] for i in positions if self.literals[i] is not None]
