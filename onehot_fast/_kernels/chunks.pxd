"""The parallel loop of all kernels that use threads."""

# A function that processes the items [begin, end) of a job. `workspace` is memory of the thread that runs it,
# aligned to cache lines, with unknown content.
ctypedef void (*chunk_work)(
    const void *job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil

cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_items, Py_ssize_t chunk_items, Py_ssize_t item_bytes,
    size_t workspace_bytes, int num_threads,
) except -1

cdef void *take_workspace(size_t n_bytes) except NULL
cdef void give_workspace(void *block, size_t n_bytes) noexcept
