# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""One array of the Arrow C data interface: read as codes, and handed on."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_INCREF
from libc.stdint cimport INT64_MAX, UINT64_MAX, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport (
    ArrowArray,
    ohf_arrow_keep,
    ohf_arrow_let_go,
    ohf_arrow_own,
    ohf_arrow_owner,
    ohf_arrow_set_validity,
    ohf_arrow_share,
)
from onehot_fast._arrow.check cimport check
from onehot_fast._arrow.schema cimport ArrowField
from onehot_fast._kernels.validity cimport code_bits, code_rows, count_ones, intersect, spread

import numpy as np

from onehot_fast._runtime.memory import allocate

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(
        PyTypeObject *subtype, cnp.dtype descr, int nd, const cnp.npy_intp *dims,
        const cnp.npy_intp *strides, void *data, int flags, PyObject *obj,
    )

# What makes an Array: nobody else has it.
cdef object MAKER = object()

cdef dict DTYPES = {
    "c": np.dtype(np.int8), "C": np.dtype(np.uint8), "s": np.dtype(np.int16), "S": np.dtype(np.uint16),
    "i": np.dtype(np.int32), "I": np.dtype(np.uint32), "l": np.dtype(np.int64), "L": np.dtype(np.uint64),
}
cdef dict BLOCK_DTYPES = {
    **DTYPES, "b": np.dtype(np.bool_),
    "e": np.dtype(np.float16), "f": np.dtype(np.float32), "g": np.dtype(np.float64),
}
cdef dict SIGNED = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}


