# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Map values to codes in order of first appearance, and back, with a hash table.

Several threads share the rows of a large source without Python objects. To look up values, all threads read the
same hash table. To learn values, each thread fills a hash table of its own from its rows. These hash tables are
then merged in the order of the rows, so that the codes do not depend on the number of threads.

The functions at the end of the module encode labels and integers without the hash table.
"""

cimport cython
cimport numpy as cnp
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast_ITEMS
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport ArrowArray
from onehot_fast._arrow.array cimport Array
from onehot_fast._arrow.schema cimport offset_at
from onehot_fast._categories.hashtable.abi cimport *
from onehot_fast._categories.strings cimport Strings, new_strings
from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.index_types cimport integer_t
from onehot_fast._runtime.fork_lock cimport ohf_lock, ohf_lock_over_forks, ohf_unlock

import os
import sysconfig

import numpy as np

from onehot_fast._arguments.messages import with_article
from onehot_fast._kernels import simd
from onehot_fast._runtime import memory, parallel
from onehot_fast._kernels.dispatch import INDEX_DTYPES

cnp.import_array()

cdef enum:
    # The number of rows between two checks for a signal, such as Ctrl-C.
    ROWS_BETWEEN_SIGNALS = 1 << 22       # rows of arrays without Python objects
    VALUES_BETWEEN_SIGNALS = 1 << 18     # rows of Python objects, and of strings to split
    LABEL_ROWS_BETWEEN_SIGNALS = 1 << 16     # rows of `number_labels`, each with several labels
    MIN_ROWS_FOR_MEMO = 1024             # fewer rows use no memo from the addresses of objects to codes
    MEMO_LABELS = 1 << 13                # places of the memo of `number_labels`

cdef dict INDEX_TYPES = {dtype.str[1:]: index_type for index_type, dtype in enumerate(INDEX_DTYPES)}
# In free-threaded Python, another thread may change an array of objects, so a copy is read.
cdef bint IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

cdef enum Form:
    IN_BUFFERS_TEXTS
    IN_BUFFERS_NUMBERS
    IN_OBJECTS
    IN_PACKED_TEXTS
cdef dict TEXT_FORMATS = {
    "u": OHF_OFFSETS32, "z": OHF_OFFSETS32, "U": OHF_OFFSETS64, "Z": OHF_OFFSETS64,
    "vu": OHF_VIEWS, "vz": OHF_VIEWS,
}
cdef dict DTYPES = {"int64": np.dtype(np.int64), "uint64": np.dtype(np.uint64), "float64": np.dtype(np.float64)}
# For each kind of dictionary: the kinds of NumPy dtypes (`dtype.kind`) that it can hold.
cdef dict LETTERS = {"string": "OUT", "binary": "OS", "int64": "iubmM", "uint64": "iubmM", "float64": "f"}
CODES = np.dtype(np.int32)
KINDS = tuple(LETTERS)

# One seed for all dictionaries of the process. It affects the hashes but no results.
cdef bytes SEED = os.urandom(64)

if ohf_lock_over_forks():
    raise MemoryError("cannot allocate memory for the handlers that run when the process forks")


# ---- Buffers of values, checked before the C loops read them ----

@cython.final
cdef class Source:
    """The addresses of the values that the C loops read, and the owners of the memory."""

    cdef Form form
    cdef int64_t n_rows
    cdef ohf_texts texts
    cdef ohf_numbers numbers
    cdef ohf_objects objects
    cdef ohf_packed packed
    cdef object owner       # keeps the memory of the values alive
    cdef object kept        # keeps the missing objects, the missing string or the lists of buffers alive

    def __dealloc__(self):
        self.close_objects()

    cdef int hold(self, Form form, object owner) except -1:
        """Keep the owner of the values alive; each of its items is a row."""
        self.form, self.n_rows, self.owner = form, len(owner), owner
        return 0

    cdef int read_offsets(self, Array array, int layout) except -1:
        """Set the addresses of strings with offsets; the last offset is the number of readable bytes."""
        cdef int width = 4 if layout == OHF_OFFSETS32 else 8
        cdef int64_t limit = offset_at(array.schema, array.node, array.offset + array.length, width)
        self.texts.rows = <const char *> array.node.buffers[1] + array.offset * width
        self.texts.data = <const uint8_t *> array.node.buffers[2]
        # Without data, all strings must be empty, which the C loops check.
        self.set_limit(0 if self.texts.data == NULL else limit)
        return 0

    cdef void set_limit(self, int64_t limit) noexcept:
        """Set the number of bytes of the data that the C loops may read."""
        self.texts.limit = limit
        self.texts.last_of_16 = max(limit - 15, 0)

    cdef int read_views(self, Array array) except -1:
        """Set the addresses of string views; copy the lists of buffers, which other threads could change."""
        cdef const ArrowArray *node = array.node
        cdef int64_t i, n_buffers = node.n_buffers - 3
        cdef bytes copies = PyBytes_FromStringAndSize(NULL, n_buffers * (sizeof(int64_t) + sizeof(void *)))
        cdef int64_t *sizes = <int64_t *> PyBytes_AS_STRING(copies)
        cdef const uint8_t **buffers = <const uint8_t **> (sizes + n_buffers)
        self.texts.rows = <const char *> node.buffers[1] + array.offset * 16
        if n_buffers > 0:
            memcpy(buffers, node.buffers + 2, n_buffers * sizeof(void *))
            memcpy(sizes, node.buffers[node.n_buffers - 1], n_buffers * sizeof(int64_t))
        for i in range(n_buffers):
            if buffers[i] == NULL or sizes[i] < 0:
                sizes[i] = 0
        self.kept = copies
        self.texts.buffers, self.texts.sizes, self.texts.n_buffers = buffers, sizes, n_buffers
        return 0

    cdef int read_arrow_texts(self, Array array) except -1:
        """Set the addresses of an Arrow array of strings or bytes, without a copy."""
        cdef int layout = TEXT_FORMATS[array.schema.format]
        self.hold(IN_BUFFERS_TEXTS, array)
        self.texts.layout = layout
        if array.length == 0:
            return 0
        if array.count_nulls() > 0:
            self.texts.bits = array.bits
            self.texts.bits_begin = array.bits_begin
        return self.read_views(array) if layout == OHF_VIEWS else self.read_offsets(array, layout)

    cdef int read_strings(self, Strings strings) except -1:
        """Set the addresses of Strings, without a copy."""
        self.hold(IN_BUFFERS_TEXTS, strings)
        self.texts.layout = OHF_OFFSETS64
        self.texts.rows = strings.ends
        self.texts.data = strings.bytes
        self.set_limit(strings.ends[self.n_rows])
        return 0

    cdef int read_fixed(self, object array, str kind) except -1:
        """Set the address of a NumPy array of dtype U or S; copy it if it is not contiguous and native."""
        array = np.require(array, array.dtype.newbyteorder("="), "CA")
        self.hold(IN_BUFFERS_TEXTS, array)
        self.texts.layout = OHF_UCS4 if kind == "string" else OHF_BYTES_S
        self.texts.width = array.dtype.itemsize // (4 if kind == "string" else 1)
        self.texts.rows = cnp.PyArray_DATA(<cnp.ndarray> array)
        return 0

    cdef int read_objects(self, object array, str kind, tuple missing) except -1:
        """Set the address of a NumPy array of objects or of a tuple."""
        cdef int i
        if len(missing) > OHF_MAX_MISSING:
            raise ValueError(f"missing must have at most {OHF_MAX_MISSING} objects, got {len(missing)}")
        self.hold(IN_OBJECTS, array.copy() if IS_FREE_THREADED and type(array) is not tuple else array)
        self.kept = missing
        self.objects.is_text = kind == "string"
        for i in range(len(missing)):
            self.objects.missing[i] = <void *> missing[i]
        self.objects.n_missing = len(missing)
        return self.open_objects()

    cdef int open_objects(self) except -1:
        """Set the address of the objects, and allocate the memo from objects to codes.

        Call this again if other code may have run, because that code may have changed the array.
        """
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
        cdef object na_object = getattr(dtype, "na_object", "")     # a dtype without it has no missing values
        cdef bytes text = na_object.encode() if isinstance(na_object, str) else b""
        self.hold(IN_PACKED_TEXTS, array)
        self.kept = text
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
        if array.dtype.kind in "mMb":
            array = array.view(np.uint8 if array.dtype.kind == "b" else np.int64)
        self.hold(IN_BUFFERS_NUMBERS, array)
        self.numbers.rows = cnp.PyArray_DATA(<cnp.ndarray> array)
        self.numbers.number_type = INDEX_TYPES[array.dtype.str[1:]]
        self.numbers.into = INDEX_TYPES[DTYPES[kind].str[1:]]
        return 0

    cdef int read_arrow_numbers(self, Array array, str kind) except -1:
        """Set the addresses of an Arrow array of numbers or times, without a copy; Booleans become 0 and 1."""
        is_bool = array.schema.kind == "boolean"
        self.read_numbers(array.codes() if is_bool else array.memory(array.schema.dtype), kind)
        if array.count_nulls() > 0:
            self.numbers.bits = array.bits
            self.numbers.bits_begin = array.bits_begin
        return 0


cdef bint read_arrow(Source source, Array array, str kind) except -1:
    """Set the addresses of an Arrow array; return False if a dictionary of this kind cannot hold it."""
    dtype = None if array.schema.kind == "dictionary" else array.schema.dtype
    if array.schema.kind == kind and array.schema.format in TEXT_FORMATS:
        source.read_arrow_texts(array)
    elif dtype is not None and dtype.kind in LETTERS[kind]:
        source.read_arrow_numbers(array, kind)
    else:
        return False
    return True


cdef bint read_numpy(Source source, cnp.ndarray array, str kind, tuple missing) except -1:
    """Set the address of a NumPy array; return False if a dictionary of this kind cannot hold it."""
    cdef str letter = array.dtype.kind
    if letter not in LETTERS[kind] or (letter == "f" and array.itemsize > 8):
        return False
    if letter == "O":
        source.read_objects(array, kind, missing)
    elif letter == "T":
        source.read_packed(array)
    elif letter in "US":
        source.read_fixed(array, kind)
    else:
        source.numbers.has_nat = letter in "mM"
        source.read_numbers(array, kind)
    return True


cdef Source source_of(object values, str kind, tuple missing):
    """Return the source of the values; raise TypeError if a dictionary of this kind cannot hold them."""
    cdef Source source = Source.__new__(Source)
    cdef bint is_read = True
    if isinstance(values, Array):
        is_read = read_arrow(source, values, kind)
    elif isinstance(values, Strings) and kind == ("string" if (<Strings> values).is_text else "binary"):
        source.read_strings(values)
    elif isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"an array for a dictionary must have one dimension, got shape {values.shape}")
        is_read = read_numpy(source, values, kind, missing)
    elif type(values) is tuple and kind in ("string", "binary"):
        source.read_objects(values, kind, missing)
    else:
        is_read = False
    if not is_read:
        dtype = getattr(values, "dtype", None) or with_article(values)
        raise TypeError(f"a dictionary of kind {kind!r} cannot hold the values of {dtype}")
    return source


# ---- Rows for the C loops, and for several threads ----

cdef enum:
    # Looking up a text takes about as long as writing 32 bytes of a matrix. `parallel.resolve` chooses the number
    # of threads by the bytes that a kernel writes.
    BYTES_OF_A_ROW = 32
    # The minimum number of rows of a thread; they take half a millisecond or more.
    MIN_ROWS_OF_A_THREAD = 1 << 17
    ROWS_OF_A_CHUNK = 1 << 14
    MAX_LEARNERS = 32
    # The size that `for_each_chunk` is told for a part of the rows. Up to 4 MiB (`STALL_CHUNK_BYTES`), it would
    # expect that all chunks take the same time, which parts do not.
    BYTES_OF_A_PART = 8 << 20
    # One thread learns the first SAMPLE_ROWS rows. If fewer than MIN_REPEATED of them repeat a value, it learns
    # all rows: there are many values, and each further thread would fill a large hash table of its own with
    # values that are then learned once more.
    SAMPLE_ROWS = 1 << 16
    MIN_REPEATED = 1 << 13
    # Each thread copies the values that are known after the sample. If they are more, one thread learns all rows.
    MAX_COPIED = 1 << 18

cdef struct Part:
    ohf_hashtable *table        # the hash table of the dictionary, or of one other thread
    # For each code of `table`, the code of the same value in the dictionary; lut[-1] is -1, the code of missing
    # values. NULL if both codes are equal for all values.
    const int32_t *lut
    int64_t begin, end          # the rows [begin, end)
    int64_t stopped             # the row at which a failure has ended the loop
    int failed

cdef struct Job:
    Form form
    const ohf_texts *texts
    const ohf_numbers *numbers
    const ohf_packed *packed
    bint is_learning
    int32_t *codes
    ohf_hashtable *table
    Part *parts
    int n_parts


cdef int code_rows(
    const Job *job, ohf_hashtable *table, int64_t begin, int64_t end, int64_t *stopped,
) noexcept nogil:
    """Write the codes of some rows of a source without Python objects; return an error code or 0."""
    if job.form == IN_PACKED_TEXTS:
        return ohf_code_packed(table, job.packed, job.is_learning, begin, end, job.codes, stopped)
    if job.form == IN_BUFFERS_TEXTS:
        if job.is_learning:
            return ohf_learn_texts(table, job.texts, begin, end, job.codes, stopped)
        return ohf_look_up_texts(table, job.texts, begin, end, job.codes, stopped)
    if job.is_learning:
        return ohf_learn_numbers(table, job.numbers, begin, end, job.codes, stopped)
    return ohf_look_up_numbers(table, job.numbers, begin, end, job.codes, stopped)


cdef void look_up_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Look up the rows of one chunk, and store the error code (0: none) in the part of this chunk."""
    cdef const Job *job = <const Job *> any_job
    cdef Part *part = &job.parts[begin // ROWS_OF_A_CHUNK]
    part.failed = code_rows(job, job.table, begin, end, &part.stopped)


cdef void copy_to_parts(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Copy the values of the dictionary, with their codes, to the hash tables of the parts [begin, end).

    Part 0 needs no copy, because it uses the hash table of the dictionary.
    """
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t i
    cdef Part *part
    for i in range(max(begin, 1), end):
        part = &job.parts[i]
        part.failed = ohf_merge(part.table, job.table, 0, <int32_t *> part.lut)


cdef void learn_parts(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Learn the rows of the parts [begin, end), each with its own hash table."""
    cdef const Job *job = <const Job *> any_job
    cdef Py_ssize_t i
    cdef Part *part
    for i in range(begin, end):
        part = &job.parts[i]
        part.failed = code_rows(job, part.table, part.begin, part.end, &part.stopped)


cdef void recode_chunk(
    const void *any_job, Py_ssize_t begin, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Replace codes of the parts' hash tables by codes of the dictionary.

    The rows [begin, end) count from the first row of part 1, because part 0 has the codes of the dictionary.
    """
    cdef const Job *job = <const Job *> any_job
    cdef int64_t row = job.parts[1].begin + begin, stop = job.parts[1].begin + end
    cdef int i
    cdef const int32_t *lut
    for i in range(1, job.n_parts):
        lut = job.parts[i].lut
        if lut == NULL:
            row = max(row, min(stop, job.parts[i].end))
        while row < min(stop, job.parts[i].end):
            job.codes[row] = lut[job.codes[row]]
            row += 1


@cython.final
cdef class Learners:
    """The parts of the threads that learn values; the first thread fills the hash table of the dictionary."""

    cdef ohf_hashtable tables[MAX_LEARNERS]
    cdef Part parts[MAX_LEARNERS]
    cdef list luts              # for each part: entry k + 1 is the dictionary's code for code k of the part
    cdef int n_parts

    cdef int open(self, Job *job, int n_parts) except -1:
        """Make a copy of the dictionary's hash table for each part but the first."""
        cdef ohf_hashtable *table = job.table
        cdef int i
        self.luts = [np.full(table.n_codes + 1, -1, np.int32) for _ in range(n_parts)]
        self.parts[0].table = table
        self.n_parts = 1
        for i in range(1, n_parts):
            if ohf_hashtable_open(&self.tables[i], table.engine, table.is_texts, table.seed, table.n_codes):
                raise MemoryError("cannot allocate the hash tables of threads")
            self.parts[i].table = &self.tables[i]
            self.parts[i].lut = self.lut_of(i)
            self.n_parts += 1
        job.parts, job.n_parts = self.parts, n_parts
        for_each_chunk(copy_to_parts, job, n_parts, 1, BYTES_OF_A_PART, 0, n_parts)
        return 0

    cdef int32_t *lut_of(self, int part) except NULL:
        """Return the address of the entry for code 0 in the look-up table of a part."""
        return <int32_t *> cnp.PyArray_DATA(<cnp.ndarray> self.luts[part]) + 1

    cdef void divide(self, int64_t begin, int64_t end) noexcept:
        """Divide the rows from ``begin`` on among the parts, up to ROWS_BETWEEN_SIGNALS rows for each part."""
        cdef int64_t count = min((end - begin + self.n_parts - 1) // self.n_parts, <int64_t> ROWS_BETWEEN_SIGNALS)
        cdef int i
        for i in range(self.n_parts):
            self.parts[i].begin = min(begin + i * count, end)
            self.parts[i].end = min(self.parts[i].begin + count, end)

    cdef int merge(self, int part, int64_t n_copied) except? -1:
        """Add the new values of a part to the dictionary and to the part's look-up table.

        Return an error code or 0. The part began with ``n_copied`` values of the dictionary.
        """
        cdef ohf_hashtable *table = self.parts[part].table
        cdef int64_t known = len(self.luts[part]) - 1
        cdef int32_t *lut
        cdef int failed = 0
        if known < table.n_codes:
            self.luts[part] = np.concatenate([self.luts[part], np.empty(table.n_codes - known, np.int32)])
            lut = self.lut_of(part)
            with nogil:
                failed = ohf_merge(self.parts[0].table, table, known, lut)
        self.parts[part].lut = NULL if table.n_codes == n_copied else self.lut_of(part)
        return failed

    def __dealloc__(self):
        cdef int i
        for i in range(1, self.n_parts):
            ohf_hashtable_close(&self.tables[i])


# ---- The hash table ----

@cython.final
cdef class Dictionary:
    """A hash table from distinct values to codes, which number the values in order of first appearance.

    The kind "int64" or "uint64" holds integers of any width, Booleans (0, 1), dates and durations. Several threads
    may call `lookup` at the same time. While one thread adds values, other threads that use the dictionary raise
    RuntimeError.
    """

    cdef ohf_hashtable table
    cdef int n_users        # the number of threads that look up values, or -1 while a thread adds values
    cdef readonly str kind

    def __cinit__(self, str kind not None, values=None):
        cdef uint64_t seed[8]
        cdef bytes variant = simd.active().encode()
        cdef int64_t n_values = 0 if values is None else len(values)
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
        self.kind = kind
        memcpy(seed, <const char *> SEED, sizeof(seed))
        if ohf_hashtable_open(
            &self.table, ohf_engine_of(variant), self.kind in ("string", "binary"), seed, n_values,
        ):
            raise MemoryError("cannot allocate the hash table of a dictionary")
        if n_values > 0:
            self.encode(values)
            if self.table.n_codes != n_values:
                raise ValueError("the values of a dictionary must be distinct and not missing")

    def __dealloc__(self):
        ohf_hashtable_close(&self.table)

    def __len__(self):
        """Return the number of distinct values."""
        return self.table.n_codes

    def __repr__(self):
        """Return the kind and the number of values as text."""
        return f"Dictionary({self.kind!r}, {len(self)} values)"

    cdef int enter(self, bint learning) except -1:
        """Register a writer (if `learning`) or a reader; raise RuntimeError if another thread prevents it."""
        cdef bint is_free
        ohf_lock()
        is_free = self.n_users == 0 if learning else self.n_users >= 0
        if is_free:
            self.n_users += -1 if learning else 1
        ohf_unlock()
        if not is_free:
            raise RuntimeError("no other thread may use a dictionary while a thread adds values to it")
        return 0

    cdef void leave(self, bint learning) noexcept:
        """Undo the registration of `enter`."""
        ohf_lock()
        self.n_users += 1 if learning else -1
        ohf_unlock()

    cdef cnp.ndarray code(self, object values, object missing, bint learning, object num_threads):
        """Return the codes of values; add unknown values if `learning`, else their code is -2."""
        cdef Source source = source_of(values, self.kind, tuple(missing))
        cdef cnp.ndarray codes = memory.allocate((source.n_rows,), CODES)[0]
        cdef int64_t done = 0, reach, stopped = 0
        cdef int failed
        cdef Job job
        job.form, job.is_learning, job.table = source.form, learning, &self.table
        job.texts, job.numbers, job.packed = &source.texts, &source.numbers, &source.packed
        job.codes = <int32_t *> cnp.PyArray_DATA(codes)
        self.enter(learning)
        try:
            done = self.code_in_threads(&job, source.n_rows, num_threads)
            while done < source.n_rows:
                if source.form == IN_OBJECTS:
                    reach = min(source.n_rows, done + VALUES_BETWEEN_SIGNALS)
                    failed = ohf_code_objects(
                        &self.table, &source.objects, learning, done, reach, job.codes, &stopped,
                    )
                else:
                    reach = min(source.n_rows, done + ROWS_BETWEEN_SIGNALS)
                    with nogil:
                        failed = code_rows(&job, &self.table, done, reach, &stopped)
                if failed:
                    self.fail(failed, stopped)
                done = reach
                if done < source.n_rows:
                    PyErr_CheckSignals()
                    if source.form == IN_OBJECTS:
                        source.open_objects()
            return codes
        finally:
            self.leave(learning)

    cdef int64_t code_in_threads(self, Job *job, int64_t n_rows, object num_threads) except -1:
        """Write the codes of the first rows with several threads, and return the number of these rows.

        The number is 0 if one thread should process all rows.
        """
        cdef int n_threads
        if job.form not in (IN_BUFFERS_TEXTS, IN_BUFFERS_NUMBERS) or n_rows < 2 * MIN_ROWS_OF_A_THREAD:
            return 0
        n_threads = min(parallel.resolve(num_threads, n_rows * BYTES_OF_A_ROW), n_rows // MIN_ROWS_OF_A_THREAD)
        if n_threads < 2:
            return 0
        if job.is_learning:
            return self.learn_in_threads(job, n_rows, min(n_threads, MAX_LEARNERS))
        return self.look_up_in_threads(job, n_rows, n_threads)

    cdef int64_t look_up_in_threads(self, Job *job, int64_t n_rows, int n_threads) except -1:
        """Look up all rows, and return their number."""
        cdef Py_ssize_t n_chunks = (n_rows + ROWS_OF_A_CHUNK - 1) // ROWS_OF_A_CHUNK
        cdef bytearray memory_of_parts = bytearray(n_chunks * sizeof(Part))
        job.parts = <Part *> PyByteArray_AS_STRING(memory_of_parts)
        for_each_chunk(look_up_chunk, job, n_rows, ROWS_OF_A_CHUNK, BYTES_OF_A_ROW, 0, n_threads)
        self.check_parts(job, n_chunks)
        return n_rows

    cdef int64_t learn_in_threads(self, Job *job, int64_t n_rows, int n_threads) except -1:
        """Learn all rows, or only the first SAMPLE_ROWS if there are too many values; return their number."""
        cdef int64_t n_known = self.table.n_codes, n_copied, done = SAMPLE_ROWS, stopped = 0
        cdef int failed
        cdef Learners learners = Learners.__new__(Learners)
        with nogil:
            failed = code_rows(job, &self.table, 0, SAMPLE_ROWS, &stopped)
        if failed:
            self.fail(failed, stopped)
        n_copied = self.table.n_codes
        if SAMPLE_ROWS - (n_copied - n_known) < MIN_REPEATED or n_copied > MAX_COPIED:
            return SAMPLE_ROWS
        learners.open(job, n_threads)
        self.check_parts(job, n_threads)
        while done < n_rows:
            learners.divide(done, n_rows)
            for_each_chunk(learn_parts, job, n_threads, 1, BYTES_OF_A_PART, 0, n_threads)
            self.check_parts(job, n_threads)
            for i in range(1, n_threads):
                failed = learners.merge(i, n_copied)
                if failed:
                    self.fail(failed, job.parts[i].begin)
            done = job.parts[n_threads - 1].end
            for_each_chunk(
                recode_chunk, job, done - job.parts[1].begin, ROWS_OF_A_CHUNK, BYTES_OF_A_ROW, 0, n_threads,
            )
            PyErr_CheckSignals()
        return done

    cdef int check_parts(self, const Job *job, Py_ssize_t n_parts) except -1:
        """Raise the exception for the first part that has failed."""
        cdef Py_ssize_t i
        for i in range(n_parts):
            if job.parts[i].failed:
                self.fail(job.parts[i].failed, job.parts[i].stopped)
        return 0

    cdef int fail(self, int failed, int64_t row) except -1:
        """Raise the exception for an error code (`failed`) that a C loop returned at a row."""
        if failed == OHF_NO_MEMORY:
            raise MemoryError(f"cannot allocate the hash table of a dictionary, at row {row}")
        if failed == OHF_TOO_MANY:
            raise ValueError(f"row {row}: a dictionary must have at most {INT32_MAX} distinct values")
        if failed == OHF_OUTSIDE:
            raise TypeError(f"row {row}: the value does not fit a {self.kind!r} dictionary")
        raise ValueError(f"row {row}: offsets and views must be inside the buffers of the array")

    def encode(self, values, *, missing=(), num_threads=None):
        """Return the codes of values, -1 if missing, and add new values to the dictionary.

        The values are an Array, an ndarray, Strings, or a tuple of str or bytes. Equal values have the same code
        in every call. `missing` has up to four objects to treat as missing values, like None and NaN; they are
        compared by identity. Do not use the dictionary after an error.

        By default, the number of threads depends on the number of values; arrays of objects use one.
        """
        return self.code(values, missing, True, num_threads)

    def split(self, values, bytes separator not None, *, bint keep_empty=False):
        """Split strings at a separator, add new pieces to the dictionary, and return ``(offsets, codes)``.

        The pieces of string i have the codes ``codes[offsets[i]:offsets[i + 1]]``. A missing string has no
        pieces. Empty pieces are skipped by default.
        """
        cdef Source source = source_of(values, self.kind, ())
        cdef cnp.ndarray offsets = np.zeros(source.n_rows + 1, np.int64)
        cdef cnp.ndarray codes
        cdef int64_t *ends = <int64_t *> cnp.PyArray_DATA(offsets) + 1
        cdef int64_t done = 0, reach, stopped = 0
        cdef int failed = 0
        cdef ohf_split *split
        if source.form != IN_BUFFERS_TEXTS or source.texts.layout not in (OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS):
            raise TypeError("the values to split must be Strings or an Arrow array of strings")
        if len(separator) == 0:
            raise ValueError("the separator must not be empty")
        memory_of_split = bytearray(sizeof(ohf_split))      # zeros; too large for the stack of a small thread
        split = <ohf_split *> PyByteArray_AS_STRING(memory_of_split)
        split.separator = <const uint8_t *> PyBytes_AS_STRING(separator)
        split.separator_bytes = len(separator)
        split.keeps_empty = keep_empty
        self.enter(True)
        try:
            while done < source.n_rows:
                reach = min(source.n_rows, done + VALUES_BETWEEN_SIGNALS)
                with nogil:
                    failed = ohf_split_texts(&self.table, &source.texts, done, reach, split, ends, &stopped)
                if failed:
                    self.fail(failed, stopped)
                PyErr_CheckSignals()
                done = reach
            codes = memory.allocate((split.n_codes,), CODES)[0]
            if split.n_codes > 0:
                memcpy(cnp.PyArray_DATA(codes), split.codes, split.n_codes * sizeof(int32_t))
            return offsets, codes
        finally:
            free(split.codes)
            self.leave(True)

    def lookup(self, values, *, missing=(), num_threads=None):
        """Return the codes of values: -1 if missing, -2 if unknown. The arguments are those of `encode`."""
        return self.code(values, missing, False, num_threads)

    @property
    def values(self):
        """The distinct values in order of first appearance: Strings or a read-only ndarray."""
        cdef cnp.ndarray offsets, data
        self.enter(False)
        try:
            if self.kind in DTYPES:
                data = np.empty(self.table.n_codes, DTYPES[self.kind])
                memcpy(cnp.PyArray_DATA(data), self.table.numbers, data.nbytes)
                data.flags.writeable = False
                return data
            offsets = np.empty(self.table.n_codes + 1, np.int64)
            data = np.empty(self.table.n_short_bytes + self.table.n_long_bytes, np.uint8)
            with nogil:
                ohf_hashtable_texts(
                    &self.table, <int64_t *> cnp.PyArray_DATA(offsets), <uint8_t *> cnp.PyArray_DATA(data),
                )
            return new_strings(offsets, data, self.kind == "string")
        finally:
            self.leave(False)


# ---- Numbers of labels and integers ----

cdef struct Numbered:
    PyObject *label
    int32_t number


cdef inline size_t place_in_memo(const PyObject *label) noexcept nogil:
    """Return the place of a label in a memo of `MEMO_LABELS` places.

    The place depends on the address of the label without its lowest four bits, which are equal for all objects.
    """
    cdef uint64_t address = <uint64_t> <uintptr_t> label >> 4
    return (address ^ address >> 13) & (MEMO_LABELS - 1)


def number_labels(tuple rows not None, dict numbers not None):
    """Replace the labels in rows by their numbers; new labels are added to ``numbers``.

    The result is ``(offsets, flat)``: row i has the numbers ``flat[offsets[i]:offsets[i + 1]]``. No other thread
    may change ``numbers`` during the call.

    This function takes 15 ns per label, or 5 ns if a memo from addresses to numbers contains the label; a
    combination of Python functions takes 45 ns.
    """
    cdef Py_ssize_t n_rows = len(rows), row, at = 0, room = 4 * n_rows + 16
    cdef bint has_memo = n_rows >= MIN_ROWS_FOR_MEMO
    offsets = np.zeros(n_rows + 1, np.int64)
    codes = np.empty(room, np.int32)
    cdef int64_t[::1] ends = offsets
    cdef int32_t[::1] out = codes
    cdef bytearray memory_of_memo = bytearray(sizeof(Numbered) * (MEMO_LABELS if has_memo else 1))
    cdef Numbered *memo = <Numbered *> PyByteArray_AS_STRING(memory_of_memo)
    cdef Numbered *seen = memo
    cdef object labels, label, number
    for row, labels in enumerate(rows):
        for label in labels:
            if has_memo:
                seen = &memo[place_in_memo(<PyObject *> label)]
            if at == room:
                room *= 2
                codes = np.concatenate([codes, np.empty(room - at, np.int32)])
                out = codes
            if seen.label == <PyObject *> label:
                out[at] = seen.number
            else:
                number = numbers.get(label)
                if number is None:
                    if len(numbers) > INT32_MAX:
                        raise ValueError("there must be at most 2**31 different labels")
                    number = len(numbers)
                    numbers[label] = number
                    # The memo has only objects that `numbers` keeps alive, so that their addresses are unique.
                    seen.label, seen.number = <PyObject *> label, number
                out[at] = number
            at += 1
        ends[row + 1] = at
        if row % LABEL_ROWS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
    return offsets, codes[:at]


def number_integers(const integer_t[::1] values, uint64_t max_span):
    """Return the codes and the sorted distinct integers (as uint64), or None if max - min > ``max_span``.

    There must be at least one integer, in native byte order. ``max_span`` must be less than 2**31 - 1.
    """
    cdef const integer_t *items = &values[0]
    cdef integer_t low = items[0], high = items[0]
    cdef int64_t i, n = len(values)
    cdef uint64_t span
    cdef uint32_t step, outside
    cdef int32_t n_found = 0
    cdef cnp.ndarray occurs, order, numbers
    cdef uint8_t *marks
    cdef int32_t *ranks
    cdef int32_t *codes
    with nogil:
        for i in range(n):
            low = min(low, items[i])
            high = max(high, items[i])
    span = <uint64_t> high - <uint64_t> low
    if span > max_span:
        return None
    # A step is an integer minus `low`. Its rank, the number of smaller steps that occur, is the integer's code.
    # `outside` is the step of integers that another thread has changed.
    outside = <uint32_t> span + 1
    occurs = np.zeros(span + 2, np.uint8)
    order = np.empty(span + 2, np.int32)
    numbers = memory.allocate((n,), CODES)[0]
    marks = <uint8_t *> cnp.PyArray_DATA(occurs)
    ranks = <int32_t *> cnp.PyArray_DATA(order)
    codes = <int32_t *> cnp.PyArray_DATA(numbers)
    with nogil:
        for i in range(n):
            codes[i] = <int32_t> (<uint64_t> items[i] - <uint64_t> low)
        for i in range(n):
            marks[min(<uint32_t> codes[i], outside)] = 1
        for step in range(outside):
            ranks[step] = n_found
            n_found += marks[step]
        ranks[outside] = -1
        if <uint32_t> n_found < outside or marks[outside]:      # otherwise each step equals its rank
            for i in range(n):
                codes[i] = ranks[min(<uint32_t> codes[i], outside)]
    marks[outside] = 0
    return numbers, np.flatnonzero(occurs).astype(np.uint64) + np.uint64(<uint64_t> low)
