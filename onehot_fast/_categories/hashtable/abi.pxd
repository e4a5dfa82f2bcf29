"""Cython declarations of the hash table in hashtable.h and related headers."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cdef extern from "_categories/hashtable/hashtable.h":
    enum:
        OHF_NO_MEMORY
        OHF_TOO_MANY
        OHF_MALFORMED
        OHF_OUTSIDE
        OHF_OFFSETS32
        OHF_OFFSETS64
        OHF_VIEWS
        OHF_BYTES_S
        OHF_UCS4

    ctypedef struct ohf_engine:
        const char *name

    ctypedef struct ohf_texts:
        int layout
        const void *rows
        int64_t width
        const uint8_t *data
        uint64_t limit
        uint64_t last_of_16
        const uint8_t *const *buffers
        const int64_t *sizes
        int64_t n_buffers
        const uint8_t *bits
        int64_t bits_begin

    ctypedef struct ohf_numbers:
        int number_type
        int has_nat
        int into
        const void *rows
        const uint8_t *bits
        int64_t bits_begin

    ctypedef struct ohf_hashtable:
        const ohf_engine *engine
        uint64_t seed[8]
        int is_texts
        int64_t n_codes
        uint64_t *numbers
        int64_t n_short_bytes
        int64_t n_long_bytes

    const ohf_engine *ohf_engine_of(const char *name) noexcept nogil
    int ohf_hashtable_open(
        ohf_hashtable *, const ohf_engine *, int is_texts, const uint64_t *seed, int64_t expected,
    ) noexcept nogil
    void ohf_hashtable_close(ohf_hashtable *) noexcept nogil
    void ohf_hashtable_texts(const ohf_hashtable *, int64_t *offsets, uint8_t *data) noexcept nogil
    int ohf_learn_texts(
        ohf_hashtable *, const ohf_texts *, int64_t, int64_t, int32_t *, int64_t *,
    ) noexcept nogil
    int ohf_look_up_texts(
        ohf_hashtable *, const ohf_texts *, int64_t, int64_t, int32_t *, int64_t *,
    ) noexcept nogil
    int ohf_learn_numbers(
        ohf_hashtable *, const ohf_numbers *, int64_t, int64_t, int32_t *, int64_t *,
    ) noexcept nogil
    int ohf_look_up_numbers(
        ohf_hashtable *, const ohf_numbers *, int64_t, int64_t, int32_t *, int64_t *,
    ) noexcept nogil
    int ohf_merge(ohf_hashtable *, const ohf_hashtable *part, int64_t begin, int32_t *codes) noexcept nogil

cdef extern from "_categories/hashtable/hashtable_objects.h":
    enum:
        OHF_MAX_MISSING

    ctypedef struct ohf_memo:
        pass

    ctypedef struct ohf_objects:
        const char *rows
        Py_ssize_t stride
        bint is_text
        void *missing[OHF_MAX_MISSING]
        int n_missing
        ohf_memo *memo
        uint8_t *scratch
        size_t room

    void ohf_make_memo(ohf_objects *, int64_t n_rows) noexcept
    int ohf_code_objects(
        ohf_hashtable *, ohf_objects *, bint learn, int64_t begin, int64_t end, int32_t *codes, int64_t *stopped,
    ) noexcept

cdef extern from "_categories/hashtable/hashtable_packed.h":
    ctypedef struct ohf_packed:
        const char *rows
        Py_ssize_t stride
        void *dtype
        const char *missing
        int64_t missing_length

    int ohf_code_packed(
        ohf_hashtable *, const ohf_packed *, bint learn, int64_t, int64_t, int32_t *, int64_t *,
    ) noexcept nogil

cdef extern from "_categories/hashtable/hashtable_split.h":
    ctypedef struct ohf_split:
        const uint8_t *separator
        size_t separator_bytes
        int keeps_empty
        int32_t *codes
        int64_t n_codes

    int ohf_split_texts(
        ohf_hashtable *, const ohf_texts *, int64_t, int64_t, ohf_split *, int64_t *ends, int64_t *,
    ) noexcept nogil
