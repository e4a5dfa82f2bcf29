# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The active variant of the microkernels, and the output size above which stores bypass the caches.

At import, the best variant that the processor supports is chosen. ``ONEHOT_FAST_SIMD`` selects another variant,
and ``ONEHOT_FAST_STREAM_BYTES`` sets the size above which stores bypass the caches (default: half the last-level
cache, at most 16 MiB). For tests and measurements, `activate` and `set_stream_bytes` change them at run time.
"""

import os

from libc.stdint cimport uintptr_t

cdef extern from "microkernels.h":
    int ohf_variants(const ohf_microkernels **found, int room) noexcept nogil
    size_t ohf_stream_bytes() noexcept nogil
    void ohf_fill_init(ohf_fill *, size_t, size_t, size_t, const unsigned char *,
                       const unsigned char *) noexcept nogil
    void ohf_scratch_init(unsigned char *, const ohf_fill *) noexcept nogil
    int ohf_can_expand(const ohf_microkernels *, const ohf_fill *, const unsigned char *) noexcept nogil
    void ohf_plan_init(ohf_plan *, const ohf_microkernels *, const ohf_fill *,
                       const unsigned char *) noexcept nogil

cdef const ohf_microkernels *found[4]
cdef int n_found = ohf_variants(found, 4)
cdef const ohf_microkernels *active_microkernels = found[0]
cdef size_t stream_threshold = ohf_stream_bytes()


cdef const ohf_microkernels *microkernels() noexcept nogil:
    return active_microkernels


cdef size_t stream_bytes() noexcept nogil:
    return stream_threshold


cdef void fill_init(
    ohf_fill *fill, size_t width, size_t depth, size_t inner,
    const unsigned char *on, const unsigned char *off,
) noexcept nogil:
    ohf_fill_init(fill, width, depth, inner, on, off)


cdef void scratch_init(unsigned char *scratch, const ohf_fill *fill) noexcept nogil:
    ohf_scratch_init(scratch, fill)


cdef bint can_expand(const ohf_fill *fill, const unsigned char *out) noexcept nogil:
    return ohf_can_expand(active_microkernels, fill, out)


cdef void plan_init(ohf_plan *plan, const ohf_fill *fill, const unsigned char *out) noexcept nogil:
    ohf_plan_init(plan, active_microkernels, fill, out)


def variants():
    """Return the names of the variants that this processor supports, best first."""
    return tuple(found[i].name.decode() for i in range(n_found))


def active():
    """Return the name of the active variant."""
    return active_microkernels.name.decode()


def activate(str name):
    """Make ``name`` the active variant and return the name of the previous variant."""
    global active_microkernels
    before = active()
    for i in range(n_found):
        if found[i].name.decode() == name:
            active_microkernels = found[i]
            return before
    raise ValueError(f"SIMD variant {name!r} is not available here: choose one of {', '.join(variants())}")


def get_stream_bytes():
    """Return the output size in bytes above which stores bypass the caches."""
    return stream_threshold


def set_stream_bytes(size_t n_bytes):
    """Set the output size in bytes above which stores bypass the caches, and return the previous size."""
    global stream_threshold
    before = stream_threshold
    stream_threshold = n_bytes
    return before


def stream_fill(unsigned char[::1] out, const unsigned char[::1] element):
    """Fill ``out`` with copies of ``element``, with stores that bypass the caches.

    Return False and write nothing if the active variant has no such stores, the size of the element does not
    divide a cache line, or the memory is not aligned to a cache line. `benchmarks.floor` uses the time of this
    function as a lower bound for writing an output.
    """
    cdef unsigned char room[OHF_SCRATCH + 128]
    cdef unsigned char *block = room + (-<uintptr_t> room & 63)
    cdef Py_ssize_t done = 0, step, width = element.shape[0]
    cdef ohf_fill fill
    if active_microkernels.copy == NULL or width not in (1, 2, 4, 8, 16) or out.shape[0] == 0:
        return False
    if <uintptr_t> &out[0] % 64 != 0:
        return False
    ohf_fill_init(&fill, width, 1, 1, &element[0], &element[0])
    ohf_scratch_init(block, &fill)
    with nogil:
        while done < out.shape[0]:
            step = min(out.shape[0] - done, <Py_ssize_t> OHF_SCRATCH)
            active_microkernels.copy(&out[done], block, step)
            done += step
        active_microkernels.fence()
    return True


def _read_environment():
    """Apply ``ONEHOT_FAST_SIMD`` and ``ONEHOT_FAST_STREAM_BYTES``."""
    if name := os.environ.get("ONEHOT_FAST_SIMD"):
        activate(name)
    if n_bytes := os.environ.get("ONEHOT_FAST_STREAM_BYTES"):
        if not (n_bytes.isascii() and n_bytes.isdigit() and int(n_bytes) < 1 << 63):
            raise ValueError(f"ONEHOT_FAST_STREAM_BYTES must be a whole number of bytes, got {n_bytes!r}")
        set_stream_bytes(int(n_bytes))


_read_environment()
