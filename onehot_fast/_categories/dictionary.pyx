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
    ohf_dictionary_bytes,
    ohf_dictionary_close,
    ohf_dictionary_open,
    ohf_dictionary_texts,
    ohf_engine_of,
    ohf_hash_number,
    ohf_hash_text,
    ohf_learn_numbers,
    ohf_learn_texts,
    ohf_look_up_numbers,
    ohf_look_up_texts,
    ohf_split,
    ohf_split_texts,
)
from onehot_fast._categories.source cimport IN_BUFFERS_TEXTS, IN_OBJECTS, IN_PACKED_TEXTS, Source, source_of
from onehot_fast._categories.strings cimport Strings, new_strings
from onehot_fast._runtime.fork_lock cimport ohf_lock, ohf_lock_over_forks, ohf_unlock

import os
import threading

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

# One seed for all dictionaries of the process: what the hashes, and nothing else, depend on.
cdef bytes SEED = os.urandom(64)

# In a child that was forked: so many forks after the first process.
cdef int n_forks = 0


def _count_fork():
    global n_forks
    n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)
if ohf_lock_over_forks():
    raise MemoryError("no memory to register what happens at a fork")


cdef object new_lock():
    """Return a lock; where Python has no memory for one it raises another error."""
    try:
        return threading.Lock()
    except RuntimeError as error:
        raise MemoryError(str(error)) from None


class NotCommonError(TypeError):
    """A value that a dictionary of this kind cannot hold.

    Attributes
    ----------
    row : int
        The first row of such a value.
    """

    def __init__(self, message, row):
        super().__init__(message)
        self.row = row


class TooManyValuesError(ValueError):
    """More distinct values than allowed.

    Attributes
    ----------
    row : int
        The row of the first value too many.
    """

    def __init__(self, message, row):
        super().__init__(message)
        self.row = row


