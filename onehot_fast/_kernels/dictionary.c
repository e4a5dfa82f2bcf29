/* The table of a dictionary, and its loops compiled once per instruction set. */
#include "dictionary.h"
#include "microkernels.h"
#include "once.h"
#include "workspace.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#  define OHF_INLINE static inline __attribute__((always_inline))
#  define OHF_NOINLINE __attribute__((noinline))
#  define OHF_LIKELY(x) __builtin_expect(!!(x), 1)
#else
#  define OHF_INLINE static __inline
#  define OHF_NOINLINE
#  define OHF_LIKELY(x) (x)
#  define restrict __restrict
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#  include <immintrin.h>
#  define OHF_HAS_AES 1
#else
#  define OHF_HAS_AES 0
#endif

enum {
    FEWEST_SLOT_BITS = 10,
    SPARSE_SLOT_BITS = 16,    /* below, a quarter of the slots may be taken: most keys are at home */
    QUICK_SLOT_BITS = 18,     /* below, a table grows fourfold */
    OHF_FAR_BYTES = 2048,     /* so far ahead are rows fetched that are read one after the other */
    OHF_FAR_CODES = 6000,     /* from here on slots and keys are fetched ahead: 64 + 16 bytes each */
    WATCHED_ROWS = 4096,      /* between two looks at how many keys are away from home */
    MOST_AWAY = WATCHED_ROWS / 64,
    MOST_SPARE_BITS = 17,     /* a table that grows for this alone ends here: 1 MiB */
    MOST_SLOT_BITS = 32,
    LONGEST_PROBE = 128,      /* a random hash never needs as many at half load: then a new seed is drawn */
    MOST_SEEDS = 8
};

/* Eight bytes, the first one lowest, on any machine. */
OHF_INLINE uint64_t ohf_read64(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

OHF_INLINE uint32_t ohf_read32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static unsigned slot_bits(const ohf_dictionary *dictionary)
{
    return 64 - dictionary->shift;
}

static size_t n_slots(const ohf_dictionary *dictionary)
{
    return (size_t)1 << slot_bits(dictionary);
}

/* The bytes of a long text, and its length. */
static const uint8_t *long_text(const ohf_dictionary *dictionary, ohf_key key, uint64_t *length)
{
    const uint8_t *entry = dictionary->arena + (key.high & ~OHF_LONG_KEY);
    memcpy(length, entry, sizeof *length);
    return entry + sizeof *length;
}

static int is_long(ohf_key key)
{
    return key.high >> 56 == OHF_LONG_KEY >> 56;
}

/* ---- Memory ---- */

/* Room for `room` elements and one in front of them; NULL where there is no memory, and then all is as before. */
static void *reserve(void *elements, int64_t room, size_t width)
{
    char *made;
    if ((uint64_t)room > SIZE_MAX / width - 1)
        return NULL;
    made = realloc(elements == NULL ? NULL : (char *)elements - width, ((size_t)room + 1) * width);
    return made == NULL ? NULL : made + width;
}

/* Room for the keys of `room` codes. */
static int reserve_codes(ohf_dictionary *dictionary, int64_t room)
{
    if (dictionary->is_texts) {
        ohf_key *keys = reserve(dictionary->keys, room, sizeof *keys);
        if (keys == NULL)
            return OHF_NO_MEMORY;
        keys[-1].low = 0;
        keys[-1].high = OHF_NO_KEY;
        dictionary->keys = keys;
    } else {
        uint64_t *numbers = reserve(dictionary->numbers, room, sizeof *numbers);
        if (numbers == NULL)
            return OHF_NO_MEMORY;
        numbers[-1] = 0;
        dictionary->numbers = numbers;
    }
    dictionary->room = room;
    return 0;
}

/* Put the arena in a place with room for `needed` more bytes. */
static int reserve_arena(ohf_dictionary *dictionary, uint64_t needed)
{
    size_t room = dictionary->arena_room;
    uint8_t *made;
    if (room - dictionary->arena_used >= needed)
        return 0;
    if (needed > SIZE_MAX / 4 - dictionary->arena_used)
        return OHF_NO_MEMORY;
    room = room + room / 2;
    if (room < dictionary->arena_used + needed + 1024)
        room = dictionary->arena_used + (size_t)needed + 1024;
    made = realloc(dictionary->arena, room);
    if (made == NULL)
        return OHF_NO_MEMORY;
    dictionary->arena = made;
    dictionary->arena_room = room;
    return 0;
}

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

static void take_slots(ohf_dictionary *dictionary, ohf_slot *slots, unsigned bits)
{
    dictionary->slots = slots;
    dictionary->shift = 64 - bits;
    dictionary->must_grow = (int64_t)1 << (bits < SPARSE_SLOT_BITS ? bits - 2 : bits - 1);
}

/* ---- The table ---- */

static uint64_t hash_of_code(const ohf_dictionary *dictionary, int64_t code)
{
    const ohf_engine *engine = dictionary->engine;
    if (!dictionary->is_texts)
        return engine->hash_number(dictionary, dictionary->numbers[code]);
    if (is_long(dictionary->keys[code]))
        return dictionary->keys[code].low;
    return engine->hash_short(dictionary, dictionary->keys[code]);
}

/* Enter a code that is not in the table; returns how many slots were looked at. */
static size_t enter(ohf_slot *slots, unsigned bits, ohf_slot slot)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t place = (size_t)(slot.tag >> (32 - bits)), looked_at = 1;
    for (; slots[place].code >= 0; looked_at++)
        place = (place + 1) & mask;
    slots[place] = slot;
    return looked_at;
}

