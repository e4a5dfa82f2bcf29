# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of planes: the new axis is not the last, so each class has runs of ``inner`` adjacent elements.

The output is (outer, depth, inner). The codes of one tile of a run are narrowed to one byte each, in the
first-level cache. Then each class is compared with the codes and written, vector by vector. A depth above 255
is split into segments of 255 classes. The tile is narrowed again for each segment, which adds only 1/255 to
the reads of the comparison.

`encode_bits` writes bit-packed Boolean planes, as Arrow stores them. It splits each code into high bits and
low bits. For each value of the high bits, a mask marks the rows of a tile that have this value, and likewise for
the low bits. The bits of a class are the AND of two such masks. The lowest bit is the first row, and the bits
after the last row are 0 (Arrow columnar format, "Validity bitmaps": least-significant bit numbering).
"""

from libc.stdint cimport int32_t, uint8_t, uintptr_t

cimport numpy as cnp

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumn, describe_codes, output_of
from onehot_fast._kernels.index_types cimport integer_t
from onehot_fast._kernels.operands cimport CodeSource, Output, read
from onehot_fast._kernels.simd cimport (
    OHF_BIT_ROWS, OHF_BIT_SCRATCH, OHF_PAD, OHF_SPAN8, microkernels, ohf_fill, ohf_fill_init, ohf_microkernels,
    stream_bytes,
)

cdef enum:
    TILE = 4096             # positions of a tile: 4 KiB of codes in the first-level cache
    CHUNK_BIT_ROWS = 16 * OHF_BIT_ROWS
    BIT_CODES_BYTES = OHF_BIT_ROWS + OHF_PAD

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    const ohf_fill *fill
    unsigned char *out
    size_t plane_bytes      # bytes from the plane of a class to that of the next class
    Py_ssize_t inner
    Py_ssize_t n_tiles      # tiles in a run of `inner` elements
    Py_ssize_t n_segments


cdef void write_tile(
    const Job *job, Py_ssize_t outer, Py_ssize_t tile, Py_ssize_t segment, uint8_t *codes,
) noexcept nogil:
    """Write one segment (up to 255 classes) of one tile (up to 4096 positions); ``codes`` is memory for codes."""
    cdef Py_ssize_t begin = tile * TILE, count = min(job.inner - begin, <Py_ssize_t> TILE)
    cdef Py_ssize_t base = segment * OHF_SPAN8, depth = job.fill.depth
    cdef Py_ssize_t span = min(depth - base, <Py_ssize_t> OHF_SPAN8)
    read(job.source, outer * job.inner + begin, count, base, span, codes)
    job.microkernels.planes(
        codes, count, span, job.plane_bytes, job.fill,
        job.out + (outer * depth + base) * job.plane_bytes + begin * job.fill.width,
    )


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the tiles [begin, end), numbered in the C order of (outer, segment, tile)."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t item, rest
    for item in range(begin, end):
        rest = item // job.n_tiles
        write_tile(job, rest // job.n_segments, item % job.n_tiles, rest % job.n_segments, workspace)


cdef int encode_planes(
    const CodeSource *source, Py_ssize_t outer, Py_ssize_t depth, Py_ssize_t inner, const Output *to,
    int num_threads,
) except -1:
    """Write the one-hot encoding of ``source`` in shape (outer, depth, inner); no dimension may be 0."""
    cdef Job job
    cdef ohf_fill fill
    cdef Py_ssize_t item_bytes
    ohf_fill_init(&fill, to.width, depth, inner, to.on, to.off)
    fill.class_codes = source.class_codes
    job = Job(
        microkernels=microkernels, source=source, fill=&fill, out=to.data, plane_bytes=inner * to.width,
        inner=inner, n_tiles=(inner + TILE - 1) // TILE, n_segments=(depth + OHF_SPAN8 - 1) // OHF_SPAN8,
    )
    item_bytes = min(inner, <Py_ssize_t> TILE) * to.width * min(depth, <Py_ssize_t> OHF_SPAN8)
    fill.stream = job.microkernels.streams and <size_t> to.n_bytes > stream_bytes
    return for_each_chunk(
        run_chunk, &job, outer * job.n_segments * job.n_tiles, 0, item_bytes, TILE + OHF_PAD, num_threads,
    )


def encode_block(
    const integer_t[::1] codes, const int32_t[::1] lut, unsigned char[::1] out, Py_ssize_t depth,
    cnp.ndarray on, cnp.ndarray off, int num_threads,
):
    """Write the one-hot encoding of one column of codes to ``out``, the bytes of (depth, rows) elements."""
    cdef Output to = output_of(out, codes.shape[0] * depth, on, off)
    cdef CodeColumn column
    if to.n_bytes == 0:
        return
    describe_codes(&column, codes, lut, 1)
    encode_planes(&column.source, 1, depth, codes.shape[0], &to, num_threads)


cdef struct BitsJob:
    const ohf_microkernels *microkernels
    const CodeSource *source
    unsigned char *out
    Py_ssize_t n_classes, plane_bytes
    bint is_streamed


cdef void run_bit_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the bits of all classes for the rows [begin, end), one tile of rows after another."""
    cdef const BitsJob *job = <const BitsJob *> any_job
    cdef uint8_t *codes = workspace
    cdef unsigned char *masks = workspace + BIT_CODES_BYTES
    cdef Py_ssize_t count, base, span
    while begin < end:
        count = min(end - begin, <Py_ssize_t> OHF_BIT_ROWS)
        base = 0
        while base < job.n_classes:
            span = min(job.n_classes - base, <Py_ssize_t> OHF_SPAN8)
            read(job.source, begin, count, base, span, codes)
            job.microkernels.bits(
                codes, count, span, job.plane_bytes, job.is_streamed,
                job.out + base * job.plane_bytes + begin // 8, masks,
            )
            base += span
        begin += count


