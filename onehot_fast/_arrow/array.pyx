# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Import and export of arrays through the Arrow C data interface: `read` and `ArrowBlock`.

In ``for array in read(source)``, ``source`` comes from any Arrow library, and ``array.codes()`` returns the
integers or dictionary indices of one chunk. Arrays of all types can be exported again. The module uses only C
structures and imports no Arrow library.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.pycapsule cimport (
    PyCapsule_CheckExact,
    PyCapsule_GetName,
    PyCapsule_GetPointer,
    PyCapsule_IsValid,
)
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport UINT64_MAX, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memset

from onehot_fast._arrow.abi cimport (
    ARROW_FLAG_NULLABLE,
    ArrowArray,
    ArrowArrayStream,
    ArrowSchema,
    ohf_arrow_keep,
    ohf_arrow_let_go,
    ohf_arrow_own,
    ohf_arrow_owner,
    ohf_arrow_set_validity,
    ohf_arrow_share,
)
from onehot_fast._arrow.schema cimport MAKER, ArrowField, Imported, check, new_capsule, new_field, schema_of
from onehot_fast._kernels.validity cimport code_rows, count_ones, spread

import os
from threading import Lock

import numpy as np

from onehot_fast._arguments.messages import with_article
from onehot_fast._runtime.memory import allocate

cnp.import_array()

cdef extern from "Python.h":
    bint Py_IsInitialized() noexcept nogil

# The kinds of arrays (`ArrowField.kind`) that `Array.block` and `Array.numbers` can copy.
cdef tuple NUMBERS = ("boolean", "integer", "float")


