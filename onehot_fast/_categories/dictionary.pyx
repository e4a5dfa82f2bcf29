# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Map values to codes in order of first appearance, and back, with a hash table.

The functions at the end of the module code labels and integers without the hash table.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from onehot_fast._categories.abi cimport (
    OHF_NO_MEMORY,
    OHF_OFFSETS32,
    OHF_OFFSETS64,
    OHF_OUTSIDE,
    OHF_TOO_MANY,
    OHF_VIEWS,
    ohf_code_objects,
    ohf_code_packed,
    ohf_dictionary,
    ohf_dictionary_close,
    ohf_dictionary_open,
    ohf_dictionary_texts,
    ohf_engine_of,
    ohf_learn_numbers,
    ohf_learn_texts,
    ohf_look_up_numbers,
    ohf_look_up_texts,
    ohf_split,
    ohf_split_texts,
)
from onehot_fast._categories.source cimport IN_BUFFERS_TEXTS, IN_OBJECTS, IN_PACKED_TEXTS, Source, source_of
from onehot_fast._categories.strings cimport new_strings
from onehot_fast._runtime.fork_lock cimport ohf_lock, ohf_lock_over_forks, ohf_unlock

import os

import numpy as np

from onehot_fast._runtime import memory
from onehot_fast._kernels import simd

cdef extern from "once.h":
    uint64_t ohf_once(uint64_t integer) nogil

cnp.import_array()

ctypedef fused integer_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

# The number of rows between two checks for a signal, such as Ctrl-C.
cdef enum:
    ROWS_BETWEEN_SIGNALS = 1 << 22
    OBJECTS_BETWEEN_SIGNALS = 1 << 18
    TEXTS_BETWEEN_SIGNALS = 1 << 18
    LABELS_BETWEEN_SIGNALS = 1 << 16

cdef dict DTYPES = {"int64": np.dtype(np.int64), "uint64": np.dtype(np.uint64), "float64": np.dtype(np.float64)}
CODES = np.dtype(np.int32)
KINDS = ("string", "binary", *DTYPES)

# One seed for all dictionaries of the process. It affects the hashes but no results.
cdef bytes SEED = os.urandom(64)

if ohf_lock_over_forks():
    raise MemoryError("cannot allocate the handlers that run at a fork")


class UnsupportedValueError(TypeError):
    """A dictionary of this kind cannot hold the value in `row`."""

    def __init__(self, message, row):
        super().__init__(message)
        self.row = row


