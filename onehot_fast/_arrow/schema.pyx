# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The types of the Arrow C data interface: read, checked, and written again.

The source of every rule is the specification: "The Arrow C data interface" (format strings, metadata, flags) and
"Arrow Columnar Format" (the buffers of each layout).
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport (
    ARROW_FLAG_DICTIONARY_ORDERED,
    ARROW_FLAG_NULLABLE,
    ArrowSchema,
    ohf_arrow_make_schema,
)

import re

cdef enum:
    DEEPEST = 64                # levels of nesting; as many as Arrow's own C++ imports
    MOST_CHILDREN = 1 << 24     # a larger count is no count

# The token that the constructor of ArrowField requires; it is private to this module.
cdef object MAKER = object()

# For a type: kind, whether a validity bitmap comes first, buffers, children (-1: as many as there are; of a
# union, as it has ids), and which buffers an array that is not empty must have (bit i: buffer i).
cdef tuple FIXED = (True, 2, 0, 0b10)
cdef tuple OFFSETS = (True, 3, 0, 0b10)     # the bytes may be missing where all texts are empty
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
# The same for the types with parameters.
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
    """Return what the columnar format says about a type."""
    cdef tuple layout = LAYOUTS.get(format)
    if layout is not None:
        return layout
    for pattern, layout in PATTERNS:
        if pattern.fullmatch(format):
            return layout
    raise ValueError(f"the Arrow format {format!r} is not one of the C data interface")


cdef int children_of(str format, int n_children):
    """Return how many children a type has, -1 for any number; a union has one for each of its ids."""
    if format.startswith("+u"):
        return len(format[4:].split(",")) if len(format) > 4 else 0
    return n_children


cdef str text_of(const char *text, str what):
    """Return a text of the interface; "" where it is missing."""
    if text == NULL:
        return ""
    try:
        return (<bytes> text).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"the {what} of an Arrow field is not UTF-8: {<bytes> text!r}") from error


cdef int32_t read_count(const char **at) except -1:
    """Read one count of the metadata, and step behind it."""
    cdef int32_t count
    memcpy(&count, at[0], sizeof(count))
    if count < 0:
        raise ValueError(f"the metadata of an Arrow field has a count of {count}; accepted is 0 and more")
    at[0] += sizeof(count)
    return count


cdef bytes pack_metadata(const char *metadata):
    """Copy the metadata; only reading them tells where they end."""
    cdef const char *at = metadata
    cdef int32_t _i
    if metadata == NULL:
        return None
    for _i in range(read_count(&at)):
        at += read_count(&at)
        at += read_count(&at)
    return PyBytes_FromStringAndSize(metadata, at - metadata)


@cython.final
cdef class ArrowField:
    """What one field of the C interface says about its type; immutable, without C memory.

    It exports itself again, so ``pyarrow.field(schema)`` and the like import it.
    """

    def __cinit__(self, maker=None):
        if maker is not MAKER:
            raise TypeError("an ArrowField is made by reading an Arrow object")

    def __reduce__(self):
        raise TypeError("an ArrowField of the Arrow C data interface is not pickled")

    cdef str where(self):
        """Name the field for a message."""
        return f"the Arrow array {self.name!r} of format {self.format!r}"

    @property
    def kind(self):
        """What the type is, whatever its width; "dictionary" for all that is dictionary-encoded."""
        return self.type_kind

    @property
    def metadata(self):
        """The metadata of the field, empty where there is none."""
        cdef const char *at
        cdef int32_t _i, n_bytes
        cdef dict found = {}
        if self.packed_metadata is None:
            return found
        at = self.packed_metadata
        for _i in range(read_count(&at)):
            n_bytes = read_count(&at)
            key = at[:n_bytes]
            at += n_bytes
            n_bytes = read_count(&at)
            found[key] = at[:n_bytes]
            at += n_bytes
        return found

    @property
    def nullable(self):
        """Whether the field may have nulls by its declaration."""
        return bool(self.flags & ARROW_FLAG_NULLABLE)

    @property
    def ordered(self):
        """Whether the order of the dictionary has a meaning; False without a dictionary."""
        return self.dictionary is not None and bool(self.flags & ARROW_FLAG_DICTIONARY_ORDERED)

    def __repr__(self):
        """Name the type in the words of the interface."""
        return f"ArrowField({self.name!r}, {self.format!r}, kind={self.kind!r})"

    def __arrow_c_schema__(self):
        """Return a capsule of the same field, with texts of its own."""
        cdef ArrowSchema *made = <ArrowSchema *> PyMem_RawCalloc(1, sizeof(ArrowSchema))
        if made == NULL:
            raise MemoryError("cannot allocate an Arrow schema")
        capsule = PyCapsule_New(made, "arrow_schema", destroy_schema)
        write_schema(self, made)
        return capsule


cdef void destroy_schema(object capsule) noexcept:
    """Release the schema that nobody took, as the destructor of its capsule."""
    cdef ArrowSchema *schema
    if PyCapsule_IsValid(capsule, "arrow_schema"):
        schema = <ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema")
        if schema.release != NULL:
            schema.release(schema)
        PyMem_RawFree(schema)


cdef int write_schema(ArrowField schema, ArrowSchema *to) except -1:
    """Write a field and all below it; what was written before an error is released with the whole."""
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
    """Read the fields below one."""
    cdef int64_t n_children = source.n_children, i
    cdef list children = []
    if not 0 <= n_children <= MOST_CHILDREN or (n_expected >= 0 and n_children != n_expected):
        accepted = n_expected if n_expected >= 0 else f"0 to {MOST_CHILDREN}"
        raise ValueError(
            f"an Arrow schema of format {format!r} has n_children = {n_children}; accepted is {accepted}"
        )
    if n_children > 0 and source.children == NULL:
        raise ValueError(f"an Arrow schema of format {format!r} has no children, and n_children = {n_children}")
    for i in range(n_children):
        children.append(schema_of(source.children[i], depth + 1))
    return tuple(children)


cdef ArrowField schema_of(const ArrowSchema *source, int depth):
    """Read one field and all below it; the C structure is only looked at."""
    cdef ArrowField schema = ArrowField.__new__(ArrowField, MAKER)
    cdef int n_children
    if depth > DEEPEST:
        raise ValueError(f"an Arrow schema is nested deeper than {DEEPEST} levels")
    if source == NULL or source.release == NULL:
        raise ValueError("an Arrow schema is released: it was imported before, or never filled")
    if source.format == NULL:
        raise ValueError("an Arrow schema has no format")
    schema.format = text_of(source.format, "format")
    schema.name = text_of(source.name, "name")
    schema.packed_metadata = pack_metadata(source.metadata)
    schema.flags = source.flags
    schema.type_kind, schema.has_validity, schema.n_buffers, n_children, schema.required = layout_of(schema.format)
    n_children = children_of(schema.format, n_children)
    schema.children = read_children(source, schema.format, n_children, depth)
    if source.dictionary != NULL:
        if schema.type_kind != "integer":
            raise ValueError(
                f"a dictionary has indices of the Arrow format {schema.format!r}; accepted are integers"
            )
        schema.type_kind = "dictionary"
        schema.dictionary = schema_of(source.dictionary, depth + 1)
    return schema
