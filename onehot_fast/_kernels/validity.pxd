"""Validity bitmaps in least-significant bit order: a bit is 1 if its row is valid; they may begin at any bit."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef int64_t count_ones(const uint8_t *bits, int64_t begin, int64_t n) noexcept nogil
cdef void spread(const uint8_t *bits, int64_t begin, int64_t n, uint8_t *out) noexcept nogil
cdef int64_t code_rows(
    const void *indices, int width, const uint8_t *bits, int64_t begin, int64_t n, uint64_t limit, void *codes,
) noexcept nogil
