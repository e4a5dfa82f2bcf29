/* The hash table: its memory, its slots, and its loops for each instruction set. */
#include "hashtable.h"
#include "hashtable_rows.h"
#include "_kernels/isa.h"
#include "_runtime/workspace.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_SLOT_BITS = 10,
    SPARSE_SLOT_BITS = 16,    /* below 2**16 slots, at most a quarter are full, so most home slots are empty */
    QUICK_SLOT_BITS = 18,     /* a hash table with fewer than 2**18 slots grows fourfold, a larger one twofold */
    OHF_FAR_CODES = 6000,     /* from this number of codes on, loops prefetch slots and keys */
    WATCHED_ROWS = 4096,      /* `ohf_note` decides after this number of rows whether to add slots */
    MOST_AWAY = WATCHED_ROWS / 64,
    MOST_SPARE_BITS = 17,     /* `ohf_note` makes no more than 2**17 slots: 1 MiB */
    MOST_SLOT_BITS = 32,
    LONGEST_PROBE = 128,      /* `reseed` runs after a search of more slots, which does not happen by chance */
    MOST_SEEDS = 8            /* `reseed` makes at most this number of new seeds */
};

static unsigned slot_bits(const ohf_hashtable *hashtable)
{
    return 64 - hashtable->shift;
}

static size_t n_slots(const ohf_hashtable *hashtable)
{
    return (size_t)1 << slot_bits(hashtable);
}

/* Return the address in the arena of the long text with this key, and write its length. */
static const uint8_t *long_text(const ohf_hashtable *hashtable, ohf_key key, uint64_t *length)
{
    const uint8_t *entry = hashtable->arena + (key.high & ~OHF_LONG_KEY);
    memcpy(length, entry, sizeof *length);
    return entry + sizeof *length;
}

static int is_long(ohf_key key)
{
    return key.high >> 56 == OHF_LONG_KEY >> 56;
}

/* ---- Memory ---- */

/* Give an array memory for `room` elements of `width` bytes, and for one element in front of them. Return the
 * array. If there is no memory, return NULL, and leave the old array unchanged. */
static void *reserve(void *elements, int64_t room, size_t width)
{
    char *made;
    if ((uint64_t)room > SIZE_MAX / width - 1)
        return NULL;
    made = realloc(elements == NULL ? NULL : (char *)elements - width, ((size_t)room + 1) * width);
    return made == NULL ? NULL : made + width;
}

/* Give the array of keys, or of numbers, memory for `room` codes. Return 0 or OHF_NO_MEMORY. */
static int reserve_codes(ohf_hashtable *hashtable, int64_t room)
{
    if (hashtable->is_texts) {
        ohf_key *keys = reserve(hashtable->keys, room, sizeof *keys);
        if (keys == NULL)
            return OHF_NO_MEMORY;
        keys[-1].low = 0;
        keys[-1].high = OHF_NO_KEY;
        hashtable->keys = keys;
    } else {
        uint64_t *numbers = reserve(hashtable->numbers, room, sizeof *numbers);
        if (numbers == NULL)
            return OHF_NO_MEMORY;
        numbers[-1] = 0;
        hashtable->numbers = numbers;
    }
    hashtable->room = room;
    return 0;
}

/* Give the arena memory for `needed` more bytes. Return 0 or OHF_NO_MEMORY. */
static int reserve_arena(ohf_hashtable *hashtable, uint64_t needed)
{
    size_t room = hashtable->arena_room;
    uint8_t *made;
    if (room - hashtable->arena_used >= needed)
        return 0;
    if (needed > SIZE_MAX / 4 - hashtable->arena_used)
        return OHF_NO_MEMORY;
    room = room + room / 2;
    if (room < hashtable->arena_used + needed + 1024)
        room = hashtable->arena_used + (size_t)needed + 1024;
    made = realloc(hashtable->arena, room);
    if (made == NULL)
        return OHF_NO_MEMORY;
    hashtable->arena = made;
    hashtable->arena_room = room;
    return 0;
}

