/* Memory that another thread may change: the compiler must not read a value twice. */
#ifndef OHF_ONCE_H
#define OHF_ONCE_H

#include <stdint.h>

#if defined(__GNUC__)
/* The compiler forgets the content of this memory: it may have changed. */
#  define OHF_FORGET(MEMORY) __asm__ volatile("" : : "r"(MEMORY) : "memory")
/* The compiler forgets the source of this integer: the compared value is the one that is used. */
#  define OHF_KEEP(INTEGER) __asm__("" : "+r"(INTEGER))
#  define OHF_KEEP_VECTOR(VECTOR) __asm__("" : "+x"(VECTOR))   /* x86 */
#else
#  include <intrin.h>
#  define OHF_FORGET(MEMORY) _ReadWriteBarrier()
#  define OHF_KEEP(INTEGER) _ReadWriteBarrier()
#endif

static inline uint64_t ohf_once(uint64_t integer)
{
    OHF_KEEP(integer);
    return integer;
}

#endif
