"""scikit-learn's LabelBinarizer and MultiLabelBinarizer, with our hash tables and kernels.

If labels are integers, Booleans, strings or whole floats, `LabelBinarizer` checks only the distinct
labels. scikit-learn's code checks labels of other types.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.preprocessing import label_binarize as sklearn_label_binarize
from sklearn.utils.validation import check_is_fitted

from onehot_fast import multi_hot
from onehot_fast.adapter import CodedColumn, Rows, lut_of, read_column, reader_of, write

from ._category_encoder import CategoryLookup, CodedInput, learn
from ._columns import (
    OBJECT,
    VERSION,
    AnyArray,
    DType,
    InputColumn,
    SklearnFallback,
    csr_format,
    one_hot_rows,
    python_type,
    read_array,
    read_series,
)
from ._exchange import Exchange
from ._originals import LabelBinarizer as SklearnLabelBinarizer
from ._originals import MultiLabelBinarizer as SklearnMultiLabelBinarizer

__all__ = ["LabelBinarizer", "MultiLabelBinarizer", "label_binarize"]

INT64_END = 2.0**63
# The result has the dtype of the labels if they are of one of these kinds. scikit-learn 1.8 also
# keeps unsigned dtypes, in which -1 wraps around to 255.
KEPT_KINDS = "" if VERSION < (1, 8) else "iu" if VERSION < (1, 9) else "i"


class LabelBinarizer(Exchange, SklearnLabelBinarizer, auto_wrap_output_keys=None):
    """Binarize labels one-vs-all like scikit-learn's LabelBinarizer, but faster.

    This subclass of `sklearn.preprocessing.LabelBinarizer` has the same parameters, attributes,
    results, warnings and errors. Sparse results have 32-bit indices if the indices fit.

    See Also
    --------
    label_binarize : Binarize labels with given classes.
    MultiLabelBinarizer : Binarize rows with any number of labels.

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
        self._learn(y)
        return self

    def fit_transform(self, y: Any) -> Any:
        own = type(self)
        if (own.fit, own.transform) != (LabelBinarizer.fit, LabelBinarizer.transform):
            return self.fit(y).transform(y)  # a subclass overrides them
        learned = self._learn(y)
        with suppress(SklearnFallback):
            if learned is not None:
                n_classes = len(self.classes_)
                return self._matrix(*learned, np.arange(n_classes), n_classes)
        return super().transform(y)

    def transform(self, y: Any) -> Any:
        check_is_fitted(self)
        with suppress(SklearnFallback):
            # Unusual labels, which `_binarize` rejects, may leave no `classes_`.
            return self._binarize(y, getattr(self, "classes_", ()))
        return super().transform(y)

    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any:
        check_is_fitted(self)
        is_plain = self.y_type_ == "multiclass" and not self.sparse_input_
        is_csr = sparse.issparse(Y) and Y.format == "csr" and Y.ndim == 2
        is_plain = is_plain and is_csr and Y.shape[1] <= len(self.classes_)
        if is_plain and (np.diff(Y.indptr) == 1).all() and (Y.data > 0).all():
            return self.classes_[Y.indices]
        return super().inverse_transform(Y, threshold)

    def _learn(self, y: Any) -> tuple[CodedInput, DType | None] | None:
        """Learn the classes; return the coded labels, or None if scikit-learn had to read them."""
        with suppress(SklearnFallback):
            classes, rows, dtype = self._read(y)
            self.classes_: AnyArray = classes
            self.y_type_: str = "multiclass" if len(self.classes_) > 2 else "binary"
            self.sparse_input_ = False
            return rows, dtype
        super().fit(y)
        return None

    def _read(self, y: Any) -> tuple[AnyArray, CodedInput, DType | None]:
        """Return the sorted distinct labels, the coded labels, and the dtype from `read_labels`.

        Raise SklearnFallback for unusual options or labels.
        """
        low, high, is_sparse = self.neg_label, self.pos_label, self.sparse_output
        is_integer = type(low) is type(high) is int and -INT64_END <= low < high < INT64_END
        if not is_integer or type(is_sparse) is not bool or (is_sparse and low != 0):
            raise SklearnFallback
        column, dtype = read_labels(y)
        labels, rows = learn(column)
        if rows.codes.min() < 0:
            raise SklearnFallback
        return _checked(labels), rows, dtype

    def _binarize(self, y: Any, declared: Any) -> Any:
        """Return the matrix of labels for the declared classes."""
        labels, rows, dtype = self._read(y)
        classes = np.asarray(declared)
        if classes.ndim != 1:
            raise SklearnFallback
        classes = _checked(classes)
        is_integer = dtype is not None and dtype.kind in "iu" and classes.dtype.kind in "iu"
        if is_integer and VERSION >= (1, 9):
            classes = classes.astype(dtype, copy=False)
        found = CategoryLookup.of(classes).code(read_array(labels))
        return self._matrix(rows, dtype, found.lut.take(found.codes), len(classes))

    def _matrix(
        self, rows: CodedInput, dtype: DType | None, columns: AnyArray, n_classes: int
    ) -> Any:
        """Return one row per label, with `pos_label` in the column of its class.

        `columns` has the column of each distinct label, or `n_classes` if the label is unknown.
        Two classes have one column, for the second class. A single class has one column without
        `pos_label`.
        """
        n, columns = n_classes, np.where(columns < n_classes, columns, -1)
        if n_classes < 3 and len(columns) < 3:
            n, columns = 1, np.where(columns == 1, 0, -1)
        column = CodedColumn(rows.codes, lut_of(columns).take(rows.lut), n)
        if self.sparse_output:
            matrix = one_hot_rows([column], np.dtype(np.int64), is_sparse=True)
            matrix.data.fill(self.pos_label)
            return matrix
        dtype = dtype if dtype is not None and dtype.kind in KEPT_KINDS else np.dtype(np.int64)
        # As in scikit-learn, an integer outside a narrow dtype wraps around. scikit-learn raises
        # an error only if there is a single class.
        on, off = np.array([self.pos_label, self.neg_label], np.int64).astype(dtype)
        if n_classes == 1 and off != self.neg_label:
            raise SklearnFallback
        return write.rows([column], dtype, on=on, off=off)


