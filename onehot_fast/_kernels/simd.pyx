# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The active variant of the microkernels, and the output size above which stores bypass the caches.

At import, the best variant that the processor supports is chosen. ``ONEHOT_FAST_SIMD`` selects another variant,
and ``ONEHOT_FAST_STREAM_BYTES`` sets the size above which stores bypass the caches (default: half the last-level
cache, at most 16 MiB). For tests and measurements, `activate` and `set_stream_bytes` change them at run time.
"""

import os

from libc.stdint cimport uintptr_t

from onehot_fast._kernels.chunks cimport give_workspace, take_workspace

cdef extern from "_kernels/isa.h":
    void ohf_store_fence() noexcept nogil

cdef extern from "_kernels/microkernels.h":
    int ohf_variants(const ohf_microkernels **found, int room) noexcept nogil
    size_t ohf_stream_bytes() noexcept nogil

cdef const ohf_microkernels *found[4]
cdef int n_found = ohf_variants(found, 4)
microkernels = found[0]
stream_bytes = ohf_stream_bytes()


def variants():
    """Return the names of the variants that this processor supports, best first."""
    return tuple(found[i].name.decode() for i in range(n_found))


def active():
    """Return the name of the active variant."""
    return microkernels.name.decode()


def activate(str name):
    """Make ``name`` the active variant and return the name of the previous variant."""
    global microkernels
    before = active()
    for i in range(n_found):
        if found[i].name.decode() == name:
            microkernels = found[i]
            return before
    raise ValueError(f"SIMD variant {name!r} is not available here: choose one of {', '.join(variants())}")


def get_stream_bytes():
    """Return the output size in bytes above which stores bypass the caches."""
    return stream_bytes


def set_stream_bytes(size_t n_bytes):
    """Set the output size in bytes above which stores bypass the caches, and return the previous size."""
    global stream_bytes
    before = stream_bytes
    stream_bytes = n_bytes
    return before


def stream_fill(unsigned char[::1] out, const unsigned char[::1] element):
    """Fill ``out`` with copies of ``element``, with stores that bypass the caches.

    Return False and write nothing if the active variant has no such stores, the size of the element does not
    divide a cache line, or the memory is not aligned to a cache line. `benchmarks.floor` uses the time of this
    function as a lower bound for writing an output.
    """
    cdef void *room
    cdef unsigned char *block
    cdef Py_ssize_t done = 0, step, width = element.shape[0]
    cdef ohf_fill fill
    if microkernels.copy == NULL or width not in (1, 2, 4, 8, 16) or out.shape[0] == 0:
        return False
    if <uintptr_t> &out[0] % 64 != 0:
        return False
    ohf_fill_init(&fill, width, 1, 1, &element[0], &element[0])
    room = take_workspace(OHF_SCRATCH + 64)
    block = <unsigned char *> room + (-<uintptr_t> room & 63)
    microkernels.fill(block, OHF_SCRATCH, &fill)
    with nogil:
        while done < out.shape[0]:
            step = min(out.shape[0] - done, <Py_ssize_t> OHF_SCRATCH)
            microkernels.copy(&out[done], block, step)
            done += step
        ohf_store_fence()
    give_workspace(room, OHF_SCRATCH + 64)
    return True


def _read_environment():
    """Apply the environment variables ``ONEHOT_FAST_SIMD`` and ``ONEHOT_FAST_STREAM_BYTES``."""
    if name := os.environ.get("ONEHOT_FAST_SIMD"):
        activate(name)
    if n_bytes := os.environ.get("ONEHOT_FAST_STREAM_BYTES"):
        if not (n_bytes.isascii() and n_bytes.isdigit() and int(n_bytes) < 1 << 63):
            raise ValueError(f"ONEHOT_FAST_STREAM_BYTES must be a whole number of bytes, got {n_bytes!r}")
        set_stream_bytes(int(n_bytes))


_read_environment()