/* A table of 2**bits slots with the same codes: in order of their homes, so that both are walked through in order. */
static int resize(ohf_dictionary *dictionary, unsigned bits)
{
    const size_t n = n_slots(dictionary);
    ohf_slot *slots = empty_slots(bits);
    if (slots == NULL)
        return OHF_NO_MEMORY;
    for (size_t place = 0; place < n; place++)
        if (dictionary->slots[place].code >= 0)
            enter(slots, bits, dictionary->slots[place]);
    free(dictionary->slots);
    take_slots(dictionary, slots, bits);
    return 0;
}

static ohf_slot slot_of(uint64_t hash, int64_t code)
{
    ohf_slot slot;
    slot.code = (int32_t)code;
    slot.tag = (uint32_t)(hash >> 32);
    return slot;
}

/* Derive a new seed from the old one: it cannot be guessed without the old one. */
static void reseed(ohf_dictionary *dictionary)
{
    uint64_t state = dictionary->seed[0] ^ dictionary->seed[5];
    dictionary->n_seeds++;
    for (int i = 0; i < 8; i++) {       /* splitmix64 (Steele, Lea and Flood 2014) */
        uint64_t mixed = state += 0x9E3779B97F4A7C15u + dictionary->seed[i];
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        dictionary->seed[i] = (mixed ^ mixed >> 31) | 1;
    }
    if (dictionary->is_texts)
        for (int64_t code = 0; code < dictionary->n_codes; code++) {
            ohf_key *key = &dictionary->keys[code];
            if (is_long(*key)) {
                uint64_t length;
                const uint8_t *text = long_text(dictionary, *key, &length);
                key->low = dictionary->engine->hash_long(dictionary, text, length);
            }
        }
    memset(dictionary->slots, 0xFF, n_slots(dictionary) * sizeof *dictionary->slots);
    for (int64_t code = 0; code < dictionary->n_codes; code++)
        enter(dictionary->slots, slot_bits(dictionary), slot_of(hash_of_code(dictionary, code), code));
}

/* Make room for one more code; the caller writes its key. */
static int prepare(ohf_dictionary *dictionary)
{
    const unsigned bits = slot_bits(dictionary);
    if (dictionary->n_codes >= INT32_MAX)
        return OHF_TOO_MANY;
    if (dictionary->n_codes == dictionary->room && reserve_codes(dictionary, dictionary->room * 2) != 0)
        return OHF_NO_MEMORY;
    if (dictionary->n_codes >= dictionary->must_grow)
        return resize(dictionary, bits < QUICK_SLOT_BITS ? bits + 2 : bits + 1);
    return 0;
}

/* Enter the newest code, whose key is written. */
static int32_t finish(ohf_dictionary *dictionary, uint64_t hash)
{
    const int32_t code = (int32_t)dictionary->n_codes++;
    if (enter(dictionary->slots, slot_bits(dictionary), slot_of(hash, code)) > LONGEST_PROBE
        && dictionary->n_seeds < MOST_SEEDS)
        reseed(dictionary);
    return code;
}

/* Look for a key from its home slot on. SAME says whether the code of a slot with the same tag is it. */
#define OHF_FIND(SAME)                                                              \
    const size_t mask = n_slots(dictionary) - 1;                                    \
    size_t place = (size_t)(hash >> dictionary->shift);                             \
    for (;; place = (place + 1) & mask) {                                           \
        const ohf_slot slot = dictionary->slots[place];                             \
        if (slot.code < 0)                                                          \
            return OHF_UNKNOWN;                                                     \
        if (slot.tag == (uint32_t)(hash >> 32) && (SAME))                                   \
            return slot.code;                                                       \
    }

