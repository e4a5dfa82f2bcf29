/* The differences between compilers and processors, in one place for all C files.
 *
 * OHF_ISA_* name the instruction sets for which foreach_isa.inc can compile a file. */
#ifndef OHF_ISA_H
#define OHF_ISA_H

#include <stdint.h>

#if defined(__GNUC__) && defined(__x86_64__)
#  include <immintrin.h>
#  define OHF_X86 1
#  define OHF_ARM 0
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__AARCH64EB__)
#  include <arm_neon.h>
#  define OHF_X86 0
#  define OHF_ARM 1
#else
#  define OHF_X86 0
#  define OHF_ARM 0
#endif

/* Each instruction set is one bit, so that a file can choose several of them. */
#define OHF_ISA_PLAIN 1      /* C without vector instructions, for every processor */
#define OHF_ISA_SSE2 2       /* every x86-64 processor has it */
#define OHF_ISA_AVX2 4
#define OHF_ISA_AVX512 8
#define OHF_ISA_NEON 16      /* every aarch64 processor has it */
#define OHF_ISA_AES 32       /* AVX2 and the instructions for AES */

/* Make the earlier stores of this thread, which may have bypassed the caches, visible to other threads before its
 * later stores. */
static inline void ohf_store_fence(void)
{
#if OHF_X86
    _mm_sfence();
#endif
}

#if defined(__GNUC__)
#  define OHF_INLINE static inline __attribute__((always_inline))
#  define OHF_NOINLINE static __attribute__((noinline))   /* for a large function that many callers share */
#  define OHF_LIKELY(x) __builtin_expect(!!(x), 1)
#  define OHF_PREFETCH(p) __builtin_prefetch(p)
#  define OHF_RESTRICT restrict
#else
#  define OHF_INLINE static __inline
#  define OHF_NOINLINE static
#  define OHF_LIKELY(x) (x)
#  define OHF_PREFETCH(p) ((void)(p))
#  define OHF_RESTRICT __restrict
#endif
/* Prefetch the memory n_bytes behind `p`. The address may be invalid, because a prefetch cannot fail. */
#define OHF_PREFETCH_AT(p, n_bytes) OHF_PREFETCH((const void *)((uintptr_t)(p) + (uintptr_t)(n_bytes)))

/* Functions between OHF_BEGIN_TARGET("avx2,bmi") and OHF_END_TARGET may use these instructions. All other
 * functions are compiled for the oldest processor of the platform, so that no processor runs an instruction that
 * it lacks. */
#define OHF_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#  define OHF_BEGIN_TARGET(features) \
    OHF_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#  define OHF_END_TARGET _Pragma("clang attribute pop")
#elif defined(__GNUC__)
#  define OHF_BEGIN_TARGET(features) _Pragma("GCC push_options") OHF_PRAGMA(GCC target(features))
#  define OHF_END_TARGET _Pragma("GCC pop_options")
#endif

/* A file that is compiled once for each instruction set writes OHF(name) for every name of its own. The result ends
 * with the name of the set, for example `name_avx2`. OHF_NAME is the name of the set as a string. */
#define OHF_PASTE(name, suffix) name##_##suffix
#define OHF_JOIN(name, suffix) OHF_PASTE(name, suffix)
#define OHF(name) OHF_JOIN(name, OHF_SUFFIX)
#define OHF_QUOTE(text) #text
#define OHF_STRING(text) OHF_QUOTE(text)
#define OHF_NAME OHF_STRING(OHF_SUFFIX)

#endif
