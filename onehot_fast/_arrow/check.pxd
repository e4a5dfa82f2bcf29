"""The check of an array that a producer gave."""

from libc.stdint cimport int64_t

from onehot_fast._arrow.abi cimport ArrowArray
from onehot_fast._arrow.schema cimport ArrowField


cdef int check(ArrowField schema, const ArrowArray *array, int64_t least) except -1
