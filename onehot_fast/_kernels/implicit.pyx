# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Products with a one-hot matrix that is stored as codes.

The matrix is a list of groups, and each group is an array with one code per row. For a product, each group has a
table, and the result is, for each row, the sum of the table rows that its codes select. For a product with the
transpose, each row of values is added to the bins of its codes. Plain C is as fast here as AVX-512 gathers
(1M rows of five columns: 2.3 and 2.5 ms), because the tables stay in the caches.

Each block of rows has its own bins. The blocks do not depend on the number of threads, and the caller adds their
bins in order. Results are therefore the same for any number of threads.

A code outside its table adds nothing, so no memory outside the tables is read or written.

The kernels take a list of groups, because the codes of each group may have another dtype (see the design in
`rows`). `groups_of` checks the arrays, and `run_groups` chooses the loop for the width of the codes.
"""

from libc.stdint cimport INT32_MAX, UINT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk

cnp.import_array()

cdef enum:
    CHUNK_ROWS = 1 << 16    # rows of a block of a product
    BLOCK_WIDTH = 8         # columns of the other operand that are processed together
    TILE = 2048             # values or results (16 KiB) that stay in the first-level cache
    ROOM = 256              # values or results (2 KiB) that are copied to the stack: threads may have small stacks

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t

cdef struct Group:
    const void *codes
    int code_bytes
    uint32_t n_codes
    const double *table     # for a product: the table of the group, (n_codes, width)
    Py_ssize_t first_bin    # for sums: the position of the group's first bin

ctypedef void (*work)(const Job *, Py_ssize_t, Py_ssize_t, double *, double *) noexcept nogil

cdef struct Job:
    const Group *groups
    Py_ssize_t n_groups, block_rows
    Py_ssize_t width        # columns of the other operand
    double *values          # the product, or the values to add up, which are only read
    Py_ssize_t stride       # elements from one row of values to the next
    bint is_added           # whether the product is added to `values` instead of replacing them
    double *bins            # for sums: n_lanes * n_bins for each block; NULL for a product
    Py_ssize_t n_bins, n_lanes
    const int32_t *pairs    # for sums of pairs: the indices of two groups for each pair
    Py_ssize_t n_pairs
    work run_tile           # `run_groups` or `run_pairs`: one function for both would be short of registers


cdef Group *groups_of(list codes, list n_codes, Py_ssize_t n_rows, cnp.ndarray memory) except NULL:
    """Check the arrays of codes, and describe them in ``memory``."""
    cdef Group *groups = <Group *> cnp.PyArray_DATA(memory)
    cdef Py_ssize_t i
    cdef cnp.ndarray array
    for i in range(len(codes)):
        array = codes[i]
        if array.dtype not in (np.uint8, np.uint16, np.uint32) or not cnp.PyArray_IS_C_CONTIGUOUS(array):
            raise ValueError(f"group {i}: expected contiguous codes of uint8, uint16 or uint32, got {array.dtype}")
        if array.ndim != 1 or array.shape[0] != n_rows:
            raise ValueError(f"group {i}: expected {n_rows} codes, got shape {(<object> array).shape}")
        groups[i] = Group(cnp.PyArray_DATA(array), array.itemsize, n_codes[i], NULL, 0)
    return groups


cdef inline void add(double *to, const double *row, Py_ssize_t width) noexcept nogil:
    """Add the ``width`` elements of ``row`` to those of ``to``."""
    cdef double sums[BLOCK_WIDTH]
    cdef Py_ssize_t j
    if width == BLOCK_WIDTH:    # gcc vectorises this loop, because all loads come before the stores
        for j in range(BLOCK_WIDTH):
            sums[j] = to[j] + row[j]
        memcpy(to, sums, sizeof(sums))
    else:
        for j in range(width):
            to[j] += row[j]


cdef void add_rows(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, double *tile,
) noexcept nogil:
    """For each row of the tile, add the row of the group's table that its code selects."""
    cdef const double *table = group.table
    cdef uint32_t code, n_codes = group.n_codes
    cdef Py_ssize_t i
    if width == 1:
        for i in range(n):
            code = codes[i]
            if code < n_codes:
                tile[i] += table[code]
        return
    for i in range(n):
        code = codes[i]
        if code < n_codes:
            add(tile + i * width, table + <Py_ssize_t> code * width, width)


