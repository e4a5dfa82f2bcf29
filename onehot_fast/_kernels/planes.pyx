# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of planes: the new axis is not the last, so each class has runs of ``inner`` adjacent elements.

The output is (outer, depth, inner). The codes of one tile of a run are narrowed to one byte each, in the
first-level cache. Then each class is compared with the codes and written, vector by vector. A depth above 255
is split into segments of 255 classes. The tile is narrowed again for each segment, which adds only 1/255 to
the reads of the comparison.

`encode_bits` writes bit-packed Boolean planes, as Arrow stores them. For each half of a code and each
value of this half, a mask marks the rows of a tile that have it; the bits of a class are two
masks combined by AND. The lowest bit is the first row, and the bits after the last row are 0 (Arrow columnar
format, "Validity bitmaps": least-significant bit numbering).
"""

from libc.stdint cimport uint8_t, uintptr_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, kind_bytes, read
from onehot_fast._kernels.simd cimport (
    OHF_BIT_MASKS, OHF_BIT_ROWS, OHF_PAD, OHF_SPAN8, fill_init, microkernels, ohf_fill, ohf_microkernels,
    ohf_policy, stream_bytes,
)

cdef enum:
    TILE = 4096             # positions of a tile: 4 KiB of codes in L1
    BIT_TILE = OHF_BIT_ROWS  # rows of a tile of bits: whole cache lines
    CHUNK_BIT_ROWS = 16 * OHF_BIT_ROWS
    CHUNK_BYTES = 1 << 20

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    const ohf_fill *fill
    unsigned char *out
    size_t plane_bytes      # the distance between classes
    Py_ssize_t inner
    Py_ssize_t n_tiles      # tiles of a run
    Py_ssize_t n_segments
    Py_ssize_t n_items
    Py_ssize_t chunk_items


cdef void write_tile(const Job *job, Py_ssize_t outer, Py_ssize_t tile, Py_ssize_t segment) noexcept nogil:
    """Write one segment of classes for one tile of positions."""
    cdef uint8_t codes[TILE + OHF_PAD]
    cdef Py_ssize_t begin = tile * TILE, count = min(job.inner - begin, <Py_ssize_t> TILE)
    cdef Py_ssize_t base = segment * OHF_SPAN8, depth = job.fill.depth
    cdef Py_ssize_t span = min(depth - base, <Py_ssize_t> OHF_SPAN8)
    read(job.source, outer * job.inner + begin, count, base, span, codes)
    job.microkernels.planes(
        codes, count, span, job.plane_bytes, job.fill,
        job.out + (outer * depth + base) * job.plane_bytes + begin * job.fill.width,
    )


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write one chunk of (outer, segment, tile) items, in which the tile varies fastest."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t item, rest
    for item in range(chunk * job.chunk_items, min((chunk + 1) * job.chunk_items, job.n_items)):
        rest = item // job.n_tiles
        write_tile(job, rest // job.n_segments, item % job.n_tiles, rest % job.n_segments)


cdef int run(
    const CodeSource *source, Py_ssize_t outer, Py_ssize_t depth, Py_ssize_t inner, unsigned char *out,
    Py_ssize_t width, const unsigned char *on, const unsigned char *off, int num_threads,
) except -1:
    """Write the one-hot encoding of ``source`` in shape (outer, depth, inner); no dimension may be 0."""
    cdef Job job
    cdef ohf_fill fill
    cdef Py_ssize_t item_bytes
    fill_init(&fill, width, depth, inner, on, off)
    job.microkernels = microkernels()
    job.source = source
    job.fill = &fill
    job.out = out
    job.plane_bytes = inner * width
    job.inner = inner
    job.n_tiles = (inner + TILE - 1) // TILE
    job.n_segments = (depth + OHF_SPAN8 - 1) // OHF_SPAN8
    job.n_items = outer * job.n_segments * job.n_tiles
    item_bytes = min(inner, <Py_ssize_t> TILE) * width * min(depth, <Py_ssize_t> OHF_SPAN8)
    job.chunk_items = max(CHUNK_BYTES // item_bytes, <Py_ssize_t> 1)
    fill.stream = job.microkernels.streams and <size_t> outer * depth * job.plane_bytes > stream_bytes()
    return for_each_chunk(
        run_chunk, &job, (job.n_items + job.chunk_items - 1) // job.chunk_items,
        job.chunk_items * item_bytes, num_threads,
    )


cdef int encode_planes(
    const void *indices, int kind, const ohf_policy *policy, Py_ssize_t outer, Py_ssize_t inner,
    unsigned char *out, Py_ssize_t width, const unsigned char *on, const unsigned char *off,
    int num_threads,
) except -1:
    """Write the one-hot encoding of indices in shape (outer, depth, inner); no dimension may be 0."""
    cdef CodeSource source
    source.indices = <const char *> indices
    source.index_bytes = kind_bytes(kind)
    source.narrow = microkernels().narrow8[kind]
    source.policy = policy
    source.table = NULL
    return run(&source, outer, policy.depth, inner, out, width, on, off, num_threads)


def encode_block(
    codes, table, unsigned char[::1] out, Py_ssize_t depth, const unsigned char[::1] on,
    const unsigned char[::1] off, int num_threads,
):
    """Write the one-hot encoding of one column of codes in shape (``depth``, rows)."""
    cdef CodeColumns columns = CodeColumns([codes], [table], 1)
    cdef Py_ssize_t width = on.shape[0]
    if columns.n_rows * depth * width != out.shape[0] or out.shape[0] == 0:
        raise ValueError("planes.encode_block: the lengths differ")
    run(columns.items, 1, depth, columns.n_rows, &out[0], width, &on[0], &off[0], num_threads)


cdef struct BitsJob:
    const ohf_microkernels *microkernels
    const CodeSource *source
    unsigned char *out
    Py_ssize_t n_rows, n_classes, plane_bytes
    bint is_streamed


cdef void write_bit_tile(
    const BitsJob *job, Py_ssize_t begin, Py_ssize_t count, unsigned char *masks
) noexcept nogil:
    """Write the bits of all classes for one tile of rows; ``masks`` is scratch memory."""
    cdef uint8_t codes[BIT_TILE + OHF_PAD]
    cdef Py_ssize_t base = 0, span
    while base < job.n_classes:
        span = min(job.n_classes - base, <Py_ssize_t> OHF_SPAN8)
        read(job.source, begin, count, base, span, codes)
        job.microkernels.bits(
            codes, count, span, job.plane_bytes, job.is_streamed, job.out + base * job.plane_bytes + begin // 8,
            masks,
        )
        base += span


cdef void run_bit_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Write the tiles of one chunk of rows."""
    cdef const BitsJob *job = <const BitsJob *> any_job
    cdef unsigned char room[OHF_BIT_MASKS + 64]
    cdef unsigned char *masks = room + (-<uintptr_t> room & 63)
    cdef Py_ssize_t begin = chunk * CHUNK_BIT_ROWS, end = min(begin + CHUNK_BIT_ROWS, job.n_rows)
    while begin < end:
        write_bit_tile(job, begin, min(end - begin, <Py_ssize_t> BIT_TILE), masks)
        begin += BIT_TILE


