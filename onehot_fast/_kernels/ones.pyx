# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Decoding of rows with any number of ones to the positions of their ones.

An element is hot if its bits equal the bits of ``on``, and every other element should have the bits of ``off``.
Most elements do, so that a block of them is compared with ``off`` as a whole. A row is *odd* if it has an element
with other bits. The caller decides what such a row means.

The number of ones is unknown before they are found, so the elements are read twice: `count` counts the ones of
each row, and `find` writes their positions. Between the calls, another thread may change an element, so `find`
checks that it writes no more positions of a row than were counted.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy

cimport numpy as cnp

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.index_types cimport word_t

cnp.import_array()

cdef enum:
    BLOCK = 32              # elements that are compared at a time
    TILE = 1024             # rows whose columns are read one after the other, while their `places` are cached
    CHUNK_BYTES = 1 << 20

cdef struct Job:
    const unsigned char *cells
    Py_ssize_t width, depth
    Py_ssize_t stride       # bytes from a row to the next one, or from a column to the next one if `by_column`
    bint by_column
    const unsigned char *on
    const unsigned char *off
    int64_t *places         # for each row: the number of ones found, or where in `features` its next one goes
    const int64_t *ends     # for each row: the end of its part of `features`
    int64_t *features       # the positions of the ones; NULL if they are only counted
    uint8_t *is_odd         # for each row, whether it is odd; NULL if the positions are written


cdef inline void note(
    const Job *job, Py_ssize_t row, Py_ssize_t feature, bint is_one,
) noexcept nogil:
    """Process an element that differs from ``off``: count a one or write its position, or mark its row as odd."""
    cdef int64_t place = job.places[row]
    if job.features == NULL:
        job.places[row] = place + is_one
        job.is_odd[row] |= not is_one
    elif is_one and place < job.ends[row]:
        job.features[place] = feature
        job.places[row] = place + 1


cdef inline Py_ssize_t find_differing(
    const word_t *elements, Py_ssize_t n, word_t off, uint8_t *found,
) noexcept nogil:
    """Write the positions of the elements other than ``off`` to ``found``, and return their number."""
    cdef Py_ssize_t i, n_found = 0
    cdef word_t rest = 0
    for i in range(n):      # the compiler vectorises this reduction
        rest |= elements[i] ^ off
    if rest == 0:
        return 0
    for i in range(n):
        found[n_found] = <uint8_t> i
        n_found += elements[i] != off
    return n_found


cdef void read_run(
    const Job *job, const word_t *elements, Py_ssize_t n, Py_ssize_t row, Py_ssize_t feature,
) noexcept nogil:
    """Call `note` for those of ``n`` adjacent elements that differ from ``off``; the first is (row, feature)."""
    cdef uint8_t found[BLOCK]
    cdef Py_ssize_t at = 0, i, place, n_found
    cdef word_t on, off
    memcpy(&on, job.on, sizeof(on))
    memcpy(&off, job.off, sizeof(off))
    while at < n:
        if n - at >= BLOCK:     # a constant number, so that the compiler unrolls the loops
            n_found = find_differing(elements + at, BLOCK, off, found)
        else:
            n_found = find_differing(elements + at, n - at, off, found)
        for i in range(n_found):
            place = at + found[i]
            if job.by_column:
                note(job, row + place, feature, elements[place] == on)
            else:
                note(job, row, feature + place, elements[place] == on)
        at += BLOCK


cdef inline void read_words(
    const Job *job, const word_t *_cells, Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """Call `read_run` for the elements of the rows [begin, end)."""
    cdef Py_ssize_t row, feature, n
    if not job.by_column:
        for row in range(begin, end):
            read_run(job, <const word_t *> (job.cells + row * job.stride), job.depth, row, 0)
        return
    while begin < end:
        n = min(end - begin, <Py_ssize_t> TILE)
        for feature in range(job.depth):
            read_run(
                job, <const word_t *> (job.cells + feature * job.stride) + begin, n, begin, feature,
            )
        begin += n


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *_workspace,
) noexcept nogil:
    """Count or write the ones of the rows [begin, end), which are one chunk."""
    cdef const Job *job = <const Job *> any_job
    if job.width == 1:
        read_words(job, <const uint8_t *> job.cells, begin, end)
    elif job.width == 2:
        read_words(job, <const uint16_t *> job.cells, begin, end)
    elif job.width == 4:
        read_words(job, <const uint32_t *> job.cells, begin, end)
    else:
        read_words(job, <const uint64_t *> job.cells, begin, end)


