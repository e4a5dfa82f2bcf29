/* Keys and hashes of one instruction set, included by hashtable_body.h: AES rounds where OHF_AES is 1, else 64-bit
 * products. Every byte of a text counts, and every difference meets two rounds or a product with a secret.
 */

/* Fields of a hashtable that loops keep in registers; loaded again after a change. */
typedef struct {
    const ohf_slot *slots;
    const ohf_key *keys;
    const uint64_t *numbers;
    const uint8_t *arena;
    unsigned shift;
#if OHF_AES
    __m128i seed0, seed1, seed2;
#else
    uint64_t seed0, seed1, seed2, seed3, seed4;
#endif
    uint64_t number_seed0, number_seed1;
} OHF(view);

OHF_INLINE void OHF(look_at)(OHF(view) *view, const ohf_hashtable *hashtable)
{
    view->slots = hashtable->slots;
    view->keys = hashtable->keys;
    view->numbers = hashtable->numbers;
    view->arena = hashtable->arena;
    view->shift = hashtable->shift;
#if OHF_AES
    view->seed0 = _mm_loadu_si128((const __m128i *)hashtable->seed);
    view->seed1 = _mm_loadu_si128((const __m128i *)hashtable->seed + 1);
    view->seed2 = _mm_loadu_si128((const __m128i *)hashtable->seed + 2);
#else
    view->seed0 = hashtable->seed[0];
    view->seed1 = hashtable->seed[1];
    view->seed2 = hashtable->seed[2];
    view->seed3 = hashtable->seed[3];
    view->seed4 = hashtable->seed[4];
#endif
    view->number_seed0 = hashtable->seed[6];
    view->number_seed1 = hashtable->seed[7];
}

/* The two halves of a 128-bit product, folded. */
OHF_INLINE uint64_t OHF(fold)(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    return (other << 32 | (uint32_t)low) ^ (a1 * b1 + (middle >> 32) + (other >> 32));
#endif
}

OHF_INLINE uint64_t OHF(mix_number)(const OHF(view) *view, uint64_t number)
{
    return OHF(fold)(number ^ view->number_seed0, view->number_seed1);
}

#if OHF_AES

typedef __m128i OHF(register);

OHF_INLINE __m128i OHF(load)(const void *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

/* A text of up to 15 bytes out of 16 that begin with it. */
OHF_INLINE OHF(register) OHF(key_before)(const uint8_t *text, uint64_t length)
{
    const __m128i key = _mm_and_si128(OHF(load)(text), OHF(load)(ohf_ones_then_zeros + 16 - length));
    return _mm_insert_epi8(key, (int)length, 15);
}

/* The same out of the 16 bytes that end with it. */
OHF_INLINE OHF(register) OHF(key_behind)(const uint8_t *text, uint64_t length)
{
    const __m128i order = OHF(load)(ohf_order_then_none + 16 - length);
    return _mm_insert_epi8(_mm_shuffle_epi8(OHF(load)(text + length - 16), order), (int)length, 15);
}

/* The same out of a view of up to 12 bytes. */
OHF_INLINE OHF(register) OHF(key_of_view)(const uint8_t *view, uint64_t length)
{
    const __m128i bytes = _mm_srli_si128(OHF(load)(view), 4);
    return _mm_insert_epi8(_mm_and_si128(bytes, OHF(load)(ohf_ones_then_zeros + 16 - length)), (int)length, 15);
}

OHF_INLINE OHF(register) OHF(key_of_words)(ohf_key key)
{
    return OHF(load)(&key);
}

OHF_INLINE ohf_key OHF(words_of_key)(OHF(register) key)
{
    ohf_key words;
    _mm_storeu_si128((__m128i *)&words, key);
    return words;
}

OHF_INLINE int OHF(same)(const void *known, OHF(register) text)
{
    const __m128i different = _mm_xor_si128(OHF(load)(known), text);
    return _mm_testz_si128(different, different);
}

OHF_INLINE __m128i OHF(absorb)(const OHF(view) *view, __m128i state, __m128i block)
{
    return _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(state, block), view->seed1), view->seed2);
}

OHF_INLINE uint64_t OHF(mix)(const OHF(view) *view, OHF(register) key)
{
    return (uint64_t)_mm_cvtsi128_si64(OHF(absorb)(view, view->seed0, key));
}

