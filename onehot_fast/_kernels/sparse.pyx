# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""CSR and CSC: the positions of the ons, without the matrix.

CSR writes the columns of every row where they belong if no row lacks one, and closes the gaps afterwards where
some do: one pass over the codes, and a second over the positions only when there are gaps. CSC counts the rows of
each column, part by part of the rows, then every part places its own. Both come out canonical: sorted, without
duplicates, given that the tables name increasing and disjoint columns from one input column to the next.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read

cdef enum:
    CODES = 4096            # codes of a block, all columns together
    CHUNK_ROWS = 16384
    LANES = 4               # parts of the rows that are taken in turns,
    LANE_CODES = 1024       # and codes of a block of each

ctypedef fused position_t:
    int32_t
    int64_t

cdef struct Job:
    const CodeSource *sources
    void *indices
    void *indptr
    Py_ssize_t n_columns, n_rows, span
    bint wide               # of the positions: int64


cdef inline bint any_negative(const int32_t *codes, Py_ssize_t n) noexcept nogil:
    """Tell whether one of the codes is negative; without a branch, which the compiler turns into vectors."""
    cdef int32_t signs = 0
    cdef Py_ssize_t i
    for i in range(n):
        signs |= codes[i]
    return signs < 0


cdef inline void interleave(
    const int32_t *codes, Py_ssize_t step, Py_ssize_t n_rows, Py_ssize_t n_columns, Py_ssize_t first,
    position_t *indices, position_t *ends,
) noexcept nogil:
    """Write rows that lack no column: every store has its place from the start."""
    cdef Py_ssize_t i, column
    for column in range(n_columns):
        for i in range(n_rows):
            indices[first + i * n_columns + column] = codes[column * step + i]
    for i in range(n_rows):
        ends[i] = <position_t> (first + (i + 1) * n_columns)


cdef Py_ssize_t write_rows(
    const Job *job, Py_ssize_t begin, Py_ssize_t end, position_t *indices, position_t *indptr,
) noexcept nogil:
    """Write the columns of rows [begin, end) from their place on; return where they end."""
    cdef int32_t codes[CODES]
    cdef Py_ssize_t n_columns = job.n_columns, step = max(<Py_ssize_t> CODES // n_columns, <Py_ssize_t> 1)
    cdef Py_ssize_t place = begin * n_columns, row = begin, count, i, column, n, first
    cdef bint has_gaps
    while row < end:
        count = min(end - row, step)
        first = 0
        if n_columns <= CODES:
            has_gaps = False
            for column in range(n_columns):
                read(&job.sources[column], row, count, 0, job.span, codes + column * step)
                has_gaps |= any_negative(codes + column * step, count)
            if not has_gaps:
                interleave(codes, step, count, n_columns, place, indices, indptr + row + 1)
                place += count * n_columns
                row += count
                continue
            for i in range(count):
                for column in range(n_columns):
                    indices[place] = codes[column * step + i]
                    place += codes[column * step + i] >= 0
                indptr[row + i + 1] = <position_t> place
        else:
            while first < n_columns:   # one row at a time, as many of its columns as fit
                n = min(n_columns - first, <Py_ssize_t> CODES)
                for column in range(n):
                    read(&job.sources[first + column], row, 1, 0, job.span, codes + column)
                for column in range(n):
                    indices[place] = codes[column]
                    place += codes[column] >= 0
                first += n
            indptr[row + 1] = <position_t> place
        row += count
    return place


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


def csr(
    CodeColumns columns, position_t[::1] indices, position_t[::1] indptr, Py_ssize_t n_columns, int num_threads,
):
    """Fill ``indptr`` (rows + 1) and ``indices`` (room for a column per row and source); return how many.

    The codes have four bytes; ``n_columns`` are those of the whole matrix.
    """
    cdef Job job
    cdef Py_ssize_t total
    columns.require(columns.n_columns, 4)
    if indptr.shape[0] != columns.n_rows + 1 or indices.shape[0] != columns.n_rows * columns.n_columns:
        raise ValueError("csr.csr: the lengths do not agree")
    indptr[0] = 0
    if columns.n_rows == 0:
        return 0
    job.sources = columns.items
    job.indices = &indices[0]
    job.indptr = &indptr[0]
    job.n_columns = columns.n_columns
    job.n_rows = columns.n_rows
    job.span = n_columns
    job.wide = position_t is int64_t
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_ROWS - 1) // CHUNK_ROWS,
        CHUNK_ROWS * job.n_columns * sizeof(position_t), num_threads,
    )
    with nogil:
        total = close_gaps(&indices[0], &indptr[0], job.n_rows, job.n_columns)
    return total


