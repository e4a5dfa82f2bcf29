"""scikit-learn's KBinsDiscretizer, whose bins are codes of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import CodedColumn, find_bins, write

from ._columns import wrap_csr
from ._originals import KBinsDiscretizer as SklearnKBinsDiscretizer

__all__ = ["KBinsDiscretizer"]


class KBinsDiscretizer(SklearnKBinsDiscretizer):
    """Bin numbers as scikit-learn's KBinsDiscretizer does, and encode the bins faster.

    It is a `sklearn.preprocessing.KBinsDiscretizer`: parameters, attributes, results, warnings and
    errors are those of the original. What it learns is learned by its code.

    Examples
    --------
    >>> bins = KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    >>> bins.fit_transform([[0.0], [1.0], [3.0]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    def transform(self, X: Any) -> Any:
        """Bin rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing.

        Returns
        -------
        csr_matrix or ndarray
            By `encode`, as `sklearn.preprocessing.KBinsDiscretizer.transform` describes it.

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
        is_onehot = "onehot" in self.encode
        if is_onehot and _get_output_config("transform", estimator=self)["dense"] != "default":
            return super().transform(X)
        dtype = (np.float64, np.float32) if self.dtype is None else self.dtype
        values = validate_data(self, X, dtype=dtype, reset=False)
        inner = [edges[1:-1] for edges in self.bin_edges_]
        if not all((edges[1:] >= edges[:-1]).all() for edges in inner):
            return super().transform(X)  # the edges of numbers whose differences are no numbers
        if not is_onehot:
            return find_bins(values, inner, values.dtype)
        most = max(map(len, inner), default=0)
        smallest = np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.int32
        bins = find_bins(values, inner, smallest, by_column=True)
        columns = [
            CodedColumn(own, None, int(n)) for own, n in zip(bins.T, self.n_bins_, strict=True)
        ]
        if self.encode == "onehot-dense":
            return write.rows(columns, values.dtype)
        shape = len(values), int(sum(self.n_bins_))
        return wrap_csr(write.csr(columns, values.dtype), shape)
