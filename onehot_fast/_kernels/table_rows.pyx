# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Encoding of codes through a table: a code selects a row of elements, which are copied to the output.

In a one-hot encoding, the row of a code has a single element that differs from the others. A table can hold any
rows: weights of ambiguous letters, contrasts, ranks, or a single integer. A row is an opaque run of bytes, so that
the table has elements of any dtype.

`Segments` are the codes: runs of bytes of any length, such as the letters of strings, which are read in place.
Each byte is a code, so that the table has 256 rows. The output has ``length`` rows for each run: shorter runs are
padded with one more row of the table, the pad. If ``length`` is -1, the output has as many rows as the runs have
codes.

Most rows of most tables are one-hot: the codes of a tile (within the first-level cache) are mapped to classes, and
the microkernels that expand rows or compare planes write the elements. Rows that are not one-hot are then written
over them. This is as fast as the memory, but it needs vector instructions. There are two layouts:

rows     the new axis is the last. If no row of the table is one-hot, or the rows are wide, rows are copied one
         after another, at most 64 bytes with one to four moves, through a scratch block
planes   the new axis is not the last. If no row of the table is one-hot, each plane is copied from its own column
         of the table. The planes of short runs are adjacent and are written without a gap

A large output is written with stores that bypass the caches. `find_first` finds the first code that a table of
256 flags marks. `encode` looks for such codes while it writes, so that the codes are read once, and tells whether
there are any.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uintptr_t
from libc.string cimport memcmp, memcpy, memmove, memset

cimport cython
cimport numpy as cnp

from onehot_fast._kernels.chunks cimport for_each_chunk, give_workspace, take_workspace
from onehot_fast._kernels.simd cimport (
    OHF_PAD, OHF_SCRATCH, microkernels, ohf_byte_map, ohf_byte_map_init, ohf_can_expand, ohf_fill, ohf_fill_init,
    ohf_microkernels, ohf_plan, ohf_plan_init, stream_bytes,
)

import numpy as np

cdef extern from "_runtime/once.h":
    void ohf_set_flag(int *flag) noexcept nogil

cdef extern from "_kernels/table_rows.h":
    size_t ohf_table_stride(size_t row_bytes) noexcept nogil
    void ohf_copy_rows(
        const uint8_t *codes, size_t n, const unsigned char *table, size_t stride, size_t row_bytes,
        unsigned char *out,
    ) noexcept nogil
    void ohf_copy_plane(
        const uint8_t *codes, size_t n, const unsigned char *column, size_t stride, size_t width,
        unsigned char *out,
    ) noexcept nogil

cnp.import_array()

cdef enum:
    N_CODES = 256
    NONE = 255              # in `Job.map`: the code has no class
    TILE = 4096             # positions of a tile of planes: 4 KiB of classes in the first-level cache
    EXPANDED_TILE = 4096    # bytes of a tile of rows: while they are being stored, the next classes are found
    SCAN = 1 << 16          # positions of a chunk of `find_first`
    MIN_STREAMED = 2048     # bytes; shorter runs have too many partial cache lines to bypass the caches
    EXPANDED_BYTES = 256    # wider rows are copied, not expanded
    SMALL_BYTES = 16 << 10  # for smaller outputs, a plan for the expansion takes longer than it saves
    # The workspace of a thread: the classes of a tile with room for more before and after them, the positions of
    # rows that are not one-hot, and a scratch block with extra room before and after it.
    CLASSES_BYTES = OHF_PAD + TILE + OHF_PAD
    TILE_BYTES = CLASSES_BYTES + 2 * TILE
    BLOCK_BYTES = 64 + OHF_SCRATCH + 128

# Maps the side of the pads, in runs with fewer codes than rows, to `Job.side`.
SIDES = {"right": 0, "left": 1, "both": 2}


