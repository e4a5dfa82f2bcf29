"""scikit-learn's OneHotEncoder, on the codes and kernels of this package."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from onehot_fast._categories.schema import Special
from onehot_fast.integrations.sklearn import saved
from onehot_fast.integrations.sklearn.fitted import Fitted, fitted_of, learn, merge_found
from onehot_fast.integrations.sklearn.inverse import decode
from onehot_fast.integrations.sklearn.learned import Met
from onehot_fast.integrations.sklearn.lookup import code_rows
from onehot_fast.integrations.sklearn.merging import check_mergeable, check_same_features
from onehot_fast.integrations.sklearn.output import csr, dense, output_dtype, with_dtype
from onehot_fast.integrations.sklearn.source import AnyArray, Feature, source_of

__all__ = ["OneHotEncoder"]


class OneHotEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # they have no types
    """Encode categorical features as scikit-learn's OneHotEncoder does, faster.

    Parameters, attributes, results, warnings and errors are those of
    `sklearn.preprocessing.OneHotEncoder`. Beyond it there are `partial_fit`, `merge`, `to_json` and
    `from_json`, the parameter `handle_missing`, and ``handle_unknown="indicator"``. The columns of
    a pandas, polars or Arrow table keep their dtypes, and what holds codes already (category,
    Enum, dictionary) is not hashed again.

    Parameters
    ----------
    categories : "auto" or list of array-like, default "auto"
        The categories of each feature in their order (numbers must be sorted, NaN the last), or
        those that occur in `fit`, sorted, None and NaN last.
    drop : {"first", "if_binary"} or array-like of shape (n_features,), optional
        The category of each feature that gets no output, chosen once the infrequent ones share
        theirs: the first, the first of exactly two, or the one named.
    sparse_output : bool, default True
        Return a CSR matrix, and not an ndarray.
    dtype : number type, default np.float64
        That of the result.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn", "indicator"}, \
            default "error"
        What becomes of a value that `fit` did not meet: it is refused, or its outputs are zero, or
        it counts among the infrequent (and is zero if there are none), also with a warning, or it
        has an output of its own ("x0_(unknown)"): then no value is encoded as another one.
    min_frequency : int or float, optional
        Categories in fewer rows, or in a smaller share of the rows, are infrequent: they share one
        output, the last of the categories ("x0_infrequent_sklearn").
    max_categories : int, optional
        The most outputs the categories of a feature make, that of the infrequent ones included.
    feature_name_combiner : "concat" or callable, default "concat"
        ``f"{feature}_{category}"``, or a function of both that returns a str.
    handle_missing : {"category", "ignore", "indicator", "error", "propagate"}, default "category"
        None and NaN are categories where they occur in `fit`, as in scikit-learn; or their outputs
        are zero; or both have one output of their own ("x0_(missing)") whether they occur or not;
        or they are refused; or all outputs are NaN, which needs a float dtype.

    Attributes
    ----------
    categories_ : list of ndarray
        The categories of each feature, dropped and infrequent ones included.
    drop_idx_ : ndarray of shape (n_features,) and dtype object, or None
        The position of the dropped category of each feature, None where none is; of an infrequent
        one all are dropped. None if `drop` is.
    infrequent_categories_ : list of ndarray or None
        Those of each feature. Only with `min_frequency` or `max_categories`.
    n_features_in_ : int
        The number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names. Only where all are str.

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

    _parameter_constraints: ClassVar[dict[str, list[Any] | str]] = {
        "categories": [StrOptions({"auto"}), list],
        "drop": [StrOptions({"first", "if_binary"}), "array-like", None],
        "dtype": "no_validation",  # NumPy's affair
        "handle_unknown": [
            StrOptions({"error", "ignore", "infrequent_if_exist", "warn", "indicator"})
        ],
        "max_categories": [Interval(Integral, 1, None, closed="left"), None],
        "min_frequency": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "sparse_output": ["boolean"],
        "feature_name_combiner": [StrOptions({"concat"}), callable],
        "handle_missing": [
            StrOptions({"category", "ignore", "indicator", "error", "propagate"})
        ],
    }  # fmt: skip

    def __init__(
        self,
        *,
        categories: Any = "auto",
        drop: Any = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: str = "error",
        min_frequency: int | float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: str | Callable[[Any, Any], str] = "concat",
        handle_missing: str = "category",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner
        self.handle_missing = handle_missing

    def fit(self, X: Any, y: Any = None) -> OneHotEncoder:
        """Learn the categories of each feature, and forget what was learned before.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            An ndarray, a list of lists, or a table of pandas, polars or Arrow.
        y : object, optional
            Ignored.

        Returns
        -------
        OneHotEncoder
            Itself.

        Raises
        ------
        TypeError, ValueError
            As scikit-learn words them.
        """
        self._learn(X, None)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> OneHotEncoder:
        """Learn from more rows, as if they had been among those that were fitted.

        Parameters
        ----------
        X, y : as for `fit`
            With the same features.

        Returns
        -------
        OneHotEncoder
            Itself.

        Raises
        ------
        TypeError, ValueError
            As for `fit`; what was learned before is still there.
        """
        self._learn(X, getattr(self, "_fitted", None))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the categories and encode the same rows, which are read once.

        Parameters
        ----------
        X, y : as for `fit`

        Returns
        -------
        csr_matrix or ndarray of shape (n_samples, n_encoded_features)
            See `transform`.
        """
        frame = self._frame_wanted()
        features, n_rows = self._learn(X, None)
        return self._encoded(features, n_rows, frame=frame)

    def merge(self, *others: OneHotEncoder) -> OneHotEncoder:
        """Return the encoder that has seen the rows of all: the same in any order and grouping.

        Parameters
        ----------
        *others : OneHotEncoder
            With the same parameters and features. One that is not fitted adds nothing.

        Returns
        -------
        OneHotEncoder
            A new one.

        Raises
        ------
        TypeError
            One of them is no OneHotEncoder.
        ValueError
            They differ in their parameters or features.

        Examples
        --------
        >>> parts = [OneHotEncoder().fit([[one], ["L"]]) for one in ("S", "M")]
        >>> parts[0].merge(parts[1]).categories_
        [array(['L', 'M', 'S'], dtype=object)]
        """
        merged: OneHotEncoder = clone(self)
        for one in others:
            check_mergeable(self, one)
        fitted = [one for one in (self, *others) if hasattr(one, "_fitted")]
        if not fitted:
            return merged
        for one in fitted[1:]:
            check_same_features(fitted[0], one)
        if hasattr(fitted[0], "feature_names_in_"):
            merged.feature_names_in_ = fitted[0].feature_names_in_
        merged._settle(*merge_found([(one._fitted.found, one._fitted.n_rows) for one in fitted]))
        return merged

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : as for `fit`

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
        if "_fitted" not in self.__dict__:
            check_is_fitted(self)
        frame = self._frame_wanted()
        few = None if frame else self._few_encoded(X)
        if few is not None:
            return few
        source = source_of(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        features = [source.read(at) for at in range(source.n_features)]
        return self._encoded(features, source.n_rows, frame=frame)

    def inverse_transform(self, X: Any) -> AnyArray:
        """Return the values that encoded rows stand for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_encoded_features)
            Of the outputs of a feature the largest counts.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            All-zero outputs stand for the dropped category; without one for an unknown value, None,
            if `handle_unknown` makes such rows. "infrequent_sklearn" stands for infrequent
            categories, `onehot_fast.encoder.Special.UNKNOWN` for the output of unknown values.

        Raises
        ------
        ValueError
            The width is another one, or a row is all zero and that stands for nothing.
        """
        check_is_fitted(self)
        finite: bool | str = self.handle_missing != "propagate" or "allow-nan"
        encoded = check_array(X, accept_sparse="csr", ensure_all_finite=finite)
        return decode(self._fitted.settled, encoded, self.handle_unknown, self.handle_missing)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the outputs.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the features, by default `feature_names_in_`, or "x0", "x1", ...

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        combine = self._combiner()
        pairs = zip(names, self._fitted.settled, strict=True)
        every = [combine(name, _shown(label)) for name, one in pairs for label in one.own_labels]
        return np.array(every, dtype=object)

    def to_json(self) -> str:
        """Return the encoder as text: its parameters and all it has learned.

        Returns
        -------
        str
            JSON with a version, for people to read too. Every category comes back as it was.

        Raises
        ------
        TypeError
            A category has no form in JSON, or `feature_name_combiner` is a function.
        """
        fitted: Fitted | None = getattr(self, "_fitted", None)
        found, n_rows = (None, 0) if fitted is None else (fitted.found, fitted.n_rows)
        return saved.dumps(self.get_params(), self._names, found, n_rows)

    @classmethod
    def from_json(cls, text: str | bytes) -> OneHotEncoder:
        """Return the encoder that `to_json` wrote.

        Raises
        ------
        ValueError
            The text is no encoder, or of a version that this release does not read.

        Examples
        --------
        >>> text = OneHotEncoder(drop="first").fit([["S"], ["L"]]).to_json()
        >>> OneHotEncoder.from_json(text).get_feature_names_out()
        array(['x0_S'], dtype=object)
        """
        params, names, found, n_rows = saved.loads(text)
        encoder = cls(**params)
        if names is not None:
            encoder.feature_names_in_ = np.array(names, object)
        if found is not None:
            encoder._settle(found, n_rows)
        return encoder

    @property
    def infrequent_categories_(self) -> list[AnyArray | None]:
        """The infrequent categories of each feature."""
        if not getattr(self, "_infrequent_enabled", False):
            raise AttributeError("infrequent_categories_ needs min_frequency= or max_categories=")
        pairs = zip(self.categories_, self._infrequent_indices, strict=True)
        return [None if rare is None else categories[rare] for categories, rare in pairs]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _learn(self, X: Any, before: Fitted | None) -> tuple[list[Feature], int]:
        """Learn from rows, beside what was learned before; return their features and number."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        validate_data(self, X=X, reset=before is None, skip_check_array=True)
        source = source_of(X)
        features, found = learn(source, self.get_params())
        n_rows = source.n_rows
        if before is not None:
            found, n_rows = merge_found([(before.found, before.n_rows), (found, n_rows)])
        self._settle(found, n_rows)
        return features, source.n_rows

    def _settle(self, found: tuple[Met, ...], n_rows: int) -> None:
        """Set all that follows from what was learned."""
        fitted = fitted_of(found, n_rows, self.get_params(), self._names)
        self._fitted = fitted
        self.n_features_in_ = len(found)
        self.categories_ = [one.categories for one in fitted.settled]
        self.drop_idx_ = None if self.drop is None else fitted.drop_idx
        self._drop_idx_after_grouping = None if self.drop is None else fitted.dropped_groups
        self._n_features_outs = [len(one.schema.labels) for one in fitted.settled]
        self._infrequent_enabled = not (self.min_frequency is None and self.max_categories is None)
        if self._infrequent_enabled:
            self._infrequent_indices = [one.infrequent for one in fitted.settled]

    def _encoded(self, features: list[Feature], n_rows: int, *, frame: bool) -> Any:
        """Return the encoding of features that were read."""
        dtype = output_dtype(self.dtype, self.handle_missing)
        schema = with_dtype(self._fitted.schema, dtype)
        words = self.handle_unknown, self.handle_missing
        coded = code_rows(schema, features, n_rows, *words, warn=self._warns)
        return csr(coded) if self.sparse_output else dense(coded, frame=frame)

    def _few_encoded(self, X: Any) -> Any:
        """Return the encoding of a few rows of known values, None where it is not as simple."""
        word = self.handle_unknown
        silent = word != "error" and not self._warns
        few = self._fitted.few
        places = few.places(X, word if silent else None, self.handle_missing)
        if places is None:
            return None
        dtype = output_dtype(self.dtype, self.handle_missing)
        return few.csr(places, dtype) if self.sparse_output else few.dense(places, dtype)

    @property
    def _names(self) -> list[str] | None:
        """The names of the features, if they have any."""
        names: AnyArray | None = getattr(self, "feature_names_in_", None)
        return None if names is None else names.tolist()

    @property
    def _warns(self) -> bool:
        """Whether unknown values are warned of: all-off rows are those of the dropped, too."""
        word = self.handle_unknown
        dropped = self.drop is not None and word in ("ignore", "infrequent_if_exist")
        return word == "warn" or dropped

    def _frame_wanted(self) -> bool:
        """Tell whether `set_output` asks for a table, which a sparse matrix cannot become."""
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted == "default":
            return False
        if self.sparse_output:
            name = wanted.capitalize()
            raise ValueError(
                f"{name} output does not support sparse data. Set sparse_output=False to output"
                f" {wanted} dataframes or disable {name} output via"
                '` ohe.set_output(transform="default").'
            )
        return True

    def _combiner(self) -> Callable[[Any, Any], str]:
        """Return the function that names an output."""
        combine = self.feature_name_combiner
        if not callable(combine):
            return lambda feature, category: f"{feature}_{category}"
        tried = combine("feature", "category")
        if not isinstance(tried, str):
            raise TypeError(
                "When `feature_name_combiner` is a callable, it should return a Python string."
                f" Got {type(tried)} instead."
            )
        return combine


def _shown(label: Any) -> Any:
    """Return what a name says of an output; in parentheses what is no category."""
    return f"({label.value})" if isinstance(label, Special) else label
