/* The loops of a hashtable for one instruction set, included by hashtable.c with OHF(name) defined.
 *
 * Learning and looking up are one function with a constant argument. A row at its home slot, the usual case, stays in
 * the loop; all others call a function of hashtable.c. If the table does not fit the second-level cache, blocks of 64
 * rows are hashed, their slots and keys are fetched, and then the rows are looked up in order. */
#include "hashtable_hash.h"

static uint64_t OHF(hash_short)(const ohf_hashtable *hashtable, ohf_key key)
{
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    return OHF(mix)(&view, OHF(key_of_words)(key));
}

static uint64_t OHF(hash_long)(const ohf_hashtable *hashtable, const uint8_t *text, uint64_t length)
{
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    return OHF(mix_long)(&view, text, length);
}

static uint64_t OHF(hash_number)(const ohf_hashtable *hashtable, uint64_t number)
{
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    return OHF(mix_number)(&view, number);
}

/* ---- One row ---- */

enum { OHF(SHORT) = 0, OHF(LONG) = 1 };

/* Any text, wherever it lies. */
OHF_INLINE int OHF(read_text)(const uint8_t *text, uint64_t length, OHF(register) *key, const uint8_t **long_text)
{
    ohf_key words;
    *long_text = text;
    if (length > OHF_SHORT)
        return OHF(LONG);
    ohf_read_short(text, length, &words.low, &words.high);
    words.high |= length << 56;
    *key = OHF(key_of_words)(words);
    return OHF(SHORT);
}

/* Have fetched what lies some rows behind a long text. Servers of Intel read a sequence of texts 2.5 times as fast so. */
OHF_INLINE void OHF(fetch_long)(const uint8_t *text, uint64_t length)
{
    if (length > OHF_SHORT)
        OHF_PREFETCH_AT(text, OHF_FAR_BYTES);
    if (length > 64)
        OHF_PREFETCH_AT(text, OHF_FAR_BYTES + 64);
}

OHF_INLINE int OHF(read_offsets)(const ohf_texts *texts, int64_t i, uint64_t *at, int layout, OHF(register) *key,
                                 const uint8_t **text, uint64_t *length)
{
    const uint64_t from = *at, to = ohf_offset(texts, i + 1, layout);
    *at = to;
    *length = to - from;
    if (i % 8 == 0) {
        OHF_PREFETCH_AT(texts->rows, (layout == OHF_OFFSETS32 ? 4 : 8) * i + OHF_FAR_BYTES);
        OHF_PREFETCH_AT(texts->data, from + OHF_FAR_BYTES / 2);
    }
    if (OHF_LIKELY(*length <= OHF_SHORT && from < texts->last_of_16)) {
        *key = OHF(key_before)(texts->data + from, *length);
        return OHF(SHORT);
    }
    if (from > to || to > texts->limit)
        return OHF_MALFORMED;
    OHF(fetch_long)(texts->data + from, *length);
    return OHF(read_text)(texts->data + from, *length, key, text);
}

OHF_INLINE int OHF(read_view)(const ohf_texts *texts, int64_t i, OHF(register) *key, const uint8_t **text,
                              uint64_t *length)
{
    const uint8_t *view = (const uint8_t *)texts->rows + 16 * i;
    uint32_t buffer, offset;
    *length = ohf_view_word(view, 0);
    if (i % 4 == 0)
        OHF_PREFETCH_AT(view, OHF_FAR_BYTES);
    if (OHF_LIKELY(*length <= 12)) {
        *key = OHF(key_of_view)(view, *length);
        return OHF(SHORT);
    }
    buffer = ohf_view_word(view, 2);
    offset = ohf_view_word(view, 3);
    if (buffer >= (uint64_t)texts->n_buffers || offset + *length > (uint64_t)texts->sizes[buffer])
        return OHF_MALFORMED;
    OHF(fetch_long)(texts->buffers[buffer] + offset, *length);
    return OHF(read_text)(texts->buffers[buffer] + offset, *length, key, text);
}

