# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Strings or bytes in Arrow's layout: offsets and one buffer."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

from onehot_fast._arguments.messages import with_article

cdef extern from "_categories/hashtable/sort_texts.h":
    ctypedef struct ohf_sorted:
        pass

    enum:
        OHF_FEW_TEXTS
        OHF_SORT_BYTES

    void ohf_sort_texts(
        const int64_t *offsets, const uint8_t *data, int64_t n, ohf_sorted *items, ohf_sorted *spare,
        void *counts, int64_t *positions,
    ) noexcept nogil

cnp.import_array()


@cython.final
cdef class Strings:
    """Immutable strings or bytes, concatenated in one buffer.

    Offsets are int64: the start of each item in `data` (uint8), followed by the length of `data`. Lone
    surrogates are stored as three bytes ("surrogatepass"), so that any ``str`` can be restored.
    """

    def __init__(self, offsets, data, bint is_text):
        # Copy the arrays, so that no other code can change them after the check.
        offsets = np.array(offsets, np.int64, ndmin=1)
        data = np.array(data, np.uint8, ndmin=1)
        if offsets.ndim != 1 or data.ndim != 1 or len(offsets) == 0:
            raise ValueError("offsets and data must have one dimension, and offsets at least one element")
        if offsets[0] < 0 or (np.diff(offsets) < 0).any() or offsets[len(offsets) - 1] > len(data):
            raise ValueError("offsets must be ascending, in [0, len(data)]")
        data = data[offsets[0]:offsets[len(offsets) - 1]].copy()
        self.hold(offsets - offsets[0], data, is_text)

    cdef void hold(self, object offsets, object data, bint is_text):
        """Store checked arrays and make them read-only."""
        offsets.flags.writeable = False
        data.flags.writeable = False
        self.offsets = offsets
        self.data = data
        self.is_text = is_text
        self.ends = <const int64_t *> cnp.PyArray_DATA(<cnp.ndarray> offsets)
        self.bytes = <const uint8_t *> cnp.PyArray_DATA(<cnp.ndarray> data)

    @staticmethod
    def from_objects(values, is_text=None):
        """Return Strings of ``str`` (`is_text`) or ``bytes``; by default, the first value decides which."""
        cdef list parts = list(values)
        cdef Py_ssize_t i, n = len(parts)
        cdef cnp.ndarray offsets = np.zeros(n + 1, np.int64)
        cdef int64_t *ends = <int64_t *> cnp.PyArray_DATA(offsets)
        if is_text is None:
            is_text = n == 0 or isinstance(parts[0], str)
        expected = str if is_text else bytes
        for i in range(n):
            if not isinstance(parts[i], expected):
                raise TypeError(f"value {i} must be {with_article(expected())}, got {with_article(parts[i])}")
            if is_text:
                parts[i] = (<str> parts[i]).encode("utf-8", "surrogatepass")
            ends[i + 1] = ends[i] + len(<bytes> parts[i])
        return new_strings(offsets, np.frombuffer(b"".join(parts), np.uint8), is_text)

    def __reduce__(self):
        return Strings, (self.offsets, self.data, self.is_text)

    def __len__(self):
        """Return the number of items."""
        return len(self.offsets) - 1

    def __repr__(self):
        """Return the kind and the number of items as text."""
        return f"Strings({len(self)} {'texts' if self.is_text else 'bytes'})"

    cdef object item(self, Py_ssize_t position):
        """Return one item; the position must be valid."""
        cdef const char *begin = <const char *> self.bytes + self.ends[position]
        cdef Py_ssize_t length = self.ends[position + 1] - self.ends[position]
        if self.is_text:
            return PyUnicode_DecodeUTF8(begin, length, "surrogatepass")
        return PyBytes_FromStringAndSize(begin, length)

    def __getitem__(self, Py_ssize_t position):
        """Return the item at a position, which counts from the end if it is negative."""
        cdef Py_ssize_t n = len(self)
        if not -n <= position < n:
            raise IndexError(f"position must be in [{-n}, {n}), got {position}")
        return self.item(position + n if position < 0 else position)

    def __iter__(self):
        """Return an iterator over the items as ``str`` or ``bytes``."""
        return iter(self.tolist())

    def tolist(self):
        """Return the items as a list of ``str`` or ``bytes``."""
        cdef Py_ssize_t i, n = len(self)
        cdef list items = [None] * n
        for i in range(n):
            items[i] = self.item(i)
        return items

    def to_object(self):
        """Return the items as an ndarray of dtype object."""
        return np.fromiter(self.tolist(), object, len(self))

    def take(self, positions):
        """Return the items at some positions, which must be in ``[0, len(self))``, as Strings."""
        cdef cnp.ndarray chosen = np.array(positions, np.int64, ndmin=1)     # a copy that no other code can change
        cdef Py_ssize_t i, n = len(chosen), n_mine = len(self)
        cdef const int64_t *places = <const int64_t *> cnp.PyArray_DATA(chosen)
        cdef cnp.ndarray offsets = np.zeros(n + 1, np.int64)
        cdef int64_t *ends = <int64_t *> cnp.PyArray_DATA(offsets)
        cdef cnp.ndarray data
        for i in range(n):
            if not 0 <= places[i] < n_mine:
                raise IndexError(f"positions must be in [0, {n_mine}), got {places[i]}")
            ends[i + 1] = ends[i] + self.ends[places[i] + 1] - self.ends[places[i]]
        data = np.empty(ends[n], np.uint8)
        out = <uint8_t *> cnp.PyArray_DATA(data)
        with nogil:
            for i in range(n):
                memcpy(out + ends[i], self.bytes + self.ends[places[i]], ends[i + 1] - ends[i])
        return new_strings(offsets, data, self.is_text)

    def argsort(self):
        """Return the positions that sort the items (a stable sort by code points or bytes)."""
        cdef Py_ssize_t n = len(self)
        cdef cnp.ndarray positions = np.empty(n, np.int64)
        cdef size_t counts_bytes = OHF_SORT_BYTES if n > OHF_FEW_TEXTS else 0
        cdef cnp.ndarray items = np.empty(2 * n * sizeof(ohf_sorted) + counts_bytes, np.uint8)
        cdef ohf_sorted *first = <ohf_sorted *> cnp.PyArray_DATA(items)
        with nogil:
            ohf_sort_texts(
                self.ends, self.bytes, n, first, first + n, <void *> (first + 2 * n),
                <int64_t *> cnp.PyArray_DATA(positions),
            )
        return positions

    def __eq__(self, other):
        """Tell whether `other` is Strings with the same items in the same order."""
        if not isinstance(other, Strings):
            return NotImplemented
        return (
            self.is_text == other.is_text
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.data, other.data)
        )

    __hash__ = None


cdef Strings new_strings(object offsets, object data, bint is_text):
    """Return Strings from valid arrays, without a copy; no other code may change the arrays."""
    cdef Strings strings = Strings.__new__(Strings)
    strings.hold(offsets, data, is_text)
    return strings
