/* The microkernels are compiled once for each instruction set, and a variant is chosen at run time.
 *
 * The compiler compiles this file for the oldest processor of the platform. foreach_isa.inc allows more
 * instructions only in the functions of one variant, so that no processor runs an instruction that it lacks. */
#include "isa.h"
#include "microkernels.h"
#include "_runtime/once.h"

#include <string.h>

#if defined(__linux__)
#  include <stdio.h>
#elif defined(__APPLE__)
#  include <sys/sysctl.h>
#endif

/* Run CALL, in which the constant W is the width of an element in bytes, so that each store has a constant size.
 * Run OTHER if the width is not 1, 2, 4, 8 or 16. */
#define OHF_EACH_WIDTH(WIDTH, CALL, OTHER)     \
    switch (WIDTH) {                           \
    case 1: { enum { W = 1 }; CALL; break; }   \
    case 2: { enum { W = 2 }; CALL; break; }   \
    case 4: { enum { W = 4 }; CALL; break; }   \
    case 8: { enum { W = 8 }; CALL; break; }   \
    case 16: { enum { W = 16 }; CALL; break; } \
    default: OTHER;                            \
    }

#if OHF_X86 || OHF_ARM
/* 64 bytes of 0, then 64 bytes of 255. A vector that is loaded from the place 64 - i is a mask of all bytes from
 * byte i on. */
static const unsigned char ohf_late[128] = {[64 ... 127] = 255};
#endif

/* Fill memory with copies of one element: copy it once, then double the copies up to a page, then copy the page. */
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

#define OHF_ISA_FILE "_kernels/microkernels.isa.inc"
#define OHF_ISA_SETS (OHF_ISA_PLAIN | OHF_ISA_SSE2 | OHF_ISA_AVX2 | OHF_ISA_AVX512 | OHF_ISA_NEON)
#include "_kernels/foreach_isa.inc"

int ohf_variants(const ohf_microkernels **found, int room)
{
    const ohf_microkernels *all[4];
    int n = 0;
#if OHF_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("bmi2"))
        all[n++] = &microkernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        all[n++] = &microkernels_avx2;
    all[n++] = &microkernels_sse2;
#endif
#if OHF_ARM
    all[n++] = &microkernels_neon;
#endif
    all[n++] = &microkernels_plain;
    if (n > room)
        n = room;
    memcpy(found, all, (size_t)n * sizeof *found);
    return n;
}

#if defined(__linux__)
/* Return the size of a cache of the first processor in bytes, or 0. Linux writes it to a file as "32768K". sysconf is
 * wrong in some virtual machines: it returned 320 MiB for a cache of 32 MiB. */
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

/* Return the size of the last-level cache in bytes, or 32 MiB if the system does not tell it. */
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
