# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Columns of codes with their tables, checked once, as the C structures that kernels take.

`recode` looks the codes of one column up in its table and returns the entries.
"""

from libc.stdint cimport INT64_MAX, UINT32_MAX, int8_t, int16_t, int32_t, int64_t
from libc.stdlib cimport calloc, free

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.simd cimport OHF_F32, microkernels, ohf_microkernels, ohf_table, policy_of

cnp.import_array()

# In the order of the tables of microkernels. Codes are integers, indices may be floats too.
INDEX_DTYPES = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
_KINDS = {dtype: kind for kind, dtype in enumerate(INDEX_DTYPES)}

cdef enum:
    CHUNK_ROWS = 1 << 16
    CODES = 4096            # codes of a block, which stay in the first-level cache

ctypedef fused code_t:
    int8_t
    int16_t
    int32_t


cdef int index_kind(cnp.ndarray indices) except -1:
    """Return the kind of the elements of a contiguous 1-D array of indices."""
    kind = _KINDS.get(indices.dtype)
    if kind is None or indices.ndim != 1 or not indices.flags.c_contiguous:
        raise ValueError(f"indices of {indices.dtype} {(<object> indices).shape} do not fit the kernels")
    return kind


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

        ``code_bytes``, 1 or 4, is the width of the codes that the kernel reads. Without a table a code is its own
        class, and a negative one has none.
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

    cdef int require(self, Py_ssize_t max_columns, int code_bytes) except -1:
        """Raise an error for more columns than a kernel takes, or for codes of another width."""
        if self.n_columns > max_columns or self.code_bytes != code_bytes:
            raise ValueError(f"{self.n_columns} columns of codes of {self.code_bytes} bytes do not fit the kernel")
        return 0

    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, object table) except -1:
        """Check one column and point to its memory."""
        cdef const ohf_microkernels *variant = microkernels()
        cdef int kind = index_kind(codes)
        if kind >= OHF_F32 or codes.shape[0] != self.n_rows:
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
        # Only for tables shorter than the column, so that the check costs less than it saves.
        self.tables[i].only_adds = (
            0 < table.shape[0] - 1 <= self.n_rows and only_adds(self.tables[i].entries, table.shape[0] - 1)
        )
        self.items[i].table = &self.tables[i]
        return 0


cdef struct Job:
    const CodeSource *source
    void *out
    Py_ssize_t out_bytes    # bytes of a code
    Py_ssize_t n_rows, span


cdef void narrow(const int32_t *codes, Py_ssize_t count, code_t *out) noexcept nogil:
    """Store codes in fewer bits."""
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = <code_t> codes[i]


cdef void run_chunk(const void *any_job, Py_ssize_t chunk) noexcept nogil:
    """Look up one chunk of rows."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t codes[CODES]
    cdef Py_ssize_t row = chunk * CHUNK_ROWS, end = min((chunk + 1) * CHUNK_ROWS, job.n_rows), count
    while row < end:
        count = min(end - row, <Py_ssize_t> CODES)
        if job.out_bytes == sizeof(int32_t):
            read(job.source, row, count, 0, job.span, <int32_t *> job.out + row)
        else:
            read(job.source, row, count, 0, job.span, codes)
            if job.out_bytes == sizeof(int8_t):
                narrow(codes, count, <int8_t *> job.out + row)
            else:
                narrow(codes, count, <int16_t *> job.out + row)
        row += count


def recode(CodeColumns columns, code_t[::1] out, Py_ssize_t span, int num_threads):
    """Fill ``out`` with the entries, below ``span``, that the table has for the codes of one column; -1 for none.

    The codes have four bytes; the codes below ``span`` must fit ``out``.
    """
    cdef Job job
    columns.require(1, 4)
    if out.shape[0] != columns.n_rows:
        raise ValueError("recode: the lengths do not agree")
    if span > <Py_ssize_t> 1 << (8 * sizeof(code_t) - 1):
        raise ValueError(f"recode: codes below {span} do not fit {sizeof(code_t)} bytes")
    if columns.n_rows == 0:
        return
    job.source = columns.items
    job.out = &out[0]
    job.out_bytes = sizeof(code_t)
    job.n_rows = columns.n_rows
    job.span = span
    for_each_chunk(
        run_chunk, &job, (job.n_rows + CHUNK_ROWS - 1) // CHUNK_ROWS, CHUNK_ROWS * sizeof(code_t), num_threads,
    )
