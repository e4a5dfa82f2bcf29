"""The element types of arrays that kernels read or count in."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

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
