/* Memory that a call needs until it returns, too large for the stack of a thread.
 *
 * A thread may have a stack of 16 KiB, so the frame of a kernel has at most 4 KiB. Small calls must not pay for an
 * allocation: each module that includes this keeps a few blocks, which calls take and give back. A block belongs to
 * the thread that took it, so no lock is needed, and a child that was forked meanwhile lacks this block only. */
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

/* A sanitizer must see the end of what was asked for: then nothing is kept. */
#if defined(OHF_EXACT_WORKSPACES)
#  define OHF_KEPT_BYTES ((size_t)0)
#else
#  define OHF_KEPT_BYTES ((size_t)64 << 10)     /* larger ones are needed by several threads, or for many columns */
#endif

enum { OHF_KEPT_BLOCKS = 2 };

static void *ohf_kept[OHF_KEPT_BLOCKS];

static inline void *ohf_exchange(void **place, void *block)
{
#if defined(__GNUC__)
    return __atomic_exchange_n(place, block, __ATOMIC_ACQ_REL);
#else
    return _InterlockedExchangePointer(place, block);
#endif
}

/* Memory of unknown content, aligned as malloc does it; NULL if there is none. */
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

/* Return a workspace of `n_bytes`. */
static inline void ohf_give_workspace(void *block, size_t n_bytes)
{
    for (int i = 0; n_bytes <= OHF_KEPT_BYTES && block != NULL && i < OHF_KEPT_BLOCKS; i++)
        block = ohf_exchange(&ohf_kept[i], block);
    free(block);
}

#endif
