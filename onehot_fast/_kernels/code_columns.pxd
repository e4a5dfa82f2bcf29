"""The memoryviews and arrays that a kernel takes, checked and stored as C structures."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

cimport numpy as cnp

from onehot_fast._kernels.index_types cimport index_type_of, integer_t
from onehot_fast._kernels.operands cimport CodeSource, Output
from onehot_fast._kernels.simd cimport ohf_few, ohf_lut, ohf_policy, ohf_raw, ohf_slots

cdef Output output_of(unsigned char[::1] out, Py_ssize_t n_elements, cnp.ndarray on, cnp.ndarray off) except *


# One column of codes. `source` points to the other fields, so the structure must not be copied.
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
    cdef ohf_policy policy      # of columns without a look-up table: a code is its own class
    cdef int code_bytes
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory `items` and `luts` point to

    cdef int add(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray lut) except -1
