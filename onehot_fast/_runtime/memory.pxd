"""The allocation of output arrays, for the fast path of small calls."""

cdef object new_array(int ndim, Py_ssize_t *shape, object dtype, Py_ssize_t n_bytes, bint *is_fresh=*)
