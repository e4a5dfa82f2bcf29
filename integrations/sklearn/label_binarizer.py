"""scikit-learn's LabelBinarizer, with its hot paths on the codes and kernels of this package.

What scikit-learn's checks would say of all labels follows from the few categories where these are
integers, Booleans, texts, or floats without fractions. All else is left to those checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy import sparse
from sklearn import preprocessing
from sklearn.preprocessing import label_binarize as sklearn_label_binarize
from sklearn.utils.validation import check_is_fitted

from onehot_fast.adapter import (
    Categories,
    CodedColumn,
    Strings,
    Values,
    read_column,
    reader_of,
    write,
)

from ._read import FLOATS, AnyArray, object_type
from ._write import wrap_csr

__all__ = ["LabelBinarizer", "label_binarize"]

INT64_END = 2.0**63
# From 1.9 on unsigned labels no longer make unsigned results, in which -1 would be 255, and the
# classes are converted to the dtype of integer labels.
BEFORE_1_9 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
KEPT_KINDS = "iu" if BEFORE_1_9 else "i"
# Kinds of dtypes whose values are equal only to values of the same group.
GROUPS = {"i": "integers", "u": "integers", "f": "floats", "b": "Booleans", "U": "text"}


class LabelBinarizer(preprocessing.LabelBinarizer, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]  # they have no types
    """Binarize labels one against all others as scikit-learn's LabelBinarizer does, faster.

    It is a `sklearn.preprocessing.LabelBinarizer`: parameters, attributes, results, warnings and
    errors are those of the original, whose code runs wherever an input is rare. Text and numbers
    in arrays, lists and columns go a faster way, and columns of codes (category, Enum, dictionary)
    are not hashed again. Sparse results have indices of 32 bits where these suffice.

    See Also
    --------
    label_binarize : The same with classes that are known beforehand.
    MultiLabelBinarizer : For any number of labels in a row.

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
        own = type(self)
        if (own.fit, own.transform) != (LabelBinarizer.fit, LabelBinarizer.transform):
            return self.fit(y).transform(y)  # a subclass has its own
        labels = self._learn(y)
        found = None if labels is None else binarize(labels, self.classes_, self._marks)
        return super().transform(y) if found is None else found

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
            integers in an array, else int64.

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
        labels = read_labels(y) if self._marks.are_plain() else None
        found = None if labels is None else binarize(labels, self.classes_, self._marks)
        return super().transform(y) if found is None else found

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
        is_plain = self.y_type_ == "multiclass" and not self.sparse_input_
        if is_plain and _has_one_positive(Y) and Y.shape[1] <= len(self.classes_):
            return self.classes_[Y.indices]
        return super().inverse_transform(Y, threshold)

    def _learn(self, y: Any) -> Labels | None:
        """Learn the classes and return the labels, if they could be read without scikit-learn."""
        labels = read_labels(y) if self._marks.are_plain() else None
        if labels is None:
            super().fit(y)
            return None
        self.y_type_ = labels.target_type
        self.sparse_input_ = False
        self.classes_ = labels.classes()
        return labels

    @property
    def _marks(self) -> Marks:
        """What the parameters say of the result."""
        return Marks(self.neg_label, self.pos_label, self.sparse_output)


def label_binarize(
    y: Any, *, classes: Any, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
) -> Any:
    """Binarize labels one against all others, with classes that are known beforehand.

    Does what `sklearn.preprocessing.label_binarize` does.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_classes)
        One label a row, or an indicator matrix.
    classes : array-like of shape (n_classes,)
        The class of each column, in their order.
    neg_label : int, default 0
        What stands where a row has not the class.
    pos_label : int, default 1
        What stands where it has.
    sparse_output : bool, default False
        Return a CSR matrix, and not an ndarray.

    Returns
    -------
    ndarray or csr_matrix of shape (n_samples, n_classes)
        See `LabelBinarizer.transform`.

    Raises
    ------
    TypeError, ValueError
        As scikit-learn words them.
    MemoryError
        A dense result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> label_binarize([1, 6], classes=[1, 6, 4, 2])
    array([[1, 0, 0, 0],
           [0, 1, 0, 0]])
    >>> label_binarize(["yes", "no"], classes=["no", "yes"])
    array([[1],
           [0]])
    """
    marks = Marks(neg_label, pos_label, sparse_output)
    labels = read_labels(y) if marks.are_plain() else None
    found = None if labels is None else binarize(labels, classes, marks)
    if found is not None:
        return found
    return sklearn_label_binarize(y, classes=classes, **marks._asdict())


def _has_one_positive(matrix: Any) -> bool:
    """Tell whether each row of a CSR matrix stores one element, and that a positive one."""
    if not (sparse.issparse(matrix) and matrix.format == "csr" and matrix.ndim == 2):
        return False
    return bool((np.diff(matrix.indptr) == 1).all() and (matrix.data > 0).all())


class Labels(NamedTuple):
    """Labels that have been read: one for each row, and none of them missing."""

    codes: AnyArray  # the position of each row's label in `categories`
    categories: AnyArray  # distinct, in any order; text has a dtype of text
    used: AnyArray  # the categories that occur
    dtype: np.dtype[Any] | None  # of the array they came in, None for a list

    @property
    def target_type(self) -> str:
        """What `sklearn.utils.multiclass.type_of_target` says of the labels."""
        return "multiclass" if len(self.used) > 2 else "binary"

    def classes(self) -> AnyArray:
        """Return what `sklearn.utils.multiclass.unique_labels` makes of them."""
        return np.sort(self.used).astype(self.used.dtype.newbyteorder("="), copy=False)


