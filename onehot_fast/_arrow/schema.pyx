# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Read, check and write the types of the Arrow C data interface, and check arrays against their types.

The rules are those of the specification: "The Arrow C data interface" (format strings, metadata, flags) and "Arrow
Columnar Format" (the buffers of each layout). The lengths of the buffers cannot be checked.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport (
    ArrowArray,
    ArrowSchema,
    ohf_arrow_make_schema,
)

import re
import sys

import numpy as np

cdef enum:
    MAX_DEPTH = 64              # levels of nesting, like Arrow's C++ library
    MAX_CHILDREN = 1 << 24      # a field with more children is rejected
    MAX_BUFFERS = 1 << 24

# More rows, of 16 bytes each, would exceed the address space.
cdef int64_t MAX_ROWS = sys.maxsize // 16

MAKER = object()

# `LAYOUTS` maps a format string to the kind of the type, whether the first buffer is a validity bitmap, the number
# of buffers (-1: three or more), the number of children (-1: not fixed), and which buffers must exist unless the
# array is empty (bit i: buffer i). The next three tuples are layouts without the kind, which several types share.
cdef tuple FIXED = (True, 2, 0, 0b10)
cdef tuple OFFSETS = (True, 3, 0, 0b10)     # the data buffer may be absent if all strings are empty
cdef tuple VIEWS = (True, -1, 0, 0b10)
cdef dict LAYOUTS = {
    "n": ("null", False, 0, 0, 0),
    "b": ("boolean", *FIXED),
    **dict.fromkeys("cCsSiIlL", ("integer", *FIXED)),
    **dict.fromkeys("efg", ("float", *FIXED)),
    **dict.fromkeys(("tdD", "tdm", "tts", "ttm", "ttu", "ttn"), ("temporal", *FIXED)),
    **dict.fromkeys(("tDs", "tDm", "tDu", "tDn", "tiM", "tiD", "tin"), ("temporal", *FIXED)),
    **dict.fromkeys(("u", "U"), ("string", *OFFSETS)),
    **dict.fromkeys(("z", "Z"), ("binary", *OFFSETS)),
    "vu": ("string", *VIEWS),
    "vz": ("binary", *VIEWS),
    **dict.fromkeys(("+l", "+L"), ("list", True, 2, 1, 0b10)),
    **dict.fromkeys(("+vl", "+vL"), ("list", True, 3, 1, 0b110)),
    "+m": ("map", True, 2, 1, 0b10),
    "+s": ("struct", True, 1, -1, 0),
    "+r": ("run_end", False, 0, 2, 0),
}
# For each format string: the dtype of the values in memory. Dates, times and durations are integers.
cdef dict DTYPES = {
    format: np.dtype(name) for name, formats in (
        ("?", "b"), ("i1", "c"), ("u1", "C"), ("i2", "s"), ("u2", "S"), ("i4", "i tdD tts ttm"), ("u4", "I"),
        ("i8", "l tdm ttu ttn tDs tDm tDu tDn ts"), ("u8", "L"), ("f2", "e"), ("f4", "f"), ("f8", "g"),
    ) for format in formats.split()
}
# The layouts of the types whose format strings contain parameters, in the form of `LAYOUTS`.
cdef tuple PATTERNS = (
    (re.compile(r"ts[smun]:.*", re.DOTALL), ("temporal", *FIXED)),
    (re.compile(r"d:\d+,-?\d+(,\d+)?"), ("decimal", *FIXED)),
    (re.compile(r"w:0+"), ("binary", True, 2, 0, 0)),
    (re.compile(r"w:\d+"), ("binary", *FIXED)),
    (re.compile(r"\+w:\d+"), ("list", True, 1, 1, 0)),
    (re.compile(r"\+ud:[\d,]*"), ("union", False, 2, -1, 0b11)),
    (re.compile(r"\+us:[\d,]*"), ("union", False, 1, -1, 0b1)),
)


cdef tuple layout_of(str format):
    """Return the layout of a type in Arrow's columnar format."""
    if format in LAYOUTS:
        return LAYOUTS[format]
    for pattern, layout in PATTERNS:
        if pattern.fullmatch(format):
            return layout
    raise ValueError(f"an Arrow format must be a format string of the C data interface, got {format!r}")


cdef str text_of(const char *text, str what):
    """Return a C string as str, or "" for NULL."""
    if text == NULL:
        return ""
    try:
        return (<bytes> text).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"the {what} of an Arrow field is not UTF-8: {<bytes> text!r}") from error


cdef int32_t read_count(const char **at) except -1:
    """Return the int32 count at an address in the metadata, and move the address past it."""
    cdef int32_t count
    memcpy(&count, at[0], sizeof(count))
    if count < 0:
        raise ValueError(f"a count in the metadata of an Arrow field must be at least 0, got {count}")
    at[0] += sizeof(count)
    return count


cdef bytes pack_metadata(const char *metadata):
    """Return a copy of the metadata of a field, or None for NULL."""
    cdef const char *at = metadata
    cdef int32_t _i
    if metadata == NULL:
        return None
    # The length of the metadata is known only after all entries are read.
    for _i in range(read_count(&at)):
        at += read_count(&at)
        at += read_count(&at)
    return PyBytes_FromStringAndSize(metadata, at - metadata)


