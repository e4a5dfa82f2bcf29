# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""CSR and CSC output: the positions of the hot elements.

For CSR, each chunk of rows is written where it would begin if every code had a feature. If a code has none, a
second pass over the positions closes the gaps between the chunks. For CSC, the rows of each feature
are counted for each part of the rows, then every part writes its own row numbers. Both results are canonical
(sorted, without duplicates), if the features in the look-up tables increase from one column to the next.

The kernels take lists of columns, because each column may have another dtype (see the design in `rows`). Their
fused type is that of the positions that they write.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t, uintptr_t
from libc.string cimport memmove

from onehot_fast._kernels.chunks cimport for_each_chunk, give_workspace, take_workspace
from onehot_fast._kernels.code_columns cimport CodeColumns
from onehot_fast._kernels.operands cimport CodeSource, read
from onehot_fast._kernels.simd cimport OHF_I32, OHF_U32, microkernels, ohf_lut, ohf_microkernels, ohf_shifted

cdef extern from *:
    """
    #if defined(__GNUC__)
    #  define OHF_PREFETCH_WRITE(p) __builtin_prefetch(p, 1)
    #else
    #  define OHF_PREFETCH_WRITE(p) ((void)(p))
    #endif
    """
    void OHF_PREFETCH_WRITE(const void *) noexcept nogil

cdef enum:
    CODES = 2048            # codes of a block, all columns together: 8 KiB
    MAX_COLUMNS = 1024      # columns that are transposed together; wider rows are written one by one
    CHUNK_ROWS = 16384
    LANES = 8               # parts of a group of rows, which are processed in turns
    LANE_CODES = 256        # codes that are read together, of each part
    # With more columns, fewer lanes are used: each lane writes to one cache line for each column, and the
    # first-level cache has 512 lines.
    LANE_COLUMNS = 64
    HALF_LANE_COLUMNS = 128
    # Positions of 8 MiB exceed the second-level cache, so the next cache line is prefetched: 10M rows of 50
    # columns take 22 ms instead of 42 ms (but 1M rows, 4 MB, would take 1.9 ms instead of 1.4 ms).
    FAR_BYTES = 8 << 20

GROUP_PARTS = LANES   # for Python code, which cannot read the enum

ctypedef fused position_t:
    int32_t
    int64_t

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *sources
    void *indices
    void *indptr
    const ohf_shifted *shifted      # for each column; NULL if a column needs its look-up table
    Py_ssize_t n_columns, span
    bint wide               # whether positions are int64


cdef bint shift_of(const CodeSource *source, Py_ssize_t span, ohf_shifted *shifted) noexcept nogil:
    """Describe a column whose features are its codes plus a constant; return False for other columns."""
    cdef const ohf_lut *lut = source.lut
    if source.index_bytes > 4:
        return False
    shifted.codes = <const unsigned char *> source.indices
    # uint32 values of 2**31 or more are never codes, so uint32 can be read as int32.
    shifted.index_type = OHF_I32 if source.index_type == OHF_U32 else source.index_type
    shifted.first = 0
    if lut == NULL:
        shifted.top = <int32_t> min(span - 1, <Py_ssize_t> INT32_MAX)
        return span > 0
    if not lut.only_adds or lut.entries[0] < 0:
        return False
    shifted.first = lut.entries[0]
    shifted.top = <int32_t> (lut.n_codes - 1)
    return lut.n_codes > 0 and shifted.first + <Py_ssize_t> lut.n_codes <= span <= INT32_MAX


cdef bint shifts_of(const Job *job, ohf_shifted *shifted) noexcept nogil:
    """Describe all columns in ``shifted``; return False if one of them needs its look-up table."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        if not shift_of(&job.sources[column], job.span, &shifted[column]):
            return False
    return True


cdef Py_ssize_t write_added(
    const Job *job, Py_ssize_t row, Py_ssize_t n_rows, int32_t *indices, int32_t *ends, Py_ssize_t place,
    ohf_shifted *shifted,
) noexcept nogil:
    """Write rows by adding constants to codes, until a code has no feature; return the number of rows written."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        shifted[column] = job.shifted[column]
        shifted[column].codes += row * job.sources[column].index_bytes
    return job.microkernels.csr(shifted, job.n_columns, n_rows, <int32_t> place, indices, ends)


