/* The microkernels of one instruction set, included by microkernels.c once per variant with OHF_ISA and OHF(name) defined.
 *
 * Memory traffic: the indices are read once per block, the codes live in the first-level cache, the output is
 * written once and never read. Writers are generated per element width so that every store is of constant size;
 * widths other than 1, 2, 4, 8 and 16 go through memcpy of the width.
 */
#if OHF_ISA != OHF_ISA_PLAIN
#  include "stream.h"
#endif

/* ---- codes in their window ---------------------------------------------------------------------------- */

/* The caller's indices may change while they are read, and a compiler may load twice what is read once here, compare
 * the one and use the other. So codes are held against the window again where nobody else writes: what is outside has
 * no class, and nothing is looked up or written beyond the end. */
#define OHF_WITHIN(SUFFIX, CODE, UNSIGNED, NONE)                                                               \
    static void OHF(keep_within##SUFFIX)(CODE *codes, size_t n, UNSIGNED span)                                 \
    {                                                                                                          \
        OHF_FORGET(codes);                                                                                     \
        for (size_t i = 0; i < n; i++)                                                                         \
            codes[i] = (UNSIGNED)codes[i] < span ? codes[i] : (CODE)(NONE);                                    \
    }                                                                                                          \
    static int OHF(all_within##SUFFIX)(const CODE *codes, size_t n, UNSIGNED span)                             \
    {                                                                                                          \
        UNSIGNED most = 0;                                                                                     \
        OHF_FORGET(codes);                                                                                     \
        for (size_t i = 0; i < n; i++)                                                                         \
            most = (UNSIGNED)codes[i] > most ? (UNSIGNED)codes[i] : most;                                      \
        return n == 0 || most < span;                                                                          \
    }

OHF_WITHIN(8, uint8_t, uint8_t, OHF_NONE8)
OHF_WITHIN(32, int32_t, uint32_t, OHF_NONE32)

/* How many classes a window from `base` on has: codes of 8 bits have at most OHF_SPAN8, of 32 bits only half is not
 * negative. */
static inline uint32_t OHF(span_from)(uint64_t base, uint64_t span)
{
    const uint64_t end = (uint64_t)1 << 31, left = base < end ? end - base : 0;
    return (uint32_t)(span < left ? span : left);
}

/* ---- narrow: indices -> codes ------------------------------------------------------------------------- */

/* Widened to 64 bits as unsigned, a negative index is at least 2**63 and fails `v < span` like any index that is
 * too large: one comparison decides. Up to 2**31 classes the same holds in 32 bits, twice as many at a time. */
#define OHF_NARROW_INT(NAME, T, WIDE32, WIDE64, IS_SIGNED, SUFFIX, CODE, NONE)                                 \
    static void OHF(narrow##SUFFIX##_##NAME)(const void *indices, size_t n, const ohf_policy *policy,          \
                                             void *codes)                                                      \
    {                                                                                                          \
        const T *restrict k = (const T *)indices;                                                              \
        CODE *restrict out = (CODE *)codes;                                                                    \
        const uint64_t base = policy->base, span = policy->span, depth = policy->depth;                        \
        if (policy->has_ignored || (IS_SIGNED && policy->wrap)) {                                              \
            const uint64_t ignored = policy->ignored, lift = IS_SIGNED && policy->wrap ? depth : 0;            \
            const int64_t lowest = -(int64_t)lift;                                                             \
            const int keep_all = !policy->has_ignored;                                                         \
            for (size_t i = 0; i < n; i++) {                                                                   \
                const uint64_t raw = (uint64_t)(WIDE64)k[i];                                                   \
                const int wraps = IS_SIGNED && (int64_t)raw < 0 && (int64_t)raw >= lowest;                     \
                const uint64_t v = raw + (wraps ? lift : 0) - base;                                            \
                out[i] = (CODE)((v < span) & (keep_all | (raw != ignored)) ? v : (uint64_t)(NONE));            \
            }                                                                                                  \
        } else if (sizeof(T) < 8 && base + span <= ((uint64_t)1 << 31)) {                                      \
            const uint32_t base32 = (uint32_t)base, span32 = (uint32_t)span;                                   \
            for (size_t i = 0; i < n; i++) {                                                                   \
                const uint32_t v = (uint32_t)(WIDE32)k[i] - base32;                                            \
                out[i] = (CODE)(v < span32 ? v : (uint32_t)(NONE));                                            \
            }                                                                                                  \
        } else {                                                                                               \
            for (size_t i = 0; i < n; i++) {                                                                   \
                const uint64_t v = (uint64_t)(WIDE64)k[i] - base;                                              \
                out[i] = (CODE)(v < span ? v : (uint64_t)(NONE));                                              \
            }                                                                                                  \
        }                                                                                                      \
        OHF(keep_within##SUFFIX)(out, n, OHF(span_from)(0, span));                                                   \
    }

/* Truncated toward zero first; what int64 cannot hold (NaN, infinities, 2**63 and beyond) has no class. */
#define OHF_NARROW_FLOAT(NAME, T, SUFFIX, CODE, NONE)                                                          \
    static void OHF(narrow##SUFFIX##_##NAME)(const void *indices, size_t n, const ohf_policy *policy,          \
                                             void *codes)                                                      \
    {                                                                                                          \
        const T *restrict x = (const T *)indices;                                                              \
        CODE *restrict out = (CODE *)codes;                                                                    \
        const uint64_t base = policy->base, span = policy->span, ignored = policy->ignored;                    \
        const uint64_t lift = policy->wrap ? policy->depth : 0;                                                \
        const int64_t lowest = -(int64_t)lift;                                                                 \
        const int keep_all = !policy->has_ignored;                                                             \
        for (size_t i = 0; i < n; i++) {                                                                       \
            const int fits = x[i] >= (T)-9223372036854775808.0 && x[i] < (T)9223372036854775808.0;             \
            const int64_t raw = (int64_t)(fits ? x[i] : (T)0);                                                 \
            const uint64_t v = (uint64_t)raw + (raw < 0 && raw >= lowest ? lift : 0) - base;                   \
            out[i] = (CODE)(fits & (v < span) & (keep_all | ((uint64_t)raw != ignored)) ? v                    \
                                                                                        : (uint64_t)(NONE));   \
        }                                                                                                      \
        OHF(keep_within##SUFFIX)(out, n, OHF(span_from)(0, span));                                                   \
    }

#define OHF_NARROW_ALL(SUFFIX, CODE, NONE)                                                                     \
    OHF_NARROW_INT(i8, int8_t, int32_t, int64_t, 1, SUFFIX, CODE, NONE)                                        \
    OHF_NARROW_INT(i16, int16_t, int32_t, int64_t, 1, SUFFIX, CODE, NONE)                                      \
    OHF_NARROW_INT(i32, int32_t, int32_t, int64_t, 1, SUFFIX, CODE, NONE)                                      \
    OHF_NARROW_INT(i64, int64_t, int64_t, int64_t, 1, SUFFIX, CODE, NONE)                                      \
    OHF_NARROW_INT(u8, uint8_t, uint32_t, uint64_t, 0, SUFFIX, CODE, NONE)                                     \
    OHF_NARROW_INT(u16, uint16_t, uint32_t, uint64_t, 0, SUFFIX, CODE, NONE)                                   \
    OHF_NARROW_INT(u32, uint32_t, uint32_t, uint64_t, 0, SUFFIX, CODE, NONE)                                   \
    OHF_NARROW_INT(u64, uint64_t, uint64_t, uint64_t, 0, SUFFIX, CODE, NONE)                                   \
    OHF_NARROW_FLOAT(f32, float, SUFFIX, CODE, NONE)                                                           \
    OHF_NARROW_FLOAT(f64, double, SUFFIX, CODE, NONE)

OHF_NARROW_ALL(8, uint8_t, OHF_NONE8)
OHF_NARROW_ALL(32, int32_t, OHF_NONE32)

/* ---- map: local codes -> codes, through a table ------------------------------------------------------- */

/* Whatever is no local code takes the entry behind the last one: one unsigned comparison, one look-up. The look-ups
 * stand in a loop of their own, for a compiler vectorises what is before and behind them: 0.3 ns a code, not 0.7.
 * A table that only adds a number needs none; where all codes are in range this takes 0.03 ns, and 1 is returned: no
 * code is NONE. Codes of up to 32 bits are compared in 32 bits, with BOUND, one beyond the largest that T holds, in
 * place of a number of codes that is larger. Entries lie in [-1, 2**31), so that 32 bits decide; CodeColumns admits no
 * table of 2**32 entries. */
#define OHF_MAP(NAME, T, U, WIDE, UNSIGNED, BOUND, SUFFIX, CODE, NONE)                                         \
    /* Add `first` to codes; return 0 unless all are in [0, top]. */                                           \
    static int OHF(add_##NAME##_##SUFFIX)(const T *restrict k, size_t n, U top, uint32_t first, uint32_t span, \
                                          CODE *restrict out)                                                  \
    {                                                                                                          \
        U most = 0;                                                                                            \
        for (size_t i = 0; i < n; i++) {                                                                       \
            most = (U)k[i] > most ? (U)k[i] : most;                                                            \
            out[i] = (CODE)((uint32_t)k[i] + first);                                                           \
        }                                                                                                      \
        return most <= top && OHF(all_within##SUFFIX)(out, n, span);                                           \
    }                                                                                                          \
    static int OHF(map##SUFFIX##_##NAME)(const void *local_codes, size_t n, const ohf_table *table,            \
                                          void *codes)                                                         \
    {                                                                                                          \
        const T *restrict k = (const T *)local_codes;                                                          \
        const int32_t *restrict entries = table->entries;                                                      \
        CODE *restrict out = (CODE *)codes;                                                                    \
        const uint64_t n_codes = table->n_codes;                                                               \
        const UNSIGNED limit = (UNSIGNED)(n_codes < (uint64_t)(BOUND) ? n_codes : (uint64_t)(BOUND));          \
        const uint32_t base = (uint32_t)table->base, span = OHF(span_from)(table->base, table->span);          \
        uint32_t at[OHF_MAP_BLOCK];                                                                            \
        int all_there = 1;                                                                                     \
        const uint32_t first = (uint32_t)entries[0] - base, last = (uint32_t)entries[n_codes] - base;          \
        const int fits = table->only_adds && limit != 0 && first <= span && limit <= span - first;             \
        for (size_t done = 0; done < n; done += OHF_MAP_BLOCK) {                                               \
            const size_t count = n - done < OHF_MAP_BLOCK ? n - done : OHF_MAP_BLOCK;                          \
            if (fits && OHF(add_##NAME##_##SUFFIX)(k + done, count, (U)(limit - 1), first, span, out + done))  \
                continue;                                                                                      \
            all_there = 0;                                                                                     \
            if (table->only_adds) {                                                                            \
                for (size_t i = done; i < done + count; i++) {                                                 \
                    const UNSIGNED raw = (UNSIGNED)(WIDE)k[i];                                                 \
                    const uint32_t v = raw < limit ? (uint32_t)raw + first : last;                             \
                    out[i] = (CODE)(v < span ? v : (uint32_t)(NONE));                                          \
                }                                                                                              \
                OHF(keep_within##SUFFIX)(out + done, count, span);                                             \
                continue;                                                                                      \
            }                                                                                                  \
            for (size_t i = 0; i < count; i++) {                                                               \
                const UNSIGNED raw = (UNSIGNED)(WIDE)k[done + i];                                              \
                at[i] = raw < limit ? (uint32_t)raw : (uint32_t)n_codes;                                       \
            }                                                                                                  \
            OHF_FORGET(at);                                                                                    \
            for (size_t i = 0; i < count; i++)                                                                 \
                at[i] = at[i] < (uint32_t)n_codes ? at[i] : (uint32_t)n_codes;                                 \
            for (size_t i = 0; i < count; i++)                                                                 \
                at[i] = (uint32_t)entries[at[i]];                                                              \
            for (size_t i = 0; i < count; i++) {                                                               \
                const uint32_t v = at[i] - base;                                                               \
                out[done + i] = (CODE)(v < span ? v : (uint32_t)(NONE));                                       \
            }                                                                                                  \
        }                                                                                                      \
        return all_there;                                                                                      \
    }

#define OHF_MAP_ALL(SUFFIX, CODE, NONE)                                                                        \
    OHF_MAP(i8, int8_t, uint8_t, int32_t, uint32_t, 1u << 7, SUFFIX, CODE, NONE)                               \
    OHF_MAP(i16, int16_t, uint16_t, int32_t, uint32_t, 1u << 15, SUFFIX, CODE, NONE)                           \
    OHF_MAP(i32, int32_t, uint32_t, int32_t, uint32_t, 1u << 31, SUFFIX, CODE, NONE)                           \
    OHF_MAP(i64, int64_t, uint64_t, int64_t, uint64_t, UINT32_MAX, SUFFIX, CODE, NONE)                         \
    OHF_MAP(u8, uint8_t, uint8_t, uint32_t, uint32_t, 1u << 8, SUFFIX, CODE, NONE)                             \
    OHF_MAP(u16, uint16_t, uint16_t, uint32_t, uint32_t, 1u << 16, SUFFIX, CODE, NONE)                         \
    OHF_MAP(u32, uint32_t, uint32_t, uint32_t, uint32_t, UINT32_MAX, SUFFIX, CODE, NONE)                       \
    OHF_MAP(u64, uint64_t, uint64_t, uint64_t, uint64_t, UINT32_MAX, SUFFIX, CODE, NONE)

OHF_MAP_ALL(8, uint8_t, OHF_NONE8)
OHF_MAP_ALL(32, int32_t, OHF_NONE32)

/* ---- the pieces of the writers ------------------------------------------------------------------------ */

static void OHF(fill_off)(unsigned char *out, size_t n_bytes, const ohf_fill *fill)
{
    if (fill->off_is_byte)
        memset(out, fill->off[0], n_bytes);
    else
        ohf_fill_pattern(out, n_bytes, fill->off, fill->width);
}

/* Store one element at the class of each code, in groups of depth * inner elements. */
OHF_INLINE void OHF(scatter)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                             const unsigned char *element, size_t width)
{
    const size_t inner = fill->inner, group_bytes = fill->depth * inner * width;
    if (inner == 1) {
        for (size_t g = 0; g < n_groups; g++, out += group_bytes)
            if (codes[g] >= 0)
                memcpy(out + (size_t)codes[g] * width, element, width);
        return;
    }
    for (size_t g = 0; g < n_groups; g++, codes += inner, out += group_bytes)
        for (size_t i = 0; i < inner; i++)
            if (codes[i] >= 0)
                memcpy(out + ((size_t)codes[i] * inner + i) * width, element, width);
}

static void OHF(rows_scatter)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                              unsigned char *scratch)
{
    (void)scratch;
    OHF_EACH_WIDTH(fill->width, OHF(scatter)(codes, n_groups, fill, out, fill->on, W),
                   OHF(scatter)(codes, n_groups, fill, out, fill->on, fill->width))
}

OHF_INLINE void OHF(rows_block_of)(const int32_t *codes, size_t n_groups, const ohf_fill *fill,
                                   unsigned char *out, size_t width)
{
    const size_t group_bytes = fill->depth * fill->inner * width;
    size_t step = OHF_SCRATCH / group_bytes;   /* the scatter finds the block it filled still in L1 */
    if (step == 0)
        step = 1;
    for (size_t g = 0; g < n_groups; g += step) {
        const size_t count = n_groups - g < step ? n_groups - g : step;
        OHF(fill_off)(out + g * group_bytes, count * group_bytes, fill);
        OHF(scatter)(codes + g * fill->inner, count, fill, out + g * group_bytes, fill->on, width);
    }
}

static void OHF(rows_block)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                            unsigned char *scratch)
{
    (void)scratch;
    OHF_EACH_WIDTH(fill->width, OHF(rows_block_of)(codes, n_groups, fill, out, W),
                   OHF(rows_block_of)(codes, n_groups, fill, out, fill->width))
}

OHF_INLINE void OHF(planes_scalar)(const uint8_t *codes, size_t n, unsigned class, const ohf_fill *fill,
                                   unsigned char *out, size_t width)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * width, codes[i] == class ? fill->on : fill->off, width);
}

/* ---- bits --------------------------------------------------------------------------------------------- */

#if OHF_ISA == OHF_ISA_PLAIN

/* A code sets its one bit: a line for each class, of 512 rows, fits the first-level cache. */
static void OHF(bits)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes, int streaming,
                      unsigned char *out, unsigned char *lines)
{
    (void)streaming;
    for (size_t done = 0; done < n; done += 512, out += 64) {
        const size_t count = n - done < 512 ? n - done : 512;
        memset(lines, 0, n_classes * 64);
        for (size_t i = 0; i < count; i++)
            if (codes[done + i] != OHF_NONE8)
                lines[(size_t)codes[done + i] * 64 + i / 8] |= (unsigned char)(1u << (i & 7));
        for (size_t class = 0; class < n_classes; class++)
            memcpy(out + class * plane_bytes, lines + class * 64, (count + 7) / 8);
    }
}

#else

OHF_INLINE void OHF(put)(unsigned char *out, vec v, int streaming)
{
    if (streaming)
        stream(out, v);
    else
        store(out, v);
}

/* A bit for each code of a tile, in whole words: whether it is `code`. */
static inline void OHF(mask_tile)(const uint8_t *codes, size_t n, unsigned code, unsigned char *mask)
{
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t word = equal_mask64(codes + i, code);
        memcpy(mask + i / 8, &word, 8);
    }
}

/* A bit for each code of a tile, in whole words: whether it has the bit of this place. */
OHF_INLINE void OHF(mask_of_bit)(const uint8_t *codes, size_t n, int place, unsigned char *mask)
{
    for (size_t i = 0; i < n; i += 64) {
#if OHF_ISA == OHF_ISA_NEON
        uint8_t bits[64];
        for (size_t j = 0; j < 64; j++)
            bits[j] = codes[i + j] & (uint8_t)(1u << place);
        const uint64_t word = equal_mask64(bits, 1u << place);
#else
        const uint64_t upper = OHF(high_bits)(codes + i + 32, 7 - place);
        const uint64_t word = OHF(high_bits)(codes + i, 7 - place) | upper << 32;
#endif
        memcpy(mask + i / 8, &word, 8);
    }
}

/* Divide each of `n` masks by one more bit of the codes: mask i has those that lack it, i + n those that have it. */
static inline void OHF(divide)(unsigned char *masks, size_t n, const unsigned char *bit, size_t n_bytes)
{
    for (size_t half = 0; half < n; half++) {
        unsigned char *lacks = masks + half * OHF_BIT_MASK, *has = masks + (half + n) * OHF_BIT_MASK;
        for (size_t i = 0; i < n_bytes; i += VB) {
            const vec all = load(lacks + i), those = all & load(bit + i);
            store(has + i, those);
            store(lacks + i, all ^ those);
        }
    }
}

/* A code has two halves, and a class is where both are its own. The bits of all codes, one after the other, make the
 * masks of the values of each half, 16 + 16 at most, and an AND of two of these makes each of up to 255 classes. */
OHF_INLINE void OHF(bits_tile)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                               unsigned char *out, unsigned char *masks, int streaming)
{
    unsigned char room[9 * OHF_BIT_MASK + 64], *const of_bit = room + (-(uintptr_t)room & 63);
    const size_t whole = (n + 63) / 64 * 64, n_bytes = (n + 7) / 8, mask_bytes = (whole / 8 + VB - 1) / VB * VB;
    const int halved = n_classes > 4;
    size_t shift = 1;
    while ((size_t)1 << 2 * shift < n_classes)
        shift++;
    unsigned char *const high = masks + (OHF_BIT_MASK << shift);
    uint8_t rest[64];
    const size_t even = n / 64 * 64;
    memset(rest, OHF_NONE8, sizeof rest);
    memcpy(rest, codes + even, n - even);
    for (size_t mask = 0; mask < (halved ? 2 * shift + 1 : n_classes); mask++) {
        if (halved) {
            const int place = mask < 2 * shift ? (int)mask : 7;
            OHF(mask_of_bit)(codes, even, place, of_bit + mask * OHF_BIT_MASK);
            OHF(mask_of_bit)(rest, whole - even, place, of_bit + mask * OHF_BIT_MASK + even / 8);
        } else {
            OHF(mask_tile)(codes, even, (unsigned)mask, masks + mask * OHF_BIT_MASK);
            OHF(mask_tile)(rest, whole - even, (unsigned)mask, masks + mask * OHF_BIT_MASK + even / 8);
        }
    }
    if (halved) {
        memset(masks, 255, mask_bytes);
        memset(high, 255, mask_bytes);
        if (shift < 4)   /* of NONE all bits are set, the highest one too */
            for (size_t i = 0; i < mask_bytes; i++)
                high[i] = (unsigned char)~of_bit[2 * shift * OHF_BIT_MASK + i];
        for (size_t bit = 0; bit < shift; bit++) {
            OHF(divide)(masks, (size_t)1 << bit, of_bit + bit * OHF_BIT_MASK, mask_bytes);
            OHF(divide)(high, (size_t)1 << bit, of_bit + (shift + bit) * OHF_BIT_MASK, mask_bytes);
        }
    }
    for (size_t class = 0; class < n_classes; class++, out += plane_bytes) {
        const unsigned char *a = masks + (halved ? class & (((size_t)1 << shift) - 1) : class) * OHF_BIT_MASK;
        const unsigned char *b = halved ? high + (class >> shift) * OHF_BIT_MASK : a;
        size_t i = 0;
        for (; i + VB <= n_bytes; i += VB)
            OHF(put)(out + i, load(a + i) & load(b + i), streaming);
        for (; i < n_bytes; i++)
            out[i] = a[i] & b[i];
    }
}

