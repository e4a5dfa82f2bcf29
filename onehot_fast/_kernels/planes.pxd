"""The kernel of planes, which `rows` calls if it is faster."""

from onehot_fast._kernels.code_columns cimport Output
from onehot_fast._kernels.simd cimport ohf_policy

cdef int encode_planes(
    const void *indices, int kind, const ohf_policy *policy, Py_ssize_t outer, Py_ssize_t inner,
    const Output *to, int num_threads,
) except -1
