/* A lock for state that threads share in a Python without a GIL. With a GIL it does nothing.
 *
 * A forked child has no other threads of its parent. If one of them held a lock during the fork, the child would wait
 * for it forever. Therefore a fork takes this lock first, and then parent and child release it, so that the child finds
 * the state complete. A thread holds the lock for a few instructions, in which it calls no Python function. */
#ifndef OHF_FORK_LOCK_H
#define OHF_FORK_LOCK_H

#include <Python.h>    /* defines Py_GIL_DISABLED */

#if !defined(Py_GIL_DISABLED)

static inline void ohf_lock(void) {}
static inline void ohf_unlock(void) {}
static inline int ohf_lock_over_forks(void) { return 0; }

#elif defined(_WIN32)
#  include <windows.h>

static SRWLOCK ohf_module_lock = SRWLOCK_INIT;

static inline void ohf_lock(void) { AcquireSRWLockExclusive(&ohf_module_lock); }
static inline void ohf_unlock(void) { ReleaseSRWLockExclusive(&ohf_module_lock); }
static inline int ohf_lock_over_forks(void) { return 0; }

#else
#  include <pthread.h>

/* Each extension that includes this file has a lock of its own, and calls ohf_lock_over_forks() once. */
static pthread_mutex_t ohf_module_lock = PTHREAD_MUTEX_INITIALIZER;

static void ohf_lock(void) { pthread_mutex_lock(&ohf_module_lock); }
static void ohf_unlock(void) { pthread_mutex_unlock(&ohf_module_lock); }
static int ohf_lock_over_forks(void) { return pthread_atfork(ohf_lock, ohf_unlock, ohf_unlock); }

#endif
#endif
