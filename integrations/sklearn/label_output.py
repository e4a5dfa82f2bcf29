"""Labels and classes → the binary matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn
from scipy import sparse

from onehot_fast._arguments import shapes
from onehot_fast._encode.scipy_sparse import sparse_array
from onehot_fast._runtime import dispatch, memory, parallel
from onehot_fast.integrations.sklearn.label_source import AnyArray, Labels
from onehot_fast.integrations.sklearn.output import csr_container

# From 1.9 on unsigned labels no longer make unsigned results, in which -1 would be 255, and the
# classes are converted to the dtype of integer labels.
BEFORE_1_9 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
KEPT_KINDS = "iu" if BEFORE_1_9 else "i"


class Marks(NamedTuple):
    """What stands in the matrix, and its form."""

    neg_label: int
    pos_label: int
    sparse_output: bool

    def check(self) -> None:
        """Refuse marks that cannot be told apart, or of which a sparse matrix has too many."""
        if self.neg_label >= self.pos_label:
            raise ValueError(
                f"neg_label={self.neg_label} must be strictly less than pos_label={self.pos_label}."
            )
        if self.sparse_output and (self.pos_label == 0 or self.neg_label != 0):
            raise ValueError(
                "Sparse binarization is only supported with non zero pos_label and zero neg_label,"
                f" got pos_label={self.pos_label} and neg_label={self.neg_label}"
            )


class Classes(NamedTuple):
    """The classes in their order, and sorted, as labels are looked up."""

    given: AnyArray
    ordered: AnyArray

    @classmethod
    def of(cls, given: AnyArray, dtype: np.dtype[Any] | None) -> Classes:
        """Return classes for labels of a dtype."""
        if not BEFORE_1_9 and dtype is not None and dtype.kind in "iu":
            given = given.astype(dtype, copy=False)
        return cls(given, np.sort(given))

    @property
    def order(self) -> npt.NDArray[np.intp] | None:
        """Return where each class is among the sorted ones, None if they are in order."""
        if (self.given == self.ordered).all():
            return None
        return np.searchsorted(self.ordered, self.given)

    def places(self, categories: AnyArray) -> npt.NDArray[np.int32]:
        """Return the position of each category among the sorted classes, -1 for none.

        Texts are no numbers: NumPy would take "1" and 1 for equal where there are many of each.
        """
        places = np.full(len(categories), -1, np.int32)
        if len(categories) and _is_text(categories) == _is_text(self.ordered):
            known = np.isin(categories, self.ordered)
            places[known] = np.searchsorted(self.ordered, categories[known])
        return places


def result_dtype(dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    """Return the dtype of a dense result: that of integers, else the default one."""
    return dtype if dtype is not None and dtype.kind in KEPT_KINDS else np.dtype(np.int64)


def binary_matrix(labels: Labels, classes: Classes, marks: Marks) -> Any:
    """Return a row for each label: positive in the column of its class, if it is one.

    Of two classes only the second has a column, and a class alone has one without positives.
    """
    n_classes, order = len(classes.given), classes.order
    places = classes.places(labels.categories)
    if labels.kind == "binary" and n_classes < 3:
        last = -2 if n_classes == 1 else (n_classes - 1 if order is None else order[-1])
        if n_classes == 0:
            raise IndexError("there are no classes, so the only column has none")
        return _write(labels, np.where(places == last, 0, -1), 1, marks)
    if order is not None and len(set(order.tolist())) == n_classes:
        columns = np.empty(n_classes + 1, np.int32)
        columns[order] = np.arange(n_classes)
        columns[-1] = -1
        return _write(labels, columns[places], n_classes, marks)
    matrix = _write(labels, places, n_classes, marks)
    return matrix if order is None else matrix[:, order]  # a class that is given twice


def _write(labels: Labels, columns: npt.NDArray[Any], n_columns: int, marks: Marks) -> Any:
    """Return the matrix with a positive where the category of a row has a column."""
    table = np.append(columns, -1).astype(np.int32)
    shape = len(labels.codes), n_columns
    if marks.sparse_output:
        threads = parallel.resolve(None, 4 * shape[0])
        parts = dispatch.csr([labels.codes], [table], n_columns, np.int64, threads)
        if marks.pos_label != 1:
            parts[0].fill(marks.pos_label)
        return finished(sparse_array("csr", parts, shape))
    dtype = result_dtype(labels.dtype)
    shapes.check_size(shape, dtype)
    out, _ = memory.allocate(shape, dtype)
    # Numbers beyond a narrow dtype wrap around in it, as those of int64 do when they are cast.
    on, off = np.array([marks.pos_label, marks.neg_label], np.int64).astype(dtype).reshape(2, 1)
    threads = parallel.resolve(None, out.nbytes)
    as_bytes = on.view(np.uint8), off.view(np.uint8)
    dispatch.encode_matrix([labels.codes], [table], out, *as_bytes, threads)
    return out


def indicator_matrix(y: Any, classes: Classes, marks: Marks) -> Any:
    """Return a matrix of several labels a row with the marks in it, and its columns in order."""
    matrix = _sparse_marks(y, marks) if marks.sparse_output else _dense_marks(y, marks)
    return matrix if classes.order is None else matrix[:, classes.order]


def _sparse_marks(y: Any, marks: Marks) -> Any:
    """Return what is stored and not zero as positives; 1 leaves all as it is."""
    matrix = sparse.csr_array(y, copy=True)
    data = matrix.data.astype(np.int64, copy=False)
    if marks.pos_label != 1:
        data[data != 0] = marks.pos_label
    return csr_container()((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _dense_marks(y: Any, marks: Marks) -> AnyArray:
    """Return positives where `y` is not zero; 1 leaves all as it is."""
    dense = y.toarray() if sparse.issparse(y) else np.asarray(y)
    # Cast before it is marked: a Boolean cannot hold -1.
    matrix: AnyArray = dense.astype(result_dtype(getattr(y, "dtype", None)))
    positive = marks.pos_label or -marks.neg_label  # 0 takes its place at the end
    if positive != 1:
        matrix[matrix != 0] = positive
    if marks.neg_label != 0:
        matrix[matrix == 0] = marks.neg_label
    if marks.pos_label == 0:
        matrix[matrix == positive] = 0
    return matrix


def finished(matrix: Any) -> Any:
    """Return a canonical CSR array in the container that scikit-learn is configured for."""
    converted = csr_container()(matrix)
    converted.has_sorted_indices = True
    converted.has_canonical_format = True
    return converted


def _is_text(values: AnyArray) -> bool:
    """Tell whether values are texts."""
    kind = values.dtype.kind
    return kind in "UT" or (kind == "O" and values.size > 0 and isinstance(values.flat[0], str))
