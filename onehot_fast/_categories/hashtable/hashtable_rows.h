/* How loops of every instruction set read rows: validity bits, offsets, short texts, wide characters, numbers. */
#ifndef OHF_HASHTABLE_ROWS_H
#define OHF_HASHTABLE_ROWS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hashtable_input.h"
#include "_kernels/isa.h"
#include "_kernels/microkernels.h"
#include "_runtime/once.h"

enum { OHF_FAR_BYTES = 2048 };    /* loops prefetch rows that are this number of bytes ahead */

/* Read eight bytes as an integer whose lowest byte is the first one, on every processor. */
OHF_INLINE uint64_t ohf_read64(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Read four bytes as an integer whose lowest byte is the first one, on every processor. */
OHF_INLINE uint32_t ohf_read32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Return the validity bits of n rows, at most 64, the first in the lowest bit. Read only bytes that contain one of
 * them. */
static uint64_t ohf_valid_rows(const uint8_t *bits, int64_t begin, int64_t n)
{
    const uint8_t *from = bits + (begin >> 3);
    const unsigned shift = (unsigned)(begin & 7);
    const int64_t n_bytes = (n + shift + 7) >> 3;
    uint64_t word = 0;
    if (n_bytes >= 8)
        word = ohf_read64(from);
    else
        for (int64_t i = 0; i < n_bytes; i++)
            word |= (uint64_t)from[i] << (8 * i);
    word >>= shift;
    if (n_bytes > 8)
        word |= (uint64_t)from[8] << (64 - shift);
    return n < 64 ? word & (((uint64_t)1 << n) - 1) : word;
}

/* For each length of a text from 0 to 15: masks for the two words of a key, whose ones are the bytes of the
 * text. */
#define OHF_BYTES(N) (((uint64_t)1 << (8 * (N))) - 1)
#define OHF_ALL (~(uint64_t)0)
static const uint64_t ohf_low_masks[16] = {
    0, OHF_BYTES(1), OHF_BYTES(2), OHF_BYTES(3), OHF_BYTES(4), OHF_BYTES(5), OHF_BYTES(6), OHF_BYTES(7),
    OHF_ALL, OHF_ALL, OHF_ALL, OHF_ALL, OHF_ALL, OHF_ALL, OHF_ALL, OHF_ALL
};
static const uint64_t ohf_high_masks[16] = {
    0, 0, 0, 0, 0, 0, 0, 0,
    0, OHF_BYTES(1), OHF_BYTES(2), OHF_BYTES(3), OHF_BYTES(4), OHF_BYTES(5), OHF_BYTES(6), OHF_BYTES(7)
};

/* Both arrays are read from position 16 - length on, for 16 bytes. ohf_ones_then_zeros contains there the mask of
 * a text of this length. ohf_order_then_none contains the order for a shuffle that moves the last `length` of 16
 * bytes to the beginning; 128 makes a zero. */
#if OHF_X86
static const uint8_t ohf_ones_then_zeros[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
};
static const uint8_t ohf_order_then_none[32] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128
};
#endif

/* Return one of the four numbers of an Arrow view, which have the byte order of the processor. */
OHF_INLINE uint32_t ohf_view_word(const uint8_t *view, int word)
{
    uint32_t number;
    memcpy(&number, view + 4 * word, sizeof number);
    OHF_KEEP(number);
    return number;
}

/* Return the offset of a row, or 0 for a layout without offsets. A negative offset becomes larger than any limit. */
OHF_INLINE uint64_t ohf_offset(const ohf_texts *texts, int64_t i, int layout)
{
    int32_t narrow;
    int64_t wide = 0;
    if (layout == OHF_OFFSETS32) {
        memcpy(&narrow, (const char *)texts->rows + 4 * i, sizeof narrow);
        wide = narrow;
    } else if (layout == OHF_OFFSETS64) {
        memcpy(&wide, (const char *)texts->rows + 8 * i, sizeof wide);
    }
    return ohf_once((uint64_t)wide);
}

/* Read a text of up to 15 bytes as two words, with zeros behind the text. Read no byte outside the text. */
static inline void ohf_read_short(const uint8_t *text, uint64_t length, uint64_t *low, uint64_t *high)
{
    *low = *high = 0;
    if (length >= 8) {
        *low = ohf_read64(text);
        if (length > 8)
            *high = ohf_read64(text + length - 8) >> (8 * (16 - length));
    } else if (length >= 4) {
        *low = ohf_read32(text) | (uint64_t)ohf_read32(text + length - 4) << (8 * (length - 4));
    } else if (length > 0) {
        *low = text[0] | (uint64_t)text[length / 2] << (8 * (length / 2))
               | (uint64_t)text[length - 1] << (8 * (length - 1));
    }
}

/* ---- Characters of four bytes ---- */

enum { OHF_WIDE_ROWS = 256 };

/* A block of rows in UCS-4 after their conversion to UTF-8: pointers to the texts, their lengths, and their
 * memory. */