cdef void add_to_bins(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, const double *tile, double *bins,
    Py_ssize_t second,
) noexcept nogil:
    """Add each row of the tile to the bins of its code.

    If ``width`` is 1, every second row is added to the bins that are ``second`` elements further.
    """
    cdef uint32_t code, n_codes = group.n_codes
    cdef Py_ssize_t i
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
        if code < n_codes:
            add(bins + <Py_ssize_t> code * width, tile + i * width, width)


cdef void add_group(
    const code_t *codes, Py_ssize_t n, const Group *group, Py_ssize_t width, double *tile, double *bins,
    Py_ssize_t second,
) noexcept nogil:
    """Add the tile to the bins of one group or, if there are no bins, add rows of its table to the tile."""
    if bins == NULL:
        add_rows(codes, n, group, width, tile)
    else:
        add_to_bins(codes, n, group, width, tile, bins + group.first_bin, second)


cdef void run_groups(
    const Job *job, Py_ssize_t begin, Py_ssize_t n, double *tile, double *bins,
) noexcept nogil:
    """For each group, add rows of its table to the tile or, if there are bins, add the tile to its bins."""
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


cdef void add_pairs(
    const code_t *left, const code_t *right, Py_ssize_t n, uint32_t n_left, uint32_t n_right,
    const double *tile, double *bins,
) noexcept nogil:
    """Add each row of the tile, whose width is 1, to the bin of the row's pair of codes."""
    cdef uint32_t a, b
    cdef Py_ssize_t i
    for i in range(n):
        a, b = left[i], right[i]
        if a < n_left and b < n_right:
            bins[<Py_ssize_t> a * n_right + b] += tile[i]


cdef void run_pairs(
    const Job *job, Py_ssize_t begin, Py_ssize_t n, double *tile, double *bins,
) noexcept nogil:
    """Add the tile to the bins of each pair of groups, whose codes have two or four bytes."""
    cdef Py_ssize_t i
    cdef const Group *left
    cdef const Group *right
    for i in range(job.n_pairs):
        left = &job.groups[job.pairs[2 * i]]
        right = &job.groups[job.pairs[2 * i + 1]]
        if left.code_bytes == 2:
            add_pairs(
                <const uint16_t *> left.codes + begin, <const uint16_t *> right.codes + begin, n,
                left.n_codes, right.n_codes, tile, bins,
            )
        else:
            add_pairs(
                <const uint32_t *> left.codes + begin, <const uint32_t *> right.codes + begin, n,
                left.n_codes, right.n_codes, tile, bins,
            )
        bins += <Py_ssize_t> left.n_codes * right.n_codes