@cython.final
cdef class Dictionary:
    """Distinct values in order of first appearance, and the hash table that finds them.

    Any number of threads may look up at a time; nobody else may use a dictionary that learns (RuntimeError).

    Parameters
    ----------
    kind : {"string", "binary", "int64", "uint64", "float64"}
        What the values are. Integers of any width, Booleans (0, 1), dates and durations are "int64" or "uint64".
    counting : bool, default True
        Whether the rows of each value are counted while they are learned.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast._categories.dictionary import Dictionary
    >>> known = Dictionary("int64")
    >>> known.encode(np.array([30, 10, 30]))
    array([0, 1, 0], dtype=int32)
    >>> known.values, known.counts
    (array([30, 10]), array([2, 1]))
    >>> known.lookup(np.array([10, 20]))
    array([ 1, -2], dtype=int32)
    """

    cdef ohf_dictionary table
    cdef bint is_open, is_learning, counting
    cdef int n_readers
    cdef readonly str kind
    cdef object known, known_counts     # the values and counts of codes [0, n_known)
    cdef int64_t n_known
    cdef int64_t known_missing
    cdef object lock
    cdef int n_forks                    # of the process, when the lock was made

    def __cinit__(self, str kind not None, *, bint counting=True):
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}; accepted are {', '.join(map(repr, KINDS))}")
        memset(&self.table, 0, sizeof(self.table))
        self.kind = kind
        self.counting = counting
        self.known = no_values(kind)
        self.lock, self.n_forks = new_lock(), n_forks

    def __dealloc__(self):
        ohf_dictionary_close(&self.table)

    def __reduce__(self):
        return _restore, (self.kind, self.values, self.counts if self.counting else None, self.n_missing)

    def __len__(self):
        """Return the number of distinct values."""
        return self.table.n_codes if self.is_open else self.n_known

    def __repr__(self):
        """Show the kind and the number of values."""
        return f"Dictionary({self.kind!r}, {len(self)} values)"

    # ---- Who uses it ----

    cdef int begin_reading(self) except -1:
        """Enter as one of those that look up; the table is built by the first of them."""
        cdef bint was_learning, was_open
        ohf_lock()
        was_learning = self.is_learning
        was_open = self.is_open
        self.n_readers += not was_learning
        ohf_unlock()
        if was_learning:
            raise RuntimeError("another thread makes this dictionary learn")
        if not was_open:
            try:
                lock = self.building()
                lock.acquire()
                try:
                    self.open()
                finally:
                    lock.release()
            except BaseException:
                self.end_reading()
                raise
        return 0

    cdef object building(self):
        """Return the lock of whoever builds the table or the values.

        Not for ``with``: Cython's takes for granted that Python had the memory for a traceback.
        """
        cdef object lock, fresh = None
        if self.n_forks != n_forks:     # a child: the thread that held it may be none of this process
            fresh = new_lock()
        ohf_lock()
        if fresh is not None and self.n_forks != n_forks:
            self.lock, fresh = fresh, self.lock
            self.n_forks = n_forks
        lock = self.lock
        ohf_unlock()
        return lock

    cdef void end_reading(self) noexcept:
        """Leave what `begin_reading` entered."""
        ohf_lock()
        self.n_readers -= 1
        ohf_unlock()

    cdef int begin_learning(self) except -1:
        """Enter as the only one."""
        cdef bint was_used
        ohf_lock()
        was_used = self.is_learning or self.n_readers > 0
        if not was_used:
            self.is_learning = True
        ohf_unlock()
        if was_used:
            raise RuntimeError("another thread uses this dictionary, which cannot learn meanwhile")
        try:
            self.open()
        except BaseException:
            self.end_learning()
            raise
        return 0

    cdef void end_learning(self) noexcept:
        """Leave what `begin_learning` entered."""
        ohf_lock()
        self.is_learning = False
        ohf_unlock()

    # ---- The table ----

    cdef int open(self) except -1:
        """Build the table of the known values where there is none."""
        cdef bint was_open
        cdef bytes name
        cdef uint64_t seed[8]
        cdef int failed
        ohf_lock()
        was_open = self.is_open
        ohf_unlock()
        if was_open:
            return 0
        name = simd.active().encode()
        memcpy(seed, <const char *> SEED, sizeof(seed))
        failed = ohf_dictionary_open(
            &self.table, ohf_engine_of(name), self.kind in ("string", "binary"), self.counting, seed, self.n_known,
        )
        if failed:
            raise MemoryError("cannot allocate the table of a dictionary")
        try:
            self.enter_known()
        except BaseException:
            ohf_dictionary_close(&self.table)
            raise
        ohf_lock()
        self.is_open = True
        ohf_unlock()
        return 0

    cdef int enter_known(self) except -1:
        """Enter the known values into a new table, with their counts."""
        cdef cnp.ndarray counts
        if self.n_known > 0:
            self.run(source_of(self.known, self.kind, ()), True)
            if self.table.n_codes != self.n_known:
                raise ValueError("the values of a dictionary must be different from each other, and not missing")
        if self.counting:
            counts = self.known_counts
            if self.n_known > 0:
                memcpy(self.table.counts, cnp.PyArray_DATA(counts), self.n_known * sizeof(int64_t))
            (self.table.counts - 1)[0] = self.known_missing
        return 0

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
        """Raise what a loop stopped for."""
        if failed == OHF_NO_MEMORY:
            raise MemoryError(f"cannot allocate the table of a dictionary, at row {row}")
        if failed == OHF_TOO_MANY:
            raise TooManyValuesError(
                f"row {row} holds a value more than the {self.table.most_codes} distinct values allowed", row,
            )
        if failed == OHF_OUTSIDE:
            raise NotCommonError(f"row {row} holds a value that {self.kind} cannot hold", row)
        raise ValueError(f"row {row} lies outside the buffers of its array: the offsets or views are malformed")

    # ---- What it does ----

    def encode(self, values, *, max_size=None, missing=()):
        """Return the codes of values, learning those that are new.

        Parameters
        ----------
        values : Array, ndarray or Strings, shape (n_rows,), or tuple of texts or bytes
            Call it once for each chunk: the codes of all chunks are of one dictionary.
        max_size : int, optional
            The most distinct values this dictionary may come to hold.
        missing : sequence of objects, optional
            What is a missing value among objects, by identity, beside None and NaN: at most four.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            The position of each value among `values`, -1 for a missing one.

        Raises
        ------
        TooManyValuesError
            There are more than `max_size` distinct values.
        NotCommonError
            A value is none that the dictionary can hold.
        TypeError
            All of the values are such.
        ValueError
            The buffers of an Arrow array are malformed.
        RuntimeError
            Another thread uses the dictionary.

        Notes
        -----
        After an exception the dictionary may have learned some of the rows: throw it away.
        """
        cdef Source source = source_of(values, self.kind, tuple(missing))
        self.begin_learning()
        try:
            self.table.most_codes = INT32_MAX if max_size is None else max(0, min(INT32_MAX, max_size))
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
            self.table.most_codes = INT32_MAX
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
        NotCommonError
            A value is none that the dictionary can hold.
        TypeError
            All of the values are such.
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
        if self.is_open and self.table.n_codes != self.n_known:
            self.begin_reading()
            try:
                lock = self.building()
                lock.acquire()
                try:
                    if self.table.n_codes != self.n_known:  # nobody was quicker
                        self.known = self.read_values()
                        self.n_known = self.table.n_codes
                finally:
                    lock.release()
            finally:
                self.end_reading()
        return self.known

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

    @property
    def counts(self):
        """The learned rows of each value, an ndarray of int64; ValueError where they are not counted."""
        cdef cnp.ndarray counts
        if not self.counting:
            raise ValueError("this dictionary does not count its values")
        if not self.is_open:
            return np.zeros(0, np.int64) if self.known_counts is None else self.known_counts.copy()
        counts = np.empty(self.table.n_codes, np.int64)
        memcpy(cnp.PyArray_DATA(counts), self.table.counts, self.table.n_codes * sizeof(int64_t))
        return counts

    @property
    def n_missing(self):
        """The learned rows without a value; 0 where rows are not counted."""
        if not self.counting:
            return 0
        return (self.table.counts - 1)[0] if self.is_open else self.known_missing

    @property
    def nbytes(self):
        """The bytes of the hash table, 0 where it is not built yet."""
        return ohf_dictionary_bytes(&self.table) if self.is_open else 0

    @property
    def n_seeds(self):
        """How often values collided so much that a new seed was drawn."""
        return self.table.n_seeds

    def hashes(self, values):
        """Return the hashes here of Strings or int64, an ndarray of uint64: for tests that make keys collide."""
        cdef Py_ssize_t i, n = len(values)
        cdef cnp.ndarray hashes = np.empty(n, np.uint64)
        cdef cnp.ndarray numbers
        cdef uint64_t *out = <uint64_t *> cnp.PyArray_DATA(hashes)
        cdef Strings strings
        self.open()
        if self.kind in DTYPES:
            numbers = np.ascontiguousarray(values, np.int64)
            for i in range(n):
                out[i] = ohf_hash_number(&self.table, (<const uint64_t *> cnp.PyArray_DATA(numbers))[i])
        else:
            strings = values
            for i in range(n):
                out[i] = ohf_hash_text(
                    &self.table, strings.bytes + strings.ends[i], strings.ends[i + 1] - strings.ends[i],
                )
        return hashes

    def merge(self, Dictionary other not None):
        """Learn the values of another dictionary, and add its counts.

        Returns
        -------
        ndarray of int32, shape (len(other),)
            The code here of each value of the other.

        Raises
        ------
        TypeError
            The other is of another kind.
        ValueError
            Only one of them counts.
        RuntimeError
            Another thread uses one of them.
        """
        cdef cnp.ndarray recoding, counts
        cdef int64_t i
        if other.kind != self.kind:
            raise TypeError(f"a dictionary of kind {other.kind!r} cannot be merged into one of kind {self.kind!r}")
        if other.counting != self.counting:
            raise ValueError("only one of the two dictionaries counts its values")
        if other is self:
            raise ValueError("a dictionary cannot be merged into itself")
        values = other.values
        counts = other.counts if other.counting else None
        source = source_of(values, self.kind, ())
        self.begin_learning()
        try:
            n_missing = (self.table.counts - 1)[0] if self.counting else 0
            self.table.most_codes = INT32_MAX
            recoding = self.run(source, True)
            if self.counting:
                codes = <const int32_t *> cnp.PyArray_DATA(recoding)
                added = <const int64_t *> cnp.PyArray_DATA(counts)
                for i in range(source.n_rows):
                    self.table.counts[codes[i]] += added[i] - 1     # the value itself was counted as a row
                (self.table.counts - 1)[0] = n_missing + other.n_missing
            return recoding
        finally:
            self.end_learning()

    @classmethod
    def from_values(cls, values, counts=None):
        """Return a dictionary of values that are different from each other.

        Parameters
        ----------
        values : Strings or ndarray of int64, uint64 or float64
        counts : ndarray of int64, optional
            The rows of each; a dictionary without them does not count.

        Raises
        ------
        ValueError
            Two values are equal, or one is missing.
        """
        cdef Dictionary made = _restore(kind_of(values), values, counts, 0)
        made.open()
        return made

    def take(self, positions):
        """Return a dictionary of the values at some positions, in their order.

        Parameters
        ----------
        positions : array_like of int, shape (n,)
            Different from each other, in ``[0, len(self))``.

        Raises
        ------
        IndexError
            A position is outside.
        """
        positions = np.array(positions, np.int64)
        if len(positions) > 0 and not 0 <= positions.min() <= positions.max() < len(self):
            raise IndexError(f"the positions are not all in [0, {len(self)})")
        counts = self.counts[positions] if self.counting else None
        return _restore(self.kind, self.values.take(positions), counts, self.n_missing)

    permute = take


