"""scikit-learn's KBinsDiscretizer, with faster kernels for one-hot results."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import CodedColumn, map_columns

from ._columns import one_hot_rows, returns_table
from ._exchange import Exchange
from ._originals import KBinsDiscretizer as SklearnKBinsDiscretizer


class KBinsDiscretizer(Exchange, SklearnKBinsDiscretizer):
    """Bin numbers as scikit-learn's KBinsDiscretizer does, and one-hot encode the bins faster.

    This subclass of `sklearn.preprocessing.KBinsDiscretizer` has the same parameters, attributes,
    results, warnings and errors. scikit-learn's code fits the bins and computes ordinal results.

    Examples
    --------
    >>> bins = KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    >>> bins.fit_transform([[0.0], [1.0], [3.0]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.encode == "ordinal" or returns_table(self):
            return super().transform(X)
        dtype = (np.float64, np.float32) if self.dtype is None else self.dtype
        values = validate_data(self, X, dtype=dtype, reset=False)

        def code(i: int) -> CodedColumn:
            bins = np.searchsorted(self.bin_edges_[i][1:-1], values[:, i], side="right")
            return CodedColumn(bins, None, int(self.n_bins_[i]))

        columns = map_columns(code, range(len(self.bin_edges_)), values.nbytes)
        return one_hot_rows(columns, values.dtype, is_sparse=self.encode != "onehot-dense")