/* Return 2**bits empty slots, or NULL if there is no memory. */
static ohf_slot *empty_slots(unsigned bits)
{
    ohf_slot *slots;
    if (bits > MOST_SLOT_BITS || ((size_t)1 << bits) > SIZE_MAX / sizeof *slots)
        return NULL;
    slots = malloc(sizeof *slots << bits);
    if (slots != NULL)
        memset(slots, 0xFF, sizeof *slots << bits);
    return slots;
}

static void set_slots(ohf_hashtable *hashtable, ohf_slot *slots, unsigned bits)
{
    hashtable->slots = slots;
    hashtable->shift = 64 - bits;
    hashtable->must_grow = (int64_t)1 << (bits < SPARSE_SLOT_BITS ? bits - 2 : bits - 1);
}

/* ---- Slots ---- */

static uint64_t hash_of_code(const ohf_hashtable *hashtable, int64_t code)
{
    const ohf_engine *engine = hashtable->engine;
    if (!hashtable->is_texts)
        return engine->hash_number(hashtable, hashtable->numbers[code]);
    if (is_long(hashtable->keys[code]))
        return hashtable->keys[code].low;
    return engine->hash_short(hashtable, hashtable->keys[code]);
}

/* Write `slot`, with a new code, to the first empty slot from its home slot on. Return how many slots were
 * read. */
static size_t insert_slot(ohf_slot *slots, unsigned bits, ohf_slot slot)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t place = (size_t)(slot.tag >> (32 - bits)), looked_at = 1;
    for (; slots[place].code >= 0; looked_at++)
        place = (place + 1) & mask;
    slots[place] = slot;
    return looked_at;
}

/* Move all codes to 2**bits new slots. The old slots are nearly in the order of their home slots, so the loop also
 * writes the new slots nearly in order, which is faster than at random. Return 0, or OHF_NO_MEMORY without a
 * change. */
static int resize(ohf_hashtable *hashtable, unsigned bits)
{
    const size_t n = n_slots(hashtable);
    ohf_slot *slots = empty_slots(bits);
    if (slots == NULL)
        return OHF_NO_MEMORY;
    for (size_t place = 0; place < n; place++)
        if (hashtable->slots[place].code >= 0)
            insert_slot(slots, bits, hashtable->slots[place]);
    free(hashtable->slots);
    set_slots(hashtable, slots, bits);
    return 0;
}

static ohf_slot slot_of(uint64_t hash, int64_t code)
{
    ohf_slot slot;
    slot.code = (int32_t)code;
    slot.tag = (uint32_t)(hash >> 32);
    return slot;
}

/* Make a new seed from the old one, and hash all values again. Only someone who knows the old seed can guess the
 * new one. */
static void reseed(ohf_hashtable *hashtable)
{
    uint64_t state = hashtable->seed[0] ^ hashtable->seed[5];
    hashtable->n_seeds++;
    for (int i = 0; i < 8; i++) {       /* splitmix64 (Steele, Lea and Flood 2014) */
        uint64_t mixed = state += 0x9E3779B97F4A7C15u + hashtable->seed[i];
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        hashtable->seed[i] = (mixed ^ mixed >> 31) | 1;
    }
    if (hashtable->is_texts)
        for (int64_t code = 0; code < hashtable->n_codes; code++) {
            ohf_key *key = &hashtable->keys[code];
            if (is_long(*key)) {
                uint64_t length;
                const uint8_t *text = long_text(hashtable, *key, &length);
                key->low = hashtable->engine->hash_long(hashtable, text, length);
            }
        }
    memset(hashtable->slots, 0xFF, n_slots(hashtable) * sizeof *hashtable->slots);
    for (int64_t code = 0; code < hashtable->n_codes; code++)
        insert_slot(hashtable->slots, slot_bits(hashtable), slot_of(hash_of_code(hashtable, code), code));
}

/* Make room for the key and the slot of one more code. Return 0 or a failure. */
static int make_room(ohf_hashtable *hashtable)
{
    const unsigned bits = slot_bits(hashtable);
    if (hashtable->n_codes >= INT32_MAX)
        return OHF_TOO_MANY;
    if (hashtable->n_codes == hashtable->room && reserve_codes(hashtable, hashtable->room * 2) != 0)
        return OHF_NO_MEMORY;
    if (hashtable->n_codes >= hashtable->must_grow)
        return resize(hashtable, bits < QUICK_SLOT_BITS ? bits + 2 : bits + 1);
    return 0;
}

