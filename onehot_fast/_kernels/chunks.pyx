# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""The one parallel loop: independent chunks of work, dynamically scheduled, interruptible between slabs.

The GIL is released while chunks run. Every quarter of a gigabyte or so it is taken back to let Ctrl-C through:
seldom enough to cost nothing (a slab takes tens of milliseconds), often enough for a person.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange

from onehot_fast._kernels.openmp cimport OHF_OPENMP, omp_get_max_threads

cdef Py_ssize_t SLAB_BYTES = 256 << 20


cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_chunks, Py_ssize_t chunk_bytes, int num_threads,
) except -1:
    """Run ``work(job, chunk)`` for every chunk; chunks may run in any order and at the same time."""
    cdef Py_ssize_t slab = max(SLAB_BYTES // max(chunk_bytes, 1), 1)
    cdef Py_ssize_t begin = 0, end, chunk
    while begin < n_chunks:
        end = min(begin + slab, n_chunks)
        with nogil:
            if num_threads == 1 or end - begin == 1:
                # A team of one costs 2 microseconds more than this loop.
                for chunk in range(begin, end):
                    work(job, chunk)
            else:
                for chunk in prange(begin, end, schedule="dynamic", chunksize=1, num_threads=num_threads):
                    work(job, chunk)
        begin = end
        if begin < n_chunks:
            PyErr_CheckSignals()
    return 0


def openmp_version():
    """Return the date of the OpenMP standard the compiler follows (yyyymm), 0 without OpenMP."""
    return OHF_OPENMP


def max_threads():
    """Return OpenMP's own idea of how many threads to use: ``OMP_NUM_THREADS`` or the processors."""
    return omp_get_max_threads()
