"""Labels of any kind → the binary matrix, with classes that are known."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, validate_params
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import _num_samples

from onehot_fast.integrations.sklearn.label_homes import Home, as_numpy, home_of
from onehot_fast.integrations.sklearn.label_output import (
    Classes,
    Marks,
    binary_matrix,
    indicator_matrix,
)
from onehot_fast.integrations.sklearn.label_source import (
    Labels,
    judged_labels,
    quick_labels,
    unread_labels,
)

__all__ = ["binarize", "label_binarize", "refuse_multioutput"]

WHOLE_NUMBER = Interval(Integral, None, None, closed="neither")


@validate_params(  # type: ignore[untyped-decorator]  # it has no types
    {
        "y": ["array-like", "sparse matrix"],
        "classes": ["array-like"],
        "neg_label": [WHOLE_NUMBER],
        "pos_label": [WHOLE_NUMBER],
        "sparse_output": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def label_binarize(
    y: Any, *, classes: Any, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
) -> Any:
    """Binarize labels one against all others, with classes that are known beforehand.

    Does what `sklearn.preprocessing.label_binarize` does, with the differences that
    `LabelBinarizer` notes.

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
    return binarize(y, quick_labels(y), classes, Marks(neg_label, pos_label, sparse_output))


def binarize(y: Any, labels: Labels | None, classes: Any, marks: Marks) -> Any:
    """Return the matrix of labels, be they read or not."""
    if labels is not None:
        marks.check()
        return binary_matrix(labels, Classes.of(as_numpy(classes), labels.dtype), marks)
    if not isinstance(y, list):
        y = check_array(y, input_name="y", accept_sparse="csr", ensure_2d=False, dtype=None)
    elif not y:
        raise ValueError(f"y has 0 samples: {y!r}")
    marks.check()
    kind = type_of_target(y)
    refuse_multioutput(kind)
    if kind == "unknown":
        raise ValueError("The type of target data is not known")
    home = home_of(y)
    if home is None:
        return _judged(y, kind, as_numpy(classes), marks)
    own = _at_home(classes, home, marks)
    return home.receive(_judged(home.numpy(y), kind, own, marks))


def _judged(y: Any, kind: str, given: Any, marks: Marks) -> Any:
    """Return the matrix of labels of which scikit-learn has told the kind."""
    dtype = getattr(y, "dtype", None)
    classes = Classes.of(given, dtype)
    if kind == "multilabel-indicator":
        n_columns = y.shape[1] if hasattr(y, "shape") else len(y[0])
        if len(given) != n_columns:
            raise ValueError(
                f"classes {classes.given} mismatch with the labels {unique_labels(y)} found in the"
                " data"
            )
        return indicator_matrix(y, classes, marks)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"{kind} target data is not supported with label binarization")
    if kind == "binary" and len(given) == 1:  # whatever the rows are, sparse ones too
        return binary_matrix(unread_labels(_num_samples(y), dtype), classes, marks)
    return binary_matrix(judged_labels(y, dtype), classes, marks)


def _at_home(classes: Any, home: Home, marks: Marks) -> Any:
    """Return classes that another array library can hold."""
    if marks.sparse_output:
        raise ValueError(
            f"`sparse_output=True` is not supported for array API 'namespace {home.name}'. "
            "Use `sparse_output=False` to return a dense array instead."
        )
    try:
        return home.numpy(home.receive(classes))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"`classes` contains unsupported dtype for array API namespace '{home.name}'."
        ) from error


def refuse_multioutput(kind: str) -> None:
    """Refuse several targets."""
    if "multioutput" in kind:
        raise ValueError("Multioutput target data is not supported with label binarization")
