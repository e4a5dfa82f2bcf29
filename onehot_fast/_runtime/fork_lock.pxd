"""The lock of fork_lock.h as Cython sees it; each module that uses it has a lock of its own."""

cdef extern from "_runtime/fork_lock.h":
    void ohf_lock() noexcept nogil
    void ohf_unlock() noexcept nogil
    int ohf_lock_over_forks() noexcept nogil
