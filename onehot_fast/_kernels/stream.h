/* The vector primitives of one instruction set, chosen by OHF_ISA; included once per variant by microkernels_body.h.
 *
 *   VB               bytes of a vector
 *   load, store, stream              of VB bytes; stream wants VB-aligned memory and bypasses the caches
 *   lanes_W, splat_W, shuffle_W      the codes of the VB / W elements of width W, one byte each
 *   select_W(a, b, on, off)          per element: on where the codes of a and b agree, else off
 *
 *   equal_mask64(p, c)               a bit for each of the 64 codes at p, lowest first: whether it is c
 *
 * shuffle_W picks lanes from a window of 16 codes and exists where OHF_SHUFFLES is 1.
 */

#if OHF_ISA == OHF_ISA_AVX512
#  define VB 64
#  define OHF_SHUFFLES 1
#  define OHF_STREAMS 1
#  define vec __m512i
#  define load(p) _mm512_loadu_si512(p)
#  define equal_mask64(p, c) _mm512_cmpeq_epi8_mask(load(p), splat_1(c))
#  define store(p, v) _mm512_storeu_si512(p, v)
#  define stream(p, v) _mm512_stream_si512((void *)(p), v)
#  define lanes_1(p) _mm512_loadu_si512(p)
#  define lanes_2(p) _mm256_loadu_si256((const __m256i *)(p))
#  define lanes_4(p) _mm_loadu_si128((const __m128i *)(p))
#  define lanes_8(p) _mm_loadl_epi64((const __m128i *)(p))
#  define lanes_16(p) _mm_cvtsi32_si128(OHF(load32)(p))
#  define splat_1(c) _mm512_set1_epi8((char)(c))
#  define splat_2(c) _mm256_set1_epi8((char)(c))
#  define splat_4(c) _mm_set1_epi8((char)(c))
#  define splat_8 splat_4
#  define splat_16 splat_4
#  define window(p) _mm_loadu_si128((const __m128i *)(p))
#  define shuffle_1(w, s) _mm512_shuffle_epi8(_mm512_broadcast_i32x4(w), s)
#  define shuffle_2(w, s) _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(w), s)
#  define shuffle_4(w, s) _mm_shuffle_epi8(w, s)
#  define shuffle_8 shuffle_4
#  define shuffle_16 shuffle_4
#  define select_1(a, b, on, off) _mm512_mask_blend_epi8(_mm512_cmpeq_epi8_mask(a, b), off, on)
#  define select_2(a, b, on, off) _mm512_mask_blend_epi16(_mm256_cmpeq_epi8_mask(a, b), off, on)
#  define select_4(a, b, on, off) _mm512_mask_blend_epi32(_mm_cmpeq_epi8_mask(a, b), off, on)
#  define select_8(a, b, on, off) _mm512_mask_blend_epi64((__mmask8)_mm_cmpeq_epi8_mask(a, b), off, on)
/* Two 8-byte halves an element: each code twice. */
#  define select_16(a, b, on, off) \
    select_8(_mm_unpacklo_epi8(a, a), _mm_unpacklo_epi8(b, b), on, off)

#elif OHF_ISA == OHF_ISA_AVX2
#  define VB 32
#  define OHF_SHUFFLES 1
#  define OHF_STREAMS 1
#  define vec __m256i
#  define load(p) _mm256_loadu_si256((const __m256i *)(p))
#  define equal_mask64(p, c) (OHF(equal_mask)(p, c) | (uint64_t)OHF(equal_mask)((p) + 32, c) << 32)
#  define store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#  define stream(p, v) _mm256_stream_si256((__m256i *)(p), v)
#  define lanes_1(p) _mm256_loadu_si256((const __m256i *)(p))
#  define lanes_2(p) _mm_loadu_si128((const __m128i *)(p))
#  define lanes_4(p) _mm_loadl_epi64((const __m128i *)(p))
#  define lanes_8(p) _mm_cvtsi32_si128(OHF(load32)(p))
#  define lanes_16(p) _mm_cvtsi32_si128(OHF(load16)(p))
#  define splat_1(c) _mm256_set1_epi8((char)(c))
#  define splat_2(c) _mm_set1_epi8((char)(c))
#  define splat_4 splat_2
#  define splat_8 splat_2
#  define splat_16 splat_2
#  define window(p) _mm_loadu_si128((const __m128i *)(p))
#  define shuffle_1(w, s) _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(w), s)
#  define shuffle_2(w, s) _mm_shuffle_epi8(w, s)
#  define shuffle_4 shuffle_2
#  define shuffle_8 shuffle_2
#  define shuffle_16 shuffle_2
#  define select_1(a, b, on, off) _mm256_blendv_epi8(off, on, _mm256_cmpeq_epi8(a, b))
#  define select_2(a, b, on, off) _mm256_blendv_epi8(off, on, _mm256_cvtepi8_epi16(_mm_cmpeq_epi8(a, b)))
#  define select_4(a, b, on, off) _mm256_blendv_epi8(off, on, _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(a, b)))
#  define select_8(a, b, on, off) _mm256_blendv_epi8(off, on, _mm256_cvtepi8_epi64(_mm_cmpeq_epi8(a, b)))
#  define select_16(a, b, on, off) \
    select_8(_mm_unpacklo_epi8(a, a), _mm_unpacklo_epi8(b, b), on, off)

