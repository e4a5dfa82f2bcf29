/* The writer of CSR matrices: codes of several columns become positions in rows.
 * Included by microkernels_body.h once for each instruction set. */

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
static int OHF(transpose_each)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
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
OHF_INLINE lanes OHF(transpose_some)(const ohf_shifted *c, size_t n, int kind, size_t row, size_t n_rows, size_t n_columns,
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
            store_low(each + 4, high);   /* one column: the same again */
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

static lanes OHF(transpose4)(const ohf_shifted *c, size_t row, size_t n_rows, size_t n_columns, int32_t *to)
{
    const int kind = c[0].kind == c[1].kind && c[2].kind == c[3].kind && c[0].kind == c[2].kind ? c->kind : -1;
    switch (kind) {
    case OHF_I8: return OHF(transpose_some)(c, 4, OHF_I8, row, n_rows, n_columns, to);
    case OHF_I16: return OHF(transpose_some)(c, 4, OHF_I16, row, n_rows, n_columns, to);
    case OHF_I32: return OHF(transpose_some)(c, 4, OHF_I32, row, n_rows, n_columns, to);
    default: return OHF(transpose_some)(c, 4, -1, row, n_rows, n_columns, to);
    }
}

/* The same as transpose_each, of eight rows or a multiple, and perhaps of one position behind them. */
static int OHF(transpose)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
{
    lanes bad = splat32(0);
    size_t j = 0;
    if (n_columns == 2)
        bad = OHF(transpose_some)(columns, 2, -1, row, n, 2, to);
    else if (n_columns == 3)
        bad = OHF(transpose_some)(columns, 3, -1, row, n, 3, to);
    else {
        for (; j + 4 <= n_columns; j += 4)
            bad = or32(bad, OHF(transpose4)(columns + j, row, n, n_columns, to + j));
        if (n_columns % 4 == 1)
            bad = or32(bad, OHF(transpose_some)(columns + j, 1, -1, row, n, n_columns, to + j));
        else if (n_columns % 4 == 2)
            bad = or32(bad, OHF(transpose_some)(columns + j, 2, -1, row, n, n_columns, to + j));
        else if (j < n_columns)   /* the last four, one of which is written */
            bad = or32(bad, OHF(transpose4)(columns + n_columns - 4, row, n, n_columns, to + n_columns - 4));
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

static int OHF(transpose)(const ohf_shifted *columns, size_t n_columns, size_t row, size_t n, int32_t *to)
{
    return OHF(transpose_each)(columns, n_columns, row, n, to);
}

#endif

/* Several rows in one call, so that few columns are worth it. Ordinary stores: while lines leave past the caches all
 * other stores wait (1M rows of 5 columns 0.33 ns a code, 0.58 past the caches; 10M rows 0.38 - 0.48, 0.50 - 0.63). */
static size_t OHF(csr)(const ohf_shifted *columns, size_t n_columns, size_t n_rows, int32_t place, int32_t *indices,
                       int32_t *ends)
{
    const size_t step = n_columns < 8 ? 16 * (8 / n_columns) : 16;
    size_t row = 0;
    while (row < n_rows) {
        /* One row more must follow whole steps, which three columns may reach into. */
        const size_t count = row + step < n_rows ? step : 1;
        const int is_there = count > 1 ? OHF(transpose)(columns, n_columns, row, count, indices + row * n_columns)
                                       : OHF(transpose_each)(columns, n_columns, row, 1, indices + row * n_columns);
        if (!is_there)
            break;
        for (size_t i = 0; i < count; i++)
            ends[row + i] = place + (int32_t)((row + i + 1) * n_columns);
        row += count;
    }
    return row;
}
