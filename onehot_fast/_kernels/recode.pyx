# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Codes through a table into codes: what a local code means where no output is written yet."""

from libc.stdint cimport int32_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.sources cimport Source, Sources, read

cdef enum:
    CHUNK_ROWS = 1 << 16

cdef struct Job:
    const Source *source
    int32_t *out
    Py_ssize_t n_rows, span


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Look up one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t begin = chunk * CHUNK_ROWS
    read(job.source, begin, min(<Py_ssize_t> CHUNK_ROWS, job.n_rows - begin), 0, job.span, job.out + begin)


def recode(Sources sources, int32_t[::1] out, Py_ssize_t span, int num_threads):
    """Fill ``out`` with the entries, below ``span``, that the table has for the codes of one column; -1 for none.

    ``sources`` are four-byte codes.
    """
    cdef Job job
    if sources.n_columns != 1 or out.shape[0] != sources.n_rows:
        raise ValueError("recode.recode: the lengths do not agree")
    if sources.n_rows == 0:
        return
    job.source = sources.items
    job.out = &out[0]
    job.n_rows = sources.n_rows
    job.span = span
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_ROWS - 1) // CHUNK_ROWS, CHUNK_ROWS * sizeof(int32_t), num_threads,
    )
