# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Products with a one-hot matrix that is stored as codes.

The matrix is a list of groups of codes. A code selects a row of its group's table, so a product adds table rows,
and a product with the transpose adds rows of values into bins. Plain C is as fast here as AVX-512 gathers
(1M rows of five columns: 2.3 and 2.5 ms), because the tables stay in the caches.

Each block of rows has its own bins. The blocks do not depend on the number of threads, and the caller adds their
bins in order. Results are therefore the same for any number of threads.

A code outside its table adds nothing, so no memory outside the tables is read or written.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk

cnp.import_array()

cdef enum:
    CHUNK_ROWS = 1 << 16    # rows of a block of a product
    BLOCK_WIDTH = 8         # columns of the other operand that are processed together
    TILE = 2048             # values or results (16 KiB) that stay in the first-level cache
    PAIR_ROWS = 4096        # rows whose codes stay in the second-level cache for all pairs

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t

cdef struct Group:
    const void *codes
    int code_bytes
    uint32_t n_codes
    uint32_t first_code     # for a product: the code of the first row of the table
    const double *table     # for a product: (n_codes, width)
    Py_ssize_t first_bin    # for sums: the position of its first bin

cdef struct Job:
    const Group *groups
    Py_ssize_t n_groups, n_rows, block_rows
    Py_ssize_t width            # columns of the other operand
    double *out                 # for a product
    bint is_added               # the product is added to `out`
    const double *values        # for sums
    Py_ssize_t stride           # elements from one row of `out` or `values` to the next
    const double *weights       # for pairs: one for each row, or NULL
    double *bins                # n_lanes * n_bins sums for each block
    Py_ssize_t n_bins, n_lanes


cdef class Groups:
    """Arrays of codes as C structures, which are checked once."""

    cdef Group *items
    cdef Py_ssize_t n_groups, n_rows

    def __cinit__(self, list codes, list n_codes, Py_ssize_t n_rows):
        cdef Py_ssize_t i
        cdef cnp.ndarray array
        self.items = <Group *> calloc(len(codes) + 1, sizeof(Group))
        if self.items == NULL:
            raise MemoryError("cannot allocate the descriptions of the code arrays")
        self.n_groups, self.n_rows = len(codes), n_rows
        for i in range(self.n_groups):
            array = codes[i]
            if array.dtype not in (np.uint8, np.uint16, np.uint32) or not array.flags.c_contiguous:
                raise ValueError(f"group {i}: expected contiguous unsigned codes, got {array.dtype}")
            if array.ndim != 1 or array.shape[0] != n_rows:
                raise ValueError(f"group {i}: expected {n_rows} codes, got shape {(<object> array).shape}")
            self.items[i].codes = cnp.PyArray_DATA(array)
            self.items[i].code_bytes = array.dtype.itemsize
            self.items[i].n_codes = n_codes[i]

    def __dealloc__(self):
        free(self.items)


cdef void add_rows(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, double *tile,
) noexcept nogil:
    """Add the table row of its code to each row of the tile. A code below the first wraps and adds nothing."""
    cdef const double *table = group.table
    cdef const double *row
    cdef uint32_t code, first = group.first_code, n_codes = group.n_codes
    cdef Py_ssize_t i, j
    if width == 1:
        for i in range(n):
            code = <uint32_t> codes[i] - first
            if code < n_codes:
                tile[i] += table[code]
        return
    for i in range(n):
        code = <uint32_t> codes[i] - first
        if code >= n_codes:
            continue
        row = table + <Py_ssize_t> code * width
        if width == BLOCK_WIDTH:
            for j in range(BLOCK_WIDTH):
                tile[i * BLOCK_WIDTH + j] += row[j]
        else:
            for j in range(width):
                tile[i * width + j] += row[j]


cdef void add_to_bins(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, const double *tile, double *bins,
    Py_ssize_t second,
) noexcept nogil:
    """Add each row of the tile to the bins of its code."""
    cdef uint32_t code, n_codes = group.n_codes
    cdef Py_ssize_t i, j
    cdef double *to
    if width == 1:
        # Alternate between two sums, because additions to the same bin would wait for each other.
        for i in range(0, n - 1, 2):
            code = codes[i]
            if code < n_codes:
                bins[code] += tile[i]
            code = codes[i + 1]
            if code < n_codes:
                bins[second + code] += tile[i + 1]
        if n % 2:
            code = codes[n - 1]
            if code < n_codes:
                bins[code] += tile[n - 1]
        return
    for i in range(n):
        code = codes[i]
        if code >= n_codes:
            continue
        to = bins + <Py_ssize_t> code * width
        if width == BLOCK_WIDTH:
            for j in range(BLOCK_WIDTH):
                to[j] += tile[i * BLOCK_WIDTH + j]
        else:
            for j in range(width):
                to[j] += tile[i * width + j]


cdef void add_group(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, double *tile, double *bins,
    Py_ssize_t second,
) noexcept nogil:
    """Call `add_to_bins` if there are bins, else `add_rows`."""
    if bins == NULL:
        add_rows(codes, n, group, width, tile)
    else:
        add_to_bins(codes, n, group, width, tile, bins + group.first_bin, second)


