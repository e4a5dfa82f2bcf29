# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Read strings and bytes as `Segments` of letters of one byte, in place.

Each byte is the code point of a letter. A Python str stores its letters this way if all are in the Latin-1 range,
and so do bytes and ASCII text in Arrow arrays. UTF-8 stores other letters in several bytes, so the caller must
look for bytes beyond ASCII.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from onehot_fast._arrow.abi cimport ArrowArray
from onehot_fast._arrow.array cimport Array
from onehot_fast._kernels.table_rows cimport Segments

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(object value)
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


def segments_of_texts(items):
    """Return a list of str and bytes as Segments, or None if a str has letters beyond the Latin-1 range.

    An item of a subclass of str or bytes is an error.
    """
    cdef tuple texts = tuple(items)         # a list could change while it is read
    cdef Segments segments = Segments(texts)
    cdef Py_ssize_t i, n = len(texts)
    segments.reserve(n)
    for i in range(n):
        text = texts[i]
        if PyBytes_CheckExact(text):
            segments.starts[i] = <const uint8_t *> PyBytes_AS_STRING(text)
            segments.lengths[i] = PyBytes_GET_SIZE(text)
        elif not PyUnicode_CheckExact(text):
            raise TypeError(f"segments_of_texts: item {i} must be a str or bytes, got {type(text)}")
        elif PyUnicode_KIND(text) != 1:
            return None
        else:
            segments.starts[i] = <const uint8_t *> PyUnicode_DATA(text)
            segments.lengths[i] = PyUnicode_GET_LENGTH(text)
    return segments


def segments_of_arrow(list chunks):
    """Return the strings or bytes of Arrow chunks without nulls as Segments, in place."""
    cdef Segments segments = Segments(tuple(chunks))
    cdef Array chunk
    cdef Py_ssize_t at = 0
    segments.reserve(sum([len(chunk) for chunk in chunks]))
    for chunk in chunks:
        if chunk.schema.format in ("u", "z"):
            add_offsets(segments, at, chunk, 4)
        elif chunk.schema.format in ("U", "Z"):
            add_offsets(segments, at, chunk, 8)
        elif chunk.schema.format in ("vu", "vz"):
            add_views(segments, at, chunk)
        else:
            raise TypeError(f"{chunk.schema.where()} must hold strings or bytes, got {chunk.schema.kind} values")
        at += chunk.length
    return segments


cdef int add_offsets(Segments segments, Py_ssize_t at, Array chunk, int width) except -1:
    """Add the strings of a chunk that stores offsets of ``width`` bytes."""
    cdef const char *rows
    cdef const uint8_t *data
    cdef int64_t i, begin, end, limit
    if chunk.length == 0:
        return 0
    rows = <const char *> chunk.node.buffers[1] + chunk.offset * width
    data = <const uint8_t *> chunk.node.buffers[2]
    end = offset_of(rows, 0, width)
    limit = offset_of(rows, chunk.length, width)    # the last offset: nothing else tells the size of the data
    if data == NULL:
        limit = end
    for i in range(chunk.length):
        begin, end = end, offset_of(rows, i + 1, width)
        if not 0 <= begin <= end <= limit:
            where = chunk.schema.where()
            raise ValueError(f"{where}, row {i}: the offsets must be ascending, got {begin} and {end}")
        segments.starts[at + i] = data + begin if end > begin else NULL
        segments.lengths[at + i] = end - begin
    return 0


cdef inline int64_t offset_of(const char *rows, int64_t i, int width) noexcept nogil:
    """Return offset ``i``, which has ``width`` bytes (4 or 8) and need not be aligned."""
    cdef int32_t narrow
    cdef int64_t wide
    if width == 4:
        memcpy(&narrow, rows + 4 * i, 4)
        return narrow
    memcpy(&wide, rows + 8 * i, 8)
    return wide


cdef int add_views(Segments segments, Py_ssize_t at, Array chunk) except -1:
    """Add the strings of a chunk of views. A view contains a string of up to 12 bytes, or tells where it is."""
    cdef const ArrowArray *node = chunk.node
    cdef const char *view
    cdef const char *sizes
    cdef int32_t length, buffer, begin
    cdef int64_t i, size, n_buffers = node.n_buffers - 3
    for i in range(chunk.length):
        view = <const char *> node.buffers[1] + (chunk.offset + i) * 16
        memcpy(&length, view, 4)
        if 0 <= length <= 12:
            segments.starts[at + i] = <const uint8_t *> view + 4
        else:
            memcpy(&buffer, view + 8, 4)
            memcpy(&begin, view + 12, 4)
            size = -1
            if 0 <= buffer < n_buffers and node.buffers[2 + buffer] != NULL:
                sizes = <const char *> node.buffers[node.n_buffers - 1]
                memcpy(&size, sizes + 8 * buffer, 8)
            if length < 0 or begin < 0 or <int64_t> begin + length > size:
                raise ValueError(f"{chunk.schema.where()}, row {i}: the view is outside its buffer")
            segments.starts[at + i] = <const uint8_t *> node.buffers[2 + buffer] + begin
        segments.lengths[at + i] = length
    return 0
