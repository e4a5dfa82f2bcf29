# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of rows with any number of codes, as a matrix of ones or counts, or as CSR.

Row ``i`` has the codes ``codes[offsets[i]:offsets[i + 1]]``. The offsets are checked once, so the
caller must copy offsets that other threads may change. The codes are checked when they are read.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.code_columns cimport CodeColumn, CodeColumns, describe_codes, output_of
from onehot_fast._kernels.index_types cimport index_t, integer_t
from onehot_fast._kernels.operands cimport CodeSource, Output, read
from onehot_fast._kernels.simd cimport microkernels, ohf_fill, ohf_fill_init, ohf_microkernels

cdef enum:
    CODES = 1024
    FEW_CODES = 512         # codes of a block on the stack
    INSERTION = 32          # up to this many codes in a row, insertion sort is faster than qsort

cdef struct Job:
    const ohf_microkernels *microkernels
    const CodeSource *source
    const ohf_fill *fill
    const int64_t *offsets
    unsigned char *out
    Py_ssize_t row_bytes
    bint is_filled          # whether ``out`` has the elements ``off`` already


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


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [begin, end): ``off`` to all elements, unless they are filled, then ``on`` at each code."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    cdef unsigned char *to
    cdef Py_ssize_t row, at, count, i, width = job.fill.width
    for row in range(begin, end):
        to = job.out + row * job.row_bytes
        if not job.is_filled:
            job.microkernels.fill(to, job.row_bytes, job.fill)
        at = job.offsets[row]
        while at < job.offsets[row + 1]:
            count = min(job.offsets[row + 1] - at, <Py_ssize_t> CODES)
            read(job.source, at, count, 0, job.fill.depth, codes)
            for i in range(count):
                if codes[i] >= 0:
                    memcpy(to + codes[i] * width, job.fill.on, width)
            at += count


cdef int write_rows(
    const int64_t[::1] offsets, const CodeSource *source, const Output *to, Py_ssize_t depth, bint is_filled,
    int num_threads,
) except -1:
    """Write all rows; see `multi_hot`."""
    cdef Job job
    cdef ohf_fill fill
    ohf_fill_init(&fill, to.width, depth, 1, to.on, to.off)
    job = Job(
        microkernels=microkernels, source=source, fill=&fill, offsets=&offsets[0], out=to.data,
        row_bytes=depth * to.width, is_filled=is_filled,
    )
    return for_each_chunk(run_chunk, &job, offsets.shape[0] - 1, 0, job.row_bytes, 4 * CODES, num_threads)


def multi_hot(
    const int64_t[::1] offsets, const integer_t[::1] codes, const int32_t[::1] lut, unsigned char[::1] out,
    Py_ssize_t depth, cnp.ndarray on, cnp.ndarray off, bint is_filled, int num_threads,
):
    """Write ``on`` at the feature of each code of each row, and ``off`` elsewhere.

    ``out`` has the bytes of (rows, depth) elements, and ``lut`` maps codes to features. If ``is_filled``, only
    ``on`` is written, so that the features of other columns keep their elements.
    """
    cdef Output to
    cdef CodeColumn column
    check_offsets(offsets, codes.shape[0])
    to = output_of(out, (offsets.shape[0] - 1) * depth, on, off)
    if to.n_bytes == 0:
        return
    describe_codes(&column, codes, lut, 4)
    write_rows(offsets, &column.source, &to, depth, is_filled, num_threads)


def multi_hot_count(const int64_t[::1] offsets, codes, lut, index_t[:, ::1] out):
    """Add 1 to ``out[row, feature]`` for every code of each row; ``lut`` maps codes to features.

    Here the fused type is that of the counts. A second one, of the codes, would compile the kernel 80 times.
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
    """Move the distinct columns of a sorted row to its start, count each, return their number."""
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
    """Fill the arrays of a CSR matrix, and return the number of stored elements; see `csr`."""
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