static void OHF(bits)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes, int streaming,
                      unsigned char *out, unsigned char *masks)
{
    for (size_t done = 0; done < n; done += OHF_BIT_ROWS) {
        const size_t count = n - done < OHF_BIT_ROWS ? n - done : OHF_BIT_ROWS;
        if (streaming)
            OHF(bits_tile)(codes + done, count, n_classes, plane_bytes, out + done / 8, masks, 1);
        else
            OHF(bits_tile)(codes + done, count, n_classes, plane_bytes, out + done / 8, masks, 0);
    }
    if (streaming)
        OHF_STORE_FENCE();
}

#endif

/* ---- positions in rows, for sparse matrices ----------------------------------------------------------- */

/* One code, read once, plus the first position of its column; `bad` tells whether it is none. */
static inline int32_t OHF(position_of)(const ohf_shifted *column, size_t row, uint32_t *bad)
{
    uint32_t code;
    switch (column->kind) {
    case OHF_I8: code = (uint32_t)(int32_t)((const int8_t *)column->codes)[row]; break;
    case OHF_U8: code = ((const uint8_t *)column->codes)[row]; break;
    case OHF_I16: code = (uint32_t)(int32_t)((const int16_t *)column->codes)[row]; break;
    case OHF_U16: code = ((const uint16_t *)column->codes)[row]; break;
    default: code = ((const uint32_t *)column->codes)[row];
    }
    OHF_KEEP(code);
    *bad |= code > (uint32_t)column->top;
    return (int32_t)(code + (uint32_t)column->first);
}

