# cython: language_level=3, wraparound=False, freethreading_compatible=True
"""Columns of codes and their look-up tables, checked and stored as C structures for the kernels.

A kernel of one column takes its codes as a memoryview and calls `describe_codes`. A kernel of several columns
takes lists of arrays and creates `CodeColumns`, because a memoryview has one type, and the codes of each column
may have another.

`recode` replaces the codes of one column by the entries of its look-up table.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport INT64_MAX, UINT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

cimport numpy as cnp

import numpy as np

from onehot_fast._kernels.chunks cimport for_each_chunk
from onehot_fast._kernels.index_types cimport index_type_bytes, integer_t, wide_word_t
from onehot_fast._kernels.operands cimport CodeSource, Output, read
from onehot_fast._kernels.simd cimport (
    OHF_F32, OHF_FEW, OHF_FEW_CODES, OHF_I8, OHF_I16, OHF_SPAN8, OHF_U8, OHF_U16,
    microkernels, ohf_few_class, ohf_lut, ohf_raw_init, ohf_slots_init, policy_of,
)

cnp.import_array()

# The dtypes of indices, in the order of the index types in microkernels.h. Codes have an integer dtype.
INDEX_DTYPES = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
_INDEX_TYPES = {dtype: index_type for index_type, dtype in enumerate(INDEX_DTYPES)}
_INT32 = np.dtype(np.int32)     # compared in every call; NumPy would convert `np.int32` to a dtype each time

cdef enum:
    CHUNK_ROWS = 1 << 16
    CODES = 4096            # codes of a block, which fit in the first-level cache


cdef Output output_of(unsigned char[::1] out, Py_ssize_t n_elements, cnp.ndarray on, cnp.ndarray off) except *:
    """Return pointers to ``out``, ``on`` and ``off``, or raise an error if their sizes differ."""
    cdef Output output = Output(
        data=NULL, n_bytes=out.shape[0], width=cnp.PyArray_NBYTES(on),
        on=<const unsigned char *> cnp.PyArray_DATA(on), off=<const unsigned char *> cnp.PyArray_DATA(off),
    )
    if output.n_bytes:
        output.data = &out[0]
    if output.n_bytes != n_elements * output.width or cnp.PyArray_NBYTES(off) != output.width:
        raise ValueError(f"the output must have {n_elements} elements as wide as the elements on and off")
    return output


def bytes_of(cnp.ndarray array):
    """Return the memory of a C-contiguous and writable array of any dtype as a vector of bytes; never copy.

    This takes 0.05 us. ``array.reshape(-1).view(numpy.uint8)`` takes 0.4 us, and copies an array with gaps.
    """
    cdef cnp.npy_intp n_bytes = cnp.PyArray_NBYTES(array)
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError("the output must be C-contiguous")
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError("the output must be writable, got a read-only array")
    vector = cnp.PyArray_SimpleNewFromData(1, &n_bytes, cnp.NPY_UINT8, cnp.PyArray_DATA(array))
    cnp.set_array_base(vector, array)
    return vector


cdef bint only_adds(const int32_t *entries, Py_ssize_t n) noexcept nogil:
    """Tell whether ``entries[i] == entries[0] + i`` for all i, so that an addition replaces the look-up."""
    cdef Py_ssize_t i
    for i in range(n):
        if <int64_t> entries[i] - entries[0] != i:
            return False
    return True


cdef int describe(
    CodeSource *source, ohf_lut *room, const ohf_policy *policy, const void *codes, int index_type,
    Py_ssize_t n_rows, const int32_t *lut, Py_ssize_t n_entries, int code_bytes,
) except -1:
    """Describe a column in ``source``: its codes, and either ``policy`` or (in ``room``) its look-up table."""
    source[0] = CodeSource(
        indices=<const char *> codes, index_bytes=index_type_bytes(index_type), index_type=index_type,
        narrow=NULL, policy=NULL, map=NULL, lut=NULL, class_codes=NULL,
    )
    if lut == NULL:
        source.narrow = microkernels.narrow8[index_type] if code_bytes == 1 else microkernels.narrow32[index_type]
        source.policy = policy
        return 0
    if n_entries > UINT32_MAX:
        raise ValueError(f"a look-up table must have fewer than 2**32 entries, got {n_entries}")
    source.map = microkernels.map8[index_type] if code_bytes == 1 else microkernels.map32[index_type]
    source.lut = room
    room.entries = lut
    room.n_codes = n_entries - 1
    room.low = 0
    room.unknown = NULL
    room.slots = NULL
    room.few = NULL
    room.bytes = NULL
    room.raw = NULL
    room.pixel_bytes = 0
    # Check only look-up tables shorter than the column, so that the check costs less time than it saves.
    room.only_adds = 0 < n_entries - 1 <= n_rows and only_adds(lut, n_entries - 1)
    return 0


cdef int describe_one(
    CodeColumn *column, const void *codes, int index_type, Py_ssize_t n_rows, const int32_t[::1] lut,
    int code_bytes,
) except -1:
    """Describe one column of codes and its look-up table (or None) in ``column``, as C structures."""
    cdef const int32_t *entries = NULL
    if lut is None:
        column.policy = policy_of(INT64_MAX, False, None)
        return describe(&column.source, NULL, &column.policy, codes, index_type, n_rows, NULL, 0, code_bytes)
    if lut.shape[0] < 1:
        raise ValueError("a look-up table must have at least one entry")
    entries = &lut[0]
    return describe(
        &column.source, &column.lut, NULL, codes, index_type, n_rows, entries, lut.shape[0], code_bytes,
    )


cdef int max_compared(int index_type) noexcept nogil:
    """Return how many values are compared with integers of a type in less time than a look-up takes."""
    return max(8 // <int> index_type_bytes(index_type), 2)


cdef void find_few(CodeColumn *column) noexcept nogil:
    """List the values whose class is not that of the last entry, unless a look-up is faster than comparisons."""
    cdef ohf_lut *lut = &column.lut
    cdef int32_t last = lut.entries[lut.n_codes]
    cdef int index_type = column.source.index_type, n_most = max_compared(index_type)
    cdef uint64_t i
    if last >= OHF_FEW_CODES:
        return
    if microkernels.has_fast_slots and index_type_bytes(index_type) > 1:
        n_most = OHF_FEW
    column.few.n = 0
    for i in range(lut.n_codes):
        if lut.entries[i] == last:
            continue
        if column.few.n == n_most or lut.entries[i] >= OHF_FEW_CODES:
            return
        column.few.values[column.few.n] = lut.low + i
        column.few.classes[column.few.n] = ohf_few_class(lut.entries[i])
        column.few.n += 1
    use_few(column, last)


cdef int set_few(CodeColumn *column, const uint64_t[::1] values) except -1:
    """List ``values`` to compare with; the look-up table has their classes, then the class of all other values."""
    cdef ohf_lut *lut = &column.lut
    cdef Py_ssize_t i, n = values.shape[0]
    if not 0 < n <= OHF_FEW or <uint64_t> n != lut.n_codes:
        raise ValueError(f"there must be 1 to {OHF_FEW} values, one less than entries, got {n}")
    for i in range(n + 1):
        if lut.entries[i] >= OHF_FEW_CODES:
            raise ValueError(f"classes of compared values must be below {OHF_FEW_CODES}, got {lut.entries[i]}")
    for i in range(n):
        column.few.values[i] = values[i]
        column.few.classes[i] = ohf_few_class(lut.entries[i])
    column.few.n = <int> n
    lut.only_adds = False
    use_few(column, lut.entries[n])
    return 0


cdef void use_few(CodeColumn *column, int32_t other) noexcept nogil:
    """Let the microkernel `map` compare with the values of ``column.few``; all others have the class ``other``."""
    cdef int index_type = column.source.index_type, n = column.few.n
    cdef Py_ssize_t width = index_type_bytes(index_type)
    if n == 0:
        return
    column.lut.few = &column.few
    column.lut.other_class = ohf_few_class(other)
    if (
        width > 1 and (microkernels.has_fast_slots or n > max_compared(index_type))
        and ohf_slots_init(&column.slots, &column.few, width)
    ):
        column.lut.slots = &column.slots


cdef size_t bytes_size(const CodeColumn *column, Py_ssize_t n) noexcept nogil:
    """Return the size of the table that `set_bytes` fills for ``n`` integers, or 0 if it should not be used."""
    cdef const ohf_lut *lut = &column.lut
    cdef Py_ssize_t width = index_type_bytes(column.source.index_type)
    cdef uint64_t size = lut.n_codes + 1 if width > 2 else <uint64_t> 1 << (8 * width), i
    if <uint64_t> n < size or (width > 1 and lut.few != NULL):
        return 0
    for i in range(lut.n_codes + 1):
        if lut.entries[i] >= OHF_FEW_CODES:
            return 0
    return size


cdef void set_bytes(CodeColumn *column, uint8_t *room, size_t size, Py_ssize_t depth) noexcept nogil:
    """Fill ``room`` with the entries of the look-up table as bytes, and let the microkernel `map` read these.

    Integers of 8 bits need no look-up if each class below ``depth`` has exactly one integer: the integers are then
    the codes.
    """
    cdef ohf_lut *lut = &column.lut
    cdef int index_type = column.source.index_type
    cdef uint64_t i, step
    for i in range(size):
        step = i
        if index_type == OHF_U8 or index_type == OHF_U16:
            step = i - lut.low
        elif index_type == OHF_I8:
            step = <uint64_t> <int64_t> <int8_t> i - lut.low
        elif index_type == OHF_I16:
            step = <uint64_t> <int64_t> <int16_t> i - lut.low
        room[i] = ohf_few_class(lut.entries[min(step, lut.n_codes)])
    lut.bytes = room
    if index_type_bytes(index_type) == 1 and ohf_raw_init(&column.raw, room, depth):
        lut.raw = &column.raw
        column.source.class_codes = column.raw.class_codes


cdef class CodeColumns:

    def __cinit__(self, list codes, list luts, int code_bytes):
        """Check the codes (1-D, contiguous, equally long) and look-up table (int32 or None) of each column.

        A look-up table maps codes to classes. Its last entry applies to values that are not codes. Without a
        look-up table, a code is its own class, and a negative code has no class. The kernel reads the classes as
        integers of ``code_bytes`` (1 or 4) bytes.
        """
        cdef Py_ssize_t i
        self.code_bytes = code_bytes
        self.policy = policy_of(INT64_MAX, False, None)
        self.n_columns = len(codes)
        if self.n_columns == 0 or len(luts) != self.n_columns:
            raise ValueError(
                "there must be at least one column, and one look-up table for each column, "
                f"got {len(codes)} columns and {len(luts)} look-up tables"
            )
        self.n_rows = len(codes[0])
        memory = bytearray(self.n_columns * (sizeof(CodeSource) + sizeof(ohf_lut)))    # all zeros
        self.items = <CodeSource *> PyByteArray_AS_STRING(memory)
        self.luts = <ohf_lut *> (self.items + self.n_columns)
        self.keep = (codes, luts, memory)
        for i in range(self.n_columns):
            self.add(i, codes[i], luts[i])

    cdef int add(self, Py_ssize_t i, cnp.ndarray codes, cnp.ndarray lut) except -1:
        """Check one column and its look-up table, and store pointers to their memory."""
        cdef const int32_t *entries = NULL
        cdef Py_ssize_t n_entries = 0
        index_type = _INDEX_TYPES.get(codes.dtype)
        if (
            index_type is None or index_type >= OHF_F32
            or codes.ndim != 1 or codes.shape[0] != self.n_rows or not cnp.PyArray_IS_C_CONTIGUOUS(codes)
        ):
            raise ValueError(
                f"column {i}: codes must be {self.n_rows} contiguous integers, "
                f"got {codes.dtype} of shape {(<object> codes).shape}"
            )
        if lut is not None:
            if (
                lut.dtype != _INT32 or lut.ndim != 1 or lut.shape[0] < 1
                or not cnp.PyArray_IS_C_CONTIGUOUS(lut)
            ):
                raise ValueError(
                    f"column {i}: the look-up table must be a contiguous int32 array of at least one entry"
                )
            entries, n_entries = <const int32_t *> cnp.PyArray_DATA(lut), lut.shape[0]
        return describe(
            &self.items[i], &self.luts[i], &self.policy, cnp.PyArray_DATA(codes), index_type, self.n_rows,
            entries, n_entries, self.code_bytes,
        )


cdef struct Job:
    const CodeSource *source
    char *out
    Py_ssize_t out_bytes    # bytes of an element of `out`: 1, 2 or 4


cdef void run_chunk(
    const void *any_job, Py_ssize_t row, Py_ssize_t end, unsigned char *workspace,
) noexcept nogil:
    """Write the class of each code of the rows [row, end)."""
    cdef const Job *job = <const Job *> any_job
    cdef int32_t *codes = <int32_t *> workspace
    cdef int16_t *narrow = <int16_t *> job.out
    cdef Py_ssize_t count, i
    if job.out_bytes == 1:      # a code without a class becomes OHF_NONE8, whose bits are those of -1
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


def recode(
    const integer_t[::1] codes, const int32_t[::1] lut, unsigned char[::1] out, Py_ssize_t width, int num_threads,
):
    """Write the entry of the look-up table for each code of one column to ``out``, as integers of ``width`` bytes.

    ``width`` is 1, 2 or 4, and all entries must fit.
    """
    cdef Py_ssize_t n_rows = codes.shape[0]
    cdef CodeColumn column
    cdef Job job
    if width not in (1, 2, 4) or out.shape[0] != n_rows * width:
        raise ValueError(
            f"recode: out must be {n_rows} elements of 1, 2 or 4 bytes, got {out.shape[0]} bytes, {width} for each"
        )
    if n_rows == 0:
        return
    describe_codes(&column, codes, lut, 1 if width == 1 else 4)
    job = Job(source=&column.source, out=<char *> &out[0], out_bytes=width)
    for_each_chunk(run_chunk, &job, n_rows, CHUNK_ROWS, width, 4 * CODES if width == 2 else 0, num_threads)


def pack(const unsigned char[:, ::1] rows, wide_word_t[::1] words):
    """Write each row, of up to 4 or 8 bytes, as one integer whose lowest byte is the first byte of the row."""
    cdef Py_ssize_t i, j, width = rows.shape[1]
    cdef wide_word_t word
    if words.shape[0] != rows.shape[0] or width > <Py_ssize_t> sizeof(wide_word_t):
        raise ValueError(f"pack: {rows.shape[0]} rows of {width} bytes do not fit {words.shape[0]} words")
    with nogil:
        if width == 3:
            for i in range(rows.shape[0]):
                words[i] = rows[i, 0] | <wide_word_t> rows[i, 1] << 8 | <wide_word_t> rows[i, 2] << 16
        else:
            for i in range(rows.shape[0]):
                word = 0
                for j in range(width):
                    word |= <wide_word_t> rows[i, j] << (8 * j)
                words[i] = word