typedef struct {
    const uint8_t *texts[OHF_WIDE_ROWS];
    int64_t lengths[OHF_WIDE_ROWS];
    uint8_t *memory;
    uint8_t small[4096];
    int64_t most_rows;
    size_t row_bytes;         /* the memory of one text in UTF-8, with 16 bytes on each side */
} ohf_wide_block;

/* Give a block memory for rows of `width` characters. Return 0 or OHF_NO_MEMORY. */
static int ohf_open_wide(ohf_wide_block *block, int64_t width)
{
    block->row_bytes = 4 * (size_t)width + 32;
    block->memory = block->small;
    block->most_rows = (int64_t)(sizeof block->small / block->row_bytes);
    if (block->most_rows >= 16)
        return 0;
    block->most_rows = block->row_bytes < 4096 ? 16 : 1;
    block->memory = malloc(block->row_bytes * (size_t)block->most_rows);
    return block->memory == NULL ? OHF_NO_MEMORY : 0;
}

static void ohf_close_wide(ohf_wide_block *block)
{
    if (block->memory != block->small)
        free(block->memory);
}

#if OHF_X86

/* Return up to four characters, each as one byte. Add their bits to `all` by OR, so that the caller can see
 * whether all characters are ASCII. */
static inline uint64_t ohf_four_as_bytes(const uint32_t *text, int64_t n, __m128i *all)
{
    __m128i four;
    if (n >= 4)
        four = _mm_loadu_si128((const __m128i *)text);
    else
        four = _mm_set_epi32(0, n > 2 ? (int)text[2] : 0, n > 1 ? (int)text[1] : 0, n > 0 ? (int)text[0] : 0);
    *all = _mm_or_si128(*all, four);
    four = _mm_packs_epi32(four, four);
    return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(four, four));
}

/* Write up to 16 ASCII characters as bytes. Return their number without the zeros at the end, or -1 if there are
 * more characters or others than ASCII. The function builds the text in registers. If it stored single bytes, the
 * processor could not load the key, which is wider, before these stores are in the cache. */
static inline int64_t ohf_put_ascii(uint8_t *out, const uint32_t *text, int64_t width)
{
    __m128i all = _mm_setzero_si128();
    uint64_t halves[2] = {0, 0};
    if (width > 16)
        return -1;
    halves[0] = ohf_four_as_bytes(text, width, &all);
    if (width > 4)
        halves[0] |= ohf_four_as_bytes(text + 4, width - 4, &all) << 32;
    if (width > 8)
        halves[1] = ohf_four_as_bytes(text + 8, width - 8, &all);
    if (width > 12)
        halves[1] |= ohf_four_as_bytes(text + 12, width - 12, &all) << 32;
    all = _mm_cmpeq_epi32(_mm_and_si128(all, _mm_set1_epi32(~0x7F)), _mm_setzero_si128());
    if (_mm_movemask_epi8(all) != 0xFFFF)
        return -1;
    memcpy(out, halves, sizeof halves);
    if (halves[1] != 0)
        return 16 - (__builtin_clzll(halves[1]) >> 3);
    return halves[0] == 0 ? 0 : 8 - (__builtin_clzll(halves[0]) >> 3);
}

#else

static inline int64_t ohf_put_ascii(uint8_t *out, const uint32_t *text, int64_t width)
{
    (void)out;
    (void)text;
    (void)width;
    return -1;
}

#endif

/* Write a text of `width` UCS-4 characters as UTF-8, without the zeros at its end. Return its length in bytes, or
 * -1 if a number is no character. A lone surrogate takes 3 bytes. */
static inline int64_t ohf_put_text(uint8_t *out, const uint32_t *text, int64_t width)
{
    uint8_t *const begin = out;
    uint32_t all = 0;
    const int64_t n_ascii = ohf_put_ascii(out, text, width);
    if (n_ascii >= 0)
        return n_ascii;
    for (int64_t i = 0; i < width; i++) {
        const uint32_t c = text[i];
        out[i] = (uint8_t)c;
        all |= c;
    }
    while (width > 0 && text[width - 1] == 0)
        width--;
    if (all < 0x80)
        return width;
    for (int64_t i = 0; i < width; i++) {
        const uint32_t c = text[i];
        if (c > 0x10FFFF)
            return -1;
        out = ohf_put_character(out, c);
    }
    return out - begin;
}

/* Write n rows of `width` UCS-4 characters as UTF-8 into the block. Return -1, or the first row with a number that
 * is no character. */
static int64_t ohf_read_wide(ohf_wide_block *block, const uint32_t *rows, int64_t n, int64_t width)
{
    uint8_t *out = block->memory + 16;
    for (int64_t i = 0; i < n; i++, rows += width, out += block->row_bytes) {
        block->texts[i] = out;
        OHF_PREFETCH_AT(rows, OHF_FAR_BYTES);
        block->lengths[i] = ohf_put_text(out, rows, width);
        if (block->lengths[i] < 0)
            return i;
    }
    return -1;
}