@cython.final
cdef class Array(Imported):
    """A chunk of Arrow data: a view of the producer's memory, which the view keeps alive.

    Any Arrow library can import the chunk through ``__arrow_c_array__``, without a copy and any number of times.
    """

    def __dealloc__(self):
        if self.owner != NULL:
            ohf_arrow_let_go(self.owner)

    def __len__(self):
        """Return the number of rows."""
        return self.length

    def __repr__(self):
        """Return the type and the number of rows as text."""
        return f"Array({self.length} rows, {self.schema!r})"

    @property
    def null_count(self):
        """The number of nulls in the validity bitmap; null values of a dictionary are not counted."""
        return self.count_nulls()

    @property
    def dictionary(self):
        """The values of a dictionary-encoded array, or None."""
        if self.node.dictionary == NULL:
            return None
        return make_array(
            self.owner, self.node.dictionary, self.schema.dictionary,
            self.node.dictionary.offset, self.node.dictionary.length,
        )

    @property
    def identity(self):
        """A cache key; two arrays with equal keys have equal values, as long as both arrays are alive."""
        rows = self.offset, self.length, <uintptr_t> self.bits, self.bits_begin
        return rows + identity_of(self.schema, self.node)

    def child(self, Py_ssize_t position):
        """Return a column of a struct or record batch, with null where the struct is null."""
        cdef const ArrowArray *node
        cdef Array column
        if self.schema.kind != "struct":
            raise TypeError(f"{self.schema.where()} has no columns, because it is not a struct")
        if not 0 <= position < self.node.n_children:
            n_children = self.node.n_children
            raise IndexError(f"{self.schema.where()}: position must be in [0, {n_children}), got {position}")
        node = self.node.children[position]
        column = make_array(
            self.owner, node, self.schema.children[position], node.offset + self.offset, self.length,
        )
        valid = self.valid()
        if valid is not None:
            column.cover(valid)
        return column

    def codes(self):
        """Return the integers, Booleans (as 0 and 1) or dictionary indices, with -1 for nulls.

        The array is contiguous, aligned and in native byte order. Integers and indices without nulls are a
        read-only view of the producer's memory. With nulls, the result is a copy of a signed dtype that
        fits all valid values (int64 for uint64).
        """
        cdef cnp.ndarray integers
        if self.schema.kind == "boolean":
            integers = new_array(self.length, np.dtype(np.int8))
            self.copy_to(integers)
        elif self.schema.kind in ("integer", "dictionary"):
            integers = self.memory(self.schema.dtype)
        else:
            raise TypeError(
                f"{self.schema.where()} must be an array of integers or Booleans or a dictionary array, "
                f"got {self.schema.kind} values"
            )
        return self.code(integers)

    def block(self, positions):
        """Return the columns at ``positions`` of a struct as the rows of a new matrix.

        Return None unless all columns are numbers or Booleans of the same type, without nulls.
        """
        cdef list columns = [self.child(position) for position in positions]
        cdef cnp.ndarray out
        types = {(column.schema.kind, column.schema.dtype) for column in columns}
        if len(types) != 1 or columns[0].schema.kind not in NUMBERS:
            return None
        if any(column.null_count for column in columns):
            return None
        out = allocate((len(columns), self.length), columns[0].schema.dtype)[0]
        for column, row in zip(columns, out):
            (<Array> column).copy_to(row)
        return out

    def numbers(self):
        """Return a copy of numbers or Booleans, with NaN for nulls, or None for other types.

        Nulls turn integers and Booleans into float64.
        """
        cdef cnp.ndarray out
        if self.schema.kind not in NUMBERS:
            return None
        out = new_array(self.length, self.schema.dtype)
        self.copy_to(out)
        valid = self.valid()
        if valid is None:
            return out
        return np.where(valid, out, np.array(np.nan, out.dtype if out.dtype.kind == "f" else np.float64))

    def valid(self):
        """Return a mask of the rows that are not null, or None if no row is null."""
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
        """Return the type of the array as an Arrow schema capsule."""
        return self.schema.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        """Return the capsules (arrow_schema, arrow_array); ``requested_schema`` is ignored."""
        cdef ArrowArray *to
        if self.mask is not None and not self.schema.has_validity:
            raise TypeError(
                f"{self.schema.where()} has no validity bitmap to store the nulls of its struct: "
                "fill the nulls of the struct first"
            )
        capsule = new_capsule(&to, "arrow_array")
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
        return self.schema.__arrow_c_schema__(), capsule

    cdef int cover(self, cnp.ndarray valid) except -1:
        """Also mark the rows as null that the parent struct's mask, ``valid``, marks as null (False)."""
        cdef int shift = self.offset & 7    # the first row keeps its bit in a byte, for `__arrow_c_array__`
        if self.schema.kind == "null":
            return 0
        own = self.valid()
        both = np.concatenate([np.zeros(shift, np.bool_), valid if own is None else valid & own])
        self.mask = np.packbits(both, bitorder="little").tobytes()
        self.bits = <const uint8_t *> PyBytes_AS_STRING(self.mask)
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

    cdef cnp.ndarray memory(self, cnp.dtype dtype):
        """Return the values as a view of the producer's memory, or as a copy if the memory is not aligned."""
        cdef cnp.npy_intp n = self.length
        cdef const char *data
        cdef cnp.ndarray array
        if n == 0:
            return np.empty(0, dtype)
        data = <const char *> self.node.buffers[1] + self.offset * dtype.itemsize
        array = cnp.PyArray_SimpleNewFromData(1, &n, dtype.type_num, <void *> data)
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
        cnp.PyArray_UpdateFlags(array, cnp.NPY_ARRAY_ALIGNED)
        cnp.set_array_base(array, self)
        return array if cnp.PyArray_ISALIGNED(array) else array.copy()

    cdef int copy_to(self, cnp.ndarray out) except -1:
        """Copy numbers or Booleans to a contiguous array; the values of nulls are arbitrary."""
        if self.schema.kind != "boolean":
            out[...] = self.memory(self.schema.dtype)
        elif self.length > 0:
            with nogil:
                spread(
                    <const uint8_t *> self.node.buffers[1], self.offset, self.length,
                    <uint8_t *> cnp.PyArray_DATA(out),
                )
        return 0

    cdef cnp.ndarray code(self, cnp.ndarray values):
        """Return ``values`` with -1 for nulls; raise an error for an invalid dictionary index."""
        cdef cnp.ndarray codes = values, indices = values
        cdef cnp.dtype dtype = values.dtype
        cdef int width = dtype.itemsize
        cdef uint64_t limit = UINT64_MAX, half = <uint64_t> 1 << (8 * width - 1)
        cdef int64_t refused = -1
        if self.node.dictionary != NULL:    # negative indices, read as unsigned integers, are `half` or more
            limit = self.node.dictionary.length
            limit = min(limit, half) if dtype.kind == ord("i") else limit
        if self.count_nulls() > 0:
            if dtype.kind == ord("u") and limit > half:
                width *= 2
                if width > 8:
                    width, limit = 8, half
                indices = values.astype(f"u{width}")
            codes = new_array(self.length, np.dtype(f"i{width}"))
            with nogil:
                refused = code_rows(
                    cnp.PyArray_DATA(indices), width, self.bits, self.bits_begin, self.length, limit,
                    cnp.PyArray_DATA(codes),
                )
        elif self.node.dictionary != NULL and self.length > 0:
            unsigned = values.view(f"u{width}")
            if int(unsigned.max()) >= limit:    # this check is ten times as fast as the search below
                refused = int((unsigned >= limit).argmax())
        if refused < 0:
            return codes
        where, value = f"{self.schema.where()}, row {refused}", int(values[refused])
        if self.node.dictionary == NULL:
            raise ValueError(f"{where}: in an array with nulls, integers must be below 2**63, got {value}")
        raise ValueError(
            f"{where}: the dictionary index must be in [0, {self.node.dictionary.length}), got {value}"
        )