OHF_INLINE int OHF(read_pointer)(const ohf_texts *texts, int64_t i, int layout, OHF(register) *key,
                                 const uint8_t **text, uint64_t *length)
{
    const uint8_t *from = ((const uint8_t *const *)texts->rows)[i];
    *length = (uint64_t)texts->lengths[i];
    if (layout == OHF_BEHIND && OHF_LIKELY(*length <= OHF_SHORT)) {
        *key = OHF(key_behind)(from, *length);
        return OHF(SHORT);
    }
    return (int64_t)*length < 0 ? OHF_MISSING : OHF(read_text)(from, *length, key, text);
}

OHF_INLINE int OHF(read_padded)(const ohf_texts *texts, int64_t i, OHF(register) *key, const uint8_t **text,
                                uint64_t *length)
{
    const uint8_t *from = (const uint8_t *)texts->rows + i * texts->width;
    *length = (uint64_t)texts->width;
    OHF_PREFETCH_AT(from, OHF_FAR_BYTES);
    while (*length > 0 && from[*length - 1] == 0)
        --*length;
    return OHF(read_text)(from, *length, key, text);
}

/* Row i: OHF(SHORT) and its key, OHF(LONG) and its text, OHF_MISSING or OHF_MALFORMED. `at` is the offset where the
 * row begins, and becomes the one of the next. */
OHF_INLINE int OHF(read_row)(const ohf_texts *texts, int64_t i, uint64_t *at, int layout, OHF(register) *key,
                             const uint8_t **text, uint64_t *length)
{
    if (layout == OHF_OFFSETS32 || layout == OHF_OFFSETS64)
        return OHF(read_offsets)(texts, i, at, layout, key, text, length);
    if (layout == OHF_VIEWS)
        return OHF(read_view)(texts, i, key, text, length);
    if (layout == OHF_BYTES_S)
        return OHF(read_padded)(texts, i, key, text, length);
    return OHF(read_pointer)(texts, i, layout, key, text, length);
}

/* The code of a short text that is not at its home slot. */
OHF_INLINE int32_t OHF(other_short)(ohf_hashtable *hashtable, OHF(register) key, uint64_t hash, int learn)
{
    const ohf_key words = OHF(words_of_key)(key);
    return learn ? ohf_learn_short(hashtable, words, hash) : ohf_find_short(hashtable, words, hash);
}

/* The same of a long one. */
OHF_INLINE int32_t OHF(other_long)(ohf_hashtable *hashtable, const uint8_t *text, uint64_t length, uint64_t hash,
                                   int learn)
{
    return learn ? ohf_learn_long(hashtable, text, length, hash) : ohf_find_long(hashtable, text, length, hash);
}

/* ---- Texts ---- */

/* Up to 64 rows, one after the other: the table is in the caches. Returns as ohf_code_texts. */
OHF_INLINE int OHF(near_texts)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                               uint64_t valid, uint64_t *at, int32_t *codes, int64_t *stopped, int layout, int learn,
                               int has_nulls)
{
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    for (int64_t i = begin; i < end; i++) {
        OHF(register) key;
        const uint8_t *text;
        uint64_t length, hash;
        int32_t code;
        int kind;
        if (has_nulls && !(valid >> (i - begin) & 1)) {
            *at = ohf_offset(texts, i + 1, layout);
            codes[i] = OHF_MISSING;
            continue;
        }
        kind = OHF(read_row)(texts, i, at, layout, &key, &text, &length);
        if (OHF_LIKELY(kind == OHF(SHORT))) {
            hash = OHF(mix)(&view, key);
            codes[i] = code = view.slots[hash >> view.shift].code;
            if (OHF_LIKELY(OHF(same)(view.keys + code, key)))
                continue;
            code = OHF(other_short)(hashtable, key, hash, learn);
        } else if (kind == OHF(LONG)) {
            hash = OHF(mix_long)(&view, text, length);
            codes[i] = code = view.slots[hash >> view.shift].code;
            if (OHF_LIKELY(OHF(same_long)(&view, code, text, length, hash)))
                continue;
            code = OHF(other_long)(hashtable, text, length, hash, learn);
        } else {
            code = kind;
        }
        codes[i] = code;
        if (code < OHF_UNKNOWN) {
            *stopped = i;
            return code;
        }
        if (learn)
            OHF(look_at)(&view, hashtable);
    }
    return 0;
}

