/* The writer of Boolean columns with eight rows in a byte, as Arrow has them.
 * Included by microkernels_body.h once for each instruction set. */

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
    unsigned char *const of_bit = masks + OHF_BIT_MASKS;
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
        if (shift < 4)   /* in NONE all bits are set, the highest one too */
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
