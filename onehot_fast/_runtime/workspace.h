/* A workspace is memory that a call needs until it returns, and that is too large for the stack of a thread.
 *
 * A thread may have a stack of 16 KiB, so the stack frame of a kernel has at most 4 KiB. An allocation in each
 * call would slow down small calls. Each extension that includes this file therefore keeps up to two blocks of
 * memory. A call takes a block, and puts it back before it returns. Meanwhile no other call can take the block, so
 * no lock is needed. If a process forks while a call has a block, the child cannot use this block, and allocates
 * another one. */
#ifndef OHF_WORKSPACE_H
#define OHF_WORKSPACE_H

#include <stddef.h>
#include <stdlib.h>

#if !defined(__GNUC__)
#  include <intrin.h>
#endif

#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define OHF_EXACT_WORKSPACES 1
#  endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(OHF_EXACT_WORKSPACES)
#  define OHF_EXACT_WORKSPACES 1
#endif

/* A block that is kept may be larger than the request of a call. A sanitizer could then not see an access past the
 * end of the request, so a build with a sanitizer keeps no block. */
#if defined(OHF_EXACT_WORKSPACES)
#  define OHF_KEPT_BYTES ((size_t)0)
#else
#  define OHF_KEPT_BYTES ((size_t)64 << 10)     /* only long calls need more than this */
#endif

enum { OHF_KEPT_BLOCKS = 2 };

static void *ohf_kept[OHF_KEPT_BLOCKS];

/* Write the pointer `block` to `*place`, and return the pointer that was there, in one atomic step. */
static inline void *ohf_exchange(void **place, void *block)
{
#if defined(__GNUC__)
    return __atomic_exchange_n(place, block, __ATOMIC_ACQ_REL);
#else
    return _InterlockedExchangePointer(place, block);
#endif
}

/* Return n_bytes of memory with unknown content, aligned as by malloc, or NULL if there is no memory. */
static inline void *ohf_take_workspace(size_t n_bytes)
{
    if (n_bytes > OHF_KEPT_BYTES)
        return malloc(n_bytes);
    for (int i = 0; i < OHF_KEPT_BLOCKS; i++) {
        void *const block = ohf_exchange(&ohf_kept[i], NULL);
        if (block != NULL)
            return block;
    }
    return malloc(OHF_KEPT_BYTES);
}

/* Keep a block that ohf_take_workspace(n_bytes) returned for a later call, or free it. */
static inline void ohf_give_workspace(void *block, size_t n_bytes)
{
    for (int i = 0; n_bytes <= OHF_KEPT_BYTES && block != NULL && i < OHF_KEPT_BLOCKS; i++)
        block = ohf_exchange(&ohf_kept[i], block);
    free(block);
}

#endif