cdef int check_element(cnp.ndarray element, Py_ssize_t width) except -1:
    if element.itemsize != width:
        raise ValueError(f"ones: on and off must have {width} bytes, as the elements")
    return 0


cdef int read_cells(
    Job *job, cnp.ndarray cells, cnp.ndarray on, cnp.ndarray off, Py_ssize_t n_rows, int num_threads,
) except -1:
    """Count or write the ones of all rows of ``cells``; the caller has set the outputs in ``job``."""
    cdef Py_ssize_t chunk_rows, width = cells.itemsize
    if cells.ndim != 2 or cells.shape[0] != n_rows:
        raise ValueError(f"ones: cells must have two dimensions and {n_rows} rows")
    if width not in (1, 2, 4, 8) or cells.dtype.hasobject:
        raise ValueError(f"ones: cells must have elements of 1, 2, 4 or 8 bytes, got {cells.dtype}")
    check_element(on, width)
    check_element(off, width)
    job.depth, job.width = cells.shape[1], width
    if n_rows == 0 or job.depth == 0:
        return 0
    job.by_column = job.depth > 1 and cells.strides[1] != width
    if job.by_column and n_rows > 1 and cells.strides[0] != width:
        raise ValueError("ones: the elements of each row, or those of each column, must be adjacent")
    job.stride = cells.strides[1 if job.by_column else 0]
    job.cells = <const unsigned char *> cnp.PyArray_DATA(cells)
    if <uintptr_t> job.cells % width != 0 or job.stride % width != 0:
        raise ValueError("ones: the elements must be aligned")
    job.on = <const unsigned char *> cnp.PyArray_DATA(on)
    job.off = <const unsigned char *> cnp.PyArray_DATA(off)
    chunk_rows = max(CHUNK_BYTES // (job.depth * width), <Py_ssize_t> 1)
    if job.by_column:
        chunk_rows = (chunk_rows + TILE - 1) // TILE * TILE
    for_each_chunk(run_chunk, job, n_rows, chunk_rows, job.depth * width, 0, num_threads)
    return 0


def count(
    cnp.ndarray cells, cnp.ndarray on, cnp.ndarray off, int64_t[::1] lengths, uint8_t[::1] is_odd, int num_threads,
):
    """Add the number of ones of each row to ``lengths``, and set ``is_odd`` to 1 for odd rows.

    The elements must be aligned. Those of each row, or those of each column, must be adjacent.
    """
    cdef Job job
    cdef Py_ssize_t n_rows = lengths.shape[0]
    if is_odd.shape[0] != n_rows:
        raise ValueError(f"ones.count: is_odd must have {n_rows} elements, got {is_odd.shape[0]}")
    if n_rows == 0:
        return
    job.places, job.is_odd = &lengths[0], &is_odd[0]
    job.ends, job.features = NULL, NULL
    read_cells(&job, cells, on, off, n_rows, num_threads)


def find(
    cnp.ndarray cells, cnp.ndarray on, cnp.ndarray off, int64_t[::1] places, const int64_t[::1] ends,
    int64_t[::1] features, int num_threads,
):
    """Write the positions of the ones of each row to ``features``.

    The positions of row i are written to ``features[places[i]:ends[i]]``, as many as fit. Afterwards,
    ``places[i]`` is the end of the positions that were written.
    """
    cdef Job job
    cdef Py_ssize_t i, n_rows = places.shape[0], n_features = features.shape[0]
    if ends.shape[0] != n_rows:
        raise ValueError(f"ones.find: ends must have {n_rows} elements, got {ends.shape[0]}")
    for i in range(n_rows):
        if not 0 <= places[i] <= ends[i] <= n_features:
            raise ValueError(f"ones.find: the places of row {i} must be in [0, {n_features}]")
    if n_rows == 0 or n_features == 0:
        return
    job.places, job.ends, job.features = &places[0], &ends[0], &features[0]
    job.is_odd = NULL
    read_cells(&job, cells, on, off, n_rows, num_threads)
