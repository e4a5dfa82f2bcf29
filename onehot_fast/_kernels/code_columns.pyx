# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Columns of codes and their look-up tables, checked and stored as C structures for the kernels.

`recode` replaces the codes of one column by the entries of its table.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport INT64_MAX, UINT32_MAX, int16_t, int32_t, int64_t

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.simd cimport OHF_F32, OHF_SPAN8, microkernels, ohf_lut, policy_of

cnp.import_array()

# In the order of the kinds in microkernels.h. Codes are integers; indices may also be floats.
INDEX_DTYPES = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
_INDEX_TYPES = {dtype: index_type for index_type, dtype in enumerate(INDEX_DTYPES)}

cdef enum:
    CHUNK_ROWS = 1 << 16
    CODES = 4096            # codes of a block, which fit in the first-level cache


cdef int index_type_of(cnp.ndarray indices) except -1:
    """Return the position in `INDEX_DTYPES` of the dtype of a contiguous array of indices."""
    index_type = _INDEX_TYPES.get(indices.dtype)
    if index_type is None or not cnp.PyArray_IS_C_CONTIGUOUS(indices):
        raise ValueError(
            "indices must be C-contiguous integers, float32 or float64, "
            f"got {indices.dtype} of shape {(<object> indices).shape}"
        )
    return index_type


cdef Output output_of(cnp.ndarray out, Py_ssize_t n_elements, cnp.ndarray on, cnp.ndarray off) except *:
    """Return pointers to ``out``, ``on`` and ``off``, or raise an error if their sizes differ."""
    cdef Output output = Output(
        data=<unsigned char *> cnp.PyArray_DATA(out), n_bytes=cnp.PyArray_NBYTES(out),
        width=cnp.PyArray_NBYTES(on), on=<const unsigned char *> cnp.PyArray_DATA(on),
        off=<const unsigned char *> cnp.PyArray_DATA(off),
    )
    if output.n_bytes != n_elements * output.width or cnp.PyArray_NBYTES(off) != output.width:
        raise ValueError(f"the output must have {n_elements} elements as wide as the elements on and off")
    if not cnp.PyArray_IS_C_CONTIGUOUS(out) or not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("the output must be C-contiguous and writable")
    return output


cdef bint only_adds(const int32_t *entries, Py_ssize_t n) noexcept nogil:
    """Tell whether ``entries[i] == entries[0] + i`` for all i, so that an addition replaces the look-up."""
    cdef Py_ssize_t i
    for i in range(n):
        if <int64_t> entries[i] - entries[0] != i:
            return False
    return True


cdef class CodeColumns:

    def __cinit__(self, list codes, list tables, int code_bytes):
        """Check the codes (1-D, contiguous, equally long) and table (int32 or None) of each column.

        A table maps codes to classes. Without a table, a code is its own class, and a negative code has no class.
        The kernel reads the classes as integers of ``code_bytes`` (1 or 4) bytes.
        """
        cdef Py_ssize_t i
        self.code_bytes = code_bytes
        self.policy = policy_of(INT64_MAX, False, None)
        self.n_columns = len(codes)
        if self.n_columns == 0 or len(tables) != self.n_columns:
            raise ValueError(
                "there must be at least one column, and one table for each column, "
                f"got {len(codes)} columns and {len(tables)} tables"
            )
        self.n_rows = len(codes[0])
        memory = bytearray(self.n_columns * (sizeof(CodeSource) + sizeof(ohf_lut)))    # zeros
        self.items = <CodeSource *> PyByteArray_AS_STRING(memory)
        self.luts = <ohf_lut *> (self.items + self.n_columns)
        self.keep = (codes, tables, memory)
        for i in range(self.n_columns):
            self.describe(i, codes[i], tables[i])

    cdef int describe(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray table) except -1:
        """Check one column and its table, and store pointers to their memory."""
        cdef int index_type = index_type_of(codes)
        cdef CodeSource *item = &self.items[i]
        if index_type >= OHF_F32 or codes.ndim != 1 or codes.shape[0] != self.n_rows:
            raise ValueError(
                f"column {i}: codes must be {self.n_rows} integers, "
                f"got {codes.dtype} of shape {(<object> codes).shape}"
            )
        item.indices = <const char *> cnp.PyArray_DATA(codes)
        item.index_bytes, item.index_type = index_type_bytes(index_type), index_type
        if table is None:
            item.narrow = (
                microkernels.narrow8[index_type] if self.code_bytes == 1 else microkernels.narrow32[index_type]
            )
            item.policy = &self.policy
            return 0
        item.map = microkernels.map8[index_type] if self.code_bytes == 1 else microkernels.map32[index_type]
        if table.dtype != np.int32 or table.ndim != 1 or table.shape[0] < 1 or not table.flags.c_contiguous:
            raise ValueError(f"column {i}: the table must be a contiguous int32 array of at least one entry")
        if table.shape[0] > UINT32_MAX:
            raise ValueError(f"column {i}: the table must have fewer than 2**32 entries, got {table.shape[0]}")
        self.luts[i].entries = <const int32_t *> cnp.PyArray_DATA(table)
        self.luts[i].n_codes = table.shape[0] - 1
        # Check only tables shorter than the column, so that the check costs less time than it saves.
        self.luts[i].only_adds = (
            0 < table.shape[0] - 1 <= self.n_rows and only_adds(self.luts[i].entries, table.shape[0] - 1)
        )
        item.lut = &self.luts[i]
        return 0


cdef struct Job:
    const CodeSource *source
    char *out
    Py_ssize_t out_bytes    # bytes of an element of out: 1, 2 or 4


cdef void run_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the table entry of each code of the rows [row, end)."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    cdef int16_t *narrow = <int16_t *> job.out
    cdef Py_ssize_t count, i
    if job.out_bytes == 1:      # OHF_NONE8 has the bits of -1
        read(job.source, row, end - row, 0, OHF_SPAN8, job.out + row)
    elif job.out_bytes == 4:
        read(job.source, row, end - row, 0, INT64_MAX, job.out + 4 * row)
    else:
        while row < end:
            count = min(end - row, <Py_ssize_t> CODES)
            read(job.source, row, count, 0, INT64_MAX, codes)
            for i in range(count):
                narrow[row + i] = <int16_t> codes[i]
            row += count


def recode(cnp.ndarray codes, cnp.ndarray table, cnp.ndarray out, int num_threads):
    """Fill ``out`` with the table entry of each code of one column.

    The dtype of ``out`` must be an integer of 1, 2 or 4 bytes that fits all entries.
    """
    cdef int width = out.itemsize
    cdef CodeColumns columns = CodeColumns([codes], [table], 1 if width == 1 else 4)
    cdef Job job = Job(source=columns.items, out=<char *> cnp.PyArray_DATA(out), out_bytes=width)
    if width not in (1, 2, 4) or out.ndim != 1 or out.shape[0] != columns.n_rows or not out.flags.carray:
        raise ValueError(
            f"recode: out must be {columns.n_rows} contiguous and writable elements of 1, 2 or 4 bytes, "
            f"got {out.dtype} of shape {(<object> out).shape}"
        )
    for_each_chunk(
        run_chunk, &job, columns.n_rows, CHUNK_ROWS, width, 4 * CODES if width == 2 else 0, num_threads,
    )
