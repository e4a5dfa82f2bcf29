# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Check the buffers of an Arrow array, a NumPy array or Strings before the C loops of the dictionary read them."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_RawFree
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_ITEMS
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport ArrowArray
from onehot_fast._arrow.array cimport Array
from onehot_fast._categories.abi cimport (
    OHF_BYTES_S,
    OHF_MAX_MISSING,
    OHF_OFFSETS32,
    OHF_OFFSETS64,
    OHF_UCS4,
    OHF_VIEWS,
    ohf_make_memo,
)
from onehot_fast._categories.strings cimport Strings
from onehot_fast._kernels.simd cimport (
    OHF_F32,
    OHF_F64,
    OHF_I8,
    OHF_I16,
    OHF_I32,
    OHF_I64,
    OHF_U8,
    OHF_U16,
    OHF_U32,
    OHF_U64,
)

import sysconfig

import numpy as np

from onehot_fast._arguments.choices import with_article

cnp.import_array()

# The dtype of each Arrow format's buffer; dates, times and durations are integers.
cdef dict ARROW_DTYPES = {
    "b": "b1", "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8", "tdD": "i4", "tdm": "i8", "tts": "i4", "ttm": "i4", "ttu": "i8", "ttn": "i8",
    "tDs": "i8", "tDm": "i8", "tDu": "i8", "tDn": "i8",
}
# In free-threaded Python, another thread may change an array of objects, so a copy is read.
cdef bint IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

cdef enum:
    MIN_ROWS_FOR_MEMO = 1024

cdef dict KINDS = {
    "b1": OHF_U8, "i1": OHF_I8, "i2": OHF_I16, "i4": OHF_I32, "i8": OHF_I64,
    "u1": OHF_U8, "u2": OHF_U16, "u4": OHF_U32, "u8": OHF_U64, "f4": OHF_F32, "f8": OHF_F64,
}
cdef dict INTO = {"int64": OHF_I64, "uint64": OHF_U64, "float64": OHF_F64}
cdef dict TEXT_FORMATS = {
    "u": OHF_OFFSETS32, "z": OHF_OFFSETS32, "U": OHF_OFFSETS64, "Z": OHF_OFFSETS64,
    "vu": OHF_VIEWS, "vz": OHF_VIEWS,
}


