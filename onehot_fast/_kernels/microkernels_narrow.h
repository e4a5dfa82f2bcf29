/* Indices of any type become small codes; local codes become codes through a look-up table.
 * Included by microkernels_body.h once for each instruction set. */

/* ---- codes in their window ---------------------------------------------------------------------------- */

/* The caller's indices may change while they are read, and a compiler may load twice what is read once here, compare
 * the one and use the other. So codes are compared with the window again in private memory: those outside have
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
 * too large: one comparison decides. Up to 2**31 classes the same holds in 32 bits, with twice the throughput. */
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
 * have a loop of their own, so that compilers vectorise the others: 0.3 ns a code instead of 0.7.
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

#undef OHF_WITHIN
#undef OHF_NARROW_INT
#undef OHF_NARROW_FLOAT
#undef OHF_NARROW_ALL
#undef OHF_MAP
#undef OHF_MAP_ALL
