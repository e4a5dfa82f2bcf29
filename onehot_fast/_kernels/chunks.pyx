# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The parallel loop of all kernels that use threads: it schedules independent chunks of work dynamically.

The GIL is released while chunks run. After each slab of about 256 MiB, the GIL is acquired to check for
Ctrl-C. A slab takes tens of milliseconds, so the check costs almost nothing and Ctrl-C still works promptly.

A team of threads ends with a barrier. On a busy machine the barrier waits until the system has run every
thread once: we measured 8 - 40 ms for work of 0.03 ms. If the first thread of a team waited for more than
4 ms, the following calls use one thread for a second. `_runtime/team.pyx` remembers this.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange, threadid
from libc.stdint cimport uintptr_t

from onehot_fast._runtime.team cimport can_start, note_end, note_stall, note_start

cdef extern from "_kernels/isa.h":
    void ohf_store_fence() noexcept nogil

cdef extern from "_runtime/clock.h":
    double ohf_seconds() noexcept nogil

cdef extern from "_runtime/workspace.h":
    void *ohf_take_workspace(size_t n_bytes) noexcept nogil
    void ohf_give_workspace(void *block, size_t n_bytes) noexcept nogil

cdef Py_ssize_t SLAB_BYTES = 256 << 20
cdef Py_ssize_t CHUNK_BYTES = 1 << 20

# If the first thread of a team waits this long for the others, the machine is busy: chunks of up to 4 MiB take
# 0.01 - 0.2 ms in memory that was used before, and 2 ms in fresh memory.
cdef double STALL_SECONDS = 0.004
cdef Py_ssize_t STALL_CHUNK_BYTES = 4 << 20

cdef enum:
    FEW_BYTES = 2048        # workspaces of at most so many bytes together are on the stack of the caller


cdef void *take_workspace(size_t n_bytes) except NULL:
    """Return memory of unknown content, which `give_workspace` takes back; raise MemoryError if there is none."""
    cdef void *block = ohf_take_workspace(n_bytes)
    if block == NULL:
        raise MemoryError(f"cannot allocate {n_bytes} bytes for the threads of a call")
    return block


cdef void give_workspace(void *block, size_t n_bytes) noexcept:
    """Take back the memory that `take_workspace` returned for ``n_bytes``."""
    ohf_give_workspace(block, n_bytes)


cdef int for_each_chunk(
    chunk_work work, const void *job, Py_ssize_t n_items, Py_ssize_t chunk_items, Py_ssize_t item_bytes,
    size_t workspace_bytes, int num_threads,
) except -1:
    """Call ``work(job, begin, end, workspace)`` for all chunks of the items 0 to ``n_items``.

    A chunk has up to ``chunk_items`` items. Chunks may run in any order and at the same time. If
    ``chunk_items`` is 0, a chunk has about a megabyte. Each thread has a workspace of ``workspace_bytes``, because
    its stack may be small. The workspaces are allocated before the work begins, because a thread of a team cannot
    raise MemoryError.

    When this function returns, all stores of ``work`` are complete, also those that bypass the caches.
    """
    cdef Py_ssize_t n_chunks, slab
    cdef size_t stride = (workspace_bytes + 127) // 128 * 128  # no two threads write to adjacent cache lines
    cdef size_t n_bytes
    cdef unsigned char few[FEW_BYTES]
    cdef void *block = few
    if chunk_items == 0:
        chunk_items = max(CHUNK_BYTES // max(item_bytes, 1), 1)
        if chunk_items > 64:    # 64 items are whole cache lines: every chunk then has the alignment of the first
            chunk_items -= chunk_items % 64
    n_chunks = (n_items + chunk_items - 1) // chunk_items
    slab = max(SLAB_BYTES // max(chunk_items * item_bytes, 1), 1)
    n_bytes = stride * max(min(<Py_ssize_t> num_threads, min(n_chunks, slab)), <Py_ssize_t> 1) + 64
    if n_bytes > FEW_BYTES:
        block = take_workspace(n_bytes)
    try:
        return run_chunks(
            work, job, n_items, chunk_items, chunk_items * item_bytes, slab,
            <unsigned char *> block + (-<uintptr_t> block & 63), stride, num_threads,
        )
    finally:
        if n_bytes > FEW_BYTES:
            give_workspace(block, n_bytes)


cdef int run_chunks(
    chunk_work work, const void *job, Py_ssize_t n_items, Py_ssize_t chunk_items, Py_ssize_t chunk_bytes,
    Py_ssize_t slab, unsigned char *workspaces, size_t stride, int num_threads,
) except -1:
    """Call ``work`` for all chunks, ``slab`` chunks between two checks for Ctrl-C.

    The workspace of a thread is ``stride`` bytes after that of the thread before it.
    """
    cdef Py_ssize_t n_chunks = (n_items + chunk_items - 1) // chunk_items, begin = 0, end, alone, chunk
    cdef int n_threads
    cdef double first_done, now
    while begin < n_chunks:
        end = min(begin + slab, n_chunks)
        n_threads = <int> min(<Py_ssize_t> num_threads, end - begin)
        # The parallel loop is inside `with nogil`, where Cython knows that the GIL is released. In a nogil
        # function, Cython would ask Python whether this thread holds the GIL; Python always answers yes once a
        # second interpreter has existed.
        with nogil:
            if n_threads <= 1 or not can_start(n_threads - 1):
                # A team of one thread takes 2 microseconds longer than this loop.
                for alone in range(begin, end):
                    work(job, alone * chunk_items, min((alone + 1) * chunk_items, n_items), workspaces)
                    ohf_store_fence()
            else:
                first_done = ohf_seconds()
                note_start()
                for chunk in prange(begin, end, schedule="dynamic", chunksize=1, num_threads=n_threads):
                    work(
                        job, chunk * chunk_items, min((chunk + 1) * chunk_items, n_items),
                        workspaces + threadid() * stride,
                    )
                    ohf_store_fence()
                    if threadid() == 0:
                        (&first_done)[0] = ohf_seconds()
                now = ohf_seconds()
                note_end(now, n_threads - 1)
                # The chunks are small and of equal size, but the first thread waited long: the machine is busy.
                if chunk_bytes <= STALL_CHUNK_BYTES and now - first_done > STALL_SECONDS:
                    note_stall(now)
        begin = end
        if begin < n_chunks:
            PyErr_CheckSignals()
    return 0
