"""The encoding of indices, for the fast path of small calls."""

from onehot_fast._kernels.operands cimport Output
from onehot_fast._kernels.simd cimport ohf_policy

cdef int encode_indices(
    const void *indices, int index_type, const ohf_policy *policy, Py_ssize_t n, Py_ssize_t inner,
    const Output *to, int num_threads, bint is_cleared,
) except -1
