# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Decoding of one-hot elements to indices.

An element is hot if its bits, read as an integer, equal the bits of ``on``. One vectorised reduction over a
row computes the number of hot elements and the sum of their positions. If the number is 1, the sum is the
position. If the number is larger, a second pass finds the first hot element. The pass stops at the end of the
row, because another thread may have changed the row. If the classes are not in the last dimension, a tile of
positions stays in the first-level cache while the loop passes over the classes. A row without a hot element is
read again while it is cached, because it contains scores unless all its elements are equal. If the value of the
other elements is known (``off``), a block of rows is read again while it is cached: a microkernel counts the parts
of its elements that differ from ``off`` (an element of 8 bytes has two parts, any other element one). The block is
one-hot only if there are as many as its hot elements have.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.index_types cimport word_t
from onehot_fast._kernels.simd cimport microkernels

cnp.import_array()

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int ohf_lowest_bit(unsigned long long word) {
        unsigned long position;
        _BitScanForward64(&position, word);
        return (int) position;
    }
    #else
    #define ohf_lowest_bit(word) __builtin_ctzll(word)
    #endif
    """
    int lowest_bit "ohf_lowest_bit"(uint64_t word) noexcept nogil

cdef enum:
    # Rows of a tile. Its four arrays of one byte for each row are on the stack, where they take 4 KiB, and where
    # gcc knows that they do not overlap.
    TILE = 1024
    WINDOW = 255             # the number of classes that one byte can distinguish; 0 means no class
    CHUNK_BYTES = 1 << 20
    BLOCK_BYTES = 1 << 18    # bytes of a block, which is read again from the second-level cache
    BITS_ROWS = 1 << 14      # rows of a chunk of bitmaps, a multiple of 64: their classes take 128 KiB
    # The problems of a row (faults), in the order in which `decode` returns their first rows.
    EMPTY = 0
    MULTIPLE
    UNEVEN
    FAULTS

cdef struct Job:
    const unsigned char *tensor
    const unsigned char *on
    int64_t *out
    Py_ssize_t width, depth, inner, chunk_groups
    int64_t default
    const unsigned char *off     # the value of the elements that are not hot; NULL: unknown
    size_t on_parts          # how many parts of ``on`` differ from ``off``; see `count_parts`
    int64_t *faults          # for each chunk, the first row with each fault, or -1


cdef Py_ssize_t find_word(const word_t *row, Py_ssize_t depth, word_t on, bint *multiple) noexcept nogil:
    """Return the position of the first hot element of a row, or -1; set ``multiple`` if there are several."""
    cdef uint32_t count = 0, position = 0, hit
    cdef int32_t i
    for i in range(<int32_t> depth):
        hit = row[i] == on
        count += hit
        position += hit * <uint32_t> i
    multiple[0] = False
    if count == 1 and position < <uint32_t> depth:  # `position` is outside only if a thread changed the row
        return position
    if count > 1:
        for i in range(<int32_t> depth):
            if row[i] == on:
                multiple[0] = True
                return i
    return -1


cdef bint all_equal(const Job *job, const unsigned char *row, Py_ssize_t step) noexcept nogil:
    """Tell whether all elements of a row, ``step`` bytes apart, are equal."""
    cdef Py_ssize_t i
    if step == job.width:
        return memcmp(row, row + step, (job.depth - 1) * step) == 0
    for i in range(1, job.depth):
        if memcmp(row + i * step, row, job.width) != 0:
            return False
    return True


cdef inline bint differ(word_t a, word_t b) noexcept nogil:
    """Tell whether two elements differ, without a 64-bit comparison, which SSE2 lacks."""
    cdef word_t rest = a ^ b
    if word_t is uint64_t:
        return (<uint32_t> rest | <uint32_t> (rest >> 32)) != 0
    else:
        return rest != 0


cdef inline size_t count_parts(const Job *job, const word_t *elements, Py_ssize_t n) noexcept nogil:
    """Return how many parts of ``n`` elements differ from ``off``; an element of 8 bytes has 2 parts, others 1."""
    return microkernels.differing(<const unsigned char *> elements, n, sizeof(word_t), job.off)


cdef void mark_plane(
    const word_t *plane, Py_ssize_t n, word_t on, uint8_t label, uint8_t *first, uint8_t *several,
) noexcept nogil:
    """At each hot element, write ``label`` to ``first`` if that is 0, else set ``several``."""
    cdef Py_ssize_t i
    cdef uint8_t hit, seen
    for i in range(n):
        hit = -(not differ(plane[i], on))
        seen = -(first[i] != 0)
        several[i] |= hit & seen
        first[i] |= hit & ~seen & label


cdef void mark_unequal(const word_t *plane, const word_t *first, Py_ssize_t n, uint8_t *unequal) noexcept nogil:
    """Set ``unequal`` to 1 where the elements of ``plane`` and ``first`` differ."""
    cdef Py_ssize_t i
    for i in range(n):
        unequal[i] |= differ(plane[i], first[i])


cdef void mark_differing(const Job *job, const word_t *planes, Py_ssize_t n, uint8_t *uneven) noexcept nogil:
    """Set ``uneven`` to 1 for rows with an element that differs from the first element, else to 0."""
    cdef Py_ssize_t i
    memset(uneven, 0, n)
    for i in range(1, job.depth):
        mark_unequal(planes + i * job.inner, planes, n, uneven)


cdef void mark_window(
    const Job *job, const word_t *planes, Py_ssize_t n, Py_ssize_t label, int64_t *position,
    uint8_t *empty, uint8_t *several,
) noexcept nogil:
    """Find the hot elements of ``n`` rows in up to 255 classes, from class ``label`` on."""
    cdef uint8_t first[TILE]
    cdef Py_ssize_t i, n_labels = min(job.depth - label, <Py_ssize_t> WINDOW)
    cdef word_t on
    memcpy(&on, job.on, sizeof(on))
    memset(first, 0, n)
    for i in range(n_labels):
        mark_plane(planes + i * job.inner, n, on, <uint8_t> (i + 1), first, several)
    if label == 0:
        for i in range(n):
            position[i] = <int64_t> first[i] - 1
            empty[i] = first[i] == 0
        return
    for i in range(n):
        if first[i] != 0:
            several[i] |= position[i] >= 0
            if position[i] < 0:
                position[i] = label + first[i] - 1
            empty[i] = 0


cdef bint note_first(int64_t *first, const uint8_t *faults, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
    """Tell whether any of ``n`` rows has a fault.

    If ``first`` is still -1, set it to the number of the first such row. The ``n`` rows begin at row ``at``.
    """
    cdef uint8_t found = 0
    cdef Py_ssize_t i
    for i in range(n):     # the compiler vectorises this reduction
        found |= faults[i]
    if found and first[0] < 0:
        for i in range(n):
            if faults[i]:
                first[0] = at + i
                break
    return found


cdef void decode_tile(
    const Job *job, const word_t *planes, Py_ssize_t n, Py_ssize_t at, int64_t *faults,
) noexcept nogil:
    """Decode ``n`` rows, from row number ``at`` on; the elements of a row are ``job.inner`` elements apart."""
    cdef uint8_t empty[TILE]
    cdef uint8_t several[TILE]
    cdef uint8_t uneven[TILE]
    cdef Py_ssize_t i, label = 0, n_empty = 0
    cdef int64_t *position = job.out + at
    cdef bint is_few
    cdef size_t n_parts = 0
    memset(several, 0, n)
    while label < job.depth:
        mark_window(job, planes + label * job.inner, n, label, position, empty, several)
        label += WINDOW
    note_first(&faults[MULTIPLE], several, n, at)
    if note_first(&faults[EMPTY], empty, n, at):
        for i in range(n):
            n_empty += empty[i]
        # Compare few empty rows one by one: 1.4 ms instead of 1.8 ms for 0.1 % of 262,144 rows of 21 float32.
        is_few = n_empty <= n // 64
        if job.off == NULL and not is_few:
            mark_differing(job, planes, n, uneven)
        for i in range(n):
            if not empty[i]:
                uneven[i] = 0
                continue
            position[i] = job.default
            if job.off == NULL and is_few:
                uneven[i] = not all_equal(job, <const unsigned char *> (planes + i), job.inner * job.width)
        if job.off == NULL:
            note_first(&faults[UNEVEN], uneven, n, at)
    if job.off != NULL and faults[UNEVEN] < 0:
        for label in range(job.depth):
            n_parts += count_parts(job, planes + label * job.inner, n)
        if n_parts != <size_t> (n - n_empty) * job.on_parts:
            faults[UNEVEN] = at


cdef void decode_rows(
    const Job *job, const word_t *tensor, Py_ssize_t begin, Py_ssize_t end, int64_t *faults,
) noexcept nogil:
    """Decode the rows [begin, end), which are contiguous."""
    cdef Py_ssize_t i, n_hot = 0, position
    cdef bint multiple
    cdef const word_t *row
    cdef word_t on
    memcpy(&on, job.on, sizeof(on))
    for i in range(begin, end):
        row = tensor + i * job.depth
        position = find_word(row, job.depth, on, &multiple)
        n_hot += position >= 0
        job.out[i] = job.default if position < 0 else position
        if multiple and faults[MULTIPLE] < 0:
            faults[MULTIPLE] = i
        if position < 0 and faults[EMPTY] < 0:
            faults[EMPTY] = i
        if position >= 0 or job.off != NULL or faults[UNEVEN] >= 0:
            continue
        if not all_equal(job, <const unsigned char *> row, job.width):
            faults[UNEVEN] = i
    if job.off != NULL and faults[UNEVEN] < 0:
        row = tensor + begin * job.depth
        if count_parts(job, row, (end - begin) * job.depth) != <size_t> n_hot * job.on_parts:
            faults[UNEVEN] = begin


cdef void decode_words(
    const Job *job, const word_t *tensor, Py_ssize_t begin, Py_ssize_t end, int64_t *faults,
) noexcept nogil:
    """Decode the groups [begin, end), each of (depth, inner) elements."""
    cdef Py_ssize_t n, n_rows
    if job.inner == 1 and job.depth < INT32_MAX:
        n_rows = max(BLOCK_BYTES // (job.depth * job.width), <Py_ssize_t> 1)
        while begin < end:
            decode_rows(job, tensor, begin, min(begin + n_rows, end), faults)
            begin += n_rows
        return
    for begin in range(begin, end):
        n = 0
        while n < job.inner:
            decode_tile(
                job, tensor + begin * job.depth * job.inner + n, min(job.inner - n, <Py_ssize_t> TILE),
                begin * job.inner + n, faults,
            )
            n += TILE


cdef void run_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *_workspace,
) noexcept nogil:
    """Decode the groups [begin, end), which are one chunk."""
    cdef const Job *job = <const Job *> any_job
    cdef int64_t *faults = job.faults + begin // job.chunk_groups * FAULTS
    if job.width == 1:
        decode_words(job, <const uint8_t *> job.tensor, begin, end, faults)
    elif job.width == 2:
        decode_words(job, <const uint16_t *> job.tensor, begin, end, faults)
    elif job.width == 4:
        decode_words(job, <const uint32_t *> job.tensor, begin, end, faults)
    else:
        decode_words(job, <const uint64_t *> job.tensor, begin, end, faults)


cdef tuple decode_cube(Job *job, Py_ssize_t outer, int num_threads):
    """Return the result of `decode` for a cube of ``outer`` groups, which has at least one element."""
    cdef int64_t[FAULTS] first = [-1, -1, -1]
    cdef Py_ssize_t i, n_chunks, group_bytes = job.depth * job.inner * job.width
    cdef cnp.ndarray classes = np.empty(outer * job.inner, np.int64)
    cdef cnp.ndarray faults
    job.out = <int64_t *> cnp.PyArray_DATA(classes)
    job.chunk_groups = max(CHUNK_BYTES // group_bytes, <Py_ssize_t> 1)
    n_chunks = (outer + job.chunk_groups - 1) // job.chunk_groups
    faults = np.full(n_chunks * FAULTS, -1, np.int64)
    job.faults = <int64_t *> cnp.PyArray_DATA(faults)
    for_each_chunk(run_chunk, job, outer, job.chunk_groups, group_bytes, 0, num_threads)
    for i in range(n_chunks * FAULTS):
        if first[i % FAULTS] < 0:
            first[i % FAULTS] = job.faults[i]
    return classes, first[EMPTY], first[MULTIPLE], first[UNEVEN]


def decode(const word_t[:, :, ::1] cube, cnp.ndarray on, cnp.ndarray off, int64_t default, int num_threads):
    """Return the position of each row's first hot element (else ``default``), and three row numbers.

    A row is ``cube[i, :, k]``, and an element is hot if its bytes equal ``on``. The row numbers are, in order:

    - the first row without a hot element,
    - the first row with several hot elements,
    - the first row without a hot element in which an element differs from another; if ``off`` is given, instead
      a row such that it or a later one has an element other than ``off`` and its only hot element.

    A row number is -1 if there is no such row. The elements must be aligned.
    """
    cdef Py_ssize_t outer = cube.shape[0], width = sizeof(word_t)
    cdef Job job
    job.width, job.depth, job.inner, job.default = width, cube.shape[1], cube.shape[2], default
    if on.itemsize != width or (off is not None and off.itemsize != width):
        raise ValueError(f"decode: on and off must have {width} bytes, as the elements of the cube")
    if outer * job.inner == 0 or job.depth == 0:
        n_rows = outer * job.inner
        return np.full(n_rows, default, np.int64), 0 if n_rows else -1, -1, -1
    job.tensor = <const unsigned char *> &cube[0, 0, 0]
    if <uintptr_t> job.tensor % width != 0:
        raise ValueError("decode: the elements of the cube must be aligned")
    job.on = <const unsigned char *> cnp.PyArray_DATA(on)
    job.off = NULL
    if off is not None:
        job.off = <const unsigned char *> cnp.PyArray_DATA(off)
        job.on_parts = microkernels.differing(job.on, 1, width, job.off)
    return decode_cube(&job, outer, num_threads)


# --- features that are bitmaps: Boolean columns of Arrow, of which few bits are set

cdef struct BitsJob:
    const uintptr_t *planes      # the address of each bitmap
    const int64_t *starts        # the first bit of each bitmap
    Py_ssize_t depth
    int64_t *out
    int64_t *several             # for each chunk, the first row with several ones, or -1


cdef inline uint64_t bits_at(const uint8_t *plane, int64_t start, Py_ssize_t n) noexcept nogil:
    """Return ``n`` bits, at most 64, from bit ``start`` of a bitmap on; no byte after them is read."""
    cdef const uint8_t *bytes = plane + start // 8
    cdef int shift = <int> (start % 8)
    cdef Py_ssize_t i, n_bytes = (shift + n + 7) // 8
    cdef uint64_t word = 0
    if n_bytes >= 8:
        for i in range(8):   # the compiler merges the loads
            word |= <uint64_t> bytes[i] << (8 * i)
    else:
        for i in range(n_bytes):
            word |= <uint64_t> bytes[i] << (8 * i)
    word >>= shift
    if n_bytes > 8:
        word |= <uint64_t> bytes[8] << (64 - shift)
    return word if n == 64 else word & ((<uint64_t> 1 << n) - 1)


cdef void decode_bits_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *_workspace,
) noexcept nogil:
    """Decode the rows [begin, end), which are one chunk; the caller has filled ``out`` with -1."""
    cdef const BitsJob *job = <const BitsJob *> any_job
    cdef int64_t *several = job.several + begin // BITS_ROWS
    cdef Py_ssize_t label, at, row
    cdef uint64_t word
    cdef const uint8_t *plane
    for label in range(job.depth):
        plane = <const uint8_t *> job.planes[label]
        at = begin
        while at < end:
            word = bits_at(plane, job.starts[label] + at, min(end - at, <Py_ssize_t> 64))
            while word:
                row = at + lowest_bit(word)
                if job.out[row] < 0:
                    job.out[row] = label
                elif several[0] < 0 or row < several[0]:
                    several[0] = row
                word &= word - 1
            at += 64


def decode_bits(const uintptr_t[::1] planes, const int64_t[::1] starts, Py_ssize_t n_rows, int num_threads):
    """Return the position of each row's first one, or -1 for zeros, and the first row with several ones, or -1.

    ``planes`` are the addresses of bitmaps, one for each feature. Row ``i`` of a feature is the bit ``i`` after
    the bit at ``starts``; the lowest bit of a byte comes first. The caller keeps the bitmaps alive.
    """
    cdef BitsJob job
    cdef int64_t[::1] out, several
    cdef Py_ssize_t row_bytes, n_chunks = (n_rows + BITS_ROWS - 1) // BITS_ROWS
    if len(planes) != len(starts):
        raise ValueError("decode_bits: planes and starts must have the same length")
    classes = np.full(n_rows, -1, np.int64)
    if n_rows == 0 or len(planes) == 0:
        return classes, -1
    faults = np.full(n_chunks, -1, np.int64)
    out, several = classes, faults
    job.planes, job.starts, job.depth = &planes[0], &starts[0], len(planes)
    job.out, job.several = &out[0], &several[0]
    row_bytes = max(len(planes) // 8, <Py_ssize_t> 1)
    for_each_chunk(decode_bits_chunk, &job, n_rows, BITS_ROWS, row_bytes, 0, num_threads)
    found = faults[faults >= 0]
    return classes, int(found[0]) if len(found) else -1
