"""OpenMP, or stubs of it: the only place that asks whether it is there."""

cdef extern from *:
    """
    #ifdef _OPENMP
    #  include <omp.h>
    #  define OHF_OPENMP _OPENMP
    #else
    #  define OHF_OPENMP 0
    #  define omp_get_max_threads() 1
    #  define omp_in_parallel() 0
    #endif
    """
    const int OHF_OPENMP
    int omp_get_max_threads() noexcept nogil
    int omp_in_parallel() noexcept nogil
