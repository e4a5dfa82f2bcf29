# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Arrays of the Arrow C data interface, checked before they are believed, down to the last child.

The source of every rule is the specification, "The Arrow C data interface" and "Arrow Columnar Format". That the
buffers are as long as they must be, nobody can check.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport ArrowArray
from onehot_fast._arrow.schema cimport ArrowField

import sys

cdef enum:
    MOST_BUFFERS = 1 << 24      # a larger count is no count

# More rows of the widest fixed type would not fit the address space.
cdef int64_t MOST_ROWS = sys.maxsize // 16


cdef int check(ArrowField schema, const ArrowArray *array, int64_t least) except -1:
    """Raise unless an array is what its type demands, and at least so long."""
    if array == NULL or array.release == NULL:
        raise ValueError(f"{schema.where()} is released: it was imported before, or never filled")
    if array.length < 0 or array.offset < 0 or array.length > MOST_ROWS - array.offset:
        raise ValueError(
            f"{schema.where()} has length {array.length} and offset {array.offset}; "
            f"accepted are two numbers from 0 on, together at most {MOST_ROWS}"
        )
    if array.length < least:
        raise ValueError(f"{schema.where()} has length {array.length}; its parent needs {least} rows")
    if not -1 <= array.null_count <= array.length:
        raise ValueError(
            f"{schema.where()} has null_count {array.null_count}; accepted is -1 to its length {array.length}"
        )
    check_buffers(schema, array)
    check_below(schema, array)
    return 0


cdef int check_buffers(ArrowField schema, const ArrowArray *array) except -1:
    """Raise unless an array has the buffers of its layout."""
    cdef int64_t least = 3 if schema.n_buffers < 0 else schema.n_buffers
    cdef int64_t most = MOST_BUFFERS if schema.n_buffers < 0 else schema.n_buffers
    cdef int i
    if not least <= array.n_buffers <= most:
        accepted = least if least == most else f"{least} or more"
        raise ValueError(f"{schema.where()} has {array.n_buffers} buffers; accepted is {accepted}")
    if array.n_buffers > 0 and array.buffers == NULL:
        raise ValueError(f"{schema.where()} has no buffers, and n_buffers = {array.n_buffers}")
    for i in range(3):
        if schema.required >> i & 1 and array.length > 0 and array.buffers[i] == NULL:
            raise ValueError(f"{schema.where()} has length {array.length}, and its buffer {i} is missing")
    if schema.n_buffers < 0 and array.n_buffers > 3 and array.buffers[array.n_buffers - 1] == NULL:
        raise ValueError(f"{schema.where()} lacks the lengths of its data buffers")
    if schema.has_validity and array.null_count > 0 and array.buffers[0] == NULL:
        raise ValueError(f"{schema.where()} has {array.null_count} nulls, and no validity bitmap")
    return 0


cdef int check_below(ArrowField schema, const ArrowArray *array) except -1:
    """Raise unless the children and the dictionary of an array are there, and are what they should be."""
    cdef int64_t i, least = rows_of_children(schema, array)
    if array.n_children != len(schema.children):
        raise ValueError(
            f"{schema.where()} has {array.n_children} children; its schema has {len(schema.children)}"
        )
    if array.n_children > 0 and array.children == NULL:
        raise ValueError(f"{schema.where()} has no children, and n_children = {array.n_children}")
    for i in range(array.n_children):
        check(schema.children[i], array.children[i], least)
    if schema.dictionary is None:
        if array.dictionary != NULL:
            raise ValueError(f"{schema.where()} has a dictionary; its schema has none")
    elif array.dictionary == NULL:
        raise ValueError(f"{schema.where()} has no dictionary; its schema has one")
    else:
        check(schema.dictionary, array.dictionary, 0)
    return 0


cdef int64_t rows_of_children(ArrowField schema, const ArrowArray *array) except -1:
    """Return how many rows an array reads of each of its children at least."""
    cdef int64_t n_rows = array.offset + array.length
    if schema.kind == "struct" or schema.format.startswith("+us"):
        return n_rows
    if schema.format.startswith("+w:"):
        return min(n_rows * int(schema.format[3:]), INT64_MAX)
    if schema.format in ("+l", "+L", "+m") and array.length > 0:
        return end_of_lists(schema, array, n_rows)
    return 0


cdef int64_t end_of_lists(ArrowField schema, const ArrowArray *array, int64_t n_rows) except -1:
    """Return the last offset of lists; those before it whoever reads the lists must compare."""
    cdef int32_t narrow
    cdef int64_t end
    if schema.format == "+L":
        memcpy(&end, <const int64_t *> array.buffers[1] + n_rows, sizeof(end))
    else:
        memcpy(&narrow, <const int32_t *> array.buffers[1] + n_rows, sizeof(narrow))
        end = narrow
    if end < 0:
        raise ValueError(f"{schema.where()} has an offset of {end}")
    return end
