# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Matrix: several columns of codes into one row-major matrix, in a single pass over the output.

The tables hold columns of the whole matrix. A large output is written by windows of whole cache lines, whatever
rows they cut: the ons of the rows are stored in a scratch block that holds off, and the block is streamed out
while off is stored behind it. A smaller one is filled with off and given its ons in place, block by block.
"""

from libc.stdint cimport int32_t, uintptr_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.simd cimport (
    OHF_SCRATCH, fill_init, microkernels, ohf_fill, ohf_microkernels, stream_bytes,
)

cdef enum:
    CODES = 2048            # codes of a block, all columns together: 8 KiB
    WINDOW = 8192           # bytes
    LEAST_WINDOW = 1024     # of which the rows' codes are worth being kept for the next one
    CHUNK_BYTES = 1 << 20

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *sources
    const ohf_fill *fill
    unsigned char *out
    Py_ssize_t n_columns, n_rows, row_bytes, n_bytes
    Py_ssize_t chunk_rows
    Py_ssize_t window       # bytes, 0: in place
    Py_ssize_t step         # rows whose codes are read at a time, for several blocks; 0: too many columns


cdef void read_columns(const Job *job, Py_ssize_t row, Py_ssize_t count, int32_t *codes) noexcept nogil:
    """Read some rows of all columns, ``step`` codes apart."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        read(&job.sources[column], row, count, 0, job.fill.depth, codes + column * job.step)


cdef void scatter_read(
    const Job *job, const int32_t *codes, Py_ssize_t count, unsigned char *block,
) noexcept nogil:
    """Store the ons of rows whose codes were read."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        job.microkernels.rows_scatter(codes + column * job.step, count, job.fill, block, NULL)


cdef void scatter(
    const Job *job, Py_ssize_t row, Py_ssize_t count, int32_t *codes, unsigned char *block,
) noexcept nogil:
    """Store the ons of so many columns or rows that their codes do not fit a block: column by column."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        read(&job.sources[column], row, count, 0, job.fill.depth, codes)
        job.microkernels.rows_scatter(codes, count, job.fill, block, NULL)


cdef void stream_chunk(const Job *job, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Write the bytes [begin, end) of the output by windows."""
    cdef int32_t codes[CODES]
    cdef unsigned char room[WINDOW + 2 * OHF_SCRATCH + 192]
    # Rows that begin before a window or end behind it leave their ons beside it, where nobody looks.
    cdef Py_ssize_t beside = (job.row_bytes + 63) // 64 * 64, row, stop, first = 0, known = 0, there
    cdef unsigned char *scratch = room + (-<uintptr_t> room & 63) + beside
    cdef unsigned char *block
    cdef unsigned char *rows
    job.microkernels.fill(scratch, WINDOW + 64, job.fill)
    while begin < end:
        block = scratch + (<uintptr_t> (job.out + begin) & 63)
        there = min(begin + job.window - (block - scratch), end)
        row = begin // job.row_bytes
        stop = (there + job.row_bytes - 1) // job.row_bytes
        rows = block + (row * job.row_bytes - begin)
        if job.step == 0:
            scatter(job, row, stop - row, codes, rows)
        else:
            if stop > known:
                first, known = row, min(row + job.step, job.n_rows)
                read_columns(job, first, known - first, codes)
            scatter_read(job, codes + (row - first), stop - row, rows)
        job.microkernels.move(job.out + begin, block, there - begin, job.fill)
        if block != scratch:   # the first window begins within a line, where later ones do not
            job.microkernels.fill(scratch, 64, job.fill)
        begin = there
    job.microkernels.fence()


cdef void write_chunk(const Job *job, Py_ssize_t row, Py_ssize_t end) noexcept nogil:
    """Write the rows [row, end) in place."""
    cdef int32_t codes[CODES]
    cdef Py_ssize_t at_once = max(<Py_ssize_t> OHF_SCRATCH // job.row_bytes, <Py_ssize_t> 1)
    cdef Py_ssize_t first = 0, known = row, count
    cdef unsigned char *to
    while row < end:
        to = job.out + row * job.row_bytes
        if job.step == 0:
            count = min(at_once, <Py_ssize_t> CODES, end - row)
            job.microkernels.fill(to, count * job.row_bytes, job.fill)
            scatter(job, row, count, codes, to)
        else:
            if row == known:
                first, known = row, min(row + job.step, end)
                read_columns(job, first, known - first, codes)
            count = min(at_once, known - row)
            job.microkernels.fill(to, count * job.row_bytes, job.fill)
            scatter_read(job, codes + (row - first), count, to)
        row += count


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write one chunk: of lines, or of rows."""
    cdef const Job *job = <const Job *> any_job
    if job.window:
        stream_chunk(job, chunk * CHUNK_BYTES, min((chunk + 1) * CHUNK_BYTES, job.n_bytes))
    else:
        write_chunk(job, chunk * job.chunk_rows, min((chunk + 1) * job.chunk_rows, job.n_rows))


cdef Py_ssize_t whole_lines(Py_ssize_t n_bytes) noexcept nogil:
    return n_bytes // 64 * 64


def encode(
    CodeColumns columns, unsigned char[::1] out, Py_ssize_t depth, const unsigned char[::1] on,
    const unsigned char[::1] off, int num_threads, bint fresh=False,
):
    """Write the rows of ``columns`` (of four-byte codes) into ``out``, a matrix of ``depth`` columns.

    ``fresh`` memory was just cleared by the system and lies in the caches: it is not streamed to.
    """
    cdef Job job
    cdef ohf_fill fill
    cdef Py_ssize_t width = on.shape[0], n_chunks
    columns.require(columns.n_columns, 4)
    if columns.n_rows * depth * width != out.shape[0] or off.shape[0] != width or out.shape[0] == 0:
        raise ValueError("matrix.encode: the lengths do not agree")
    if depth > 0x7fffffff:
        raise ValueError(f"matrix.encode: {depth} columns are more than int32 tables can name")
    fill_init(&fill, width, depth, 1, &on[0], &off[0])
    job.microkernels = microkernels()
    job.sources = columns.items
    job.fill = &fill
    job.out = &out[0]
    job.n_columns = columns.n_columns
    job.n_rows = columns.n_rows
    job.row_bytes = depth * width
    job.n_bytes = out.shape[0]
    job.step = CODES // columns.n_columns
    job.window = 0
    if (
        not fresh and job.microkernels.move != NULL and job.row_bytes <= OHF_SCRATCH and width in (1, 2, 4, 8, 16)
        and <uintptr_t> job.out % width == 0 and <size_t> job.n_bytes > stream_bytes()
    ):
        job.window = whole_lines(min(<Py_ssize_t> WINDOW, (job.step - 2) * job.row_bytes))
        if job.window < LEAST_WINDOW:
            job.step = 0
            job.window = whole_lines(min(<Py_ssize_t> WINDOW, (CODES - 2) * job.row_bytes))
    job.chunk_rows = max(CHUNK_BYTES // job.row_bytes, <Py_ssize_t> 1)
    n_chunks = (job.n_rows + job.chunk_rows - 1) // job.chunk_rows
    if job.window:
        n_chunks = (job.n_bytes + CHUNK_BYTES - 1) // CHUNK_BYTES
    for_each_chunk(run_chunk, &job, n_chunks, (job.n_bytes + n_chunks - 1) // n_chunks, num_threads)
