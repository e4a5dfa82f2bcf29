/* A hash table maps each distinct value to a code. Codes count the values from 0, in the order of their first
 * appearance.
 *
 * Values are texts (any bytes, of any length) or numbers (64-bit patterns). The key of a text of up to 15 bytes
 * contains the bytes of the text, and its length in the last of 16 bytes. The key of a longer text contains its
 * hash, and the position of its copy in the arena, a block of memory for all long texts. An array stores the keys
 * in the order of their codes.
 *
 * The array of slots contains the codes. The top bits of a hash are the number of the home slot, where the search
 * for a value begins; it ends at the first empty slot. A slot contains a code and the high 32 bits of the hash.
 *
 * The hash depends on a random seed. The codes and their order do not. */
#ifndef OHF_HASHTABLE_H
#define OHF_HASHTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "hashtable_input.h"

#define OHF_SHORT 15                    /* a text of at most 15 bytes fits into its key */
/* A text of more than OHF_SHORT bytes does not fit into its key: the top byte of the key's high word is 0xFF, and
 * the other bits are the position of the text's copy in the arena. */
#define OHF_LONG_KEY ((uint64_t)0xFF << 56)
/* The high word of a key that belongs to no text: the top byte of a text's key is its length, at most 15, or
 * 0xFF. */
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
 * nothing in the hash table, so that threads can share it; it writes OHF_UNKNOWN for a new value. */
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
    int64_t n_codes, must_grow;        /* the number of codes; the hash table grows before it exceeds must_grow */
    ohf_key *keys;            /* for texts: keys[code]; keys[-1], for an empty slot, is the key of no text */
    uint64_t *numbers;        /* for numbers; numbers[-1] exists, so that a loop may read it for an empty slot */
    int64_t room;             /* the number of codes for which `keys` or `numbers` has memory */
    uint8_t *arena;           /* for each long text: its length in 8 bytes, then its bytes, padded to a multiple of 8 */
    size_t arena_used, arena_room;
    int64_t n_short_bytes, n_long_bytes;      /* the bytes of all short and of all long texts */
    int64_t n_watched, n_away;         /* n_away of the last n_watched rows had a code outside its home slot */
    int n_seeds;              /* the number of new seeds that `reseed` made */
};

/* Return the functions for the variant of the microkernels that has this name, for example "avx2". */
const ohf_engine *ohf_engine_of(const char *name);

/* Make an empty hash table that holds `expected` codes before it grows. `seed` points to 8 random numbers. Return 0 or
 * OHF_NO_MEMORY. */
int ohf_hashtable_open(ohf_hashtable *hashtable, const ohf_engine *engine, int is_texts,
                        const uint64_t *seed, int64_t expected);
void ohf_hashtable_close(ohf_hashtable *hashtable);

/* Return the code of a value, with a search from its home slot on. If the value is new, `ohf_learn_*` gives it a
 * code, or returns a failure; `ohf_find_*` returns OHF_UNKNOWN. */
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

/* Learn or look up rows [begin, end) with the functions of the hash table's instruction set, and write the code of
 * row i to codes[i]. Return 0 or an OHF_* failure. Unless memory ran out, *stopped is then the row that failed. */
int ohf_learn_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end, int32_t *codes,
                    int64_t *stopped);
int ohf_look_up_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_learn_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped);
int ohf_look_up_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                        int32_t *codes, int64_t *stopped);

/* Learn values of `part`, another hash table of the same type: those whose code in `part` is `begin` or higher, in
 * the order of these codes. If a value has the code i in `part`, write its code in `hashtable` to codes[i]. Return
 * 0 or a failure. */
int ohf_merge(ohf_hashtable *hashtable, const ohf_hashtable *part, int64_t begin, int32_t *codes);

/* Count n_rows rows that a loop has just learned. If too many of them had a code outside its home slot, spread the
 * codes over more slots, but only if n_ahead, the number of rows that follow, is large enough to pay for this
 * work. */
void ohf_note(ohf_hashtable *hashtable, int64_t n_rows, int64_t n_ahead);

#endif
