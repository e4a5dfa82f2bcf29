"""The kernels that other modules call.

Kernels do not know the dtype of a result, only the width of its elements in bytes.
"""

from __future__ import annotations

from onehot_fast._kernels import ragged, sparse
from onehot_fast._kernels.code_columns import INDEX_DTYPES, recode
from onehot_fast._kernels.decode import decode, decode_bits
from onehot_fast._kernels.planes import encode_bits, encode_block
from onehot_fast._kernels.ragged import multi_hot, multi_hot_count
from onehot_fast._kernels.rows import encode, encode_matrix
from onehot_fast._kernels.scan import count, first_invalid
from onehot_fast._kernels.simd import get_stream_bytes, stream_fill

__all__ = [
    "INDEX_DTYPES", "count", "csc", "csr", "decode", "decode_bits", "encode", "encode_bits",
    "encode_block", "encode_matrix", "first_invalid", "get_stream_bytes", "multi_hot",
    "multi_hot_count", "multi_hot_csr", "recode", "stream_fill",
]  # fmt: skip

csc, csr, multi_hot_csr = sparse.csc, sparse.csr, ragged.csr
