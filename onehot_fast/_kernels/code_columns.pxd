"""The codes that a kernel reads: indices under a policy, or the codes of columns with tables."""

cimport numpy as cnp

from onehot_fast._kernels.simd cimport OHF_F32, OHF_F64, ohf_map, ohf_narrow, ohf_policy, ohf_table

cdef int index_kind(cnp.ndarray indices) except -1


cdef inline Py_ssize_t kind_bytes(int kind) noexcept nogil:
    """Return the size in bytes of an index of a kind: 1, 2, 4 or 8."""
    if kind == OHF_F32:
        return 4
    if kind == OHF_F64:
        return 8
    return 1 << (kind & 3)


cdef struct CodeSource:
    const char *indices
    Py_ssize_t index_bytes      # bytes of an index
    int kind
    ohf_narrow narrow           # either this function and a policy
    const ohf_policy *policy
    ohf_map map                 # or this function and a table
    const ohf_table *table


cdef inline bint read(
    const CodeSource *source, Py_ssize_t begin, Py_ssize_t count, Py_ssize_t base, Py_ssize_t span, void *codes,
) noexcept nogil:
    """Convert ``count`` indices from ``begin`` to codes relative to the classes [base, base + span).

    Return True if every code is known to be in this range.
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


cdef struct Output:
    unsigned char *data
    Py_ssize_t n_bytes
    Py_ssize_t width            # bytes of an element
    const unsigned char *on
    const unsigned char *off

cdef Output output_of(cnp.ndarray out, Py_ssize_t n_elements, cnp.ndarray on, cnp.ndarray off) except *


cdef class CodeColumns:
    """Several columns of codes and their tables as C structures."""

    cdef CodeSource *items
    cdef ohf_table *tables
    cdef ohf_policy policy      # columns without a table: a code is its own class
    cdef int code_bytes
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory the items point to

    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray table) except -1
