# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Output buffers: aligned to 64 bytes, reused, and backed by huge pages if they are large.

Fresh memory is expensive: the operating system maps it page by page (4 - 9 GB/s), more slowly than
the kernels write (28 - 75 GB/s). A large block is therefore kept when its array is deleted, and reused:

- The kept blocks have at most ``ONEHOT_FAST_CACHE_MB`` MiB (by default, a sixteenth of the machine's memory).
  Above this limit, the block that was idle longest is unmapped first. Every later call unmaps the blocks that
  were idle for 10 seconds.
- The operating system may reclaim a kept block at any time (``MADV_FREE``), unless the block is in steady use.
  A block is in steady use if it was reused, and was idle for less than a second at the last check. At most
  1 GiB is in steady use. Blocks in steady use save the time of ``MADV_FREE``: 0.1 ms for 40 MB on one thread,
  and 3 ms for 400 MB if a second thread runs on another processor of a virtual machine.

No background thread unmaps blocks, because CPython 3.12 and later warn if a process with several threads
forks, even if the user started none of them.

A block is the ``base`` of the array that uses its memory, so every view of the array keeps the block alive.
When the last view is deleted, the block is kept for reuse or unmapped.
"""

import os
from typing import NamedTuple

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from libc.math cimport INFINITY
from libc.stdint cimport SIZE_MAX, uintptr_t
from libc.string cimport memmove

from onehot_fast._runtime.fork_lock cimport ohf_lock, ohf_lock_over_forks, ohf_unlock

import numpy as np

from onehot_fast._runtime import system

cnp.import_array()

cdef extern from "_runtime/pages.h":
    size_t OHF_HUGE_PAGE
    void *ohf_pages_map(size_t size, bint is_filled) noexcept nogil
    void ohf_pages_unmap(void *block, size_t size) noexcept nogil
    void ohf_pages_allow_reclaim(void *block, size_t size) noexcept nogil

cdef extern from "_runtime/clock.h":
    double ohf_seconds() noexcept nogil

cdef extern from "Python.h":
    int PyTraceMalloc_Track(unsigned int domain, uintptr_t pointer, size_t size)
    int PyTraceMalloc_Untrack(unsigned int domain, uintptr_t pointer)

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(
        PyTypeObject *subtype, cnp.dtype descr, int nd, const cnp.npy_intp *dims,
        const cnp.npy_intp *strides, void *data, int flags, PyObject *obj,
    )

cdef enum:
    ALIGNMENT = 64
    PAGE = 65536            # a multiple of the page size of every system
    LARGE = 256 << 10       # blocks of this size or more are mapped and kept; for smaller ones malloc is fast
    MAX_BLOCKS = 64
    MAX_STEADY_BYTES = 1 << 30
    NUMPY_DOMAIN = 389047   # NumPy's domain in tracemalloc, which also counts our arrays

cdef double IDLE_SECONDS = 10.0
cdef double STEADY_SECONDS = 1.0

cdef struct FreeBlock:
    void *address
    size_t size
    double since            # the time when its array was deleted, in seconds of the monotonic clock
    bint is_steady          # whether the block is in steady use, so that the system may not reclaim it


cdef class Cache:
    """The free blocks, longest idle first. Callers of ``nogil`` methods must hold the lock."""

    cdef FreeBlock blocks[MAX_BLOCKS]
    cdef Py_ssize_t n_blocks, live, hits, misses
    cdef size_t n_bytes, n_steady_bytes, limit

    cdef void drop(self, Py_ssize_t at) noexcept nogil:
        """Unmap one free block."""
        ohf_pages_unmap(self.blocks[at].address, self.blocks[at].size)
        self.forget(at)

    cdef void forget(self, Py_ssize_t at) noexcept nogil:
        """Remove one block from the list without unmapping it."""
        self.n_bytes -= self.blocks[at].size
        if self.blocks[at].is_steady:
            self.n_steady_bytes -= self.blocks[at].size
        self.n_blocks -= 1
        memmove(&self.blocks[at], &self.blocks[at + 1], (self.n_blocks - at) * sizeof(FreeBlock))

    cdef Py_ssize_t best_fit(self, size_t size) noexcept nogil:
        """Return the index of the smallest free block that fits, or -1.

        A block fits if it has ``size`` bytes or up to a quarter more. A larger block would waste memory. Among
        blocks of the same size, the one that became free last is used.
        """
        cdef Py_ssize_t i, best = -1
        for i in range(self.n_blocks):
            if size <= self.blocks[i].size <= size + size // 4:
                if best < 0 or self.blocks[i].size <= self.blocks[best].size:
                    best = i
        return best

    cdef void keep(self, void *address, size_t size, bint was_reused) noexcept nogil:
        """Add a free block, and first unmap the oldest blocks until all fit the limit.

        If the block alone exceeds the limit, unmap only this block.
        """
        cdef double now = ohf_seconds()
        self.age(now)
        if size > self.limit:
            ohf_pages_unmap(address, size)
            return
        while self.n_bytes + size > self.limit or self.n_blocks == MAX_BLOCKS:
            self.drop(0)
        cdef bint is_steady = was_reused and self.n_steady_bytes + size <= MAX_STEADY_BYTES
        if is_steady:
            self.n_steady_bytes += size
        else:
            ohf_pages_allow_reclaim(address, size)
        self.blocks[self.n_blocks] = FreeBlock(address, size, now, is_steady)
        self.n_blocks += 1
        self.n_bytes += size

    cdef void age(self, double now) noexcept nogil:
        """Unmap blocks idle for `IDLE_SECONDS`; let the system reclaim blocks idle for `STEADY_SECONDS`."""
        cdef Py_ssize_t at
        self.drop_older(now - IDLE_SECONDS)
        for at in range(self.n_blocks):
            if self.blocks[at].is_steady and self.blocks[at].since <= now - STEADY_SECONDS:
                ohf_pages_allow_reclaim(self.blocks[at].address, self.blocks[at].size)
                self.n_steady_bytes -= self.blocks[at].size
                self.blocks[at].is_steady = False

    cdef size_t drop_older(self, double moment) noexcept nogil:
        """Unmap all blocks that became free before ``moment``; return their total size in bytes."""
        cdef size_t before = self.n_bytes
        while self.n_blocks > 0 and self.blocks[0].since <= moment:
            self.drop(0)
        return before - self.n_bytes


cdef Cache cache = Cache()


@cython.final
cdef class Block:
    """The owner of one array's memory, stored as the array's ``base``."""

    cdef void *address      # the start of the block
    cdef size_t size        # the size of a mapped block, or 0 if malloc allocated the block
    cdef void *data         # the start of the array
    cdef bint was_reused    # whether a mapped block was used by another array before
    cdef bint is_sparse     # whether a mapped block has small pages, so that it is not kept

    def __dealloc__(self):
        if self.address == NULL:
            return
        if self.size == 0:
            PyMem_RawFree(self.address)
            return
        PyTraceMalloc_Untrack(NUMPY_DOMAIN, <uintptr_t> self.data)
        ohf_lock()
        cache.live -= 1
        if not self.is_sparse:
            cache.keep(self.address, self.size, self.was_reused)
        ohf_unlock()
        if self.is_sparse:
            ohf_pages_unmap(self.address, self.size)


cdef Block small_block(size_t n_bytes):
    """Allocate a block with PyMem_RawMalloc, which tracemalloc tracks."""
    cdef Block block = Block.__new__(Block)
    block.address = PyMem_RawMalloc(n_bytes + ALIGNMENT - 1)
    if block.address == NULL:
        raise MemoryError(f"cannot allocate {n_bytes} bytes")
    block.data = <void *> ((<uintptr_t> block.address + ALIGNMENT - 1) & ~<uintptr_t> (ALIGNMENT - 1))
    return block


cdef size_t mapped_size(size_t n_bytes) noexcept:
    """Round a size up to whole pages, or to whole huge pages from eight huge pages on."""
    cdef size_t page = OHF_HUGE_PAGE if n_bytes >= 8 * OHF_HUGE_PAGE else PAGE
    return (n_bytes + page - 1) // page * page


cdef Block large_block(size_t n_bytes):
    """Return a free block that fits or, if there is none, a block of fresh memory (all zeros)."""
    cdef Block block = Block.__new__(Block)
    cdef size_t size = mapped_size(n_bytes)
    cdef Py_ssize_t place
    cdef void *address = NULL
    ohf_lock()
    cache.age(ohf_seconds())
    place = cache.best_fit(size)
    block.was_reused = place >= 0
    if block.was_reused:
        address, size = cache.blocks[place].address, cache.blocks[place].size
        cache.forget(place)
    cache.hits += block.was_reused
    cache.misses += not block.was_reused
    ohf_unlock()
    if address == NULL:
        address = map_pages(size, n_bytes, True)
    own_pages(block, address, size, n_bytes)
    return block


cdef Block sparse_block(size_t n_bytes):
    """Return a block of fresh memory (all zeros), whose pages the system provides when they are touched."""
    cdef Block block = Block.__new__(Block)
    cdef size_t size = (n_bytes + PAGE - 1) // PAGE * PAGE
    block.is_sparse = True
    own_pages(block, map_pages(size, n_bytes, False), size, n_bytes)
    return block


cdef void *map_pages(size_t size, size_t n_bytes, bint is_filled) except NULL:
    """Map fresh memory; if there is none, unmap the free blocks first."""
    cdef void *address = ohf_pages_map(size, is_filled)
    if address == NULL:
        empty_cache()
        address = ohf_pages_map(size, is_filled)
    if address == NULL:
        raise MemoryError(f"cannot allocate {n_bytes} bytes")
    return address


cdef void own_pages(Block block, void *address, size_t size, size_t n_bytes):
    """Make a block the owner of mapped memory, which tracemalloc tracks."""
    block.address = block.data = address
    block.size = size
    PyTraceMalloc_Track(NUMPY_DOMAIN, <uintptr_t> address, n_bytes)
    ohf_lock()
    cache.live += 1
    ohf_unlock()


cdef object new_array(
    int ndim, Py_ssize_t *shape, object dtype, Py_ssize_t n_bytes, bint *is_fresh=NULL,
):
    """Return an uninitialised array of ``n_bytes`` > 0 bytes; set ``is_fresh`` if its memory is fresh."""
    cdef Block block = small_block(n_bytes) if n_bytes < LARGE else large_block(n_bytes)
    if is_fresh != NULL:
        is_fresh[0] = n_bytes >= LARGE and not block.was_reused
    return array_in(block, ndim, shape, dtype)


cdef object array_in(Block block, int ndim, Py_ssize_t *shape, object dtype):
    """Return an array in the memory of a block."""
    Py_INCREF(dtype)   # PyArray_NewFromDescr steals this reference
    array = PyArray_NewFromDescr(
        <PyTypeObject *> cnp.ndarray, dtype, ndim, <const cnp.npy_intp *> shape, NULL, block.data,
        cnp.NPY_ARRAY_CARRAY, NULL,
    )
    Py_INCREF(block)   # PyArray_SetBaseObject steals this reference
    cnp.PyArray_SetBaseObject(array, block)
    return array


def allocate(tuple shape, cnp.dtype dtype):
    """Return a C-contiguous array aligned to 64 bytes, and whether its memory is fresh (all zeros).

    The caller must have checked the size.
    """
    cdef Py_ssize_t dims[64]
    cdef Py_ssize_t n_bytes = dtype.itemsize
    cdef int ndim = len(shape), i
    cdef bint fresh = False
    if dtype.hasobject or ndim > 64 or n_bytes == 0 or 0 in shape:
        return np.empty(shape, dtype), False
    for i in range(ndim):
        dims[i] = shape[i]
        n_bytes *= dims[i]
    array = new_array(ndim, dims, dtype, n_bytes, &fresh)
    return array, bool(fresh)


def sparse_zeros(Py_ssize_t n_rows, Py_ssize_t n_columns):
    """Return a float64 matrix of zeros, most of which will stay untouched.

    It takes time and memory in proportion to the pages that are written. The caller must have checked the size.
    """
    cdef Py_ssize_t[2] dims = [n_rows, n_columns]
    cdef Py_ssize_t n_bytes = n_rows * n_columns * <Py_ssize_t> sizeof(double)
    if n_bytes < LARGE:
        return np.zeros((n_rows, n_columns))
    return array_in(sparse_block(n_bytes), 2, dims, np.dtype(np.float64))


def is_kept(size_t n_bytes):
    """Tell whether an array of ``n_bytes`` would reuse a kept block."""
    cdef Py_ssize_t place
    ohf_lock()
    place = cache.best_fit(mapped_size(n_bytes))
    ohf_unlock()
    return n_bytes >= LARGE and place >= 0


class CacheInfo(NamedTuple):
    """The result of `cache_info`.

    Attributes
    ----------
    n_blocks, n_bytes : int
        The number of free blocks that are kept, and their size in bytes.
    max_bytes : int
        The upper limit of ``n_bytes``.
    n_live : int
        The number of large blocks that arrays use now.
    hits, misses : int
        How many large arrays reused a kept block, and how many needed fresh memory.
    """

    n_blocks: int
    n_bytes: int
    max_bytes: int
    n_live: int
    hits: int
    misses: int


def cache_info():
    """Return how much freed output memory is kept for reuse.

    Returns
    -------
    CacheInfo

    See Also
    --------
    empty_cache : Return the kept memory to the operating system.

    Examples
    --------
    >>> import onehot_fast
    >>> info = onehot_fast.cache_info()
    >>> info.n_bytes <= info.max_bytes
    True
    """
    cdef Py_ssize_t n_blocks, live, hits, misses
    cdef size_t n_bytes, limit
    ohf_lock()
    n_blocks, n_bytes, limit = cache.n_blocks, cache.n_bytes, cache.limit
    live, hits, misses = cache.live, cache.hits, cache.misses
    ohf_unlock()
    return CacheInfo(n_blocks, n_bytes, limit, live, hits, misses)


def empty_cache():
    """Return all kept memory to the operating system.

    Arrays in use are not affected.

    Returns
    -------
    int
        The number of bytes returned.

    Examples
    --------
    >>> import onehot_fast
    >>> _ = onehot_fast.empty_cache()
    >>> onehot_fast.cache_info().n_bytes
    0
    """
    cdef size_t freed
    ohf_lock()
    freed = cache.drop_older(INFINITY)
    ohf_unlock()
    return freed


def set_limit(size_t n_bytes):
    """Set the limit of kept bytes, unmap blocks that exceed it, and return the previous limit."""
    cdef size_t before
    ohf_lock()
    before = cache.limit
    cache.limit = n_bytes
    while cache.n_bytes > n_bytes:
        cache.drop(0)
    ohf_unlock()
    return before


def set_idle_seconds(double seconds, double steady_seconds=1.0):
    """Set how long an idle block is kept (``seconds``), and return the previous value.

    ``steady_seconds`` is how long an idle block stays in steady use.
    """
    global IDLE_SECONDS, STEADY_SECONDS
    before = IDLE_SECONDS
    IDLE_SECONDS, STEADY_SECONDS = seconds, steady_seconds
    return before


def _default_limit():
    """Return ``ONEHOT_FAST_CACHE_MB`` in bytes, by default a sixteenth of the machine's memory."""
    text = os.environ.get("ONEHOT_FAST_CACHE_MB")
    if not text:
        return min((system.total_memory() or 0) // 16, SIZE_MAX)
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise ValueError(f"ONEHOT_FAST_CACHE_MB must be a whole number of MiB (0 keeps no memory), got {text!r}")
    return int(text) << 20


cache.limit = _default_limit()
if ohf_lock_over_forks():
    raise MemoryError("cannot allocate the handlers that run at a fork")
