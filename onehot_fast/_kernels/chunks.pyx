# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""The one parallel loop: independent chunks of work, dynamically scheduled, interruptible between slabs.

The GIL is released while chunks run. Every quarter of a gigabyte or so it is taken back to let Ctrl-C through:
seldom enough to cost nothing (a slab takes tens of milliseconds), often enough for a person.

A team ends with a barrier, and on a busy machine the barrier waits until the system has run every thread once:
8 - 40 ms were measured for work of 0.03 ms. So each team is watched, and one that kept its first thread waiting
sends the following calls to one thread for a while.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange

from onehot_fast._kernels.openmp cimport (
    OHF_OPENMP, ohf_child_alone, ohf_note_team, ohf_watch_forks, omp_get_max_threads, omp_get_thread_num,
    omp_in_parallel,
)

cdef extern from "clock.h":
    double ohf_seconds() noexcept nogil

cdef Py_ssize_t SLAB_BYTES = 256 << 20

# A team's threads spin after its end, 300,000 pauses in GNU OpenMP: 5 - 15 ms by processor.
cdef double SPIN_SECONDS = 0.015
# A first thread that waits this long for the others is on a busy machine: chunks take 0.01 - 0.2 ms.
cdef double STALL_SECONDS = 0.002
cdef double SERIAL_SECONDS = 1.0

cdef double team_end = -1e9      # when the last team ended, and how many threads it had beside the first
cdef int team_workers = 0
cdef double serial_until = -1e9


cdef void run_team(
    chunk_work work, const void *job, Py_ssize_t begin, Py_ssize_t end, int num_threads,
) noexcept nogil:
    """Run chunks on a team, and note whether its first thread had to wait for the others."""
    global team_end, team_workers, serial_until
    cdef Py_ssize_t chunk
    cdef double first_done = ohf_seconds()
    ohf_note_team()
    for chunk in prange(begin, end, schedule="dynamic", chunksize=1, num_threads=num_threads):
        work(job, chunk)
        if omp_get_thread_num() == 0:
            (&first_done)[0] = ohf_seconds()
    team_end = ohf_seconds()
    team_workers = num_threads - 1
    if team_end - first_done > STALL_SECONDS:
        serial_until = team_end + SERIAL_SECONDS


cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_chunks, Py_ssize_t chunk_bytes, int num_threads,
) except -1:
    """Run ``work(job, chunk)`` for every chunk; chunks may run in any order and at the same time."""
    cdef Py_ssize_t slab = max(SLAB_BYTES // max(chunk_bytes, 1), 1)
    cdef Py_ssize_t begin = 0, end, chunk
    while begin < n_chunks:
        end = min(begin + slab, n_chunks)
        with nogil:
            if num_threads == 1 or end - begin == 1 or ohf_child_alone:
                # A team of one costs 2 microseconds more than this loop.
                for chunk in range(begin, end):
                    work(job, chunk)
            else:
                run_team(work, job, begin, end, num_threads)
        begin = end
        if begin < n_chunks:
            PyErr_CheckSignals()
    return 0


def openmp_version():
    """Return the date of the OpenMP standard the compiler follows (yyyymm), 0 without OpenMP."""
    return OHF_OPENMP


def max_threads():
    """Return OpenMP's own idea of how many threads to use now: 1 inside a parallel region of anybody's."""
    return 1 if omp_in_parallel() or ohf_child_alone else omp_get_max_threads()


def spinning_workers():
    """Return how many threads of the last team may still be spinning."""
    return team_workers if ohf_seconds() - team_end < SPIN_SECONDS else 0


def was_stalled():
    """Tell whether a team had to wait for its threads within the last second."""
    return ohf_seconds() < serial_until


if ohf_watch_forks() != 0:
    raise ImportError("onehot_fast: pthread_atfork failed")