/* At least 16 bytes; some count twice. */
OHF_INLINE uint64_t OHF(mix_long)(const OHF(view) *view, const uint8_t *text, uint64_t length)
{
    const uint8_t *end = text + length;
    __m128i state = _mm_xor_si128(view->seed0, _mm_cvtsi64_si128((int64_t)length));
    state = OHF(absorb)(view, state, OHF(load)(text));
    if (length > 32) {
        for (text += 16; end - text > 48; text += 16)
            state = OHF(absorb)(view, state, OHF(load)(text));
        state = OHF(absorb)(view, state, OHF(load)(text));
        state = OHF(absorb)(view, state, OHF(load)(end - 32));
    }
    return (uint64_t)_mm_cvtsi128_si64(OHF(absorb)(view, state, OHF(load)(end - 16)));
}

#else

typedef ohf_key OHF(register);

OHF_INLINE OHF(register) OHF(masked)(uint64_t low, uint64_t high, uint64_t length)
{
    ohf_key key;
    key.low = low & ohf_low_masks[length];
    key.high = (high & ohf_high_masks[length]) | length << 56;
    return key;
}

OHF_INLINE OHF(register) OHF(key_before)(const uint8_t *text, uint64_t length)
{
    return OHF(masked)(ohf_read64(text), ohf_read64(text + 8), length);
}

/* One branch: the last 8 bytes hold all of the text, or the first 8 do not. */
OHF_INLINE OHF(register) OHF(key_behind)(const uint8_t *text, uint64_t length)
{
    ohf_key key;
    const uint64_t last = ohf_read64(text + length - 8);
    if (length > 8) {
        key.low = ohf_read64(text);
        key.high = last >> (8 * (16 - length));
    } else {
        key.low = length == 0 ? 0 : last >> (8 * (8 - length));
        key.high = 0;
    }
    key.high |= length << 56;
    return key;
}

OHF_INLINE OHF(register) OHF(key_of_view)(const uint8_t *view, uint64_t length)
{
    const uint64_t first = ohf_read64(view), second = ohf_read64(view + 8);
    return OHF(masked)(first >> 32 | second << 32, second >> 32, length);
}

OHF_INLINE OHF(register) OHF(key_of_words)(ohf_key key)
{
    return key;
}

OHF_INLINE ohf_key OHF(words_of_key)(OHF(register) key)
{
    return key;
}

OHF_INLINE int OHF(same)(const void *known, OHF(register) key)
{
    ohf_key words;
    memcpy(&words, known, sizeof words);
    return ((words.low ^ key.low) | (words.high ^ key.high)) == 0;
}

OHF_INLINE OHF(register) OHF(load)(const uint8_t *text)
{
    ohf_key key;
    memcpy(&key, text, sizeof key);
    return key;
}

OHF_INLINE uint64_t OHF(mix)(const OHF(view) *view, OHF(register) key)
{
    return OHF(fold)(key.low ^ view->seed0, key.high ^ view->seed1);
}

OHF_INLINE uint64_t OHF(absorb)(const OHF(view) *view, uint64_t state, const uint8_t *text)
{
    return OHF(fold)(ohf_read64(text) ^ view->seed0 ^ state, ohf_read64(text + 8) ^ view->seed1 ^ state);
}

OHF_INLINE uint64_t OHF(mix_long)(const OHF(view) *view, const uint8_t *text, uint64_t length)
{
    const uint8_t *end = text + length;
    uint64_t state = OHF(absorb)(view, view->seed2 + length, text);
    if (length > 32) {
        for (text += 16; end - text > 48; text += 16)
            state = OHF(absorb)(view, state, text);
        state = OHF(absorb)(view, state, text);
        state = OHF(absorb)(view, state, end - 32);
    }
    return OHF(fold)(OHF(absorb)(view, state, end - 16) ^ view->seed3, view->seed4);
}

#endif

/* Whether the long text of this code is the same; also for the code -1. */
OHF_INLINE int OHF(same_long)(const OHF(view) *view, int32_t code, const uint8_t *text, uint64_t length,
                              uint64_t hash)
{
    const ohf_key key = view->keys[code];
    const uint8_t *known;
    uint64_t known_length;
    if (key.low != hash || key.high >> 56 != OHF_LONG_KEY >> 56)
        return 0;
    known = view->arena + (key.high & ~OHF_LONG_KEY);
    memcpy(&known_length, known, sizeof known_length);
    known += sizeof known_length;
    if (known_length != length)
        return 0;
    if (length > 64)
        return memcmp(known, text, (size_t)length) == 0;
    if (length > 32 && !(OHF(same)(known + 16, OHF(load)(text + 16))
                         && OHF(same)(known + length - 32, OHF(load)(text + length - 32))))
        return 0;
    return OHF(same)(known, OHF(load)(text)) && OHF(same)(known + length - 16, OHF(load)(text + length - 16));
}
