"""A one-hot matrix that stores only codes, and computes products and sums from the codes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import scatter
from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import human_size, with_article
from onehot_fast._arguments.shapes import check_size
from onehot_fast._pipeline import write
from onehot_fast._pipeline.gram import dense_gram, sparse_gram
from onehot_fast._pipeline.joint_codes import JointLayout
from onehot_fast._reports.bars import frequency_table
from onehot_fast._runtime import memory, parallel
from onehot_fast._runtime.utils import restoring
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._version import __version__

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

__all__ = ["OneHotMatrix"]

AnyArray: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
# The names of the columns, a function that returns them, or None for default names.
Names: TypeAlias = Sequence[str] | Callable[[], Sequence[str]] | None

# What a notebook shows: the columns, and the rows whose ones are counted.
MAX_COLUMNS_SHOWN = 20
MAX_ROWS_COUNTED = 100_000
MAX_CATEGORIES = (1 << 31) - 3  # two more codes, for missing values and for NaN, fit in 32 bits


class OneHotMatrix:
    """A one-hot matrix that stores integer codes instead of its elements.

    ``Encoder.transform(table, "implicit")`` and `from_codes` create it. Products, sums
    and Gram matrices are computed from the codes, in float64. Results of one-hot columns do not
    depend on the number of threads. NumPy multiplies the numeric columns. The matrix is immutable
    and owns its memory.

    With ``handle_missing="propagate"``, the features of a missing value are NaN, and so are the
    results that depend on them. Zeros are never multiplied, as in scipy.sparse. For example, an
    infinite element of `x` in ``X @ x`` affects only the rows in which its feature is one.

    Attributes
    ----------
    shape : tuple of int
        The numbers of rows and of columns.
    dtype : numpy.dtype
        Always float64.
    ndim : int
        Always 2.

    See Also
    --------
    onehot_fast.Encoder.transform : Encode a table.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast import OneHotMatrix
    >>> X = OneHotMatrix.from_codes([[0, 1, 0], [2, -1, 1]], [2, 3])
    >>> X
    OneHotMatrix(3 rows, 5 columns of 2 categorical columns, 3 bytes)
    >>> X.to_numpy()
    array([[1., 0., 0., 0., 1.],
           [0., 1., 0., 0., 0.],
           [1., 0., 0., 1., 0.]])
    >>> X @ [10, 20, 1, 2, 3]
    array([13., 20., 12.])
    >>> X.T @ [1, 2, 3]
    array([4., 2., 0., 3., 1.])
    >>> X.gram().diagonal()
    array([2., 1., 0., 1., 1.])
    """

    ndim = 2
    dtype: np.dtype[Any] = np.dtype(np.float64)
    # Make NumPy call `__rmatmul__` for ``array @ matrix`` instead of iterating over the rows.
    __array_ufunc__ = None
    __iter__ = None

    def __init__(
        self, layout: JointLayout, codes: Sequence[AnyArray], numeric: Floats, names: Names
    ) -> None:
        for array in (*codes, numeric):
            array.flags.writeable = False
        self._layout, self._codes, self._numeric, self._names = layout, [*codes], numeric, names

    @classmethod
    def from_codes(
        cls,
        codes: Sequence[npt.ArrayLike],
        n_categories: Sequence[int],
        *,
        numeric: npt.ArrayLike | None = None,
        column_names: Sequence[str] | None = None,
        num_threads: int | None = None,
    ) -> OneHotMatrix:
        """Return the one-hot matrix of integer codes.

        Parameters
        ----------
        codes : sequence of array_like of int, shape (n_rows,)
            The codes of each categorical column. A negative code is a missing value, which becomes
            a row of zeros.
        n_categories : sequence of int
            The number of categories of each column. The column's codes must be below this number.
        numeric : array_like of float, shape (n_rows, n_numeric), optional
            Numeric columns, which are placed after the categorical columns.
        column_names : sequence of str, optional
            The names of all columns, by default ``x0_0``, ``x0_1``, ... and ``numeric_0``, ...
        num_threads : int, optional
            The number of threads. By default, it depends on the size of the matrix.

        Returns
        -------
        OneHotMatrix

        Raises
        ------
        TypeError
            Codes are not integers.
        ValueError
            The arguments differ in length, a code is not below the number of categories, or a name
            appears twice.
        """
        sizes = [operator.index(n) for n in n_categories]
        arrays = [_codes(array, i) for i, array in enumerate(codes)]
        if len(arrays) != len(sizes):
            raise ValueError(
                f"n_categories must have one entry for each of the {len(arrays)} columns, got"
                f" {len(sizes)} entries"
            )
        for i, (array, n) in enumerate(zip(arrays, sizes, strict=True)):
            if not 0 <= n <= MAX_CATEGORIES:
                raise ValueError(f"n_categories[{i}] must be in [0, {MAX_CATEGORIES}], got {n}")
            if len(array) != len(arrays[0]):
                raise ValueError(
                    f"codes[{i}] has {len(array)} rows, but codes[0] has {len(arrays[0])}"
                )
            if array.size and array.max() >= n:
                row = int(array.argmax())
                raise ValueError(f"codes[{i}][{row}] must be below {n}, got {array[row]}")
        columns = [CodedColumn(a, None, n) for a, n in zip(arrays, sizes, strict=True)]
        n_rows = len(arrays[0]) if arrays else None
        block = np.empty((n_rows or 0, 0))
        if numeric is not None:
            block = _as_columns(_floats(numeric, "numeric", n_rows)).copy()
        names: Names = None
        n_columns = sum(sizes) + block.shape[1]
        if column_names is not None:
            names = tuple(column_names)
            if len(names) != n_columns or len({*names}) != n_columns:
                raise ValueError(
                    f"column_names must contain {n_columns} different names, got {len(names)}"
                    f" names, {len({*names})} of them different"
                )
        positions = range(sum(sizes), n_columns)
        return cls._of_columns(columns, block, names, positions, num_threads)

    @classmethod
    def _of_columns(
        cls,
        columns: Sequence[CodedColumn],
        numeric: Floats,
        names: Names,
        positions: Sequence[int],
        num_threads: int | None,
    ) -> OneHotMatrix:
        """Return the matrix of `columns`, and of numeric columns at `positions`.

        `numeric` is not copied.
        """
        layout = JointLayout.of_columns(columns, positions)
        return cls(layout, layout.pack(columns, num_threads), numeric, names)

    @classmethod
    def vstack(cls, parts: Sequence[OneHotMatrix]) -> OneHotMatrix:
        """Return one matrix with the rows of all `parts`, which must have the same columns."""
        parts = [*parts]
        if not parts:
            raise ValueError("vstack needs at least one matrix, got none")
        for i, part in enumerate(parts):
            if not isinstance(part, OneHotMatrix):
                raise TypeError(
                    f"parts[{i}] must be a OneHotMatrix, got {with_article(part)}: encode it with"
                    ' Encoder.transform(table, "implicit")'
                )
        first = parts[0]
        for i, part in enumerate(parts):
            same_names = part._names is first._names or part.column_names == first.column_names
            if not (same_names and part._layout.equals(first._layout)):
                raise ValueError(f"parts[{i}] must have the same columns as parts[0]")
        codes = [np.concatenate(group) for group in zip(*(p._codes for p in parts), strict=True)]
        numeric = np.concatenate([part._numeric for part in parts])
        return cls(first._layout, codes, numeric, first._names)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return len(self._numeric), self._layout.n_columns

    @property
    def column_names(self) -> tuple[str, ...]:
        """The name of each column."""
        if self._names is None:
            return tuple(_default_names(self._layout.n_features, len(self._layout.numeric)))
        return tuple(self._names() if callable(self._names) else self._names)

    @property
    def nbytes(self) -> int:
        """The size in bytes of the codes and of the numeric columns."""
        return sum(codes.nbytes for codes in self._codes) + self._numeric.nbytes

    @property
    def T(self) -> TransposedOneHotMatrix:
        """The transpose, for products such as ``X.T @ y``."""
        return TransposedOneHotMatrix(self)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getstate__(self) -> dict[str, Any]:
        """Return the codes, the layout and the names as plain types and arrays."""
        layout = self._layout
        return {
            "version": __version__,
            "n_features": [*layout.n_features],
            "has_nan": [*layout.has_nan],
            "positions": layout.numeric,
            "codes": self._codes,
            "numeric": self._numeric,
            "names": None if self._names is None else [*self.column_names],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the matrix from the state that `__getstate__` returned."""
        with restoring(state, "a OneHotMatrix", "make the matrix again from its rows"):
            layout = _layout_of(state["n_features"], state["has_nan"], state["positions"])
            codes, numeric, names = state["codes"], state["numeric"], state["names"]
            _check_stored(numeric, "'numeric'", np.dtype(np.float64), 2)
            if numeric.shape[1] != len(layout.numeric):
                raise ValueError("'numeric' must have a column for each of the 'positions'")
            if len(codes) != len(layout.groups):
                raise ValueError(f"'codes' must have {len(layout.groups)} arrays, got {len(codes)}")
            for array, group in zip(codes, layout.groups, strict=True):
                _check_stored(array, "'codes'", np.min_scalar_type(group.n_codes - 1), 1)
                if len(array) != len(numeric) or (len(array) and array.max() >= group.n_codes):
                    raise ValueError(
                        f"'codes' must be {len(numeric)} numbers below {group.n_codes} for each row"
                    )
            if names is not None:
                names = tuple(names)
                n_names = len({name for name in names if isinstance(name, str)})
                if (len(names), n_names) != (layout.n_columns,) * 2:
                    raise ValueError(f"'names' must be {layout.n_columns} different texts")
            OneHotMatrix.__init__(self, layout, codes, numeric, names)

    def __repr__(self) -> str:
        """Show the numbers of rows and columns, and the size in memory."""
        layout = self._layout
        kinds = [f"{len(layout.n_features)} categorical"]
        if len(layout.numeric):
            kinds.append(f"{len(layout.numeric)} numeric")
        return (
            f"OneHotMatrix({self.shape[0]} rows, {self.shape[1]} columns of {' and '.join(kinds)}"
            f" columns, {human_size(self.nbytes)})"
        )

    def _repr_html_(self) -> str:
        """Return HTML: the numbers of `__repr__`, and the share of ones of the first columns."""
        first = self[:MAX_ROWS_COUNTED]
        names, numeric = self.column_names, {*self._layout.numeric.tolist()}
        shares = first.mean() if len(first) else np.zeros(self.shape[1])
        features = [i for i in range(self.shape[1]) if i not in numeric][:MAX_COLUMNS_SHOWN]
        rows = [(str(names[i]), f"{shares[i]:.2%}", float(shares[i])) for i in features]
        notes = []
        if len(first) < len(self):
            notes.append(f"shares of the first {len(first):,} rows")
        if self.shape[1] > len(features):
            notes.append(f"… {self.shape[1] - len(features):,} more columns")
        return frequency_table(repr(self), rows, "; ".join(notes))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Raise an error, because an array could be thousands of times as large as the codes."""
        raise TypeError(
            "a OneHotMatrix is not converted to an array implicitly: call X.to_numpy(), or"
            " X.to_csr() for a sparse array"
        )

    def __getitem__(self, rows: Any) -> OneHotMatrix:
        """Return the rows that a slice, an array of integers or a Boolean mask selects.

        ``X[rows, :]`` and ``X[rows, ...]`` are the same as ``X[rows]``.
        """
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] in (slice(None), Ellipsis):
            rows = rows[0]
        index = rows if isinstance(rows, slice) else self._row_positions(rows)
        codes = [np.ascontiguousarray(group[index]) for group in self._codes]
        numeric = np.ascontiguousarray(self._numeric[index])
        return OneHotMatrix(self._layout, codes, numeric, self._names)

    def _row_positions(self, rows: Any) -> npt.NDArray[np.intp]:
        """Return the positions of the rows that an array of integers or a mask selects.

        The array is copied once, and the copy selects the rows of all columns: NumPy reads a mask
        twice, so that a thread that changes it could make NumPy write outside its result.
        """
        index = np.empty((0, 0)) if isinstance(rows, tuple) else np.array(rows)
        if index.size == 0 and index.ndim == 1:
            index = index.astype(np.intp)
        if index.ndim != 1 or index.dtype.kind not in "iub":
            raise TypeError(
                "rows must be a slice, a 1-D array of integers or a Boolean mask; use X[i:i+1]"
                " for one row, and X.to_csr() to select columns"
            )
        if index.dtype.kind != "b":
            return index.astype(np.intp, copy=False)
        if len(index) != len(self):
            raise IndexError(f"the mask must have {len(self)} entries, got {len(index)}")
        return np.flatnonzero(index)

    def matvec(
        self, x: npt.ArrayLike, out: Floats | None = None, *, num_threads: int | None = None
    ) -> Floats:
        """Return the product ``X @ x``.

        Parameters
        ----------
        x : array_like of float, shape (n_columns,) or (n_columns, k)
        out : ndarray of float64, shape (n_rows,) or (n_rows, k), optional
            The array to write the product to. It may overlap `x`, but its own elements must not
            overlap each other.
        num_threads : int, optional
            The number of threads. By default, it depends on the size of the matrix.

        Returns
        -------
        ndarray of float64
            `out` if it is given, else a new array.
        """
        operand = _floats(x, "x", self.shape[1])
        result = _result(out, (self.shape[0], *operand.shape[1:]))
        # The kernel writes rows of `out` while it still reads the operand.
        is_direct = result.flags.c_contiguous and result.flags.aligned
        if not is_direct or np.may_share_memory(result, operand):
            direct = np.empty(result.shape)
        else:
            direct = result
        threads = parallel.resolve(num_threads, result.nbytes + self.nbytes)
        self._layout.multiply(
            self._codes, self._numeric, _as_columns(operand), _as_columns(direct), threads
        )
        if direct is not result:
            result[...] = direct
        return result

    def rmatvec(
        self, y: npt.ArrayLike, out: Floats | None = None, *, num_threads: int | None = None
    ) -> Floats:
        """Return the product ``X.T @ y`` with the same options as `matvec`.

        `y` has shape (n_rows,) or (n_rows, k); `out` has shape (n_columns,) or (n_columns, k).
        """
        operand = _floats(y, "y", self.shape[0])
        result = _result(out, (self.shape[1], *operand.shape[1:]))
        result[...] = self._sums(operand, num_threads).reshape(result.shape)
        return result

    matmat = matvec
    rmatmat = rmatvec

    def __matmul__(self, x: npt.ArrayLike) -> Floats:
        """Return the product of this matrix with a vector or a matrix."""
        return self.matvec(x)

    def __rmatmul__(self, y: npt.ArrayLike) -> Floats:
        """Return the product of a vector or a matrix with this matrix."""
        return self.rmatvec(np.asarray(y).T).T

    @overload
    def gram(
        self,
        weights: npt.ArrayLike | None = None,
        output: Literal["dense"] = "dense",
        *,
        num_threads: int | None = None,
    ) -> Floats: ...
    @overload
    def gram(
        self,
        weights: npt.ArrayLike | None = None,
        *,
        output: Literal["csr"],
        num_threads: int | None = None,
    ) -> csr_array: ...
    def gram(
        self,
        weights: npt.ArrayLike | None = None,
        output: Literal["dense", "csr"] = "dense",
        *,
        num_threads: int | None = None,
    ) -> Any:
        """Return the Gram matrix ``X.T @ diag(weights) @ X``.

        Parameters
        ----------
        weights : array_like of float, shape (n_rows,), optional
            By default 1 for each row.
        output : {"dense", "csr"}, default "dense"
            Use "csr" if there are many columns, but few pairs of columns are nonzero in the same
            row.
        num_threads : int, optional
            The number of threads. By default, it depends on the size of the matrix.

        Returns
        -------
        ndarray of float64 or csr_array, shape (n_columns, n_columns)
            If you split the rows into parts, the Gram matrices of the parts add up to the Gram
            matrix of all rows. If a feature contains NaN, its row and its column of the result are
            NaN.

        Raises
        ------
        MemoryError
            The dense result is larger than the free memory. Use ``output="csr"``.

        Examples
        --------
        >>> from onehot_fast import OneHotMatrix
        >>> X = OneHotMatrix.from_codes([[0, 1, 0], [2, -1, 1]], [2, 3])
        >>> X.gram(weights=[1, 2, 3])
        array([[4., 0., 0., 3., 1.],
               [0., 2., 0., 0., 0.],
               [0., 0., 0., 0., 0.],
               [3., 0., 0., 3., 0.],
               [1., 0., 0., 0., 1.]])
        """
        check_choice(output, "output", ("dense", "csr"))
        if output == "dense":
            check_size((self.shape[1], self.shape[1]), np.float64)
        row_weights = self._weights(weights)
        sums = self._sums(self._numeric * row_weights[:, None], num_threads)
        own = self._layout.numeric
        sums[own] = (sums[own] + sums[own].T) / 2  # the halves are rounded differently
        build = dense_gram if output == "dense" else sparse_gram
        return build(self._layout, self._codes, row_weights, sums, num_threads)

    def sum(self, axis: Literal[0, 1] | None = None, weights: npt.ArrayLike | None = None) -> Any:
        """Return the sum of all elements, of each column (axis 0) or of each row (axis 1).

        If `weights` is given, each row is multiplied by its weight first.
        """
        if axis not in (None, 0, 1):
            raise ValueError(f"axis must be None, 0 or 1, got {axis!r}")
        row_weights = self._weights(weights)
        if axis == 1:
            sums = self.matvec(np.ones(self.shape[1]))
            return sums if weights is None else sums * row_weights
        sums = self.rmatvec(row_weights)
        return sums if axis == 0 else float(sums.sum())

    def mean(self, weights: npt.ArrayLike | None = None) -> Floats:
        """Return the weighted mean of each column; for a feature, it is the share of ones."""
        row_weights = self._weights(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sum(0, row_weights) / row_weights.sum()  # type: ignore[no-any-return]

    def std(self, weights: npt.ArrayLike | None = None) -> Floats:
        """Return the weighted population standard deviation (ddof=0) of each column."""
        row_weights = self._weights(weights)
        mean = self.mean(row_weights)
        variance = mean * (1 - mean)  # the variance of zeros and ones
        own = self._layout.numeric
        with np.errstate(invalid="ignore", divide="ignore"):
            # Square the deviations, not the values: a large mean would cancel all digits.
            squares = (self._numeric - mean[own]) ** 2
            variance[own] = row_weights @ squares / row_weights.sum()
        return np.sqrt(np.maximum(variance, 0))

    def group_sums(self, values: npt.ArrayLike) -> dict[str, Any]:
        """Return the sum of `values` in the rows of each category, as a dict from column names.

        Parameters
        ----------
        values : array_like of float, shape (n_rows,) or (n_rows, k)

        Returns
        -------
        dict of str to float, or to ndarray of shape (k,)
            The result for a numeric column is the sum of its elements times the values.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> X = Encoder().fit_transform({"city": ["Rome", "Oslo", "Rome"]}, output="implicit")
        >>> X.group_sums([10, 20, 30])
        {'city_Oslo': 20.0, 'city_Rome': 40.0}
        """
        sums = self.rmatvec(values)
        return dict(zip(self.column_names, sums.tolist() if sums.ndim == 1 else sums, strict=True))

    def to_numpy(self, dtype: npt.DTypeLike = np.float64) -> AnyArray:
        """Return the dense matrix."""
        matrix: AnyArray = self._write(write.rows, dtype)
        return matrix

    def to_csr(self, dtype: npt.DTypeLike = np.float64) -> csr_array:
        """Return the matrix as a ``scipy.sparse.csr_array``."""
        return self._write(partial(write.sparse_array, "csr"), dtype)

    def to_csc(self, dtype: npt.DTypeLike = np.float64) -> csc_array:
        """Return the matrix as a ``scipy.sparse.csc_array``."""
        return self._write(partial(write.sparse_array, "csc"), dtype)

    def _write(self, write_matrix: Callable[..., Any], dtype: npt.DTypeLike) -> Any:
        """Return the result of a function of `write` for the whole matrix."""
        others = [
            (position, self._numeric[:, i].astype(dtype))
            for i, position in enumerate(self._layout.numeric.tolist())
        ]
        columns = self._layout.unpack(self._codes)
        return write_matrix(columns, dtype, n_rows=len(self), others=others)

    def _weights(self, weights: Any) -> Floats:
        """Return the weights as a vector of floats, which is all ones if `weights` is None."""
        if weights is None:
            return np.ones(len(self))
        return _floats(weights, "weights", len(self), is_vector=True)

    def _sums(self, values: Floats, num_threads: int | None) -> Floats:
        """Return the product ``X.T @ values``, of shape (n_columns, k)."""
        threads = parallel.resolve(num_threads, values.nbytes + self.nbytes)
        return self._layout.sums(self._codes, self._numeric, _as_columns(values), threads)


class TransposedOneHotMatrix:
    """The transpose of a `OneHotMatrix`: ``X.T @ y``."""

    ndim: int = 2
    dtype: np.dtype[Any] = OneHotMatrix.dtype
    __array_ufunc__ = None

    def __init__(self, matrix: OneHotMatrix) -> None:
        self.T: OneHotMatrix = matrix
        self.shape: tuple[int, int] = (matrix.shape[1], matrix.shape[0])

    def __repr__(self) -> str:
        """Show the matrix that is transposed, followed by ``.T``."""
        return f"{self.T!r}.T"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Raise the error of `OneHotMatrix.__array__`."""
        return self.T.__array__(dtype, copy)

    def __matmul__(self, y: npt.ArrayLike) -> Floats:
        """Return the product of the transpose with a vector or a matrix."""
        return self.T.rmatvec(y)

    def __rmatmul__(self, x: npt.ArrayLike) -> Floats:
        """Return the product of a vector or a matrix with the transpose."""
        return self.T.matvec(np.asarray(x).T).T


