"""scikit-learn's OneHotEncoder, with its hot paths on the codes and kernels of this package."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from sklearn import preprocessing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import CodedColumn, reader_of, write

from ._categories import (
    LIMIT,
    Features,
    Positions,
    count_categories,
    encode_columns,
    find_declared,
    has_unknown,
    learn,
)
from ._read import (
    FLOATS,
    VERSION,
    AnyArray,
    Coded,
    DType,
    LeftToSklearn,
    Lookup,
    read_arrays,
    read_table,
)
from ._small_batches import encode_few, input_names
from ._sparse import decode_ones, wrap_csr

__all__ = ["OneHotEncoder"]

Learned: TypeAlias = tuple[list[Coded], list[AnyArray], list[Positions]]

# Steps of scikit-learn's `transform`; where a subclass changes one, all of them are taken.
STEPS = "_check_X", "_transform", "_map_infrequent_categories"


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
        self._fitted_rows: tuple[list[Coded], list[Positions]] | None = None
        try:
            self.fit(X, y)
            rows = self._fitted_rows
        finally:
            del self._fitted_rows
        dtype = self._kernel_dtype()
        if rows is None or dtype is None:
            return super().transform(X)
        return self._encode(*encode_columns(*rows, self._features.of(self)), dtype)

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
        with suppress(LeftToSklearn):
            few = encode_few(self, X, dtype)
            if few is not None:
                return few
            encoded = self._look_up(X)
            validate_data(self, X=X, reset=False, skip_check_array=True)
            return self._encode(*encoded, dtype)
        return super().transform(X)

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
            with suppress(LeftToSklearn):
                learned = self._learn(X, handle_unknown)
        if learned is None:
            fitted: dict[str, Any] = super()._fit(X, handle_unknown, ensure_all_finite, **options)
            self._features = Features(input_names(X))
            return fitted
        columns, categories, positions = learned
        self.categories_: list[AnyArray] = categories
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

    def _look_up(self, X: Any) -> tuple[list[CodedColumn], list[int]]:
        """Return rows as codes, and the columns with an unknown value."""
        features = self._features.of(self)
        known = [feature.known for feature in features]
        columns = self._read(X, [each.look_up for each in known])
        if len(columns) != len(features):
            raise LeftToSklearn
        positions = [each.positions(column) for each, column in zip(known, columns, strict=True)]
        encoded, with_unknown = encode_columns(columns, positions, features)
        if with_unknown and self.handle_unknown == "error":
            raise LeftToSklearn
        return encoded, with_unknown

    def _encode(self, columns: list[CodedColumn], with_unknown: list[int], dtype: DType) -> Any:
        """Return the matrix of coded rows, and warn of unknown values in them."""
        if with_unknown and self._warns:
            zeros = self._unknown == "ignore" or VERSION < (1, 8)  # older words do not tell
            name = "all zeros" if zeros else "the infrequent category."
            warnings.warn(
                f"Found unknown categories in columns {with_unknown} during transform. These"
                f" unknown categories will be encoded as {name}",
                UserWarning,
                stacklevel=4,  # the caller of `transform`, which scikit-learn wraps
            )
        if not self.sparse_output:
            return write.rows(columns, dtype)
        shape = len(columns[0].codes), sum(self._n_features_outs)
        return wrap_csr(write.csr(columns, dtype), shape)

    def _kernel_dtype(self) -> DType | None:
        """Return the dtype of the result, or None where scikit-learn has to make it."""
        if "_features" not in self.__dict__ or sum(self._n_features_outs) > LIMIT:
            return None
        container = _get_output_config("transform", estimator=self)["dense"]
        if (container != "default" and self.sparse_output) or self._overrides(*STEPS):
            return None
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            return None
        return dtype if dtype.isnative and (dtype.kind in "biu" or dtype in FLOATS) else None

    @property
    def _unknown(self) -> str:
        """What becomes of unknown values."""
        return "infrequent_if_exist" if self.handle_unknown == "warn" else str(self.handle_unknown)

    @property
    def _warns(self) -> bool:
        """Whether unknown values are warned of: all zeros also stand for what is dropped."""
        word = self.handle_unknown
        return word == "warn" or (self.drop is not None and word != "error")

    def _overrides(self, *names: str) -> bool:
        """Tell whether a subclass has its own methods of these names."""
        own = type(self)
        return own is not OneHotEncoder and any(
            getattr(own, name) is not getattr(OneHotEncoder, name) for name in names
        )
