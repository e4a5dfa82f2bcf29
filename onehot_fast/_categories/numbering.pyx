# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Labels and integers → numbers, without the hash table of the dictionary.

Of rows of labels each label is hashed once by Python, wherever its row keeps it: Python's own tools take
three passes (the lengths, the labels, their numbers) and 45 ns a label; this takes 15 ns. Integers that lie
close together are counted.
"""

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from onehot_fast._runtime import memory

cdef extern from "once.h":
    uint64_t ohf_once(uint64_t integer) nogil

cnp.import_array()

ctypedef fused integer_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

_CODES = np.dtype(np.int32)

cdef enum:
    ROWS_BETWEEN_SIGNALS = 1 << 16  # between two looks at whether the user wants to stop


def number_labels(list rows not None, dict numbers not None):
    """Return ``(offsets, numbers of the labels)``; a label that has none gets the next one.

    A row is any iterable of hashable labels, and is iterated over once. ``numbers`` is the caller's
    own: nobody else may change it meanwhile.
    """
    cdef Py_ssize_t n_rows = len(rows), row = 0, at = 0, room = 4 * n_rows + 16
    offsets = np.zeros(n_rows + 1, np.int64)
    codes = np.empty(room, np.int32)
    cdef int64_t[::1] ends = offsets
    cdef int32_t[::1] out = codes
    cdef object labels, label, number
    for labels in rows:
        if row >= n_rows:
            raise RuntimeError("the rows changed while they were read")
        for label in labels:
            number = numbers.get(label)
            if number is None:
                if len(numbers) > INT32_MAX:
                    raise ValueError("more labels than 32 bits can number")
                number = len(numbers)
                numbers[label] = number
            if at == room:
                room *= 2
                codes = np.concatenate([codes, np.empty(room - at, np.int32)])
                out = codes
            out[at] = number
            at += 1
        row += 1
        ends[row] = at
        if row % ROWS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
    if row != n_rows:
        raise RuntimeError("the rows changed while they were read")
    return offsets, codes[:at]


cdef struct Limits:
    uint64_t first, span


cdef Limits limits_of(const integer_t *values, int64_t n) noexcept nogil:
    """Return the least integer, and how far the largest is from it."""
    cdef integer_t low = values[0], high = values[0]
    cdef int64_t i
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    return Limits(<uint64_t> low, <uint64_t> high - <uint64_t> low)


cdef inline uint64_t step_of(integer_t value, uint64_t first, uint64_t span) noexcept nogil:
    """Return how far an integer is from the first; one that another thread changed meanwhile is behind all."""
    cdef uint64_t step = ohf_once(<uint64_t> value - first)
    return step if step <= span else span + 1


cdef void mark(const integer_t *values, int64_t n, uint64_t first, uint64_t span, uint8_t *marks) noexcept nogil:
    """Write 1 where an integer occurs."""
    cdef int64_t i
    for i in range(n):
        marks[step_of(values[i], first, span)] = 1


cdef void look_up(
    const integer_t *values, int64_t n, uint64_t first, uint64_t span, const int32_t *ranks, int32_t *codes,
) noexcept nogil:
    """Write the rank of each integer."""
    cdef int64_t i
    for i in range(n):
        codes[i] = ranks[step_of(values[i], first, span)]


cdef void subtract(
    const integer_t *values, int64_t n, uint64_t first, uint64_t span, int32_t *codes,
) noexcept nogil:
    """Write how far each integer is from the first, which is its rank where none in between is left out."""
    cdef int64_t i
    cdef uint64_t step
    for i in range(n):
        step = ohf_once(<uint64_t> values[i] - first)
        codes[i] = <int32_t> step if step <= span else -1


def number_integers(const integer_t[::1] values, uint64_t most_span):
    """Return the codes of integers and what occurs of them, sorted; None where their range is too wide.

    Parameters
    ----------
    values : ndarray of integers, shape (n_rows,)
        Of native byte order, at least one.
    most_span : int
        How far the largest may be from the least; below 2**31.

    Returns
    -------
    codes : ndarray of int32, shape (n_rows,)
    distinct : ndarray of uint64, shape (n_values,)
        The integers modulo 2**64.
    """
    cdef int64_t n = len(values)
    cdef Limits limits
    cdef uint64_t first, span, step
    cdef int32_t n_found = 0
    cdef cnp.ndarray occurs, order, codes
    cdef uint8_t *marks
    cdef int32_t *ranks
    with nogil:
        limits = limits_of(&values[0], n)
    first, span = limits.first, limits.span
    if span > most_span:
        return None
    occurs = np.zeros(span + 2, np.uint8)
    order = np.empty(span + 2, np.int32)
    codes = memory.allocate((n,), _CODES)[0]
    marks = <uint8_t *> cnp.PyArray_DATA(occurs)
    ranks = <int32_t *> cnp.PyArray_DATA(order)
    with nogil:
        mark(&values[0], n, first, span, marks)
        marks[span + 1] = 0
        for step in range(span + 2):
            ranks[step] = n_found if marks[step] else -1
            n_found += marks[step]
        if <uint64_t> n_found == span + 1:
            subtract(&values[0], n, first, span, <int32_t *> cnp.PyArray_DATA(codes))
        else:
            look_up(&values[0], n, first, span, ranks, <int32_t *> cnp.PyArray_DATA(codes))
    return codes, np.flatnonzero(occurs).astype(np.uint64) + np.uint64(first)