@cython.final
cdef class Source:
    """The addresses of the values that the C loops read, and the owners of the memory."""

    def __dealloc__(self):
        PyMem_Free(self.buffers)
        PyMem_Free(self.sizes)
        self.close_objects()

    cdef int read_offsets(self, Array array, int layout) except -1:
        """Set the addresses of texts with offsets; the last offset is the number of readable bytes."""
        cdef int width = 4 if layout == OHF_OFFSETS32 else 8
        cdef int32_t narrow
        cdef int64_t limit
        cdef const char *offsets = <const char *> array.node.buffers[1] + array.offset * width
        if width == 4:
            memcpy(&narrow, offsets + array.length * width, sizeof(narrow))
            limit = narrow
        else:
            memcpy(&limit, offsets + array.length * width, sizeof(limit))
        if limit < 0:
            raise ValueError(f"{array!r}: offsets must be at least 0, got {limit}")
        if limit > 0 and array.node.buffers[2] == NULL:
            limit = 0       # all texts must be empty; the C loops check this
        self.texts.rows = offsets
        self.texts.data = <const uint8_t *> array.node.buffers[2]
        self.set_limit(limit)
        return 0

    cdef void set_limit(self, int64_t limit) noexcept:
        """Set the number of bytes of the data that the C loops may read."""
        self.texts.limit = limit
        self.texts.last_of_16 = max(limit - 15, 0)

    cdef int read_views(self, Array array) except -1:
        """Set the addresses of string views; copy the lists of buffers, which other threads could change."""
        cdef const ArrowArray *node = array.node
        cdef int64_t i, n_buffers = node.n_buffers - 3
        cdef const int64_t *sizes = <const int64_t *> node.buffers[node.n_buffers - 1]
        self.texts.rows = <const char *> node.buffers[1] + array.offset * 16
        if n_buffers == 0:
            return 0
        self.buffers = <const unsigned char **> PyMem_Calloc(n_buffers, sizeof(void *))
        self.sizes = <int64_t *> PyMem_Calloc(n_buffers, sizeof(int64_t))
        if self.buffers == NULL or self.sizes == NULL:
            raise MemoryError("cannot allocate the addresses of an Arrow array's buffers")
        for i in range(n_buffers):
            self.buffers[i] = <const unsigned char *> node.buffers[2 + i]
            memcpy(&self.sizes[i], sizes + i, sizeof(int64_t))
            if self.buffers[i] == NULL or self.sizes[i] < 0:
                self.sizes[i] = 0
        self.texts.buffers = self.buffers
        self.texts.sizes = self.sizes
        self.texts.n_buffers = n_buffers
        return 0

    cdef int read_arrow_texts(self, Array array) except -1:
        """Set the addresses of an Arrow array of texts or bytes, without a copy."""
        cdef int layout = TEXT_FORMATS[array.schema.format]
        self.form = IN_BUFFERS_TEXTS
        self.n_rows = array.length
        self.owner = array
        self.texts.layout = layout
        if array.length == 0:
            return 0
        if array.count_nulls() > 0:
            self.texts.bits = array.bits
            self.texts.bits_begin = array.bits_begin
        return self.read_views(array) if layout == OHF_VIEWS else self.read_offsets(array, layout)

    cdef int read_strings(self, Strings strings) except -1:
        """Set the addresses of Strings, without a copy."""
        self.form = IN_BUFFERS_TEXTS
        self.n_rows = len(strings)
        self.owner = strings
        self.texts.layout = OHF_OFFSETS64
        self.texts.rows = strings.ends
        self.texts.data = strings.bytes
        self.set_limit(strings.ends[self.n_rows])
        return 0

    cdef int read_fixed(self, object array, str kind) except -1:
        """Set the address of a NumPy array of dtype U or S; copy it if it is not contiguous and native."""
        array = np.require(array, array.dtype.newbyteorder("="), "CA")
        self.form = IN_BUFFERS_TEXTS
        self.n_rows = len(array)
        self.owner = array
        self.texts.layout = OHF_UCS4 if kind == "string" else OHF_BYTES_S
        self.texts.width = array.dtype.itemsize // (4 if kind == "string" else 1)
        self.texts.rows = cnp.PyArray_DATA(<cnp.ndarray> array)
        return 0

    cdef int read_objects(self, object array, str kind, tuple missing) except -1:
        """Set the address of a NumPy array of objects or of a tuple."""
        cdef int i
        if len(missing) > OHF_MAX_MISSING:
            raise ValueError(f"missing must have at most {OHF_MAX_MISSING} objects, got {len(missing)}")
        self.form = IN_OBJECTS
        self.n_rows = len(array)
        self.owner = array.copy() if IS_FREE_THREADED and type(array) is not tuple else array
        self.missing = missing
        self.objects.is_text = kind == "string"
        for i in range(len(missing)):
            self.objects.missing[i] = <void *> missing[i]
        self.objects.n_missing = len(missing)
        return self.open_objects()

    cdef int open_objects(self) except -1:
        """Set the address of the objects and allocate caches. Call again after other Python code may have run."""
        cdef cnp.ndarray array
        if len(self.owner) != self.n_rows:
            raise RuntimeError("the array must not be resized while it is read")
        self.close_objects()
        if type(self.owner) is tuple:
            self.objects.rows = <const char *> PySequence_Fast_ITEMS(self.owner)
            self.objects.stride = sizeof(PyObject *)
        else:
            array = self.owner
            self.objects.rows = <const char *> cnp.PyArray_DATA(array)
            self.objects.stride = cnp.PyArray_STRIDES(array)[0]
        if self.n_rows >= MIN_ROWS_FOR_MEMO:
            ohf_make_memo(&self.objects, self.n_rows)
        return 0

    cdef void close_objects(self) noexcept:
        """Free the memory that `open_objects` allocated."""
        PyMem_RawFree(self.objects.memo)
        PyMem_RawFree(self.objects.scratch)
        self.objects.memo = NULL
        self.objects.scratch = NULL
        self.objects.room = 0

    cdef int read_packed(self, object array) except -1:
        """Set the address of a NumPy array of StringDType."""
        cdef object dtype = array.dtype
        cdef object na_object = getattr(dtype, "na_object", "")     # by default, no value is missing
        cdef bytes text = na_object.encode() if isinstance(na_object, str) else b""
        self.form = IN_PACKED_TEXTS
        self.n_rows = len(array)
        self.owner = array
        self.missing = text
        self.packed.rows = <const char *> cnp.PyArray_DATA(<cnp.ndarray> array)
        self.packed.stride = cnp.PyArray_STRIDES(<cnp.ndarray> array)[0]
        self.packed.dtype = <void *> dtype
        self.packed.missing = PyBytes_AS_STRING(text)
        self.packed.missing_length = len(text) if isinstance(na_object, str) else -1
        return 0

    cdef int read_numbers(self, object array, str kind) except -1:
        """Set the address of a NumPy array of numbers; copy it if its layout or dtype is not supported."""
        if array.dtype.itemsize == 2 and array.dtype.kind == "f":
            array = array.astype(np.float32)
        array = np.require(array, array.dtype.newbyteorder("="), "CA")
        self.form = IN_BUFFERS_NUMBERS
        self.n_rows = len(array)
        self.owner = array
        self.numbers.rows = cnp.PyArray_DATA(<cnp.ndarray> array)
        self.numbers.kind = OHF_I64 if array.dtype.kind in "mM" else KINDS[array.dtype.str[1:]]
        self.numbers.into = INTO[kind]
        return 0

    cdef int read_arrow_numbers(self, Array array, str kind) except -1:
        """Set the addresses of an Arrow array of numbers or times, without a copy; Booleans become 0 and 1."""
        cdef object dtype = np.dtype(dtype_in_memory(array.schema.format))
        self.read_numbers(array.codes() if dtype == np.bool_ else array.memory(dtype), kind)
        if array.count_nulls() > 0:
            self.numbers.bits = array.bits
            self.numbers.bits_begin = array.bits_begin
        return 0