cdef cnp.ndarray new_array(Py_ssize_t n, cnp.dtype dtype):
    """Return an uninitialized array; large arrays reuse cached memory."""
    return allocate((n,), dtype)[0]


cdef Array make_array(
    ohf_arrow_owner *owner, const ArrowArray *node, ArrowField schema, int64_t offset, int64_t length,
):
    """Return an `Array` of ``length`` rows of ``node``, from row ``offset`` on.

    The `Array` keeps ``owner``, the owner of the memory, alive.
    """
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
    """Check a producer's C structure, and move it into a new `Array`; an invalid structure is not moved."""
    cdef ohf_arrow_owner *owner
    check(schema, source, 0)
    owner = ohf_arrow_own(source)
    if owner == NULL:
        raise MemoryError("cannot allocate an Arrow array")
    try:
        return make_array(owner, &owner.array, schema, owner.array.offset, owner.array.length)
    finally:
        ohf_arrow_let_go(owner)


cdef tuple identity_of(ArrowField schema, const ArrowArray *array):
    """Return a key that identifies the values of a whole array, with its children and its dictionary."""
    cdef int64_t i
    buffers = [<uintptr_t> array.buffers[i] for i in range(array.n_buffers)]
    children = [identity_of(schema.children[i], array.children[i]) for i in range(array.n_children)]
    dictionary = None if array.dictionary == NULL else identity_of(schema.dictionary, array.dictionary)
    return (
        schema.format, schema.name, schema.packed_metadata, array.length, array.offset, array.null_count,
        *buffers, *children, dictionary,
    )


# ---- Streams ----