/* Write the positions of `n` rows from `row` on; return whether all codes were there. */
static int OHF(turn_each)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
{
    uint32_t bad = 0;
    for (size_t j = 0; j < n_columns; j++)
        for (size_t i = 0; i < n; i++)
            to[i * n_columns + j] = OHF(position_of)(columns + j, row + i, &bad);
    return !bad;
}

#if defined(OHF_X86) && OHF_ISA != OHF_ISA_PLAIN

#if OHF_ISA == OHF_ISA_SSE2
#  define OHF_LANES 4
#  define lanes __m128i
#  define add32 _mm_add_epi32
#  define sub32 _mm_sub_epi32
#  define or32 _mm_or_si128
#  define splat32 _mm_set1_epi32
#  define low32 _mm_unpacklo_epi32
#  define high32 _mm_unpackhi_epi32
#  define low64 _mm_unpacklo_epi64
#  define high64 _mm_unpackhi_epi64
#  define any_negative(v) (_mm_movemask_ps(_mm_castsi128_ps(v)) != 0)
#  define store_low(p, v) _mm_storeu_si128((__m128i *)(p), v)
#  define store_high(p, v) ((void)0)
#else
#  define OHF_LANES 8
#  define lanes __m256i
#  define add32 _mm256_add_epi32
#  define sub32 _mm256_sub_epi32
#  define or32 _mm256_or_si256
#  define splat32 _mm256_set1_epi32
#  define low32 _mm256_unpacklo_epi32
#  define high32 _mm256_unpackhi_epi32
#  define low64 _mm256_unpacklo_epi64
#  define high64 _mm256_unpackhi_epi64
#  define any_negative(v) (_mm256_movemask_ps(_mm256_castsi256_ps(v)) != 0)
#  define store_low(p, v) _mm_storeu_si128((__m128i *)(p), _mm256_castsi256_si128(v))
#  define store_high(p, v) _mm_storeu_si128((__m128i *)(p), _mm256_extracti128_si256(v, 1))
#endif

