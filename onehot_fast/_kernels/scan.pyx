# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Scans of indices: the search for the first index out of range, and the counts of all indices.

Each scan reads the indices once, without a copy and without the GIL. A vectorised reduction finds the first block
with an index out of range, and only this block is searched.
"""

from libc.stdint cimport int64_t, uint64_t

from onehot_fast._kernels.index_types cimport index_t, integer_t

import numpy as np

cdef extern from "_runtime/once.h":
    uint64_t ohf_once(uint64_t integer) nogil

cdef enum:
    BLOCK = 1024

cdef object ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF

cdef double TWO_63 = 9223372036854775808.0

cdef struct Limits:
    uint64_t lowest         # the lowest valid index, as the unsigned integer with the same 64 bits
    uint64_t n_valid        # the number of valid indices from the lowest on
    bint has_stop           # whether floats that do not fit int64 are rejected
    bint has_ignored
    uint64_t ignored


cdef inline bint offends(index_t index, const Limits *limits) noexcept nogil:
    """Tell whether one index is outside the limits and not the ignored index."""
    cdef uint64_t bits
    if index_t is float or index_t is double:
        if not (index >= -TWO_63 and index < TWO_63):
            return limits.has_stop
        bits = <uint64_t> <int64_t> index
    else:
        bits = <uint64_t> index
    return bits - limits.lowest >= limits.n_valid and not (limits.has_ignored and bits == limits.ignored)


cdef bint any_offends(const index_t *indices, Py_ssize_t n, const Limits *limits) noexcept nogil:
    """Tell whether `offends` is true for any of ``n`` indices."""
    cdef bint found = False
    cdef Py_ssize_t i
    for i in range(n):
        found |= offends(indices[i], limits)
    return found


def first_invalid(const index_t[::1] indices, lowest, stop, ignored):
    """Return the position of the first index outside [lowest, stop), or -1.

    A limit that is None has no effect. ``ignored`` is an index that is always valid, or None. A float that does
    not fit int64 is rejected if ``stop`` is not None.
    """
    cdef Limits limits
    cdef Py_ssize_t n = indices.shape[0], begin = 0, i, found = -1
    cdef bint is_unsigned = <index_t> -1 > 0
    if is_unsigned and stop is None:
        return -1
    first = 0 if is_unsigned else -1 << 63 if lowest is None else lowest
    limits.lowest = <uint64_t> (first & ALL_BITS)
    limits.n_valid = <uint64_t> ((1 << 63 if stop is None else stop) - first)
    limits.has_stop = stop is not None
    limits.has_ignored = ignored is not None
    limits.ignored = <uint64_t> ((ignored or 0) & ALL_BITS)
    with nogil:
        while begin < n and found < 0:
            if any_offends(&indices[begin], min(n - begin, <Py_ssize_t> BLOCK), &limits):
                for i in range(begin, n):
                    if offends(indices[i], &limits):
                        found = i
                        break
            begin += BLOCK
    return found


cdef inline void add_one(integer_t index, uint64_t last, int64_t *counts) noexcept nogil:
    """Add 1 to the count of an integer, or to the last count if the integer is not in [0, ``last``]."""
    counts[min(ohf_once(<uint64_t> index), last)] += 1


def count(const integer_t[::1] indices, Py_ssize_t n_codes):
    """Return how often each integer in [0, ``n_codes``) occurs; other integers are not counted."""
    # Four adjacent integers are counted in four rows of `counts`. Integers outside [0, n_codes) are counted in the
    # last column, which is dropped. From 4096 codes on there is one row, because adding up four rows takes longer
    # than they save.
    cdef Py_ssize_t n = indices.shape[0], i, step = 0 if n_codes >= 4096 else n_codes + 1
    cdef uint64_t last = n_codes
    cdef int64_t[:, ::1] counts = np.zeros((4 if step else 1, n_codes + 1), np.int64)
    cdef int64_t *out = &counts[0, 0]
    with nogil:
        for i in range(0, n - 3, 4):
            add_one(indices[i], last, out)
            add_one(indices[i + 1], last, out + step)
            add_one(indices[i + 2], last, out + 2 * step)
            add_one(indices[i + 3], last, out + 3 * step)
        for i in range(n - n % 4, n):
            add_one(indices[i], last, out)
    return np.asarray(counts).sum(axis=0)[:n_codes]
