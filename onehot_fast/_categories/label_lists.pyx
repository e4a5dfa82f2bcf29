# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Python lists of labels from positions; slices of one long list would take three times as long."""

from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint8_t


def lists_of(
    list labels not None, const int64_t[::1] positions, const int64_t[::1] offsets, const uint8_t[::1] is_missing,
):
    """Return a list with one item for each row: the list of its labels, or None for a missing row.

    Row i has the labels at ``positions[offsets[i]:offsets[i + 1]]``. No other thread may change ``labels``.
    """
    cdef Py_ssize_t n_rows = is_missing.shape[0], n_labels = len(labels), row, i, begin, end
    cdef int64_t position
    cdef list rows, items
    cdef object label
    if offsets.shape[0] != n_rows + 1:
        raise ValueError(f"lists_of: there must be {n_rows + 1} offsets, got {offsets.shape[0]}")
    rows = PyList_New(n_rows)
    for row in range(n_rows):
        items = None
        if not is_missing[row]:
            begin, end = offsets[row], offsets[row + 1]
            if not 0 <= begin <= end <= positions.shape[0]:
                raise ValueError(f"lists_of: row {row} must be in [0, {positions.shape[0]}]")
            items = PyList_New(end - begin)
            for i in range(end - begin):
                position = positions[begin + i]
                if not 0 <= position < n_labels:
                    raise ValueError(f"lists_of: a position must be in [0, {n_labels}), got {position}")
                label = labels[position]
                Py_INCREF(label)        # `PyList_SET_ITEM` takes a reference of its own
                PyList_SET_ITEM(items, i, label)
        Py_INCREF(items)
        PyList_SET_ITEM(rows, row, items)
    return rows
