# cython: language_level=3, wraparound=False, freethreading_compatible=True
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
    OHF_OPENMP, ohf_can_start, ohf_child_alone, ohf_last_team_end, ohf_last_team_workers, ohf_note_stall,
    ohf_note_team_end, ohf_note_team_start, ohf_stalled_until, ohf_watch_forks, omp_get_max_threads,
    omp_get_thread_num, omp_in_parallel,
)

cdef extern from "clock.h":
    double ohf_seconds() noexcept nogil

cdef Py_ssize_t SLAB_BYTES = 256 << 20

# A team's threads spin after its end, 300,000 pauses in GNU OpenMP: 5 - 15 ms by processor.
cdef double SPIN_SECONDS = 0.015
# A first thread that waits this long for the others is on a busy machine: chunks of up to 4 MiB take 0.01 - 0.2
# ms where memory is warm, and 2 ms where it is fresh.
cdef double STALL_SECONDS = 0.004
cdef Py_ssize_t STALL_CHUNK_BYTES = 4 << 20
cdef double SERIAL_SECONDS = 1.0


cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_chunks, Py_ssize_t chunk_bytes, int num_threads,
) except -1:
    """Run ``work(job, chunk)`` for every chunk; chunks may run in any order and at the same time."""
    cdef Py_ssize_t slab = max(SLAB_BYTES // max(chunk_bytes, 1), 1)
    cdef Py_ssize_t begin = 0, end, alone, chunk
    cdef int team
    cdef double first_done, now
    while begin < n_chunks:
        end = min(begin + slab, n_chunks)
        team = <int> min(<Py_ssize_t> num_threads, end - begin)
        # The parallel loop stands where Cython knows that the GIL is released. In a nogil function it would ask
        # Python, whose answer is always yes once there was a second interpreter.
        with nogil:
            if team <= 1 or ohf_child_alone or not ohf_can_start(team - 1):
                # A team of one costs 2 microseconds more than this loop.
                for alone in range(begin, end):
                    work(job, alone)
            else:
                first_done = ohf_seconds()
                ohf_note_team_start()
                for chunk in prange(begin, end, schedule="dynamic", chunksize=1, num_threads=team):
                    work(job, chunk)
                    if omp_get_thread_num() == 0:
                        (&first_done)[0] = ohf_seconds()
                now = ohf_seconds()
                ohf_note_team_end(now, team - 1)
                # Whether the first of even chunks' threads had to wait for the others.
                if chunk_bytes <= STALL_CHUNK_BYTES and now - first_done > STALL_SECONDS:
                    ohf_note_stall(now + SERIAL_SECONDS)
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
    return ohf_last_team_workers() if ohf_seconds() - ohf_last_team_end() < SPIN_SECONDS else 0


def was_stalled():
    """Tell whether a team had to wait for its threads within the last second."""
    return ohf_seconds() < ohf_stalled_until()


if ohf_watch_forks() != 0:
    raise ImportError("onehot_fast: pthread_atfork failed")