def encode_bits(codes, table, unsigned char[:, ::1] out, Py_ssize_t result_bytes, int num_threads):
    """Write the bits of class ``j`` of a single column to row ``j`` of ``out``.

    If a row has more bytes than its bits need, the others keep their values. ``result_bytes`` is the size of
    the whole result; ``out`` may be a part of it. Rows of a large result bypass the caches if they begin at a
    cache line.
    """
    cdef BitsJob job
    cdef CodeColumns columns = CodeColumns([codes], [table], 1)
    cdef Py_ssize_t n_bytes = (columns.n_rows + 7) // 8
    if out.shape[1] < n_bytes or out.shape[0] == 0 or n_bytes == 0:
        raise ValueError("planes.encode_bits: the shapes do not agree")
    job.microkernels = microkernels()
    job.source = columns.items
    job.out = &out[0, 0]
    job.n_rows = columns.n_rows
    job.n_classes = out.shape[0]
    job.plane_bytes = out.shape[1]
    job.is_streamed = (
        <size_t> result_bytes > stream_bytes() and job.microkernels.streams
        and (<uintptr_t> job.out | <uintptr_t> job.plane_bytes) % 64 == 0
    )
    for_each_chunk(
        run_bit_chunk, &job, (job.n_rows + CHUNK_BIT_ROWS - 1) // CHUNK_BIT_ROWS,
        job.n_classes * CHUNK_BIT_ROWS // 8, num_threads,
    )
