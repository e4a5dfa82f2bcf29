/* Random numbers and memory for the tests, on POSIX systems and on Windows: aligned to 64 bytes, or between two pages
 * without access. */
#ifndef OHF_TESTS_GUARDED_PAGES_H
#define OHF_TESTS_GUARDED_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252u;

/* Return a random number below a limit, or any of 64 bits for 0. */
static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (state >> 11) % below : state;
}

#define PICK(ARRAY) (ARRAY)[draw(sizeof(ARRAY) / sizeof *(ARRAY))]

#ifdef _WIN32
#include <malloc.h>
#include <windows.h>

static inline void *allocate_aligned(size_t n_bytes) { return _aligned_malloc(n_bytes, 64); }
static inline void free_aligned(void *memory) { _aligned_free(memory); }

static inline size_t page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* Return a page without access, `inside` bytes of pages to use, and another page without access; or NULL. */
static inline uint8_t *map_guarded(size_t inside)
{
    const size_t page = page_size();
    uint8_t *pages = VirtualAlloc(NULL, inside + 2 * page, MEM_RESERVE, PAGE_NOACCESS);
    if (pages == NULL || VirtualAlloc(pages + page, inside, MEM_COMMIT, PAGE_READWRITE) == NULL)
        return NULL;
    return pages;
}

static inline void unmap_guarded(uint8_t *pages, size_t inside)
{
    (void)inside;
    VirtualFree(pages, 0, MEM_RELEASE);
}
#else
#include <sys/mman.h>
#include <unistd.h>

static inline void *allocate_aligned(size_t n_bytes) { return aligned_alloc(64, n_bytes); }
static inline void free_aligned(void *memory) { free(memory); }
static inline size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static inline uint8_t *map_guarded(size_t inside)
{
    const size_t page = page_size();
    uint8_t *pages = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, inside, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return pages;
}

static inline void unmap_guarded(uint8_t *pages, size_t inside) { munmap(pages, inside + 2 * page_size()); }
#endif

#endif
