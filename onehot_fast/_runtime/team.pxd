"""OpenMP, or stubs of its functions if the compiler does not support OpenMP."""

cdef extern from "_runtime/team.h":
    const int OHF_OPENMP
    int ohf_child_alone
    int omp_get_max_threads() noexcept nogil
    int omp_get_thread_num() noexcept nogil
    int omp_in_parallel() noexcept nogil
    int ohf_watch_forks() noexcept nogil
    int ohf_can_start(int n_threads) noexcept nogil
    void ohf_note_team_start() noexcept nogil
    void ohf_note_team_end(double now, int workers) noexcept nogil
    void ohf_note_stall(double until) noexcept nogil
    double ohf_last_team_end() noexcept nogil
    int ohf_last_team_workers() noexcept nogil
    double ohf_stalled_until() noexcept nogil
