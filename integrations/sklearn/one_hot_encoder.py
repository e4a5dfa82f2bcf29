"""scikit-learn's OneHotEncoder, with its hot paths on the codes and kernels of this package."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn import preprocessing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import reader_of, write

from ._categories import (
    LIMIT,
    Coded,
    Features,
    Positions,
    code_columns,
    count_categories,
    has_unknown,
    learn,
    use_given,
)
from ._decode import decode_ones
from ._read import FLOATS, AnyArray, Column, read_arrays, read_table
from ._small_batches import encode_few, input_names
from ._write import wrap_csr

__all__ = ["OneHotEncoder"]

# Steps of scikit-learn's `transform`; where a subclass changes one, all of them are taken.
STEPS = "_check_X", "_transform", "_map_infrequent_categories"
# Where these tables hold no text, scikit-learn makes them arrays as fast.
CONVERTED = "polars", "arrow"
INFREQUENT = "the infrequent category."


class OneHotEncoder(preprocessing.OneHotEncoder):  # type: ignore[misc]  # it has no types
    """Encode categorical features as scikit-learn's OneHotEncoder does, faster.

    It is a `sklearn.preprocessing.OneHotEncoder`: parameters, attributes, results, warnings and
    errors are those of the original, whose code runs wherever an input or an option is rare. Text,
    numbers and Booleans in arrays, lists and tables of pandas, polars and Arrow go a faster way,
    and what holds codes already (category, Enum, dictionary) is not hashed again.

    See Also
    --------
    onehot_fast.Encoder : The same for tables in which other columns are kept.

    Examples
    --------
    >>> encoder = OneHotEncoder(handle_unknown="ignore").fit([["M", 1], ["F", 3], ["F", 2]])
    >>> encoder.categories_
    [array(['F', 'M'], dtype=object), array([1, 2, 3], dtype=object)]
    >>> encoder.transform([["F", 1], ["M", 4]]).toarray()
    array([[1., 0., 1., 0., 0.],
           [0., 1., 0., 0., 0.]])
    >>> encoder.inverse_transform([[0, 1, 1, 0, 0], [0, 0, 0, 1, 0]])
    array([['M', 1],
           [None, 2]], dtype=object)
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
        csr_matrix or ndarray of shape (n_samples, n_encoded_features)
            See `transform`.
        """
        if fit_params or self._overrides("fit", "transform"):
            return super().fit_transform(X, y, **fit_params)
        self._fitted_rows: tuple[list[Column], list[Positions]] | None = None
        try:
            self.fit(X, y)
            rows = self._fitted_rows
        finally:
            del self._fitted_rows
        dtype = self._kernel_dtype()
        if rows is None or dtype is None:
            return super().transform(X)
        coded = code_columns(*rows, self._features.of(self), self._unknown)
        self._warn_of_unknown(coded.with_unknown)
        return self._encode(coded, dtype)

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            An ndarray, a list of lists, or a table of pandas, polars or Arrow.

        Returns
        -------
        csr_matrix or ndarray of shape (n_samples, n_encoded_features)
            A CSR array if scikit-learn is configured so, a table after `set_output`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError, ValueError
            As scikit-learn words them.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.
        """
        dtype = self._kernel_dtype()
        if dtype is None:
            return super().transform(X)
        few = encode_few(self, X, dtype)
        if few is not None:
            return few
        coded = self._code(X)
        if coded is None:
            return super().transform(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        self._warn_of_unknown(coded.with_unknown)
        return self._encode(coded, dtype)

    def inverse_transform(self, X: Any) -> AnyArray:
        """Return the values that encoded rows stand for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_encoded_features)
            Of the outputs of a feature the largest counts.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            As `sklearn.preprocessing.OneHotEncoder.inverse_transform` describes them.
        """
        check_is_fitted(self)
        decoded = decode_ones(self, X)
        return super().inverse_transform(X) if decoded is None else decoded

    def _fit(
        self, X: Any, handle_unknown: str = "error", ensure_all_finite: Any = True, **options: Any
    ) -> dict[str, Any]:
        """Learn the categories, as scikit-learn's method of this name does."""
        learned = None
        if ensure_all_finite == "allow-nan" and not options:
            learned = self._learn(X, handle_unknown)
        if learned is None:
            found: dict[str, Any] = super()._fit(X, handle_unknown, ensure_all_finite, **options)
            self._features = Features(input_names(X))
            return found
        columns, self.categories_, positions = learned
        self._check_infrequent_enabled()
        validate_data(self, X=X, reset=True, skip_check_array=True)
        n_rows = len(columns[0].codes)
        if self._infrequent_enabled:
            counts = list(map(count_categories, columns, self.categories_, positions))
            self._fit_infrequent_category_mapping(n_rows, counts, {})
        self._features = Features(input_names(X))
        if hasattr(self, "_fitted_rows"):
            self._fitted_rows = columns, positions
        return {"n_samples": n_rows}

    def _learn(
        self, X: Any, handle_unknown: str
    ) -> tuple[list[Column], list[AnyArray], list[Positions]] | None:
        """Return columns, their categories, and the positions of their values among these."""
        columns = self._read(X)
        if columns is None:
            return None
        if isinstance(self.categories, str):
            learned: list[tuple[AnyArray, Positions]] | None = [*map(learn, columns)]
        else:
            learned = self._use_given(columns, handle_unknown)
        if learned is None:
            return None
        return columns, [each[0] for each in learned], [each[1] for each in learned]

    def _use_given(
        self, columns: list[Column], handle_unknown: str
    ) -> list[tuple[AnyArray, Positions]] | None:
        """Return the categories that a user gave, or None where scikit-learn must judge them."""
        if len(self.categories) != len(columns):
            return None
        learned = []
        for given, column in zip(self.categories, columns, strict=True):
            found = use_given(given, column)
            if found is None or (handle_unknown == "error" and has_unknown(column, found[1])):
                return None
            learned.append(found)
        return learned

    def _read(self, X: Any) -> list[Column] | None:
        """Return the columns of any table, or None where scikit-learn has to read one of them."""
        if self._overrides("_check_X"):
            return None
        columns = read_table(X)
        if columns is None and (isinstance(X, list | tuple) or reader_of(X) in CONVERTED):
            try:
                arrays, *_ = self._check_X(X, ensure_all_finite="allow-nan")
            except (TypeError, ValueError):
                return None  # it will be raised after the other checks of scikit-learn
            columns = read_arrays(arrays)
        return columns

    def _code(self, X: Any) -> Coded | None:
        """Return rows as codes of the known categories, or None where scikit-learn must do it."""
        columns, features = self._read(X), self._features.of(self)
        if columns is None or len(columns) != len(features):
            return None
        positions = []
        for column, feature in zip(columns, features, strict=True):
            found = None if feature.known is None else feature.known.positions(column)
            if found is None:
                return None
            positions.append(found)
        coded = code_columns(columns, positions, features, self._unknown)
        return None if coded.with_unknown and self.handle_unknown == "error" else coded

    def _encode(self, coded: Coded, dtype: np.dtype[Any]) -> Any:
        """Return the matrix of coded rows."""
        if not self.sparse_output:
            return write.rows(coded.columns, dtype)
        shape = len(coded.columns[0].codes), sum(self._n_features_outs)
        return wrap_csr(write.csr(coded.columns, dtype), shape)

    def _kernel_dtype(self) -> np.dtype[Any] | None:
        """Return the dtype of the result, or None where scikit-learn has to make it."""
        if "_features" not in self.__dict__ or sum(self._n_features_outs) > LIMIT:
            return None
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if (wanted != "default" and self.sparse_output) or self._overrides(*STEPS):
            return None
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            return None
        return dtype if dtype.isnative and (dtype.kind in "biu" or dtype in FLOATS) else None

    @property
    def _unknown(self) -> str:
        """What becomes of unknown values."""
        word: str = self.handle_unknown
        return "infrequent_if_exist" if word == "warn" else word

    @property
    def _warns(self) -> bool:
        """Whether unknown values are warned of: all zeros also stand for what is dropped."""
        word = self.handle_unknown
        dropped = self.drop is not None and word in ("ignore", "infrequent_if_exist")
        return word == "warn" or dropped

    def _warn_of_unknown(self, columns: list[int]) -> None:
        if columns and self._warns:
            all_zero = self._unknown == "ignore"
            warnings.warn(
                f"Found unknown categories in columns {columns} during transform. These unknown"
                f" categories will be encoded as {'all zeros' if all_zero else INFREQUENT}",
                UserWarning,
                stacklevel=4,  # the caller of `transform`, which scikit-learn wraps
            )

    def _overrides(self, *names: str) -> bool:
        """Tell whether a subclass has its own methods of these names."""
        own = type(self)
        return own is not OneHotEncoder and any(
            getattr(own, name) is not getattr(OneHotEncoder, name) for name in names
        )
