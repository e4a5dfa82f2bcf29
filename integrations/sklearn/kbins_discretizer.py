"""scikit-learn's KBinsDiscretizer, whose bins are codes of this package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from onehot_fast.adapter import CodedColumn, write

from ._originals import KBinsDiscretizer as SklearnKBinsDiscretizer
from ._read import AnyArray
from ._sparse import wrap_csr

__all__ = ["KBinsDiscretizer"]

# Up to so many edges a value is compared with all of them, in less time than any search takes.
FEW_EDGES = 6
MANY_EDGES = 32
# The cells in which edges are looked for, and how many of these may share one.
N_CELLS = 1 << 12
FEW_IN_CELL = 4
# So many values stay in the cache meanwhile.
BLOCK = 1 << 13


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
        bins = [_bins(values[:, i], edges[1:-1]) for i, edges in enumerate(self.bin_edges_)]
        if not is_onehot:
            out = np.empty_like(values, order="C")
            for i, own in enumerate(bins):
                out[:, i] = own
            return out
        columns = [
            CodedColumn(own, None, int(n)) for own, n in zip(bins, self.n_bins_, strict=True)
        ]
        if self.encode == "onehot-dense":
            return write.rows(columns, values.dtype)
        shape = len(values), int(sum(self.n_bins_))
        return wrap_csr(write.csr(columns, values.dtype), shape)


def _bins(values: AnyArray, edges: npt.NDArray[np.float64]) -> AnyArray:
    """Return how many of the edges are at most each value."""
    grid = _Grid.of(edges) if len(edges) > FEW_EDGES else None
    if grid is None and len(edges) > MANY_EDGES:
        return np.searchsorted(edges, values, side="right")
    bins = np.zeros(len(values), np.min_scalar_type(len(edges)))
    block, is_above = np.empty(BLOCK), np.empty(BLOCK, np.bool_)
    for first in range(0, len(values), BLOCK):
        own = bins[first : first + BLOCK]
        block[: len(own)] = values[first : first + BLOCK]
        if grid is not None:
            own[:] = grid.bins(block[: len(own)])
            continue
        for edge in edges:
            np.greater_equal(block, edge, out=is_above)
            own += is_above[: len(own)]
    return bins


class _Grid:
    """Cells of one width, and the edges in each: a value is compared with those of its cell alone.

    The cell of a value is a function that never falls, whatever is rounded: a value in a higher
    cell than an edge is greater than it. So the bins are exact.
    """

    def __init__(self, edges: npt.NDArray[np.float64], scale: float) -> None:
        self.low, self.scale = edges[0], scale
        cells = self.cells(edges.copy())
        in_cell = np.bincount(cells, minlength=N_CELLS)
        self.first = in_cell.cumsum() - in_cell
        self.most = int(in_cell.max())
        self.edges = np.append(edges, np.nan)  # which no value is above

    @classmethod
    def of(cls, edges: npt.NDArray[np.float64]) -> _Grid | None:
        """Return the grid of some edges, None where it would not help."""
        with np.errstate(all="ignore"):
            scale = float((N_CELLS - 1) / (edges[-1] - edges[0]))
        if not 0 < scale < np.inf or (np.diff(edges) < 0).any():
            return None
        grid = cls(edges, scale)
        return grid if grid.most <= FEW_IN_CELL else None

    def cells(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return the cell of each value, and overwrite the values."""
        np.subtract(values, self.low, out=values)
        np.multiply(values, self.scale, out=values)
        np.maximum(values, 0, out=values)
        np.minimum(values, N_CELLS - 1, out=values)
        return values.astype(np.intp)

    def bins(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return how many of the edges are at most each value."""
        with np.errstate(over="ignore"):
            bins = self.first.take(self.cells(values.copy()))
        for _ in range(self.most):
            bins += values >= self.edges.take(bins)
        return bins