/* Codes of neighbouring rows as 32 bits. They are read once: what is compared is what is written. */
OHF_INLINE lanes OHF(codes_at)(const unsigned char *codes, int kind, size_t row)
{
    const size_t width = kind == OHF_I32 ? 4 : kind == OHF_I16 || kind == OHF_U16 ? 2 : 1;
    const __m128i *at = (const __m128i *)(codes + row * width);
    lanes v;
#if OHF_ISA == OHF_ISA_SSE2
    const __m128i zero = _mm_setzero_si128();
    switch (kind) {
    case OHF_I8:
        v = _mm_cvtsi32_si128(OHF(load32)(at));
        v = _mm_unpacklo_epi8(v, v);
        v = _mm_srai_epi32(_mm_unpacklo_epi16(v, v), 24);
        break;
    case OHF_U8: v = _mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(OHF(load32)(at)), zero), zero); break;
    case OHF_I16:
        v = _mm_loadl_epi64(at);
        v = _mm_srai_epi32(_mm_unpacklo_epi16(v, v), 16);
        break;
    case OHF_U16: v = _mm_unpacklo_epi16(_mm_loadl_epi64(at), zero); break;
    default: v = _mm_loadu_si128(at);
    }
#else
    switch (kind) {
    case OHF_I8: v = _mm256_cvtepi8_epi32(_mm_loadl_epi64(at)); break;
    case OHF_U8: v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(at)); break;
    case OHF_I16: v = _mm256_cvtepi16_epi32(_mm_loadu_si128(at)); break;
    case OHF_U16: v = _mm256_cvtepu16_epi32(_mm_loadu_si128(at)); break;
    default: v = _mm256_loadu_si256((const __m256i *)at);
    }