int32_t ohf_find_number(const ohf_dictionary *dictionary, uint64_t number, uint64_t hash)
{
    OHF_FIND(dictionary->numbers[slot.code] == number)
}

int32_t ohf_find_short(const ohf_dictionary *dictionary, ohf_key key, uint64_t hash)
{
    OHF_FIND(dictionary->keys[slot.code].low == key.low && dictionary->keys[slot.code].high == key.high)
}

static int same_long(const ohf_dictionary *dictionary, ohf_key key, const uint8_t *text, uint64_t length,
                     uint64_t hash)
{
    uint64_t known_length;
    const uint8_t *known;
    if (key.low != hash || !is_long(key))
        return 0;
    known = long_text(dictionary, key, &known_length);
    return known_length == length && memcmp(known, text, (size_t)length) == 0;
}

int32_t ohf_find_long(const ohf_dictionary *dictionary, const uint8_t *text, uint64_t length, uint64_t hash)
{
    OHF_FIND(same_long(dictionary, dictionary->keys[slot.code], text, length, hash))
}

int32_t ohf_learn_number(ohf_dictionary *dictionary, uint64_t number, uint64_t hash)
{
    const int32_t known = ohf_find_number(dictionary, number, hash);
    int failed;
    if (known >= 0) {
        dictionary->n_away++;
        return known;
    }
    if ((failed = prepare(dictionary)) != 0)
        return failed;
    dictionary->numbers[dictionary->n_codes] = number;
    return finish(dictionary, hash);
}

int32_t ohf_learn_short(ohf_dictionary *dictionary, ohf_key key, uint64_t hash)
{
    const int32_t known = ohf_find_short(dictionary, key, hash);
    int failed;
    if (known >= 0) {
        dictionary->n_away++;
        return known;
    }
    if ((failed = prepare(dictionary)) != 0)
        return failed;
    dictionary->keys[dictionary->n_codes] = key;
    dictionary->n_short_bytes += (int64_t)(key.high >> 56);
    return finish(dictionary, hash);
}

int32_t ohf_learn_long(ohf_dictionary *dictionary, const uint8_t *text, uint64_t length, uint64_t hash)
{
    const int32_t known = ohf_find_long(dictionary, text, length, hash);
    const uint64_t padded = (length + 7) & ~(uint64_t)7;
    ohf_key *key;
    uint8_t *entry;
    int failed;
    if (known >= 0) {
        dictionary->n_away++;
        return known;
    }
    if ((failed = prepare(dictionary)) != 0)
        return failed;
    if (reserve_arena(dictionary, sizeof length + padded) != 0)
        return OHF_NO_MEMORY;
    entry = dictionary->arena + dictionary->arena_used;
    memcpy(entry, &length, sizeof length);
    memcpy(entry + sizeof length, text, (size_t)length);
    key = &dictionary->keys[dictionary->n_codes];
    key->low = hash;
    key->high = OHF_LONG_KEY | dictionary->arena_used;
    dictionary->arena_used += sizeof length + (size_t)padded;
    dictionary->n_long_bytes += (int64_t)length;
    return finish(dictionary, hash);
}

/* ---- The whole ---- */

int ohf_dictionary_open(ohf_dictionary *dictionary, const ohf_engine *engine, int is_texts,
                        const uint64_t *seed, int64_t expected)
{
    unsigned bits = FEWEST_SLOT_BITS;
    ohf_slot *slots;
    while (bits < MOST_SLOT_BITS && ((int64_t)1 << bits) < (bits < SPARSE_SLOT_BITS ? 4 : 2) * expected)
        bits++;
    memset(dictionary, 0, sizeof *dictionary);
    dictionary->engine = engine;
    dictionary->is_texts = is_texts;
    for (int i = 0; i < 8; i++)
        dictionary->seed[i] = seed[i] | 1;
    slots = empty_slots(bits);
    if (slots == NULL)
        return OHF_NO_MEMORY;
    take_slots(dictionary, slots, bits);
    if (reserve_codes(dictionary, expected < 64 ? 64 : expected) != 0) {
        ohf_dictionary_close(dictionary);
        return OHF_NO_MEMORY;
    }
    return 0;
}

void ohf_dictionary_close(ohf_dictionary *dictionary)
{
    free(dictionary->slots);
    free(dictionary->arena);
    if (dictionary->keys != NULL)
        free(dictionary->keys - 1);
    if (dictionary->numbers != NULL)
        free(dictionary->numbers - 1);
    memset(dictionary, 0, sizeof *dictionary);
}