def _layout_of(n_features: Any, has_nan: Any, positions: Any) -> JointLayout:
    """Return the layout of a pickled matrix; raise an error if its parts do not fit each other."""
    if not isinstance(n_features, list) or any(
        type(n) is not int or not 0 <= n <= MAX_CATEGORIES for n in n_features
    ):
        raise ValueError(f"'n_features' must be a list of numbers in [0, {MAX_CATEGORIES}]")
    if [*map(type, has_nan)] != [bool] * len(n_features):
        raise ValueError(f"'has_nan' must be a list of {len(n_features)} Booleans")
    _check_stored(positions, "'positions'", np.dtype(np.intp), 1)
    # Numeric columns are before, between and after the features of categorical columns.
    n_features_before = positions - np.arange(len(positions))
    is_ascending = (positions[1:] > positions[:-1]).all()
    if not is_ascending or not np.isin(n_features_before, np.cumsum([0, *n_features])).all():
        raise ValueError("'positions' must ascend, and not be within a categorical column")
    return JointLayout(n_features, has_nan, positions.tolist())


def _check_stored(array: Any, name: str, dtype: np.dtype[Any], ndim: int) -> None:
    """Raise TypeError if a part of a pickled matrix is not an array that a matrix has."""
    is_array = isinstance(array, np.ndarray) and (array.dtype, array.ndim) == (dtype, ndim)
    if not is_array or not (array.flags.c_contiguous and array.flags.aligned):
        raise TypeError(f"{name} must be a contiguous array of {dtype} with {ndim} dimensions")