/* Give the next code to the value whose key or number the caller has written at the end of its array, and write
 * the slot. Return the code. */
static int32_t finish_learning(ohf_hashtable *hashtable, uint64_t hash)
{
    const int32_t code = (int32_t)hashtable->n_codes++;
    if (insert_slot(hashtable->slots, slot_bits(hashtable), slot_of(hash, code)) > LONGEST_PROBE
        && hashtable->n_seeds < MOST_SEEDS)
        reseed(hashtable);
    return code;
}

/* The body of a function that searches for a value from its home slot on, and returns its code or OHF_UNKNOWN. A
 * slot with the same tag may contain another value, so the expression SAME compares the value whose code is
 * `slot.code` with the wanted one. */
#define OHF_FIND(SAME)                                    \
    const size_t mask = n_slots(hashtable) - 1;           \
    size_t place = (size_t)(hash >> hashtable->shift);    \
    for (;; place = (place + 1) & mask) {                 \
        const ohf_slot slot = hashtable->slots[place];    \
        if (slot.code < 0)                                \
            return OHF_UNKNOWN;                           \
        if (slot.tag == (uint32_t)(hash >> 32) && (SAME)) \
            return slot.code;                             \
    }

int32_t ohf_find_number(const ohf_hashtable *hashtable, uint64_t number, uint64_t hash)
{
    OHF_FIND(hashtable->numbers[slot.code] == number)
}

int32_t ohf_find_short(const ohf_hashtable *hashtable, ohf_key key, uint64_t hash)
{
    OHF_FIND(hashtable->keys[slot.code].low == key.low && hashtable->keys[slot.code].high == key.high)
}

/* Tell whether a key belongs to this long text. */
static int same_long(const ohf_hashtable *hashtable, ohf_key key, const uint8_t *text, uint64_t length,
                     uint64_t hash)
{
    uint64_t known_length;
    const uint8_t *known;
    if (key.low != hash || !is_long(key))
        return 0;
    known = long_text(hashtable, key, &known_length);
    return known_length == length && memcmp(known, text, (size_t)length) == 0;
}

int32_t ohf_find_long(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash)
{
    OHF_FIND(same_long(hashtable, hashtable->keys[slot.code], text, length, hash))
}

/* Prepare to learn a value. `known` is the code that a search found for it, or OHF_UNKNOWN. Return `known` if it
 * is a code, OHF_UNKNOWN if the caller must write the key of a new value, or a failure. */
static int32_t begin_learning(ohf_hashtable *hashtable, int32_t known)
{
    if (known >= 0) {
        hashtable->n_away++;
        return known;
    }
    const int failed = make_room(hashtable);
    return failed ? failed : OHF_UNKNOWN;
}

int32_t ohf_learn_number(ohf_hashtable *hashtable, uint64_t number, uint64_t hash)
{
    const int32_t begun = begin_learning(hashtable, ohf_find_number(hashtable, number, hash));
    if (begun != OHF_UNKNOWN)
        return begun;
    hashtable->numbers[hashtable->n_codes] = number;
    return finish_learning(hashtable, hash);
}

int32_t ohf_learn_short(ohf_hashtable *hashtable, ohf_key key, uint64_t hash)
{
    const int32_t begun = begin_learning(hashtable, ohf_find_short(hashtable, key, hash));
    if (begun != OHF_UNKNOWN)
        return begun;
    hashtable->keys[hashtable->n_codes] = key;
    hashtable->n_short_bytes += (int64_t)(key.high >> 56);
    return finish_learning(hashtable, hash);
}

int32_t ohf_learn_long(ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash)
{
    const uint64_t padded = (length + 7) & ~(uint64_t)7;
    const int32_t begun = begin_learning(hashtable, ohf_find_long(hashtable, text, length, hash));
    ohf_key *key;
    uint8_t *entry;
    if (begun != OHF_UNKNOWN)
        return begun;
    if (reserve_arena(hashtable, sizeof length + padded) != 0)
        return OHF_NO_MEMORY;
    entry = hashtable->arena + hashtable->arena_used;
    memcpy(entry, &length, sizeof length);
    memcpy(entry + sizeof length, text, (size_t)length);
    key = &hashtable->keys[hashtable->n_codes];
    key->low = hash;
    key->high = OHF_LONG_KEY | hashtable->arena_used;
    hashtable->arena_used += sizeof length + (size_t)padded;
    hashtable->n_long_bytes += (int64_t)length;
    return finish_learning(hashtable, hash);
}

