# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Validity bitmaps, and conversion of integers with a bitmap to codes: a null becomes -1.

A bitmap is read byte by byte, and a look-up table expands each byte to eight bytes. The loops over these bytes
have no branches, so the compiler vectorises them. Only bytes that contain bits of the range are read.
"""

from libc.stdint cimport UINT64_MAX, int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from onehot_fast._kernels.index_types cimport word_t

cdef enum:
    BLOCK = 1024

cdef uint8_t SPREAD[256][8]     # for each byte, its eight bits as eight bytes, 0 or 1


cdef void fill_table() noexcept:
    """Fill `SPREAD`."""
    cdef int byte, bit
    for byte in range(256):
        for bit in range(8):
            SPREAD[byte][bit] = (byte >> bit) & 1


fill_table()


cdef inline uint8_t eight(const uint8_t *bits, int64_t begin) noexcept nogil:
    """Return the eight bits from ``begin``; all eight must exist."""
    cdef const uint8_t *at = bits + (begin >> 3)
    cdef int shift = begin & 7
    return at[0] if shift == 0 else <uint8_t> (at[0] >> shift | at[1] << (8 - shift))


cdef inline uint64_t some(const uint8_t *bits, int64_t begin, int n) noexcept nogil:
    """Return the ``n`` < 64 bits from ``begin``; the remaining bits are 0."""
    cdef uint64_t found = 0
    cdef int i
    for i in range(n):
        found |= <uint64_t> ((bits[(begin + i) >> 3] >> ((begin + i) & 7)) & 1) << i
    return found


cdef inline uint64_t ones_of_word(uint64_t word) noexcept nogil:
    """Return how many bits of a word are 1 (Warren, Hacker's Delight, 5-1)."""
    word -= (word >> 1) & 0x5555555555555555ULL
    word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL)
    return (((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL) >> 56


cdef int64_t count_ones(const uint8_t *bits, int64_t begin, int64_t n) noexcept nogil:
    """Return how many of ``n`` bits from ``begin`` on are 1."""
    cdef int64_t end = begin + n, found = 0
    cdef int head = min(n, <int64_t> (-begin & 7))
    cdef uint64_t word
    found = ones_of_word(some(bits, begin, head))
    begin += head
    while end - begin >= 64:
        memcpy(&word, bits + (begin >> 3), sizeof(word))
        found += ones_of_word(word)
        begin += 64
    return found + ones_of_word(some(bits, begin, end - begin))


cdef void spread(const uint8_t *bits, int64_t begin, int64_t n, uint8_t *out) noexcept nogil:
    """Write each of ``n`` bits from ``begin`` on as one byte, 0 or 1."""
    cdef int64_t i
    for i in range(0, n - 7, 8):
        memcpy(out + i, SPREAD[eight(bits, begin + i)], 8)
    i = n & ~<int64_t> 7
    memcpy(out + i, SPREAD[some(bits, begin + i, n & 7)], n & 7)


# The indices are compared as unsigned integers, so that negative indices are too large.
cdef inline int64_t code_block(
    const word_t *indices, const uint8_t *valid, int n, uint64_t limit, word_t *codes,
) noexcept nogil:
    """Write a block of codes; return the position of the first index >= ``limit`` that is not null, or -1.

    A limit that does not fit the type of the indices has no effect.
    """
    cdef word_t limited = <word_t> limit, index
    cdef uint8_t found = 0
    cdef int i
    for i in range(n):
        index = indices[i]      # read once, so that the value that is compared is the value that is written
        codes[i] = index | <word_t> (<int8_t> valid[i] - 1)    # -1 has all bits set
        if word_t is uint64_t:
            # index >= limit without a 64-bit comparison, which SSE2 lacks: limits are at most 2**63, so the sign
            # bit is set exactly if the index is too large (0.5 ms instead of 1.0 ms for a million).
            found |= valid[i] & <uint8_t> ((index | (limited - 1 - index)) >> 63)
        else:
            found |= valid[i] & <uint8_t> (index >= limited)
    if not found or limit != limited or limit == UINT64_MAX:
        return -1
    for i in range(n - 1):      # if another thread has changed the indices, return the last position
        if valid[i] and indices[i] >= limited:
            return i
    return n - 1


cdef int64_t code_array(
    const word_t *indices, const uint8_t *bits, int64_t begin, int64_t n, uint64_t limit, word_t *codes,
) noexcept nogil:
    """Write all codes; return the position of the first index >= ``limit`` whose validity bit is 1, or -1."""
    cdef uint8_t valid[BLOCK]
    cdef int64_t done = 0, found
    cdef int taken
    while done < n:
        taken = min(n - done, <int64_t> BLOCK)
        spread(bits, begin + done, taken, valid)
        found = code_block(indices + done, valid, taken, limit, codes + done)
        if found >= 0:
            return done + found
        done += taken
    return -1


cdef int64_t code_rows(
    const void *indices, int width, const uint8_t *bits, int64_t begin, int64_t n, uint64_t limit, void *codes,
) noexcept nogil:
    """Copy integers of ``width`` bytes to ``codes``; write -1 where the validity bit is 0.

    The validity bit of the first integer is bit ``begin``.

    Return the position of the first valid integer outside [0, ``limit``), or -1. The limit is at most 2**63, or
    UINT64_MAX for no limit; a limit beyond the type of the integers has no effect.
    """
    if width == 1:
        return code_array(<const uint8_t *> indices, bits, begin, n, limit, <uint8_t *> codes)
    if width == 2:
        return code_array(<const uint16_t *> indices, bits, begin, n, limit, <uint16_t *> codes)
    if width == 4:
        return code_array(<const uint32_t *> indices, bits, begin, n, limit, <uint32_t *> codes)
    return code_array(<const uint64_t *> indices, bits, begin, n, limit, <uint64_t *> codes)
