"""The types of the Arrow C data interface, and the check of an array against its type."""

from libc.stdint cimport int64_t

from onehot_fast._arrow.abi cimport ArrowArray, ArrowSchema


ctypedef fused structure_t:
    ArrowSchema
    ArrowArray

cdef object MAKER       # the token that the constructors of imported objects require


cdef class Imported:
    """An object that Python code cannot create directly; `read` returns such objects."""


cdef class ArrowField(Imported):
    """The type of one field of the Arrow C data interface."""

    cdef readonly str format, name
    cdef readonly str kind                  # the type without its width, e.g. "integer"; "dictionary" for indices
    cdef readonly tuple children
    cdef readonly ArrowField dictionary
    cdef readonly bytes packed_metadata     # the metadata as the C data interface stores them, or None
    cdef int64_t flags
    # Which buffers an Arrow array of this type has.
    cdef bint has_validity
    cdef int n_buffers                      # -1: three or more, as views have any number of data buffers
    cdef int required                       # bit i: buffer i must exist unless the array is empty

    cdef str where(self)


cdef ArrowField new_field(str format, str name, int64_t flags)
cdef ArrowField schema_of(const ArrowSchema *source, int depth)
cdef object new_capsule(structure_t **structure, const char *name)
cdef int check(ArrowField schema, const ArrowArray *array, int64_t min_rows) except -1
cdef int64_t offset_at(ArrowField schema, const ArrowArray *array, int64_t row, int width) except -1
