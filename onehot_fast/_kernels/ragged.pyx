# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of rows with any number of codes, as a matrix of ones or counts, or as CSR.

Row ``i`` has the codes ``codes[offsets[i]:offsets[i + 1]]``. The offsets are checked once, so the
caller must copy offsets that other threads may change. The codes are checked when they are read.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.simd cimport fill_init, microkernels, ohf_fill, ohf_microkernels

cdef enum:
    CODES = 1024
    CHUNK_BYTES = 1 << 20
    INSERTION = 32          # up to this many codes in a row, insertion sort is faster than qsort

ctypedef fused number_t:
    signed char
    short
    int
    long long
    unsigned char
    unsigned short
    unsigned int
    unsigned long long
    float
    double

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    const ohf_fill *fill
    const int64_t *offsets
    unsigned char *out
    Py_ssize_t n_rows, row_bytes, chunk_rows


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n_codes) except -1:
    """Raise an error if the offsets decrease or are outside [0, ``n_codes``]."""
    cdef Py_ssize_t i
    if offsets.shape[0] < 1 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > n_codes:
        raise ValueError(f"the offsets must be in [0, {n_codes}]")
    for i in range(1, offsets.shape[0]):
        if offsets[i] < offsets[i - 1]:
            raise ValueError(f"offsets[{i}] = {offsets[i]} is less than the previous offset, {offsets[i - 1]}")
    return 0


cdef void set_row(const Job *job, Py_ssize_t row, int32_t *codes) noexcept nogil:
    """Write ``on`` to one row at each of its codes; ``codes`` is scratch memory."""
    cdef unsigned char *to = job.out + row * job.row_bytes
    cdef Py_ssize_t at = job.offsets[row], end = job.offsets[row + 1], count, i, width = job.fill.width
    while at < end:
        count = min(end - at, <Py_ssize_t> CODES)
        read(job.source, at, count, 0, job.fill.depth, codes)
        for i in range(count):
            if codes[i] >= 0:
                memcpy(to + codes[i] * width, job.fill.on, width)
        at += count


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t codes[CODES]
    cdef Py_ssize_t row
    for row in range(chunk * job.chunk_rows, min((chunk + 1) * job.chunk_rows, job.n_rows)):
        job.microkernels.fill(job.out + row * job.row_bytes, job.row_bytes, job.fill)
        set_row(job, row, codes)


def encode(
    const int64_t[::1] offsets, codes, table, unsigned char[::1] out, Py_ssize_t depth,
    const unsigned char[::1] on, const unsigned char[::1] off, int num_threads,
):
    """Write rows of ``depth`` elements: ``on`` at every code of the row, else ``off``."""
    cdef Job job
    cdef ohf_fill fill
    cdef CodeColumns columns = CodeColumns([codes], [table], 4)
    cdef Py_ssize_t width = on.shape[0]
    check_offsets(offsets, columns.n_rows)
    job.n_rows = offsets.shape[0] - 1
    if job.n_rows * depth * width != out.shape[0] or off.shape[0] != width:
        raise ValueError("ragged.encode: the lengths do not agree")
    if out.shape[0] == 0:
        return
    fill_init(&fill, width, depth, 1, &on[0], &off[0])
    job.microkernels = microkernels()
    job.source = columns.items
    job.fill = &fill
    job.offsets = &offsets[0]
    job.out = &out[0]
    job.row_bytes = depth * width
    job.chunk_rows = max(CHUNK_BYTES // job.row_bytes, <Py_ssize_t> 1)
    for_each_chunk(
        run_chunk, &job, (job.n_rows + job.chunk_rows - 1) // job.chunk_rows,
        job.chunk_rows * job.row_bytes, num_threads,
    )


def count(const int64_t[::1] offsets, codes, table, number_t[:, ::1] out):
    """Add 1 to ``out[row, column]`` for every code of each row."""
    cdef CodeColumns columns = CodeColumns([codes], [table], 4)
    cdef int32_t block[CODES]
    cdef Py_ssize_t row, at, end, n, i, depth = out.shape[1]
    check_offsets(offsets, columns.n_rows)
    if out.shape[0] != offsets.shape[0] - 1:
        raise ValueError("ragged.count: the lengths do not agree")
    with nogil:
        for row in range(out.shape[0]):
            at = offsets[row]
            end = offsets[row + 1]
            while at < end:
                n = min(end - at, <Py_ssize_t> CODES)
                read(columns.items, at, n, 0, depth, block)
                for i in range(n):
                    if block[i] >= 0:
                        out[row, block[i]] += 1
                at += n


cdef int compare(const void *a, const void *b) noexcept nogil:
    cdef int32_t x = (<const int32_t *> a)[0], y = (<const int32_t *> b)[0]
    return (x > y) - (x < y)


cdef void sort_row(int32_t *columns, Py_ssize_t n) noexcept nogil:
    """Sort the columns of a row."""
    cdef Py_ssize_t i, j
    cdef int32_t column
    if n > INSERTION:
        qsort(columns, n, sizeof(int32_t), compare)
        return
    for i in range(1, n):
        column = columns[i]
        j = i
        while j > 0 and columns[j - 1] > column:
            columns[j] = columns[j - 1]
            j -= 1
        columns[j] = column


cdef Py_ssize_t merge_row(int32_t *columns, Py_ssize_t n, int64_t *counts) noexcept nogil:
    """Keep the distinct columns of a sorted row, count each, and return the number of distinct columns."""
    cdef Py_ssize_t i, n_distinct = 0
    for i in range(n):
        if i > 0 and columns[i] == columns[i - 1]:
            counts[n_distinct - 1] += 1
        else:
            columns[n_distinct] = columns[i]
            counts[n_distinct] = 1
            n_distinct += 1
    return n_distinct


def csr(
    const int64_t[::1] offsets, codes, table, int32_t[::1] indices, int64_t[::1] indptr, int64_t[::1] counts,
    Py_ssize_t n_columns,
):
    """Fill ``indptr`` (rows + 1), ``indices`` and ``counts`` (at least one element per code) as canonical CSR.

    Return the number of stored elements.
    """
    cdef CodeColumns columns = CodeColumns([codes], [table], 4)
    cdef int32_t block[CODES]
    cdef Py_ssize_t row, at, end, n, i, begin, total = 0, room = indices.shape[0]
    check_offsets(offsets, columns.n_rows)
    if (
        indptr.shape[0] != offsets.shape[0]
        or room < offsets[offsets.shape[0] - 1] - offsets[0] or counts.shape[0] < room
    ):
        raise ValueError("ragged.csr: the lengths do not agree")
    indptr[0] = 0
    with nogil:
        for row in range(offsets.shape[0] - 1):
            at = offsets[row]
            end = offsets[row + 1]
            begin = total
            while at < end:
                n = min(end - at, <Py_ssize_t> CODES)
                read(columns.items, at, n, 0, n_columns, block)
                for i in range(n):
                    if block[i] >= 0:
                        indices[total] = block[i]
                        total += 1
                at += n
            if total > begin:
                sort_row(&indices[begin], total - begin)
                total = begin + merge_row(&indices[begin], total - begin, &counts[begin])
            indptr[row + 1] = total
    return total
