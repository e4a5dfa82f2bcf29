# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Decode: from one-hot elements back to indices.

An element is on when its bytes equal those of the on value. Rows are counted and located in one vectorised
reduction (the count of the ons and the sum of their positions, which is the position where the count is 1);
a second look at a row has an end, for another thread may have changed it since the first. Planes keep a tile of
positions in the first-level cache and pass over the classes.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.types cimport word_t

cdef enum:
    TILE = 1024
    WINDOW = 255             # classes that one byte can name, beside none
    CHUNK_BYTES = 1 << 20

cdef struct Found:
    Py_ssize_t position      # of the first on of the row, -1 without any
    bint multiple

cdef struct Job:
    const unsigned char *tensor
    const unsigned char *on
    int64_t *out
    Py_ssize_t width, depth, inner, n_groups, chunk_groups
    bint is_words            # elements can be read as integers of their width where they lie
    int64_t all_off
    Py_ssize_t *empty        # per chunk: the first row without an on, and with several
    Py_ssize_t *multiple


cdef Found find_word(const word_t *row, Py_ssize_t depth, word_t on) noexcept nogil:
    """Find the ons of a row of words."""
    cdef Found found
    cdef uint32_t count = 0, position = 0, hit
    cdef int32_t i
    found.position = -1
    found.multiple = False
    for i in range(<int32_t> depth):
        hit = row[i] == on
        count += hit
        position += hit * <uint32_t> i
    if count == 1 and position < <uint32_t> depth:  # or the row changed meanwhile
        found.position = position
    elif count > 1:
        for i in range(<int32_t> depth):
            if row[i] == on:
                found.multiple = True
                found.position = i
                break
    return found


cdef Found find_bytes(
    const unsigned char *row, Py_ssize_t depth, Py_ssize_t step, const unsigned char *on, Py_ssize_t width,
) noexcept nogil:
    """Find the ons of a row of elements of any width, ``step`` bytes apart."""
    cdef Found found
    cdef Py_ssize_t i
    found.position = -1
    found.multiple = False
    for i in range(depth):
        if memcmp(row + i * step, on, width) == 0:
            if found.position >= 0:
                found.multiple = True
                break
            found.position = i
    return found


cdef Found find_row(const Job *job, const unsigned char *row) noexcept nogil:
    """Find the ons of a row of contiguous elements."""
    cdef uint16_t on16
    cdef uint32_t on32
    cdef uint64_t on64
    if job.is_words and job.depth < 0x7fffffff:
        if job.width == 1:
            return find_word(<const uint8_t *> row, job.depth, job.on[0])
        if job.width == 2:
            memcpy(&on16, job.on, 2)
            return find_word(<const uint16_t *> row, job.depth, on16)
        if job.width == 4:
            memcpy(&on32, job.on, 4)
            return find_word(<const uint32_t *> row, job.depth, on32)
        if job.width == 8:
            memcpy(&on64, job.on, 8)
            return find_word(<const uint64_t *> row, job.depth, on64)
    return find_bytes(row, job.depth, job.width, job.on, job.width)


cdef void note(const Job *job, Py_ssize_t chunk, Py_ssize_t at, Found found) noexcept nogil:
    """Write the index of one row, and remember the first of each fault."""
    job.out[at] = job.all_off if found.position < 0 else found.position
    if found.position < 0 and job.empty[chunk] < 0:
        job.empty[chunk] = at
    if found.multiple and job.multiple[chunk] < 0:
        job.multiple[chunk] = at


cdef void mark_plane(
    const word_t *plane, Py_ssize_t n, word_t on, uint8_t label, uint8_t *first, uint8_t *several,
) noexcept nogil:
    """Note the ons of one class: ``first`` holds the label of the first on, 0 for none."""
    cdef Py_ssize_t i
    cdef uint8_t hit, seen
    cdef word_t rest
    for i in range(n):
        if word_t is uint64_t:      # SSE2 compares no more than 32 bits
            rest = plane[i] ^ on
            hit = -((<uint32_t> rest | <uint32_t> (rest >> 32)) == 0)
        else:
            hit = -(plane[i] == on)
        seen = -(first[i] != 0)
        several[i] |= hit & seen
        first[i] |= hit & ~seen & label


cdef void mark_class(
    const Job *job, const unsigned char *plane, Py_ssize_t n, uint8_t label, uint8_t *first, uint8_t *several,
) noexcept nogil:
    """Note the ons of one class by the width of the element, which is that of a word."""
    cdef uint16_t on16
    cdef uint32_t on32
    cdef uint64_t on64
    if job.width == 1:
        mark_plane(<const uint8_t *> plane, n, job.on[0], label, first, several)
    elif job.width == 2:
        memcpy(&on16, job.on, 2)
        mark_plane(<const uint16_t *> plane, n, on16, label, first, several)
    elif job.width == 4:
        memcpy(&on32, job.on, 4)
        mark_plane(<const uint32_t *> plane, n, on32, label, first, several)
    else:
        memcpy(&on64, job.on, 8)
        mark_plane(<const uint64_t *> plane, n, on64, label, first, several)


