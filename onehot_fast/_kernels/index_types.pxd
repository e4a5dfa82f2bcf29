"""The types of codes, indices and compared elements that kernels read, as fused types.

A kernel of one column has a fused `def`, and `dispatch` calls the specialisation for the dtype of the column.
The elements of outputs have no fused type: they are bytes of a width, because bfloat16, strings such as ``U3``,
dates and structures have no type in C. Where elements are compared, they are unsigned integers of this width.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from onehot_fast._kernels.simd cimport (
    OHF_F32, OHF_F64, OHF_I8, OHF_I16, OHF_I32, OHF_I64, OHF_U8, OHF_U16, OHF_U32, OHF_U64,
)

# The types of codes.
ctypedef fused integer_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

# The types of indices; the caller widens float16, which is exact.
ctypedef fused index_t:
    integer_t
    float
    double

# Rows of up to 4 or 8 bytes are packed into integers of these types.
ctypedef fused wide_word_t:
    uint32_t
    uint64_t

# Elements of 1, 2, 4 or 8 bytes are compared as integers of these types.
ctypedef fused word_t:
    uint8_t
    uint16_t
    wide_word_t


cdef inline int index_type_of(const index_t *_indices) noexcept nogil:
    """Return the number that microkernels.h gives to the type of the indices; the memory is not read."""
    if index_t is int8_t:
        return OHF_I8
    elif index_t is int16_t:
        return OHF_I16
    elif index_t is int32_t:
        return OHF_I32
    elif index_t is int64_t:
        return OHF_I64
    elif index_t is uint8_t:
        return OHF_U8
    elif index_t is uint16_t:
        return OHF_U16
    elif index_t is uint32_t:
        return OHF_U32
    elif index_t is uint64_t:
        return OHF_U64
    elif index_t is float:
        return OHF_F32
    else:
        return OHF_F64


cdef inline Py_ssize_t index_type_bytes(int index_type) noexcept nogil:
    """Return the size in bytes of an index of a type, or of the integer that holds a pixel: 1, 2, 4 or 8."""
    if index_type == OHF_F32:
        return 4
    if index_type == OHF_F64:
        return 8
    return 1 << (index_type & 3)
