# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Bits: one column of codes into bit-packed Boolean columns, as Arrow keeps them.

A tile of codes, one byte each, becomes masks of the two halves of a code, and a class is two of them together. The
lowest bit is the first row, and the bits behind the last row are 0 (Arrow columnar format, "Validity bitmaps":
least-significant bit numbering).
"""

from libc.stdint cimport uint8_t, uintptr_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.simd cimport (
    OHF_BIT_MASKS, OHF_BIT_ROWS, OHF_PAD, OHF_SPAN8, microkernels, ohf_microkernels, stream_bytes,
)

cdef enum:
    TILE = OHF_BIT_ROWS     # rows of a tile: whole lines of bits
    CHUNK_TILES = 16

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    unsigned char *out
    Py_ssize_t n_rows, n_classes, plane_bytes
    bint streaming


cdef void write_tile(const Job *job, Py_ssize_t begin, Py_ssize_t count, unsigned char *masks) noexcept nogil:
    """Write all classes of one tile of rows."""
    cdef uint8_t codes[TILE + OHF_PAD]
    cdef Py_ssize_t base = 0, span
    while base < job.n_classes:
        span = min(job.n_classes - base, <Py_ssize_t> OHF_SPAN8)
        read(job.source, begin, count, base, span, codes)
        job.microkernels.bits(
            codes, count, span, job.plane_bytes, job.streaming, job.out + base * job.plane_bytes + begin // 8,
            masks,
        )
        base += span


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write some tiles."""
    cdef const Job *job = <const Job *> any_job
    cdef unsigned char room[OHF_BIT_MASKS + 64]
    cdef unsigned char *masks = room + (-<uintptr_t> room & 63)
    cdef Py_ssize_t begin = chunk * CHUNK_TILES * TILE, end = min(begin + CHUNK_TILES * TILE, job.n_rows)
    while begin < end:
        write_tile(job, begin, min(end - begin, <Py_ssize_t> TILE), masks)
        begin += TILE


def encode(CodeColumns columns, unsigned char[:, ::1] out, Py_ssize_t result_bytes, int num_threads):
    """Write row ``j`` of ``out`` as the bits of class ``j`` of the one column, of one-byte codes.

    A row may be longer than its bits: bytes behind these stay as they are. ``result_bytes`` is the size of all
    that the call is part of; where it is large, rows that begin with a cache line are written past the caches.
    """
    cdef Job job
    cdef Py_ssize_t n_bytes = (columns.n_rows + 7) // 8
    columns.require(1, 1)
    if out.shape[1] < n_bytes or out.shape[0] == 0 or n_bytes == 0:
        raise ValueError("bits.encode: the shapes do not agree")
    job.microkernels = microkernels()
    job.source = columns.items
    job.out = &out[0, 0]
    job.n_rows = columns.n_rows
    job.n_classes = out.shape[0]
    job.plane_bytes = out.shape[1]
    job.streaming = (
        <size_t> result_bytes > stream_bytes() and job.microkernels.streams
        and (<uintptr_t> job.out | <uintptr_t> job.plane_bytes) % 64 == 0
    )
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_TILES * TILE - 1) // (CHUNK_TILES * TILE),
        job.n_classes * CHUNK_TILES * TILE // 8, num_threads,
    )