class MultiLabelBinarizer(Exchange, SklearnMultiLabelBinarizer, auto_wrap_output_keys=None):
    """Convert rows of labels to an indicator matrix like MultiLabelBinarizer, but faster.

    This subclass of `sklearn.preprocessing.MultiLabelBinarizer` has the same parameters,
    attributes, results, warnings and errors.

    See Also
    --------
    LabelBinarizer : Binarize rows with one label each.
    onehot_fast.multi_hot : Encode rows of labels in any dtype, or count the labels.

    Notes
    -----
    The columns of a sparse result are sorted within each row.

    Examples
    --------
    >>> binarizer = MultiLabelBinarizer()
    >>> binarizer.fit_transform([{"new", "red"}, [], ("red",)])
    array([[1, 1],
           [0, 0],
           [0, 1]])
    >>> binarizer.classes_
    array(['new', 'red'], dtype=object)
    >>> binarizer.inverse_transform(np.array([[0, 1], [1, 1]]))
    [('red',), ('new', 'red')]
    """

    def fit(self, y: Any) -> MultiLabelBinarizer:
        return super().fit(y if self.classes is not None else _as_rows(y))

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_transform(self, y: Any) -> Any:
        if self.classes is not None:
            return self.fit(y).transform(y)
        self._cached_dict = None
        numbers: dict[Any, int] = {}
        rows = Rows.numbered(_as_rows(y), numbers)
        dtype = int if all(isinstance(label, int) for label in numbers) else object
        classes = np.empty(len(numbers), dtype)
        classes[:] = list(numbers)
        distinct, positions = np.unique(classes, return_inverse=True)
        self.classes_: AnyArray = distinct
        return self._matrix(rows, positions)

    def transform(self, y: Any) -> Any:
        check_is_fitted(self)
        n_classes = len(self.classes_)
        numbers = dict(self._build_cache())
        rows = Rows.numbered(_as_rows(y), numbers)
        if len(numbers) > n_classes:
            unknown = sorted(list(numbers)[n_classes:], key=str)
            warnings.warn(f"unknown class(es) {unknown} will be ignored", stacklevel=2)
        return self._matrix(rows, np.arange(n_classes))

    def inverse_transform(self, yt: Any) -> list[tuple[Any, ...]]:
        check_is_fitted(self)
        indicated = _indicated(yt) if yt.shape[1] == len(self.classes_) else None
        if indicated is None:
            return super().inverse_transform(yt)
        lengths, columns = indicated
        flat = tuple(self.classes_[columns])
        ends = np.cumsum(lengths).tolist()
        return [flat[start:stop] for start, stop in pairwise((0, *ends))]

    def _matrix(self, rows: Rows, positions: AnyArray) -> Any:
        """Return the indicator matrix of rows of codes; `positions` maps a code to a column."""
        n_classes = len(self.classes_)
        classes = CodedColumn.of_positions(rows.elements, positions, n_classes).features()
        form: Any = csr_format() if self.sparse_output else "numpy"
        return multi_hot(classes, n_classes, offsets=rows.offsets, dtype=np.int64, output=form)