@cython.final
cdef class Segments:

    def __cinit__(self, owner=None):
        self.owner = owner

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Allocate memory for the addresses and lengths of ``n`` runs."""
        cdef cnp.ndarray memory = np.empty(2 * n + 1, np.int64)
        self.memory = memory
        self.starts = <const uint8_t **> cnp.PyArray_DATA(memory)
        self.lengths = <int64_t *> cnp.PyArray_DATA(memory) + n
        self.n = n
        return 0

    @staticmethod
    def of_matrix(const uint8_t[:, ::1] rows):
        """Return the rows of a matrix of bytes, without a copy."""
        cdef Segments segments = Segments(rows)
        segments.n, segments.length = rows.shape[0], rows.shape[1]
        segments.stride = segments.length
        if rows.shape[0] > 0 and rows.shape[1] > 0:
            segments.base = &rows[0, 0]
        return segments

    @staticmethod
    def of_flat(const uint8_t[::1] codes, const int64_t[::1] offsets):
        """Return the runs ``codes[offsets[i]:offsets[i + 1]]``, without a copy."""
        cdef Segments segments = Segments(codes)
        cdef Py_ssize_t i, n = offsets.shape[0] - 1
        cdef int64_t first, last
        if n < 0:
            raise ValueError("Segments: offsets must have at least one element")
        segments.reserve(n)
        last = offsets[0]
        for i in range(n):
            first, last = last, offsets[i + 1]
            if not 0 <= first <= last <= codes.shape[0]:
                raise ValueError(f"Segments: the offsets must be ascending, in [0, {codes.shape[0]}]")
            segments.starts[i] = &codes[0] + first if last > first else NULL
            segments.lengths[i] = last - first
        return segments

    def __len__(self):
        """Return the number of runs."""
        return self.n

    def item(self, Py_ssize_t i):
        """Return the codes of run ``i`` as bytes."""
        cdef Py_ssize_t n
        cdef const uint8_t *codes
        if not 0 <= i < self.n:
            raise IndexError(f"the run must be in [0, {self.n}), got {i}")
        n = self.length if self.starts == NULL else self.lengths[i]
        codes = self.base + i * self.stride if self.starts == NULL else self.starts[i]
        return (<const char *> codes)[:n] if n else b""

    def sizes(self):
        """Return the number of codes of each run, as int64."""
        cdef cnp.ndarray sizes
        if self.starts == NULL:
            return np.full(self.n, self.length, np.int64)
        sizes = np.empty(self.n, np.int64)
        memcpy(cnp.PyArray_DATA(sizes), self.lengths, self.n * sizeof(int64_t))
        return sizes

    def extent(self):
        """Return the numbers of codes of the shortest and the longest run; of a matrix, both are the width."""
        cdef Py_ssize_t i
        cdef int64_t least, most
        if self.starts == NULL:
            least = most = self.length
            return least, most
        least = most = self.lengths[0] if self.n else 0
        for i in range(self.n):
            least, most = min(least, self.lengths[i]), max(most, self.lengths[i])
        return least, most

    def cut(self, Py_ssize_t length, str side):
        """Return the runs, cut to ``length`` codes; others are dropped at the right, the left or both sides."""
        cdef Segments cut = Segments(self)
        cdef int at = SIDES[side]
        cdef Py_ssize_t i, rest
        if self.starts == NULL:
            rest = max(self.length - length, <Py_ssize_t> 0)
            cut.n, cut.stride, cut.length = self.n, self.stride, self.length - rest
            if self.base != NULL:
                cut.base = self.base + (0 if at == 0 else rest if at == 1 else rest // 2)
            return cut
        cut.reserve(self.n)
        for i in range(self.n):
            rest = max(self.lengths[i] - length, <int64_t> 0)
            cut.lengths[i] = self.lengths[i] - rest
            cut.starts[i] = self.starts[i]
            if rest:
                cut.starts[i] += 0 if at == 0 else rest if at == 1 else rest // 2
        return cut


# ---- The output as a sequence of rows or positions, `length` of each run ----

cdef struct Job:
    const ohf_microkernels *microkernels
    const uint8_t **starts
    const int64_t *lengths
    const uint8_t *base
    Py_ssize_t stride, n_codes          # if `starts` is NULL: bytes from run to run, codes of each run
    Py_ssize_t n
    Py_ssize_t length                   # rows of each run; -1: as many as it has codes
    const int64_t *offsets              # if length is -1: the first row of each run, then the number of all rows
    int side                            # codes are in the first rows of a run (0), the last (1), the middle (2)
    unsigned char *out
    bint streamed
    # For each of the 256 codes: the class, if its row of the table is one-hot; NONE, if the row has no `on`; else
    # depth + its number in `special`. `find_first` keeps its flags here, and `bytes_chunk` the rows of one byte.
    const ohf_byte_map *map
    const ohf_byte_map *flags           # a 1 for each code to look for; NULL: none
    int *has_flagged                    # set to 1 if a code has a flag
    const unsigned char **special       # the distinct rows of the table that are neither one-hot nor all `off`
    int pad_class, n_special
    const ohf_fill *fill
    const ohf_plan *plan
    Py_ssize_t depth, width, row_bytes
    const unsigned char *table          # the rows of N_CODES codes, then the pad, without gaps
    const unsigned char *copies         # the rows of the codes again, each in `copy_stride` bytes
    Py_ssize_t copy_stride
    Py_ssize_t block_rows               # rows of a tile or of a scratch block
    Py_ssize_t lead                     # rows before the first row that begins at a cache line
    Py_ssize_t inner, n_tiles
    int64_t *found                      # for `find_first`: the first position with a flag in each chunk, or -1


cdef struct Run:
    const uint8_t *codes
    Py_ssize_t first, n_rows            # the run's first row in the output, and its number of rows
    Py_ssize_t n_before, n_codes        # the numbers of pads before the codes, and of codes


cdef inline Run run_at(const Job *job, Py_ssize_t i) noexcept nogil:
    """Return where a run is in the input and in the output."""
    cdef Run run
    cdef Py_ssize_t rest
    if job.starts == NULL:
        run.codes, run.n_codes = job.base + i * job.stride, job.n_codes
    else:
        run.codes, run.n_codes = job.starts[i], job.lengths[i]
    run.n_before = 0
    if job.length < 0:
        run.first, run.n_rows = job.offsets[i], run.n_codes
        return run
    run.first, run.n_rows = i * job.length, job.length
    rest = job.length - run.n_codes
    run.n_before = 0 if job.side == 0 else rest if job.side == 1 else rest // 2
    return run


cdef Py_ssize_t run_of_row(const Job *job, Py_ssize_t row) noexcept nogil:
    """Return the number of the run that contains a row of the output."""
    cdef Py_ssize_t low = 0, high = job.n, middle
    if job.length > 0:
        return row // job.length
    while high - low > 1:       # find the last run that begins at or before the row
        middle = (low + high) // 2
        if job.offsets[middle] <= row:
            low = middle
        else:
            high = middle
    return low


cdef inline void check_codes(const Job *job, const uint8_t *codes, Py_ssize_t n) noexcept nogil:
    """Set ``job.has_flagged`` if one of ``n`` codes has a flag."""
    if job.flags != NULL and <Py_ssize_t> job.microkernels.find_mapped(codes, n, job.flags) < n:
        ohf_set_flag(job.has_flagged)


cdef void classes_of(
    const Job *job, const Run *run, Py_ssize_t at, Py_ssize_t count, uint8_t *classes,
) noexcept nogil:
    """Write the classes of ``count`` positions of a run from position ``at`` on."""
    cdef Py_ssize_t n
    if at < run.n_before:
        n = min(count, run.n_before - at)
        memset(classes, job.pad_class, n)
        classes, at, count = classes + n, at + n, count - n
    if count > 0 and at < run.n_before + run.n_codes:
        n = min(count, run.n_before + run.n_codes - at)
        check_codes(job, run.codes + (at - run.n_before), n)
        job.microkernels.map_bytes(run.codes + (at - run.n_before), n, job.map, classes)
        classes, count = classes + n, count - n
    if count > 0:
        memset(classes, job.pad_class, count)


cdef Py_ssize_t find_special(
    const Job *job, const uint8_t *classes, Py_ssize_t n, uint16_t *positions,
) noexcept nogil:
    """Write the positions in a tile of the rows in ``job.special``, and return the number of positions."""
    if job.n_special == 0:
        return 0
    return job.microkernels.find_bytes(
        classes, n, <unsigned> job.depth, <unsigned> (job.depth + job.n_special - 1), positions,
    )


# ---- Rows ----

cdef unsigned char *copy_rows(
    const Job *job, const Run *run, Py_ssize_t at, Py_ssize_t count, unsigned char *to,
) noexcept nogil:
    """Copy the rows of ``count`` positions of a run from position ``at`` on, and return their end."""
    cdef Py_ssize_t i, n = 0
    cdef const unsigned char *pad = job.table + N_CODES * job.row_bytes
    if run.n_before <= at < run.n_before + run.n_codes:
        n = min(count, run.n_before + run.n_codes - at)
        check_codes(job, run.codes + (at - run.n_before), n)
        ohf_copy_rows(run.codes + (at - run.n_before), n, job.copies, job.copy_stride, job.row_bytes, to)
    elif at < run.n_before:
        n = min(count, run.n_before - at)
        for i in range(n):
            memcpy(to + i * job.row_bytes, pad, job.row_bytes)
        if n < count:
            return copy_rows(job, run, at + n, count - n, to + n * job.row_bytes)
    for i in range(n, count):
        memcpy(to + i * job.row_bytes, pad, job.row_bytes)
    return to + count * job.row_bytes


cdef void copy_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Copy the rows [row, end) of the output, block by block."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t i = run_of_row(job, row), stop, count
    cdef unsigned char *block
    cdef unsigned char *to
    cdef unsigned char *out
    cdef Run run = run_at(job, i)
    while row < end:
        stop = min(row + job.block_rows, end)
        out = job.out + row * job.row_bytes
        to = block = workspace + (<uintptr_t> out & 63) if job.streamed else out
        while row < stop:
            while row >= run.first + run.n_rows:
                i += 1
                run = run_at(job, i)
            count = min(run.first + run.n_rows, stop) - row
            to = copy_rows(job, &run, row - run.first, count, to)
            row += count
        if job.streamed:
            job.microkernels.copy(out, block, to - block)


cdef void bytes_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [row, end), of one byte each: ``job.map`` has the rows, and ``job.pad_class`` the pad."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t i = run_of_row(job, row), count
    cdef Run run = run_at(job, i)
    while row < end:
        while row >= run.first + run.n_rows:
            i += 1
            run = run_at(job, i)
        count = min(run.first + run.n_rows, end) - row
        classes_of(job, &run, row - run.first, count, job.out + row)
        row += count


cdef void put_rows(const Job *job, Py_ssize_t row, Py_ssize_t end) noexcept nogil:
    """Copy the rows [row, end) of the output one by one."""
    cdef Py_ssize_t i = run_of_row(job, row), at, entry
    cdef Run run = run_at(job, i)
    while row < end:
        while row >= run.first + run.n_rows:
            i += 1
            run = run_at(job, i)
        at = row - run.first - run.n_before
        entry = N_CODES
        if 0 <= at < run.n_codes:
            check_codes(job, run.codes + at, 1)
            entry = run.codes[at]
        memcpy(job.out + row * job.row_bytes, job.table + entry * job.row_bytes, job.row_bytes)
        row += 1


cdef void expand_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the rows [row, end), counted from row ``job.lead``, by expansion in registers, tile by tile."""
    cdef const Job *job = <const Job *> any_job
    cdef uint8_t *classes = workspace
    cdef uint16_t *positions = <uint16_t *> (workspace + CLASSES_BYTES)
    cdef Py_ssize_t i, n, count, n_special, at
    cdef unsigned char *out
    cdef unsigned char *block
    cdef Run run
    cdef ohf_fill fill
    row += job.lead
    end += job.lead
    i = run_of_row(job, row)
    run = run_at(job, i)
    while row < end:
        out = job.out + row * job.row_bytes
        n = 0
        while n < job.block_rows and row < end:
            while row >= run.first + run.n_rows:
                i += 1
                run = run_at(job, i)
            count = min(min(run.first + run.n_rows, end) - row, job.block_rows - n)
            classes_of(job, &run, row - run.first, count, classes + n)
            row += count
            n += count
        n_special = find_special(job, classes, n, positions)
        if n_special == 0:
            job.microkernels.rows_expand(classes, n, job.plan, job.fill, out)
            continue
        # The plan, made for the output, fits the scratch block too: both begin equally far from a cache line.
        block = workspace + TILE_BYTES + (<uintptr_t> out & 63) if job.streamed else out
        fill = job.fill[0]
        fill.stream = False
        job.microkernels.rows_expand(classes, n, job.plan, &fill, block)
        for at in range(n_special):
            memcpy(
                block + positions[at] * job.row_bytes, job.special[classes[positions[at]] - job.depth],
                job.row_bytes,
            )
        if job.streamed:
            job.microkernels.copy(out, block, n * job.row_bytes)


