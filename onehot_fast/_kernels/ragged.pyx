# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of rows with any number of codes, as a matrix of ones or counts, or as CSR.

Row ``i`` has the codes ``codes[offsets[i]:offsets[i + 1]]``. The offsets are checked once, so the
caller must copy offsets that other threads may change. The codes are checked when they are read.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

cimport cython
cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport (
    CodeColumn, CodeColumns, describe_codes, describe_one, output_of,
)
from onehot_fast._kernels.index_types cimport index_t, integer_t
from onehot_fast._kernels.operands cimport CodeSource, Output, read
from onehot_fast._kernels.simd cimport microkernels, ohf_fill, ohf_fill_init, ohf_microkernels

from onehot_fast._kernels.code_columns import INDEX_DTYPES as _INDEX_DTYPES

# The dtypes of codes, in the order of the index types in microkernels.h.
_CODE_DTYPES = _INDEX_DTYPES[:8]

cdef enum:
    CODES = 1024
    FEW_CODES = 256         # codes of a block on the stack
    BLOCK_ROWS = 1024       # the maximum number of rows of a block of `csr_rows`
    BLOCK_CODES = 1 << 13   # the maximum number of codes of a block of `csr_rows`, unless one row has more
    STEP_BYTES = 1 << 14    # rows of so many bytes get `off`, then their ones, while they are cached
    PLANE_ROWS = 1 << 14    # rows of a chunk that is written feature by feature, a multiple of 8
    INSERTION = 32          # up to this many codes in a row, insertion sort is faster than qsort

# One column: its codes, and the offsets of its rows, or NULL if each row has one code.
cdef struct Source:
    CodeColumn column
    const int64_t *offsets


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n_codes) except -1:
    """Raise an error if the offsets decrease or are outside [0, ``n_codes``]."""
    cdef Py_ssize_t i
    if offsets.shape[0] < 1 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > n_codes:
        raise ValueError(f"the offsets must be in [0, {n_codes}]")
    for i in range(1, offsets.shape[0]):
        if offsets[i] < offsets[i - 1]:
            raise ValueError(
                f"offsets[{i}] must be at least the previous offset, {offsets[i - 1]}, got {offsets[i]}"
            )
    return 0


@cython.final
cdef class Sources:
    """Columns of which some are ragged, checked and stored as C structures for the kernels.

    ``offsets`` has an array for each column, or None if its rows have one code. The look-up tables map codes to
    features, in ascending order of the columns: all features of a column are below those of the next one.
    """

    cdef Source *items
    cdef Py_ssize_t n_columns, n_rows
    cdef object keep            # the arrays whose memory `items` points to

    def __cinit__(self, list offsets, list codes, list luts, Py_ssize_t n_rows):
        cdef Py_ssize_t i
        self.n_columns, self.n_rows = len(codes), n_rows
        if self.n_columns == 0 or not len(offsets) == self.n_columns == len(luts):
            raise ValueError("each of one or more columns must have offsets or None, and a look-up table or None")
        memory = bytearray(self.n_columns * sizeof(Source))
        self.items = <Source *> PyByteArray_AS_STRING(memory)
        self.keep = (offsets, codes, luts, memory)
        for i in range(self.n_columns):
            self.add(i, offsets[i], codes[i], luts[i])

    cdef int add(self, Py_ssize_t i, const int64_t[::1] offsets, cnp.ndarray codes, cnp.ndarray lut) except -1:
        """Check one column, and store pointers to its memory."""
        cdef Source *source = &self.items[i]
        cdef const int32_t[::1] entries = None
        cdef Py_ssize_t n_codes = len(codes)
        if codes.dtype not in _CODE_DTYPES or codes.ndim != 1 or not cnp.PyArray_IS_C_CONTIGUOUS(codes):
            raise ValueError(
                f"column {i}: codes must be contiguous integers, "
                f"got {codes.dtype} of shape {(<object> codes).shape}"
            )
        if lut is not None:
            entries = lut.view()        # a view for this call: a schema shares the array between threads
        source.offsets = NULL
        if offsets is not None:
            check_offsets(offsets, n_codes)
            source.offsets = &offsets[0]
        if self.n_rows != (n_codes if offsets is None else offsets.shape[0] - 1):
            raise ValueError(f"column {i}: there must be {self.n_rows} rows")
        return describe_one(
            &source.column, cnp.PyArray_DATA(codes), _CODE_DTYPES.index(codes.dtype), n_codes, entries, 4,
        )


