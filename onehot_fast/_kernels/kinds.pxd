"""The kind of each index type: its place in the tables of narrow microkernels."""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)

from onehot_fast._kernels.simd cimport (
    OHF_F32, OHF_F64, OHF_I8, OHF_I16, OHF_I32, OHF_I64, OHF_U8, OHF_U16, OHF_U32, OHF_U64,
)
from onehot_fast._kernels.types cimport index_t


cdef inline int kind_of(const index_t *indices) noexcept nogil:
    """Return the kind of a pointer's type."""
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


cdef inline Py_ssize_t kind_bytes(int kind) noexcept nogil:
    """Return the bytes of an index of a kind: 1, 2, 4, 8 in the order of the kinds, floats last."""
    if kind == OHF_F32:
        return 4
    if kind == OHF_F64:
        return 8
    return 1 << (kind & 3)