# ---- Planes ----

cdef void put_columns(
    const Job *job, const Run *run, Py_ssize_t at, Py_ssize_t count, Py_ssize_t plane_bytes, unsigned char *out,
) noexcept nogil:
    """Copy the elements of ``count`` positions of a run, plane by plane, from the columns of the table."""
    cdef Py_ssize_t k, i, n, done, stride = job.row_bytes
    cdef const unsigned char *column
    cdef unsigned char *to
    for k in range(job.depth):
        column = job.table + k * job.width
        to = out + k * plane_bytes
        done = 0
        while done < count:
            i = at + done
            if i < run.n_before or i >= run.n_before + run.n_codes:
                memcpy(to + done * job.width, column + N_CODES * stride, job.width)
                done += 1
            else:
                n = min(count - done, run.n_before + run.n_codes - i)
                if k == 0:
                    check_codes(job, run.codes + (i - run.n_before), n)
                ohf_copy_plane(run.codes + (i - run.n_before), n, column, stride, job.width, to + done * job.width)
                done += n


cdef void put_special(
    const Job *job, const uint8_t *classes, const uint16_t *positions, Py_ssize_t n_special,
    Py_ssize_t plane_bytes, unsigned char *out,
) noexcept nogil:
    """Write the elements of the rows that are not one-hot to all planes, from ``out`` on."""
    cdef const unsigned char *row
    cdef Py_ssize_t i, k
    for i in range(n_special):
        row = job.special[classes[positions[i]] - job.depth]
        for k in range(job.depth):
            memcpy(out + k * plane_bytes + positions[i] * job.width, row + k * job.width, job.width)