def label_binarize(
    y: Any, *, classes: Any, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
) -> Any:
    """Binarize labels with given classes like scikit-learn's `label_binarize`, but faster.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_classes)
        One label per row, or an indicator matrix.
    classes : array-like of shape (n_classes,)
        The class of each column.
    neg_label, pos_label, sparse_output
        As for `LabelBinarizer`.

    Returns
    -------
    ndarray or csr_matrix of shape (n_samples, n_classes)
        The matrix of labels; if there are two classes, it has only one column.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `LabelBinarizer.transform`.

    Examples
    --------
    >>> label_binarize([1, 6], classes=[1, 6, 4, 2])
    array([[1, 0, 0, 0],
           [0, 1, 0, 0]])
    >>> label_binarize(["yes", "no"], classes=["no", "yes"])
    array([[1],
           [0]])
    """
    binarizer = LabelBinarizer(
        neg_label=neg_label, pos_label=pos_label, sparse_output=sparse_output
    )
    with suppress(SklearnFallback, ValueError):  # ValueError if `classes` has unequal lists
        return binarizer._binarize(y, classes)
    return sklearn_label_binarize(y, classes=classes, **binarizer.get_params())


def read_labels(y: Any) -> tuple[InputColumn, DType | None]:
    """Return labels as a column, and the dtype of their array, or None if they are not an array.

    Raise SklearnFallback if scikit-learn must check the labels.
    """
    values, dtype = y, getattr(y, "dtype", None)
    if type(y) in (list, tuple):
        values = _uniform(y)
        dtype = None if type(y) is list else values.dtype
    elif reader_of(y) is not None and isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        values = np.asarray(y)
    if type(values) is np.ndarray:
        values = values.reshape(-1) if values.shape[1:] == (1,) else values
        if values.ndim == 1 and values.size:
            return read_array(values), dtype
    elif reader_of(values) is not None and len(getattr(values, "shape", (0,))) == 1 and len(values):
        # scikit-learn's `check_array` reads columns that have other values than strings.
        with suppress(TypeError, ValueError):
            if hasattr(values, "iloc"):  # a Series, read as in a table
                return read_series(values)._replace(dtype=OBJECT), None
            return InputColumn(read_column(values), OBJECT, None), None
    raise SklearnFallback


def _checked(classes: AnyArray) -> AnyArray:
    """Return classes with strings in NumPy's fixed-width dtype, which compares fast.

    Raise SklearnFallback unless the classes are strings, Booleans or whole numbers.
    """
    if python_type(classes) is str:
        texts = classes.tolist()
        if not any(text.endswith("\0") for text in texts):  # NumPy would remove the NUL
            return np.asarray(texts)
    elif classes.dtype.kind in "biu" or (classes.dtype.kind == "f" and _are_whole(classes)):
        return classes
    raise SklearnFallback


def _are_whole(numbers: AnyArray) -> bool:
    """Tell whether all floats are whole numbers that fit in int64."""
    return bool(((numbers == np.trunc(numbers)) & (np.abs(numbers) < INT64_END)).all())


def _uniform(y: Sequence[Any]) -> AnyArray:
    """Return a list as an array; raise SklearnFallback for mixed or uncommon types."""
    kind = type(y[0]) if y else None
    if kind is str:  # a later step checks that all elements are strings
        return np.array(y, object)
    numbers = np.asarray(y) if set(map(type, y)) in ({int}, {bool}, {float}) else None
    if numbers is None or numbers.dtype.kind not in "bif":  # beyond int64
        raise SklearnFallback
    return numbers


def _as_rows(y: Any) -> Any:
    """Convert Arrow or polars rows to Python objects; return other rows unchanged."""
    to_list = getattr(y, "to_pylist", getattr(y, "to_list", None))
    return y if reader_of(y) is None or to_list is None else to_list()


def _indicated(yt: Any) -> tuple[AnyArray, AnyArray] | None:
    """Return each row's number of labels and each label's column, or None if not all are 0 or 1."""
    if sparse.issparse(yt):
        matrix = yt.tocsr()
        # As in scikit-learn, an explicitly stored zero is a label.
        is_binary = ((matrix.data == 0) | (matrix.data == 1)).all()
        return (np.diff(matrix.indptr), matrix.indices) if is_binary else None
    if not isinstance(yt, np.ndarray) or yt.ndim != 2:
        return None
    positions = np.flatnonzero(yt if yt.dtype == np.bool_ else yt != 0)  # finds NaN, too
    if not (yt.reshape(-1)[positions] == 1).all():
        return None
    rows, columns = np.divmod(positions, max(yt.shape[1], 1))
    return np.bincount(rows, minlength=len(yt)), columns
