/* Functions that get pages of memory from the operating system, huge pages if it has them. */
#ifndef OHF_PAGES_H
#define OHF_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define OHF_HUGE_PAGE ((size_t)2 << 20)

#if defined(__unix__) || defined(__APPLE__)
#  include <sys/mman.h>
#  ifndef MAP_ANONYMOUS
#    define MAP_ANONYMOUS MAP_ANON
#  endif

/* Return `size` bytes of zeros, or NULL if the operating system refuses. `size` is a multiple of the size of a
 * page. If the caller will fill the memory (is_filled), ask for huge pages: the system then maps and clears 2 MiB
 * at the first access, instead of one small page. */
static void *ohf_pages_map(size_t size, int is_filled)
{
    const size_t slack = is_filled && size >= OHF_HUGE_PAGE ? OHF_HUGE_PAGE : 0;
    size_t head;
    char *block;
    if (size > SIZE_MAX - slack)
        return NULL;
    block = (char *)mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == (char *)MAP_FAILED)
        return NULL;
    if (slack == 0)
        return block;
    head = (size_t)(-(uintptr_t)block & (OHF_HUGE_PAGE - 1));
    if (head > 0)
        munmap(block, head);
    if (slack > head)
        munmap(block + head + size, slack - head);
#  ifdef MADV_HUGEPAGE
    /* A program fills new memory at 4 - 9 GB/s with huge pages, and at 0.6 - 1.9 GB/s without them. If the system
     * has none, small pages work, too, so the result of madvise is ignored. */
    (void)madvise(block + head, size, MADV_HUGEPAGE);
#  endif
    return block + head;
}

/* Return a block of memory to the operating system. */
static void ohf_pages_unmap(void *block, size_t size)
{
    munmap(block, size);
}

/* Let the operating system take the pages of a block when it needs memory. The content of the block is lost. The
 * caller may use the block again: a page that a program has written to stays. */
static void ohf_pages_allow_reclaim(void *block, size_t size)
{
#  ifdef MADV_FREE
    (void)madvise(block, size, MADV_FREE);
#  else
    (void)block;
    (void)size;
#  endif
}

#else

#  include <windows.h>

static void *ohf_pages_map(size_t size, int is_filled)
{
    (void)is_filled;
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static void ohf_pages_unmap(void *block, size_t size)
{
    (void)size;
    VirtualFree(block, 0, MEM_RELEASE);
}

static void ohf_pages_allow_reclaim(void *block, size_t size)
{
    (void)block;
    (void)size;
}

#endif
#endif