cdef void mark_window(
    const Job *job, const unsigned char *planes, Py_ssize_t n, Py_ssize_t label, Py_ssize_t *position,
    uint8_t *several,
) noexcept nogil:
    """Note the ons of as many classes, from ``label`` on, as one byte can tell apart."""
    cdef uint8_t first[TILE]
    cdef Py_ssize_t i, n_labels = min(job.depth - label, <Py_ssize_t> WINDOW)
    memset(first, 0, n)
    for i in range(n_labels):
        mark_class(job, planes + i * job.inner * job.width, n, <uint8_t> (i + 1), first, several)
    for i in range(n):
        if first[i] != 0:
            several[i] |= position[i] >= 0
            if position[i] < 0:
                position[i] = label + first[i] - 1


cdef void decode_tile(
    const Job *job, Py_ssize_t chunk, Py_ssize_t group, Py_ssize_t begin, Py_ssize_t n,
) noexcept nogil:
    """Decode ``n`` neighbouring positions of one group of planes."""
    cdef Py_ssize_t position[TILE]
    cdef uint8_t several[TILE]
    cdef Py_ssize_t plane_bytes = job.inner * job.width, i, label = 0, at = group * job.inner + begin
    cdef const unsigned char *tensor = job.tensor + group * job.depth * plane_bytes + begin * job.width
    cdef Found found
    if job.is_words:
        memset(several, 0, n)
        for i in range(n):
            position[i] = -1
        while label < job.depth:
            mark_window(job, tensor + label * plane_bytes, n, label, position, several)
            label += WINDOW
        for i in range(n):
            found.position = position[i]
            found.multiple = several[i] != 0
            note(job, chunk, at + i, found)
    else:
        for i in range(n):
            found = find_bytes(tensor + i * job.width, job.depth, plane_bytes, job.on, job.width)
            note(job, chunk, at + i, found)


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Decode one chunk of groups."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t group, begin, row_bytes = job.depth * job.width
    job.empty[chunk] = -1
    job.multiple[chunk] = -1
    for group in range(chunk * job.chunk_groups, min((chunk + 1) * job.chunk_groups, job.n_groups)):
        if job.inner == 1:
            note(job, chunk, group, find_row(job, job.tensor + group * row_bytes))
        else:
            begin = 0
            while begin < job.inner:
                decode_tile(job, chunk, group, begin, min(job.inner - begin, <Py_ssize_t> TILE))
                begin += TILE


cdef tuple first_faults(const Job *job, Py_ssize_t n_chunks):
    """Return the first row without an on and the first with several, -1 for none."""
    cdef Py_ssize_t chunk, empty = -1, multiple = -1
    for chunk in range(n_chunks):
        if empty < 0:
            empty = job.empty[chunk]
        if multiple < 0:
            multiple = job.multiple[chunk]
    return empty, multiple


def decode(
    const unsigned char[::1] tensor, int64_t[::1] out, Py_ssize_t depth, Py_ssize_t inner,
    const unsigned char[::1] on, int64_t all_off, int num_threads,
):
    """Write the position of the first on of each row into ``out``, ``all_off`` where there is none.

    ``tensor`` holds (outer, depth, inner) elements of ``len(on)`` bytes, aligned to their width where it is
    2, 4 or 8; nothing is empty. Returns the first row without an on and the first with several, -1 for none.
    """
    cdef Job job
    cdef Py_ssize_t n_chunks, width = on.shape[0]
    if inner < 1 or depth < 1 or out.shape[0] % inner != 0 or out.shape[0] * depth * width != tensor.shape[0]:
        raise ValueError("decode.decode: the lengths do not agree")
    if out.shape[0] == 0:
        return -1, -1
    job.tensor = &tensor[0]
    job.on = &on[0]
    job.out = &out[0]
    job.width = width
    job.depth = depth
    # NumPy calls texts of 8 bytes aligned anywhere, and complex64 at every 4 bytes.
    job.is_words = width in (1, 2, 4, 8) and <uintptr_t> job.tensor % width == 0
    job.inner = inner
    job.n_groups = out.shape[0] // inner
    job.all_off = all_off
    job.chunk_groups = max(CHUNK_BYTES // (depth * inner * width), <Py_ssize_t> 1)
    n_chunks = (job.n_groups + job.chunk_groups - 1) // job.chunk_groups
    job.empty = <Py_ssize_t *> malloc(2 * n_chunks * sizeof(Py_ssize_t))
    if job.empty == NULL:
        raise MemoryError("decode: no memory for the chunks' notes")
    job.multiple = job.empty + n_chunks
    try:
        for_each_chunk(run_chunk, &job, n_chunks, job.chunk_groups * depth * inner * width, num_threads)
        return first_faults(&job, n_chunks)
    finally:
        free(job.empty)
