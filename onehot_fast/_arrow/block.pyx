# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Export of the columns of one block of memory as an Arrow struct array, through the Arrow C data interface.

Importers share the block and keep it alive. The struct and each of its columns hold a reference to the owner of
the block, and may be released in any order (Arrow C data interface, "Moving child arrays").
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t

from onehot_fast._arrow.abi cimport (
    ARROW_FLAG_NULLABLE,
    ArrowArray,
    ArrowSchema,
    ohf_arrow_make_schema,
)
from onehot_fast._arrow.array cimport new_array_capsule
from onehot_fast._arrow.schema cimport new_schema_capsule

cnp.import_array()

cdef extern from "Python.h":
    bint Py_IsInitialized() noexcept nogil


@cython.final
cdef class Memory:
    """The owner of one exported array: it holds the C structures of the columns, and the block of memory."""

    cdef object block
    cdef ArrowArray *columns
    cdef ArrowArray **children
    cdef const void **buffers

    def __cinit__(self, object block, Py_ssize_t n_columns):
        self.block = block
        self.columns = <ArrowArray *> allocate(n_columns, sizeof(ArrowArray))
        self.children = <ArrowArray **> allocate(n_columns, sizeof(ArrowArray *))
        # Two buffers for each column, a validity bitmap (NULL) and the data, and one buffer for the struct.
        self.buffers = <const void **> allocate(2 * n_columns + 1, sizeof(void *))

    def __dealloc__(self):
        PyMem_RawFree(self.columns)
        PyMem_RawFree(self.children)
        PyMem_RawFree(self.buffers)


cdef void *allocate(Py_ssize_t n, size_t size) except NULL:
    """Return zeroed memory for ``n`` items."""
    cdef void *memory = PyMem_RawCalloc(n + 1, size)
    if memory == NULL:
        raise MemoryError(f"cannot allocate the Arrow structures of {n} columns")
    return memory


cdef void release(ArrowArray *array) noexcept nogil:
    """Release an array on any thread; after the end of the interpreter, only mark it as released."""
    if Py_IsInitialized():
        release_references(array)
    array.release = NULL


cdef void release_references(ArrowArray *array) noexcept with gil:
    """Release the columns that the importer did not move out, and the reference to the owner."""
    cdef int64_t at
    for at in range(array.n_children):
        if array.children[at].release != NULL:
            array.children[at].release(array.children[at])
    Py_DECREF(<object> array.private_data)


cdef void fill_array(ArrowArray *array, Py_ssize_t n_rows, int n_buffers, Memory memory, Py_ssize_t at) noexcept:
    """Fill in an array without children or nulls; ``at`` is its first index in ``memory.buffers``."""
    array.length = n_rows
    array.n_buffers = n_buffers
    array.buffers = memory.buffers + at
    array.release = release
    array.private_data = <void *> memory
    Py_INCREF(memory)


cdef int fill_schema(ArrowSchema *to, bytes format, bytes name, Py_ssize_t n_fields) except -1:
    """Fill in a schema without its children."""
    if not ohf_arrow_make_schema(to, format, name, NULL, 0, ARROW_FLAG_NULLABLE, n_fields, False):
        raise MemoryError("cannot allocate an Arrow schema")
    return 0


@cython.final
cdef class ArrowBlock:
    """Contiguous columns of one block of memory: an Arrow struct array without nulls."""

    cdef readonly object block
    cdef char *data
    cdef Py_ssize_t row_bytes
    cdef list names
    cdef bytes format
    cdef Py_ssize_t n_rows

    def __init__(self, names, cnp.ndarray block not None, Py_ssize_t n_rows, str format, Py_ssize_t n_bits):
        """Keep a C-contiguous block with one row for each name; a row has ``n_rows`` elements of ``n_bits`` bits.

        ``format`` is an Arrow format string, such as ``"b"``.
        """
        self.block = block
        self.names = [name.encode() for name in names]
        self.format = format.encode()
        self.n_rows = n_rows
        if not block.flags.c_contiguous or block.ndim < 2 or len(block) != len(self.names):
            raise ValueError("ArrowBlock: block must have one contiguous row for each name")
        # Use Python integers, which do not overflow.
        row_bytes = (<object> n_rows * n_bits + 7) // 8
        if n_rows < 0 or n_bits < 1 or block.nbytes < len(block) * row_bytes:
            raise ValueError(f"ArrowBlock: block must have room for {n_rows} rows")
        # Store the pointer now, because Python code can change the shape and strides of an array later.
        self.data = cnp.PyArray_BYTES(block)
        self.row_bytes = cnp.PyArray_STRIDE(block, 0)

    def __arrow_c_schema__(self):
        """Return an Arrow schema capsule of the type."""
        cdef Py_ssize_t at
        cdef ArrowSchema *schema
        cdef object capsule = new_schema_capsule(&schema)
        fill_schema(schema, b"+s", b"", len(self.names))
        for at in range(len(self.names)):
            fill_schema(schema.children[at], self.format, self.names[at], 0)
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        """Return the capsules of the type and of the array; the requested type is ignored."""
        cdef Py_ssize_t n = len(self.names), at
        cdef Memory memory = Memory(self.block, n)
        cdef ArrowArray *array
        cdef object capsule = new_array_capsule(&array)
        for at in range(n):
            memory.buffers[2 * at + 1] = self.data + at * self.row_bytes
            memory.children[at] = &memory.columns[at]
            fill_array(&memory.columns[at], self.n_rows, 2, memory, 2 * at)
        fill_array(array, self.n_rows, 1, memory, 2 * n)
        array.n_children = n
        array.children = memory.children
        return self.__arrow_c_schema__(), capsule
