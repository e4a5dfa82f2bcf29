"""The buffers of values that the C loops of the dictionary read."""

from libc.stdint cimport int64_t

from onehot_fast._arrow.array cimport Array
from onehot_fast._categories.abi cimport ohf_numbers, ohf_objects, ohf_packed, ohf_texts
from onehot_fast._categories.strings cimport Strings

cdef enum Form:
    IN_BUFFERS_TEXTS
    IN_BUFFERS_NUMBERS
    IN_OBJECTS
    IN_PACKED_TEXTS


cdef class Source:
    """The addresses of the values that the C loops read, and the owners of the memory."""

    cdef Form form
    cdef int64_t n_rows
    cdef ohf_texts texts
    cdef ohf_numbers numbers
    cdef ohf_objects objects
    cdef ohf_packed packed
    cdef object owner                   # keeps the memory alive
    cdef object missing                 # keeps the missing objects or the missing text alive
    cdef const unsigned char **buffers  # a copy of the addresses of views
    cdef int64_t *sizes
    cdef int read_offsets(self, Array array, int layout) except -1
    cdef void set_limit(self, int64_t limit) noexcept
    cdef int read_views(self, Array array) except -1
    cdef int read_arrow_texts(self, Array array) except -1
    cdef int read_strings(self, Strings strings) except -1
    cdef int read_fixed(self, object array, str kind) except -1
    cdef int read_objects(self, object array, str kind, tuple missing) except -1
    cdef int open_objects(self) except -1
    cdef void close_objects(self) noexcept
    cdef int read_packed(self, object array) except -1
    cdef int read_numbers(self, object array, str kind) except -1
    cdef int read_arrow_numbers(self, Array array, str kind) except -1


cdef Source source_of(object values, str kind, tuple missing)
