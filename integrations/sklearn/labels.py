"""scikit-learn's LabelBinarizer, on the codes and kernels of this package."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import _num_samples, check_is_fitted

from onehot_fast.integrations.sklearn.label_homes import as_numpy, home_of
from onehot_fast.integrations.sklearn.label_inverse import above, largest
from onehot_fast.integrations.sklearn.label_matrix import binarize, refuse_multioutput
from onehot_fast.integrations.sklearn.label_output import Marks
from onehot_fast.integrations.sklearn.label_source import Labels, quick_labels
from onehot_fast.integrations.sklearn.output import csr_container

__all__ = ["LabelBinarizer"]


class LabelBinarizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]  # they have no types
    """Binarize labels one against all others as scikit-learn's LabelBinarizer does, faster.

    Parameters, attributes, results, warnings and errors are those of
    `sklearn.preprocessing.LabelBinarizer`. Columns of codes (category, Enum, dictionary) are not
    hashed again.

    Parameters
    ----------
    neg_label : int, default 0
        What stands where a row has not the class.
    pos_label : int, default 1
        What stands where it has.
    sparse_output : bool, default False
        Return a CSR matrix, and not an ndarray.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that `fit` met, sorted; for an indicator matrix the numbers of its columns.
    y_type_ : str
        What `sklearn.utils.multiclass.type_of_target` says of them: "binary", "multiclass" or
        "multilabel-indicator".
    sparse_input_ : bool
        Whether `fit` was given a sparse matrix.

    See Also
    --------
    label_binarize : The same with classes that are known beforehand.
    MultiLabelBinarizer : For any number of labels in a row.

    Notes
    -----
    Where scikit-learn fails or returns something else than it documents, this does what is
    documented: a text is never equal to a number; what is stored as zero in a sparse matrix counts
    as zero; the largest element of a sparse row may be one that is not stored; and
    `inverse_transform` takes lists and leaves its input as it was. Sparse results have indices of
    32 bits where these suffice.

    Examples
    --------
    >>> binarizer = LabelBinarizer()
    >>> binarizer.fit_transform(["S", "L", "M", "L"])
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 1, 0],
           [1, 0, 0]])
    >>> binarizer.classes_
    array(['L', 'M', 'S'], dtype='<U1')
    >>> LabelBinarizer(neg_label=-1).fit_transform(["no", "yes", "no"])
    array([[-1],
           [ 1],
           [-1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "neg_label": [Integral],
        "pos_label": [Integral],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self, *, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
    ) -> None:
        self.neg_label = neg_label
        self.pos_label = pos_label
        self.sparse_output = sparse_output

    def fit(self, y: Any) -> LabelBinarizer:
        """Learn the classes.

        Parameters
        ----------
        y : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_classes)
            One label a row, or an indicator matrix.

        Returns
        -------
        LabelBinarizer
            Itself.

        Raises
        ------
        TypeError, ValueError
            As scikit-learn words them.
        """
        self._learn(y)
        return self

    def fit_transform(self, y: Any) -> Any:
        """Learn the classes and binarize the same labels, which are read once.

        Parameters
        ----------
        y : as for `fit`

        Returns
        -------
        ndarray or csr_matrix of shape (n_samples, n_classes)
            See `transform`.
        """
        kind = type(self)
        if (kind.fit, kind.transform) != (LabelBinarizer.fit, LabelBinarizer.transform):
            return self.fit(y).transform(y)  # a subclass has its own
        return self._binarized(y, self._learn(y))

    def transform(self, y: Any) -> Any:
        """Binarize labels.

        Parameters
        ----------
        y : as for `fit`
            A label that `fit` did not meet has no column.

        Returns
        -------
        ndarray or csr_matrix of shape (n_samples, n_classes)
            Binary labels have one column, that of the second class. The dtype is that of signed
            integers in an array, else int64. Labels on another array library come back there.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError, ValueError
            As scikit-learn words them.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.
        """
        check_is_fitted(self)
        self._check_home(y)
        return self._binarized(y, quick_labels(y))

    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any:
        """Return the labels that binarized rows stand for.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_classes)
            Marks, or scores: of more than two classes the largest counts.
        threshold : float, optional
            What a score of binary or indicator labels must exceed, by default the middle between
            `neg_label` and `pos_label`: 0 for decisions, 0.5 for probabilities.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), or csr_matrix
            The labels; an indicator matrix is sparse if that of `fit` was.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        ValueError
            `Y` has another number of columns.
        """
        check_is_fitted(self)
        home = home_of(Y)
        if home is not None and self.sparse_input_:
            raise ValueError(
                "`LabelBinarizer` was fitted on a sparse matrix, and therefore cannot "
                f"inverse transform a {home.name} array back to a sparse matrix."
            )
        scores = Y if home is None else home.numpy(Y)
        classes = as_numpy(self.classes_)
        if self.y_type_ == "multiclass":
            labels: Any = largest(scores, classes)
        else:
            middle = (self.pos_label + self.neg_label) / 2.0
            labels = above(
                scores, middle if threshold is None else threshold, self.y_type_, classes
            )
        if self.sparse_input_:
            return csr_container()(labels)
        labels = labels.toarray() if sparse.issparse(labels) else labels
        return labels if home is None else home.receive(labels)

    def _learn(self, y: Any) -> Labels | None:
        """Learn the classes and return the labels, if they could be read without scikit-learn."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        self._marks().check()
        self._check_home(y)
        labels = quick_labels(y)
        if labels is not None:
            self.y_type_ = labels.kind
            self.sparse_input_ = False
            self.classes_ = labels.classes()
            return labels
        self.y_type_ = type_of_target(y, input_name="y")
        refuse_multioutput(self.y_type_)
        if _num_samples(y) == 0:
            raise ValueError(f"y has 0 samples: {y!r}")
        self.sparse_input_ = sparse.issparse(y)
        self.classes_ = unique_labels(y)
        return None

    def _binarized(self, y: Any, labels: Labels | None) -> Any:
        """Return the matrix of labels, be they read or not."""
        is_fitted_to_many = self.y_type_.startswith("multilabel")
        if labels is None and type_of_target(y).startswith("multilabel") and not is_fitted_to_many:
            raise ValueError("The object was not fitted with multilabel input.")
        return binarize(y, labels, self.classes_, self._marks())

    def _marks(self) -> Marks:
        """Return what the parameters say of the result."""
        return Marks(self.neg_label, self.pos_label, self.sparse_output)

    def _check_home(self, y: Any) -> None:
        """Refuse to make a sparse matrix for another array library."""
        home = home_of(y) if self.sparse_output else None
        if home is not None:
            raise ValueError(
                f"`sparse_output=True` is not supported for array API namespace {home.name}. "
                "Use `sparse_output=False` to return a dense array instead."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.one_d_labels = True
        return tags