/* Up to 64 rows, their slots and keys fetched together: the table is not in the caches. */
OHF_INLINE int OHF(far_texts)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                              uint64_t valid, uint64_t *at, int32_t *codes, int64_t *stopped, int layout, int learn)
{
    OHF(register) keys[64];
    const uint8_t *long_texts[64];
    uint64_t hashes[64], lengths[64];
    int32_t kinds[64];
    const int n = (int)(end - begin), n_seeds = hashtable->n_seeds;
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    for (int i = 0; i < n; i++) {
        kinds[i] = OHF_MISSING;
        if (valid >> i & 1)
            kinds[i] = OHF(read_row)(texts, begin + i, at, layout, &keys[i], &long_texts[i], &lengths[i]);
        else
            *at = ohf_offset(texts, begin + i + 1, layout);
        if (kinds[i] < 0)
            continue;
        hashes[i] = kinds[i] == OHF(SHORT) ? OHF(mix)(&view, keys[i])
                                           : OHF(mix_long)(&view, long_texts[i], lengths[i]);
        OHF_PREFETCH(&view.slots[hashes[i] >> view.shift]);
    }
    for (int i = 0; i < n; i++)
        if (kinds[i] >= 0)
            OHF_PREFETCH(&view.keys[view.slots[hashes[i] >> view.shift].code]);
    for (int i = 0; i < n; i++)
        if (kinds[i] == OHF(LONG)) {
            const ohf_key key = view.keys[view.slots[hashes[i] >> view.shift].code];
            if (key.high >> 56 == OHF_LONG_KEY >> 56)
                OHF_PREFETCH(view.arena + (key.high & ~OHF_LONG_KEY));
        }
    for (int i = 0; i < n; i++) {
        int32_t code = kinds[i];
        int is_home = 1;
        if (code >= 0) {
            const int kind = code;
            if (learn && hashtable->n_seeds != n_seeds)
                hashes[i] = kind == OHF(SHORT) ? OHF(mix)(&view, keys[i])
                                               : OHF(mix_long)(&view, long_texts[i], lengths[i]);
            code = view.slots[hashes[i] >> view.shift].code;
            is_home = kind == OHF(SHORT) ? OHF(same)(view.keys + code, keys[i])
                                         : OHF(same_long)(&view, code, long_texts[i], lengths[i], hashes[i]);
            if (!is_home)
                code = kind == OHF(SHORT)
                           ? OHF(other_short)(hashtable, keys[i], hashes[i], learn)
                           : OHF(other_long)(hashtable, long_texts[i], lengths[i], hashes[i], learn);
        }
        codes[begin + i] = code;
        if (!OHF_LIKELY(code >= OHF_UNKNOWN)) {
            *stopped = begin + i;
            return code;
        }
        if (learn && !is_home)
            OHF(look_at)(&view, hashtable);
    }
    return 0;
}

OHF_INLINE int OHF(code_texts)(ohf_hashtable *hashtable, const ohf_texts *given, int64_t begin, int64_t end,
                               int32_t *codes, int64_t *stopped, int layout, int learn)
{
    const ohf_texts texts = *given;     /* which no store to the codes can change */
    uint64_t at = begin < end ? ohf_offset(&texts, begin, layout) : 0;
    for (int64_t done = begin; done < end; done += 64) {
        const int64_t reach = end - done < 64 ? end : done + 64;
        uint64_t valid = ~(uint64_t)0;
        int failed;
        if (texts.bits != NULL)
            valid = ohf_valid_rows(texts.bits, texts.bits_begin + done, reach - done);
        if (hashtable->n_codes >= OHF_FAR_CODES)
            failed = OHF(far_texts)(hashtable, &texts, done, reach, valid, &at, codes, stopped, layout, learn);
        else if (texts.bits == NULL || valid == ~(uint64_t)0)
            failed = OHF(near_texts)(hashtable, &texts, done, reach, valid, &at, codes, stopped, layout, learn, 0);
        else
            failed = OHF(near_texts)(hashtable, &texts, done, reach, valid, &at, codes, stopped, layout, learn, 1);
        if (failed)
            return failed;
    }
    return 0;
}