#elif OHF_ISA == OHF_ISA_SSE2
#  define VB 16
#  define OHF_SHUFFLES 0   /* pshufb is SSSE3, above the floor of x86-64 */
#  define OHF_STREAMS 1
#  define vec __m128i
#  define load(p) _mm_loadu_si128((const __m128i *)(p))
#  define equal_mask64(p, c)                                                    \
    ((uint64_t)OHF(equal_mask)(p, c) | (uint64_t)OHF(equal_mask)((p) + 16, c) << 16 \
     | (uint64_t)OHF(equal_mask)((p) + 32, c) << 32 | (uint64_t)OHF(equal_mask)((p) + 48, c) << 48)
#  define store(p, v) _mm_storeu_si128((__m128i *)(p), v)
#  define stream(p, v) _mm_stream_si128((__m128i *)(p), v)
#  define lanes_1(p) _mm_loadu_si128((const __m128i *)(p))
#  define lanes_2(p) _mm_loadl_epi64((const __m128i *)(p))
#  define lanes_4(p) _mm_cvtsi32_si128(OHF(load32)(p))
#  define lanes_8(p) _mm_cvtsi32_si128(OHF(load16)(p))
#  define lanes_16(p) _mm_cvtsi32_si128(*(const unsigned char *)(p))
#  define splat_1(c) _mm_set1_epi8((char)(c))
#  define splat_2 splat_1
#  define splat_4 splat_1
#  define splat_8 splat_1
#  define splat_16 splat_1

#  define OHF_BLEND(m, on, off) OHF(blend)(m, on, off)
#  define select_1(a, b, on, off) OHF_BLEND(_mm_cmpeq_epi8(a, b), on, off)
#  define select_2(a, b, on, off) OHF_BLEND(OHF(widen)(_mm_cmpeq_epi8(a, b), 1), on, off)
#  define select_4(a, b, on, off) OHF_BLEND(OHF(widen)(_mm_cmpeq_epi8(a, b), 2), on, off)
#  define select_8(a, b, on, off) OHF_BLEND(OHF(widen)(_mm_cmpeq_epi8(a, b), 3), on, off)
#  define select_16(a, b, on, off) OHF_BLEND(OHF(widen)(_mm_cmpeq_epi8(a, b), 4), on, off)

