"""The fused types of the kernels, once."""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)

# The ten types an index may have when it reaches a kernel. float16 is widened at the door: it is exact.
ctypedef fused index_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double

# The elements that decode compares as whole words.
ctypedef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