cdef Py_ssize_t write_block(
    const Job *job, const int32_t *codes, Py_ssize_t step, Py_ssize_t n_rows, position_t *indices,
    position_t *ends, Py_ssize_t place, ohf_shifted *shifted,
) noexcept nogil:
    """Write rows from ``codes`` (``step`` elements per column); return the next free place in ``indices``."""
    cdef Py_ssize_t n_columns = job.n_columns, column, i, row = 0
    if position_t is int32_t:
        for column in range(n_columns):
            shifted[column] = ohf_shifted(<const unsigned char *> (codes + column * step), OHF_I32, 0, INT32_MAX)
        row = job.microkernels.csr(shifted, n_columns, n_rows, <int32_t> place, indices + place, ends)
        place += row * n_columns
    for i in range(row, n_rows):
        for column in range(n_columns):
            indices[place] = codes[column * step + i]
            place += codes[column * step + i] >= 0
        ends[i] = <position_t> place
    return place


cdef Py_ssize_t write_rows(
    const Job *job, Py_ssize_t begin, Py_ssize_t end, position_t *indices, position_t *indptr,
    unsigned char *workspace,
) noexcept nogil:
    """Write the features of the rows [begin, end); return the next free place in ``indices``."""
    cdef int32_t *codes = <int32_t *> workspace
    cdef ohf_shifted *shifted = <ohf_shifted *> (workspace + 4 * CODES)
    cdef Py_ssize_t n_columns = job.n_columns, step = CODES // n_columns
    cdef Py_ssize_t place = begin * n_columns, row = begin, count, column
    while row < end:
        if position_t is int32_t:
            if job.shifted != NULL:
                count = write_added(job, row, end - row, indices + place, indptr + row + 1, place, shifted)
                place += count * n_columns
                row += count
        if n_columns <= MAX_COLUMNS:
            count = min(end - row, step)
            for column in range(n_columns):
                read(&job.sources[column], row, count, 0, job.span, codes + column * step)
            place = write_block(job, codes, step, count, indices, indptr + row + 1, place, shifted)
            row += count
        else:
            for column in range(n_columns):
                read(&job.sources[column], row, 1, 0, job.span, codes)
                indices[place] = codes[0]
                place += codes[0] >= 0
            row += 1
            indptr[row] = <position_t> place
    return place


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [begin, end)."""
    cdef const Job *job = <const Job *> any_job
    if job.wide:
        write_rows(job, begin, end, <int64_t *> job.indices, <int64_t *> job.indptr, workspace)
    else:
        write_rows(job, begin, end, <int32_t *> job.indices, <int32_t *> job.indptr, workspace)


cdef Py_ssize_t close_gaps(
    position_t *indices, position_t *indptr, Py_ssize_t n_rows, Py_ssize_t n_columns,
) noexcept nogil:
    """Remove the gaps between the positions of the chunks; return the total number of positions."""
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
    list codes, list luts, position_t[::1] indices, position_t[::1] indptr, Py_ssize_t n_features,
    int num_threads,
):
    """Fill ``indptr`` (rows + 1) and ``indices`` (rows * len(codes)); return the number of stored elements.

    ``n_features`` is the number of columns of the matrix.
    """
    cdef Job job
    cdef CodeColumns columns = CodeColumns(codes, luts, 4)
    cdef size_t shifted_bytes = min(columns.n_columns, <Py_ssize_t> MAX_COLUMNS) * sizeof(ohf_shifted)
    cdef ohf_shifted *shifted
    cdef Py_ssize_t total
    if indptr.shape[0] != columns.n_rows + 1 or indices.shape[0] != columns.n_rows * columns.n_columns:
        raise ValueError(
            f"sparse.csr: indptr must have {columns.n_rows + 1} elements and indices must have "
            f"{columns.n_rows * columns.n_columns}, got {indptr.shape[0]} and {indices.shape[0]}"
        )
    indptr[0] = 0
    if columns.n_rows == 0:
        return 0
    job = Job(
        microkernels=microkernels, sources=columns.items, indices=&indices[0], indptr=&indptr[0], shifted=NULL,
        n_columns=columns.n_columns, span=n_features, wide=position_t is int64_t,
    )
    shifted = <ohf_shifted *> take_workspace(shifted_bytes)
    try:
        if job.n_columns <= MAX_COLUMNS and shifts_of(&job, shifted):
            job.shifted = shifted
        for_each_chunk(
            run_chunk, &job, columns.n_rows, CHUNK_ROWS, job.n_columns * sizeof(position_t),
            4 * CODES + shifted_bytes, num_threads,
        )
    finally:
        give_workspace(shifted, shifted_bytes)
    with nogil:
        total = close_gaps(&indices[0], &indptr[0], columns.n_rows, job.n_columns)
    return total


cdef struct PartsJob:
    const CodeSource *sources
    Py_ssize_t n_sources, n_rows, n_groups, n_columns
    int group_parts         # the number of parts of a group: LANES or 1
    void *places            # (groups, columns, group_parts): how many rows there are, or where the next goes
    void *indices           # NULL: the rows are only counted
    Py_ssize_t n_indices
    bint wide


cdef inline Py_ssize_t part_start(const PartsJob *job, Py_ssize_t part) noexcept nogil:
    """Return the first row of a part."""
    return part * job.n_rows // (job.n_groups * job.group_parts)


cdef inline void take(
    int32_t code, position_t row, Py_ssize_t stride, position_t *places, position_t *indices,
    size_t n_indices, bint is_far,
) noexcept nogil:
    """Write ``row`` to ``indices`` at the next position of column ``code``; advance the position.

    If ``indices`` is NULL, only advance the position, which is then a count of rows. Ignore negative codes.
    """
    cdef position_t place
    if code >= 0:
        place = places[<Py_ssize_t> code * stride]
        places[<Py_ssize_t> code * stride] = place + 1
        # A position is out of bounds only if another thread changed the codes after they were counted.
        if indices != NULL and <size_t> place < n_indices:
            if is_far:
                OHF_PREFETCH_WRITE(<const void *> (<uintptr_t> (indices + place) + 64))
            indices[place] = row


cdef inline void take_lanes(
    const int32_t *codes, const position_t *rows, Py_ssize_t n_rows, int lanes, Py_ssize_t stride,
    position_t *places, position_t *indices, size_t n_indices, bint is_far,
) noexcept nogil:
    """Call `take` for ``n_rows`` rows of each part: the first row of every part, then the second, and so on."""
    cdef Py_ssize_t i
    cdef int lane
    for i in range(n_rows):
        for lane in range(lanes):
            take(
                codes[lane * LANE_CODES + i], rows[lane] + <position_t> i, stride, places + lane, indices,
                n_indices, is_far,
            )


cdef inline void take_block(
    const int32_t *codes, const position_t *rows, Py_ssize_t n_rows, int lanes, position_t *places,
    position_t *indices, size_t n_indices, bint is_far,
) noexcept nogil:
    """Call `take_lanes` with a number of lanes that is a constant at compile time."""
    if lanes == LANES:
        take_lanes(codes, rows, n_rows, LANES, LANES, places, indices, n_indices, is_far)
    elif lanes == LANES // 2:
        take_lanes(codes, rows, n_rows, LANES // 2, LANES, places, indices, n_indices, is_far)
    elif lanes == 1:
        take_lanes(codes, rows, n_rows, 1, 1, places, indices, n_indices, is_far)
    else:
        take_lanes(codes, rows, n_rows, LANES // 4, LANES, places, indices, n_indices, is_far)


cdef void walk_source(
    const PartsJob *job, const CodeSource *source, Py_ssize_t part, int lanes, position_t *places,
    position_t *indices, int32_t *codes,
) noexcept nogil:
    """Call `take` for the rows of ``lanes`` parts of one column, alternating between the parts.

    The position of a column is loaded, incremented and stored. If a load follows a store to the same address, the
    processor delays all later loads until the addresses of the stores are known. Because of this delay,
    consecutive rows of one part take 3 ns each. Rows that alternate between 4 or 8 parts take 1 ns each.
    """
    cdef position_t rows[LANES]
    cdef Py_ssize_t counts[LANES]
    cdef Py_ssize_t done = 0, common = 1, i, row
    cdef int lane
    cdef bint is_far = job.n_indices * <Py_ssize_t> sizeof(position_t) >= FAR_BYTES
    while common > 0:
        common = LANE_CODES
        for lane in range(lanes):
            row = part_start(job, part + lane) + done
            rows[lane] = <position_t> row
            counts[lane] = min(part_start(job, part + lane + 1) - row, <Py_ssize_t> LANE_CODES)
            common = min(common, counts[lane])
            if counts[lane] > 0:
                read(source, row, counts[lane], 0, job.n_columns, codes + lane * LANE_CODES)
        common = max(common, <Py_ssize_t> 0)
        if indices == NULL:
            take_block(codes, rows, common, lanes, places, <position_t *> NULL, 0, False)
        elif is_far:
            take_block(codes, rows, common, lanes, places, indices, job.n_indices, True)
        else:
            take_block(codes, rows, common, lanes, places, indices, job.n_indices, False)
        for lane in range(lanes):   # a part has at most one row more than another
            for i in range(common, counts[lane]):
                take(
                    codes[lane * LANE_CODES + i], rows[lane] + <position_t> i, job.group_parts, places + lane,
                    indices, job.n_indices, False,
                )
        done += LANE_CODES


cdef void walk_group(
    const PartsJob *job, Py_ssize_t part, position_t *places, position_t *indices, int32_t *codes,
) noexcept nogil:
    """Call `walk_source` for every column of codes and all parts of a group."""
    cdef Py_ssize_t source, at
    cdef int lanes
    cdef uint64_t n_columns
    cdef const ohf_lut *lut
    for source in range(job.n_sources):
        lut = job.sources[source].lut
        n_columns = job.n_columns if lut == NULL else lut.n_codes
        lanes = LANES // 4
        if n_columns <= HALF_LANE_COLUMNS:
            lanes = LANES if n_columns <= LANE_COLUMNS else LANES // 2
        lanes = min(lanes, job.group_parts)
        at = 0
        while at < job.group_parts:
            walk_source(job, &job.sources[source], part + at, lanes, places + at, indices, codes)
            at += lanes


cdef void run_group(
    const void *any_job, Py_ssize_t group, Py_ssize_t _end, unsigned char *workspace,
) noexcept nogil:
    """Call `walk_group` for one group; groups can run in parallel, because none writes what another reads."""
    cdef const PartsJob *job = <const PartsJob *> any_job
    cdef Py_ssize_t part = group * job.group_parts, first = part * job.n_columns
    cdef int32_t *codes = <int32_t *> workspace
    if job.wide:
        walk_group(job, part, <int64_t *> job.places + first, <int64_t *> job.indices, codes)
    else:
        walk_group(job, part, <int32_t *> job.places + first, <int32_t *> job.indices, codes)


def csc(list codes, list luts, position_t[:, :, ::1] places, position_t[::1] indices, int num_threads):
    """Write the row numbers of each column to ``indices``; if it is empty, only count them.

    ``places`` (groups, columns, parts of a group) has the position in ``indices`` where each part of each column
    begins. The positions are replaced by those where the parts end. Part ``i`` begins at row
    ``i * n_rows // n_parts`` and ends where the next part begins.
    """
    cdef PartsJob job
    cdef CodeColumns columns = CodeColumns(codes, luts, 4)
    if places.shape[0] == 0 or places.shape[1] == 0:
        return
    if places.shape[2] not in (1, LANES):
        raise ValueError(f"sparse.csc: a group must have 1 or {LANES} parts, got {places.shape[2]}")
    job = PartsJob(
        sources=columns.items, n_sources=columns.n_columns, n_rows=columns.n_rows, n_groups=places.shape[0],
        n_columns=places.shape[1], group_parts=<int> places.shape[2], places=&places[0, 0, 0], indices=NULL,
        n_indices=indices.shape[0], wide=position_t is int64_t,
    )
    if job.n_indices:
        job.indices = &indices[0]
    for_each_chunk(
        run_group, &job, job.n_groups, 1, job.n_rows // job.n_groups * job.n_sources * sizeof(position_t),
        4 * LANES * LANE_CODES, num_threads,
    )
