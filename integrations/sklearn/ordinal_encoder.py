"""scikit-learn's OrdinalEncoder, with its hot paths on the codes of this package."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from ._categories import UNKNOWN, Feature, Positions, has_unknown
from ._coded_input import CodedInput
from ._originals import OrdinalEncoder as SklearnOrdinalEncoder
from ._read import AnyArray, Coded, DType, LeftToSklearn
from ._small_batches import few_positions

__all__ = ["OrdinalEncoder"]

# Steps of scikit-learn's `transform`; where a subclass changes one, all of them are taken.
STEPS = "_check_X", "_transform", "_map_infrequent_categories"


class OrdinalEncoder(CodedInput, SklearnOrdinalEncoder):
    """Encode categorical features as scikit-learn's OrdinalEncoder does, faster.

    It is a `sklearn.preprocessing.OrdinalEncoder`: parameters, attributes, results, warnings and
    errors are those of the original, whose code runs wherever an input or an option is rare. Text,
    numbers and Booleans in arrays, lists and tables of pandas, polars and Arrow go a faster way,
    and what holds codes already (category, Enum, dictionary) is not hashed again.

    See Also
    --------
    onehot_fast.Encoder : ``transform(table, "codes")`` has codes for unknown and missing values.

    Examples
    --------
    >>> encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    >>> encoder.fit([["M", 1], ["F", 3], ["F", 2]]).transform([["F", 3], ["X", 1]])
    array([[ 0.,  2.],
           [-1.,  0.]])
    """

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit and transform the same rows, which are read once.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            An ndarray, a list of lists, or a table of pandas, polars or Arrow.
        y : object, optional
            Ignored.
        **fit_params : object
            As for `sklearn.base.TransformerMixin.fit_transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            See `transform`.
        """
        if fit_params or self._overrides("fit", "transform"):
            return super().fit_transform(X, y, **fit_params)
        rows, dtype = self._fit_rows(X, y), self._code_dtype()
        return super().transform(X) if rows is None or dtype is None else self._codes(*rows, dtype)

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            An ndarray, a list of lists, or a table of pandas, polars or Arrow.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Of `dtype`; a table after `set_output`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError, ValueError
            As scikit-learn words them.
        """
        dtype = self._code_dtype()
        if dtype is not None:
            with suppress(LeftToSklearn):
                few = self._encode_few(X, dtype)
                return self._encode(X, dtype) if few is None else few
        return super().transform(X)

    def _encode(self, X: Any, dtype: DType) -> AnyArray:
        """Return the codes of rows."""
        columns, positions = self._look_up(X)
        if self.handle_unknown == "error" and any(map(has_unknown, columns, positions)):
            raise LeftToSklearn
        validate_data(self, X=X, reset=False, skip_check_array=True)
        return self._codes(columns, positions, dtype)

    def _codes(self, columns: list[Coded], positions: list[Positions], dtype: DType) -> AnyArray:
        """Return the codes of columns whose values have some positions among the categories."""
        features = self._features.of(self)
        out = np.empty((len(columns[0].codes), len(columns)), dtype)
        for i, (column, own) in enumerate(zip(columns, positions, strict=True)):
            codes = self._values(i, features[i].lut[own], own, dtype)
            out[:, i] = codes.take(column.codes)  # a missing one takes the last
        return out

    def _encode_few(self, X: Any, dtype: DType) -> AnyArray | None:
        """Return the codes of a few rows, or None where columns have to be read."""
        features = self._features.of(self)
        found = few_positions(self, features, X, is_silent=self.handle_unknown != "error")
        if found is None:
            return None
        out = np.empty((len(found[0]), len(found)), dtype)
        for i, (feature, positions) in enumerate(zip(features, found, strict=True)):
            own = np.array(positions, np.intp)
            out[:, i] = self._values(i, feature.lut[own], own, dtype)
        return out

    def _values(
        self, i: int, codes: npt.NDArray[np.int32], positions: npt.NDArray[np.intp], dtype: DType
    ) -> AnyArray:
        """Return what stands for the categories of a feature at some positions."""
        values = codes.astype(dtype)
        if i in self._missing_indices:
            values[positions == self._missing_indices[i]] = self.encoded_missing_value
        if self.handle_unknown == "use_encoded_value":
            values[positions == UNKNOWN] = self.unknown_value
        return values

    def _feature(self, i: int) -> Feature:
        """Return a feature: the code of each category, and -1 of an unknown one."""
        categories = self.categories_[i]
        codes = np.arange(len(categories))
        if self._infrequent_enabled and self._infrequent_indices[i] is not None:
            codes = self._default_to_infrequent_mappings[i]
        return Feature(categories, np.append(codes, UNKNOWN).astype(np.int32), len(categories))

    def _code_dtype(self) -> DType | None:
        """Return the dtype of the result, or None where scikit-learn has to make it."""
        if "_features" not in self.__dict__ or self._overrides(*STEPS):
            return None
        try:
            dtype = np.dtype(self.dtype)
            if dtype.kind in "iu" and dtype.isnative:
                # NumPy refuses what does not fit, whether it occurs or not.
                np.zeros(1, dtype)[:] = self.unknown_value or 0
                np.zeros(1, dtype)[:] = self.encoded_missing_value if self._missing_indices else 0
        except (TypeError, ValueError, OverflowError):
            return None
        return dtype if dtype.kind in "iuf" and dtype.isnative else None

    @property
    def _unknown(self) -> str:
        """What becomes of unknown values."""
        return str(self.handle_unknown)
