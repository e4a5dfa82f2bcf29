/* A lock for state that threads share without a GIL: held for a few instructions, and free in a forked child.
 *
 * With a GIL it does nothing. A child has none of its parent's other threads, and would wait forever if one of them
 * held a lock. So a fork takes this lock first, and both processes release it: the child finds the state intact. No
 * Python function may be called while the lock is held. */
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

/* One for each module that includes this, which calls ohf_lock_over_forks() once. */
static pthread_mutex_t ohf_module_lock = PTHREAD_MUTEX_INITIALIZER;

static void ohf_lock(void) { pthread_mutex_lock(&ohf_module_lock); }
static void ohf_unlock(void) { pthread_mutex_unlock(&ohf_module_lock); }
static int ohf_lock_over_forks(void) { return pthread_atfork(ohf_lock, ohf_unlock, ohf_unlock); }

#endif
#endif