def no_values(str kind):
    """Return no value of a kind."""
    if kind in DTYPES:
        return np.empty(0, DTYPES[kind])
    return new_strings(np.zeros(1, np.int64), np.empty(0, np.uint8), kind == "string")


def kind_of(values):
    """Return the kind of a dictionary that holds these Strings or numbers."""
    if isinstance(values, Strings):
        return "string" if values.is_text else "binary"
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.name in DTYPES:
        return values.dtype.name
    raise TypeError("the values of a dictionary are Strings, or a one-dimensional int64, uint64 or float64 array")


def _restore(kind, values, counts, n_missing):
    """Make a dictionary of what it had learned; the table is built by its first use."""
    cdef Dictionary made = Dictionary(kind, counting=counts is not None)
    if kind_of(values) != kind:
        raise TypeError(f"a dictionary of kind {kind!r} cannot hold {values!r}")
    if kind in DTYPES:
        values = np.array(values, DTYPES[kind])
        values.flags.writeable = False
    if counts is not None:
        counts = np.array(counts, np.int64)
        if counts.shape != (len(values),):
            raise ValueError(f"there are {len(values)} values and counts of shape {counts.shape}")
    made.known = values
    made.known_counts = counts
    made.n_known = len(values)
    made.known_missing = n_missing
    return made