#elif OHF_ISA == OHF_ISA_NEON
#  define VB 16
#  define OHF_SHUFFLES 1
#  define OHF_STREAMS 0   /* stnp is a hint of pairs that compilers do not offer as an intrinsic */
#  define vec uint8x16_t
#  define load(p) vld1q_u8((const uint8_t *)(p))
#  define equal_mask64(p, c) OHF(equal_mask)(p, c)
#  define store(p, v) vst1q_u8((uint8_t *)(p), v)
#  define stream(p, v) vst1q_u8((uint8_t *)(p), v)
#  define lanes_1(p) vld1q_u8((const uint8_t *)(p))
#  define lanes_2(p) vcombine_u8(vld1_u8((const uint8_t *)(p)), vdup_n_u8(0))
#  define lanes_4(p) vreinterpretq_u8_u32(vsetq_lane_u32((uint32_t)OHF(load32)(p), vdupq_n_u32(0), 0))
#  define lanes_8(p) vreinterpretq_u8_u32(vsetq_lane_u32((uint32_t)OHF(load16)(p), vdupq_n_u32(0), 0))
#  define lanes_16(p) vdupq_n_u8(*(const uint8_t *)(p))
#  define splat_1(c) vdupq_n_u8((uint8_t)(c))
#  define splat_2 splat_1
#  define splat_4 splat_1
#  define splat_8 splat_1
#  define splat_16 splat_1
#  define window(p) vld1q_u8((const uint8_t *)(p))
#  define shuffle_1(w, s) vqtbl1q_u8(w, s)
#  define shuffle_2 shuffle_1
#  define shuffle_4 shuffle_1
#  define shuffle_8 shuffle_1
#  define shuffle_16 shuffle_1
#  define select_1(a, b, on, off) vbslq_u8(vceqq_u8(a, b), on, off)
#  define select_2(a, b, on, off) vbslq_u8(OHF(widen)(vceqq_u8(a, b), 1), on, off)
#  define select_4(a, b, on, off) vbslq_u8(OHF(widen)(vceqq_u8(a, b), 2), on, off)
#  define select_8(a, b, on, off) vbslq_u8(OHF(widen)(vceqq_u8(a, b), 3), on, off)
#  define select_16(a, b, on, off) vbslq_u8(OHF(widen)(vceqq_u8(a, b), 4), on, off)
#endif

#if OHF_STREAMS
#  define OHF_STORE_FENCE() _mm_sfence()
#else
#  define OHF_STORE_FENCE() ((void)0)
#endif

#if OHF_ISA == OHF_ISA_AVX2 || OHF_ISA == OHF_ISA_AVX512
/* A bit for each of 32 codes: its highest one after a shift. */
static inline uint32_t OHF(high_bits)(const uint8_t *codes, int shift)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)codes);
    return (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(v, _mm_cvtsi32_si128(shift)));
}
#elif OHF_ISA == OHF_ISA_SSE2
static inline uint32_t OHF(high_bits)(const uint8_t *codes, int shift)
{
    const __m128i a = load(codes), b = load(codes + 16), by = _mm_cvtsi32_si128(shift);
    return (uint32_t)_mm_movemask_epi8(_mm_sll_epi16(a, by)) | (uint32_t)_mm_movemask_epi8(_mm_sll_epi16(b, by)) << 16;
}
#endif

/* A few codes loaded without reading past them or assuming alignment. */
static inline int OHF(load32)(const void *p)
{
    int32_t codes;
    memcpy(&codes, p, sizeof codes);
    return codes;
}

static inline int OHF(load16)(const void *p)
{
    uint16_t codes;
    memcpy(&codes, p, sizeof codes);
    return codes;
}

#if OHF_ISA == OHF_ISA_AVX2
static inline uint32_t OHF(equal_mask)(const uint8_t *codes, unsigned code)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(codes), splat_1(code)));
}
#elif OHF_ISA == OHF_ISA_SSE2
static inline uint32_t OHF(equal_mask)(const uint8_t *codes, unsigned code)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(load(codes), splat_1(code)));
}

static inline __m128i OHF(blend)(__m128i m, __m128i on, __m128i off)
{
    return _mm_or_si128(_mm_and_si128(m, on), _mm_andnot_si128(m, off));
}

/* Each byte of a mask repeated 2**doublings times, lowest bytes first. */
static inline __m128i OHF(widen)(__m128i m, int doublings)
{
    for (int i = 0; i < doublings; i++)
        m = _mm_unpacklo_epi8(m, m);
    return m;
}
#elif OHF_ISA == OHF_ISA_NEON
/* Each code that is equal leaves one bit, and neighbours are added until eight of them are a byte. */
static inline uint64_t OHF(equal_mask)(const uint8_t *codes, unsigned code)
{
    static const uint8_t bit_of[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const vec bits = load(bit_of), wanted = splat_1(code);
    const vec a = vpaddq_u8(vceqq_u8(load(codes), wanted) & bits, vceqq_u8(load(codes + 16), wanted) & bits);
    const vec b = vpaddq_u8(vceqq_u8(load(codes + 32), wanted) & bits, vceqq_u8(load(codes + 48), wanted) & bits);
    const vec bytes = vpaddq_u8(vpaddq_u8(a, b), bits);
    return vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 0);
}

/* Each byte of a mask repeated 2**doublings times, lowest bytes first. */
static inline uint8x16_t OHF(widen)(uint8x16_t m, int doublings)
{
    for (int i = 0; i < doublings; i++)
        m = vzip1q_u8(m, m);
    return m;
}
#endif
