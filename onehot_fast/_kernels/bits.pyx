# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Bits: one column of codes into bit-packed Boolean columns, as Arrow keeps them.

A tile of codes, one byte each, is compared with every class of the tile and the comparison's mask is the
output: 64 rows an instruction where the processor has such masks. The lowest bit is the first row, and the bits
behind the last row are 0 (Arrow columnar format, "Validity bitmaps": least-significant bit numbering).
"""

from libc.stdint cimport uint8_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.simd cimport OHF_PAD, OHF_SPAN8, microkernels, ohf_microkernels

cdef enum:
    TILE = 4096             # rows of a tile: a multiple of 8, so that tiles share no byte

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    unsigned char *out
    Py_ssize_t n_rows, n_classes, first, plane_bytes


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write all classes of one tile of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef uint8_t codes[TILE + OHF_PAD]
    cdef Py_ssize_t begin = chunk * TILE, count = min(job.n_rows - begin, <Py_ssize_t> TILE)
    cdef Py_ssize_t base = 0, span
    while base < job.n_classes:
        span = min(job.n_classes - base, <Py_ssize_t> OHF_SPAN8)
        read(job.source, begin, count, job.first + base, span, codes)
        job.microkernels.bits(codes, count, span, job.plane_bytes, job.out + base * job.plane_bytes + begin // 8)
        base += span


def encode(CodeColumns columns, unsigned char[:, ::1] out, Py_ssize_t first, int num_threads):
    """Write row ``j`` of ``out`` as the bits of class ``first + j`` of the one column, of one-byte codes."""
    cdef Job job
    job.plane_bytes = (columns.n_rows + 7) // 8
    columns.require(1, 1)
    if out.shape[1] != job.plane_bytes or out.shape[0] == 0 or out.shape[1] == 0:
        raise ValueError("bits.encode: the shapes do not agree")
    job.microkernels = microkernels()
    job.source = columns.items
    job.out = &out[0, 0]
    job.n_rows = columns.n_rows
    job.n_classes = out.shape[0]
    job.first = first
    for_each_chunk(
        run_chunk, &job, (job.n_rows + TILE - 1) // TILE, job.n_classes * TILE // 8, num_threads,
    )