class Marks(NamedTuple):
    """What stands in the matrix, and its form."""

    neg_label: Any
    pos_label: Any
    sparse_output: Any

    def are_plain(self) -> bool:
        """Tell whether these are parameters that scikit-learn accepts."""
        if not (type(self.neg_label) is type(self.pos_label) is int):
            return False
        fit_sparse = self.pos_label != 0 and self.neg_label == 0
        return (
            -INT64_END <= self.neg_label < self.pos_label < INT64_END
            and type(self.sparse_output) is bool
            and (fit_sparse or not self.sparse_output)
        )


def read_labels(y: Any) -> Labels | None:
    """Return the labels, or None where scikit-learn has to judge them (and perhaps refuse them)."""
    if type(y) is np.ndarray:
        return _read_array(y, y.dtype)
    if type(y) in (list, tuple):
        values = _uniform(y)
        dtype = None if values is None or type(y) is list else values.dtype
        return None if values is None else _read_array(values, dtype)
    if reader_of(y) is None or len(getattr(y, "shape", (0,))) != 1:
        return None
    if isinstance(getattr(y, "dtype", None), np.dtype) and y.dtype.kind in "biuf":
        return _read_array(np.asarray(y), y.dtype)
    return _read_text(y)


def binarize(labels: Labels, given: Any, marks: Marks) -> Any:
    """Return a row for each label, or None where scikit-learn has to judge the classes.

    The element in the column of a label's class is positive. Of two classes only the second has a
    column, and a class alone has one without positives.
    """
    classes = _as_classes(given, labels)
    if classes is None:
        return None
    n = len(classes)
    if not n or len(np.unique(classes)) < n or (classes != classes).any():
        return None
    columns = Categories.of(classes).find(Categories.of(labels.categories))
    if n < 3 and labels.target_type == "binary":
        columns, n = np.where(columns == 1, 0, -1), 1
    column = CodedColumn(labels.codes, np.append(columns, -1).astype(np.int32), n)
    if not marks.sparse_output:
        dtype = labels.dtype
        dtype = dtype if dtype is not None and dtype.kind in KEPT_KINDS else np.dtype(np.int64)
        # An integer beyond a narrow dtype wraps around in it, as it does in scikit-learn,
        # which only refuses to fill the column of a class alone with it.
        on, off = np.array([marks.pos_label, marks.neg_label], np.int64).astype(dtype)
        if len(classes) == 1 and off != marks.neg_label:
            return None
        return write.rows([column], dtype, on=on, off=off)
    parts = write.csr([column], np.int64)
    parts[0].fill(marks.pos_label)
    return wrap_csr(parts, (len(labels.codes), n))


def _as_classes(given: Any, labels: Labels) -> AnyArray | None:
    """Return classes as values that labels may be equal to; text is equal to text only."""
    if not isinstance(given, np.ndarray | list):
        return None
    try:
        classes = np.asarray(given)
    except ValueError:  # lists of several lengths
        return None
    if classes.dtype == object and classes.ndim == 1 and len(classes):
        classes = _as_text(classes) if object_type(classes) is str else classes
    dtype, group = labels.dtype, GROUPS.get(labels.categories.dtype.kind)
    if classes.ndim != 1 or GROUPS.get(classes.dtype.kind, "") != group:
        return None
    if not BEFORE_1_9 and dtype is not None and dtype.kind in "iu":
        classes = classes.astype(dtype, copy=False)
    is_exact = np.result_type(classes, labels.categories).kind != "f" or group == "floats"
    return classes if is_exact else None


def _read_array(values: AnyArray, dtype: np.dtype[Any] | None) -> Labels | None:
    """Return the labels in an array, or in its only column."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.reshape(-1)
    is_plain = values.dtype.kind in "biuOU" or values.dtype in FLOATS
    if values.ndim != 1 or not values.size or not is_plain:
        return None
    try:
        column = Values([values]).encode()
    except TypeError:  # a label without a hash
        return None
    return _checked(column.codes, column.stored, dtype)


def _read_text(y: Any) -> Labels | None:
    """Return the texts in a column of a library; what others become is up to `check_array`."""
    try:
        column = read_column(y)
    except (TypeError, ValueError):
        return None
    is_text = object_type(column.stored) is str
    return _checked(column.codes, column.stored, None) if is_text else None


def _checked(
    codes: AnyArray, categories: AnyArray | Strings, dtype: np.dtype[Any] | None
) -> Labels | None:
    """Return coded labels, if none is missing and the categories are plain."""
    counts = write.count(codes, len(categories))
    if counts.sum() != len(codes):
        return None
    if isinstance(categories, Strings) or categories.dtype == object:
        if object_type(categories) is not str:
            return None
        categories = _as_text(categories)
    if categories.dtype.kind == "f" and not _is_whole(categories):
        return None
    used = categories if counts.all() else categories[counts > 0]
    if used.dtype.kind == "U" and used is not categories:
        used = _as_text(used)  # no wider than the longest
    return Labels(codes, categories, used, dtype)


def _uniform(y: Sequence[Any]) -> AnyArray | None:
    """Return a list whose elements are all of one of Python's plain types."""
    kind = type(y[0]) if y else None
    if kind is str:  # whether all are, their categories will tell
        values = np.empty(len(y), object)
        values[:] = y
        return values
    if kind not in (int, bool, float) or set(map(type, y)) != {kind}:
        return None
    numbers = np.asarray(y)
    return numbers if numbers.dtype.kind in "bif" else None  # not beyond int64


def _is_whole(numbers: AnyArray) -> bool:
    """Tell whether floats are integers that int64 holds: classes, and not a regression's target."""
    return bool(((numbers == np.trunc(numbers)) & (np.abs(numbers) < INT64_END)).all())


def _as_text(categories: AnyArray | Strings) -> AnyArray:
    """Return texts in NumPy's own dtype, which compares them without asking Python."""
    return np.asarray(categories.tolist())
