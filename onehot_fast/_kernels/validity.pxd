"""Validity bitmaps in least-significant bit order: a bit is 1 if its row is valid; they may begin at any bit."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef int64_t count_ones(const uint8_t *bits, int64_t begin, int64_t n) noexcept nogil
cdef void spread(const uint8_t *bits, int64_t begin, int64_t n, uint8_t *out) noexcept nogil
cdef void intersect(
    const uint8_t *first, int64_t first_begin, const uint8_t *second, int64_t second_begin, int64_t n,
    uint8_t *out, int shift,
) noexcept nogil
cdef int64_t code_rows(
    char index_format, const void *indices, const uint8_t *bits, int64_t begin, int64_t n, uint64_t limit,
    int width, void *codes,
) noexcept nogil
cdef void code_bits(
    const uint8_t *values, int64_t values_begin, const uint8_t *bits, int64_t begin, int64_t n, uint8_t *codes,
) noexcept nogil
