# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Matrix: several columns of codes into one row-major matrix, in a single pass over the output.

The tables hold columns of the whole matrix. A block of rows is filled with off, each column stores its ons, and
the block leaves once: streamed from a scratch block that is cleaned by taking the ons back, or written in place
where the matrix is small.
"""

from libc.stdint cimport int32_t, uintptr_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.simd cimport (
    OHF_SCRATCH, fill_init, microkernels, ohf_fill, ohf_microkernels, scratch_init, stream_bytes,
)

cdef enum:
    CODES = 4096            # codes of a block, all columns together: 16 KiB
    CHUNK_BYTES = 1 << 20

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *sources
    const ohf_fill *fill
    unsigned char *out
    Py_ssize_t n_columns, n_rows, row_bytes, chunk_rows
    Py_ssize_t step         # rows of a block
    bint in_scratch


cdef void scatter_columns(
    const Job *job, const int32_t *codes, Py_ssize_t n_columns, Py_ssize_t count, const ohf_fill *fill,
    unsigned char *block,
) noexcept nogil:
    """Store one element per code and row, column by column."""
    cdef Py_ssize_t column
    for column in range(n_columns):
        job.microkernels.rows_scatter(codes + column * job.step, count, fill, block, NULL)


cdef void write_block(
    const Job *job, Py_ssize_t row, Py_ssize_t count, int32_t *codes, unsigned char *scratch,
) noexcept nogil:
    """Write ``count`` rows from ``row`` on."""
    cdef unsigned char *to = job.out + row * job.row_bytes
    cdef unsigned char *block = scratch + (<uintptr_t> to & 63) if job.in_scratch else to
    cdef Py_ssize_t at_once = CODES // job.step, begin = 0, n, column
    cdef ohf_fill undo
    if not job.in_scratch:
        job.microkernels.fill(to, count * job.row_bytes, job.fill)
    while begin < job.n_columns:
        n = min(job.n_columns - begin, at_once)
        for column in range(n):
            read(&job.sources[begin + column], row, count, 0, job.fill.depth, codes + column * job.step)
        scatter_columns(job, codes, n, count, job.fill, block)
        begin += n
    if job.in_scratch:
        undo = job.fill[0]
        undo.on = undo.off
        job.microkernels.copy(to, block, count * job.row_bytes)
        scatter_columns(job, codes, job.n_columns, count, &undo, block)


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t codes[CODES]
    cdef unsigned char room[OHF_SCRATCH + 128]
    cdef unsigned char *scratch = room + (-<uintptr_t> room & 63)
    cdef Py_ssize_t row = chunk * job.chunk_rows, end = min(row + job.chunk_rows, job.n_rows), count
    if job.in_scratch:
        scratch_init(scratch, job.fill)
    while row < end:
        count = min(end - row, job.step)
        write_block(job, row, count, codes, scratch)
        row += count


def encode(
    CodeColumns columns, unsigned char[::1] out, Py_ssize_t depth, const unsigned char[::1] on,
    const unsigned char[::1] off, int num_threads,
):
    """Write the rows of ``columns`` (of four-byte codes) into ``out``, a matrix of ``depth`` columns."""
    cdef Job job
    cdef ohf_fill fill
    cdef Py_ssize_t width = on.shape[0]
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
    job.step = max(min(<Py_ssize_t> CODES // columns.n_columns, OHF_SCRATCH // job.row_bytes), <Py_ssize_t> 1)
    if job.step > 64:
        job.step -= job.step % 64   # whole lines, whatever the width of a row
    job.in_scratch = (
        job.microkernels.copy != NULL and job.row_bytes <= OHF_SCRATCH and columns.n_columns <= CODES
        and width in (1, 2, 4, 8, 16) and <uintptr_t> job.out % width == 0
        and <size_t> out.shape[0] > stream_bytes()
    )
    job.chunk_rows = max(CHUNK_BYTES // job.row_bytes, job.step)
    job.chunk_rows -= job.chunk_rows % job.step
    for_each_chunk(
        run_chunk, &job, (job.n_rows + job.chunk_rows - 1) // job.chunk_rows,
        job.chunk_rows * job.row_bytes, num_threads,
    )