/* ---- Numbers ---- */

/* A block is short because it is on the stack, with 17 bytes for each row: a pattern, a hash and a mark. The mark
 * `special` is not 0 if the row is missing, or if the type of the hash table cannot hold its number. */
enum { OHF_NUMBERS_BLOCK = 192, OHF_IS_MISSING = 1, OHF_IS_OUTSIDE = 2 };

/* Convert n integers of type T to 64-bit patterns. `into` is the type of the hash table. If it is unsigned, mark
 * negative integers as OHF_IS_OUTSIDE; if it is signed, mark integers from 2**63 on. Return whether an integer is
 * marked. */
#define OHF_READ_INTEGERS(NAME, T, WIDE, IS_SIGNED)                                                      \
    static int ohf_read_##NAME(const T *rows, int64_t n, int into, uint64_t *patterns, uint8_t *special) \
    {                                                                                                    \
        int any = 0;                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                  \
            patterns[i] = (uint64_t)(WIDE)rows[i];                                                       \
        if ((IS_SIGNED && into == OHF_U64) || (!IS_SIGNED && sizeof(T) == 8 && into == OHF_I64))         \
            for (int64_t i = 0; i < n; i++) {                                                            \
                special[i] = patterns[i] >> 63 ? OHF_IS_OUTSIDE : 0;                                     \
                any |= special[i];                                                                       \
            }                                                                                            \
        else                                                                                             \
            memset(special, 0, OHF_NUMBERS_BLOCK);                                                       \
        return any;                                                                                      \
    }

OHF_READ_INTEGERS(i8, int8_t, int64_t, 1)
OHF_READ_INTEGERS(i16, int16_t, int64_t, 1)
OHF_READ_INTEGERS(i32, int32_t, int64_t, 1)
OHF_READ_INTEGERS(i64, int64_t, int64_t, 1)
OHF_READ_INTEGERS(u8, uint8_t, uint64_t, 0)
OHF_READ_INTEGERS(u16, uint16_t, uint64_t, 0)
OHF_READ_INTEGERS(u32, uint32_t, uint64_t, 0)
OHF_READ_INTEGERS(u64, uint64_t, uint64_t, 0)

/* Convert n floats of type T to the 64-bit patterns of doubles. -0.0 becomes 0.0. Mark NaN as missing. Return
 * whether a float is marked. */
#define OHF_READ_FLOATS(NAME, T)                                                               \
    static int ohf_read_##NAME(const T *rows, int64_t n, uint64_t *patterns, uint8_t *special) \
    {                                                                                          \
        int any = 0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                      \
            const double value = (double)rows[i] + 0.0;                                        \
            memcpy(&patterns[i], &value, sizeof value);                                        \
            special[i] = value != value ? OHF_IS_MISSING : 0;                                  \
            any |= special[i];                                                                 \
        }                                                                                      \
        return any;                                                                            \
    }

OHF_READ_FLOATS(f32, float)
OHF_READ_FLOATS(f64, double)

static int ohf_read_type(const ohf_numbers *numbers, int64_t begin, int64_t n, uint64_t *patterns,
                         uint8_t *special)
{
    switch (numbers->number_type) {
    case OHF_I8: return ohf_read_i8((const int8_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_I16: return ohf_read_i16((const int16_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_I32: return ohf_read_i32((const int32_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_I64: return ohf_read_i64((const int64_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_U8: return ohf_read_u8((const uint8_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_U16: return ohf_read_u16((const uint16_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_U32: return ohf_read_u32((const uint32_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_U64: return ohf_read_u64((const uint64_t *)numbers->rows + begin, n, numbers->into, patterns, special);
    case OHF_F32: return ohf_read_f32((const float *)numbers->rows + begin, n, patterns, special);
    default: return ohf_read_f64((const double *)numbers->rows + begin, n, patterns, special);
    }
}

/* Read a block of at most OHF_NUMBERS_BLOCK numbers as 64-bit patterns. Set special[i] to 0, OHF_IS_MISSING or
 * OHF_IS_OUTSIDE. Return whether it is not 0 for a row. */
static int ohf_read_numbers(const ohf_numbers *numbers, int64_t begin, int64_t n, uint64_t *patterns,
                            uint8_t *special)
{
    int any = ohf_read_type(numbers, begin, n, patterns, special);
    if (numbers->has_nat)
        for (int64_t i = 0; i < n; i++)
            if (patterns[i] == (uint64_t)1 << 63)
                any = special[i] = OHF_IS_MISSING;
    if (numbers->bits == NULL)
        return any;
    for (int64_t done = 0; done < n; done += 64) {
        const int64_t count = n - done < 64 ? n - done : 64;
        const uint64_t valid = ohf_valid_rows(numbers->bits, numbers->bits_begin + begin + done, count);
        for (int64_t i = 0; i < count; i++)
            if (!(valid >> i & 1))
                any = special[done + i] = OHF_IS_MISSING;
    }
    return any;
}

#endif
