# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Scans of the indices: the first index that a policy rejects, and counts.

Each scan reads the indices once, without a copy and without the GIL. A vectorised reduction finds the first block
with a rejected index, and only this block is searched.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "once.h":
    uint64_t ohf_once(uint64_t integer) nogil

cdef enum:
    BLOCK = 1024

# The types of indices; the caller widens float16, which is exact.
ctypedef fused index_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double

cdef double TWO_63 = 9223372036854775808.0

cdef struct Limits:
    int64_t lowest        # the lowest valid negative index
    uint64_t depth
    bint check_lowest
    bint check_depth
    bint has_ignored
    uint64_t ignored


cdef inline bint offends(index_t index, const Limits *limits) noexcept nogil:
    """Tell whether one index is outside the limits; a float that does not fit int64 counts as too large."""
    cdef uint64_t bits
    cdef bint negative
    if index_t is float or index_t is double:
        if not (index >= -TWO_63 and index < TWO_63):
            return limits.check_depth
        bits = <uint64_t> <int64_t> index
        negative = <int64_t> index < 0
    elif index_t is uint8_t or index_t is uint16_t or index_t is uint32_t or index_t is uint64_t:
        bits = index
        negative = False
    else:
        bits = <uint64_t> index
        negative = index < 0
    if limits.has_ignored and bits == limits.ignored:
        return False
    if negative:
        return limits.check_lowest and <int64_t> bits < limits.lowest
    return limits.check_depth and bits >= limits.depth


cdef bint any_offends(const index_t *indices, Py_ssize_t n, const Limits *limits) noexcept nogil:
    """Tell whether any index of a block is outside the limits."""
    cdef bint found = False
    cdef Py_ssize_t i
    for i in range(n):
        found |= offends(indices[i], limits)
    return found


def first_invalid(
    const index_t[::1] indices, Py_ssize_t depth, bint wrap, ignored, bint negative, bint too_large,
):
    """Return the position of the first rejected index, or -1.

    ``negative`` rejects indices below 0 (with ``wrap``: below ``-depth``), and ``too_large`` rejects indices of
    ``depth`` or more. ``ignored`` is the 64-bit pattern of an index that is never rejected, or None.
    """
    cdef Limits limits
    cdef Py_ssize_t n = indices.shape[0], begin = 0, i, found = -1
    limits.lowest = -depth if wrap else 0
    limits.depth = depth
    limits.check_lowest = negative
    limits.check_depth = too_large
    limits.has_ignored = ignored is not None
    limits.ignored = 0 if ignored is None else <uint64_t> ignored
    if n == 0:
        return -1
    with nogil:
        while begin < n and found < 0:
            if any_offends(&indices[begin], min(n - begin, <Py_ssize_t> BLOCK), &limits):
                for i in range(begin, n):
                    if offends(indices[i], &limits):
                        found = i
                        break
            begin += BLOCK
    return found


cdef inline void add_one(index_t index, uint64_t last, int64_t *counts) noexcept nogil:
    """Count one integer; integers out of range are counted in the last element."""
    counts[min(ohf_once(<uint64_t> index), last)] += 1


def count(const index_t[::1] indices, int64_t[:, ::1] counts):
    """Count the occurrences of each integer; the sum of the rows of ``counts`` is the result.

    The last column counts all other integers. With four rows, adjacent integers are counted in different rows.
    """
    cdef Py_ssize_t n = indices.shape[0], i, n_rows = counts.shape[0], n_columns = counts.shape[1]
    cdef Py_ssize_t step = n_columns if n_rows == 4 else 0
    cdef uint64_t last = n_columns - 1
    cdef int64_t *out
    if n_columns == 0 or n_rows not in (1, 4):
        raise ValueError("scan.count: counts must have 1 or 4 rows and at least one column")
    out = &counts[0, 0]
    if index_t is float or index_t is double:
        raise TypeError("scan.count: the indices must be integers")
    else:
        with nogil:
            for i in range(0, n - 3, 4):
                add_one(indices[i], last, out)
                add_one(indices[i + 1], last, out + step)
                add_one(indices[i + 2], last, out + 2 * step)
                add_one(indices[i + 3], last, out + 3 * step)
            for i in range(n - n % 4, n):
                add_one(indices[i], last, out)
