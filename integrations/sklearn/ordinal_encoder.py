"""scikit-learn's OrdinalEncoder, with our hash tables."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import ClassVar

import numpy as np

from onehot_fast import empty

from ._category_encoder import CategoryEncoder, CodedInput, Positions
from ._columns import AnyArray, DType, SklearnFallback
from ._originals import OrdinalEncoder as SklearnOrdinalEncoder


class OrdinalEncoder(CategoryEncoder, SklearnOrdinalEncoder):
    """Encode categorical features like scikit-learn's OrdinalEncoder, but faster.

    This subclass of `sklearn.preprocessing.OrdinalEncoder` has the same parameters, attributes,
    results, warnings and errors.

    See Also
    --------
    onehot_fast.Encoder : ``transform(table, "codes")`` returns integer codes.

    Examples
    --------
    >>> encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    >>> encoder.fit([["M", 1], ["F", 3], ["F", 2]]).transform([["F", 3], ["X", 1]])
    array([[ 0.,  2.],
           [-1.,  0.]])
    """

    FITTED: ClassVar[str] = "_missing_indices"

    def _encode(self, rows: list[CodedInput], dtype: DType) -> AnyArray:
        out = empty((len(rows[0].codes), len(rows)), dtype)
        for i, codes in enumerate(rows):
            out[:, i] = codes.map(partial(self._values, i, dtype))
        return out

    def _values(self, i: int, dtype: DType, positions: Positions) -> AnyArray:
        """Return the encoded values of a feature for positions in its categories."""
        codes: AnyArray = positions
        if self._infrequent_enabled and self._infrequent_indices[i] is not None:
            codes = self._default_to_infrequent_mappings[i].take(positions, mode="clip")
        values = codes.astype(dtype)
        if i in self._missing_indices:
            values[positions == self._missing_indices[i]] = self.encoded_missing_value
        if self.handle_unknown == "use_encoded_value":
            values[positions == len(self.categories_[i])] = self.unknown_value
        return values

    def _result_dtype(self) -> DType:
        with suppress(TypeError, ValueError, OverflowError):
            dtype: DType = np.dtype(self.dtype)
            if dtype.kind in "iu" and dtype.isnative:
                # Raise OverflowError if an option does not fit the dtype, even if it is not needed.
                np.zeros(1, dtype)[:] = self.unknown_value or 0
                np.zeros(1, dtype)[:] = self.encoded_missing_value if self._missing_indices else 0
            if dtype.kind in "iuf" and dtype.isnative:
                return dtype
        raise SklearnFallback
