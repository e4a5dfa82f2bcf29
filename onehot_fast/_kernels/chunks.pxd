"""The parallel loop that all kernels use."""

ctypedef void (*chunk_work)(const void *job, Py_ssize_t begin, Py_ssize_t end) noexcept nogil

cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_items, Py_ssize_t chunk_items, Py_ssize_t item_bytes,
    int num_threads,
) except -1