/* Characters of four bytes, in blocks of UTF-8. */
static int OHF(code_wide)(ohf_hashtable *hashtable, const ohf_texts *wide, int64_t begin, int64_t end,
                          int32_t *codes, int64_t *stopped, int learn)
{
    ohf_wide_block *const block = ohf_take_workspace(sizeof *block);
    ohf_texts texts;
    int failed;
    if (block == NULL)
        return OHF_NO_MEMORY;
    failed = ohf_open_wide(block, wide->width);
    memset(&texts, 0, sizeof texts);
    texts.rows = block->texts;
    texts.lengths = block->lengths;
    while (begin < end && !failed) {
        const int64_t count = end - begin < block->most_rows ? end - begin : block->most_rows;
        const int64_t bad = ohf_read_wide(block, (const uint32_t *)wide->rows + begin * wide->width, count,
                                          wide->width);
        failed = OHF(code_texts)(hashtable, &texts, 0, bad < 0 ? count : bad, codes + begin, stopped, OHF_BEHIND,
                                 learn);
        *stopped += begin;
        if (!failed && bad >= 0) {
            failed = OHF_OUTSIDE;
            *stopped = begin + bad;
        }
        begin += count;
    }
    ohf_close_wide(block);
    ohf_give_workspace(block, sizeof *block);
    return failed;
}

#define OHF_LAYOUT(LAYOUT)                                                                              \
    static int OHF(learn_##LAYOUT)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin,   \
                                   int64_t end, int32_t *codes, int64_t *stopped)                       \
    {                                                                                                   \
        return OHF(code_texts)(hashtable, texts, begin, end, codes, stopped, LAYOUT, 1);               \
    }                                                                                                   \
    static int OHF(look_up_##LAYOUT)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, \
                                     int64_t end, int32_t *codes, int64_t *stopped)                     \
    {                                                                                                   \
        return OHF(code_texts)(hashtable, texts, begin, end, codes, stopped, LAYOUT, 0);               \
    }

OHF_LAYOUT(OHF_OFFSETS32)
OHF_LAYOUT(OHF_OFFSETS64)
OHF_LAYOUT(OHF_VIEWS)
OHF_LAYOUT(OHF_POINTERS)
OHF_LAYOUT(OHF_BEHIND)
OHF_LAYOUT(OHF_BYTES_S)
#undef OHF_LAYOUT

static int OHF(learn_OHF_UCS4)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                               int32_t *codes, int64_t *stopped)
{
    return OHF(code_wide)(hashtable, texts, begin, end, codes, stopped, 1);
}

static int OHF(look_up_OHF_UCS4)(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                                 int32_t *codes, int64_t *stopped)
{
    return OHF(code_wide)(hashtable, texts, begin, end, codes, stopped, 0);
}

/* ---- Numbers ---- */

/* The code of a number; the view is loaded anew where it may have changed. */
OHF_INLINE int32_t OHF(code_of_number)(ohf_hashtable *hashtable, OHF(view) *view, uint64_t number, uint64_t hash,
                                       int learn)
{
    int32_t code = view->slots[hash >> view->shift].code;
    if (OHF_LIKELY((view->numbers[code] == number) & (code >= 0)))
        return code;
    if (!learn)
        return ohf_find_number(hashtable, number, hash);
    code = ohf_learn_number(hashtable, number, hash);
    OHF(look_at)(view, hashtable);
    return code;
}

/* A block of numbers that are all ordinary, as in far_texts. */
OHF_INLINE int64_t OHF(far_numbers)(ohf_hashtable *hashtable, const uint64_t *numbers, int64_t n, int32_t *codes,
                                    int learn)
{
    uint64_t hashes[OHF_NUMBERS_BLOCK];
    const int n_seeds = hashtable->n_seeds;
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    for (int64_t i = 0; i < n; i++) {
        hashes[i] = OHF(mix_number)(&view, numbers[i]);
        OHF_PREFETCH(&view.slots[hashes[i] >> view.shift]);
    }
    for (int64_t i = 0; i < n; i++)
        OHF_PREFETCH(&view.numbers[view.slots[hashes[i] >> view.shift].code]);
    for (int64_t i = 0; i < n; i++) {
        if (learn && hashtable->n_seeds != n_seeds)
            hashes[i] = OHF(mix_number)(&view, numbers[i]);
        codes[i] = OHF(code_of_number)(hashtable, &view, numbers[i], hashes[i], learn);
        if (!OHF_LIKELY(codes[i] >= OHF_UNKNOWN))
            return i;
    }
    return n;
}

