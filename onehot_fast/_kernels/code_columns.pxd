"""The codes that a kernel reads: indices under a policy, or the codes of columns with look-up tables."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

cimport numpy as cnp

from onehot_fast._kernels.index_types cimport index_type_of, integer_t
from onehot_fast._kernels.simd cimport (
    microkernels, ohf_few, ohf_lut, ohf_map, ohf_narrow, ohf_policy, ohf_raw, ohf_slots,
)

cdef struct CodeSource:
    const char *indices
    Py_ssize_t index_bytes      # bytes of an index
    int index_type
    ohf_narrow narrow           # either this function and a policy
    const ohf_policy *policy
    ohf_map map                 # or this function and a look-up table
    const ohf_lut *lut
    const uint8_t *class_codes  # NULL, or the codes of one byte that classes have instead of their numbers


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


cdef inline void set_code_bytes(CodeSource *source, int code_bytes) noexcept nogil:
    """Choose the functions that return codes of 1 or 4 bytes."""
    cdef int kind = source.index_type
    if source.lut != NULL:
        source.map = microkernels.map8[kind] if code_bytes == 1 else microkernels.map32[kind]
    else:
        source.narrow = microkernels.narrow8[kind] if code_bytes == 1 else microkernels.narrow32[kind]


cdef struct Output:
    unsigned char *data
    Py_ssize_t n_bytes
    Py_ssize_t width            # bytes of an element
    const unsigned char *on
    const unsigned char *off

cdef Output output_of(unsigned char[::1] out, Py_ssize_t n_elements, cnp.ndarray on, cnp.ndarray off) except *


# One column of codes. The source points to the other fields, so the structure must not be copied.
cdef struct CodeColumn:
    CodeSource source
    ohf_lut lut
    ohf_few few
    ohf_slots slots
    ohf_raw raw
    ohf_policy policy

cdef int describe(
    CodeSource *source, ohf_lut *room, const ohf_policy *policy, const void *codes, int index_type,
    Py_ssize_t n_rows, const int32_t *lut, Py_ssize_t n_entries, int code_bytes,
) except -1
cdef void find_few(CodeColumn *column) noexcept nogil
cdef int set_few(CodeColumn *column, const uint64_t[::1] values) except -1
cdef size_t bytes_size(const CodeColumn *column, Py_ssize_t n) noexcept nogil
cdef void set_bytes(CodeColumn *column, uint8_t *room, size_t size, Py_ssize_t depth) noexcept nogil
cdef int describe_one(
    CodeColumn *column, const void *codes, int index_type, Py_ssize_t n_rows, const int32_t[::1] lut,
    int code_bytes,
) except -1


cdef inline int describe_codes(
    CodeColumn *column, const integer_t[::1] codes, const int32_t[::1] lut, int code_bytes,
) except -1:
    """Store pointers to the codes and the look-up table (or None) of one column, as `CodeColumns` explains."""
    cdef const integer_t *first = NULL
    if codes.shape[0]:
        first = &codes[0]
    return describe_one(column, first, index_type_of(first), codes.shape[0], lut, code_bytes)


cdef class CodeColumns:
    """Several columns of codes and their look-up tables as C structures."""

    cdef CodeSource *items
    cdef ohf_lut *luts
    cdef ohf_policy policy      # columns without a look-up table: a code is its own class
    cdef int code_bytes
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory the items point to

    cdef int add(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray lut) except -1
