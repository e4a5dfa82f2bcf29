"""scikit-learn's OneHotEncoder, with its hot paths on the codes and kernels of this package."""

from __future__ import annotations

import copy
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn import preprocessing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import CodedColumn, write

from ._categories import LIMIT, Feature, Features, Positions, encode_columns
from ._coded_input import CodedInput
from ._originals import OneHotEncoder as SklearnOneHotEncoder
from ._read import FLOATS, VERSION, AnyArray, Coded, DType, LeftToSklearn
from ._small_batches import encode_few
from ._sparse import decode_ones, wrap_csr
from .conversion import check_one_hot_encoder

__all__ = ["OneHotEncoder"]

# Steps of scikit-learn's `transform`; where a subclass changes one, all of them are taken.
STEPS = "_check_X", "_transform", "_map_infrequent_categories"


class OneHotEncoder(CodedInput, SklearnOneHotEncoder):
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
        rows = self._fit_rows(X, y)
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
            encoded = self._encoded(*self._look_up(X))
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

    @classmethod
    def from_sklearn(cls, encoder: Any) -> OneHotEncoder:
        """Return what a fitted OneHotEncoder of scikit-learn is, in this class.

        Parameters
        ----------
        encoder : sklearn.preprocessing.OneHotEncoder
            Fitted; it is not changed.

        Returns
        -------
        OneHotEncoder

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError
            It is no OneHotEncoder.

        Examples
        --------
        >>> theirs = preprocessing.OneHotEncoder(sparse_output=False).fit([["a"], ["b"]])
        >>> OneHotEncoder.from_sklearn(theirs).transform([["b"]])
        array([[0., 1.]])
        """
        check_one_hot_encoder(encoder)
        own = cls()
        own.__dict__.update(copy.deepcopy(vars(encoder)), _features=Features())
        return own

    def to_sklearn(self) -> Any:
        """Return what this is as scikit-learn's own class, for tools that know only that.

        Returns
        -------
        sklearn.preprocessing.OneHotEncoder
            Fitted; it shares nothing with this one.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        """
        check_is_fitted(self)
        theirs = preprocessing.OneHotEncoder()
        theirs.__dict__.update(copy.deepcopy(vars(self)))
        theirs.__dict__.pop("_features", None)
        return theirs

    def _encoded(
        self, columns: list[Coded], positions: list[Positions]
    ) -> tuple[list[CodedColumn], list[int]]:
        """Return rows as codes, and the columns with an unknown value."""
        encoded, with_unknown = encode_columns(columns, positions, self._features.of(self))
        if with_unknown and self.handle_unknown == "error":
            raise LeftToSklearn
        return encoded, with_unknown

    def _feature(self, i: int) -> Feature:
        """Return a feature of the fitted encoder, by its position."""
        categories, n_outputs = self.categories_[i], int(self._n_features_outs[i])
        groups, infrequent = np.arange(len(categories)), None
        if self._infrequent_enabled and self._infrequent_indices[i] is not None:
            groups = self._default_to_infrequent_mappings[i]
            infrequent = self._infrequent_indices[i][0]
        dropped = self._drop_idx_after_grouping
        if dropped is not None and dropped[i] is not None:
            groups = np.where(groups == dropped[i], -1, groups - (groups > dropped[i]))
        has_other = infrequent is not None and self._unknown != "ignore"
        lut = np.append(groups, groups[infrequent] if has_other else -1).astype(np.int32)
        return Feature(categories, lut, n_outputs)

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
        if self._overrides(*STEPS):
            return None
        if self.sparse_output and (
            _get_output_config("transform", estimator=self)["dense"] != "default"
        ):
            return None
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            return None
        return dtype if dtype.isnative and (dtype.kind in "biu" or dtype in FLOATS) else None

    @property
    def _unknown(self) -> str:
        """What becomes of unknown values."""
        if self.handle_unknown == "warn":
            # Before 1.8 none of the outputs is one, whatever the documents say.
            return "infrequent_if_exist" if VERSION >= (1, 8) else "ignore"
        return str(self.handle_unknown)

    @property
    def _warns(self) -> bool:
        """Whether unknown values are warned of: all zeros also stand for what is dropped."""
        word = self.handle_unknown
        return word == "warn" or (self.drop is not None and word != "error")
