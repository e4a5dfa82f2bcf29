# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of rows: the new axis is the last, or so near the end that a group of indices fills few cache lines.

The output is a sequence of groups. A group has ``inner`` adjacent indices and ``depth * inner`` elements
(``inner`` is 1 if the new axis is the last). There are five ways to write it (docs/performance/kernels.md):

expand   narrow rows: whole vectors are built in registers from the codes of the rows they span
block    fill a block (within the first-level cache) with off elements, then store its hot elements
scratch  like block, but in a scratch block that is then streamed out and reset
merge    wide rows: stream vectors of off elements, and build only the vector with the hot element
scatter  store only the hot elements, into memory that already contains off elements

Memory that the system has just cleared is still in the caches. Streaming stores would first have to evict it,
so they are not used there (1M rows of 10 float32 would take 12.4 ms instead of 7.9 ms).

The output is written once. The work is O(bytes of output + bytes of indices).

`encode_matrix` writes several columns of codes into one row-major matrix, in a single pass over the output. The
look-up tables map codes to columns of the whole matrix. A large output is written in windows of whole cache lines,
which may split rows: the hot elements are stored in a scratch block of off elements, which is streamed out
and reset. A smaller output is filled with off elements, then hot elements are stored in place, by blocks.

The design of this module is that of all kernels:

a) Border. A kernel of one column is a fused `def`, such as `encode`. It takes the indices as a memoryview of a
   fused type (`index_types`), and the output as a memoryview of bytes. `const` accepts read-only indices. The
   memoryviews check the dtypes and the layout, and keep the memory alive while the kernel runs without the GIL.
b) Dispatch. `dispatch` looks up the specialisation for a dtype in a dictionary. It also views outputs as bytes, so
   that other modules pass arrays of any dtype.
c) Elements are bytes. The elements of an output have no fused type, because bfloat16, strings such as ``U3``,
   dates and structures have no type in C. A kernel knows their width, and copies the bytes of the elements.
d) Loops. A loop is a `noexcept nogil` function over pointers, because compilers do not vectorise a loop that
   indexes memoryviews inside `prange` (docs/performance/kernels.md has the times). `for_each_chunk` has the only
   `prange`, and calls such a function for each chunk. An empty memoryview has no address ``&view[0]``, so a kernel
   first compares the size with 0.
e) Instruction sets. The innermost loops are C code that is compiled for each instruction set (`simd`).
f) Several columns. `encode_matrix`, `sparse.csr`, `sparse.csc` and the kernels of `implicit` take lists of
   columns, and each column may have another dtype. A memoryview has one type, so the columns have no fused
   border: `CodeColumns` (in `ragged`: `Sources`) checks each array and describes it by its address and the
   number of its type.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t, uintptr_t

cimport numpy as cnp

from onehot_fast._kernels.chunks cimport for_each_chunk, give_workspace, take_workspace
from onehot_fast._kernels.code_columns cimport (
    CodeColumn, CodeColumns, bytes_size, describe_codes, describe_one, find_few, output_of, set_bytes, set_few,
)
from onehot_fast._kernels.index_types cimport index_t, index_type_bytes, index_type_of, integer_t
from onehot_fast._kernels.operands cimport CodeSource, Output, read, set_code_bytes
from onehot_fast._kernels.planes cimport encode_planes
from onehot_fast._kernels.simd cimport (
    OHF_P4, OHF_P8, OHF_PAD, OHF_SCRATCH, OHF_SPAN32, microkernels, ohf_can_expand, ohf_fill, ohf_fill_init,
    ohf_microkernels, ohf_plan, ohf_plan_init, ohf_policy, ohf_rows, policy_of, stream_bytes,
)

cnp.import_array()

