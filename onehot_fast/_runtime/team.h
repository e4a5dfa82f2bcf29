/* Teams of threads: OpenMP, or stubs of its functions if the compiler does not support it.
 *
 * Only `team.pyx` includes this file, because the variables below must exist once in a process: each extension
 * that includes the file has its own copies. */
#ifndef OHF_TEAM_H
#define OHF_TEAM_H

#ifdef _OPENMP
#  include <omp.h>
#  define OHF_OPENMP _OPENMP
#else
#  define OHF_OPENMP 0
#  define omp_get_max_threads() 1
#  define omp_in_parallel() 0
#endif

/* GNU OpenMP keeps the threads of a team, which wait for the next parallel region. A forked child has a copy of
 * the team without these threads, and its next region would wait for them forever. Therefore the parent ends the
 * team before each fork, which takes 30 us, and the child can start a new one. If there was a team (ohf_team_seen)
 * and the runtime cannot end it, ohf_child_alone makes the child use one thread. */
static int ohf_team_seen = 0, ohf_child_alone = 0;

/* Hints for the decision to start a team: when the last team ended and how many workers it had, and until when a
 * thread shall start no team. Threads read and write these variables without a lock, because a lost hint only
 * costs time. */
#if defined(__GNUC__)
#  define OHF_GET(value, hint) __atomic_load(&(hint), &(value), __ATOMIC_RELAXED)
#  define OHF_PUT(hint, value) __atomic_store(&(hint), &(value), __ATOMIC_RELAXED)
#else
#  define OHF_GET(value, hint) ((value) = (hint))
#  define OHF_PUT(hint, value) ((hint) = (value))
#endif
static double ohf_team_end = -1e9, ohf_serial_until = -1e9;
static int ohf_team_workers = 0;

/* Remember that this process has started a team of threads. */
static inline void ohf_note_team_start(void)
{
    int yes = 1;
    OHF_PUT(ohf_team_seen, yes);
}

/* Remember that a team of `workers` threads ended at the time `now`, in seconds. */
static inline void ohf_note_team_end(double now, int workers)
{
    OHF_PUT(ohf_team_end, now);
    OHF_PUT(ohf_team_workers, workers);
}

/* Ask all threads to work without a team until the time `until`, in seconds. */
static inline void ohf_note_stall(double until)
{
    OHF_PUT(ohf_serial_until, until);
}

static inline double ohf_last_team_end(void)
{
    double end;
    OHF_GET(end, ohf_team_end);
    return end;
}

static inline int ohf_last_team_workers(void)
{
    int workers;
    OHF_GET(workers, ohf_team_workers);
    return workers;
}

static inline double ohf_stalled_until(void)
{
    double until;
    OHF_GET(until, ohf_serial_until);
    return until;
}

#if defined(_OPENMP) && defined(__GNUC__) && (defined(__unix__) || defined(__APPLE__))
#  include <pthread.h>
#  include <stdlib.h>
#  pragma weak omp_pause_resource_all
static __thread int ohf_team_paused = 0;   /* 1 if this thread has ended its team before the fork */

/* If the operating system cannot start a thread, GNU OpenMP ends the process. Therefore ohf_can_start, which runs
 * before a team starts, starts and ends the same number of threads as a test. The C library keeps their stacks for
 * the team. */
enum { OHF_MAX_PROBED = 1023 };
static __thread int ohf_probed = 0;        /* the number of other threads that this thread has already started */

/* The work of a thread that is only started as a test: wait until the lock is free, so that all of these threads
 * exist at the same time, and end. */
static void *ohf_wait(void *lock)
{
    pthread_mutex_lock((pthread_mutex_t *)lock);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    return NULL;
}

/* Tell whether the operating system lets this thread start n_threads other threads. */
static int ohf_can_start(int n_threads)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads;
    int n = 0, most = n_threads < OHF_MAX_PROBED ? n_threads : OHF_MAX_PROBED;
    if (n_threads <= ohf_probed)
        return 1;
    threads = malloc((size_t)most * sizeof *threads);
    if (threads == NULL)
        return 0;
    pthread_mutex_lock(&lock);
    while (n < most && pthread_create(&threads[n], NULL, ohf_wait, &lock) == 0)
        n++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (n == most)
        ohf_probed = n_threads;
    return n == most;
}

static void ohf_before_fork(void)
{
    ohf_probed = 0;
    ohf_team_paused = omp_pause_resource_all != NULL && omp_pause_resource_all(omp_pause_soft) == 0;
}

static void ohf_in_child(void)
{
    if (ohf_team_seen && !ohf_team_paused)
        ohf_child_alone = 1;   /* a child has one thread, so this needs no lock */
    ohf_team_seen = 0;
}

/* Run ohf_before_fork and ohf_in_child at each fork from now on. Return 0, or an error number. */
static int ohf_watch_forks(void)
{
    return pthread_atfork(ohf_before_fork, NULL, ohf_in_child);
}
#else
static int ohf_watch_forks(void) { return 0; }
static int ohf_can_start(int n_threads) { return n_threads >= 0; }
#endif

#endif
