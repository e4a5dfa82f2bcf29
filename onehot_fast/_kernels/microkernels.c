/* The variants of the microkernels, each compiled for its own instruction set, and the choice among them.
 *
 * The file is compiled for the baseline of the platform. A variant raises the target for its own functions only: other
 * instructions never run before the processor is known. Compilers without that pragma build the plain variant, and the
 * baseline's vector variant if its intrinsics need no flag. */
#include "microkernels.h"
#include "_runtime/once.h"

#include <string.h>

#if defined(__linux__)
#  include <stdio.h>
#elif defined(__APPLE__)
#  include <sys/sysctl.h>
#endif

#define OHF_ISA_PLAIN 0
#define OHF_ISA_SSE2 1
#define OHF_ISA_AVX2 2
#define OHF_ISA_AVX512 3
#define OHF_ISA_NEON 4

#if defined(__GNUC__) && defined(__x86_64__)
#  include <immintrin.h>
#  define OHF_X86 1
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__AARCH64EB__)
#  include <arm_neon.h>
#  define OHF_ARM 1
#endif

#if defined(__GNUC__)
#  define OHF_INLINE static inline __attribute__((always_inline))
#else
#  define OHF_INLINE static __inline
#  define restrict __restrict
#endif

/* Run CALL with W a constant, so that stores have a constant size; OTHER for any other width. */
#define OHF_EACH_WIDTH(WIDTH, CALL, OTHER)                \
    switch (WIDTH) {                                      \
    case 1: { enum { W = 1 }; CALL; break; }              \
    case 2: { enum { W = 2 }; CALL; break; }              \
    case 4: { enum { W = 4 }; CALL; break; }              \
    case 8: { enum { W = 8 }; CALL; break; }              \
    case 16: { enum { W = 16 }; CALL; break; }            \
    default: OTHER;                                       \
    }

/* Repeat an element over memory: once by hand, then by doubling up to a page, then page by page. */
static void ohf_fill_pattern(unsigned char *out, size_t n_bytes, const unsigned char *element, size_t width)
{
    size_t done = width;
    if (n_bytes == 0)
        return;
    memcpy(out, element, width);
    while (done < n_bytes) {
        const size_t reach = done < 4096 ? done : 4096 - 4096 % width + (width > 4096 ? width : 0);
        const size_t step = n_bytes - done < reach ? n_bytes - done : reach;
        memcpy(out + done, out, step);
        done += step;
    }
}

#define OHF_ISA OHF_ISA_PLAIN
#define OHF_NAME "plain"
#define OHF(name) name##_plain
#include "microkernels_body.h"
#undef OHF_ISA
#undef OHF_NAME
#undef OHF

#ifdef OHF_X86

#define OHF_ISA OHF_ISA_SSE2
#define OHF_NAME "sse2"
#define OHF(name) name##_sse2
#include "microkernels_body.h"
#undef OHF_ISA
#undef OHF_NAME
#undef OHF

#ifdef __clang__
#  pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#  pragma GCC push_options
#  pragma GCC target("avx2,bmi,bmi2")
#endif
#define OHF_ISA OHF_ISA_AVX2
#define OHF_NAME "avx2"
#define OHF(name) name##_avx2
#include "microkernels_body.h"
#undef OHF_ISA
#undef OHF_NAME
#undef OHF
#ifdef __clang__
#  pragma clang attribute pop
#  pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl"))), \
                               apply_to = function)
#else
#  pragma GCC pop_options
#  pragma GCC push_options
#  pragma GCC target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
#define OHF_ISA OHF_ISA_AVX512
#define OHF_NAME "avx512"
#define OHF(name) name##_avx512
#include "microkernels_body.h"
#undef OHF_ISA
#undef OHF_NAME
#undef OHF
#ifdef __clang__
#  pragma clang attribute pop
#else
#  pragma GCC pop_options
#endif

#endif /* OHF_X86 */

#ifdef OHF_ARM
#define OHF_ISA OHF_ISA_NEON
#define OHF_NAME "neon"
#define OHF(name) name##_neon
#include "microkernels_body.h"
#undef OHF_ISA
#undef OHF_NAME
#undef OHF
#endif

int ohf_variants(const ohf_microkernels **found, int room)
{
    const ohf_microkernels *all[4];
    int n = 0;
#ifdef OHF_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("bmi2"))
        all[n++] = &microkernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        all[n++] = &microkernels_avx2;
    all[n++] = &microkernels_sse2;
#endif
#ifdef OHF_ARM
    all[n++] = &microkernels_neon;
#endif
    all[n++] = &microkernels_plain;
    if (n > room)
        n = room;
    memcpy(found, all, (size_t)n * sizeof *found);
    return n;
}

#if defined(__linux__)
/* The size of the cache at `index` of the first processor, as the kernel tells it: "32768K". sysconf multiplies
 * by wrong counts in some virtual machines (320 MiB reported for 32 MiB). */
static long ohf_sysfs_cache(int index)
{
    char path[64], unit = 'K';
    long size = 0;
    FILE *file;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld%c", &size, &unit) < 1)
        size = 0;
    fclose(file);
    return unit == 'M' ? size << 20 : size << 10;
}
#endif

static size_t ohf_cache_bytes(void)
{
    long bytes = 0;
#if defined(__linux__)
    bytes = ohf_sysfs_cache(3);
    if (bytes <= 0)
        bytes = ohf_sysfs_cache(2);
#elif defined(__APPLE__)
    int64_t size = 0;
    size_t room = sizeof size;
    if (sysctlbyname("hw.perflevel0.l2cachesize", &size, &room, NULL, 0) == 0
        || sysctlbyname("hw.l3cachesize", &size, &room, NULL, 0) == 0)
        bytes = (long)size;
#endif
    return bytes > 0 ? (size_t)bytes : (size_t)32 << 20;
}

size_t ohf_stream_bytes(void)
{
    const size_t half = ohf_cache_bytes() / 2, most = (size_t)16 << 20;
    return half < most ? half : most;
}