/* A block of numbers of which some may be special; returns how many have a code, or are missing or unknown. */
OHF_INLINE int64_t OHF(near_numbers)(ohf_hashtable *hashtable, const uint64_t *numbers, const uint8_t *special,
                                     int64_t n, int32_t *codes, int learn)
{
    OHF(view) view;
    OHF(look_at)(&view, hashtable);
    for (int64_t i = 0; i < n; i++) {
        if (special != NULL && special[i])
            codes[i] = special[i] == OHF_IS_MISSING ? OHF_MISSING : learn ? OHF_OUTSIDE : OHF_UNKNOWN;
        else
            codes[i] = OHF(code_of_number)(hashtable, &view, numbers[i], OHF(mix_number)(&view, numbers[i]), learn);
        if (!OHF_LIKELY(codes[i] >= OHF_UNKNOWN))
            return i;
    }
    return n;
}

OHF_INLINE int OHF(code_numbers)(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                                 int32_t *codes, int64_t *stopped, int learn)
{
    uint64_t patterns[OHF_NUMBERS_BLOCK];
    uint8_t special[OHF_NUMBERS_BLOCK];
    const int is_plain = numbers->bits == NULL && !numbers->has_nat && numbers->kind == numbers->into
                         && numbers->into != OHF_F64;
    const int is_wide = numbers->kind == OHF_I64 || numbers->kind == OHF_U64 || numbers->kind == OHF_F64;
    for (int64_t done = begin; done < end; done += OHF_NUMBERS_BLOCK) {
        const int64_t n = end - done < OHF_NUMBERS_BLOCK ? end - done : OHF_NUMBERS_BLOCK;
        const uint64_t *block = patterns;
        int any_special = 0;
        int64_t coded;
        for (int64_t row = done + n; is_wide && row < done + 2 * n; row += 8)   /* the next block, line by line */
            OHF_PREFETCH_AT(numbers->rows, 8 * row);
        if (is_plain && !learn)
            block = (const uint64_t *)numbers->rows + done;
        else if (is_plain)  /* copied: what is hashed and entered must be one number */
            memcpy(patterns, (const uint64_t *)numbers->rows + done, (size_t)n * sizeof *patterns);
        else
            any_special = ohf_read_numbers(numbers, done, n, patterns, special);
        if (any_special)
            coded = OHF(near_numbers)(hashtable, patterns, special, n, codes + done, learn);
        else if (hashtable->n_codes >= OHF_FAR_CODES)
            coded = OHF(far_numbers)(hashtable, block, n, codes + done, learn);
        else
            coded = OHF(near_numbers)(hashtable, block, NULL, n, codes + done, learn);
        if (coded < n) {
            *stopped = done + coded;
            return codes[done + coded];
        }
    }
    return 0;
}

static int OHF(learn_numbers)(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin, int64_t end,
                              int32_t *codes, int64_t *stopped)
{
    return OHF(code_numbers)(hashtable, numbers, begin, end, codes, stopped, 1);
}

static int OHF(look_up_numbers)(ohf_hashtable *hashtable, const ohf_numbers *numbers, int64_t begin,
                                int64_t end, int32_t *codes, int64_t *stopped)
{
    return OHF(code_numbers)(hashtable, numbers, begin, end, codes, stopped, 0);
}

static const ohf_engine OHF(engine) = {
    OHF_NAME,
    {OHF(learn_OHF_OFFSETS32), OHF(learn_OHF_OFFSETS64), OHF(learn_OHF_VIEWS), OHF(learn_OHF_POINTERS),
     OHF(learn_OHF_BEHIND), OHF(learn_OHF_BYTES_S), OHF(learn_OHF_UCS4)},
    {OHF(look_up_OHF_OFFSETS32), OHF(look_up_OHF_OFFSETS64), OHF(look_up_OHF_VIEWS), OHF(look_up_OHF_POINTERS),
     OHF(look_up_OHF_BEHIND), OHF(look_up_OHF_BYTES_S), OHF(look_up_OHF_UCS4)},
    OHF(learn_numbers),
    OHF(look_up_numbers),
    OHF(hash_short),
    OHF(hash_long),
    OHF(hash_number),
};
