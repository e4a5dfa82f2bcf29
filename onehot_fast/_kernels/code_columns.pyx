# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Several columns of local codes with their tables, checked once and handed to the kernels as C structures."""

from libc.stdint cimport INT64_MAX, UINT32_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.kinds cimport kind_bytes
from onehot_fast._kernels.simd cimport microkernels, ohf_microkernels, ohf_table, policy_of

cnp.import_array()

# The kinds of local codes, in the order of the tables of microkernels.
_KINDS = {
    np.dtype(name): kind
    for kind, name in enumerate(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))
}


cdef bint only_adds(const int32_t *entries, Py_ssize_t n) noexcept nogil:
    """Tell whether every entry is the first one and its own position."""
    cdef Py_ssize_t i
    for i in range(n):
        if <int64_t> entries[i] - entries[0] != i:
            return False
    return True


cdef class CodeColumns:

    def __cinit__(self, list codes, list tables, int code_bytes):
        """Take columns of codes (1-D, contiguous, of one length) and a table (int32) or None for each.

        ``code_bytes`` is 1 or 4: what the kernel wants the codes narrowed to. Without a table a code stands for
        itself, and a negative one for nothing.
        """
        cdef Py_ssize_t i
        if code_bytes not in (1, 4):
            raise ValueError(f"codes of {code_bytes} bytes; kernels take 1 or 4")
        self.code_bytes = code_bytes
        self.policy = policy_of(INT64_MAX, False, None)
        self.n_columns = len(codes)
        if self.n_columns == 0 or len(tables) != self.n_columns:
            raise ValueError(f"{len(codes)} columns of codes and {len(tables)} tables")
        self.n_rows = len(codes[0])
        self.keep = (codes, tables)
        self.items = <CodeSource *> calloc(self.n_columns, sizeof(CodeSource))
        self.tables = <ohf_table *> calloc(self.n_columns, sizeof(ohf_table))
        if self.items == NULL or self.tables == NULL:
            raise MemoryError("no memory for the columns' descriptions")
        for i in range(self.n_columns):
            self.describe(i, codes[i], tables[i])

    def __dealloc__(self):
        free(self.items)
        free(self.tables)

    cdef int require(self, Py_ssize_t most_columns, int code_bytes) except -1:
        """Raise unless these are columns for a kernel of so many, with codes of so many bytes."""
        if self.n_columns > most_columns or self.code_bytes != code_bytes:
            raise ValueError(f"{self.n_columns} columns of codes of {self.code_bytes} bytes do not fit the kernel")
        return 0

    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, object table) except -1:
        """Check one column and point to its memory."""
        cdef const ohf_microkernels *variant = microkernels()
        cdef int kind = _KINDS.get(codes.dtype, -1)
        if kind < 0 or codes.ndim != 1 or not codes.flags.c_contiguous or codes.shape[0] != self.n_rows:
            raise ValueError(f"column {i}: codes of {codes.dtype} {(<object> codes).shape} do not fit")
        self.items[i].indices = <const char *> cnp.PyArray_DATA(codes)
        self.items[i].index_bytes = kind_bytes(kind)
        self.items[i].kind = kind
        if table is None:
            self.items[i].narrow = variant.narrow8[kind] if self.code_bytes == 1 else variant.narrow32[kind]
            self.items[i].policy = &self.policy
            return 0
        self.items[i].map = variant.map8[kind] if self.code_bytes == 1 else variant.map32[kind]
        return self.describe_table(i, table)

    cdef int describe_table(self, Py_ssize_t i, cnp.ndarray table) except -1:
        """Check the table of one column and point to it."""
        if table.dtype != np.int32 or table.ndim != 1 or table.shape[0] < 1 or not table.flags.c_contiguous:
            raise ValueError(f"column {i}: the table must be a contiguous int32 array of at least one entry")
        if table.shape[0] > UINT32_MAX:
            raise ValueError(f"column {i}: the table has {table.shape[0]} entries, more than classes can have")
        self.tables[i].entries = <const int32_t *> cnp.PyArray_DATA(table)
        self.tables[i].n_codes = table.shape[0] - 1
        # To find it out must cost less than it saves.
        self.tables[i].only_adds = (
            0 < table.shape[0] - 1 <= self.n_rows and only_adds(self.tables[i].entries, table.shape[0] - 1)
        )
        self.items[i].table = &self.tables[i]
        return 0
