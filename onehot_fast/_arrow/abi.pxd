"""The Arrow C data and C stream interfaces as Cython sees them."""

from libc.stdint cimport int64_t, uint8_t

cdef extern from "_arrow/abi.h":
    enum:
        ARROW_FLAG_DICTIONARY_ORDERED
        ARROW_FLAG_NULLABLE

    struct ArrowSchema:
        const char *format
        const char *name
        const char *metadata
        int64_t flags
        int64_t n_children
        ArrowSchema **children
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept
        void *private_data

    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void **buffers
        ArrowArray **children
        ArrowArray *dictionary
        void (*release)(ArrowArray *) noexcept
        void *private_data

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
        const char *(*get_last_error)(ArrowArrayStream *) noexcept
        void (*release)(ArrowArrayStream *) noexcept nogil
        void *private_data

    ctypedef struct ohf_arrow_owner:
        ArrowArray array

    ohf_arrow_owner *ohf_arrow_own(ArrowArray *array) noexcept
    void ohf_arrow_keep(ohf_arrow_owner *owner) noexcept
    void ohf_arrow_let_go(ohf_arrow_owner *owner) noexcept
    bint ohf_arrow_share(ohf_arrow_owner *owner, const ArrowArray *source, ArrowArray *to) noexcept
    bint ohf_arrow_set_validity(
        ArrowArray *array, size_t n_before, const uint8_t *bits, size_t n_bytes,
    ) noexcept
    bint ohf_arrow_make_schema(
        ArrowSchema *to, const char *format, const char *name, const char *metadata, size_t n_metadata,
        int64_t flags, size_t n_children, bint has_dictionary,
    ) noexcept