cdef class Imported:

    def __cinit__(self, maker=None):
        if maker is not MAKER:
            raise TypeError(f"{type(self).__name__} cannot be created directly: call read(source)")

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} of the Arrow C data interface cannot be pickled")


@cython.final
cdef class ArrowField(Imported):
    """The immutable type of one Arrow field, which any Arrow library can import again."""

    cdef str where(self):
        """Return the name and format of the field for an error message."""
        return f"the Arrow array {self.name!r} of format {self.format!r}"

    @property
    def dtype(self):
        """The dtype of the values (or dictionary indices) in memory, or None if NumPy has none."""
        return DTYPES.get("ts" if self.format.startswith("ts") else self.format)

    def __repr__(self):
        """Return the name, format and kind as text."""
        return f"ArrowField({self.name!r}, {self.format!r}, kind={self.kind!r})"

    def __arrow_c_schema__(self):
        """Return an Arrow schema capsule with a copy of the field."""
        cdef ArrowSchema *schema
        capsule = new_capsule(&schema, "arrow_schema")
        write_schema(self, schema)
        return capsule


cdef object new_capsule(structure_t **structure, const char *name):
    """Return a capsule of a new structure of zeros; set ``structure[0]`` to the structure's address."""
    structure[0] = <structure_t *> PyMem_RawCalloc(1, sizeof(structure_t))
    if structure[0] == NULL:
        raise MemoryError(f"cannot allocate an {name.decode()}")
    return PyCapsule_New(structure[0], name, destroy)


