"""What the encoders of a table have in common: how they read, learn and look up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import validate_data

from onehot_fast.adapter import reader_of

from ._categories import (
    Feature,
    Features,
    Positions,
    count_categories,
    find_declared,
    has_unknown,
    learn,
)
from ._read import AnyArray, Coded, LeftToSklearn, Lookup, read_arrays, read_table
from ._small_batches import input_names

Learned: TypeAlias = tuple[list[Coded], list[AnyArray], list[Positions]]

# With this scikit-learn's `_fit` is called where NaN is never one of the infrequent categories.
NAN_APART = "return_and_ignore_missing_for_infrequent"


class CodedInput:
    """The columns of a table as codes, in place of scikit-learn's `_fit` and `_transform`.

    It stands before a subclass of scikit-learn's `_BaseEncoder`, which does what is left to it.
    """

    categories: Any
    categories_: list[AnyArray]
    _check_X: Any
    _check_infrequent_enabled: Any
    _fit_infrequent_category_mapping: Any
    _infrequent_enabled: bool
    _infrequent_indices: Any
    _default_to_infrequent_mappings: Any
    _missing_indices: Any
    _drop_idx_after_grouping: Any
    _n_features_outs: Any
    _fitted_rows: tuple[list[Coded], list[Positions]] | None

    def _feature(self, i: int) -> Feature:
        """Return a feature of the fitted encoder, by its position."""
        raise NotImplementedError

    def _fit(
        self, X: Any, handle_unknown: str = "error", ensure_all_finite: Any = True, **options: Any
    ) -> dict[str, Any]:
        """Learn the categories, as scikit-learn's method of this name does."""
        learned, is_nan_apart = None, options == {NAN_APART: True}
        if ensure_all_finite == "allow-nan" and (is_nan_apart or not options):
            with suppress(LeftToSklearn):
                learned = self._learn(X, handle_unknown)
        if learned is None:
            fitted: dict[str, Any] = super()._fit(  # type: ignore[misc]
                X, handle_unknown, ensure_all_finite, **options
            )
            self._features = Features(input_names(X))
            return fitted
        columns, self.categories_, positions = learned
        self._check_infrequent_enabled()
        validate_data(self, X=X, reset=True, skip_check_array=True)
        fitted = {"n_samples": len(columns[0].codes)}
        nan_at = {i: len(c) - 1 for i, c in enumerate(self.categories_) if _is_nan(c[-1])}
        nan_at = nan_at if is_nan_apart else {}
        if self._infrequent_enabled:
            counts = list(map(count_categories, columns, self.categories_, positions))
            self._fit_infrequent_category_mapping(fitted["n_samples"], counts, nan_at)
        self._features = Features(input_names(X))
        if hasattr(self, "_fitted_rows"):
            self._fitted_rows = columns, positions
        return fitted | ({"missing_indices": nan_at} if is_nan_apart else {})

    def _learn(self, X: Any, handle_unknown: str) -> Learned:
        """Return columns, their categories, and the positions of their values among these."""
        columns = self._read(X)
        if isinstance(self.categories, str):
            learned = [*map(learn, columns)]
        elif len(self.categories) == len(columns):
            learned = [*map(find_declared, self.categories, columns)]
        else:
            raise LeftToSklearn
        positions = [own for _, own in learned]
        if handle_unknown == "error" and any(map(has_unknown, columns, positions)):
            raise LeftToSklearn
        return columns, [categories for categories, _ in learned], positions

    def _read(self, X: Any, lookups: Sequence[Lookup] = ()) -> list[Coded]:
        """Return the columns of any table."""
        if self._overrides("_check_X"):
            raise LeftToSklearn
        if not isinstance(X, list | tuple):
            try:
                return read_table(X, lookups)
            except LeftToSklearn:
                if reader_of(X) not in ("polars", "arrow"):
                    raise  # of tables of these without text scikit-learn makes arrays as fast
        try:
            arrays, *_ = self._check_X(X, ensure_all_finite="allow-nan")
        except (TypeError, ValueError) as error:
            raise LeftToSklearn from error  # after its other checks it will raise the same
        return read_arrays(arrays, lookups)

    def _fit_rows(self, X: Any, y: Any) -> tuple[list[Coded], list[Positions]] | None:
        """Fit, and return the columns that were read; None where scikit-learn has read them."""
        self._fitted_rows = None
        try:
            self.fit(X, y)  # type: ignore[attr-defined]  # of the class that stands behind
            return self._fitted_rows
        finally:
            del self._fitted_rows

    def _look_up(self, X: Any) -> tuple[list[Coded], list[Positions]]:
        """Return columns, and the positions of their values among the known categories."""
        known = [feature.known for feature in self._features.of(self)]
        columns = self._read(X, [each.look_up for each in known])
        if len(columns) != len(known):
            raise LeftToSklearn
        return columns, [own.positions(c) for own, c in zip(known, columns, strict=True)]

    def _overrides(self, *names: str) -> bool:
        """Tell whether a subclass has its own methods of these names."""
        own = type(self)
        if own.__module__.startswith(__package__):
            return False
        ours = next(kind for kind in own.__mro__ if kind.__module__.startswith(__package__))
        return any(getattr(own, name) is not getattr(ours, name) for name in names)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(value != value)
