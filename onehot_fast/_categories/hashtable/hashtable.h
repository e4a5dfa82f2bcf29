/* A hash table from values to codes in order of first appearance: 0, 1, 2, ...
 *
 * Two families of values: texts (any bytes, of any length) and numbers (64-bit patterns). A text of up to 15 bytes is
 * its own key of 16 bytes, with its length in the last one; the key of a longer text has its hash and the position of
 * its copy in the arena. A slot of the table has a code and 32 bits of the hash; the keys are stored densely, by code.
 *
 * The hash depends on a random seed. Codes and their order do not. */
#ifndef OHF_HASHTABLE_H
#define OHF_HASHTABLE_H

#include <stddef.h>
#include <stdint.h>

/* Results of rows without a code, and the reasons why a loop ends early. */
enum {
    OHF_MISSING = -1,
    OHF_UNKNOWN = -2,
    OHF_NO_MEMORY = -3,
    OHF_TOO_MANY = -4,        /* more distinct values than codes */
    OHF_MALFORMED = -5,       /* offsets or views that point outside their buffers */
    OHF_OUTSIDE = -6          /* an integer that the hashtable's type cannot hold */
};

#define OHF_SHORT 15                    /* most bytes of a text that is its own key */
#define OHF_LONG_KEY ((uint64_t)0xFF << 56)    /* in the high word of a key: a long text, the rest is its place */
#define OHF_NO_KEY ((uint64_t)0xEE << 56)      /* the high word of no text's key */

typedef struct {
    uint64_t low, high;
} ohf_key;

typedef struct {
    int32_t code;             /* -1: empty */
    uint32_t tag;             /* the high half of the hash, whose top bits are the home place */
} ohf_slot;

typedef struct ohf_hashtable ohf_hashtable;

/* Where the texts of rows lie. */
enum {
    OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS,
    OHF_POINTERS,
    OHF_BEHIND,               /* pointers, and the 16 bytes in front of each text can be read */
    OHF_BYTES_S, OHF_UCS4,    /* rows of `width` bytes or characters, filled up with zeros */
    OHF_LAYOUTS
};

typedef struct {
    int layout;
    const void *rows;         /* n + 1 offsets, n views of 16 bytes, or n pointers to the first byte */
    const int64_t *lengths;   /* for pointers: a length, or -1 for a missing text */
    int64_t width;            /* for OHF_BYTES_S and OHF_UCS4 */
    const uint8_t *data;      /* for offsets; limit bytes may be read */
    uint64_t limit, last_of_16;        /* below last_of_16, 16 bytes may be read: limit - 15, or 0 */
    const uint8_t *const *buffers;     /* for views: n_buffers of sizes[i] bytes */
    const int64_t *sizes;
    int64_t n_buffers;
    const uint8_t *bits;      /* validity, NULL where all rows are valid */
    int64_t bits_begin;       /* the bit of the first row */
} ohf_texts;

/* Where the numbers of rows lie, and how they become 64-bit patterns. */
typedef struct {
    int number_type;                 /* OHF_I8 ... OHF_F64 of microkernels.h */
    int has_nat;              /* the least int64 is missing */
    int into;                 /* OHF_I64, OHF_U64 or OHF_F64: what the hashtable holds */
    const void *rows;         /* aligned, contiguous */
    const uint8_t *bits;
    int64_t bits_begin;
} ohf_numbers;

/* Rows [begin, end) as codes[begin] ... codes[end - 1]. Returns 0, or an OHF_* below OHF_UNKNOWN and in *stopped the
 * row of it. */
typedef int (*ohf_code_texts)(ohf_hashtable *, const ohf_texts *, int64_t begin, int64_t end, int32_t *codes,
                              int64_t *stopped);
typedef int (*ohf_code_numbers)(ohf_hashtable *, const ohf_numbers *, int64_t begin, int64_t end, int32_t *codes,
                                int64_t *stopped);

/* The loops of one instruction set; those that look up write nothing to the hashtable. */
typedef struct {
    const char *name;
    ohf_code_texts learn_texts[OHF_LAYOUTS], look_up_texts[OHF_LAYOUTS];
    ohf_code_numbers learn_numbers, look_up_numbers;
    uint64_t (*hash_short)(const ohf_hashtable *, ohf_key);
    uint64_t (*hash_long)(const ohf_hashtable *, const uint8_t *, uint64_t length);
    uint64_t (*hash_number)(const ohf_hashtable *, uint64_t);
} ohf_engine;

struct ohf_hashtable {
    const ohf_engine *engine;
    uint64_t seed[8];
    int is_texts;
    ohf_slot *slots;
    unsigned shift;           /* turns a hash into one of the 2**(64 - shift) slots */
    int64_t n_codes, must_grow;
    ohf_key *keys;            /* for texts; keys[-1] is no key */
    uint64_t *numbers;        /* for numbers; numbers[-1] may be read */
    int64_t room;             /* codes that keys or numbers have room for */
    uint8_t *arena;           /* long texts: 8 bytes of length, then the bytes, padded to 8 */
    size_t arena_used, arena_room;
    int64_t n_short_bytes, n_long_bytes;
    int64_t n_watched, n_away;         /* rows learned lately, and of these known but not at their home slot */
    int n_seeds;              /* how often a new seed was drawn */
};

/* The engine for a name of simd.variants(). */
const ohf_engine *ohf_engine_of(const char *name);

/* 0 or OHF_NO_MEMORY. The table has room for `expected` codes before it grows; the seed is random bits. */
int ohf_hashtable_open(ohf_hashtable *hashtable, const ohf_engine *engine, int is_texts,
                        const uint64_t *seed, int64_t expected);
void ohf_hashtable_close(ohf_hashtable *hashtable);

/* The code of a number that is not at its home place, or that is new. */
int32_t ohf_learn_number(ohf_hashtable *hashtable, uint64_t number, uint64_t hash);
int32_t ohf_find_number(const ohf_hashtable *hashtable, uint64_t number, uint64_t hash);
int32_t ohf_learn_short(ohf_hashtable *hashtable, ohf_key key, uint64_t hash);
int32_t ohf_find_short(const ohf_hashtable *hashtable, ohf_key key, uint64_t hash);
int32_t ohf_learn_long(ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash);
int32_t ohf_find_long(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash);

/* The hash of a text or a number in this hashtable: for tests that make keys collide. */
uint64_t ohf_hash_text(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length);
uint64_t ohf_hash_number(const ohf_hashtable *hashtable, uint64_t number);

/* All texts in order of their codes: n_codes + 1 offsets, and n_short_bytes + n_long_bytes bytes. */
void ohf_hashtable_texts(const ohf_hashtable *hashtable, int64_t *offsets, uint8_t *data);

/* The loops of the hashtable's engine over rows [begin, end). */
int ohf_learn_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end, int32_t *codes,
                    int64_t *stopped);
int ohf_look_up_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_learn_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_look_up_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                        int32_t *codes, int64_t *stopped);

/* Write a character in UTF-8, a lone surrogate in the same way; returns behind it. */
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

/* Note that n_rows were learned. If too many keys are away from their home slot, and enough rows are ahead to pay for
 * it, make the table sparser. */
void ohf_note(ohf_hashtable *hashtable, int64_t n_rows, int64_t n_ahead);

#endif
