"""The C face of the rows kernel, for the compiled front door."""

from onehot_fast._kernels.simd cimport ohf_policy

cdef enum Strategy:
    AUTO = 0
    BLOCK = 1
    SCRATCH = 2
    MERGE = 3
    EXPAND = 4
    SCATTER = 5
    IN_CACHE = 6

cdef enum:
    # Runs of a class shorter than four cache lines are scattered like rows: the two partial lines at the ends of
    # a run would cost more than the comparison saves.
    SHORTEST_PLANE_BYTES = 256


cdef inline bint is_rows(Py_ssize_t inner, Py_ssize_t width) noexcept nogil:
    """Tell whether the output is rows; else it is planes."""
    return inner == 1 or inner * width < SHORTEST_PLANE_BYTES


cdef int encode_rows(
    const void *indices, int kind, const ohf_policy *policy, Py_ssize_t n_groups, Py_ssize_t inner,
    unsigned char *out, Py_ssize_t width, const unsigned char *on, const unsigned char *off,
    int num_threads, int strategy,
) except -1
