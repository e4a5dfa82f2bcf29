"""Where the codes of a kernel come from: an index array under a policy, or local codes through a table."""

cimport numpy as cnp

from onehot_fast._kernels.simd cimport OHF_F32, OHF_F64, ohf_map, ohf_narrow, ohf_policy, ohf_table

cdef int index_kind(cnp.ndarray indices) except -1


cdef inline Py_ssize_t kind_bytes(int kind) noexcept nogil:
    """Return the bytes of an index of a kind: 1, 2, 4, 8 in the order of the kinds, floats last."""
    if kind == OHF_F32:
        return 4
    if kind == OHF_F64:
        return 8
    return 1 << (kind & 3)


cdef struct CodeSource:
    const char *indices
    Py_ssize_t index_bytes      # bytes of an index
    int kind
    ohf_narrow narrow           # with a policy,
    const ohf_policy *policy
    ohf_map map                 # or with a table
    const ohf_table *table


cdef inline bint read(
    const CodeSource *source, Py_ssize_t begin, Py_ssize_t count, Py_ssize_t base, Py_ssize_t span, void *codes,
) noexcept nogil:
    """Narrow ``count`` indices from ``begin`` on to codes of the window of ``span`` classes from ``base`` on.

    Return True if every code is known to be in the window.
    """
    cdef ohf_policy policy
    cdef ohf_table table
    cdef const char *indices = source.indices + begin * source.index_bytes
    if source.table != NULL:
        table = source.table[0]
        table.base = base
        table.span = span
        return source.map(indices, count, &table, codes)
    policy = source.policy[0]
    policy.base = base
    policy.span = span
    source.narrow(indices, count, &policy, codes)
    return False


cdef class CodeColumns:
    """Several columns of local codes with their tables, as C sees them."""

    cdef CodeSource *items
    cdef ohf_table *tables
    cdef ohf_policy policy      # columns without a table: a code is its own class
    cdef int code_bytes
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory the items point to

    cdef int require(self, Py_ssize_t most_columns, int code_bytes) except -1
    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, object table) except -1
    cdef int describe_table(self, Py_ssize_t i, cnp.ndarray table) except -1