@cython.final
cdef class Stream(Imported):
    """An iterator over the chunks of one source, all of the same type.

    A producer's error is raised as an OSError with the same number and message, and ends the stream.
    """

    cdef ArrowArrayStream stream    # `release` is NULL if it is exhausted, or if the source is not a stream
    cdef object lock                # held while a thread reads: a producer must not be called concurrently
    cdef Array only                 # the only chunk, if the source is not a stream
    cdef readonly ArrowField schema

    def __cinit__(self, maker=None):
        self.lock = Lock()

    def __dealloc__(self):
        self.close()

    def __iter__(self):
        """Return the stream itself."""
        return self

    def block(self, positions):
        """Return the blocks of all chunks as one matrix, or None if there are none; see `Array.block`."""
        blocks = [chunk.block(positions) for chunk in self]
        if not blocks or any(block is None for block in blocks):
            return None
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def __next__(self):
        """Return the next chunk."""
        cdef Array chunk
        if not self.lock.acquire(False):
            raise RuntimeError("another thread is already reading the next chunk of this Arrow stream")
        try:
            if self.only is not None:
                chunk, self.only = self.only, None
                return chunk
            if self.stream.release == NULL:
                raise StopIteration
            return self.pull()
        except BaseException:
            self.close()
            raise
        finally:
            self.lock.release()

    cdef void close(self) noexcept:
        """Release the producer's C stream, unless it is released already."""
        if self.stream.release != NULL:
            # Release the GIL, because the producer may wait for its own threads, which may need the GIL.
            with nogil:
                self.stream.release(&self.stream)
            self.stream.release = NULL

    cdef Array pull(self):
        """Get the next chunk from the producer."""
        cdef ArrowArray chunk
        cdef int error
        memset(&chunk, 0, sizeof(chunk))
        with nogil:
            error = self.stream.get_next(&self.stream, &chunk)
        if error != 0:
            self.fail(error)
        if chunk.release == NULL:
            raise StopIteration
        try:
            return take_array(&chunk, self.schema)
        finally:
            if chunk.release != NULL:   # `take_array` rejected the chunk
                chunk.release(&chunk)

    cdef int fail(self, int error) except -1:
        """Raise the producer's error as an OSError."""
        cdef const char *text = NULL
        if self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        raise OSError(error, os.strerror(error) if text == NULL else (<bytes> text).decode("utf-8", "replace"))

    cdef ArrowField ask_schema(self):
        """Get the type of the chunks from the producer."""
        cdef ArrowSchema schema
        cdef int error
        memset(&schema, 0, sizeof(schema))
        with nogil:
            error = self.stream.get_schema(&self.stream, &schema)
        if error != 0:
            self.fail(error)
        try:
            return schema_of(&schema, 0)
        finally:
            if schema.release != NULL:
                schema.release(&schema)


cdef void *pointer_in(object capsule, const char *name) except NULL:
    """Return the pointer in a capsule, or raise an error if the capsule has another name."""
    got = with_article(capsule)
    if PyCapsule_CheckExact(capsule):
        if PyCapsule_IsValid(capsule, name):
            return PyCapsule_GetPointer(capsule, name)
        found = PyCapsule_GetName(capsule)
        name_found = "without a name" if found == NULL else repr((<bytes> found).decode("utf-8", "replace"))
        got = f"a capsule {name_found}"
    raise TypeError(f"expected an Arrow capsule {name.decode()!r}, got {got}")


cdef Stream read_pair(object pair):
    """Return a `Stream` of the array in a pair of capsules (arrow_schema, arrow_array)."""
    cdef Stream stream = Stream.__new__(Stream, MAKER)
    cdef ArrowSchema *schema
    if not (isinstance(pair, tuple) and len(pair) == 2):
        raise TypeError(f"expected the Arrow capsules (arrow_schema, arrow_array), got {with_article(pair)}")
    # Keep references to the capsules: a subclass of tuple may create them on access, and keep none itself.
    of_schema, of_array = pair
    schema = <ArrowSchema *> pointer_in(of_schema, "arrow_schema")
    array = <ArrowArray *> pointer_in(of_array, "arrow_array")
    stream.schema = schema_of(schema, 0)
    with cython.critical_section(of_array):
        stream.only = take_array(array, stream.schema)
    return stream


cdef Stream read_stream(object capsule):
    """Return a `Stream` that takes over the C stream in a capsule."""
    cdef Stream stream = Stream.__new__(Stream, MAKER)
    source = <ArrowArrayStream *> pointer_in(capsule, "arrow_array_stream")
    with cython.critical_section(capsule):
        if source.release == NULL:
            raise ValueError("the Arrow stream is released: it was imported before, or never filled")
        if source.get_schema == NULL or source.get_next == NULL:
            raise ValueError("the Arrow stream lacks get_schema or get_next")
        stream.stream = source[0]
        source.release = NULL
    try:
        stream.schema = stream.ask_schema()
    except BaseException:
        stream.close()
        raise
    return stream


