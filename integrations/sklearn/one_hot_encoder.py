"""scikit-learn's OneHotEncoder, with our hash tables and kernels."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from onehot_fast.adapter import CodedColumn

from ._category_encoder import CategoryEncoder, CodedInput, Positions
from ._columns import FLOATS, VERSION, AnyArray, DType, SklearnFallback, one_hot_rows, returns_table
from ._originals import OneHotEncoder as SklearnOneHotEncoder

# The kernels support at most this many output columns.
MAX_OUTPUTS = np.iinfo(np.int32).max
# The last version of scikit-learn whose warning about unknown categories `_encode` writes. A later
# version may word it differently, so its own code writes it.
KNOWN_WARNINGS = (1, 9)


class OneHotEncoder(CategoryEncoder, SklearnOneHotEncoder):
    """Encode categorical features like scikit-learn's OneHotEncoder, but faster.

    This subclass of `sklearn.preprocessing.OneHotEncoder` has the same parameters, attributes,
    results, warnings and errors.

    See Also
    --------
    onehot_fast.Encoder : Encode columns of a table and keep the others.

    Examples
    --------
    >>> encoder = OneHotEncoder(handle_unknown="ignore").fit([["M", 1], ["F", 3], ["F", 2]])
    >>> encoder.categories_
    [array(['F', 'M'], dtype=object), array([1, 2, 3], dtype=object)]
    >>> encoder.transform([["F", 1], ["M", 4]]).toarray()
    array([[1., 0., 1., 0., 0.],
           [0., 1., 0., 0., 0.]])
    >>> encoder.inverse_transform([[0, 1, 1, 0, 0], [0, 0, 0, 1, 0]])
    array([['M', 1],
           [None, 2]], dtype=object)
    """

    FITTED: ClassVar[str] = "_n_features_outs"

    def inverse_transform(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        decoded = decode_ones(self, X)
        return super().inverse_transform(X) if decoded is None else decoded

    def _encode(self, rows: list[CodedInput], dtype: DType) -> Any:
        """Return the one-hot matrix of coded rows, and warn about unknown values."""
        with_unknown = [i for i, codes in enumerate(rows) if codes.has_unknown]
        # Zeros may also encode a dropped category.
        is_ambiguous = self.drop is not None and self.handle_unknown != "error"
        if with_unknown and (is_ambiguous or self.handle_unknown == "warn"):
            if VERSION > KNOWN_WARNINGS:
                raise SklearnFallback
            # Before 1.8 scikit-learn says "all zeros" in both cases.
            zeros = self._writes_zeros or VERSION < (1, 8)
            name = "all zeros" if zeros else "the infrequent category."
            warnings.warn(
                f"Found unknown categories in columns {with_unknown} during transform. These"
                f" unknown categories will be encoded as {name}",
                UserWarning,
                stacklevel=4,  # the caller of `transform`, which scikit-learn wraps
            )
        columns = [*map(self._coded_column, range(len(rows)), rows)]
        return one_hot_rows(columns, dtype, is_sparse=self.sparse_output)

    def _coded_column(self, i: int, rows: CodedInput) -> CodedColumn:
        """Return the rows of a feature as codes, and a look-up table to its output columns."""
        n_features, lasting = int(self._n_features_outs[i]), rows.lasting
        if lasting is not None and len(self.categories_[i]) == n_features and self._is_plain(i):
            return CodedColumn(
                rows.codes, lasting.without_unknown, n_features, luts=lasting.derived
            )
        if len(rows.codes) >= len(rows.lut):
            return CodedColumn(rows.codes, self._outputs(i, rows.lut, True), n_features)
        # Convert the rows, because a look-up table for all categories would take longer.
        outputs = self._outputs(i, rows.lut.take(rows.codes), rows.has_unknown)
        return CodedColumn(outputs, None, n_features)

    def _is_plain(self, i: int) -> bool:
        """Tell whether each category of a feature has an output column of its own."""
        has_groups = self._infrequent_enabled and self._infrequent_indices[i] is not None
        dropped = self._drop_idx_after_grouping
        return not has_groups and (dropped is None or dropped[i] is None)

    def _outputs(self, i: int, positions: Positions, has_unknown: bool) -> Positions:
        """Return the output column of each position in `categories_`, or -1 for a row of zeros."""
        outputs, unknown_output = positions, -1
        if self._infrequent_enabled and self._infrequent_indices[i] is not None:
            groups = self._default_to_infrequent_mappings[i]
            outputs = groups.take(positions, mode="clip").astype(np.int32)
            if not self._writes_zeros:
                unknown_output = groups[self._infrequent_indices[i][0]]
        if has_unknown:
            is_unknown = positions == len(self.categories_[i])
            outputs = np.where(is_unknown, np.int32(unknown_output), outputs)
        dropped = self._drop_idx_after_grouping
        if dropped is not None and dropped[i] is not None:
            is_behind = outputs > dropped[i]
            outputs = np.where(outputs == dropped[i], np.int32(-1), outputs - is_behind)
        return outputs

    def _result_dtype(self) -> DType:
        try:
            dtype: DType = np.dtype(self.dtype)
        except TypeError as error:
            raise SklearnFallback from error
        is_number = dtype.isnative and (dtype.kind in "biu" or dtype in FLOATS)
        is_table = self.sparse_output and returns_table(self)
        if is_number and not is_table and sum(self._n_features_outs) <= MAX_OUTPUTS:
            return dtype
        raise SklearnFallback

    @property
    def _writes_zeros(self) -> bool:
        """Whether `transform` always encodes an unknown value as zeros."""
        # Before 1.8 "warn" does, too, although scikit-learn's documentation says otherwise.
        return self.handle_unknown == "ignore" or (
            self.handle_unknown == "warn" and VERSION < (1, 8)
        )


def decode_ones(encoder: Any, encoded: Any) -> AnyArray | None:
    """Decode a CSR matrix of ones; return None if scikit-learn must decode the matrix."""
    widths = np.array(encoder._n_features_outs)
    is_csr = sparse.issparse(encoded) and encoded.format == "csr" and encoded.ndim == 2
    if not is_csr or 0 in encoded.shape or encoded.shape[1] != sum(widths):
        return None
    if not (encoded.has_canonical_format and (encoded.data == 1).all()):
        return None
    starts = np.cumsum(widths) - widths
    positions = _positions(encoded, starts)
    categories = [encoder._compute_transformed_categories(i, False) for i in range(len(widths))]
    decoded = np.empty((encoded.shape[0], len(widths)), np.result_type(*categories))
    for i, known in enumerate(categories):
        labels = encoder._remove_dropped_categories(known, i)
        if len(labels):
            decoded[:, i] = labels[np.maximum(positions[i], 0)]
    is_zero = positions < 0
    has_zeros = is_zero.any(axis=1)
    if not has_zeros.any():
        return decoded
    row = np.zeros((1, sum(widths)))
    row[0, starts[~has_zeros]] = 1
    try:
        [values] = SklearnOneHotEncoder.inverse_transform(encoder, row)
    except ValueError:  # scikit-learn raises an error that names the rows
        return None
    decoded = decoded.astype(values.dtype, copy=False)
    for i in np.flatnonzero(has_zeros).tolist():
        decoded[is_zero[i], i] = values[i]
    return decoded


def _positions(ones: Any, starts: AnyArray) -> AnyArray:
    """Return which output of each feature is 1 in each row, or -1 if none of them is 1."""
    # The order is reversed, so that the first of several features is written last.
    rows = np.repeat(np.arange(ones.shape[0]), np.diff(ones.indptr))[::-1]
    features = np.searchsorted(starts, ones.indices[::-1], "right") - 1
    positions = np.full((len(starts), ones.shape[0]), -1, np.intp)
    positions[features, rows] = ones.indices[::-1] - starts[features]
    return positions
