"""The codes that a kernel reads: indices under a policy, or the codes of columns with tables."""

cimport numpy as cnp

from onehot_fast._kernels.simd cimport OHF_F32, OHF_F64, ohf_lut, ohf_map, ohf_narrow, ohf_policy

cdef int index_type_of(cnp.ndarray indices) except -1


cdef inline Py_ssize_t index_type_bytes(int index_type) noexcept nogil:
    """Return the size in bytes of an index of one of the types: 1, 2, 4 or 8."""
    if index_type == OHF_F32:
        return 4
    if index_type == OHF_F64:
        return 8
    return 1 << (index_type & 3)


cdef struct CodeSource:
    const char *indices
    Py_ssize_t index_bytes      # bytes of an index
    int index_type
    ohf_narrow narrow           # either this function and a policy
    const ohf_policy *policy
    ohf_map map                 # or this function and a look-up table
    const ohf_lut *lut


cdef inline bint read(
    const CodeSource *source, Py_ssize_t begin, Py_ssize_t count, Py_ssize_t base, Py_ssize_t span, void *codes,
) noexcept nogil:
    """Convert ``count`` indices from ``begin`` to codes relative to the classes [base, base + span).

    Return True if every code is known to be in this range.
    """
    cdef ohf_policy policy
    cdef ohf_lut lut
    cdef const char *indices = source.indices + begin * source.index_bytes
    if source.lut != NULL:
        lut = source.lut[0]
        lut.base = base
        lut.span = span
        return source.map(indices, count, &lut, codes)
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
    """Several columns of codes and their look-up tables as C structures."""

    cdef CodeSource *items
    cdef ohf_lut *luts
    cdef ohf_policy policy      # columns without a look-up table: a code is its own class
    cdef int code_bytes
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory the items point to

    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray table) except -1
