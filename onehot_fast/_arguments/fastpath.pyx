# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""The fast path of small calls.

For 32 indices the kernel takes tens of nanoseconds, and checking arguments in Python takes twenty times as
long. This module handles common small calls. For all other calls, also those with an invalid argument,
`one_hot_small` returns None. Then ``tensor.py`` checks the arguments and raises the errors.
"""

cimport numpy as cnp
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

import numpy as np

from onehot_fast._kernels.operands cimport Output
from onehot_fast._kernels.rows cimport encode_indices
from onehot_fast._kernels.simd cimport ohf_policy, policy_of
from onehot_fast._runtime.memory cimport new_array

from onehot_fast._kernels.dispatch import INDEX_DTYPES

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int PyArray_DescrConverter(object, void *) except 0   # argument: PyArray_Descr **

cdef enum:
    TYPES = 24                # more than the type number of any numeric dtype of NumPy, also of float16
    MAX_BYTES = 1 << 20       # larger results use the slow path, which adds less than 1% to their time
    MAX_RANK = 16

cdef int index_types[TYPES]               # type number of a dtype → 1 + its position in INDEX_DTYPES, or 0
cdef unsigned char ones[TYPES][8]         # type number of a dtype → the bytes of a 1
cdef bint has_one[TYPES]
cdef unsigned char zero[8]


def _fill_tables():
    """Fill ``index_types``, ``ones`` and ``has_one`` for this machine's byte order and type widths."""
    # Each letter has its own type number, even if two denote equal dtypes, such as l and q where long has 64 bits.
    for letter in "?bBhHiIlLqQefd":
        dtype = np.dtype(letter)
        raw = np.ones(1, dtype).tobytes()
        memcpy(ones[dtype.num], <const unsigned char *> raw, dtype.itemsize)
        has_one[dtype.num] = True
        if dtype in INDEX_DTYPES:
            index_types[dtype.num] = 1 + INDEX_DTYPES.index(dtype)


cdef cnp.dtype element_of(object dtype, object out):
    """Return the dtype of the result, or None unless it is numeric or Boolean in native byte order."""
    cdef PyObject *converted = NULL
    cdef cnp.dtype element
    if dtype is not None:
        try:
            PyArray_DescrConverter(dtype, <void *> &converted)
        except Exception:   # the slow path raises the error
            return None
        element = <cnp.dtype> converted
        Py_DECREF(element)   # release the converter's reference: `element` holds its own
    elif out is not None:
        element = (<cnp.ndarray> out).descr
    else:
        element = float32
    if 0 <= element.type_num < TYPES and has_one[element.type_num] and cnp.PyArray_ISNBO(element.byteorder):
        return element
    return None


cdef bint fits_out(cnp.ndarray out, cnp.ndarray indices, cnp.dtype element, const Py_ssize_t *shape):
    """Tell whether ``out`` is contiguous, fits the result, and shares no memory with the indices."""
    cdef int i
    cdef uintptr_t begin = <uintptr_t> out.data, other = <uintptr_t> indices.data
    if not cnp.PyArray_ISCARRAY(out) or out.descr.type_num != element.type_num or out.ndim != indices.ndim + 1:
        return False
    for i in range(out.ndim):
        if out.shape[i] != shape[i]:
            return False
    return begin + cnp.PyArray_NBYTES(out) <= other or other + cnp.PyArray_NBYTES(indices) <= begin


def one_hot_small(indices, depth, on_value, off_value, label_smoothing, axis, dtype, out):
    """Return the one-hot encoding, or None if the call is not both common and small.

    A common call has contiguous indices in native byte order, int depth and axis, the values 1 and 0, no label
    smoothing, and a numeric or Boolean dtype in native byte order. The caller checks that all other options of
    `one_hot` have their defaults, or ask for one thread. A small call has a result of at most 1 MiB.
    """
    cdef cnp.ndarray source, result
    cdef cnp.dtype element
    cdef ohf_policy policy
    cdef Output to
    cdef Py_ssize_t shape[MAX_RANK + 1]
    cdef Py_ssize_t classes, size, position, inner = 1, n_bytes, width
    cdef int overflow = 0, rank, index_type, i
    if type(indices) is not cnp.ndarray or type(depth) is not int or type(axis) is not int:
        return None
    if type(on_value) is not int or on_value != 1 or type(off_value) is not int or off_value != 0:
        return None
    if type(label_smoothing) is not float or <double> label_smoothing != 0:
        return None
    if out is not None and type(out) is not cnp.ndarray:
        return None
    # Convert the dtype first: the conversion may run any Python code, which may change the arrays.
    element = element_of(dtype, out)
    if element is None:
        return None
    source = indices
    rank = source.ndim
    if rank > MAX_RANK or not 0 <= source.descr.type_num < TYPES or not cnp.PyArray_ISCARRAY_RO(source):
        return None
    index_type = index_types[source.descr.type_num] - 1
    if index_type < 0:
        return None
    classes = PyLong_AsLongLongAndOverflow(depth, &overflow)
    size = cnp.PyArray_SIZE(source)
    width = cnp.PyDataType_ELSIZE(element)
    if overflow or classes <= 0 or size == 0 or classes > MAX_BYTES or size > MAX_BYTES // (classes * width):
        return None
    position = PyLong_AsLongLongAndOverflow(axis, &overflow)
    if position < 0:
        position += rank + 1
    if overflow or position < 0 or position > rank:
        return None
    for i in range(rank + 1):
        shape[i] = source.shape[i] if i < position else classes if i == position else source.shape[i - 1]
        if i > position:
            inner *= shape[i]
    n_bytes = size * classes * width
    if out is None:
        result = new_array(rank + 1, shape, element, n_bytes)
    elif fits_out(out, source, element, shape):
        result = out
    else:
        return None
    policy = policy_of(classes, False, None)
    to = Output(<unsigned char *> result.data, n_bytes, width, &ones[element.type_num][0], &zero[0])
    encode_indices(source.data, index_type, &policy, size, inner, &to, 1, False)
    return result


cdef cnp.dtype float32 = np.dtype(np.float32)
_fill_tables()
