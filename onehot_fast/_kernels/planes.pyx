# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Planes: the new axis is not the last, so each class owns runs of ``inner`` neighbouring elements.

The output is (outer, depth, inner). A tile of one run's positions is narrowed to one byte each, in the
first-level cache; then every class of the tile is compared against the codes and written, a vector at a time.
A depth above 255 is cut into segments of 255 classes, and the tile is narrowed again for each: 1/255 of the
reads the comparison makes anyway.
"""

from libc.stdint cimport uint8_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumns, CodeSource, read
from onehot_fast._kernels.kinds cimport kind_bytes, kind_of
from onehot_fast._kernels.simd cimport (
    OHF_PAD, OHF_SPAN8, fill_init, microkernels, ohf_fill, ohf_microkernels, ohf_policy, policy_of, stream_bytes,
)
from onehot_fast._kernels.types cimport index_t

cdef enum:
    TILE = 4096             # positions of a tile: 4 KiB of codes in L1
    CHUNK_BYTES = 1 << 20

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    const ohf_fill *fill
    unsigned char *out
    size_t plane_bytes      # from one class to the next
    Py_ssize_t inner
    Py_ssize_t n_tiles      # of one run
    Py_ssize_t n_segments
    Py_ssize_t n_items
    Py_ssize_t chunk_items


cdef void write_tile(const Job *job, Py_ssize_t outer, Py_ssize_t tile, Py_ssize_t segment) noexcept nogil:
    """Write one segment of classes over one tile of positions."""
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
    """Write one chunk of (outer, segment, tile) items, the tile varying fastest."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t item, rest
    for item in range(chunk * job.chunk_items, min((chunk + 1) * job.chunk_items, job.n_items)):
        rest = item // job.n_tiles
        write_tile(job, rest // job.n_segments, item % job.n_tiles, rest % job.n_segments)


cdef int run(
    const CodeSource *source, Py_ssize_t outer, Py_ssize_t depth, Py_ssize_t inner, unsigned char *out,
    Py_ssize_t width, const unsigned char *on, const unsigned char *off, int num_threads,
) except -1:
    """Write (outer, depth, inner) elements; nothing may be empty."""
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
    """Write (outer, depth, inner) elements from indices under a policy; nothing may be empty."""
    cdef CodeSource source
    source.indices = <const char *> indices
    source.index_bytes = kind_bytes(kind)
    source.narrow = microkernels().narrow8[kind]
    source.policy = policy
    source.table = NULL
    return run(&source, outer, policy.depth, inner, out, width, on, off, num_threads)


def encode(
    const index_t[::1] indices, unsigned char[::1] out, Py_ssize_t depth, Py_ssize_t inner,
    const unsigned char[::1] on, const unsigned char[::1] off, bint wrap, ignored, int num_threads,
):
    """Write the planes of ``indices`` into ``out``; ``ignored`` is None or the 64-bit pattern to leave out.

    ``out`` holds ``len(indices) * depth`` elements of ``len(on)`` bytes, none of the three 0.
    """
    cdef ohf_policy policy = policy_of(depth, wrap, ignored)
    cdef Py_ssize_t width = on.shape[0]
    if indices.shape[0] * depth * width != out.shape[0] or off.shape[0] != width or out.shape[0] == 0:
        raise ValueError("planes.encode: the lengths do not agree")
    if inner < 1 or indices.shape[0] % inner != 0:
        raise ValueError(f"planes.encode: inner = {inner} does not fit")
    encode_planes(
        &indices[0], kind_of(&indices[0]), &policy, indices.shape[0] // inner, inner, &out[0], width,
        &on[0], &off[0], num_threads,
    )


def encode_block(
    CodeColumns columns, unsigned char[::1] out, Py_ssize_t depth, const unsigned char[::1] on,
    const unsigned char[::1] off, int num_threads,
):
    """Write the ``depth`` planes of the one column, of one-byte codes."""
    cdef Py_ssize_t width = on.shape[0]
    columns.require(1, 1)
    if columns.n_rows * depth * width != out.shape[0] or out.shape[0] == 0:
        raise ValueError("planes.encode_block: the lengths do not agree")
    run(columns.items, 1, depth, columns.n_rows, &out[0], width, &on[0], &off[0], num_threads)
