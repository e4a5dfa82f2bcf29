# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Labels and integers → numbers, without the hash table of the dictionary.

Of rows of labels each label is hashed once by Python, wherever its row keeps it: Python's own tools take
three passes (the lengths, the labels, their numbers) and 45 ns a label; this takes 15 ns. Integers that lie
close together are counted. Of numbers the bins are found.
"""

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from onehot_fast._kernels.chunks cimport for_each_chunk

import numpy as np

from onehot_fast._runtime import memory, parallel

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
    CHUNK_NUMBERS = 1 << 16  # which one thread puts into bins
    CACHED_NUMBERS = 1 << 13  # of a few rows, whose columns lie beside each other
    BLOCK = 512
    FEW_EDGES = 8  # are all looked at in less time than a search takes


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
    cdef uint64_t step = <uint64_t> value - first
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
        step = <uint64_t> values[i] - first
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


cdef struct Matrix:
    char *start
    Py_ssize_t row, column  # bytes to the next
    char kind
    int width

cdef struct Bins:
    Matrix values, out
    const double *edges
    const int64_t *starts  # of the edges of each column, and their end
    Py_ssize_t n_rows, n_columns, chunk_rows


cdef void count_edges(
    const double *values, int n, const double *edges, int64_t n_edges, int32_t *bins,
) noexcept nogil:
    """Write how many of the sorted edges each value is not below: all of them for NaN.

    A step is a multiplication instead of a branch, which would be guessed wrong half of the time, and all
    values of a block take it together: none waits for the step before.
    """
    cdef int64_t left = n_edges, half
    cdef const double *middle
    cdef double counts[BLOCK]  # as wide as the values, which lets the compiler use vectors
    cdef double edge
    cdef int i
    if n_edges <= FEW_EDGES:
        for i in range(n):
            counts[i] = 0
        for half in range(n_edges):
            edge = edges[half]
            for i in range(n):
                counts[i] += 0.0 if values[i] < edge else 1.0
        for i in range(n):
            bins[i] = <int32_t> counts[i]
        return
    for i in range(n):
        bins[i] = 0
    while left > 0:
        half = (left + 1) // 2
        middle = edges + half - 1
        for i in range(n):
            bins[i] += <int32_t> half * (not values[i] < middle[bins[i]])
        left -= half


cdef void load(const Matrix *source, Py_ssize_t row, Py_ssize_t column, int n, double *values) noexcept nogil:
    """Read some rows of a column."""
    cdef const char *cell = source.start + row * source.row + column * source.column
    cdef int i
    if source.width == sizeof(float):
        for i in range(n):
            values[i] = (<const float *> (cell + i * source.row))[0]
    else:
        for i in range(n):
            values[i] = (<const double *> (cell + i * source.row))[0]


cdef void store(const int32_t *bins, const Matrix *out, Py_ssize_t row, Py_ssize_t column, int n) noexcept nogil:
    """Write the bins of some rows of a column."""
    cdef char *cell = out.start + row * out.row + column * out.column
    cdef int i
    if out.kind == b"f" and out.width == sizeof(double):
        for i in range(n):
            (<double *> (cell + i * out.row))[0] = bins[i]
    elif out.kind == b"f":
        for i in range(n):
            (<float *> (cell + i * out.row))[0] = <float> bins[i]
    elif out.width == sizeof(uint8_t):
        for i in range(n):
            (<uint8_t *> (cell + i * out.row))[0] = <uint8_t> bins[i]
    elif out.width == sizeof(uint16_t):
        for i in range(n):
            (<uint16_t *> (cell + i * out.row))[0] = <uint16_t> bins[i]
    else:
        for i in range(n):
            (<int32_t *> (cell + i * out.row))[0] = bins[i]


cdef void bin_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Put the values of some rows into their bins."""
    cdef const Bins *job = <const Bins *> any_job
    cdef double values[BLOCK]
    cdef int32_t bins[BLOCK]
    cdef Py_ssize_t row = chunk * job.chunk_rows, end = min(row + job.chunk_rows, job.n_rows), column
    cdef Py_ssize_t block = max(CACHED_NUMBERS // job.n_columns, <Py_ssize_t> 16)
    cdef int n
    while row < end:
        n = <int> min(end - row, min(block, <Py_ssize_t> BLOCK))
        for column in range(job.n_columns):
            load(&job.values, row, column, n, values)
            count_edges(
                values, n, job.edges + job.starts[column], job.starts[column + 1] - job.starts[column], bins,
            )
            store(bins, &job.out, row, column, n)
        row += n


cdef Matrix matrix_of(cnp.ndarray array, str kinds, shape) except *:
    """Return where the elements of a matrix lie."""
    dtype = array.dtype
    if dtype.str[1:] not in kinds.split() or not (dtype.isnative and array.flags.aligned):
        raise TypeError(f"find_bins: {dtype} is not a native, aligned one of {kinds}")
    if array.ndim != 2 or (array.shape[0], array.shape[1]) != shape:
        raise ValueError(f"find_bins: the shape {(<object> array).shape} is not {shape}")
    return Matrix(
        <char *> cnp.PyArray_DATA(array), array.strides[0], array.strides[1], ord(dtype.kind), dtype.itemsize,
    )


def find_bins(cnp.ndarray values not None, list edges not None, dtype, by_column=False, num_threads=None):
    """Return how many of the edges of its column each value is not below.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_columns)
        Of any strides.
    edges : list of ndarray of float64, one for each column
        Sorted, without NaN. NaN among the values is above all.
    dtype : dtype
        Of the result: uint8, uint16, int32, float32 or float64, which must hold the number of edges.
    by_column : bool
        The elements of a column lie beside each other, and not those of a row.
    num_threads : int, optional
        As for `onehot_fast.one_hot`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Raises
    ------
    TypeError, ValueError
        An array has another dtype or shape.
    """
    cdef Bins job
    shape = (<object> values).shape[0], len(edges)
    cdef cnp.ndarray all_edges = np.concatenate([np.empty(0), *edges])
    cdef cnp.ndarray starts = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    if all_edges.dtype != np.float64:
        raise TypeError(f"find_bins: edges of {all_edges.dtype} are not float64")
    job.values = matrix_of(values, "f4 f8", shape)
    memory_of = memory.allocate(shape[::-1] if by_column else shape, np.dtype(dtype))[0]
    cdef cnp.ndarray out = memory_of.T if by_column else memory_of
    job.out = matrix_of(out, "u1 u2 i4 f4 f8", shape)
    job.edges = <const double *> cnp.PyArray_DATA(all_edges)
    job.starts = <const int64_t *> cnp.PyArray_DATA(starts)
    job.n_rows, job.n_columns = shape
    if job.n_rows > 0 and job.n_columns > 0:
        job.chunk_rows = max(CHUNK_NUMBERS // job.n_columns, <Py_ssize_t> 16)
        threads = parallel.resolve(num_threads, max(values.nbytes, out.nbytes))
        for_each_chunk(
            bin_chunk, &job, (job.n_rows + job.chunk_rows - 1) // job.chunk_rows,
            job.chunk_rows * job.n_columns * sizeof(double), threads,
        )
    return out
