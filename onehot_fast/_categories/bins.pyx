# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Numbers → bins: of the columns of a matrix, each with sorted edges of its own."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.simd cimport OHF_EDGES_BLOCK, microkernels, ohf_microkernels

import numpy as np

from onehot_fast._runtime import memory, parallel

cnp.import_array()

cdef enum:
    CHUNK_NUMBERS = 1 << 16  # which one thread puts into bins
    CACHED_NUMBERS = 1 << 11  # of a few rows, whose columns lie beside each other
    WORK = 4  # finding the bin of a number takes at least as long as writing so many times its bytes

cdef struct Matrix:
    char *start
    Py_ssize_t row, column  # bytes to the next
    char kind
    int width

cdef struct Bins:
    const ohf_microkernels *microkernels
    Matrix values, out
    const double *edges
    const int64_t *starts  # of the edges of each column, and their end
    Py_ssize_t n_rows, n_columns, chunk_rows


cdef void load(const Matrix *source, Py_ssize_t row, Py_ssize_t column, int n, double *values) noexcept nogil:
    """Read some rows of a column."""
    cdef const char *cell = source.start + row * source.row + column * source.column
    cdef int i
    if source.width == sizeof(float):
        for i in range(n):
            values[i] = (<const float *> (cell + i * source.row))[0]
    else:
        for i in range(n):
            values[i] = (<const double *> (cell + i * source.row))[0]


cdef void store(const int32_t *bins, const Matrix *out, Py_ssize_t row, Py_ssize_t column, int n) noexcept nogil:
    """Write the bins of some rows of a column."""
    cdef char *cell = out.start + row * out.row + column * out.column
    cdef int i
    if out.kind == b"f" and out.width == sizeof(double):
        for i in range(n):
            (<double *> (cell + i * out.row))[0] = bins[i]
    elif out.kind == b"f":
        for i in range(n):
            (<float *> (cell + i * out.row))[0] = <float> bins[i]
    elif out.width == sizeof(uint8_t):
        for i in range(n):
            (<uint8_t *> (cell + i * out.row))[0] = <uint8_t> bins[i]
    elif out.width == sizeof(uint16_t):
        for i in range(n):
            (<uint16_t *> (cell + i * out.row))[0] = <uint16_t> bins[i]
    else:
        for i in range(n):
            (<int32_t *> (cell + i * out.row))[0] = bins[i]


cdef void bin_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Put the values of some rows into their bins."""
    cdef const Bins *job = <const Bins *> any_job
    cdef double values[OHF_EDGES_BLOCK]
    cdef int32_t bins[OHF_EDGES_BLOCK]
    cdef Py_ssize_t row = chunk * job.chunk_rows, end = min(row + job.chunk_rows, job.n_rows), column
    cdef Py_ssize_t block = max(CACHED_NUMBERS // job.n_columns, <Py_ssize_t> 16)
    cdef int n
    while row < end:
        n = <int> min(end - row, min(block, <Py_ssize_t> OHF_EDGES_BLOCK))
        for column in range(job.n_columns):
            load(&job.values, row, column, n, values)
            job.microkernels.count_edges(
                values, n, job.edges + job.starts[column], job.starts[column + 1] - job.starts[column], bins,
            )
            store(bins, &job.out, row, column, n)
        row += n


cdef Matrix matrix_of(cnp.ndarray array, str kinds, shape) except *:
    """Return where the elements of a matrix lie."""
    dtype = array.dtype
    if dtype.str[1:] not in kinds.split() or not (dtype.isnative and array.flags.aligned):
        raise TypeError(f"find_bins: {dtype} is not a native, aligned one of {kinds}")
    if array.ndim != 2 or (array.shape[0], array.shape[1]) != shape:
        raise ValueError(f"find_bins: the shape {(<object> array).shape} is not {shape}")
    return Matrix(
        <char *> cnp.PyArray_DATA(array), array.strides[0], array.strides[1], ord(dtype.kind), dtype.itemsize,
    )


def find_bins(cnp.ndarray values not None, list edges not None, dtype, by_column=False, num_threads=None):
    """Return how many of the edges of its column each value is not below.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_columns)
        Of any strides.
    edges : list of ndarray of float64, one for each column
        Sorted, without NaN. NaN among the values is above all.
    dtype : dtype
        Of the result: uint8, uint16, int32, float32 or float64, which must hold the number of edges.
    by_column : bool
        The elements of a column lie beside each other, and not those of a row.
    num_threads : int, optional
        As for `onehot_fast.one_hot`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Raises
    ------
    TypeError, ValueError
        An array has another dtype or shape.
    """
    cdef Bins job
    shape = (<object> values).shape[0], len(edges)
    cdef cnp.ndarray all_edges = np.concatenate([np.empty(0), *edges])
    cdef cnp.ndarray starts = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    if all_edges.dtype != np.float64:
        raise TypeError(f"find_bins: edges of {all_edges.dtype} are not float64")
    job.values = matrix_of(values, "f4 f8", shape)
    memory_of = memory.allocate(shape[::-1] if by_column else shape, np.dtype(dtype))[0]
    cdef cnp.ndarray out = memory_of.T if by_column else memory_of
    job.out = matrix_of(out, "u1 u2 i4 f4 f8", shape)
    job.edges = <const double *> cnp.PyArray_DATA(all_edges)
    job.starts = <const int64_t *> cnp.PyArray_DATA(starts)
    job.n_rows, job.n_columns = shape
    job.microkernels = microkernels()
    if job.n_rows > 0 and job.n_columns > 0:
        job.chunk_rows = max(CHUNK_NUMBERS // job.n_columns, <Py_ssize_t> 16)
        threads = parallel.resolve(num_threads, WORK * max(values.nbytes, out.nbytes))
        for_each_chunk(
            bin_chunk, &job, (job.n_rows + job.chunk_rows - 1) // job.chunk_rows,
            job.chunk_rows * job.n_columns * sizeof(double), threads,
        )
    return out
