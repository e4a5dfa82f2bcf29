/* How to read memory that another thread may change at any time.
 *
 * A compiler may load a value twice: once to compare it with a limit, and once to use it. These macros prevent this. */
#ifndef OHF_ONCE_H
#define OHF_ONCE_H

#include <stdint.h>

#if defined(__GNUC__)
/* Make the compiler forget what it knows about the content of this memory. */
#  define OHF_FORGET(MEMORY) __asm__ volatile("" : : "r"(MEMORY) : "memory")
/* Make the compiler forget from where it loaded a value, so that it uses the copy that it has compared. */
#  define OHF_KEEP(INTEGER) __asm__("" : "+r"(INTEGER))
#  define OHF_KEEP_VECTOR(VECTOR) __asm__("" : "+x"(VECTOR))   /* the value is a vector register of x86 */
#else
#  include <intrin.h>
#  define OHF_FORGET(MEMORY) _ReadWriteBarrier()
#  define OHF_KEEP(INTEGER) _ReadWriteBarrier()
#endif

/* Return an integer. The compiler must not load it from memory again when the caller uses the result. */
static inline uint64_t ohf_once(uint64_t integer)
{
    OHF_KEEP(integer);
    return integer;
}

/* Set a flag to 1. Several threads may do this at the same time. */
static inline void ohf_set_flag(int *flag)
{
#if defined(__GNUC__)
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
#else
    *(volatile int *)flag = 1;
#endif
}

#endif