/* ---- The values of another hash table ---- */

/* Return the hash that `hashtable` computes for the value with this code in `part`, another hash table. */
static uint64_t hash_from(const ohf_hashtable *hashtable, const ohf_hashtable *part, int64_t code)
{
    const ohf_engine *engine = hashtable->engine;
    const uint8_t *text;
    uint64_t length;
    if (!part->is_texts)
        return engine->hash_number(hashtable, part->numbers[code]);
    if (!is_long(part->keys[code]))
        return engine->hash_short(hashtable, part->keys[code]);
    if (memcmp(hashtable->seed, part->seed, sizeof part->seed) == 0)
        return part->keys[code].low;
    text = long_text(part, part->keys[code], &length);
    return engine->hash_long(hashtable, text, length);
}

/* Return the code in `hashtable` of the value that has the code `code` in `part`, or a failure. `hash` is the hash
 * that `hashtable` computes for the value. A new value gets a code. */
static int32_t learn_from(ohf_hashtable *hashtable, const ohf_hashtable *part, int64_t code, uint64_t hash)
{
    const uint8_t *text;
    uint64_t length;
    if (!part->is_texts)
        return ohf_learn_number(hashtable, part->numbers[code], hash);
    if (!is_long(part->keys[code]))
        return ohf_learn_short(hashtable, part->keys[code], hash);
    text = long_text(part, part->keys[code], &length);
    return ohf_learn_long(hashtable, text, length, hash);
}

int ohf_merge(ohf_hashtable *hashtable, const ohf_hashtable *part, int64_t begin, int32_t *codes)
{
    const int64_t n_away = hashtable->n_away;     /* `ohf_learn_*` also counts values in their home slots */
    uint64_t hashes[64];
    for (; begin < part->n_codes; begin += 64) {
        const int n = part->n_codes - begin < 64 ? (int)(part->n_codes - begin) : 64, n_seeds = hashtable->n_seeds;
        for (int i = 0; i < n; i++) {
            hashes[i] = hash_from(hashtable, part, begin + i);
            OHF_PREFETCH(&hashtable->slots[hashes[i] >> hashtable->shift]);
        }
        for (int i = 0; i < n; i++) {
            const int32_t code = hashtable->slots[hashes[i] >> hashtable->shift].code;
            if (hashtable->is_texts)
                OHF_PREFETCH(&hashtable->keys[code]);
            else
                OHF_PREFETCH(&hashtable->numbers[code]);
        }
        for (int i = 0; i < n; i++) {
            const uint64_t hash = hashtable->n_seeds == n_seeds ? hashes[i] : hash_from(hashtable, part, begin + i);
            const int32_t code = learn_from(hashtable, part, begin + i, hash);
            if (code < 0)
                return code;
            codes[begin + i] = code;
        }
    }
    hashtable->n_away = n_away;
    return 0;
}

/* ---- The whole hash table ---- */

int ohf_hashtable_open(ohf_hashtable *hashtable, const ohf_engine *engine, int is_texts,
                        const uint64_t *seed, int64_t expected)
{
    unsigned bits = FEWEST_SLOT_BITS;
    ohf_slot *slots;
    while (bits < MOST_SLOT_BITS && ((int64_t)1 << bits) < (bits < SPARSE_SLOT_BITS ? 4 : 2) * expected)
        bits++;
    memset(hashtable, 0, sizeof *hashtable);
    hashtable->engine = engine;
    hashtable->is_texts = is_texts;
    for (int i = 0; i < 8; i++)
        hashtable->seed[i] = seed[i] | 1;
    slots = empty_slots(bits);
    if (slots == NULL)
        return OHF_NO_MEMORY;
    set_slots(hashtable, slots, bits);
    if (reserve_codes(hashtable, expected < 64 ? 64 : expected) != 0) {
        ohf_hashtable_close(hashtable);
        return OHF_NO_MEMORY;
    }
    return 0;
}