#endif
    OHF_KEEP_VECTOR(v);
    return v;
}

/* A sign bit where a code is not in [0, top]. */
OHF_INLINE lanes OHF(beyond)(lanes codes, lanes top)
{
    return or32(codes, sub32(top, codes));
}

/* Turn `n` columns, 1 to 4, of which the constant `kind` is that of all, or -1. Of three a store still writes four
 * positions: the fourth lies on the first of the next row, which is stored after it, or behind the last row. */
OHF_INLINE lanes OHF(turn_some)(const ohf_shifted *c, size_t n, int kind, size_t row, size_t n_rows, size_t n_columns,
                                int32_t *to)
{
    const size_t at[4] = {0, n > 1, n > 2 ? 2 : 0, n > 3 ? 3 : 0};
    const unsigned char *const from[4] = {c->codes, c[at[1]].codes, c[at[2]].codes, c[at[3]].codes};
    const int kinds[4] = {c->kind, c[at[1]].kind, c[at[2]].kind, c[at[3]].kind};
    const lanes first[4] = {splat32(c->first), splat32(c[at[1]].first), splat32(c[at[2]].first),
                            splat32(c[at[3]].first)};
    const lanes top[4] = {splat32(c->top), splat32(c[at[1]].top), splat32(c[at[2]].top), splat32(c[at[3]].top)};
    lanes bad = splat32(0);
    for (const size_t end = row + n_rows; row < end; row += OHF_LANES, to += OHF_LANES * n_columns) {
        lanes v[4];
        for (size_t j = 0; j < n; j++) {
            v[j] = OHF(codes_at)(from[j], kind < 0 ? kinds[j] : kind, row);
            bad = or32(bad, OHF(beyond)(v[j], top[j]));
            v[j] = add32(v[j], first[j]);
        }
        if (n == 1 && n_columns == 1) {
            store_low(to, v[0]);
            store_high(to + 4, v[0]);
            continue;
        }
        if (n <= 2) {
            int32_t each[OHF_LANES * 2];
            const lanes low = n == 2 ? low32(v[0], v[1]) : v[0], high = n == 2 ? high32(v[0], v[1]) : v[0];
            store_low(each, low);
            store_low(each + 4, high);   /* of one column the same again */
            store_high(each + 4 * n, low);
            if (n == 2)
                store_high(each + 12, high);
            for (size_t i = 0; i < OHF_LANES; i++)
                memcpy(to + i * n_columns, each + i * n, n * sizeof *to);
            continue;
        }
        const lanes last = v[n == 3 ? 2 : 3];
        const lanes ab = low32(v[0], v[1]), high_ab = high32(v[0], v[1]);
        const lanes cd = low32(v[2], last), high_cd = high32(v[2], last);
        const lanes r0 = low64(ab, cd), r1 = high64(ab, cd);
        const lanes r2 = low64(high_ab, high_cd), r3 = high64(high_ab, high_cd);
        store_low(to, r0);
        store_low(to + n_columns, r1);
        store_low(to + 2 * n_columns, r2);
        store_low(to + 3 * n_columns, r3);
        store_high(to + 4 * n_columns, r0);
        store_high(to + 5 * n_columns, r1);
        store_high(to + 6 * n_columns, r2);
        store_high(to + 7 * n_columns, r3);
    }
    return bad;
}

static lanes OHF(turn_four)(const ohf_shifted *c, size_t row, size_t n_rows, size_t n_columns, int32_t *to)
{
    const int kind = c[0].kind == c[1].kind && c[2].kind == c[3].kind && c[0].kind == c[2].kind ? c->kind : -1;
    switch (kind) {
    case OHF_I8: return OHF(turn_some)(c, 4, OHF_I8, row, n_rows, n_columns, to);
    case OHF_I16: return OHF(turn_some)(c, 4, OHF_I16, row, n_rows, n_columns, to);
    case OHF_I32: return OHF(turn_some)(c, 4, OHF_I32, row, n_rows, n_columns, to);
    default: return OHF(turn_some)(c, 4, -1, row, n_rows, n_columns, to);
    }
}

