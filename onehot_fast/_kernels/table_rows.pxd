"""Runs of codes of one byte, which other compiled modules fill and the kernels of tables read."""

from libc.stdint cimport int64_t, uint8_t


cdef class Segments:
    """Runs of bytes, such as the letters of strings; each byte is a code.

    The runs are at any addresses (``starts`` and ``lengths``), or at equal distances (``base`` and ``stride``).
    """

    cdef readonly Py_ssize_t n
    cdef const uint8_t **starts         # NULL: run i begins at base + i * stride, and has `length` bytes
    cdef int64_t *lengths
    cdef const uint8_t *base
    cdef Py_ssize_t stride, length
    cdef readonly object owner          # keeps the bytes alive
    cdef object memory                  # owns `starts` and `lengths`

    cdef int reserve(self, Py_ssize_t n) except -1