cdef void each_group(const Job *job, Py_ssize_t begin, Py_ssize_t n, double *tile, double *bins) noexcept nogil:
    """For each group, add its table rows to the tile, or the tile to its bins."""
    cdef Py_ssize_t g, second = (job.n_lanes - 1) * job.n_bins
    cdef const Group *group
    for g in range(job.n_groups):
        group = &job.groups[g]
        if group.code_bytes == 1:
            add_group(<const uint8_t *> group.codes + begin, n, group, job.width, tile, bins, second)
        elif group.code_bytes == 2:
            add_group(<const uint16_t *> group.codes + begin, n, group, job.width, tile, bins, second)
        else:
            add_group(<const uint32_t *> group.codes + begin, n, group, job.width, tile, bins, second)


cdef void multiply_tile(const Job *job, Py_ssize_t begin, Py_ssize_t n) noexcept nogil:
    """Write ``n`` rows of the product, beginning at row ``begin``."""
    cdef double tile[TILE]
    cdef double *out = job.out + begin * job.stride
    cdef double *to = out if job.stride == job.width else tile
    cdef Py_ssize_t i, width = job.width
    if not job.is_added:
        memset(to, 0, n * width * sizeof(double))
    elif to == tile:
        for i in range(n):
            memcpy(&tile[i * width], out + i * job.stride, width * sizeof(double))
    each_group(job, begin, n, to, NULL)
    if to == tile:
        for i in range(n):
            memcpy(out + i * job.stride, &tile[i * width], width * sizeof(double))