cpdef str dtype_in_memory(str format):
    """Return the dtype of an Arrow format's buffer, or "" if NumPy has no such dtype."""
    return "i8" if format.startswith("ts") else ARROW_DTYPES.get(format, "")


cdef bint holds(str kind, str letter):
    """Tell whether a dictionary of a kind can hold values of a NumPy dtype kind, such as "i"."""
    if kind == "float64":
        return letter == "f"
    return kind in INTO and letter in ("i", "u", "b", "m", "M")


cdef bint read_arrow(Source source, Array array, str kind) except -1:
    """Set the addresses of an Arrow array; return False if a dictionary of this kind cannot hold it."""
    cdef str format = array.schema.format
    if kind in ("string", "binary"):
        if array.schema.kind != kind or format not in TEXT_FORMATS:
            return False
        source.read_arrow_texts(array)
        return True
    if array.schema.dictionary is not None or not holds(kind, dtype_in_memory(format)[:1]):
        return False
    source.read_arrow_numbers(array, kind)
    return True


cdef bint read_numpy(Source source, cnp.ndarray array, str kind, tuple missing) except -1:
    """Set the address of a NumPy array; return False if a dictionary of this kind cannot hold it."""
    cdef str letter = array.dtype.kind
    if holds(kind, letter):
        source.numbers.has_nat = letter in ("m", "M")
        source.read_numbers(array, kind)
    elif kind in INTO:
        return False
    elif letter == "O":
        source.read_objects(array, kind, missing)
    elif letter == ("U" if kind == "string" else "S"):
        source.read_fixed(array, kind)
    elif letter == "T" and kind == "string":
        source.read_packed(array)
    else:
        return False
    return True


cdef Source source_of(object values, str kind, tuple missing):
    """Return the source of the values; raise TypeError if a dictionary of this kind cannot hold them."""
    cdef Source source = Source.__new__(Source)
    cdef bint is_read
    if isinstance(values, Array):
        is_read = read_arrow(source, values, kind)
    elif isinstance(values, Strings):
        is_read = kind == ("string" if (<Strings> values).is_text else "binary")
        if is_read:
            source.read_strings(values)
    elif isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"an array for a dictionary must have one dimension, got shape {values.shape}")
        is_read = read_numpy(source, values, kind, missing)
    else:
        is_read = type(values) is tuple and kind in ("string", "binary")
        if is_read:
            source.read_objects(values, kind, missing)
    if not is_read:
        raise TypeError(f"the values must fit a dictionary of kind {kind!r}, got {description_of(values)}")
    return source


cdef str description_of(object values):
    """Return the type of the values as text for an error message."""
    if isinstance(values, Array):
        return f"the Arrow format {(<Array> values).schema.format!r}"
    if isinstance(values, np.ndarray):
        return f"dtype {values.dtype}"
    return repr(values) if isinstance(values, Strings) else with_article(values)