@cython.final
cdef class Array:
    """One chunk: an array over the producer's own memory, which it keeps alive.

    Any library imports it again through ``__arrow_c_array__``, without a copy and any number of times.
    """

    def __cinit__(self, maker=None):
        if maker is not MAKER:
            raise TypeError("an Array is made by reading an Arrow object")

    def __dealloc__(self):
        if self.owner != NULL:
            ohf_arrow_let_go(self.owner)

    def __reduce__(self):
        raise TypeError("an Array of the Arrow C data interface is not pickled")

    def __len__(self):
        """Return the number of rows."""
        return self.length

    def __repr__(self):
        """Name the type and the length; the values may be many."""
        return f"Array({self.length} rows, {self.schema!r})"

    @property
    def null_count(self):
        """The number of null rows, counted once where the producer does not say there are none.

        As Arrow counts them: by the validity bitmap. What is null in the values of a dictionary, or in the
        children of a union or a run-end encoded array, is not counted.
        """
        return self.count_nulls()

    @property
    def dictionary(self):
        """The values of a dictionary-encoded array; None for any other."""
        if self.node.dictionary == NULL:
            return None
        return make_array(
            self.owner, self.node.dictionary, self.schema.dictionary,
            self.node.dictionary.offset, self.node.dictionary.length,
        )

    @property
    def identity(self):
        """Types, lengths, offsets and addresses: as long as both arrays live, equal identities are equal values.

        After the death of an array its addresses may be those of other values: a cache keeps the array.
        """
        cdef list identity = [self.offset, self.length, <uintptr_t> self.bits, self.bits_begin]
        identify(self.schema, self.node, identity)
        return tuple(identity)

    def child(self, Py_ssize_t position):
        """Return one column of a struct (or record batch), with the rows of the struct.

        The offset of the struct is applied, and a null row of the struct is a null of the column.

        Raises
        ------
        TypeError
            The array is no struct.
        IndexError
            The struct has no such child.
        """
        cdef const ArrowArray *node
        cdef Array column
        if self.schema.kind != "struct":
            raise TypeError(f"{self.schema.where()} is not a struct: its children have rows of their own")
        if not 0 <= position < self.node.n_children:
            n_children = self.node.n_children
            raise IndexError(f"child {position} is outside [0, {n_children}) of {self.schema.where()}")
        node = self.node.children[position]
        column = make_array(
            self.owner, node, self.schema.children[position], node.offset + self.offset, self.length,
        )
        if self.count_nulls() > 0:
            column.cover(self.bits, self.bits_begin)
        return column

    def codes(self):
        """Return the integers, Booleans (as 0 and 1) or dictionary indices, a null as -1.

        Returns
        -------
        ndarray of integers, shape (n_rows,)
            Contiguous, aligned, native. Integers and indices without nulls: a read-only view of the producer's
            memory, of its dtype. Else a copy of a signed dtype: as wide as the integers where they are signed or
            the dictionary is short enough, the next wider one (of uint64: int64) where not.

        Raises
        ------
        TypeError
            The array has no codes: it holds something else.
        ValueError
            A valid index is outside its dictionary, or a uint64 beside a null is beyond int64.
        """
        if self.schema.kind == "boolean":
            return self.code_booleans()
        if self.schema.format not in DTYPES:
            raise TypeError(
                f"{self.schema.where()} holds {self.schema.kind} values; "
                "codes are of integers, Booleans and dictionaries"
            )
        return self.code_indices() if self.count_nulls() == 0 else self.code_nullable()

    def block(self, positions):
        """Return some columns of a struct as the rows of a matrix, if they are numbers of one type without nulls.

        Parameters
        ----------
        positions : sequence of int
            Of the columns, in the order of the rows.

        Returns
        -------
        ndarray of shape (n_columns, n_rows), or None
            A copy; Booleans are bool.

        Raises
        ------
        TypeError
            The array is no struct.
        IndexError
            The struct has no such child.
        """
        cdef list columns = [self.child(position) for position in positions]
        cdef Array column
        cdef cnp.ndarray out
        cdef Py_ssize_t i
        cdef cnp.dtype dtype = BLOCK_DTYPES.get((<Array> columns[0]).schema.format) if columns else None
        if dtype is None:
            return None
        for column in columns:
            if BLOCK_DTYPES.get(column.schema.format) is not dtype or column.node.dictionary != NULL:
                return None
            if column.count_nulls() > 0:
                return None
        out = allocate((len(columns), self.length), dtype)[0]
        if self.length > 0:
            for i, column in enumerate(columns):
                column.copy_to(<uint8_t *> cnp.PyArray_DATA(out) + i * self.length * dtype.itemsize, dtype)
        return out

    def numbers(self):
        """Return a copy of numbers or Booleans, in which a null is NaN; None for all other types.

        Nulls turn integers and Booleans into float64.
        """
        cdef cnp.dtype dtype = BLOCK_DTYPES.get(self.schema.format)
        cdef cnp.ndarray out
        if dtype is None or self.node.dictionary != NULL:
            return None
        out = new_array(self.length, dtype)
        if self.length > 0:
            self.copy_to(<uint8_t *> cnp.PyArray_DATA(out), dtype)
        valid = self.valid()
        if valid is None:
            return out
        return np.where(valid, out, np.array(np.nan, dtype if dtype.kind == ord("f") else np.float64))

    def valid(self):
        """Return which rows are not null, or None where no row is null."""
        cdef cnp.ndarray found
        if self.count_nulls() == 0:
            return None
        if self.bits == NULL:
            return np.zeros(self.length, np.bool_)
        found = new_array(self.length, np.dtype(np.bool_))
        with nogil:
            spread(self.bits, self.bits_begin, self.length, <uint8_t *> cnp.PyArray_DATA(found))
        return found

    def __arrow_c_schema__(self):
        """Return a capsule of the type."""
        return self.schema.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        """Return capsules of the type and of the array; no other type than its own is made on request."""
        cdef ArrowArray *made
        if self.mask is not None and not self.schema.has_validity:
            raise TypeError(f"{self.schema.where()} cannot have the nulls of the struct around: it has no bitmap")
        made = <ArrowArray *> PyMem_RawCalloc(1, sizeof(ArrowArray))
        if made == NULL:
            raise MemoryError("cannot allocate an Arrow array")
        capsule = PyCapsule_New(made, "arrow_array", destroy_array)
        self.share(made)
        return self.schema.__arrow_c_schema__(), capsule

    cdef int share(self, ArrowArray *to) except -1:
        """Write an array of our rows, which keeps the memory alive by itself."""
        if not ohf_arrow_share(self.owner, self.node, to):
            raise MemoryError("cannot allocate an Arrow array")
        to.offset = self.offset
        to.length = self.length
        if self.mask is not None and not ohf_arrow_set_validity(
            to, self.offset >> 3, <const uint8_t *> PyBytes_AS_STRING(self.mask), len(self.mask),
        ):
            raise MemoryError("cannot allocate an Arrow validity bitmap")
        if self.schema.n_buffers == 0 or self.schema.has_validity:
            to.null_count = self.count_nulls()
        return 0

    cdef int cover(self, const uint8_t *bits, int64_t begin) except -1:
        """Make null what is null in the struct around; ``begin`` is the bit of our first row."""
        cdef int shift = self.offset & 7    # so that a bitmap for our offset needs only bytes in front
        cdef uint8_t *both
        if self.schema.kind == "null":
            return 0
        self.mask = PyBytes_FromStringAndSize(NULL, (shift + self.length + 7) >> 3)
        both = <uint8_t *> PyBytes_AS_STRING(self.mask)
        with nogil:
            intersect(bits, begin, self.bits, self.bits_begin, self.length, both, shift)
        self.bits = both
        self.bits_begin = shift
        self.n_nulls = -1
        return 0

    cdef int64_t count_nulls(self) except -1:
        """Return how many rows are null."""
        cdef int64_t n_valid
        with cython.critical_section(self):
            if self.n_nulls < 0:
                n_valid = count_ones(self.bits, self.bits_begin, self.length)
                self.n_nulls = self.length - n_valid
        return self.n_nulls

    cdef uint64_t limit(self, cnp.dtype dtype) except? 0:
        """Return below what a valid index must be, read as unsigned: a negative one is as large as can be."""
        cdef uint64_t limit, half = <uint64_t> 1 << (8 * dtype.itemsize - 1)
        if self.node.dictionary == NULL:
            return UINT64_MAX
        limit = self.node.dictionary.length
        return min(limit, half) if dtype.kind == ord("i") else limit

    cdef cnp.ndarray memory(self, cnp.dtype dtype):
        """Return the integers as they are in the producer's memory, or copied where that is not aligned."""
        cdef cnp.npy_intp n = self.length
        cdef const char *data = <const char *> self.node.buffers[1] + self.offset * dtype.itemsize
        cdef cnp.ndarray array
        if <uintptr_t> data % <uintptr_t> dtype.itemsize != 0:
            array = new_array(n, dtype)
            memcpy(cnp.PyArray_DATA(array), data, n * dtype.itemsize)
            return array
        Py_INCREF(dtype)    # PyArray_NewFromDescr steals it
        array = PyArray_NewFromDescr(
            <PyTypeObject *> cnp.ndarray, dtype, 1, &n, NULL, <void *> data, cnp.NPY_ARRAY_CARRAY_RO, NULL,
        )
        Py_INCREF(self)     # and this steals the base
        cnp.PyArray_SetBaseObject(array, self)
        return array

    cdef int copy_to(self, uint8_t *out, cnp.dtype dtype) except -1:
        """Copy numbers or Booleans, none of them null."""
        cdef const uint8_t *data = <const uint8_t *> self.node.buffers[1]
        cdef Py_ssize_t width = dtype.itemsize
        cdef bint is_bool = dtype.kind == ord("b")
        with nogil:
            if is_bool:
                spread(data, self.offset, self.length, out)
            else:
                memcpy(out, data + self.offset * width, self.length * width)
        return 0

    cdef cnp.ndarray code_indices(self):
        """Return integers without nulls, each dictionary index checked."""
        cdef cnp.dtype dtype = DTYPES[self.schema.format]
        cdef uint64_t limit = self.limit(dtype)
        cdef cnp.ndarray codes
        if self.length == 0:
            return np.empty(0, dtype)
        codes = self.memory(dtype)
        if self.node.dictionary != NULL and limit >> (8 * dtype.itemsize - 1) < 2:
            # NumPy's maximum has vectors of any machine: 0.01 - 0.09 ms for a million, a search 0.6.
            unsigned = codes.view(f"u{dtype.itemsize}")
            if unsigned.max() >= limit:
                self.refuse(int((unsigned >= limit).argmax()), dtype)
        return codes

    cdef cnp.ndarray code_nullable(self):
        """Return a copy of the integers, -1 for a null, each dictionary index that is no null checked."""
        cdef cnp.dtype dtype = DTYPES[self.schema.format]
        cdef uint64_t limit = self.limit(dtype)
        cdef int width = dtype.itemsize
        cdef char index_format = ord(self.schema.format)
        cdef const char *data = <const char *> self.node.buffers[1] + self.offset * width
        cdef cnp.ndarray codes
        cdef int64_t refused
        if dtype.kind == ord("u") and width == 8:
            limit = min(limit, <uint64_t> INT64_MAX + 1)
        elif dtype.kind == ord("u") and limit > <uint64_t> 1 << (8 * width - 1):
            width *= 2
        if <uintptr_t> data % <uintptr_t> dtype.itemsize != 0:
            aligned = self.memory(dtype)
            data = <const char *> cnp.PyArray_DATA(aligned)
        codes = new_array(self.length, SIGNED[width])
        with nogil:
            refused = code_rows(
                index_format, data, self.bits, self.bits_begin, self.length, limit, width,
                cnp.PyArray_DATA(codes),
            )
        if refused >= 0:
            self.refuse(refused, dtype)
        return codes

    cdef cnp.ndarray code_booleans(self):
        """Return Booleans as int8, -1 for a null."""
        cdef cnp.ndarray codes = new_array(self.length, SIGNED[1])
        cdef const uint8_t *bits = NULL
        if self.count_nulls() > 0:
            bits = self.bits
        if self.length > 0:
            with nogil:
                code_bits(
                    <const uint8_t *> self.node.buffers[1], self.offset, bits, self.bits_begin, self.length,
                    <uint8_t *> cnp.PyArray_DATA(codes),
                )
        return codes

    cdef int refuse(self, int64_t position, cnp.dtype dtype) except -1:
        """Raise for the integer that cannot be a code."""
        value = int(self.memory(dtype)[position])
        if self.node.dictionary == NULL:
            raise ValueError(
                f"row {position} of {self.schema.where()} is {value}; beside nulls, codes are int64: below 2**63"
            )
        raise ValueError(
            f"row {position} of {self.schema.where()} has the index {value}, which is outside "
            f"[0, {self.node.dictionary.length}), the length of the dictionary"
        )


