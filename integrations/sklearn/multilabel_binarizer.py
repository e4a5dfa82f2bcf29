"""scikit-learn's MultiLabelBinarizer: any number of labels in a row, hashed once."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from onehot_fast.adapter import CodedColumn, number_labels, reader_of, write

from ._columns import AnyArray, wrap_csr
from ._originals import MultiLabelBinarizer as SklearnMultiLabelBinarizer

__all__ = ["MultiLabelBinarizer"]


class MultiLabelBinarizer(SklearnMultiLabelBinarizer, auto_wrap_output_keys=None):
    """Turn rows of labels into an indicator matrix as MultiLabelBinarizer does, faster.

    It is a `sklearn.preprocessing.MultiLabelBinarizer`: parameters, attributes, results, warnings
    and errors are those of the original.

    See Also
    --------
    LabelBinarizer : For one label in each row.
    onehot_fast.multi_hot : Rows of labels to any dtype, or to counts.

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
        """Learn the classes, unless they are given.

        Parameters
        ----------
        y : iterable of iterables
            The labels of each row, which can be hashed and ordered. Left alone if there are
            `classes`.

        Returns
        -------
        MultiLabelBinarizer
            Itself.
        """
        super().fit(y if self.classes is not None else _as_rows(y))
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_transform(self, y: Any) -> Any:
        """Learn the classes and encode the same rows, which are read once.

        Parameters
        ----------
        y : as for `fit`

        Returns
        -------
        ndarray or csr_matrix of int64, shape (n_samples, n_classes)
            See `transform`.
        """
        if self.classes is not None:
            return self.fit(y).transform(y)
        self._cached_dict = None
        numbers: dict[Any, int] = {}
        offsets, codes = number_labels(list(_as_rows(y)), numbers)
        dtype = int if all(isinstance(label, int) for label in numbers) else object
        classes = np.empty(len(numbers), dtype)
        classes[:] = list(numbers)
        distinct, positions = np.unique(classes, return_inverse=True)
        self.classes_: AnyArray = distinct
        return self._matrix(offsets, codes, positions)

    def transform(self, y: Any) -> Any:
        """Encode rows of labels.

        Parameters
        ----------
        y : as for `fit`

        Returns
        -------
        ndarray or csr_matrix of int64, shape (n_samples, n_classes)
            1 where a row has the label of the column. A CSR array if scikit-learn is configured so.

        Warns
        -----
        UserWarning
            Some labels are not classes; they are ignored.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            The binarizer is not fitted.
        TypeError
            A row is not iterable, or a label cannot be hashed.
        MemoryError
            A dense result does not fit into the free memory. Nothing has been allocated.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        numbers = dict(self._build_cache())
        offsets, codes = number_labels(list(_as_rows(y)), numbers)
        if len(numbers) > n_classes:
            unknown = sorted(list(numbers)[n_classes:], key=str)
            warnings.warn(f"unknown class(es) {unknown} will be ignored", stacklevel=2)
        return self._matrix(offsets, codes, np.arange(n_classes))

    def inverse_transform(self, yt: Any) -> list[tuple[Any, ...]]:
        """Return the labels of the rows of an indicator matrix.

        Parameters
        ----------
        yt : ndarray or sparse matrix of shape (n_samples, n_classes)
            Of 0 and 1.

        Returns
        -------
        list of tuple
            The labels of each row, in the order of the columns.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            The binarizer is not fitted.
        ValueError
            It has another number of columns, or another number in it.
        """
        check_is_fitted(self)
        indicated = _indicated(yt) if yt.shape[1] == len(self.classes_) else None
        if indicated is None:
            decoded: list[tuple[Any, ...]] = super().inverse_transform(yt)
            return decoded
        lengths, columns = indicated
        flat = tuple(self.classes_[columns])
        ends = np.cumsum(lengths).tolist()
        return [flat[start:stop] for start, stop in pairwise((0, *ends))]

    def _matrix(self, offsets: AnyArray, codes: AnyArray, positions: AnyArray) -> Any:
        """Return the indicator matrix of rows of codes; a code has its column in `positions`."""
        lut, n_classes = np.append(positions, -1).astype(np.int32), len(self.classes_)
        column = CodedColumn(codes, lut, n_classes)
        if not self.sparse_output:
            return write.multi_hot(offsets, column, np.int64)
        parts = write.multi_hot_csr(offsets, column, np.int64)
        return wrap_csr(parts, (len(offsets) - 1, n_classes))


def _as_rows(y: Any) -> Any:
    """Return rows that Python iterates over; Arrow and polars would yield objects of their own."""
    to_list = getattr(y, "to_pylist", getattr(y, "to_list", None))
    return y if reader_of(y) is None or to_list is None else to_list()


def _indicated(yt: Any) -> tuple[AnyArray, AnyArray] | None:
    """Return how many labels each row has, and the columns of all; None if not all are 0 or 1."""
    if sparse.issparse(yt):
        matrix = yt.tocsr()
        # As in scikit-learn, a zero that is stored stands for a label.
        is_binary = ((matrix.data == 0) | (matrix.data == 1)).all()
        return (np.diff(matrix.indptr), matrix.indices) if is_binary else None
    if not isinstance(yt, np.ndarray) or yt.ndim != 2:
        return None
    positions = np.flatnonzero(yt if yt.dtype == np.bool_ else yt != 0)  # NaN is not 0 either
    if not (yt.reshape(-1)[positions] == 1).all():
        return None
    rows, columns = np.divmod(positions, max(yt.shape[1], 1))
    return np.bincount(rows, minlength=len(yt)), columns