cdef enum:
    CODES = 1024          # codes of a block: 4 KiB
    EXPAND_CODES = 4096   # codes of a block for `expand_chunk`: 4 KiB, one byte for each
    FEW_CODES = 448       # codes of a small call: less than 2 KiB
    MATRIX_CODES = 2048   # codes of a block of all columns together: 8 KiB
    WINDOW = 8192         # bytes of a window of `stream_chunk`
    MIN_WINDOW = 1024     # if windows would be smaller, the codes are read again for each window, not kept
    # The workspace of a thread: codes, then a scratch block, with extra room because the output that the block is
    # copied to may begin within a cache line.
    CODES_BYTES = 4 * CODES
    WRITE_BYTES = CODES_BYTES + OHF_SCRATCH + 64
    EXPAND_BYTES = EXPAND_CODES + OHF_PAD
    MATRIX_CODES_BYTES = 4 * MATRIX_CODES
    STREAM_BYTES = MATRIX_CODES_BYTES + WINDOW + 2 * OHF_SCRATCH + 128
    # Rows of up to so many elements and bytes are built in registers. 1M rows of 50 bytes then take 1.7 ms instead
    # of 2.2 ms, and of 25 float64 3.5 ms instead of 4.6 ms. From 100 bytes or 64 float32 on, the scratch block is
    # as fast or faster.
    NARROW = 64
    NARROW_BYTES = 256
    SMALL_BYTES = 16 << 10   # for smaller outputs, a plan costs more than it saves (0.5 us, rows of 10 float32)
    SPARSE_BYTES = 256       # in cleared groups of so many bytes or more, only hot elements are written

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    ohf_rows write              # writes groups; if it is NULL, `expand_chunk` does
    const ohf_fill *fill
    const ohf_plan *plan
    unsigned char *out
    Py_ssize_t depth
    size_t group_bytes


