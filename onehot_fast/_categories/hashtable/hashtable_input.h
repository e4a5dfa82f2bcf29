/* The input and the results of a hash table: the layouts of rows in memory, and what a row can get besides a code.
 *
 * `hashtable_rows.h` reads these layouts, and uses nothing of the hash table itself. */
#ifndef OHF_HASHTABLE_INPUT_H
#define OHF_HASHTABLE_INPUT_H

#include <stdint.h>

/* Functions return these negative numbers instead of a code. OHF_MISSING and OHF_UNKNOWN are results of a row; the
 * others are failures, which end a loop early. */
enum {
    OHF_MISSING = -1,
    OHF_UNKNOWN = -2,
    OHF_NO_MEMORY = -3,
    OHF_TOO_MANY = -4,        /* there are more distinct values than codes */
    OHF_MALFORMED = -5,       /* an offset or a view points outside its buffer */
    OHF_OUTSIDE = -6          /* the type of the hash table cannot hold this integer */
};

/* The layouts of texts in memory. */
enum {
    OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS,    /* Arrow's offsets of 32 or 64 bits, and Arrow's views */
    OHF_POINTERS,             /* a pointer and a length for each text */
    OHF_BEHIND,               /* like OHF_POINTERS; loops may also read the 16 bytes in front of each text */
    OHF_BYTES_S, OHF_UCS4,    /* NumPy's S and U: `width` bytes or characters, with zeros behind a shorter text */
    OHF_LAYOUTS
};

/* The texts of the rows of a column, in one of the layouts above. */
typedef struct {
    int layout;
    const void *rows;         /* n + 1 offsets, n views of 16 bytes, n pointers, or n * width characters */
    const int64_t *lengths;   /* for pointers: the length of each text, -1 if it is missing */
    int64_t width;            /* for OHF_BYTES_S and OHF_UCS4: the number of characters of a row */
    const uint8_t *data;      /* for offsets: `limit` bytes */
    uint64_t limit, last_of_16;        /* a loop may read 16 bytes from each offset below last_of_16 */
    const uint8_t *const *buffers;     /* for views: buffer i has sizes[i] bytes */
    const int64_t *sizes;
    int64_t n_buffers;
    const uint8_t *bits;      /* Arrow's validity bits, or NULL if no row is missing */
    int64_t bits_begin;       /* the position of the bit of row 0 */
} ohf_texts;

/* The numbers in the rows of a column, and how loops convert them to 64-bit patterns. */
typedef struct {
    int number_type;          /* the type of the numbers: OHF_I8 ... OHF_F64 of microkernels.h */
    int has_nat;              /* 1 if the lowest int64, which is NaT in NumPy, means a missing row */
    int into;                 /* the type that the hash table holds: OHF_I64, OHF_U64 or OHF_F64 */
    const void *rows;         /* the numbers, aligned and contiguous */
    const uint8_t *bits;
    int64_t bits_begin;
} ohf_numbers;

/* Write a character in UTF-8, and return the address behind it. A lone surrogate takes three bytes. */
static inline uint8_t *ohf_put_character(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (uint8_t)c;
    } else if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (uint8_t)(0xE0 | c >> 12);
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | c >> 18);
        *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    }
    return out;
}

#endif