cdef void destroy(object capsule) noexcept:
    """Free the structure of a deleted capsule."""
    if PyCapsule_IsValid(capsule, "arrow_schema"):
        free_structure(<ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema"))
    elif PyCapsule_IsValid(capsule, "arrow_array"):
        free_structure(<ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array"))


cdef void free_structure(structure_t *structure) noexcept:
    """Free a structure; first release its contents if no library imported them."""
    if structure.release != NULL:
        structure.release(structure)
    PyMem_RawFree(structure)


cdef int write_schema(ArrowField schema, ArrowSchema *to) except -1:
    """Write a field with its children and dictionary to ``to``.

    If an error occurs, the capsule that contains ``to`` releases what has been written.
    """
    cdef bytes format = schema.format.encode(), name = schema.name.encode()
    cdef const char *metadata = NULL
    cdef Py_ssize_t n_metadata = 0, i
    if schema.packed_metadata is not None:
        metadata = schema.packed_metadata
        n_metadata = len(schema.packed_metadata)
    if not ohf_arrow_make_schema(
        to, format, name, metadata, n_metadata, schema.flags, len(schema.children),
        schema.dictionary is not None,
    ):
        raise MemoryError("cannot allocate an Arrow schema")
    for i in range(len(schema.children)):
        write_schema(schema.children[i], to.children[i])
    if schema.dictionary is not None:
        write_schema(schema.dictionary, to.dictionary)
    return 0


cdef tuple read_children(const ArrowSchema *source, str format, int n_expected, int depth):
    """Read the children of a field."""
    cdef int64_t n_children = source.n_children, i
    cdef list children = []
    if not 0 <= n_children <= MAX_CHILDREN or (n_expected >= 0 and n_children != n_expected):
        expected = n_expected if n_expected >= 0 else f"in [0, {MAX_CHILDREN}]"
        raise ValueError(f"an Arrow schema of format {format!r}: n_children must be {expected}, got {n_children}")
    if n_children > 0 and source.children == NULL:
        raise ValueError(f"an Arrow schema of format {format!r}: n_children is {n_children}, but children is NULL")
    for i in range(n_children):
        children.append(schema_of(source.children[i], depth + 1))
    return tuple(children)


cdef ArrowField new_field(str format, str name, int64_t flags):
    """Return a field without children, metadata and dictionary."""
    cdef ArrowField field = ArrowField.__new__(ArrowField, MAKER)
    field.format, field.name, field.flags, field.children = format, name, flags, ()
    field.kind, field.has_validity, field.n_buffers, _, field.required = layout_of(format)
    return field


cdef ArrowField schema_of(const ArrowSchema *source, int depth):
    """Read one field with its children and dictionary, without changing the C structure."""
    cdef ArrowField schema
    cdef int n_children
    if depth > MAX_DEPTH:
        raise ValueError(f"an Arrow schema must have at most {MAX_DEPTH} levels of nesting")
    if source == NULL or source.release == NULL:
        raise ValueError("an Arrow schema is released: it was imported before, or never filled")
    if source.format == NULL:
        raise ValueError("an Arrow schema has no format")
    schema = new_field(text_of(source.format, "format"), text_of(source.name, "name"), source.flags)
    schema.packed_metadata = pack_metadata(source.metadata)
    n_children = layout_of(schema.format)[3]
    if schema.format.startswith("+u"):      # a union has one child per type id
        n_children = len(schema.format[4:].split(",")) if len(schema.format) > 4 else 0
    schema.children = read_children(source, schema.format, n_children, depth)
    if source.dictionary != NULL:
        if schema.kind != "integer":
            raise ValueError(
                f"the indices of an Arrow dictionary must be integers, got the format {schema.format!r}"
            )
        schema.kind = "dictionary"
        schema.dictionary = schema_of(source.dictionary, depth + 1)
    return schema


# ---- Arrays checked against their type ----

cdef int check(ArrowField schema, const ArrowArray *array, int64_t min_rows) except -1:
    """Raise an error unless an array is valid for its type and has at least ``min_rows`` rows."""
    if array == NULL or array.release == NULL:
        raise ValueError(f"{schema.where()} is released: it was imported before, or never filled")
    if array.length < 0 or array.offset < 0 or array.length > MAX_ROWS - array.offset:
        raise ValueError(
            f"{schema.where()}: length and offset must be at least 0 and together at most {MAX_ROWS}, "
            f"got {array.length} and {array.offset}"
        )
    if array.length < min_rows:
        raise ValueError(
            f"{schema.where()}: the parent array requires a length of at least {min_rows}, got {array.length}"
        )
    if not -1 <= array.null_count <= array.length:
        raise ValueError(f"{schema.where()}: null_count must be in [-1, {array.length}], got {array.null_count}")
    check_buffers(schema, array)
    check_below(schema, array)
    return 0


cdef int check_buffers(ArrowField schema, const ArrowArray *array) except -1:
    """Raise an error unless an array has the buffers that its layout requires."""
    cdef bint is_variable = schema.n_buffers < 0
    cdef int64_t n_min = 3 if is_variable else schema.n_buffers
    cdef int64_t n_max = MAX_BUFFERS if is_variable else schema.n_buffers
    cdef int i
    if not n_min <= array.n_buffers <= n_max:
        expected = f"at least {n_min}" if is_variable else n_min
        raise ValueError(f"{schema.where()}: n_buffers must be {expected}, got {array.n_buffers}")
    if array.n_buffers > 0 and array.buffers == NULL:
        raise ValueError(f"{schema.where()}: n_buffers is {array.n_buffers}, but buffers is NULL")
    for i in range(3):
        if schema.required >> i & 1 and array.length > 0 and array.buffers[i] == NULL:
            raise ValueError(f"{schema.where()}: length is {array.length}, but buffer {i} is NULL")
    if is_variable and array.n_buffers > 3 and array.buffers[array.n_buffers - 1] == NULL:
        raise ValueError(f"{schema.where()}: the last buffer (lengths of the data buffers) must not be NULL")
    if schema.has_validity and array.null_count > 0 and array.buffers[0] == NULL:
        raise ValueError(f"{schema.where()}: null_count is {array.null_count}, but there is no validity bitmap")
    return 0


cdef int check_below(ArrowField schema, const ArrowArray *array) except -1:
    """Raise an error unless the children and the dictionary of an array are valid."""
    cdef int64_t i, min_rows = min_rows_of_children(schema, array)
    if array.n_children != len(schema.children):
        raise ValueError(f"{schema.where()}: n_children must be {len(schema.children)}, got {array.n_children}")
    if array.n_children > 0 and array.children == NULL:
        raise ValueError(f"{schema.where()}: n_children is {array.n_children}, but children is NULL")
    for i in range(array.n_children):
        check(schema.children[i], array.children[i], min_rows)
    if schema.dictionary is None and array.dictionary != NULL:
        raise ValueError(f"{schema.where()} has a dictionary, but its schema has none")
    if schema.dictionary is not None and array.dictionary == NULL:
        raise ValueError(f"{schema.where()} has no dictionary, but its schema has one")
    if schema.dictionary is not None:
        check(schema.dictionary, array.dictionary, 0)
    return 0


cdef int64_t min_rows_of_children(ArrowField schema, const ArrowArray *array) except -1:
    """Return how many rows each child of an array must have."""
    cdef int64_t n_rows = array.offset + array.length
    if schema.kind == "struct" or schema.format.startswith("+us"):
        return n_rows
    if schema.format.startswith("+w:"):
        return min(n_rows * int(schema.format[3:]), INT64_MAX)
    if schema.format in ("+l", "+L", "+m") and array.length > 0:
        # The last offset is the number of rows of the child. Other offsets are checked when the lists are read.
        return offset_at(schema, array, n_rows, 8 if schema.format == "+L" else 4)
    return 0


cdef int64_t offset_at(ArrowField schema, const ArrowArray *array, int64_t row, int width) except -1:
    """Return offset ``row``, of ``width`` bytes, of strings or lists; raise an error if it is negative."""
    cdef const char *at = <const char *> array.buffers[1] + row * width     # may be unaligned
    cdef int64_t offset
    cdef int32_t narrow
    if width == sizeof(narrow):
        memcpy(&narrow, at, sizeof(narrow))
        offset = narrow
    else:
        memcpy(&offset, at, sizeof(offset))
    if offset < 0:
        raise ValueError(f"{schema.where()}: offsets must be at least 0, got {offset}")
    return offset