cdef void expand_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [row, end) by expansion in registers."""
    cdef const Job *job = <const Job *> any_job
    cdef uint8_t *codes = workspace
    cdef Py_ssize_t count
    while row < end:
        count = min(end - row, <Py_ssize_t> EXPAND_CODES)
        read(job.source, row, count, 0, job.depth, codes)
        job.microkernels.rows_expand(codes, count, job.plan, job.fill, job.out + row * job.group_bytes)
        row += count


cdef void write_chunk(
    const void *any_job, Py_ssize_t group, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the groups [group, end) from four-byte codes.

    A group with more than ``OHF_SPAN32`` classes is a whole chunk; one range of classes is written after another.
    """
    cdef const Job *job = <const Job *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    cdef unsigned char *scratch = workspace + CODES_BYTES
    cdef unsigned char *out
    cdef ohf_fill fill = job.fill[0]
    cdef Py_ssize_t count, base, span
    if job.write == job.microkernels.rows_scratch:
        job.microkernels.fill(scratch, OHF_SCRATCH + 64, &fill)
    while group < end:
        count = min(end - group, <Py_ssize_t> (CODES // fill.inner))
        base = 0
        while base < job.depth:
            span = min(job.depth - base, <Py_ssize_t> OHF_SPAN32)
            fill.depth = span
            out = job.out + group * job.group_bytes + base * fill.inner * fill.width
            read(job.source, group * fill.inner, count * fill.inner, base, span, codes)
            job.write(codes, count, &fill, out, scratch)
            base += span
        group += count


cdef ohf_rows choose(
    const Job *job, const ohf_fill *fill, Py_ssize_t n_groups, bint is_cleared,
) noexcept nogil:
    """Return the fastest function that writes groups of this width; NULL means `expand_chunk`."""
    cdef const ohf_microkernels *kernels = job.microkernels
    if is_cleared and job.group_bytes >= SPARSE_BYTES and fill.off_is_byte and fill.off[0] == 0:
        return kernels.rows_scatter
    if job.group_bytes * <size_t> n_groups < SMALL_BYTES:
        return kernels.rows_block
    if fill.depth <= NARROW and job.group_bytes <= NARROW_BYTES and ohf_can_expand(kernels, fill, job.out):
        return NULL
    if not fill.stream:
        return kernels.rows_block
    if job.group_bytes <= <size_t> OHF_SCRATCH // 2:
        return kernels.rows_scratch
    return kernels.rows_merge if fill.inner == 1 else kernels.rows_block


cdef bint is_streamable(const Output *to) noexcept nogil:
    """Tell whether the output is so large that stores should bypass the caches, and aligned for these stores."""
    return (
        <size_t> to.n_bytes > stream_bytes and to.width in (1, 2, 4, 8, 16)
        and <uintptr_t> to.data % to.width == 0
    )


cdef int encode_source(
    CodeSource *source, Py_ssize_t depth, Py_ssize_t n, Py_ssize_t inner, const Output *to, int num_threads,
    bint is_cleared,
) except -1:
    """Write the one-hot encoding of ``n`` codes in shape (n / inner, depth, inner); no dimension may be 0.

    This function also chooses the functions in ``source`` that read the codes.
    """
    cdef Job job
    cdef ohf_fill fill
    cdef Py_ssize_t n_groups = n // inner
    cdef size_t work_bytes = WRITE_BYTES
    # Runs of a class shorter than four cache lines are scattered like rows: the two partial lines at the ends of
    # a run would cost more than the comparison saves.
    if inner > 1 and inner * to.width >= 256:
        set_code_bytes(source, 1)
        return encode_planes(source, n_groups, depth, inner, to, num_threads)
    ohf_fill_init(&fill, to.width, depth, inner, to.on, to.off)
    fill.class_codes = source.class_codes
    job = Job(
        microkernels=microkernels, source=source, write=NULL, fill=&fill, plan=NULL, out=to.data, depth=depth,
        group_bytes=fill.depth * inner * to.width,
    )
    fill.stream = not is_cleared and job.microkernels.streams and is_streamable(to)
    job.write = choose(&job, &fill, n_groups, is_cleared)
    set_code_bytes(source, 1 if job.write == NULL else 4)
    if job.write == NULL:
        return expand(&job, n_groups, num_threads)
    if n <= FEW_CODES and job.write != job.microkernels.rows_scratch:
        work_bytes = 4 * n      # few enough bytes for the stack of `for_each_chunk`
    return for_each_chunk(write_chunk, &job, n_groups, 0, job.group_bytes, work_bytes, num_threads)


cdef int encode_indices(
    const void *indices, int index_type, const ohf_policy *policy, Py_ssize_t n, Py_ssize_t inner,
    const Output *to, int num_threads, bint is_cleared,
) except -1:
    """Write the one-hot encoding of ``n`` indices in shape (n / inner, depth, inner); no dimension may be 0."""
    cdef CodeSource source = CodeSource(
        indices=<const char *> indices, index_bytes=index_type_bytes(index_type), index_type=index_type,
        narrow=NULL, policy=policy, map=NULL, lut=NULL, class_codes=NULL,
    )
    return encode_source(&source, policy.depth, n, inner, to, num_threads, is_cleared)


cdef int expand(Job *job, Py_ssize_t n_rows, int num_threads) except -1:
    """Plan the vectors until their pattern repeats, and write all rows by expansion in registers."""
    cdef ohf_plan *plan = <ohf_plan *> take_workspace(sizeof(ohf_plan))
    try:
        ohf_plan_init(plan, job.microkernels, job.fill, job.out)
        job.plan = plan
        return for_each_chunk(expand_chunk, job, n_rows, 0, job.group_bytes, EXPAND_BYTES, num_threads)
    finally:
        give_workspace(plan, sizeof(ohf_plan))


def encode(
    const index_t[::1] indices, unsigned char[::1] out, Py_ssize_t depth, Py_ssize_t inner,
    cnp.ndarray on, cnp.ndarray off, bint wrap, ignore_index, int num_threads, bint zeroed,
):
    """Write the one-hot encoding of the indices to ``out``, the bytes of (outer, depth, inner) elements.

    If ``zeroed``, the system has just allocated ``out``, and all its bytes are 0.
    """
    cdef ohf_policy policy = policy_of(depth, wrap, ignore_index)
    cdef Py_ssize_t n = indices.shape[0]
    cdef Output to = output_of(out, n * depth, on, off)
    if to.n_bytes == 0:
        return
    if inner < 1 or n % inner != 0:
        raise ValueError(f"rows.encode: inner must divide the number of indices ({n}), got {inner}")
    encode_indices(&indices[0], index_type_of(&indices[0]), &policy, n, inner, &to, num_threads, zeroed)


def encode_integers(
    const integer_t[::1] integers, const int32_t[::1] lut, low, const uint64_t[::1] values, unsigned char[::1] out,
    Py_ssize_t depth, Py_ssize_t inner, cnp.ndarray on, cnp.ndarray off, int num_threads, bint zeroed,
):
    """Write the one-hot encoding of integers to ``out``, the bytes of (outer, depth, inner) elements.

    The class of an integer is an entry of the look-up table. Entry ``i`` belongs to the integer ``low + i``, or to
    ``values[i]`` if there are values (up to 32, with classes below 254). The last entry belongs to all other
    integers. An entry is a class below ``depth``, or -1 or -2 for no class. Return whether any integer has the
    entry -2.
    """
    cdef CodeColumn column
    cdef Py_ssize_t n = integers.shape[0]
    cdef Output to = output_of(out, n * depth, on, off)
    if n == 0:
        return False
    describe_codes(&column, integers, lut, 4)
    return bool(encode_column(&column, n, low, values, depth, inner, &to, num_threads, zeroed))


def encode_pixels(
    const uint8_t[:, ::1] pixels, const int32_t[::1] lut, const uint64_t[::1] values not None,
    unsigned char[::1] out, Py_ssize_t depth, Py_ssize_t inner, cnp.ndarray on, cnp.ndarray off, int num_threads,
    bint zeroed,
):
    """Write the one-hot encoding of pixels; `encode_integers` explains all arguments but the pixels.

    A pixel is a row of 1 to 8 bytes, which is read as an integer whose lowest byte is the first one.
    """
    cdef CodeColumn column
    cdef Py_ssize_t n = pixels.shape[0], width = pixels.shape[1]
    cdef Output to = output_of(out, n * depth, on, off)
    if not 0 < width <= 8:
        raise ValueError(f"rows.encode_pixels: a pixel must have 1 to 8 bytes, got {width}")
    if n == 0:
        return False
    describe_one(&column, &pixels[0, 0], OHF_P4 if width <= 4 else OHF_P8, n, lut, 4)
    column.source.index_bytes = width
    column.lut.pixel_bytes = width
    return bool(encode_column(&column, n, 0, values, depth, inner, &to, num_threads, zeroed))


cdef int encode_column(
    CodeColumn *column, Py_ssize_t n, low, const uint64_t[::1] values, Py_ssize_t depth, Py_ssize_t inner,
    const Output *to, int num_threads, bint zeroed,
) except -1:
    """Write the one-hot encoding of a column of ``n`` values; see `encode_integers`."""
    cdef int unknown = 0
    cdef size_t size
    cdef void *room = NULL
    if inner < 1 or n % inner != 0:
        raise ValueError(f"rows.encode_integers: inner must divide the number of integers ({n}), got {inner}")
    column.lut.low = <uint64_t> (low & 0xFFFF_FFFF_FFFF_FFFF)
    column.lut.unknown = &unknown
    if column.lut.entries[0] < 0:      # an addition instead of a look-up cannot tell -2 from -1
        column.lut.only_adds = False
    if values is not None:
        set_few(column, values)
    else:
        find_few(column)
    size = 0 if values is not None else bytes_size(column, n)
    try:
        if size:
            room = take_workspace(size)
            set_bytes(column, <uint8_t *> room, size, depth)
        if to.n_bytes:
            encode_source(&column.source, depth, n, inner, to, num_threads, zeroed)
    finally:
        if room != NULL:
            give_workspace(room, size)
    return unknown


cdef struct MatrixJob:
    const ohf_microkernels *microkernels
    const CodeSource *sources
    const ohf_fill *fill
    unsigned char *out
    Py_ssize_t n_columns, n_rows, row_bytes
    Py_ssize_t window       # bytes of a window, or 0 to write in place
    Py_ssize_t step         # rows whose codes are read together, or 0 if there are too many columns


cdef void read_columns(const MatrixJob *job, Py_ssize_t row, Py_ssize_t count, int32_t *codes) noexcept nogil:
    """Read the codes of ``count`` rows; column ``j`` begins at element ``j * job.step`` of ``codes``."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        read(&job.sources[column], row, count, 0, job.fill.depth, codes + column * job.step)


cdef void scatter(
    const MatrixJob *job, Py_ssize_t row, Py_ssize_t count, int32_t *codes, unsigned char *block,
) noexcept nogil:
    """Store the hot elements of ``count`` rows in ``block``; if ``job.step`` is 0, first read the codes."""
    cdef Py_ssize_t column
    for column in range(job.n_columns):
        if job.step == 0:
            read(&job.sources[column], row, count, 0, job.fill.depth, codes)
        job.microkernels.rows_scatter(codes + column * job.step, count, job.fill, block, NULL)


cdef void stream_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the bytes [begin, end) of the output in windows."""
    cdef const MatrixJob *job = <const MatrixJob *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    # Rows that cross the edge of a window store up to `beside` bytes outside the window, which are not copied.
    cdef Py_ssize_t beside = (job.row_bytes + 63) // 64 * 64, row, stop, first = 0, known = 0, there
    cdef unsigned char *scratch = workspace + MATRIX_CODES_BYTES + beside
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
            first = row
        elif stop > known:
            first, known = row, min(row + job.step, job.n_rows)
            read_columns(job, first, known - first, codes)
        scatter(job, row, stop - row, codes + (row - first), rows)
        job.microkernels.move(job.out + begin, block, there - begin, job.fill)
        if block != scratch:   # only the first window begins within a cache line: restore the bytes before it
            job.microkernels.fill(scratch, 64, job.fill)
        begin = there


cdef void write_matrix_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [row, end) in place."""
    cdef const MatrixJob *job = <const MatrixJob *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    cdef Py_ssize_t at_once = max(<Py_ssize_t> OHF_SCRATCH // job.row_bytes, <Py_ssize_t> 1)
    cdef Py_ssize_t first = 0, known = row, count
    cdef unsigned char *to
    while row < end:
        to = job.out + row * job.row_bytes
        if job.step == 0:
            first, known = row, min(row + MATRIX_CODES, end)
        elif row == known:
            first, known = row, min(row + job.step, end)
            read_columns(job, first, known - first, codes)
        count = min(at_once, known - row)
        job.microkernels.fill(to, count * job.row_bytes, job.fill)
        scatter(job, row, count, codes + (row - first), to)
        row += count


def encode_matrix(
    list codes, list luts, unsigned char[::1] out, Py_ssize_t depth, cnp.ndarray on, cnp.ndarray off,
    int num_threads, bint zeroed,
):
    """Encode several columns of codes into ``out``, the bytes of (rows, depth) elements, in one pass.

    A look-up table maps each code to a feature, which is a column of ``out``, or to -1 for no feature.
    `CodeColumns` explains look-up tables, and `encode` explains ``zeroed``.
    """
    cdef MatrixJob job
    cdef ohf_fill fill
    cdef CodeColumns columns = CodeColumns(codes, luts, 4)
    cdef Py_ssize_t window_rows
    cdef Output to = output_of(out, columns.n_rows * depth, on, off)
    if to.n_bytes == 0:
        return
    if depth > 0x7fffffff:
        raise ValueError(f"rows.encode_matrix: out must have fewer than 2**31 features, got {depth}")
    ohf_fill_init(&fill, to.width, depth, 1, to.on, to.off)
    job = MatrixJob(
        microkernels=microkernels, sources=columns.items, fill=&fill, out=to.data, n_columns=columns.n_columns,
        n_rows=columns.n_rows, row_bytes=depth * to.width, window=0, step=MATRIX_CODES // columns.n_columns,
    )
    if not zeroed and job.microkernels.move != NULL and job.row_bytes <= OHF_SCRATCH and is_streamable(&to):
        if (job.step - 2) * job.row_bytes < MIN_WINDOW:
            job.step = 0
        window_rows = (job.step or MATRIX_CODES) - 2
        job.window = min(<Py_ssize_t> WINDOW, window_rows * job.row_bytes) // 64 * 64   # whole cache lines
        for_each_chunk(stream_chunk, &job, to.n_bytes, 0, 1, STREAM_BYTES, num_threads)
    else:
        for_each_chunk(
            write_matrix_chunk, &job, job.n_rows, 0, job.row_bytes, MATRIX_CODES_BYTES, num_threads,
        )
