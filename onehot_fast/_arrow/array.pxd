"""An array of the Arrow C data interface."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from onehot_fast._arrow.abi cimport ArrowArray, ohf_arrow_owner
from onehot_fast._arrow.schema cimport ArrowField, Imported


cdef class Array(Imported):
    """A chunk of Arrow data: a view of the producer's memory."""

    cdef ohf_arrow_owner *owner
    cdef const ArrowArray *node         # the owner's array, or a child or dictionary inside it
    cdef readonly ArrowField schema
    cdef int64_t offset, length         # the rows of `node` in this chunk: the first one, and their number
    cdef int64_t n_nulls                # the number of null rows, or -1 if they are not counted yet
    cdef const uint8_t *bits            # the validity bitmap; NULL if no row is null, or the type is null
    cdef int64_t bits_begin             # the position in `bits` of the first row's bit
    cdef bytes mask                     # owns `bits` if they include the nulls of the parent struct, else None

    cdef int cover(self, cnp.ndarray valid) except -1
    cdef int64_t count_nulls(self) except -1
    cdef cnp.ndarray memory(self, cnp.dtype dtype)
    cdef int copy_to(self, cnp.ndarray out) except -1
    cdef cnp.ndarray code(self, cnp.ndarray values)
