"""The kernel of planes, which `rows` calls if it is faster."""

from onehot_fast._kernels.simd cimport ohf_policy

cdef int encode_planes(
    const void *indices, int kind, const ohf_policy *policy, Py_ssize_t outer, Py_ssize_t inner,
    unsigned char *out, Py_ssize_t width, const unsigned char *on, const unsigned char *off,
    int num_threads,
) except -1