@cython.final
cdef class Dictionary:
    """A hash table from distinct values to codes, which are in order of first appearance.

    The kind "int64" or "uint64" holds integers of any width, Booleans (0, 1), dates and durations. Several threads may
    call `lookup` at the same time. While one thread adds values, other threads that use the dictionary raise
    RuntimeError.
    """

    cdef ohf_dictionary table
    cdef bint is_learning
    cdef int n_readers
    cdef readonly str kind

    def __cinit__(self, str kind not None, values=None):
        cdef uint64_t seed[8]
        cdef bytes variant = simd.active().encode()
        cdef int64_t n_values = 0 if values is None else len(values)
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
        self.kind = kind
        memcpy(seed, <const char *> SEED, sizeof(seed))
        if ohf_dictionary_open(
            &self.table, ohf_engine_of(variant), self.kind in ("string", "binary"), seed, n_values,
        ):
            raise MemoryError("cannot allocate the table of a dictionary")
        if n_values > 0:
            self.run(source_of(values, kind, ()), True)
            if self.table.n_codes != n_values:
                raise ValueError("the values of a dictionary must be different from each other, and not missing")

    def __dealloc__(self):
        ohf_dictionary_close(&self.table)

    def __len__(self):
        """Return the number of distinct values."""
        return self.table.n_codes

    def __repr__(self):
        """Return the kind and the number of values as text."""
        return f"Dictionary({self.kind!r}, {len(self)} values)"

    cdef int enter(self, bint learning) except -1:
        """Register this thread as a writer (`learning`) or a reader; raise RuntimeError if it must not run."""
        cdef bint is_used
        ohf_lock()
        is_used = self.is_learning or (learning and self.n_readers > 0)
        if not is_used:
            self.is_learning = learning
            self.n_readers += not learning
        ohf_unlock()
        if is_used:
            raise RuntimeError("while a thread adds values to a dictionary, no other thread may use it")
        return 0

    cdef void leave(self, bint learning) noexcept:
        """Undo the registration of `enter`."""
        ohf_lock()
        if learning:
            self.is_learning = False
        else:
            self.n_readers -= 1
        ohf_unlock()

    cdef cnp.ndarray code(self, object values, object missing, bint learning):
        """Return the codes of values; if `learning`, add new values."""
        cdef Source source = source_of(values, self.kind, tuple(missing))
        self.enter(learning)
        try:
            return self.run(source, learning)
        finally:
            self.leave(learning)

    cdef cnp.ndarray run(self, Source source, bint learning):
        """Return the codes of all rows; if `learning`, add new values."""
        cdef cnp.ndarray codes = memory.allocate((source.n_rows,), CODES)[0]
        cdef int32_t *out = <int32_t *> cnp.PyArray_DATA(codes)
        cdef int64_t done = 0, reach, stopped = 0
        cdef int failed
        while done < source.n_rows:
            if source.form == IN_OBJECTS:
                reach = min(source.n_rows, done + OBJECTS_BETWEEN_SIGNALS)
                failed = ohf_code_objects(
                    &self.table, &source.objects, learning, done, reach, out, &stopped,
                )
            else:
                reach = min(source.n_rows, done + ROWS_BETWEEN_SIGNALS)
                with nogil:
                    failed = self.run_buffers(source, learning, done, reach, out, &stopped)
            if failed:
                self.fail(failed, stopped)
            done = reach
            if done < source.n_rows:
                PyErr_CheckSignals()
                if source.form == IN_OBJECTS:
                    source.open_objects()
        return codes

    cdef int run_buffers(
        self, Source source, bint learning, int64_t begin, int64_t end, int32_t *codes, int64_t *stopped,
    ) noexcept nogil:
        """Write the codes of some rows of a source that has no Python objects; return an error code or 0."""
        if source.form == IN_PACKED_TEXTS:
            return ohf_code_packed(&self.table, &source.packed, learning, begin, end, codes, stopped)
        if source.form == IN_BUFFERS_TEXTS:
            if learning:
                return ohf_learn_texts(&self.table, &source.texts, begin, end, codes, stopped)
            return ohf_look_up_texts(&self.table, &source.texts, begin, end, codes, stopped)
        if learning:
            return ohf_learn_numbers(&self.table, &source.numbers, begin, end, codes, stopped)
        return ohf_look_up_numbers(&self.table, &source.numbers, begin, end, codes, stopped)

    cdef int fail(self, int failed, int64_t row) except -1:
        """Raise the exception for the error code of a row."""
        if failed == OHF_NO_MEMORY:
            raise MemoryError(f"cannot allocate the table of a dictionary, at row {row}")
        if failed == OHF_TOO_MANY:
            raise ValueError(f"row {row}: more than {INT32_MAX} distinct values")
        if failed == OHF_OUTSIDE:
            raise UnsupportedValueError(f"row {row}: the value must fit a dictionary of kind {self.kind!r}", row)
        raise ValueError(f"row {row}: offsets and views must be inside the buffers of the array")

    def encode(self, values, *, missing=()):
        """Return the codes of values, -1 if missing, and add new values to the dictionary.

        The values are an Array, an ndarray, Strings, or a tuple of str or bytes; codes are consistent across calls.
        Up to four objects in `missing` are missing values like None and NaN; they are compared by identity. Do not use
        the dictionary after an error.
        """
        return self.code(values, missing, True)

    def split(self, values, bytes separator not None, *, bint keep_empty=False):
        """Return ``(offsets, codes)`` of the pieces of texts split by a separator, and add new pieces.

        A missing text has no pieces. Empty pieces are skipped by default.
        """
        cdef Source source = source_of(values, self.kind, ())
        cdef cnp.ndarray offsets = np.zeros(source.n_rows + 1, np.int64)
        cdef cnp.ndarray codes
        cdef int64_t *ends = <int64_t *> cnp.PyArray_DATA(offsets) + 1
        cdef int64_t done = 0, reach, stopped = 0
        cdef int failed = 0
        cdef ohf_split split
        if source.form != IN_BUFFERS_TEXTS or source.texts.layout not in (OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS):
            raise TypeError("the values to split must be Strings or an Arrow array of texts")
        if len(separator) == 0:
            raise ValueError("the separator must not be empty")
        memset(&split, 0, sizeof(split))
        split.separator = <const uint8_t *> PyBytes_AS_STRING(separator)
        split.separator_bytes = len(separator)
        split.keeps_empty = keep_empty
        self.enter(True)
        try:
            while done < source.n_rows:
                reach = min(source.n_rows, done + TEXTS_BETWEEN_SIGNALS)
                with nogil:
                    failed = ohf_split_texts(&self.table, &source.texts, done, reach, &split, ends, &stopped)
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

    def lookup(self, values, *, missing=()):
        """Return the codes of values: -1 if missing, -2 if unknown. The arguments are those of `encode`."""
        return self.code(values, missing, False)

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
                ohf_dictionary_texts(
                    &self.table, <int64_t *> cnp.PyArray_DATA(offsets), <uint8_t *> cnp.PyArray_DATA(data),
                )
            return new_strings(offsets, data, self.kind == "string")
        finally:
            self.leave(False)