/* The same as turn_each, of eight rows or a multiple, and perhaps of one position behind them. */
static int OHF(turn)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
{
    lanes bad = splat32(0);
    size_t j = 0;
    if (n_columns == 2)
        bad = OHF(turn_some)(columns, 2, -1, row, n, 2, to);
    else if (n_columns == 3)
        bad = OHF(turn_some)(columns, 3, -1, row, n, 3, to);
    else {
        for (; j + 4 <= n_columns; j += 4)
            bad = or32(bad, OHF(turn_four)(columns + j, row, n, n_columns, to + j));
        if (n_columns % 4 == 1)
            bad = or32(bad, OHF(turn_some)(columns + j, 1, -1, row, n, n_columns, to + j));
        else if (n_columns % 4 == 2)
            bad = or32(bad, OHF(turn_some)(columns + j, 2, -1, row, n, n_columns, to + j));
        else if (j < n_columns)   /* the last four, of which one is there already */
            bad = or32(bad, OHF(turn_four)(columns + n_columns - 4, row, n, n_columns, to + n_columns - 4));
    }
    return !any_negative(bad);
}

#undef OHF_LANES
#undef lanes
#undef add32
#undef sub32
#undef or32
#undef splat32
#undef low32
#undef high32
#undef low64
#undef high64
#undef any_negative
#undef store_low
#undef store_high

#else

static int OHF(turn)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
{
    return OHF(turn_each)(columns, n_columns, row, n, to);
}

#endif

/* Some rows at a time, so that few columns are worth a call too. Ordinary stores: while lines leave past the caches all
 * other stores wait (1M rows of 5 columns 0.33 ns a code, 0.58 past the caches; 10M rows 0.38 - 0.48, 0.50 - 0.63). */
static size_t OHF(csr)(const ohf_shifted *columns, size_t n_columns, size_t n_rows, int32_t place, int32_t *indices,
                       int32_t *ends)
{
    const size_t step = n_columns < 8 ? 16 * (8 / n_columns) : 16;
    size_t row = 0;
    while (row < n_rows) {
        /* One row more must follow whole steps, which three columns may reach into. */
        const size_t count = row + step < n_rows ? step : 1;
        const int is_there = count > 1 ? OHF(turn)(columns, n_columns, row, count, indices + row * n_columns)
                                       : OHF(turn_each)(columns, n_columns, row, 1, indices + row * n_columns);
        if (!is_there)
            break;
        for (size_t i = 0; i < count; i++)
            ends[row + i] = place + (int32_t)((row + i + 1) * n_columns);
        row += count;
    }
    return row;
}

/* ---- numbers among sorted edges ----------------------------------------------------------------------- */

/* Few edges are all compared. Among more a step of the search is a multiplication instead of a branch, which would be
 * guessed wrong half of the time, and all values of a block take it together: none waits for the step before. ns for a
 * value among 9, 32, 99 edges (Zen 3): 5.1, 6.0, 8.7 with SSE2; 1.1, 3.1, 4.0 with AVX2, which gathers. */
#if OHF_ISA == OHF_ISA_AVX2 || OHF_ISA == OHF_ISA_AVX512
#  define OHF_FEW_EDGES 32
#else
#  define OHF_FEW_EDGES 8
#endif