cdef void multiply_block(const void *any_job, Py_ssize_t block) noexcept nogil:
    """Write the rows of one block."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t row = block * job.block_rows, end = min(row + job.block_rows, job.n_rows), n
    while row < end:
        n = min(TILE // job.width, end - row)
        multiply_tile(job, row, n)
        row += n


cdef void sum_tile(const Job *job, Py_ssize_t begin, Py_ssize_t n, double *bins) noexcept nogil:
    """Add rows of values to the bins of one block."""
    cdef double tile[TILE]
    cdef Py_ssize_t i, width = job.width
    cdef double *values = <double *> job.values + begin * job.stride   # only read
    if job.stride != width:
        for i in range(n):
            memcpy(&tile[i * width], values + i * job.stride, width * sizeof(double))
        values = tile
    each_group(job, begin, n, values, bins)


cdef void sum_block(const void *any_job, Py_ssize_t block) noexcept nogil:
    """Fill the bins of one block."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t row = block * job.block_rows, end = min(row + job.block_rows, job.n_rows), n
    while row < end:
        n = min(TILE // job.width, end - row)
        sum_tile(job, row, n, job.bins + block * job.n_lanes * job.n_bins)
        row += n


cdef void add_pairs(
    const code_t *left, const code_t *right, Py_ssize_t n, uint32_t n_left, uint32_t n_right,
    const double *weights, double *bins,
) noexcept nogil:
    """Add each row's weight to the bin of its two codes."""
    cdef uint32_t a, b
    cdef Py_ssize_t i
    for i in range(n):
        a, b = left[i], right[i]
        if a < n_left and b < n_right:
            bins[<Py_ssize_t> a * n_right + b] += 1 if weights == NULL else weights[i]


cdef void pair_block(const void *any_job, Py_ssize_t block) noexcept nogil:
    """Fill the bins of all pairs of groups for one block of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t row = block * job.block_rows, end = min(row + job.block_rows, job.n_rows), n, a, b
    cdef const Group *left
    cdef const Group *right
    cdef const double *weights
    cdef double *bins
    while row < end:
        n = min(<Py_ssize_t> PAIR_ROWS, end - row)
        weights = job.weights
        if weights != NULL:
            weights += row
        bins = job.bins + block * job.n_bins
        for a in range(job.n_groups):
            for b in range(a + 1, job.n_groups):
                left, right = &job.groups[a], &job.groups[b]
                if left.code_bytes == 2:
                    add_pairs(
                        <const uint16_t *> left.codes + row, <const uint16_t *> right.codes + row, n,
                        left.n_codes, right.n_codes, weights, bins,
                    )
                else:
                    add_pairs(
                        <const uint32_t *> left.codes + row, <const uint32_t *> right.codes + row, n,
                        left.n_codes, right.n_codes, weights, bins,
                    )
                bins += <Py_ssize_t> left.n_codes * right.n_codes
        row += n


cdef int run(
    Job *job, Groups groups, Py_ssize_t width, Py_ssize_t block_rows,
    void (*work)(const void *, Py_ssize_t) noexcept nogil, int num_threads,
) except -1:
    """Run the work of every block of rows."""
    if width < 1 or width > TILE or block_rows < 1:
        raise ValueError(f"implicit: invalid width {width} or block of {block_rows} rows")
    job.groups, job.n_groups, job.n_rows = groups.items, groups.n_groups, groups.n_rows
    job.block_rows, job.width = block_rows, width
    return for_each_chunk(
        work, job, (job.n_rows + block_rows - 1) // block_rows, block_rows * 8 * width, num_threads,
    )


cdef Py_ssize_t row_stride(Py_ssize_t stride, Py_ssize_t item_stride) except -1:
    """Return the distance between rows of a matrix in elements; raise an error unless rows are contiguous."""
    if item_stride != sizeof(double) or stride < 0 or stride % <Py_ssize_t> sizeof(double):
        raise ValueError("implicit: the rows of a matrix must be contiguous")
    return stride // <Py_ssize_t> sizeof(double)


cdef double *bins_of(Job *job, double[:, ::1] bins, Py_ssize_t n_rows, Py_ssize_t block_rows) except NULL:
    """Return the memory of bins of the right shape."""
    cdef Py_ssize_t n_blocks = (n_rows + block_rows - 1) // block_rows
    if bins.shape[0] != n_blocks * job.n_lanes or bins.shape[1] != job.n_bins:
        raise ValueError(f"implicit: the bins must have the shape ({n_blocks * job.n_lanes}, {job.n_bins})")
    return &bins[0, 0]


WIDTH = BLOCK_WIDTH   # for the caller


def multiply(list codes, list tables, list first_codes, double[:, :] out, bint is_added, int num_threads):
    """Write the sum of the table rows of all groups' codes into ``out``, or add it to ``out``.

    ``tables`` has a table of shape (n_codes, width) for each group; its first row is for the code in
    ``first_codes``. Other codes add nothing. The rows of ``out`` must be contiguous.
    """
    cdef Groups groups = Groups(codes, [len(table) for table in tables], out.shape[0])
    cdef Job job
    cdef Py_ssize_t i
    cdef const double[:, ::1] table
    for i in range(groups.n_groups):
        table = tables[i]
        if table.shape[1] != out.shape[1] or table.shape[0] == 0:
            raise ValueError(f"implicit.multiply: table {i} must have {out.shape[1]} columns")
        groups.items[i].table = &table[0, 0]
        groups.items[i].first_code = first_codes[i]
    if out.shape[0]:
        job.out, job.stride = &out[0, 0], row_stride(out.strides[0], out.strides[1])
        job.is_added, job.n_lanes, job.n_bins = is_added, 1, 0
        run(&job, groups, out.shape[1], CHUNK_ROWS, multiply_block, num_threads)


def add_up(
    list codes, list n_codes, const double[:, :] values, double[:, ::1] bins, Py_ssize_t block_rows,
    int num_threads, Py_ssize_t n_lanes=1,
):
    """Add each row of ``values`` to the bins of its codes, for each block of rows.

    ``bins`` has ``n_lanes`` (1 or 2) rows for each block, with the bins of all groups. It must be all zeros.
    """
    cdef Groups groups = Groups(codes, n_codes, values.shape[0])
    cdef Job job
    cdef Py_ssize_t i
    job.n_bins, job.n_lanes = 0, n_lanes
    for i in range(groups.n_groups):
        groups.items[i].first_bin = job.n_bins
        job.n_bins += groups.items[i].n_codes * values.shape[1]
    if n_lanes not in (1, 2):
        raise ValueError(f"implicit.add_up: n_lanes must be 1 or 2, got {n_lanes}")
    if values.shape[0] and job.n_bins:
        job.bins = bins_of(&job, bins, values.shape[0], block_rows)
        job.values, job.stride = &values[0, 0], row_stride(values.strides[0], values.strides[1])
        run(&job, groups, values.shape[1], block_rows, sum_block, num_threads)


def count_pairs(
    list codes, list n_codes, const double[::1] weights, double[:, ::1] bins, Py_ssize_t block_rows,
    int num_threads,
):
    """Sum the weights (1 by default) of each combination of codes of two groups, for each block of rows.

    The codes of all groups are uint16, or all uint32. ``bins`` has a row for each block, with the (n_codes,
    n_codes) tables of groups 0 and 1, 0 and 2, ..., 1 and 2, ... It must be all zeros.
    """
    cdef Py_ssize_t n_rows = len(codes[0])
    cdef Groups groups = Groups(codes, n_codes, n_rows)
    cdef Job job
    cdef Py_ssize_t a, b
    job.n_bins, job.n_lanes = 0, 1
    for a in range(groups.n_groups):
        if groups.items[a].code_bytes != groups.items[0].code_bytes or groups.items[a].code_bytes == 1:
            raise ValueError("implicit.count_pairs: all codes must be uint16, or all uint32")
        for b in range(a + 1, groups.n_groups):
            job.n_bins += <Py_ssize_t> groups.items[a].n_codes * groups.items[b].n_codes
    if weights is not None and weights.shape[0] != n_rows:
        raise ValueError(f"implicit.count_pairs: {weights.shape[0]} weights for {n_rows} rows")
    if n_rows and job.n_bins:
        job.bins = bins_of(&job, bins, n_rows, block_rows)
        job.weights = &weights[0] if weights is not None else NULL
        run(&job, groups, 1, block_rows, pair_block, num_threads)
