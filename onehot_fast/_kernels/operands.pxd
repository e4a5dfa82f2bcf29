"""The input and the output of a kernel, as C structures.

This file declares no memoryview. A module that includes a declaration with one contains all of Cython's code for
memoryviews, which takes 130 kB, even if it makes none, such as `fastpath`.
"""

from libc.stdint cimport uint8_t

from onehot_fast._kernels.simd cimport microkernels, ohf_lut, ohf_map, ohf_narrow, ohf_policy

cdef struct CodeSource:
    const char *indices
    Py_ssize_t index_bytes      # bytes of an index, or of a pixel
    int index_type
    ohf_narrow narrow           # converts indices with `policy`; used if `lut` is NULL
    const ohf_policy *policy
    ohf_map map                 # converts indices with `lut`; used if `lut` is not NULL
    const ohf_lut *lut
    const uint8_t *class_codes  # for each class, its code of one byte; NULL if a class is its own code


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
    """Make `read` write codes of ``code_bytes`` (1 or 4) bytes."""
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