static void OHF(count_edges)(const double *restrict values, size_t n, const double *restrict edges, size_t n_edges,
                             int32_t *restrict counts)
{
    double sums[OHF_EDGES_BLOCK];   /* as wide as the values, so that both fill vectors alike */
    size_t left = n_edges;
    if (n_edges <= OHF_FEW_EDGES) {
        for (size_t i = 0; i < n; i++)
            sums[i] = 0;
        for (size_t k = 0; k < n_edges; k++) {
            const double edge = edges[k];
            for (size_t i = 0; i < n; i++)
                sums[i] += values[i] < edge ? 0.0 : 1.0;
        }
        for (size_t i = 0; i < n; i++)
            counts[i] = (int32_t)sums[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = 0;
    while (left > 0) {
        const size_t half = (left + 1) / 2;
        const double *middle = edges + half - 1;
        for (size_t i = 0; i < n; i++)
            counts[i] += (int32_t)half * !(values[i] < middle[counts[i]]);
        left -= half;
    }
}

#if OHF_ISA == OHF_ISA_PLAIN

static void OHF(planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                        const ohf_fill *fill, unsigned char *out)
{
    for (unsigned class = 0; class < n_classes; class++, out += plane_bytes)
        OHF_EACH_WIDTH(fill->width, OHF(planes_scalar)(codes, n, class, fill, out, W),
                       OHF(planes_scalar)(codes, n, class, fill, out, fill->width))
}

#else /* a vector instruction set */

/* Bytes up to the next multiple of VB. */
static inline size_t OHF(to_boundary)(const unsigned char *p)
{
    return (size_t)(-(uintptr_t)p & (VB - 1));
}

/* ---- planes ------------------------------------------------------------------------------------------- */

#define OHF_PLANES(W)                                                                                          \
    OHF_INLINE void OHF(planes_##W)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,      \
                                    const ohf_fill *fill, unsigned char *out, int streaming)                   \
    {                                                                                                          \
        const vec on = load(fill->on_line), off = load(fill->off_line);                                        \
        for (unsigned class = 0; class < n_classes; class++, out += plane_bytes) {                             \
            size_t i = OHF(to_boundary)(out) / W;                                                              \
            if (i > n || (uintptr_t)out % W != 0)                                                              \
                i = (uintptr_t)out % W != 0 ? 0 : n;                                                           \
            OHF(planes_scalar)(codes, i, class, fill, out, W);                                                 \
            for (; i + VB / W <= n; i += VB / W)                                                               \
                OHF(put)(out + i * W, select_##W(lanes_##W(codes + i), splat_##W(class), on, off), streaming); \
            OHF(planes_scalar)(codes + i, n - i, class, fill, out + i * W, W);                                 \
        }                                                                                                      \
    }

OHF_PLANES(1)
OHF_PLANES(2)
OHF_PLANES(4)
OHF_PLANES(8)
OHF_PLANES(16)

static void OHF(planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                        const ohf_fill *fill, unsigned char *out)
{
    /* An element that starts between the lines cannot be streamed: all planes share the fault, or none. */
    const int streaming = fill->stream && ((uintptr_t)out | plane_bytes) % fill->width == 0;
    switch (fill->width * 2 + (size_t)streaming) {
#define OHF_CASE(W)                                                                                            \
    case W * 2: OHF(planes_##W)(codes, n, n_classes, plane_bytes, fill, out, 0); return;                       \
    case W * 2 + 1: OHF(planes_##W)(codes, n, n_classes, plane_bytes, fill, out, 1); OHF_STORE_FENCE(); return;
        OHF_CASE(1) OHF_CASE(2) OHF_CASE(4) OHF_CASE(8) OHF_CASE(16)
#undef OHF_CASE
    default:
        for (unsigned class = 0; class < n_classes; class++, out += plane_bytes)
            OHF(planes_scalar)(codes, n, class, fill, out, fill->width);
    }
}

/* ---- rows_scratch ------------------------------------------------------------------------------------- */

/* Copy to `out` past the caches; `from` has the same offset from a vector boundary as `out`. */
static inline void OHF(stream_copy)(unsigned char *out, const unsigned char *from, size_t n_bytes)
{
    size_t i = OHF(to_boundary)(out);
    if (i > n_bytes)
        i = n_bytes;
    memcpy(out, from, i);
    for (; i + VB <= n_bytes; i += VB)
        stream(out + i, load(from + i));
    memcpy(out + i, from + i, n_bytes - i);
}

static void OHF(copy)(unsigned char *out, const unsigned char *from, size_t n_bytes)
{
    OHF(stream_copy)(out, from, n_bytes);
}

/* The same, and off is left behind in `from`, which starts where an element of the line of off does. */
static void OHF(move)(unsigned char *out, unsigned char *from, size_t n_bytes, const ohf_fill *fill)
{
    const vec off = load(fill->off_line);
    const size_t place = (uintptr_t)from & 63;
    size_t i = OHF(to_boundary)(out);
    if (i > n_bytes)
        i = n_bytes;
    memcpy(out, from, i);
    memcpy(from, fill->off_line + place, i);
    for (; i + VB <= n_bytes; i += VB) {
        stream(out + i, load(from + i));
        store(from + i, off);
    }
    memcpy(out + i, from + i, n_bytes - i);
    memcpy(from + i, fill->off_line + ((place + i) & 63), n_bytes - i);
}

static void OHF(fence)(void)
{
    OHF_STORE_FENCE();
}

/* The scratch block holds nothing but off between blocks: the ons of a block are stored, the block is streamed, the
 * ons are taken back; where they are many, off is stored behind the whole block instead. */
OHF_INLINE void OHF(rows_scratch_of)(const int32_t *codes, size_t n_groups, const ohf_fill *fill,
                                     unsigned char *out, unsigned char *scratch, size_t width)
{
    const size_t group_bytes = fill->depth * fill->inner * width;
    size_t step = OHF_SCRATCH / group_bytes;
    if (step > 64)
        step -= step % 64;   /* whole lines, whatever the width of a group */
    for (size_t g = 0; g < n_groups; g += step) {
        const size_t count = n_groups - g < step ? n_groups - g : step;
        unsigned char *to = out + g * group_bytes;
        unsigned char *block = scratch + ((uintptr_t)to & 63);
        OHF(scatter)(codes + g * fill->inner, count, fill, block, fill->on, width);
        if (group_bytes <= 64 * fill->inner) {
            OHF(move)(to, block, count * group_bytes, fill);
        } else {
            OHF(stream_copy)(to, block, count * group_bytes);
            OHF(scatter)(codes + g * fill->inner, count, fill, block, fill->off, width);
        }
    }
    OHF_STORE_FENCE();
}

static void OHF(rows_scratch)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                              unsigned char *scratch)
{
    OHF_EACH_WIDTH(fill->width, OHF(rows_scratch_of)(codes, n_groups, fill, out, scratch, W), (void)0)
}

/* ---- rows_merge --------------------------------------------------------------------------------------- */

static inline void OHF(stream_off)(unsigned char *out, size_t n_bytes, const ohf_fill *fill)
{
    const vec off = load(fill->off_line);
    size_t i = OHF(to_boundary)(out);
    if (i > n_bytes)
        i = n_bytes;
    memcpy(out, fill->off_line, i);
    for (; i + VB <= n_bytes; i += VB)
        stream(out + i, off);
    memcpy(out + i, fill->off_line, n_bytes - i);
}

OHF_INLINE void OHF(rows_merge_of)(const int32_t *codes, size_t n_rows, const ohf_fill *fill,
                                   unsigned char *out, size_t width)
{
    const size_t row_bytes = fill->depth * width;
    for (size_t r = 0; r < n_rows; r++, out += row_bytes) {
        size_t begin = 0, end = 0;   /* the bytes of the row that the vector with the on takes */
        if (codes[r] >= 0) {
            const size_t at = (size_t)codes[r] * width;
            begin = at - ((uintptr_t)(out + at) & (VB - 1));
            end = begin + VB;
            if (begin > at || end > row_bytes)   /* an edge shared with the neighbouring row */
                begin = end = 0;
        }
        OHF(stream_off)(out, begin, fill);
        if (end != 0) {
            unsigned char line[VB];
            memcpy(line, fill->off_line, VB);
            memcpy(line + ((size_t)codes[r] * width - begin), fill->on, width);
            stream(out + begin, load(line));
        }
        OHF(stream_off)(out + end, row_bytes - end, fill);
        if (end == 0 && codes[r] >= 0)
            memcpy(out + (size_t)codes[r] * width, fill->on, width);
    }
    OHF_STORE_FENCE();
}

static void OHF(rows_merge)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                            unsigned char *scratch)
{
    (void)scratch;
    OHF_EACH_WIDTH(fill->width, OHF(rows_merge_of)(codes, n_groups, fill, out, W), (void)0)
}

/* ---- rows_expand -------------------------------------------------------------------------------------- */

#if OHF_SHUFFLES

/* Elements [first, last) of rows that start at element 0, one by one. */
OHF_INLINE void OHF(expand_scalar)(const uint8_t *codes, size_t first, size_t last, const ohf_fill *fill,
                                   unsigned char *out, size_t width)
{
    size_t row = first / fill->depth, column = first % fill->depth;
    for (size_t i = first; i < last; i++) {
        memcpy(out + i * width, codes[row] == column ? fill->on : fill->off, width);
        if (++column == fill->depth) {
            column = 0;
            row++;
        }
    }
}

/* A vector of output is built in registers: the codes of the rows it spans are shuffled to its lanes and compared
 * with the columns of its lanes. The pattern of rows and columns repeats with the plan's period. */
#define OHF_EXPAND(W)                                                                                          \
    OHF_INLINE void OHF(expand_##W)(const uint8_t *codes, size_t n_rows, const ohf_plan *plan,                 \
                                    const ohf_fill *fill, unsigned char *out, int streaming)                   \
    {                                                                                                          \
        const vec on = load(fill->on_line), off = load(fill->off_line);                                        \
        const size_t elements = n_rows * fill->depth, lanes = VB / W;                                          \
        const size_t head = plan->head < elements ? plan->head : elements;                                     \
        size_t left = (elements - head) / lanes;                                                               \
        unsigned char *to = out + head * W;                                                                    \
        const uint8_t *period = codes;                                                                         \
        OHF(expand_scalar)(codes, 0, head, fill, out, W);                                                      \
        while (left > 0) {                                                                                     \
            const size_t count = left < plan->vectors ? left : plan->vectors;                                  \
            for (size_t v = 0; v < count; v++, to += VB)                                                       \
                OHF(put)(to,                                                                                   \
                         select_##W(shuffle_##W(window(period + plan->first_row[v]),                           \
                                                lanes_##W(plan->row + v * lanes)),                             \
                                    lanes_##W(plan->column + v * lanes), on, off),                             \
                         streaming);                                                                           \
            period += plan->rows;                                                                              \
            left -= count;                                                                                     \
        }                                                                                                      \
        OHF(expand_scalar)(codes, (size_t)(to - out) / W, elements, fill, out, W);                             \
    }

OHF_EXPAND(1)
OHF_EXPAND(2)
OHF_EXPAND(4)
OHF_EXPAND(8)
OHF_EXPAND(16)

static void OHF(rows_expand)(const uint8_t *codes, size_t n_rows, const ohf_plan *plan, const ohf_fill *fill,
                             unsigned char *out)
{
    switch (fill->width * 2 + (size_t)(fill->stream != 0)) {
#define OHF_CASE(W)                                                                                            \
    case W * 2: OHF(expand_##W)(codes, n_rows, plan, fill, out, 0); return;                                    \
    case W * 2 + 1: OHF(expand_##W)(codes, n_rows, plan, fill, out, 1); OHF_STORE_FENCE(); return;
        OHF_CASE(1) OHF_CASE(2) OHF_CASE(4) OHF_CASE(8) OHF_CASE(16)
#undef OHF_CASE
    }
}

#endif /* OHF_SHUFFLES */
#endif /* a vector instruction set */

#define OHF_NARROW_TABLE(SUFFIX)                                                                               \
    { OHF(narrow##SUFFIX##_i8), OHF(narrow##SUFFIX##_i16), OHF(narrow##SUFFIX##_i32),                          \
      OHF(narrow##SUFFIX##_i64), OHF(narrow##SUFFIX##_u8), OHF(narrow##SUFFIX##_u16),                          \
      OHF(narrow##SUFFIX##_u32), OHF(narrow##SUFFIX##_u64), OHF(narrow##SUFFIX##_f32),                         \
      OHF(narrow##SUFFIX##_f64) }

#define OHF_MAP_TABLE(SUFFIX)                                                                                  \
    { OHF(map##SUFFIX##_i8), OHF(map##SUFFIX##_i16), OHF(map##SUFFIX##_i32), OHF(map##SUFFIX##_i64),           \
      OHF(map##SUFFIX##_u8), OHF(map##SUFFIX##_u16), OHF(map##SUFFIX##_u32), OHF(map##SUFFIX##_u64),           \
      NULL, NULL }

static const ohf_microkernels OHF(microkernels) = {
    .name = OHF_NAME,
    .narrow8 = OHF_NARROW_TABLE(8),
    .narrow32 = OHF_NARROW_TABLE(32),
    .map8 = OHF_MAP_TABLE(8),
    .map32 = OHF_MAP_TABLE(32),
    .bits = OHF(bits),
    .csr = OHF(csr),
    .count_edges = OHF(count_edges),
    .fill = OHF(fill_off),
    .rows_scatter = OHF(rows_scatter),
    .rows_block = OHF(rows_block),
    .planes = OHF(planes),
#if OHF_ISA != OHF_ISA_PLAIN
    .vector = VB,
    .streams = OHF_STREAMS,
    .rows_scratch = OHF(rows_scratch),
    .rows_merge = OHF(rows_merge),
    .copy = OHF(copy),
    .move = OHF(move),
    .fence = OHF(fence),
#  if OHF_SHUFFLES
    .rows_expand = OHF(rows_expand),
#  endif
#endif
};

#undef OHF_NARROW_INT
#undef OHF_NARROW_FLOAT
#undef OHF_NARROW_ALL
#undef OHF_NARROW_TABLE
#undef OHF_MAP
#undef OHF_MAP_ALL
#undef OHF_MAP_TABLE
#undef equal_mask64
#undef OHF_PLANES
#undef OHF_EXPAND
#undef OHF_FEW_EDGES
#undef OHF_SHUFFLES
#undef OHF_STREAMS
#undef OHF_STORE_FENCE
#undef OHF_BLEND
#undef VB
#undef vec
#undef load
#undef store
#undef stream
#undef window
#undef lanes_1
#undef lanes_2
#undef lanes_4
#undef lanes_8
#undef lanes_16
#undef splat_1
#undef splat_2
#undef splat_4
#undef splat_8
#undef splat_16
#undef shuffle_1
#undef shuffle_2
#undef shuffle_4
#undef shuffle_8
#undef shuffle_16
#undef select_1
#undef select_2
#undef select_4
#undef select_8
#undef select_16
