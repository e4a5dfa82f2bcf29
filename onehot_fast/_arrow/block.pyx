# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Export of the columns of one block of memory as an Arrow struct array, through the Arrow C data interface."""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.ref cimport Py_DECREF, Py_INCREF

from onehot_fast._arrow.abi cimport (
    ARROW_FLAG_NULLABLE,
    ArrowArray,
    ArrowSchema,
    ohf_arrow_let_go,
    ohf_arrow_make_schema,
    ohf_arrow_own,
    ohf_arrow_share,
)
from onehot_fast._arrow.array cimport new_array_capsule
from onehot_fast._arrow.schema cimport new_schema_capsule

cnp.import_array()

cdef extern from "Python.h":
    bint Py_IsInitialized() noexcept nogil


cdef void release(ArrowArray *array) noexcept nogil:
    """Release the reference to the block on any thread; after the end of the interpreter, do nothing."""
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object> array.private_data)
    array.release = NULL


cdef int fill_schema(ArrowSchema *to, bytes format, bytes name, Py_ssize_t n_fields) except -1:
    """Fill in a schema without its children."""
    if not ohf_arrow_make_schema(to, format, name, NULL, 0, ARROW_FLAG_NULLABLE, n_fields, False):
        raise MemoryError("cannot allocate an Arrow schema")
    return 0


@cython.final
cdef class ArrowBlock:
    """Contiguous columns of one block of memory: an Arrow struct array without nulls.

    Importers share the block and keep it alive.
    """

    cdef readonly object block
    cdef list names
    cdef bytes format
    cdef ArrowArray whole
    cdef ArrowArray *columns
    cdef ArrowArray **children
    cdef const void **buffers           # a validity bitmap (NULL) and the data of each column; one buffer of the struct

    def __cinit__(self, names, cnp.ndarray block not None, Py_ssize_t n_rows, str format, Py_ssize_t n_bits):
        """Keep a C-contiguous block with one row for each name; a row has ``n_rows`` elements of ``n_bits`` bits.

        ``format`` is an Arrow format string, such as ``"b"``.
        """
        cdef Py_ssize_t at, n
        self.block = block
        self.names = [name.encode() for name in names]
        self.format = format.encode()
        n = len(self.names)
        if not block.flags.c_contiguous or block.ndim < 2 or len(block) != n:
            raise ValueError("ArrowBlock: block must have one contiguous row for each name")
        # Use Python integers, which do not overflow.
        row_bytes = (<object> n_rows * n_bits + 7) // 8
        if n_rows < 0 or n_bits < 1 or block.nbytes < len(block) * row_bytes:
            raise ValueError(f"ArrowBlock: block must have room for {n_rows} rows")
        self.columns = <ArrowArray *> PyMem_RawCalloc(n + 1, sizeof(ArrowArray))
        self.children = <ArrowArray **> PyMem_RawCalloc(n + 1, sizeof(ArrowArray *))
        self.buffers = <const void **> PyMem_RawCalloc(2 * n + 1, sizeof(void *))
        if self.columns == NULL or self.children == NULL or self.buffers == NULL:
            raise MemoryError(f"cannot allocate the Arrow structures of {n} columns")
        # Store the pointers now, because Python code can change the shape and strides of an array later.
        for at in range(n):
            self.buffers[2 * at + 1] = cnp.PyArray_BYTES(block) + at * cnp.PyArray_STRIDE(block, 0)
            self.columns[at].length = n_rows
            self.columns[at].n_buffers = 2
            self.columns[at].buffers = self.buffers + 2 * at
            self.children[at] = &self.columns[at]
        self.whole.length = n_rows
        self.whole.n_buffers = 1
        self.whole.buffers = self.buffers + 2 * n
        self.whole.n_children = n
        self.whole.children = self.children

    def __dealloc__(self):
        PyMem_RawFree(self.columns)
        PyMem_RawFree(self.children)
        PyMem_RawFree(self.buffers)

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
        cdef ArrowArray source = self.whole
        cdef ArrowArray *array
        cdef object capsule = new_array_capsule(&array)
        source.release = release
        source.private_data = <void *> self
        owner = ohf_arrow_own(&source)
        if owner == NULL:
            raise MemoryError("cannot allocate an Arrow array")
        Py_INCREF(self)
        is_shared = ohf_arrow_share(owner, &self.whole, array)
        ohf_arrow_let_go(owner)
        if not is_shared:
            raise MemoryError("cannot allocate an Arrow array")
        return self.__arrow_c_schema__(), capsule