void ohf_dictionary_texts(const ohf_dictionary *dictionary, int64_t *offsets, uint8_t *data)
{
    int64_t used = 0;
    offsets[0] = 0;
    for (int64_t code = 0; code < dictionary->n_codes; code++) {
        const ohf_key key = dictionary->keys[code];
        uint64_t length = key.high >> 56;
        if (is_long(key)) {
            const uint8_t *text = long_text(dictionary, key, &length);
            memcpy(data + used, text, (size_t)length);
        } else {
            for (uint64_t i = 0; i < length; i++)
                data[used + i] = (uint8_t)((i < 8 ? key.low : key.high) >> (8 * (i & 7)));
        }
        used += (int64_t)length;
        offsets[code + 1] = used;
    }
}

#include "dictionary_rows.h"

#define OHF_AES 0
#define OHF_NAME "plain"
#define OHF(name) name##_plain
#include "dictionary_body.h"
#undef OHF_AES
#undef OHF_NAME
#undef OHF

#if OHF_HAS_AES
#ifdef __clang__
#  pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,aes"))), apply_to = function)
#else
#  pragma GCC push_options
#  pragma GCC target("avx2,bmi,bmi2,aes")
#endif
#define OHF_AES 1
#define OHF_NAME "aes"
#define OHF(name) name##_aes
#include "dictionary_body.h"
#undef OHF_AES
#undef OHF_NAME
#undef OHF
#ifdef __clang__
#  pragma clang attribute pop
#else
#  pragma GCC pop_options
#endif
#endif

/* The engine that goes with a variant of the microkernels: AVX2 and AVX-512 processors have AES, but it can be off. */
const ohf_engine *ohf_engine_of(const char *variant)
{
#if OHF_HAS_AES
    __builtin_cpu_init();
    if ((strcmp(variant, "avx2") == 0 || strcmp(variant, "avx512") == 0) && __builtin_cpu_supports("aes"))
        return &engine_aes;
#endif
    (void)variant;
    return &engine_plain;
}

uint64_t ohf_hash_text(const ohf_dictionary *dictionary, const uint8_t *text, uint64_t length)
{
    ohf_key key;
    if (length > OHF_SHORT)
        return dictionary->engine->hash_long(dictionary, text, length);
    ohf_read_short(text, length, &key.low, &key.high);
    key.high |= length << 56;
    return dictionary->engine->hash_short(dictionary, key);
}

uint64_t ohf_hash_number(const ohf_dictionary *dictionary, uint64_t number)
{
    return dictionary->engine->hash_number(dictionary, number);
}

/* ---- Steps of rows ---- */

void ohf_note(ohf_dictionary *dictionary, int64_t n_rows, int64_t n_ahead)
{
    const unsigned bits = slot_bits(dictionary) + 2;
    dictionary->n_watched += n_rows;
    if (dictionary->n_watched < WATCHED_ROWS)
        return;
    if (dictionary->n_away > MOST_AWAY && bits <= MOST_SPARE_BITS && n_ahead > ((int64_t)1 << bits) / 8)
        (void)resize(dictionary, bits);     /* without memory for it all stays as it is */
    dictionary->n_watched = dictionary->n_away = 0;
}

/* Run LEARN over steps of rows. */
#define OHF_LEARN(LEARN, SOURCE)                                                                        \
    for (; begin < end; begin += WATCHED_ROWS) {                                                        \
        const int64_t reach = end - begin < WATCHED_ROWS ? end : begin + WATCHED_ROWS;                  \
        const int failed = LEARN(dictionary, SOURCE, begin, reach, codes, stopped);                     \
        if (failed)                                                                                     \
            return failed;                                                                              \
        ohf_note(dictionary, reach - begin, end - reach);                                               \
    }                                                                                                   \
    return 0;

int ohf_learn_texts(ohf_dictionary *dictionary, const ohf_texts *texts, int64_t begin, int64_t end, int32_t *codes,
                    int64_t *stopped)
{
    OHF_LEARN(dictionary->engine->learn_texts[texts->layout], texts)
}

int ohf_look_up_texts(ohf_dictionary *dictionary, const ohf_texts *texts, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped)
{
    return dictionary->engine->look_up_texts[texts->layout](dictionary, texts, begin, end, codes, stopped);
}

int ohf_learn_numbers(ohf_dictionary *dictionary, const ohf_numbers *numbers, int64_t begin, int64_t end,
                      int32_t *codes, int64_t *stopped)
{
    OHF_LEARN(dictionary->engine->learn_numbers, numbers)
}

int ohf_look_up_numbers(ohf_dictionary *dictionary, const ohf_numbers *numbers, int64_t begin, int64_t end,
                        int32_t *codes, int64_t *stopped)
{
    return dictionary->engine->look_up_numbers(dictionary, numbers, begin, end, codes, stopped);
}
