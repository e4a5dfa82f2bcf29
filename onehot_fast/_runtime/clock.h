/* A clock that never goes back, in seconds. */
#ifndef OHF_CLOCK_H
#define OHF_CLOCK_H

#if defined(__unix__) || defined(__APPLE__)
#  include <time.h>

static inline double ohf_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#else
#  include <windows.h>

static inline double ohf_seconds(void)
{
    return 1e-3 * (double)GetTickCount64();
}
#endif
#endif
