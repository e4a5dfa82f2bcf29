"""The C face of the output buffers, for the compiled front door."""

cdef object new_array(int ndim, Py_ssize_t *shape, object dtype, Py_ssize_t n_bytes)
