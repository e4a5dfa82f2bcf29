# cython: language_level=3, freethreading_compatible=True
"""The teams of OpenMP threads: whether one can start, and what is known about the last one.

This module alone includes `team.h`, so that its variables exist once. `_kernels/chunks.pyx` contains the parallel
loop that the teams run.
"""

cdef extern from "_runtime/clock.h":
    double ohf_seconds() noexcept nogil

cdef extern from "_runtime/team.h":
    const int OHF_OPENMP
    int ohf_child_alone
    int omp_get_max_threads() noexcept nogil
    int omp_in_parallel() noexcept nogil
    int ohf_watch_forks() noexcept nogil
    int ohf_can_start(int n_threads) noexcept nogil
    void ohf_note_team_start() noexcept nogil
    void ohf_note_team_end(double now, int workers) noexcept nogil
    void ohf_note_stall(double until) noexcept nogil
    double ohf_last_team_end() noexcept nogil
    int ohf_last_team_workers() noexcept nogil
    double ohf_stalled_until() noexcept nogil

# When a team ends, its threads continue to spin (wait without sleep). In GNU OpenMP they spin for 300,000 pauses,
# which take 5 - 15 ms, depending on the processor.
cdef double SPIN_SECONDS = 0.015
cdef double SERIAL_SECONDS = 1.0        # after a stall, calls use one thread for this time


cdef bint can_start(int n_workers) noexcept nogil:
    """Tell whether this thread can start a team with ``n_workers`` other threads."""
    return not ohf_child_alone and ohf_can_start(n_workers)


cdef void note_start() noexcept nogil:
    """Remember that this process has started a team."""
    ohf_note_team_start()


cdef void note_end(double now, int n_workers) noexcept nogil:
    """Remember that a team with ``n_workers`` other threads ended at the time ``now``."""
    ohf_note_team_end(now, n_workers)


cdef void note_stall(double now) noexcept nogil:
    """Remember that the first thread of a team waited too long for the others."""
    ohf_note_stall(now + SERIAL_SECONDS)


def openmp_version():
    """Return the date of the OpenMP standard of the compiler (yyyymm), or 0 without OpenMP."""
    return OHF_OPENMP


def max_threads():
    """Return how many threads OpenMP would use now (1 inside a parallel region)."""
    return 1 if omp_in_parallel() or ohf_child_alone else omp_get_max_threads()


def spinning_workers():
    """Return how many threads of the last team may still be spinning (waiting without sleep)."""
    return ohf_last_team_workers() if ohf_seconds() - ohf_last_team_end() < SPIN_SECONDS else 0


def was_stalled():
    """Tell whether the first thread of a team waited too long for the others in the last second."""
    return ohf_seconds() < ohf_stalled_until()


if ohf_watch_forks() != 0:
    raise ImportError("onehot_fast: pthread_atfork failed")
