"""The kernel of planes, which `rows` calls for long runs of a class, because it is faster there."""

from onehot_fast._kernels.operands cimport CodeSource, Output

cdef int encode_planes(
    const CodeSource *source, Py_ssize_t outer, Py_ssize_t depth, Py_ssize_t inner, const Output *to,
    int num_threads,
) except -1
