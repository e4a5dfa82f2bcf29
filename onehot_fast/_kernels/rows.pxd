"""The encoding of indices, for the fast path of small calls."""

from onehot_fast._kernels.simd cimport ohf_policy

cdef int encode_indices(
    const void *indices, int kind, const ohf_policy *policy, Py_ssize_t n, Py_ssize_t inner,
    unsigned char *out, Py_ssize_t width, const unsigned char *on, const unsigned char *off,
    int num_threads, bint is_cleared,
) except -1