cdef void destroy_array(object capsule) noexcept:
    """Release the array that nobody took, as the destructor of its capsule."""
    cdef ArrowArray *array
    if PyCapsule_IsValid(capsule, "arrow_array"):
        array = <ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array")
        if array.release != NULL:
            array.release(array)
        PyMem_RawFree(array)


cdef cnp.ndarray new_array(Py_ssize_t n, cnp.dtype dtype):
    """Return an uninitialised array, over recycled memory where it is large."""
    return allocate((n,), dtype)[0]


cdef Array make_array(
    ohf_arrow_owner *owner, const ArrowArray *node, ArrowField schema, int64_t offset, int64_t length,
):
    """Make an array of some rows of a node, one more user of the owner."""
    cdef Array array = Array.__new__(Array, MAKER)
    ohf_arrow_keep(owner)
    array.owner = owner
    array.node = node
    array.schema = schema
    array.offset = offset
    array.length = length
    array.n_nulls = length if schema.kind == "null" else 0
    if schema.has_validity and node.null_count != 0 and node.buffers[0] != NULL:
        array.bits = <const uint8_t *> node.buffers[0]
        array.bits_begin = offset
        array.n_nulls = -1
    return array


cdef Array take_array(ArrowArray *source, ArrowField schema):
    """Take an array over from its producer; one that is refused stays where it is."""
    cdef ohf_arrow_owner *owner
    check(schema, source, 0)
    owner = ohf_arrow_own(source)
    if owner == NULL:
        raise MemoryError("cannot allocate an Arrow array")
    try:
        return make_array(owner, &owner.array, schema, owner.array.offset, owner.array.length)
    finally:
        ohf_arrow_let_go(owner)


cdef int identify(ArrowField schema, const ArrowArray *array, list found) except -1:
    """Add what tells an array, and all below it, from others."""
    cdef int64_t i
    found += (
        schema.format, schema.name, schema.packed_metadata, array.length, array.offset, array.null_count,
        array.n_buffers,
    )
    for i in range(array.n_buffers):
        found.append(<uintptr_t> array.buffers[i])
    for i in range(array.n_children):
        identify(schema.children[i], array.children[i], found)
    if array.dictionary != NULL:
        identify(schema.dictionary, array.dictionary, found)
    return 0