def _codes(array: npt.ArrayLike, i: int) -> AnyArray:
    """Return the codes of a column in a dtype that the kernels read, or raise an error."""
    codes = np.asarray(array)
    if codes.size == 0 and codes.ndim == 1:
        codes = codes.astype(np.int8)
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise TypeError(
            f"codes[{i}] must be a 1-D array of integers, got {codes.ndim}-D {codes.dtype}"
        )
    return _aligned(np.ascontiguousarray(codes, codes.dtype.newbyteorder("=")))


def _floats(values: Any, name: str, n: int | None, is_vector: bool = False) -> Floats:
    """Return an operand with `n` rows as a C-contiguous float64 array, or raise an error."""
    if isinstance(values, OneHotMatrix):
        raise TypeError(f"{name} must be an array, got a OneHotMatrix: use X.gram() for X.T @ X")
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(
            f"{name} must be an array of real numbers, got {with_article(values)} of dtype"
            f" {array.dtype}"
        )
    if array.ndim not in ((1,) if is_vector else (1, 2)) or n not in (None, len(array)):
        wanted = f"({n},)" if is_vector else f"({n},) or ({n}, k)"
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    return _aligned(np.ascontiguousarray(array, np.float64))


def _aligned(array: AnyArray) -> AnyArray:
    """Return an array that the kernels may read, as a copy if its elements are not aligned."""
    return array if array.flags.aligned else array.copy()


def _result(out: Any, shape: tuple[int, ...]) -> Floats:
    """Return `out`, or a new array if it is None; raise an error if `out` does not fit."""
    if out is None:
        return memory.allocate(shape, np.dtype(np.float64))[0]
    is_array = isinstance(out, np.ndarray) and out.dtype == np.float64
    if not (is_array and out.shape == shape and out.flags.writeable):
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else with_article(out)
        raise ValueError(f"out must be a writable float64 array of shape {shape}, got {given}")
    if scatter.overlaps_itself(out):
        raise ValueError(
            f"elements of out overlap in memory, got strides {out.strides} for shape {shape}:"
            " pass a contiguous array, e.g. numpy.empty(shape)"
        )
    return out  # type: ignore[no-any-return]


def _as_columns(array: Floats) -> Floats:
    """Return a vector as a matrix of one column."""
    return array.reshape(len(array), 1) if array.ndim == 1 else array


def _default_names(sizes: Sequence[int], n_numeric: int) -> list[str]:
    """Return the default column names."""
    names = [f"x{i}_{code}" for i, n in enumerate(sizes) for code in range(n)]
    return names + [f"numeric_{i}" for i in range(n_numeric)]