void ohf_hashtable_close(ohf_hashtable *hashtable)
{
    free(hashtable->slots);
    free(hashtable->arena);
    if (hashtable->keys != NULL)
        free(hashtable->keys - 1);
    if (hashtable->numbers != NULL)
        free(hashtable->numbers - 1);
    memset(hashtable, 0, sizeof *hashtable);
}

void ohf_hashtable_texts(const ohf_hashtable *hashtable, int64_t *offsets, uint8_t *data)
{
    int64_t used = 0;
    offsets[0] = 0;
    for (int64_t code = 0; code < hashtable->n_codes; code++) {
        const ohf_key key = hashtable->keys[code];
        uint64_t length = key.high >> 56;
        if (is_long(key)) {
            const uint8_t *text = long_text(hashtable, key, &length);
            memcpy(data + used, text, (size_t)length);
        } else {
            for (uint64_t i = 0; i < length; i++)
                data[used + i] = (uint8_t)((i < 8 ? key.low : key.high) >> (8 * (i & 7)));
        }
        used += (int64_t)length;
        offsets[code + 1] = used;
    }
}

#define OHF_ISA_FILE "_categories/hashtable/hashtable.isa.inc"
#define OHF_ISA_SETS (OHF_ISA_PLAIN | OHF_ISA_AES)
#include "_kernels/foreach_isa.inc"

const ohf_engine *ohf_engine_of(const char *variant)
{
#if OHF_X86
    __builtin_cpu_init();
    /* Every processor with AVX2 has instructions for AES, but firmware or a virtual machine can turn them off. */
    if ((strcmp(variant, "avx2") == 0 || strcmp(variant, "avx512") == 0) && __builtin_cpu_supports("aes"))
        return &engine_aes;
#endif
    (void)variant;
    return &engine_plain;
}

uint64_t ohf_hash_text(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length)
{
    ohf_key key;
    if (length > OHF_SHORT)
        return hashtable->engine->hash_long(hashtable, text, length);
    ohf_read_short(text, length, &key.low, &key.high);
    key.high |= length << 56;
    return hashtable->engine->hash_short(hashtable, key);
}

uint64_t ohf_hash_number(const ohf_hashtable *hashtable, uint64_t number)
{
    return hashtable->engine->hash_number(hashtable, number);
}

/* ---- Steps of rows ---- */

void ohf_note(ohf_hashtable *hashtable, int64_t n_rows, int64_t n_ahead)
{
    const unsigned bits = slot_bits(hashtable) + 2;
    hashtable->n_watched += n_rows;
    if (hashtable->n_watched < WATCHED_ROWS)
        return;
    if (hashtable->n_away > MOST_AWAY && bits <= MOST_SPARE_BITS && n_ahead > ((int64_t)1 << bits) / 8)
        (void)resize(hashtable, bits);     /* without memory, the slots stay as they are */
    hashtable->n_watched = hashtable->n_away = 0;
}

/* The body of a function that calls LEARN, a function of the engine, for WATCHED_ROWS rows at a time, and
 * `ohf_note` after each call. */
#define OHF_LEARN(LEARN, SOURCE)                                                       \
    for (; begin < end; begin += WATCHED_ROWS) {                                       \
        const int64_t reach = end - begin < WATCHED_ROWS ? end : begin + WATCHED_ROWS; \
        const int failed = LEARN(hashtable, SOURCE, begin, reach, codes, stopped);     \
        if (failed)                                                                    \
            return failed;                                                             \
        ohf_note(hashtable, reach - begin, end - reach);                               \
    }                                                                                  \
    return 0;

int ohf_learn_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end, int32_t *codes,
                    int64_t *stopped)
{
    OHF_LEARN(hashtable->engine->learn_texts[texts->layout], texts)
}

int ohf_look_up_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped)
{
    return hashtable->engine->look_up_texts[texts->layout](hashtable, texts, begin, end, codes, stopped);
}

int ohf_learn_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped)
{
    OHF_LEARN(hashtable->engine->learn_numbers, numbers)
}

int ohf_look_up_numbers(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                        int32_t *codes, int64_t *stopped)
{
    return hashtable->engine->look_up_numbers(hashtable, numbers, begin, end, codes, stopped);
}
