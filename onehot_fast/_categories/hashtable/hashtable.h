/* A hash table maps each distinct value to a code. Codes count the values in order of first appearance: 0, 1, 2, ...
 *
 * Values are texts (any bytes, of any length) or numbers (64-bit patterns). The key of a text of up to 15 bytes
 * contains the bytes of the text, and its length in the last of 16 bytes. The key of a longer text contains its hash
 * and the position of its copy in the arena. A slot contains a code and 32 bits of the hash. An array of its own
 * stores the keys, in the order of their codes.
 *
 * The hash depends on a random seed. The codes and their order do not. */
#ifndef OHF_HASHTABLE_H
#define OHF_HASHTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "hashtable_input.h"

#define OHF_SHORT 15                    /* the most bytes of a text that its key can contain */
/* The high word of the key of a longer text has this top byte; the other bits are the position in the arena. */
#define OHF_LONG_KEY ((uint64_t)0xFF << 56)
/* No key of a text has this high word. */
#define OHF_NO_KEY ((uint64_t)0xEE << 56)

typedef struct {
    uint64_t low, high;
} ohf_key;

typedef struct {
    int32_t code;             /* -1 if the slot is empty */
    uint32_t tag;             /* the high half of the hash; its top bits are the number of the home slot */
} ohf_slot;

typedef struct ohf_hashtable ohf_hashtable;

/* Write the codes of rows [begin, end) to codes[begin] ... codes[end - 1], and return 0. A failure ends the loop: it
 * returns one of OHF_NO_MEMORY ... OHF_OUTSIDE, and writes the number of the row to *stopped. */
typedef int (*ohf_code_texts)(ohf_hashtable *, const ohf_texts *, int64_t begin, int64_t end, int32_t *codes,
                              int64_t *stopped);
typedef int (*ohf_code_numbers)(ohf_hashtable *, const ohf_numbers *, int64_t begin, int64_t end, int32_t *codes,
                                int64_t *stopped);

/* The functions that are compiled for one instruction set. `learn_*` gives new values a code. `look_up_*` changes
 * nothing in the hash table, so that threads can share it; a new value gets OHF_UNKNOWN. */
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
    unsigned shift;           /* hash >> shift is the number of the home slot; there are 2**(64 - shift) slots */
    int64_t n_codes, must_grow;        /* the hash table grows before it holds more than must_grow codes */
    ohf_key *keys;            /* for texts; keys[-1] exists, and equals the key of no text */
    uint64_t *numbers;        /* for numbers; numbers[-1] exists, so that a loop may read it for an empty slot */
    int64_t room;             /* the number of codes for which `keys` or `numbers` has memory */
    uint8_t *arena;           /* for each long text: its length in 8 bytes, then its bytes, padded to a multiple of 8 */
    size_t arena_used, arena_room;
    int64_t n_short_bytes, n_long_bytes;      /* the bytes of all short and of all long texts */
    int64_t n_watched, n_away;         /* n_away of the last n_watched rows had a code outside its home slot */
    int n_seeds;              /* the number of new seeds that `reseed` made */
};

/* Return the functions for a variant of the microkernels, which `ohf_variants` names. */
const ohf_engine *ohf_engine_of(const char *name);

/* Make an empty hash table that holds `expected` codes before it grows. `seed` points to 8 random numbers. Return 0 or
 * OHF_NO_MEMORY. */
int ohf_hashtable_open(ohf_hashtable *hashtable, const ohf_engine *engine, int is_texts,
                        const uint64_t *seed, int64_t expected);
void ohf_hashtable_close(ohf_hashtable *hashtable);

/* Return the code of a value, with a search from its home slot on. `learn` gives a new value a code, or returns a
 * failure; `find` returns OHF_UNKNOWN for it. */
int32_t ohf_learn_number(ohf_hashtable *hashtable, uint64_t number, uint64_t hash);
int32_t ohf_find_number(const ohf_hashtable *hashtable, uint64_t number, uint64_t hash);
int32_t ohf_learn_short(ohf_hashtable *hashtable, ohf_key key, uint64_t hash);
int32_t ohf_find_short(const ohf_hashtable *hashtable, ohf_key key, uint64_t hash);
int32_t ohf_learn_long(ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash);
int32_t ohf_find_long(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash);

/* Return the hash of a text or a number in this hash table. Tests need it to make keys that collide. */
uint64_t ohf_hash_text(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length);
uint64_t ohf_hash_number(const ohf_hashtable *hashtable, uint64_t number);

/* Write all texts in the order of their codes: n_codes + 1 offsets, and n_short_bytes + n_long_bytes bytes of
 * `data`. */
void ohf_hashtable_texts(const ohf_hashtable *hashtable, int64_t *offsets, uint8_t *data);

/* Run a loop of the hash table's own instruction set over rows [begin, end). Results are as in `ohf_code_texts`. */
int ohf_learn_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end, int32_t *codes,
                    int64_t *stopped);
int ohf_look_up_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_learn_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_look_up_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                        int32_t *codes, int64_t *stopped);

/* Give the values of `part`, another hash table of the same type, a code in the hash table: those whose code in `part`
 * is `begin` or higher, in the order of these codes. Write the code of value i to codes[i]. Return 0 or a failure. */
int ohf_merge(ohf_hashtable *hashtable, const ohf_hashtable *part, int64_t begin, int32_t *codes);

/* Count n_rows that a loop has learned. If too many of their codes were not in their home slot, and enough of the
 * n_ahead following rows pay for it, spread the codes over more slots. */
void ohf_note(ohf_hashtable *hashtable, int64_t n_rows, int64_t n_ahead);

#endif
