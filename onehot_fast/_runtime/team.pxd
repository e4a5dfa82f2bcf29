"""The teams of OpenMP threads, for the parallel loop."""

cdef bint can_start(int n_workers) noexcept nogil
cdef void note_start() noexcept nogil
cdef void note_end(double now, int n_workers) noexcept nogil
cdef void note_stall(double now) noexcept nogil
