"""The C microkernels, and the functions through which every kernel module reaches the active variant."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "_kernels/microkernels.h":
    enum:
        OHF_I8
        OHF_I16
        OHF_I32
        OHF_I64
        OHF_U8
        OHF_U16
        OHF_U32
        OHF_U64
        OHF_F32
        OHF_F64
        OHF_P4
        OHF_P8
        OHF_SPAN8
        OHF_PAD
        OHF_SCRATCH
        OHF_FEW
        OHF_FEW_CODES
        OHF_UNKNOWN
        OHF_BIT_SCRATCH
        OHF_BIT_ROWS
    const uint64_t OHF_SPAN32

    ctypedef struct ohf_policy:
        uint64_t depth
        uint64_t base
        uint64_t span
        uint64_t ignored
        bint has_ignored
        bint wrap

    ctypedef struct ohf_few:
        int n
        uint64_t *values
        uint8_t *classes

    ctypedef struct ohf_slots:
        uint32_t factor_low

    ctypedef struct ohf_raw:
        const uint8_t *class_codes

    ctypedef struct ohf_lut:
        const int32_t *entries
        uint64_t n_codes
        bint only_adds
        uint64_t base
        uint64_t span
        uint64_t low
        int *unknown
        const ohf_slots *slots
        const ohf_few *few
        const uint8_t *bytes
        uint8_t other_class
        const ohf_raw *raw
        size_t pixel_bytes

    ctypedef struct ohf_shifted:
        const unsigned char *codes
        int index_type
        int32_t first
        int32_t top

    ctypedef struct ohf_fill:
        size_t width
        size_t depth
        size_t inner
        const unsigned char *on
        const unsigned char *off
        bint stream
        bint off_is_byte
        const uint8_t *class_codes

    ctypedef struct ohf_plan:
        size_t head

    ctypedef struct ohf_byte_map:
        uint8_t entries[256]

    ctypedef void (*ohf_narrow)(const void *, size_t, const ohf_policy *, void *) noexcept nogil
    ctypedef int (*ohf_map)(const void *, size_t, const ohf_lut *, void *) noexcept nogil
    ctypedef void (*ohf_rows)(
        const int32_t *, size_t, const ohf_fill *, unsigned char *, unsigned char *
    ) noexcept nogil
    ctypedef void (*ohf_expand)(
        const uint8_t *, size_t, const ohf_plan *, const ohf_fill *, unsigned char *
    ) noexcept nogil
    ctypedef void (*ohf_planes)(
        const uint8_t *, size_t, size_t, size_t, const ohf_fill *, unsigned char *
    ) noexcept nogil
    ctypedef void (*ohf_planes_joined)(
        const uint8_t *, size_t, const ohf_fill *, unsigned char *, bint, bint
    ) noexcept nogil
    ctypedef void (*ohf_bits)(
        const uint8_t *, size_t, size_t, size_t, bint, unsigned char *, unsigned char *
    ) noexcept nogil
    ctypedef size_t (*ohf_csr)(
        const ohf_shifted *, size_t, size_t, int32_t, int32_t *, int32_t *
    ) noexcept nogil
    ctypedef size_t (*ohf_differing)(
        const unsigned char *, size_t, size_t, const unsigned char *
    ) noexcept nogil
    ctypedef void (*ohf_map_bytes)(
        const uint8_t *, size_t, const ohf_byte_map *, uint8_t *
    ) noexcept nogil
    ctypedef size_t (*ohf_find_mapped)(const uint8_t *, size_t, const ohf_byte_map *) noexcept nogil
    ctypedef size_t (*ohf_find_bytes)(
        const uint8_t *, size_t, unsigned, unsigned, uint16_t *
    ) noexcept nogil
    ctypedef void (*ohf_put)(unsigned char *, size_t, const ohf_fill *) noexcept nogil
    ctypedef void (*ohf_copy)(unsigned char *, const unsigned char *, size_t) noexcept nogil
    ctypedef void (*ohf_move)(unsigned char *, unsigned char *, size_t, const ohf_fill *) noexcept nogil

    ctypedef struct ohf_microkernels:
        const char *name
        int vector
        bint streams
        ohf_narrow *narrow8
        ohf_narrow *narrow32
        ohf_rows rows_scatter
        ohf_rows rows_block
        ohf_rows rows_scratch
        ohf_rows rows_merge
        ohf_expand rows_expand
        ohf_planes planes
        ohf_planes_joined planes_joined
        ohf_map *map8
        ohf_map *map32
        bint has_fast_slots
        ohf_bits bits
        ohf_csr csr
        ohf_differing differing
        ohf_map_bytes map_bytes
        ohf_find_mapped find_mapped
        ohf_find_bytes find_bytes
        ohf_put fill
        ohf_copy copy
        ohf_move move

    void ohf_fill_init(
        ohf_fill *, size_t width, size_t depth, size_t inner, const unsigned char *on, const unsigned char *off
    ) noexcept nogil
    uint8_t ohf_few_class(int32_t entry) noexcept nogil
    bint ohf_slots_init(ohf_slots *, const ohf_few *, size_t width) noexcept nogil
    bint ohf_raw_init(ohf_raw *, const uint8_t *classes, size_t depth) noexcept nogil
    void ohf_byte_map_init(ohf_byte_map *, const uint8_t *entries) noexcept nogil
    bint ohf_can_expand(const ohf_microkernels *, const ohf_fill *, const unsigned char *out) noexcept nogil
    void ohf_plan_init(
        ohf_plan *, const ohf_microkernels *, const ohf_fill *, const unsigned char *out
    ) noexcept nogil

cdef const ohf_microkernels *microkernels   # the active variant
cdef size_t stream_bytes                    # the output size above which stores bypass the caches


cdef inline ohf_policy policy_of(Py_ssize_t depth, bint wrap, object ignored):
    """Return a policy whose window contains all classes; ``ignored`` is None or an index of any type."""
    cdef ohf_policy policy
    policy.depth = policy.span = depth
    policy.base = 0
    policy.wrap = wrap
    policy.has_ignored = ignored is not None
    policy.ignored = 0 if ignored is None else <uint64_t> (ignored & 0xFFFF_FFFF_FFFF_FFFF)
    return policy