cdef void run_block(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *_workspace,
) noexcept nogil:
    """Write the products of the rows [row, end), which are one block, or fill the bins of the block."""
    cdef const Job *job = <const Job *> any_job
    cdef double room[ROOM]
    cdef double *bins = NULL if job.bins == NULL else job.bins + row // job.block_rows * job.n_lanes * job.n_bins
    cdef double *values
    cdef double *tile
    cdef Py_ssize_t n, i, width = job.width
    cdef bint is_in_place = job.stride == width
    while row < end:
        n = min((TILE if is_in_place else ROOM) // width, end - row)
        values = job.values + row * job.stride
        tile = values if is_in_place else room
        if bins == NULL and not job.is_added:
            memset(tile, 0, n * width * sizeof(double))
        elif not is_in_place:
            for i in range(n):
                memcpy(room + i * width, values + i * job.stride, width * sizeof(double))
        job.run_tile(job, row, n, tile, bins)
        if bins == NULL and not is_in_place:
            for i in range(n):
                memcpy(values + i * job.stride, room + i * width, width * sizeof(double))
        row += n


cdef int run(Job *job, const double[:, :] values, Py_ssize_t block_rows, int num_threads) except -1:
    """Complete the description of the job, then call `run_block` for every block of rows."""
    cdef Py_ssize_t width = values.shape[1]
    if width < 1 or width > ROOM or block_rows < 1:
        raise ValueError(
            f"implicit: the width must be in [1, {ROOM}] and block_rows at least 1, got {width} and {block_rows}"
        )
    if values.strides[1] != sizeof(double) or values.strides[0] < 0 or values.strides[0] % 8:
        raise ValueError("implicit: the rows of a matrix must be contiguous")
    job.block_rows, job.width = block_rows, width
    job.values, job.stride = <double *> &values[0, 0], values.strides[0] // 8
    return for_each_chunk(run_block, job, values.shape[0], block_rows, 8 * width, 0, num_threads)


WIDTH = BLOCK_WIDTH   # for Python code, which cannot read the enum


def multiply(list codes, list tables, double[:, :] out, bint is_added, int num_threads):
    """For each row, add up the table rows that its codes select, and write the sum to ``out``.

    If ``is_added``, add the sum to ``out`` instead. ``tables`` has a table of shape (n_codes, width) for each
    group. The rows of ``out`` must be contiguous.
    """
    cdef cnp.ndarray memory = np.empty(len(codes) * sizeof(Group), np.uint8)
    cdef Group *groups = groups_of(codes, [len(table) for table in tables], out.shape[0], memory)
    cdef Job job
    cdef Py_ssize_t i
    cdef const double[:, ::1] table
    for i in range(len(codes)):
        table = tables[i]
        if table.shape[1] != out.shape[1]:
            raise ValueError(
                f"implicit.multiply: table {i} must have {out.shape[1]} columns, got {table.shape[1]}"
            )
        if table.shape[0]:
            groups[i].table = &table[0, 0]
    if out.shape[0]:
        job.groups, job.n_groups, job.run_tile = groups, len(codes), run_groups
        job.bins, job.is_added, job.n_lanes, job.n_bins = NULL, is_added, 1, 0
        run(&job, out, CHUNK_ROWS, num_threads)


def add_up(
    list codes, list n_codes, const int32_t[:, ::1] pairs, const double[:, :] values, double[:, ::1] bins,
    Py_ssize_t block_rows, Py_ssize_t n_lanes, int num_threads,
):
    """Add each row of ``values`` to the bins of its codes; each block of rows has its own bins.

    ``bins`` must be all zeros. It has ``n_lanes`` (1 or 2) rows for each block, with the bins of all groups.
    If ``pairs`` is not None, each pair of codes has a bin instead. The bins are then the (n_codes, n_codes) tables
    of the pairs, which are rows of two indices of groups. Pairs need one lane, one column of ``values``, and codes
    that are all uint16 or all uint32.
    """
    cdef cnp.ndarray memory = np.empty(len(codes) * sizeof(Group), np.uint8)
    cdef Group *groups = groups_of(codes, n_codes, values.shape[0], memory)
    cdef Job job
    cdef Py_ssize_t i, width = values.shape[1], n_blocks = (values.shape[0] + block_rows - 1) // block_rows
    job.groups, job.n_groups = groups, len(codes)
    job.n_bins, job.n_lanes, job.n_pairs = 0, n_lanes, 0
    job.run_tile = run_groups
    if pairs is None:
        for i in range(job.n_groups):
            groups[i].first_bin = job.n_bins
            job.n_bins += groups[i].n_codes * width
    else:
        if width != 1 or n_lanes != 1 or {array.itemsize for array in codes} not in ({2}, {4}):
            raise ValueError("implicit.add_up: pairs need one lane, one column, and all codes uint16 or uint32")
        if pairs.shape[1] != 2:
            raise ValueError(f"implicit.add_up: a pair must have two groups, got {pairs.shape[1]}")
        job.run_tile, job.n_pairs = run_pairs, pairs.shape[0]
        for i in range(job.n_pairs):
            if not (0 <= pairs[i, 0] < job.n_groups and 0 <= pairs[i, 1] < job.n_groups):
                raise ValueError(f"implicit.add_up: pair {i} must be below {job.n_groups}, the number of groups")
            job.n_bins += <Py_ssize_t> groups[pairs[i, 0]].n_codes * groups[pairs[i, 1]].n_codes
        if job.n_pairs:
            job.pairs = &pairs[0, 0]
    if n_lanes not in (1, 2) or bins.shape[0] != n_blocks * n_lanes or bins.shape[1] != job.n_bins:
        raise ValueError(f"implicit.add_up: the bins must have the shape ({n_blocks * n_lanes}, {job.n_bins})")
    if values.shape[0] and job.n_bins:
        job.bins = &bins[0, 0]
        run(&job, values, block_rows, num_threads)


cdef class Occurrences:
    """The positions of each feature in a matrix that has the features of each row, and -1 for no feature.

    A position is the number of an element of the matrix in C order. The ascending positions of feature ``f`` are
    ``positions[ends[f]:ends[f + 1]]``.
    """

    cdef const int32_t *features
    cdef Py_ssize_t n_rows, n_columns, n_features
    cdef uint32_t[::1] ends, positions

    def __cinit__(self, const int32_t[:, ::1] features, Py_ssize_t n_features):
        cdef Py_ssize_t i, n = features.shape[0] * features.shape[1]
        cdef int32_t feature
        cdef uint32_t[::1] ends
        if n > UINT32_MAX:
            raise ValueError(f"implicit: a table of features may have {UINT32_MAX} entries, got {n}")
        self.n_rows, self.n_columns, self.n_features = features.shape[0], features.shape[1], n_features
        ends = np.zeros(n_features + 2, np.uint32)
        self.positions = np.empty(n, np.uint32)
        self.ends = ends
        if not n:
            return
        self.features = &features[0, 0]
        for i in range(n):
            feature = self.features[i]
            if feature >= n_features:
                raise ValueError(f"implicit: a feature must be below {n_features}, got {feature}")
            if feature >= 0:
                ends[feature + 2] += 1
        for i in range(n_features):
            ends[i + 2] += ends[i + 1]
        for i in range(n):      # `ends[f + 1]` moves from the start of the positions of `f` to their end
            feature = self.features[i]
            if feature >= 0:
                self.positions[ends[feature + 1]] = <uint32_t> i
                ends[feature + 1] += 1


cdef struct GramJob:
    const int32_t *features     # shape (n_rows, n_columns); -1 for no feature
    const uint32_t *ends        # the positions of feature f are positions[ends[f]:ends[f + 1]]
    const uint32_t *positions
    const double *weights
    double *gram                # shape (n_features, n_features)
    uint32_t n_columns
    Py_ssize_t n_features
    bint is_mirrored


cdef void add_features(
    const void *any_job, Py_ssize_t feature, Py_ssize_t end, unsigned char *_workspace,
) noexcept nogil:
    """For each feature in [feature, end), add the weights of the rows that have it to its row of the Gram matrix.

    One thread adds all rows of a feature, in order, so that the sums do not depend on the number of threads.
    """
    cdef const GramJob *job = <const GramJob *> any_job
    cdef double *sums
    cdef double weight
    cdef Py_ssize_t i, other, n = job.n_features
    cdef uint32_t j, row, n_columns = job.n_columns
    for feature in range(feature, end):
        sums = job.gram + feature * n
        for i in range(job.ends[feature], job.ends[feature + 1]):
            row = job.positions[i] // n_columns
            weight = job.weights[row]
            sums[feature] += weight
            for j in range(job.positions[i] + 1, (row + 1) * n_columns):
                other = job.features[j]
                if other >= 0:
                    sums[other] += weight
                    if job.is_mirrored:
                        job.gram[other * n + feature] += weight


def add_gram(
    const int32_t[:, ::1] features, const double[::1] weights, double[:, ::1] gram, bint is_mirrored,
    int num_threads,
):
    """Add the upper triangle of the weighted Gram matrix of rows of ones to ``gram``, and its mirror image.

    ``features`` has the columns of the ones of each row, ascending; entries of -1 are skipped. No other thread may
    change ``features``. The mirror image is added only if ``is_mirrored``.
    """
    cdef Py_ssize_t n = gram.shape[0]
    cdef Occurrences found = Occurrences(features, n)
    cdef GramJob job
    if gram.shape[1] != n or features.shape[0] != weights.shape[0]:
        raise ValueError(f"implicit.add_gram: the arrays do not fit {features.shape[0]} rows and {n} features")
    if not n or not found.positions.shape[0]:
        return
    job = GramJob(
        found.features, &found.ends[0], &found.positions[0], &weights[0], &gram[0, 0], <uint32_t> found.n_columns,
        n, is_mirrored,
    )
    for_each_chunk(add_features, &job, n, max(n // 256, 1), 8 * features.size // n + 1, 0, num_threads)


def mirror(double[:, ::1] gram):
    """Copy the upper triangle of a square matrix to its lower triangle, tile by tile."""
    cdef Py_ssize_t n = gram.shape[0], i, j, top, left
    cdef double *values
    if gram.shape[1] != n:
        raise ValueError(f"implicit.mirror: the matrix must be square, got ({n}, {gram.shape[1]})")
    if not n:
        return
    values = &gram[0, 0]
    with nogil:
        for top in range(0, n, 32):     # tiles of 8 KiB
            for left in range(0, top + 1, 32):
                for i in range(top, min(top + 32, n)):
                    for j in range(left, min(left + 32, i)):
                        values[i * n + j] = values[j * n + i]


def sparse_gram(const int32_t[:, ::1] features, const double[::1] weights, Py_ssize_t n_features):
    """Return ``(data, indices, indptr)`` of the weighted Gram matrix of rows of ones, as CSR.

    ``features`` has the columns of the ones of each row, in any order; entries of -1 are skipped. The rows are
    added in order. The indices of a row are in the order in which they occur. The indices are int32 if they fit.
    """
    cdef Occurrences found = Occurrences(features, n_features)
    cdef Py_ssize_t n_columns = found.n_columns, feature, other, i, j, row, start, n = 0
    cdef int64_t[::1] ends = np.zeros(n_features + 1, np.int64)
    # For each feature: in the first loop, 1 + the last row of the result that has it; in the second, 1 + the place
    # of its last element in the result. Only the memory pages of features that occur are touched.
    cdef int64_t[::1] last = np.zeros(n_features, np.int64)
    cdef int32_t[::1] small
    cdef int64_t[::1] large
    cdef double[::1] values
    cdef double weight
    cdef bint is_small
    if features.shape[0] != weights.shape[0]:
        raise ValueError(f"implicit.sparse_gram: the arrays do not fit {features.shape[0]} rows")
    with nogil:
        for feature in range(n_features):
            for i in range(found.ends[feature], found.ends[feature + 1]):
                row = found.positions[i] // <uint32_t> n_columns
                for j in range(row * n_columns, (row + 1) * n_columns):
                    other = found.features[j]
                    if other >= 0 and last[other] != feature + 1:
                        last[other] = feature + 1
                        n += 1
            ends[feature + 1] = n
    is_small = max(n, n_features) <= INT32_MAX
    index = np.int32 if is_small else np.int64
    indices, data = np.empty(n, index), np.empty(n)
    small, large = (indices, None) if is_small else (None, indices)
    values = data
    last = np.zeros(n_features, np.int64)
    with nogil:
        for feature in range(n_features):
            n = start = ends[feature]
            for i in range(found.ends[feature], found.ends[feature + 1]):
                row = found.positions[i] // <uint32_t> n_columns
                weight = weights[row]
                for j in range(row * n_columns, (row + 1) * n_columns):
                    other = found.features[j]
                    if other < 0:
                        continue
                    if last[other] > start:
                        values[last[other] - 1] += weight
                        continue
                    if is_small:
                        small[n] = <int32_t> other
                    else:
                        large[n] = other
                    values[n] = weight
                    n += 1
                    last[other] = n
    return data, indices, np.asarray(ends).astype(index)
