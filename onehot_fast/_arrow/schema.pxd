"""What the reader of arrays asks of a schema."""

from libc.stdint cimport int64_t

from onehot_fast._arrow.abi cimport ArrowSchema


cdef class ArrowField:
    """One field of the Arrow C data interface."""

    cdef readonly str format, name
    cdef readonly tuple children
    cdef readonly ArrowField dictionary
    cdef readonly bytes packed_metadata     # as the interface has it, None where there is none
    cdef str type_kind
    cdef int64_t flags
    # What the columnar format says about an array of this type.
    cdef bint has_validity
    cdef int n_buffers                      # -1: at least three, views have any number
    cdef int required                       # bit i: buffer i must be there unless the array is empty

    cdef str where(self)


cdef ArrowField schema_of(const ArrowSchema *source, int depth)