# ---- Numbers of labels and integers ----

def number_labels(list rows not None, dict numbers not None):
    """Return ``(offsets, numbers of the labels)``, and add new labels to ``numbers``.

    This function takes 15 ns per label; a combination of Python functions takes 45 ns. No other thread may change
    ``numbers`` during the call.
    """
    cdef Py_ssize_t n_rows = len(rows), row = 0, at = 0, room = 4 * n_rows + 16
    offsets = np.zeros(n_rows + 1, np.int64)
    codes = np.empty(room, np.int32)
    cdef int64_t[::1] ends = offsets
    cdef int32_t[::1] out = codes
    cdef object labels, label, number
    for labels in rows:
        if row >= n_rows:
            raise RuntimeError("rows must not change while they are read")
        for label in labels:
            number = numbers.get(label)
            if number is None:
                if len(numbers) > INT32_MAX:
                    raise ValueError("there must be at most 2**31 different labels")
                number = len(numbers)
                numbers[label] = number
            if at == room:
                room *= 2
                codes = np.concatenate([codes, np.empty(room - at, np.int32)])
                out = codes
            out[at] = number
            at += 1
        row += 1
        ends[row] = at
        if row % LABELS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
    if row != n_rows:
        raise RuntimeError("rows must not change while they are read")
    return offsets, codes[:at]


cdef struct Limits:
    uint64_t first, span


cdef Limits limits_of(const integer_t *values, int64_t n) noexcept nogil:
    """Return the smallest integer, and the difference between the largest and the smallest."""
    cdef integer_t low = values[0], high = values[0]
    cdef int64_t i
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    return Limits(<uint64_t> low, <uint64_t> high - <uint64_t> low)


cdef inline uint64_t step_of(integer_t value, uint64_t first, uint64_t span) noexcept nogil:
    """Return ``value - first``, at most ``span + 1``: another thread may have changed the value."""
    cdef uint64_t step = ohf_once(<uint64_t> value - first)
    return step if step <= span else span + 1


cdef void mark(const integer_t *values, int64_t n, uint64_t first, uint64_t span, uint8_t *marks) noexcept nogil:
    """Set ``marks[value - first]`` to 1 for each value."""
    cdef int64_t i
    for i in range(n):
        marks[step_of(values[i], first, span)] = 1


cdef void look_up(
    const integer_t *values, int64_t n, uint64_t first, uint64_t span, const int32_t *ranks, int32_t *codes,
) noexcept nogil:
    """Write the rank of each value to ``codes``."""
    cdef int64_t i
    for i in range(n):
        codes[i] = ranks[step_of(values[i], first, span)]


cdef void subtract(
    const integer_t *values, int64_t n, uint64_t first, uint64_t span, int32_t *codes,
) noexcept nogil:
    """Write ``value - first`` for each value, which is its rank if all integers of the range occur."""
    cdef int64_t i
    cdef uint64_t step
    for i in range(n):
        step = ohf_once(<uint64_t> values[i] - first)
        codes[i] = <int32_t> step if step <= span else -1


def number_integers(const integer_t[::1] values, uint64_t max_span):
    """Return the codes and the sorted distinct integers (as uint64), or None if their range is too wide.

    There must be at least one integer, in native byte order. ``max_span``, the largest accepted difference between
    two integers, must be less than 2**31.
    """
    cdef int64_t n = len(values)
    cdef Limits limits
    cdef uint64_t first, span, step
    cdef int32_t n_found = 0
    cdef cnp.ndarray occurs, order, codes
    cdef uint8_t *marks
    cdef int32_t *ranks
    with nogil:
        limits = limits_of(&values[0], n)
    first, span = limits.first, limits.span
    if span > max_span:
        return None
    occurs = np.zeros(span + 2, np.uint8)
    order = np.empty(span + 2, np.int32)
    codes = memory.allocate((n,), CODES)[0]
    marks = <uint8_t *> cnp.PyArray_DATA(occurs)
    ranks = <int32_t *> cnp.PyArray_DATA(order)
    with nogil:
        mark(&values[0], n, first, span, marks)
        marks[span + 1] = 0
        for step in range(span + 2):
            ranks[step] = n_found if marks[step] else -1
            n_found += marks[step]
        if <uint64_t> n_found == span + 1:      # saves 6 % of `fit`
            subtract(&values[0], n, first, span, <int32_t *> cnp.PyArray_DATA(codes))
        else:
            look_up(&values[0], n, first, span, ranks, <int32_t *> cnp.PyArray_DATA(codes))
    return codes, np.flatnonzero(occurs).astype(np.uint64) + np.uint64(first)