cdef struct PartsJob:
    const CodeSource *sources
    Py_ssize_t n_sources, n_rows, n_parts, n_columns
    void *places            # (parts, columns): the counts of a part, or where its next row goes
    void *indices           # NULL: count only
    Py_ssize_t n_indices
    bint wide


cdef inline void take(
    int32_t code, Py_ssize_t row, position_t *places, position_t *indices, size_t n_indices,
) noexcept nogil:
    """Count a row in its column, or write it where it belongs."""
    cdef position_t place
    if code >= 0:
        place = places[code]
        places[code] = place + 1
        # A place is out of bounds only where the codes changed since they were counted.
        if indices != NULL and <size_t> place < n_indices:
            indices[place] = <position_t> row


cdef void walk_parts(
    const PartsJob *job, Py_ssize_t part, Py_ssize_t n, position_t *places, position_t *indices,
) noexcept nogil:
    """Take the rows of ``n`` parts, at most LANES, in turns.

    A column's place is loaded, raised and stored again. Rows of one column that follow one another would wait for
    that; those of different parts do not.
    """
    cdef int32_t codes[LANES][LANE_CODES]
    cdef Py_ssize_t starts[LANES]
    cdef Py_ssize_t counts[LANES]
    cdef Py_ssize_t source, lane, i, done, common, size = job.n_columns, least = job.n_rows // job.n_parts
    for source in range(job.n_sources):
        done = 0
        while done <= least:   # no part has more rows than one beyond the least
            common = LANE_CODES
            for lane in range(n):
                starts[lane] = (part + lane) * job.n_rows // job.n_parts + done
                counts[lane] = min(
                    (part + lane + 1) * job.n_rows // job.n_parts - starts[lane], <Py_ssize_t> LANE_CODES
                )
                common = min(common, counts[lane])
                if counts[lane] > 0:
                    read(&job.sources[source], starts[lane], counts[lane], 0, job.n_columns, codes[lane])
            i = 0
            if n == LANES:
                while i < common:
                    take(codes[0][i], starts[0] + i, places, indices, job.n_indices)
                    take(codes[1][i], starts[1] + i, places + size, indices, job.n_indices)
                    take(codes[2][i], starts[2] + i, places + 2 * size, indices, job.n_indices)
                    take(codes[3][i], starts[3] + i, places + 3 * size, indices, job.n_indices)
                    i += 1
            for lane in range(n):
                for common in range(i, counts[lane]):
                    take(codes[lane][common], starts[lane] + common, places + lane * size, indices, job.n_indices)
            done += LANE_CODES


cdef void run_parts_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Take the rows of some parts; parts share nothing but the memory they read codes from."""
    cdef const PartsJob *job = <const PartsJob *> any_job
    cdef Py_ssize_t part = chunk * LANES, first = part * job.n_columns
    cdef Py_ssize_t n = min(job.n_parts - part, <Py_ssize_t> LANES)
    if job.wide:
        walk_parts(job, part, n, <int64_t *> job.places + first, <int64_t *> job.indices)
    else:
        walk_parts(job, part, n, <int32_t *> job.places + first, <int32_t *> job.indices)


cdef int run_parts(
    CodeColumns columns, position_t[:, ::1] places, position_t *indices, Py_ssize_t n_indices, int num_threads,
) except -1:
    """Walk all parts."""
    cdef PartsJob job
    columns.require(columns.n_columns, 4)
    job.sources = columns.items
    job.n_sources = columns.n_columns
    job.n_rows = columns.n_rows
    job.n_parts = places.shape[0]
    job.n_columns = places.shape[1]
    job.places = &places[0, 0]
    job.indices = indices
    job.n_indices = n_indices
    job.wide = position_t is int64_t
    return for_each_chunk(
        run_parts_chunk, &job, (job.n_parts + LANES - 1) // LANES,
        LANES * job.n_rows // job.n_parts * job.n_sources * sizeof(position_t), num_threads,
    )


def csc_counts(CodeColumns columns, position_t[:, ::1] counts, int num_threads):
    """Add to ``counts`` (parts, columns) how many rows of each part are on in each column.

    Part ``i`` is the rows from ``i * n_rows // n_parts`` to those of the next; codes have four bytes.
    """
    if counts.shape[0] and counts.shape[1]:
        run_parts(columns, counts, <position_t *> NULL, 0, num_threads)


def csc_rows(CodeColumns columns, position_t[:, ::1] places, position_t[::1] indices, int num_threads):
    """Write the rows of each column; ``places`` (parts, columns) is where each part begins, then its end."""
    if indices.shape[0] and places.shape[0] and places.shape[1]:
        run_parts(columns, places, &indices[0], indices.shape[0], num_threads)
