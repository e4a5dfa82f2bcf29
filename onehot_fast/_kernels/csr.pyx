# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""CSR and CSC: the positions of the ons, without the matrix.

CSR writes the columns of every row where they belong if no row lacks one, and closes the gaps afterwards where
some do: one pass over the codes, and a second over the positions only when there are gaps. CSC counts the rows of
each column, then places them. Both come out canonical: sorted, without duplicates, given that the tables name
increasing and disjoint columns from one input column to the next.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.sources cimport Source, Sources, read

cdef enum:
    CODES = 4096            # codes of a block, all columns together
    CHUNK_ROWS = 16384

ctypedef fused position_t:
    int32_t
    int64_t

cdef struct Job:
    const Source *sources
    void *indices
    void *indptr
    Py_ssize_t n_columns, n_rows, span
    bint wide               # of the positions: int64


cdef Py_ssize_t write_rows(
    const Job *job, Py_ssize_t begin, Py_ssize_t end, position_t *indices, position_t *indptr,
) noexcept nogil:
    """Write the columns of rows [begin, end) from their place on; return where they end."""
    cdef int32_t codes[CODES]
    cdef Py_ssize_t step = max(<Py_ssize_t> CODES // job.n_columns, <Py_ssize_t> 1)
    cdef Py_ssize_t at = begin * job.n_columns, row = begin, count, i, column, n, first
    while row < end:
        count = min(end - row, step)
        first = 0
        if job.n_columns <= CODES:
            for column in range(job.n_columns):
                read(&job.sources[column], row, count, 0, job.span, codes + column * step)
            for i in range(count):
                for column in range(job.n_columns):
                    indices[at] = codes[column * step + i]
                    at += codes[column * step + i] >= 0
                indptr[row + i + 1] = <position_t> at
        else:
            while first < job.n_columns:   # one row at a time, as many of its columns as fit
                n = min(job.n_columns - first, <Py_ssize_t> CODES)
                for column in range(n):
                    read(&job.sources[first + column], row, 1, 0, job.span, codes + column)
                for column in range(n):
                    indices[at] = codes[column]
                    at += codes[column] >= 0
                first += n
            indptr[row + 1] = <position_t> at
        row += count
    return at


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t begin = chunk * CHUNK_ROWS, end = min(begin + CHUNK_ROWS, job.n_rows)
    if job.wide:
        write_rows(job, begin, end, <int64_t *> job.indices, <int64_t *> job.indptr)
    else:
        write_rows(job, begin, end, <int32_t *> job.indices, <int32_t *> job.indptr)


cdef Py_ssize_t close_gaps(
    position_t *indices, position_t *indptr, Py_ssize_t n_rows, Py_ssize_t n_columns,
) noexcept nogil:
    """Move the chunks' columns together where rows lack some; return how many there are in all."""
    cdef Py_ssize_t begin = 0, end, row, total = 0, gap
    while begin < n_rows:
        end = min(begin + CHUNK_ROWS, n_rows)
        gap = begin * n_columns - total
        total = indptr[end] - gap
        if gap > 0:
            memmove(
                &indices[begin * n_columns - gap], &indices[begin * n_columns],
                (indptr[end] - begin * n_columns) * sizeof(position_t),
            )
            for row in range(begin + 1, end + 1):
                indptr[row] -= <position_t> gap
        begin = end
    return total


def csr(Sources sources, position_t[::1] indices, position_t[::1] indptr, Py_ssize_t n_columns, int num_threads):
    """Fill ``indptr`` (rows + 1) and ``indices`` (room for a column per row and source); return how many.

    ``sources`` are four-byte codes; ``n_columns`` are those of the whole matrix.
    """
    cdef Job job
    cdef Py_ssize_t total
    if indptr.shape[0] != sources.n_rows + 1 or indices.shape[0] != sources.n_rows * sources.n_columns:
        raise ValueError("csr.csr: the lengths do not agree")
    indptr[0] = 0
    if sources.n_rows == 0:
        return 0
    job.sources = sources.items
    job.indices = &indices[0]
    job.indptr = &indptr[0]
    job.n_columns = sources.n_columns
    job.n_rows = sources.n_rows
    job.span = n_columns
    job.wide = position_t is int64_t
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_ROWS - 1) // CHUNK_ROWS,
        CHUNK_ROWS * job.n_columns * sizeof(position_t), num_threads,
    )
    with nogil:
        total = close_gaps(&indices[0], &indptr[0], job.n_rows, job.n_columns)
    return total


cdef void count_column(
    const Source *source, Py_ssize_t n_rows, Py_ssize_t span, position_t *counts,
) noexcept nogil:
    """Count the rows of each output column, one place further on: what becomes ``indptr``."""
    cdef int32_t codes[CODES]
    cdef Py_ssize_t row = 0, count, i
    while row < n_rows:
        count = min(n_rows - row, <Py_ssize_t> CODES)
        read(source, row, count, 0, span, codes)
        for i in range(count):
            if codes[i] >= 0:
                counts[codes[i] + 1] += 1
        row += count


cdef void place_column(
    const Source *source, Py_ssize_t n_rows, Py_ssize_t span, position_t *next_place, position_t *indices,
) noexcept nogil:
    """Write the rows of each output column in order."""
    cdef int32_t codes[CODES]
    cdef Py_ssize_t row = 0, count, i
    while row < n_rows:
        count = min(n_rows - row, <Py_ssize_t> CODES)
        read(source, row, count, 0, span, codes)
        for i in range(count):
            if codes[i] >= 0:
                indices[next_place[codes[i]]] = <position_t> (row + i)
                next_place[codes[i]] += 1
        row += count


def csc_counts(Sources sources, position_t[::1] indptr):
    """Fill ``indptr`` (output columns + 1, all zero before); return how many ons there are."""
    cdef Py_ssize_t column, n_columns = indptr.shape[0] - 1
    with nogil:
        for column in range(sources.n_columns):
            count_column(&sources.items[column], sources.n_rows, n_columns, &indptr[0])
        for column in range(n_columns):
            indptr[column + 1] += indptr[column]
    return indptr[n_columns]


def csc_rows(Sources sources, position_t[::1] next_place, position_t[::1] indices):
    """Fill ``indices`` with the rows of each column; ``next_place`` is a copy of ``indptr``, used up."""
    cdef Py_ssize_t column, n_columns = next_place.shape[0] - 1
    if indices.shape[0] == 0:
        return
    with nogil:
        for column in range(sources.n_columns):
            place_column(&sources.items[column], sources.n_rows, n_columns, &next_place[0], &indices[0])
