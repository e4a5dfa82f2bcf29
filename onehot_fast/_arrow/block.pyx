# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Columns of one block of memory as an Arrow struct array, by the Arrow C data interface.

Whoever imports the array shares the block, and keeps it alive: the struct and each of its columns hold one
reference to what owns them, and give it back when they are released, in any order (Arrow C data interface,
"Moving child arrays").
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t

from onehot_fast._arrow.abi cimport (
    ARROW_FLAG_NULLABLE,
    ArrowArray,
    ArrowSchema,
    ohf_arrow_make_schema,
)

cnp.import_array()

cdef extern from "Python.h":
    bint Py_IsInitialized() noexcept nogil


@cython.final
cdef class Memory:
    """What one exported array owns: the C structures of its columns, and the block they point into."""

    cdef object block
    cdef ArrowArray *columns
    cdef ArrowArray **places
    cdef const void **buffers

    def __cinit__(self, object block, Py_ssize_t n_columns):
        self.block = block
        self.columns = <ArrowArray *> room(n_columns, sizeof(ArrowArray))
        self.places = <ArrowArray **> room(n_columns, sizeof(ArrowArray *))
        # Two of each column, the first for nulls, of which there are none; and one of the struct.
        self.buffers = <const void **> room(2 * n_columns + 1, sizeof(void *))

    def __dealloc__(self):
        PyMem_RawFree(self.columns)
        PyMem_RawFree(self.places)
        PyMem_RawFree(self.buffers)


cdef void *room(Py_ssize_t n, size_t size) except NULL:
    """Return memory for ``n`` items, all zero; at least one, since NULL is no memory."""
    cdef void *memory = PyMem_RawCalloc(n + 1, size)
    if memory == NULL:
        raise MemoryError(f"cannot allocate the Arrow structures of {n} columns")
    return memory


cdef void release(ArrowArray *array) noexcept nogil:
    """Release an array on any thread; the memory of one that outlives the interpreter is the system's to take."""
    if Py_IsInitialized():
        give_back(array)
    array.release = NULL


cdef void give_back(ArrowArray *array) noexcept with gil:
    """Release the columns that nobody took, and give the reference back."""
    cdef int64_t at
    for at in range(array.n_children):
        if array.children[at].release != NULL:
            array.children[at].release(array.children[at])
    Py_DECREF(<object> array.private_data)


cdef void destroy_schema(object capsule) noexcept:
    """Release the schema that nobody took, as the destructor of its capsule."""
    cdef ArrowSchema *schema = <ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    PyMem_RawFree(schema)


cdef void destroy_array(object capsule) noexcept:
    """Release the array that nobody took, as the destructor of its capsule."""
    cdef ArrowArray *array = <ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    PyMem_RawFree(array)


cdef void lay_out(ArrowArray *array, Py_ssize_t n_rows, int n_buffers, Memory memory, Py_ssize_t at) noexcept:
    """Fill in an array without children or nulls, whose buffers are those of the memory from ``at`` on."""
    array.length = n_rows
    array.n_buffers = n_buffers
    array.buffers = memory.buffers + at
    array.release = release
    array.private_data = <void *> memory
    Py_INCREF(memory)


cdef int make_schema(ArrowSchema *to, bytes format, bytes name, Py_ssize_t n_fields) except -1:
    """Fill in a schema whose fields are still to be made."""
    if not ohf_arrow_make_schema(to, format, name, NULL, 0, ARROW_FLAG_NULLABLE, n_fields, False):
        raise MemoryError("cannot allocate an Arrow schema")
    return 0


@cython.final
cdef class ArrowBlock:
    """Columns that stand side by side in memory: an Arrow struct array without nulls."""

    cdef readonly object block
    cdef char *data
    cdef Py_ssize_t row_bytes
    cdef list names
    cdef bytes format
    cdef Py_ssize_t n_rows

    def __init__(self, names, cnp.ndarray block not None, Py_ssize_t n_rows, str format, Py_ssize_t n_bits):
        """Take over a C-contiguous block with a row for each name: ``n_rows`` elements of ``n_bits`` bits.

        ``format`` is the type in the words of the interface, such as ``"b"``.
        """
        self.block = block
        self.names = [name.encode() for name in names]
        self.format = format.encode()
        self.n_rows = n_rows
        if not block.flags.c_contiguous or block.ndim < 2 or len(block) != len(self.names):
            raise ValueError("ArrowBlock: the block has not one contiguous row for each name")
        # In Python's integers, which do not overflow.
        row_bytes = (<object> n_rows * n_bits + 7) // 8
        if n_rows < 0 or n_bits < 1 or block.nbytes < len(block) * row_bytes:
            raise ValueError(f"ArrowBlock: the block is too small for {n_rows} rows")
        # Now: its shape and strides can be set anew from Python.
        self.data = cnp.PyArray_BYTES(block)
        self.row_bytes = cnp.PyArray_STRIDE(block, 0)

    def __arrow_c_schema__(self):
        """Return the capsule of the type."""
        cdef Py_ssize_t at
        cdef ArrowSchema *schema = <ArrowSchema *> room(1, sizeof(ArrowSchema))
        cdef object capsule = PyCapsule_New(schema, "arrow_schema", destroy_schema)
        make_schema(schema, b"+s", b"", len(self.names))
        for at in range(len(self.names)):
            make_schema(schema.children[at], self.format, self.names[at], 0)
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        """Return the capsules of the type and of the array, which is of no other type if one is asked for."""
        cdef Py_ssize_t n = len(self.names), at
        cdef Memory memory = Memory(self.block, n)
        cdef ArrowArray *array = <ArrowArray *> room(1, sizeof(ArrowArray))
        cdef object capsule = PyCapsule_New(array, "arrow_array", destroy_array)
        for at in range(n):
            memory.buffers[2 * at + 1] = self.data + at * self.row_bytes
            memory.places[at] = &memory.columns[at]
            lay_out(&memory.columns[at], self.n_rows, 2, memory, 2 * at)
        lay_out(array, self.n_rows, 1, memory, 2 * n)
        array.n_children = n
        array.children = memory.places
        return self.__arrow_c_schema__(), capsule