cdef int write_bits(
    const CodeSource *source, Py_ssize_t n_rows, unsigned char *out, Py_ssize_t n_classes, Py_ssize_t plane_bytes,
    int num_threads, Py_ssize_t result_bytes,
) except -1:
    """Write ``n_classes`` planes of bits, as `encode_bits` explains; each plane has ``plane_bytes`` bytes."""
    cdef BitsJob job = BitsJob(
        microkernels=microkernels, source=source, out=out, n_classes=n_classes, plane_bytes=plane_bytes,
        is_streamed=False,
    )
    job.is_streamed = (
        <size_t> max(result_bytes, job.n_classes * job.plane_bytes) > stream_bytes and job.microkernels.streams
        and (<uintptr_t> job.out | <uintptr_t> job.plane_bytes) % 64 == 0
    )
    return for_each_chunk(
        run_bit_chunk, &job, n_rows, CHUNK_BIT_ROWS, (job.n_classes + 7) // 8,
        BIT_CODES_BYTES + OHF_BIT_SCRATCH, num_threads,
    )


def encode_bits(
    const integer_t[::1] codes, const int32_t[::1] lut, unsigned char[:, ::1] out, int num_threads,
    Py_ssize_t result_bytes,
):
    """Write the one-hot encoding of one column of codes to ``out`` (classes, bytes), as bits.

    The lowest bit of a byte belongs to the first code. If a row of ``out`` has more bytes than its bits need, the
    extra bytes keep their values. If ``out`` is a part of a larger result, ``result_bytes`` is the size of the
    whole result. If the result is large and the rows begin at cache lines, the stores bypass the caches.
    """
    cdef CodeColumn column
    cdef Py_ssize_t n_bytes = (codes.shape[0] + 7) // 8
    if out.shape[0] == 0 or n_bytes == 0:
        return
    if out.shape[1] < n_bytes:
        raise ValueError(f"planes.encode_bits: a row must have at least {n_bytes} bytes, got {out.shape[1]}")
    describe_codes(&column, codes, lut, 1)
    write_bits(
        &column.source, codes.shape[0], &out[0, 0], out.shape[0], out.shape[1], num_threads, result_bytes,
    )