def read(source):
    """Return a `Stream` of the chunks of ``source``.

    ``source`` is an object with the Arrow C data interface, a stream capsule, or a pair of capsules (arrow_schema,
    arrow_array). An array or stream capsule can be read only once. If an object has both ``__arrow_c_array__`` and
    ``__arrow_c_stream__``, the stream is read only if ``__arrow_c_array__`` raises an error (e.g. for several
    chunks). A producer's error is raised as an OSError.
    """
    if PyCapsule_CheckExact(source):
        return read_stream(source)
    has_stream = hasattr(source, "__arrow_c_stream__")
    if hasattr(source, "__arrow_c_array__"):
        try:
            pair = source.__arrow_c_array__()
        except (NotImplementedError, TypeError, ValueError):
            if not has_stream:
                raise
        else:
            return read_pair(pair)
    if has_stream:
        return read_stream(source.__arrow_c_stream__())
    if isinstance(source, tuple):
        return read_pair(source)
    raise TypeError(
        "expected an object with __arrow_c_array__ or __arrow_c_stream__, or an Arrow capsule, "
        f"got {with_article(source)}"
    )


# ---- Export of a block of memory ----

cdef void release(ArrowArray *array) noexcept nogil:
    """Release an array and, if Python still runs, its reference to a Python object.

    Any thread may call this function.
    """
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object> array.private_data)
    array.release = NULL


@cython.final
cdef class ArrowBlock:
    """An Arrow struct array without nulls, whose columns are stored in one block of memory.

    Importers share the block and keep it alive.
    """

    cdef readonly object block
    cdef Array struct

    def __cinit__(self, names, cnp.ndarray block not None, Py_ssize_t n_rows, str format, Py_ssize_t n_bits):
        """Store a C-contiguous block; each of its rows is a column of ``n_rows`` values of ``n_bits`` bits.

        ``format`` is an Arrow format string, such as ``"b"``.
        """
        cdef ArrowField schema = new_field("+s", "", ARROW_FLAG_NULLABLE)
        cdef ArrowArray source
        cdef Py_ssize_t at, n
        self.block = block
        schema.children = tuple([new_field(format, name, ARROW_FLAG_NULLABLE) for name in names])
        n = len(schema.children)
        if not block.flags.c_contiguous or block.ndim < 2 or len(block) != n:
            raise ValueError("ArrowBlock: block must have one contiguous row for each name")
        # Use Python integers, which do not overflow.
        row_bytes = (<object> n_rows * n_bits + 7) // 8
        if n_rows < 0 or n_bits < 1 or block.nbytes < len(block) * row_bytes:
            raise ValueError(f"ArrowBlock: each row of block must have room for {n_rows} values of {n_bits} bits")
        # Store the pointers now, because Python code can change the shape and strides of an array later.
        columns_memory = np.zeros((n, sizeof(ArrowArray)), np.uint8)
        pointers_memory = np.zeros(3 * n + 1, np.uintp)
        columns = <ArrowArray *> cnp.PyArray_DATA(columns_memory)
        # The pointers are, in order: for each column, its validity bitmap (NULL) and its data; the only buffer of
        # the struct, its validity bitmap (NULL); for each column, its ArrowArray.
        buffers = <const void **> cnp.PyArray_DATA(pointers_memory)
        children = <ArrowArray **> (buffers + 2 * n + 1)
        for at in range(n):
            buffers[2 * at + 1] = cnp.PyArray_BYTES(block) + at * cnp.PyArray_STRIDE(block, 0)
            columns[at].length, columns[at].n_buffers, columns[at].buffers = n_rows, 2, buffers + 2 * at
            children[at] = &columns[at]
        memory = (block, columns_memory, pointers_memory)
        source = ArrowArray(
            n_rows, 0, 0, 1, n, buffers + 2 * n, children, NULL, release, <void *> memory,
        )
        owner = ohf_arrow_own(&source)
        if owner == NULL:
            raise MemoryError("cannot allocate an Arrow array")
        Py_INCREF(memory)
        try:
            self.struct = make_array(owner, &owner.array, schema, 0, n_rows)
        finally:
            ohf_arrow_let_go(owner)

    def __arrow_c_schema__(self):
        """Return the type of the array as an Arrow schema capsule."""
        return self.struct.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        """Return the capsules (arrow_schema, arrow_array); ``requested_schema`` is ignored."""
        return self.struct.__arrow_c_array__()
