/* The lock of what several threads share without a GIL: held for some instructions, and free in a child after a fork.

   With a GIL it is nothing: the GIL is that lock. A child has none of its parent's other threads, and would wait for
   ever for a lock that one of them held, or was just given. So a fork takes this lock first, and both processes
   open it afterwards: the child finds what it guards whole. No fork waits long for it, and no thread that has it waits
   for anything, as long as no function of Python is called while it is held. */
#ifndef OHF_FORK_LOCK_H
#define OHF_FORK_LOCK_H

#if !defined(Py_GIL_DISABLED)

static inline void ohf_lock(void) {}
static inline void ohf_unlock(void) {}
static inline int ohf_lock_over_forks(void) { return 0; }

#elif defined(_WIN32)
#  include <windows.h>

static SRWLOCK ohf_module_lock = SRWLOCK_INIT;

static __inline void ohf_lock(void) { AcquireSRWLockExclusive(&ohf_module_lock); }
static __inline void ohf_unlock(void) { ReleaseSRWLockExclusive(&ohf_module_lock); }
static __inline int ohf_lock_over_forks(void) { return 0; }

#else
#  include <pthread.h>

/* One for each module that includes this, which calls ohf_lock_over_forks() once. */
static pthread_mutex_t ohf_module_lock = PTHREAD_MUTEX_INITIALIZER;

static void ohf_lock(void) { pthread_mutex_lock(&ohf_module_lock); }
static void ohf_unlock(void) { pthread_mutex_unlock(&ohf_module_lock); }
static int ohf_lock_over_forks(void) { return pthread_atfork(ohf_lock, ohf_unlock, ohf_unlock); }

#endif
#endif
