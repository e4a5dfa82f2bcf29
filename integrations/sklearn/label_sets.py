"""scikit-learn's MultiLabelBinarizer: any number of labels in a row, hashed once."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from onehot_fast._arguments import shapes
from onehot_fast._categories.numbering import number_labels
from onehot_fast._encode.scipy_sparse import sparse_array
from onehot_fast._runtime import dispatch, memory, parallel
from onehot_fast._runtime.registry import reader_of
from onehot_fast.integrations.sklearn.label_output import finished

__all__ = ["MultiLabelBinarizer"]

AnyArray: TypeAlias = npt.NDArray[Any]


class MultiLabelBinarizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]  # they have no types
    """Turn rows of labels into an indicator matrix as MultiLabelBinarizer does, faster.

    Parameters, attributes, results, warnings and errors are those of
    `sklearn.preprocessing.MultiLabelBinarizer`.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), optional
        The class of each column, in their order and each once.
    sparse_output : bool, default False
        Return a CSR matrix, and not an ndarray.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        A copy of `classes`, or the labels that `fit` met, sorted; of dtype int if all of them are,
        else object.

    See Also
    --------
    LabelBinarizer : For one label in each row.
    onehot_fast.multi_hot : Rows of labels to any dtype, or to counts.

    Notes
    -----
    The columns of a sparse result are sorted within each row. What is stored as zero in a sparse
    matrix is no label to `inverse_transform`.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classes": ["array-like", None],
        "sparse_output": ["boolean"],
    }

    def __init__(self, *, classes: Any = None, sparse_output: bool = False) -> None:
        self.classes = classes
        self.sparse_output = sparse_output

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

        Raises
        ------
        TypeError
            A row is not iterable, or labels cannot be hashed or compared.
        ValueError
            `classes` has one twice.
        """
        self._validate()
        if self.classes is None:
            met: dict[Hashable, int] = {}
            number_labels(list(_as_rows(y)), met)
            # Through a set: what has no order, like NaN, then ends where scikit-learn puts it.
            self.classes_ = _class_array(sorted(set(iter(met))))
        elif len(set(self.classes)) < len(self.classes):
            raise ValueError(
                "The classes argument contains duplicate classes. Remove these duplicates before"
                " passing them to MultiLabelBinarizer."
            )
        else:
            self.classes_ = _class_array(self.classes)
        return self

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
        self._validate()
        met: dict[Hashable, int] = {}
        offsets, codes = number_labels(list(_as_rows(y)), met)
        self.classes_, places = np.unique(_class_array(list(met)), return_inverse=True)
        return self._matrix(offsets, codes, places)

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
            Some labels are no classes; they are ignored.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError
            A row is not iterable, or a label cannot be hashed.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        met = dict(zip(self.classes_.tolist(), range(n_classes), strict=True))
        offsets, codes = number_labels(list(_as_rows(y)), met)
        if len(met) > n_classes:
            unknown = sorted(list(met)[n_classes:], key=str)
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
            It is not fitted.
        ValueError
            It has another number of columns, or another number in it.
        """
        check_is_fitted(self)
        if yt.shape[1] != len(self.classes_):
            raise ValueError(
                f"Expected indicator for {len(self.classes_)} classes, but got {yt.shape[1]}"
            )
        lengths, columns = _indicated(yt)
        labels = list(self.classes_)
        flat = tuple(map(labels.__getitem__, columns.tolist()))
        ends = np.cumsum(lengths).tolist()
        return [flat[start:stop] for start, stop in pairwise((0, *ends))]

    def _validate(self) -> None:
        """Check the parameters."""
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()

    def _matrix(
        self, offsets: npt.NDArray[np.int64], codes: AnyArray, places: npt.NDArray[np.intp]
    ) -> Any:
        """Return the indicator matrix of rows of codes; a code has its column in `places`."""
        shape = len(offsets) - 1, len(self.classes_)
        table = np.append(places, -1).astype(np.int32)
        if self.sparse_output:
            parts = dispatch.multi_hot_csr(offsets, codes, table, shape[1], np.int64, False)
            return finished(sparse_array("csr", parts, shape))
        element = np.dtype(np.int64)
        shapes.check_size(shape, element)
        out, _ = memory.allocate(shape, element)
        if out.size:
            on, off = np.array([[1], [0]]).view(np.uint8)
            threads = parallel.resolve(None, out.nbytes)
            dispatch.multi_hot(offsets, codes, table, out, on, off, threads)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.two_d_labels = True
        return tags


def _class_array(classes: Sequence[Any]) -> AnyArray:
    """Return classes as scikit-learn keeps them."""
    dtype = np.dtype(int if all(isinstance(label, int) for label in classes) else object)
    array = np.empty(len(classes), dtype)
    array[:] = classes
    return array


def _as_rows(y: Any) -> Any:
    """Return rows that Python iterates over; Arrow and polars would yield objects of their own."""
    if reader_of(y) is not None:
        for way in ("to_pylist", "to_list"):
            if hasattr(y, way):
                return getattr(y, way)()
    return y


def _indicated(yt: Any) -> tuple[AnyArray, AnyArray]:
    """Return how many labels each row has, and the columns of all of them."""
    if sparse.issparse(yt):
        matrix = yt.tocsr()
        is_on = matrix.data != 0
        if not (matrix.data[is_on] == 1).all():
            raise ValueError("Expected only 0s and 1s in label indicator.")
        ends = np.append(0, np.cumsum(is_on))[matrix.indptr]
        return np.diff(ends), matrix.indices[is_on]
    dense = np.asarray(yt)
    # A NaN is not 0 either.
    places = np.flatnonzero(dense if dense.dtype == np.bool_ else dense != 0)
    if not (dense.reshape(-1)[places] == 1).all():
        unexpected = np.setdiff1d(dense, [0, 1])
        raise ValueError(f"Expected only 0s and 1s in label indicator. Also got {unexpected}")
    rows, columns = np.divmod(places, max(dense.shape[1], 1))
    return np.bincount(rows, minlength=len(dense)), columns
