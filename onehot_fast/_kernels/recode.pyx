# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Codes through a table into codes: what a local code means where no output is written yet."""

from libc.stdint cimport int8_t, int16_t, int32_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read

cdef enum:
    CHUNK_ROWS = 1 << 16
    CODES = 4096            # codes of a block, which stay in the first-level cache

ctypedef fused code_t:
    int8_t
    int16_t
    int32_t

cdef struct Job:
    const CodeSource *source
    void *out
    Py_ssize_t out_bytes    # of one code
    Py_ssize_t n_rows, span


cdef void narrow(const int32_t *codes, Py_ssize_t count, code_t *out) noexcept nogil:
    """Store codes in fewer bits."""
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = <code_t> codes[i]


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Look up one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t codes[CODES]
    cdef Py_ssize_t row = chunk * CHUNK_ROWS, end = min((chunk + 1) * CHUNK_ROWS, job.n_rows), count
    while row < end:
        count = min(end - row, <Py_ssize_t> CODES)
        if job.out_bytes == sizeof(int32_t):
            read(job.source, row, count, 0, job.span, <int32_t *> job.out + row)
        else:
            read(job.source, row, count, 0, job.span, codes)
            if job.out_bytes == sizeof(int8_t):
                narrow(codes, count, <int8_t *> job.out + row)
            else:
                narrow(codes, count, <int16_t *> job.out + row)
        row += count


def recode(CodeColumns columns, code_t[::1] out, Py_ssize_t span, int num_threads):
    """Fill ``out`` with the entries, below ``span``, that the table has for the codes of one column; -1 for none.

    The codes have four bytes; the codes below ``span`` must fit ``out``.
    """
    cdef Job job
    columns.require(1, 4)
    if out.shape[0] != columns.n_rows:
        raise ValueError("recode.recode: the lengths do not agree")
    if span > <Py_ssize_t> 1 << (8 * sizeof(code_t) - 1):
        raise ValueError(f"recode.recode: codes below {span} do not fit {sizeof(code_t)} bytes")
    if columns.n_rows == 0:
        return
    job.source = columns.items
    job.out = &out[0]
    job.out_bytes = sizeof(code_t)
    job.n_rows = columns.n_rows
    job.span = span
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_ROWS - 1) // CHUNK_ROWS, CHUNK_ROWS * sizeof(code_t), num_threads,
    )