cdef inline Py_ssize_t start_of(const Source *source, Py_ssize_t row) noexcept nogil:
    """Return the position of the first code of a row."""
    return row if source.offsets == NULL else source.offsets[row]


cdef struct Job:
    const ohf_microkernels *microkernels
    const Source *sources
    Py_ssize_t n_columns
    const ohf_fill *fill
    unsigned char *out
    const unsigned char *on
    Py_ssize_t width, depth
    Py_ssize_t row_bytes        # bytes from a row to the next one
    Py_ssize_t feature_bytes    # bytes from a feature to the next one
    Py_ssize_t step             # the number of rows that stay in the first-level cache


cdef inline void put(unsigned char *to, const unsigned char *on, Py_ssize_t width) noexcept nogil:
    """Write an element. A copy of a constant size, for the usual widths, compiles to one store."""
    if width == 1:
        to[0] = on[0]
    elif width == 4:
        memcpy(to, on, 4)
    elif width == 8:
        memcpy(to, on, 8)
    else:
        memcpy(to, on, width)


cdef inline void write_ones(
    const Job *job, const Source *source, Py_ssize_t begin, Py_ssize_t end, int32_t *codes, bint as_bits,
) noexcept nogil:
    """Write ``on`` at the features of the codes of the rows [begin, end) of one column, or set their bits."""
    cdef Py_ssize_t row = begin, at = start_of(source, begin), stop = start_of(source, end)
    cdef Py_ssize_t width = job.width, count, i, last
    cdef unsigned char *to
    cdef unsigned char bit
    while at < stop:
        count = min(stop - at, <Py_ssize_t> CODES)
        read(&source.column.source, at, count, 0, job.depth, codes)
        i = 0
        while i < count:
            while start_of(source, row + 1) <= at + i:
                row += 1
            last = min(start_of(source, row + 1) - at, count)
            to = job.out + (row // 8 if as_bits else row * job.row_bytes)
            bit = <unsigned char> (1 << (row % 8))
            while i < last:
                if codes[i] >= 0 and as_bits:
                    to[codes[i] * job.feature_bytes] |= bit
                elif codes[i] >= 0:
                    put(to + codes[i] * job.feature_bytes, job.on, width)
                i += 1
        at += count


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [begin, end): ``off`` to all elements, then ``on`` at each code of each column."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t row = begin, next_row, i
    while row < end:
        next_row = min(row + job.step, end)
        job.microkernels.fill(job.out + row * job.row_bytes, (next_row - row) * job.row_bytes, job.fill)
        for i in range(job.n_columns):
            write_ones(job, &job.sources[i], row, next_row, <int32_t *> workspace, False)
        row = next_row


def encode_matrix(
    list offsets, list codes, list luts, Py_ssize_t n_rows, unsigned char[::1] out, Py_ssize_t depth,
    cnp.ndarray on, cnp.ndarray off, int num_threads,
):
    """Write ``on`` at the feature of each code of each row, and ``off`` elsewhere; see `Sources`.

    ``out`` has the bytes of (rows, depth) elements.
    """
    cdef Sources sources = Sources(offsets, codes, luts, n_rows)
    cdef Output to = output_of(out, n_rows * depth, on, off)
    cdef ohf_fill fill
    cdef Job job
    if to.n_bytes == 0:
        return
    if depth > 0x7fffffff:
        raise ValueError(f"ragged.encode_matrix: out must have fewer than 2**31 features, got {depth}")
    ohf_fill_init(&fill, to.width, depth, 1, to.on, to.off)
    job = Job(
        microkernels=microkernels, sources=sources.items, n_columns=sources.n_columns, fill=&fill, out=to.data,
        on=to.on, width=to.width, depth=depth, row_bytes=depth * to.width, feature_bytes=to.width,
        step=max(<Py_ssize_t> STEP_BYTES // (depth * to.width), <Py_ssize_t> 1),
    )
    for_each_chunk(run_chunk, &job, n_rows, 0, job.row_bytes, 4 * CODES, num_threads)


cdef void write_block_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write ``on`` at the codes of the rows [begin, end) to an output that is stored feature by feature."""
    cdef const Job *job = <const Job *> any_job
    write_ones(job, job.sources, begin, end, <int32_t *> workspace, False)


cdef void write_bits_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Set the bits of the codes of the rows [begin, end); ``begin`` is a multiple of 8."""
    cdef const Job *job = <const Job *> any_job
    write_ones(job, job.sources, begin, end, <int32_t *> workspace, True)


def write_planes(
    offsets, codes, lut, Py_ssize_t n_rows, unsigned char[:, ::1] out, cnp.ndarray on, int num_threads,
):
    """Write ``on`` at the feature of each code of each row, or set its bit if ``on`` is None; see `Sources`.

    Each row of ``out`` has the bytes of a feature: one element or one bit for each row of the column. The caller
    has filled ``out`` with the value of the other elements.
    """
    cdef Sources sources = Sources([offsets], [codes], [lut], n_rows)
    cdef Py_ssize_t depth = out.shape[0], width = 1 if on is None else on.itemsize
    cdef Py_ssize_t n_bytes = (n_rows + 7) // 8 if on is None else n_rows * width
    cdef Job job
    if out.shape[1] < n_bytes:
        raise ValueError(f"ragged.write_planes: a feature must have {n_bytes} bytes, got {out.shape[1]}")
    if depth > 0x7fffffff:
        raise ValueError(f"ragged.write_planes: out must have fewer than 2**31 features, got {depth}")
    if n_rows == 0 or depth == 0:
        return
    job = Job(
        microkernels=microkernels, sources=sources.items, n_columns=1, fill=NULL, out=&out[0, 0], on=NULL,
        width=width, depth=depth, row_bytes=width, feature_bytes=out.shape[1], step=1,
    )
    if on is None:
        for_each_chunk(write_bits_chunk, &job, n_rows, PLANE_ROWS, 1, 4 * CODES, num_threads)
    else:
        job.on = <const unsigned char *> cnp.PyArray_DATA(on)
        for_each_chunk(write_block_chunk, &job, n_rows, PLANE_ROWS, 1, 4 * CODES, num_threads)


def multi_hot_count(const int64_t[::1] offsets, codes, lut, index_t[:, ::1] out):
    """Add 1 to ``out[row, feature]`` for every code of each row; ``lut`` maps codes to features.

    The fused type is the type of the counts. With a second fused type, for the codes, Cython would compile this
    function 80 times.
    """
    cdef CodeColumns columns = CodeColumns([codes], [lut], 4)
    cdef int32_t block[FEW_CODES]
    cdef Py_ssize_t row, at, end, n, i, depth = out.shape[1]
    check_offsets(offsets, columns.n_rows)
    if out.shape[0] != offsets.shape[0] - 1:
        raise ValueError(f"ragged.multi_hot_count: out must have {offsets.shape[0] - 1} rows, got {out.shape[0]}")
    with nogil:
        for row in range(out.shape[0]):
            at = offsets[row]
            end = offsets[row + 1]
            while at < end:
                n = min(end - at, <Py_ssize_t> FEW_CODES)
                read(columns.items, at, n, 0, depth, block)
                for i in range(n):
                    if block[i] >= 0:
                        out[row, block[i]] += 1
                at += n


def count_rows(
    const int64_t[::1] offsets, const integer_t[::1] codes, const int32_t[::1] lut, int64_t[::1] counts,
):
    """Add to ``counts[feature]`` the number of rows that have one or more codes with this feature."""
    cdef CodeColumn column
    cdef int32_t block[FEW_CODES]
    cdef Py_ssize_t row, at, end, n, i, n_features = counts.shape[0]
    cdef int64_t[::1] next_row      # for each feature, the first row after the last one that was counted
    check_offsets(offsets, codes.shape[0])
    next_row = np.zeros(n_features, np.int64)
    describe_codes(&column, codes, lut, 4)
    with nogil:
        for row in range(offsets.shape[0] - 1):
            at = offsets[row]
            end = offsets[row + 1]
            while at < end:
                n = min(end - at, <Py_ssize_t> FEW_CODES)
                read(&column.source, at, n, 0, n_features, block)
                for i in range(n):
                    if block[i] >= 0 and next_row[block[i]] <= row:
                        next_row[block[i]] = row + 1
                        counts[block[i]] += 1
                at += n


cdef int compare(const void *a, const void *b) noexcept nogil:
    cdef int32_t x = (<const int32_t *> a)[0], y = (<const int32_t *> b)[0]
    return (x > y) - (x < y)


cdef void sort_row(int32_t *columns, Py_ssize_t n) noexcept nogil:
    """Sort the columns of a row."""
    cdef Py_ssize_t i, j
    cdef int32_t column
    if n > INSERTION:
        qsort(columns, n, sizeof(int32_t), compare)
        return
    for i in range(1, n):
        column = columns[i]
        j = i
        while j > 0 and columns[j - 1] > column:
            columns[j] = columns[j - 1]
            j -= 1
        columns[j] = column


cdef Py_ssize_t drop_negative(int32_t *columns, Py_ssize_t n) noexcept nogil:
    """Move the columns of a row that are not negative to its start, and return their number."""
    cdef Py_ssize_t i, n_kept = 0
    for i in range(n):
        columns[n_kept] = columns[i]
        n_kept += columns[i] >= 0
    return n_kept


cdef Py_ssize_t merge_row(int32_t *columns, Py_ssize_t n, int64_t *counts) noexcept nogil:
    """Move the distinct columns of a sorted row to its start, count each of them, and return their number."""
    cdef Py_ssize_t i, n_distinct = 0
    for i in range(n):
        if i > 0 and columns[i] == columns[i - 1]:
            counts[n_distinct - 1] += 1
        else:
            columns[n_distinct] = columns[i]
            counts[n_distinct] = 1
            n_distinct += 1
    return n_distinct


cdef Py_ssize_t write_csr(
    const int64_t[::1] offsets, const CodeSource *source, int32_t[::1] indices, int64_t[::1] indptr,
    int64_t[::1] counts, Py_ssize_t n_features,
) except -1 nogil:
    """Fill the arrays of a CSR matrix, which `csr` explains, and return the number of stored elements."""
    cdef Py_ssize_t row, n, total = 0
    indptr[0] = 0
    for row in range(offsets.shape[0] - 1):
        n = offsets[row + 1] - offsets[row]
        if n > 0:
            read(source, offsets[row], n, 0, n_features, &indices[total])
            n = drop_negative(&indices[total], n)
            sort_row(&indices[total], n)
            total += merge_row(&indices[total], n, &counts[total])
        indptr[row + 1] = total
    return total


def csr(
    const int64_t[::1] offsets, const integer_t[::1] codes, const int32_t[::1] lut, int32_t[::1] indices,
    int64_t[::1] indptr, int64_t[::1] counts, Py_ssize_t n_features,
):
    """Fill ``indptr`` (rows + 1), ``indices`` and ``counts`` (at least one element per code) as canonical CSR.

    Return the number of stored elements.
    """
    cdef CodeColumn column
    cdef Py_ssize_t room = indices.shape[0], n_stored
    check_offsets(offsets, codes.shape[0])
    if (
        indptr.shape[0] != offsets.shape[0]
        or room < offsets[offsets.shape[0] - 1] - offsets[0] or counts.shape[0] < room
    ):
        raise ValueError(
            "ragged.csr: indptr must be as long as offsets, and indices and counts must have one element per code"
        )
    describe_codes(&column, codes, lut, 4)
    with nogil:
        n_stored = write_csr(offsets, &column.source, indices, indptr, counts, n_features)
    return n_stored


cdef Py_ssize_t keep_row(int32_t *columns, Py_ssize_t n) noexcept nogil:
    """Move the distinct columns of a row that are not negative to its start, ascending; return their number."""
    cdef Py_ssize_t i, n_distinct = 0
    cdef bint is_sorted = True
    n = drop_negative(columns, n)
    for i in range(1, n):
        is_sorted = is_sorted and columns[i - 1] < columns[i]
    if is_sorted:
        return n
    sort_row(columns, n)
    for i in range(n):
        if i == 0 or columns[i] != columns[i - 1]:
            columns[n_distinct] = columns[i]
            n_distinct += 1
    return n_distinct


cdef Py_ssize_t block_end(
    const Source *sources, Py_ssize_t n_columns, Py_ssize_t begin, Py_ssize_t n_rows, Py_ssize_t room,
) noexcept nogil:
    """Return the end of the rows from ``begin``, at least one, that have at most ``room`` codes together."""
    cdef Py_ssize_t end = min(begin + BLOCK_ROWS, n_rows), i, n_codes
    while end > begin + 1:
        n_codes = 0
        for i in range(n_columns):
            n_codes += start_of(&sources[i], end) - start_of(&sources[i], begin)
        if n_codes <= room:
            break
        end = begin + (end - begin) // 2
    return end


def csr_rows(
    list offsets, list codes, list luts, int32_t[::1] indices, int64_t[::1] indptr, Py_ssize_t n_features,
):
    """Fill ``indptr`` (rows + 1) and ``indices`` (at least one element per code) as canonical CSR; see `Sources`.

    Return the number of stored elements.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, room = BLOCK_CODES, total = 0, n_codes = 0
    cdef Py_ssize_t row, begin, end, i, at, n
    cdef Sources sources = Sources(offsets, codes, luts, n_rows)
    cdef const Source *source
    cdef int32_t[::1] block
    cdef Py_ssize_t[::1] starts = np.empty(sources.n_columns, np.intp)
    # Check the room for all codes, then find the longest row, which must fit into the block.
    for i in range(sources.n_columns):
        n_codes += start_of(&sources.items[i], n_rows) - start_of(&sources.items[i], 0)
    if indices.shape[0] < n_codes:
        raise ValueError("ragged.csr_rows: indices must have one element per code")
    with nogil:
        for row in range(n_rows):
            n = 0
            for i in range(sources.n_columns):
                n += start_of(&sources.items[i], row + 1) - start_of(&sources.items[i], row)
            room = max(room, n)
    block = np.empty(room, np.int32)
    indptr[0] = begin = 0
    with nogil:
        while begin < n_rows:
            end = block_end(sources.items, sources.n_columns, begin, n_rows, room)
            at = 0
            for i in range(sources.n_columns):
                source = &sources.items[i]
                n = start_of(source, end) - start_of(source, begin)
                # The position in `block` of code k of this column is starts[i] + k.
                starts[i] = at - start_of(source, begin)
                if n > 0:
                    read(&source.column.source, start_of(source, begin), n, 0, n_features, &block[at])
                at += n
            for row in range(begin, end):
                for i in range(sources.n_columns):
                    source = &sources.items[i]
                    n = start_of(source, row + 1) - start_of(source, row)
                    if n > 0:
                        at = starts[i] + start_of(source, row)
                        n = keep_row(&block[at], n)
                        memcpy(&indices[total], &block[at], n * sizeof(int32_t))
                        total += n
                indptr[row + 1] = total
            begin = end
    return total


def transpose(const int32_t[::1] indices, const int64_t[::1] indptr, integer_t[::1] rows, int64_t[::1] starts):
    """Write the row of each element of a CSR matrix, column by column, to ``rows``.

    ``starts`` has the first position of each column. Afterwards it has the end of each column.
    """
    cdef Py_ssize_t row, at
    cdef int32_t column
    cdef int64_t place
    if rows.shape[0] < indices.shape[0] or indptr[indptr.shape[0] - 1] > indices.shape[0]:
        raise ValueError("ragged.transpose: rows must have one element per index")
    with nogil:
        for row in range(indptr.shape[0] - 1):
            for at in range(indptr[row], indptr[row + 1]):
                column = indices[at]
                if 0 <= column < starts.shape[0]:
                    place = starts[column]
                    if 0 <= place < rows.shape[0]:
                        rows[place] = <integer_t> row
                    starts[column] = place + 1
