# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Values → codes in order of first appearance, and back: the categories of a column as arrays."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint64_t
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

cnp.import_array()

cdef enum:
    ROWS_BETWEEN_SIGNALS = 1 << 22
    OBJECTS_BETWEEN_SIGNALS = 1 << 18
    TEXTS_BETWEEN_SIGNALS = 1 << 18

cdef dict DTYPES = {"int64": np.dtype(np.int64), "uint64": np.dtype(np.uint64), "float64": np.dtype(np.float64)}
CODES = np.dtype(np.int32)
KINDS = ("string", "binary", *DTYPES)

# One seed for all dictionaries of the process: the hashes depend on it, and nothing else does.
cdef bytes SEED = os.urandom(64)

if ohf_lock_over_forks():
    raise MemoryError("cannot allocate the handlers that run at a fork")


class UnsupportedValueError(TypeError):
    """A value that a dictionary of this kind cannot hold.

    Attributes
    ----------
    row : int
        The first row of such a value.
    """

    def __init__(self, message, row):
        super().__init__(message)
        self.row = row


@cython.final
cdef class Dictionary:
    """Distinct values in order of first appearance, and the hash table that finds them.

    Any number of threads may look up at the same time. While one thread learns, no other thread may use the
    dictionary (RuntimeError).

    Parameters
    ----------
    kind : {"string", "binary", "int64", "uint64", "float64"}
        Integers of any width, Booleans (0, 1), dates and durations are "int64" or "uint64".
    values : Strings or ndarray of int64, uint64 or float64, optional
        Values to learn first: different from each other and not missing (ValueError).

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast._categories.dictionary import Dictionary
    >>> known = Dictionary("int64")
    >>> known.encode(np.array([30, 10, 30]))
    array([0, 1, 0], dtype=int32)
    >>> known.values
    array([30, 10])
    >>> known.lookup(np.array([10, 20]))
    array([ 1, -2], dtype=int32)
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
        memset(&self.table, 0, sizeof(self.table))
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
        """Show the kind and the number of values."""
        return f"Dictionary({self.kind!r}, {len(self)} values)"

    # ---- Who uses it ----

    cdef int begin_reading(self) except -1:
        """Enter as one of the threads that look up."""
        cdef bint was_learning
        ohf_lock()
        was_learning = self.is_learning
        self.n_readers += not was_learning
        ohf_unlock()
        if was_learning:
            raise RuntimeError("another thread makes this dictionary learn")
        return 0

    cdef void end_reading(self) noexcept:
        """Leave what `begin_reading` entered."""
        ohf_lock()
        self.n_readers -= 1
        ohf_unlock()

    cdef int begin_learning(self) except -1:
        """Enter as the only thread."""
        cdef bint was_used
        ohf_lock()
        was_used = self.is_learning or self.n_readers > 0
        if not was_used:
            self.is_learning = True
        ohf_unlock()
        if was_used:
            raise RuntimeError("another thread uses this dictionary, which cannot learn at the same time")
        return 0

    cdef void end_learning(self) noexcept:
        """Leave what `begin_learning` entered."""
        ohf_lock()
        self.is_learning = False
        ohf_unlock()

    # ---- The table ----

    cdef cnp.ndarray run(self, Source source, bint learning):
        """Return the codes of all rows, learning them or looking them up."""
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
        """Run the loop for this source over some rows."""
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
        """Raise the error for which a loop stopped."""
        if failed == OHF_NO_MEMORY:
            raise MemoryError(f"cannot allocate the table of a dictionary, at row {row}")
        if failed == OHF_TOO_MANY:
            raise ValueError(f"row {row}: more than {INT32_MAX} distinct values")
        if failed == OHF_OUTSIDE:
            raise UnsupportedValueError(f"row {row} holds a value that {self.kind} cannot hold", row)
        raise ValueError(f"row {row} is outside the buffers of its array: the offsets or views are malformed")

    # ---- What it does ----

    def encode(self, values, *, missing=()):
        """Return the codes of values, learning those that are new.

        Parameters
        ----------
        values : Array, ndarray or Strings, shape (n_rows,), or tuple of texts or bytes
            Call it once for each chunk: the codes of all chunks are of one dictionary.
        missing : sequence of objects, optional
            The objects that are missing values, by identity, beside None and NaN: at most four.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            The position of each value among `values`, -1 for a missing one.

        Raises
        ------
        UnsupportedValueError
            The dictionary cannot hold one of the values.
        TypeError
            The dictionary can hold none of the values.
        ValueError
            The buffers of an Arrow array are malformed.
        RuntimeError
            Another thread uses the dictionary.

        Notes
        -----
        After an exception the dictionary may have learned some of the rows: do not use it any more.
        """
        cdef Source source = source_of(values, self.kind, tuple(missing))
        self.begin_learning()
        try:
            return self.run(source, True)
        finally:
            self.end_learning()

    def split(self, values, bytes separator not None, *, bint keep_empty=False):
        """Learn the pieces of texts between separators; those of a missing text are none.

        Parameters
        ----------
        values : Array or Strings, shape (n_rows,)
        separator : bytes
            In UTF-8, not empty.
        keep_empty : bool, default False
            Whether an empty piece is a value; else it is none.

        Returns
        -------
        offsets : ndarray of int64, shape (n_rows + 1,)
        codes : ndarray of int32
            The pieces of row ``i`` have the codes ``offsets[i]:offsets[i + 1]``.

        Raises
        ------
        TypeError
            The values are no texts of Arrow.
        ValueError, RuntimeError
            As `encode`.
        """
        cdef Source source = source_of(values, self.kind, ())
        cdef cnp.ndarray offsets = np.zeros(source.n_rows + 1, np.int64)
        cdef cnp.ndarray codes
        cdef int64_t *ends = <int64_t *> cnp.PyArray_DATA(offsets) + 1
        cdef int64_t done = 0, reach, stopped = 0
        cdef int failed = 0
        cdef ohf_split split
        if source.form != IN_BUFFERS_TEXTS or source.texts.layout not in (OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS):
            raise TypeError("only Arrow's texts and Strings can be split")
        if len(separator) == 0:
            raise ValueError("the separator is empty")
        memset(&split, 0, sizeof(split))
        split.separator = <const uint8_t *> PyBytes_AS_STRING(separator)
        split.separator_bytes = len(separator)
        split.keeps_empty = keep_empty
        self.begin_learning()
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
            self.end_learning()

    def lookup(self, values, *, missing=()):
        """Return the codes of values without learning.

        Parameters
        ----------
        values : Array, ndarray or Strings, shape (n_rows,), or tuple of texts or bytes
        missing : sequence of objects, optional
            As in `encode`.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            The position of each value among `values`, -1 for a missing one and -2 for an unknown one.

        Raises
        ------
        UnsupportedValueError
            The dictionary cannot hold one of the values.
        TypeError
            The dictionary can hold none of the values.
        ValueError
            The buffers of an Arrow array are malformed.
        RuntimeError
            Another thread makes the dictionary learn.
        """
        cdef Source source = source_of(values, self.kind, tuple(missing))
        self.begin_reading()
        try:
            return self.run(source, False)
        finally:
            self.end_reading()

    @property
    def values(self):
        """The distinct values in order of first appearance: Strings or an ndarray of the kind, read-only."""
        self.begin_reading()
        try:
            return self.read_values()
        finally:
            self.end_reading()

    cdef object read_values(self):
        """Return the values of the table."""
        cdef int64_t n = self.table.n_codes
        cdef cnp.ndarray offsets, data
        if self.kind in DTYPES:
            data = np.empty(n, DTYPES[self.kind])
            memcpy(cnp.PyArray_DATA(data), self.table.numbers, n * sizeof(uint64_t))
            data.flags.writeable = False
            return data
        offsets = np.empty(n + 1, np.int64)
        data = np.empty(self.table.n_short_bytes + self.table.n_long_bytes, np.uint8)
        with nogil:
            ohf_dictionary_texts(
                &self.table, <int64_t *> cnp.PyArray_DATA(offsets), <uint8_t *> cnp.PyArray_DATA(data),
            )
        return new_strings(offsets, data, self.kind == "string")
