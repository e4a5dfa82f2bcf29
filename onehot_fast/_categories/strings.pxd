"""Strings or bytes in one buffer."""

from libc.stdint cimport int64_t, uint8_t


cdef class Strings:
    """Strings or bytes, concatenated in one buffer."""

    cdef readonly object offsets, data
    cdef readonly bint is_text
    cdef const int64_t *ends            # the address of the offsets
    cdef const uint8_t *bytes           # the address of the data

    cdef void hold(self, object offsets, object data, bint is_text)
    cdef object item(self, Py_ssize_t position)


cdef Strings new_strings(object offsets, object data, bint is_text)