cdef void put_planes(
    const Job *job, const Run *run, Py_ssize_t at, Py_ssize_t count, Py_ssize_t plane_bytes,
    unsigned char *workspace, unsigned char *out,
) noexcept nogil:
    """Write the elements of ``count`` positions (up to TILE) of a run to all planes, from ``out`` on."""
    cdef uint8_t *classes = workspace
    cdef uint16_t *positions = <uint16_t *> (workspace + CLASSES_BYTES)
    cdef ohf_fill fill
    cdef Py_ssize_t n_special
    if job.map == NULL:
        put_columns(job, run, at, count, plane_bytes, out)
        return
    classes_of(job, run, at, count, classes)
    n_special = find_special(job, classes, count, positions)
    fill = job.fill[0]
    fill.stream = job.streamed and n_special == 0
    job.microkernels.planes(classes, count, job.depth, plane_bytes, &fill, out)
    put_special(job, classes, positions, n_special, plane_bytes, out)


cdef void tiles_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the tiles [begin, end); each run has ``job.n_tiles`` tiles of up to TILE positions."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t item, at, count, position
    cdef Run run
    for item in range(begin, end):
        run = run_at(job, item // job.n_tiles)
        at = item % job.n_tiles * TILE
        count = min(job.length - at, <Py_ssize_t> TILE)
        position = run.first + at
        put_planes(
            job, &run, at, count, job.inner * job.width, workspace,
            job.out + (position // job.inner * job.depth * job.inner + position % job.inner) * job.width,
        )


cdef void joined_chunk(
    const void *any_job, Py_ssize_t i, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the runs [i, end), whose planes are adjacent.

    A vector at the border of two runs has elements of both. It is written with the second run, unless the first
    run has rows that are not one-hot: these are written over its planes, which are therefore complete by then.
    """
    cdef const Job *job = <const Job *> any_job
    cdef uint8_t *classes = workspace + OHF_PAD
    cdef uint16_t *positions = <uint16_t *> (workspace + CLASSES_BYTES)
    cdef Py_ssize_t plane_bytes = job.length * job.width, run_bytes = job.depth * plane_bytes, n_special, n_before
    cdef unsigned char *out
    cdef unsigned char *block
    cdef Run run
    cdef ohf_fill fill
    cdef bint joins_before = False
    for i in range(i, end):
        # `planes_joined` also reads the last classes of the previous run, which it expects before `classes`.
        memmove(workspace, classes + job.length - OHF_PAD, OHF_PAD)
        run = run_at(job, i)
        classes_of(job, &run, 0, job.length, classes)
        n_special = find_special(job, classes, job.length, positions)
        out = job.out + i * run_bytes
        fill = job.fill[0]
        fill.stream = job.streamed and n_special == 0
        if n_special == 0:
            job.microkernels.planes_joined(classes, job.length, &fill, out, joins_before, i + 1 < end)
            joins_before = True
            continue
        # The scratch block and the output begin equally far from a cache line, as `copy` requires.
        n_before = <uintptr_t> out & (job.microkernels.vector - 1) if joins_before else 0
        block = workspace + TILE_BYTES + 64 + (<uintptr_t> out & 63) if job.streamed else out
        job.microkernels.planes_joined(classes, job.length, &fill, block, joins_before, False)
        put_special(job, classes, positions, n_special, plane_bytes, block)
        if job.streamed:
            job.microkernels.copy(out - n_before, block - n_before, n_before + run_bytes)
        joins_before = False


# ---- The table ----

cdef int class_of_row(const unsigned char *row, const ohf_fill *fill) noexcept:
    """Return the class of a row that is one-hot, NONE for a row without ``on``, or -1 for another row."""
    cdef int found = NONE, k, depth = <int> fill.depth
    cdef size_t width = fill.width
    for k in range(depth):
        if memcmp(row + k * width, fill.off, width) == 0:
            continue
        if found != NONE or memcmp(row + k * width, fill.on, width) != 0:
            return -1
        found = k
    return found


cdef bint describe_classes(
    Job *job, const unsigned char[:, ::1] table, ohf_byte_map *map, const unsigned char **special,
) noexcept:
    """Fill ``map`` and ``special``; return False if no row is one-hot, or too many other rows are distinct."""
    cdef uint8_t classes[N_CODES]
    cdef int i, j, found
    cdef bint is_any_hot = False
    if job.depth >= NONE:
        return False
    for i in range(N_CODES + 1):
        found = class_of_row(&table[i, 0], job.fill)
        if found < 0:
            for j in range(job.n_special):
                if memcmp(special[j], &table[i, 0], job.row_bytes) == 0:
                    break
            else:
                if job.depth + job.n_special >= NONE:
                    return False
                j = job.n_special
                special[j] = &table[i, 0]
                job.n_special += 1
            found = <int> job.depth + j
        elif found != NONE:
            is_any_hot = True
        if i < N_CODES:
            classes[i] = found
        else:
            job.pad_class = found
    if is_any_hot:
        ohf_byte_map_init(map, classes)
        job.map, job.special = map, special
    return is_any_hot


cdef void fill_job(Job *job, Segments segments) noexcept:
    """Set the fields of a job that describe the codes."""
    job.microkernels = microkernels
    job.starts, job.lengths = segments.starts, segments.lengths
    job.base, job.stride, job.n_codes = segments.base, segments.stride, segments.length
    job.n = segments.n


cdef void join_runs(Job *job) noexcept:
    """Make one run of all runs, if their codes are adjacent and not padded."""
    if job.starts == NULL and job.stride == job.n_codes and job.length in (-1, job.n_codes):
        job.n_codes *= job.n
        job.length, job.n = job.n_codes, 1


def encode(
    Segments segments, const unsigned char[:, ::1] table, unsigned char[::1] out, const unsigned char[::1] on,
    const unsigned char[::1] off, *, Py_ssize_t length=-1, str side="right", Py_ssize_t inner=1,
    const int64_t[::1] offsets=None, int num_threads=1, bint zeroed=False, const uint8_t[::1] flags=None,
):
    """Write the row of the table of each code to ``out`` (outer, depth, inner), which is passed as bytes.

    Return whether there is a code with a flag.

    Parameters
    ----------
    segments : Segments
        The codes.
    table : array of bytes, shape (257, depth * width)
        The row of each code, and the pad.
    on, off : array of bytes, shape (width,)
        The elements of most rows. They do not change the output, only how fast it is written.
    length : int
        The number of rows of each run, which must not be longer. -1: as many as the run has codes; `offsets` has
        the first row of each run, and `inner` is 1.
    side : str
        Where the pads are: "right", "left" or "both".
    inner : int
        1 if the new axis is the last, else the distance between classes, a multiple of `length`.
    zeroed : bool
        Whether the system has just allocated ``out``.
    flags : array of bool as bytes, shape (256,)
        1 for each code to look for.
    """
    cdef Job job
    cdef ohf_fill fill
    cdef ohf_byte_map map
    cdef ohf_byte_map flags_map
    cdef const unsigned char *special[N_CODES]
    cdef Py_ssize_t n_rows
    cdef int has_flagged = 0
    memset(&job, 0, sizeof(job))
    fill_job(&job, segments)
    job.width, job.length, job.side, job.inner = on.shape[0], length, SIDES[side], inner
    if table.shape[0] != N_CODES + 1 or job.width < 1 or off.shape[0] != job.width or table.shape[1] % job.width:
        raise ValueError(f"table_rows.encode: the table must have {N_CODES + 1} rows of whole elements")
    job.row_bytes, job.depth = table.shape[1], table.shape[1] // job.width
    n_rows = rows_of(segments, length, offsets)
    if out.shape[0] != n_rows * job.row_bytes:
        raise ValueError(f"table_rows.encode: out must have {n_rows * job.row_bytes} bytes, got {out.shape[0]}")
    if flags is not None and flags.shape[0] != N_CODES:
        raise ValueError(f"table_rows.encode: there must be {N_CODES} flags, got {flags.shape[0]}")
    if out.shape[0] == 0:
        return False
    if inner < 1 or n_rows % inner or (inner > 1 and (length < 1 or inner % length)):
        raise ValueError(f"table_rows.encode: inner must be a multiple of length, got {inner}")
    if flags is not None:
        ohf_byte_map_init(&flags_map, &flags[0])
        job.flags, job.has_flagged = &flags_map, &has_flagged
    job.out, job.table = &out[0], &table[0, 0]
    if length < 0:
        job.offsets = &offsets[0]
    job.streamed = <size_t> out.shape[0] > stream_bytes and not zeroed and job.microkernels.copy != NULL
    ohf_fill_init(&fill, job.width, job.depth, inner, &on[0], &off[0])
    job.fill = &fill
    if inner == 1:
        join_runs(&job)
        encode_rows(&job, table, n_rows, &fill, &map, special, num_threads)
    else:
        describe_classes(&job, table, &map, special)
        encode_planes(&job, num_threads)
    return has_flagged != 0


cdef int encode_rows(
    Job *job, const unsigned char[:, ::1] table, Py_ssize_t n_rows, ohf_fill *fill, ohf_byte_map *map,
    const unsigned char **special, int num_threads,
) except -1:
    """Write the output if the new axis is the last."""
    cdef unsigned char[:, ::1] copies
    cdef uint8_t entries[N_CODES]
    cdef Py_ssize_t i
    if job.row_bytes == 1:
        for i in range(N_CODES):
            entries[i] = table[i, 0]
        ohf_byte_map_init(map, entries)
        job.map, job.pad_class = map, table[N_CODES, 0]
        return for_each_chunk(bytes_chunk, job, n_rows, 0, 1, 0, num_threads)
    if (
        n_rows * job.row_bytes > SMALL_BYTES and job.row_bytes <= EXPANDED_BYTES
        and ohf_can_expand(job.microkernels, fill, job.out) and describe_classes(job, table, map, special)
    ):
        fill.stream = job.streamed
        return expand(job, n_rows, num_threads)
    job.copy_stride = ohf_table_stride(job.row_bytes)
    padded = np.zeros((N_CODES, job.copy_stride), np.uint8)
    padded[:, :job.row_bytes] = np.asarray(table)[:N_CODES]
    copies = padded
    job.copies = &copies[0, 0]
    job.streamed = job.streamed and job.row_bytes <= OHF_SCRATCH // 4
    job.block_rows = OHF_SCRATCH // job.row_bytes if job.streamed else n_rows
    if job.block_rows > 64:
        job.block_rows -= job.block_rows % 64      # a block then has whole cache lines
    return for_each_chunk(
        copy_chunk, job, n_rows, 0, job.row_bytes, BLOCK_BYTES if job.streamed else 0, num_threads,
    )


cdef int expand(Job *job, Py_ssize_t n_rows, int num_threads) except -1:
    """Plan the vectors until their pattern repeats, and write all rows by expansion in registers."""
    cdef ohf_plan *plan = <ohf_plan *> take_workspace(sizeof(ohf_plan))
    # A cache line that two tiles share would be written in two parts, which is slow with stores that bypass the
    # caches. The tiles therefore begin at the first row that begins at a cache line, and have whole cache lines.
    # One plan then fits all tiles.
    while job.lead < 64 and (<uintptr_t> job.out + job.lead * job.row_bytes) % 64 != 0:
        job.lead += 1
    if job.lead == 64:      # no row begins at a cache line
        job.lead = 0
    job.block_rows = max(EXPANDED_TILE // job.row_bytes, <Py_ssize_t> 64) // 64 * 64
    try:
        put_rows(job, 0, job.lead)
        ohf_plan_init(plan, job.microkernels, job.fill, job.out + job.lead * job.row_bytes)
        job.plan = plan
        return for_each_chunk(
            expand_chunk, job, n_rows - job.lead, 0, job.row_bytes, TILE_BYTES + BLOCK_BYTES, num_threads,
        )
    finally:
        give_workspace(plan, sizeof(ohf_plan))


cdef int encode_planes(Job *job, int num_threads) except -1:
    """Write the output if the new axis is not the last."""
    cdef Py_ssize_t run_bytes = job.row_bytes * job.length
    if (
        job.map != NULL and job.microkernels.planes_joined != NULL and job.width <= 16 and 64 % job.width == 0
        and job.inner == job.length <= TILE and job.length * job.width >= 64
        and run_bytes <= OHF_SCRATCH and <uintptr_t> job.out % job.width == 0
    ):
        return for_each_chunk(joined_chunk, job, job.n, 0, run_bytes, TILE_BYTES + BLOCK_BYTES, num_threads)
    job.streamed = (
        job.streamed and job.width * job.length >= MIN_STREAMED and <uintptr_t> job.out % job.width == 0
    )
    job.n_tiles = (job.length + TILE - 1) // TILE
    return for_each_chunk(
        tiles_chunk, job, job.n * job.n_tiles, 0, min(job.length, <Py_ssize_t> TILE) * job.row_bytes, TILE_BYTES,
        num_threads,
    )


cdef Py_ssize_t rows_of(Segments segments, Py_ssize_t length, const int64_t[::1] offsets) except -1:
    """Return the number of rows of the output, or raise an error if the runs do not fit."""
    cdef Py_ssize_t i
    if length >= 0:
        if segments.extent()[1] > length:
            raise ValueError(f"table_rows: a run has {segments.extent()[1]} codes, more than {length}")
        return segments.n * length
    if offsets is None or offsets.shape[0] != segments.n + 1 or offsets[0] != 0:
        raise ValueError(f"table_rows: there must be {segments.n + 1} offsets, and the first must be 0")
    for i in range(segments.n):
        if offsets[i + 1] - offsets[i] != (segments.length if segments.starts == NULL else segments.lengths[i]):
            raise ValueError(f"table_rows: offsets[{i + 1}] must be the end of run {i}")
    return offsets[segments.n]


# ---- The search for codes ----

cdef void scan_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Set the item of ``found`` for the chunk [row, end) to the first position with a flag."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t i = run_of_row(job, row), at, count, hit, chunk = row // SCAN
    cdef Run run = run_at(job, i)
    while row < end:
        while row >= run.first + run.n_rows:
            i += 1
            run = run_at(job, i)
        at = row - run.first
        count = min(run.n_codes - at, end - row)
        hit = job.microkernels.find_mapped(run.codes + at, count, job.map)
        row += hit
        if hit < count:
            job.found[chunk] = row
            return


def find_first(Segments segments, const uint8_t[::1] flags, const int64_t[::1] offsets, int num_threads=1):
    """Return the run, and the position within it, of the first code with flag 1, or None.

    ``flags`` has a 0 or 1 for each code; ``offsets`` has the number of codes before each run, and in all runs.
    """
    cdef Job job
    cdef ohf_byte_map map
    cdef Py_ssize_t n_rows, run, first
    cdef int64_t[::1] found
    memset(&job, 0, sizeof(job))
    fill_job(&job, segments)
    job.length = -1
    if flags.shape[0] != N_CODES:
        raise ValueError(f"table_rows.find_first: there must be {N_CODES} flags, got {flags.shape[0]}")
    n_rows = rows_of(segments, -1, offsets)
    if n_rows == 0:
        return None
    ohf_byte_map_init(&map, &flags[0])
    job.offsets, job.map = &offsets[0], &map
    join_runs(&job)
    places = np.full((n_rows + SCAN - 1) // SCAN, -1, np.int64)
    found = places
    job.found = &found[0]
    for_each_chunk(scan_chunk, &job, n_rows, SCAN, 1, 0, num_threads)
    hits = places[places >= 0]
    if not len(hits):
        return None
    first = hits[0]
    job.n, job.length = segments.n, -1
    run = run_of_row(&job, first)
    while offsets[run + 1] <= first:        # skip runs without codes, which begin at the same position
        run += 1
    return run, first - offsets[run]
