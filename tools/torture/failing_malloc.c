/* An allocator in place of the C library's that fails when it is told to: see memory.py.
 *
 *     cc -shared -fPIC -O1 failing_malloc.c -o failing_malloc.so
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* Of the thread that asked for it: so many more allocations succeed, then so many fail. */
static __thread long n_good = 0, n_bad = 0;
static __thread long n_failed = 0;

void fail_after(long good, long bad)
{
    n_good = good;
    n_bad = bad;
    n_failed = 0;
}

long failed(void)
{
    return n_failed;
}

static int fails(void)
{
    if (n_bad == 0 || n_good-- > 0)
        return 0;
    n_good = 0;
    n_bad--;
    n_failed++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }
void *aligned_alloc(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }

int posix_memalign(void **memory, size_t to, size_t size)
{
    if (fails())
        return ENOMEM;
    *memory = __libc_memalign(to, size);
    return *memory ? 0 : ENOMEM;
}

void *mmap(void *wanted, size_t size, int protection, int flags, int file, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real)
        real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    return fails() ? MAP_FAILED : real(wanted, size, protection, flags, file, offset);
}
