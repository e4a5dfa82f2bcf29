/* The counter of elements that differ from one value.
 * Included by microkernels_body.h once for each instruction set. The compiler vectorises its loops. */

/* Parts are counted in integers of their own width, so that a vector needs no conversion; after LIMIT parts, before
 * such a counter overflows, the count is added to a wider one. */
#define OHF_DIFFERING(TYPE, LIMIT)                                                                             \
    static size_t OHF(differing_##TYPE)(const TYPE *parts, size_t n, TYPE value)                               \
    {                                                                                                          \
        size_t count = 0;                                                                                      \
        for (size_t begin = 0; begin < n; begin += LIMIT) {                                                    \
            const size_t end = n - begin < LIMIT ? n : begin + LIMIT;                                          \
            TYPE some = 0;                                                                                     \
            for (size_t i = begin; i < end; i++)                                                               \
                some = (TYPE)(some + (parts[i] != value));                                                     \
            count += some;                                                                                     \
        }                                                                                                      \
        return count;                                                                                          \
    }

OHF_DIFFERING(uint8_t, 128)
OHF_DIFFERING(uint16_t, 4096)
OHF_DIFFERING(uint32_t, 4096)
#undef OHF_DIFFERING

/* The two halves of an element of 8 bytes are compared one by one, because SSE2 cannot compare integers of 64 bits. */
static size_t OHF(differing_uint64_t)(const uint32_t *halves, size_t n, const uint32_t *value)
{
    const uint32_t first = value[0], second = value[1];
    size_t count = 0;
    for (size_t begin = 0; begin < n; begin += 4096) {
        const size_t end = n - begin < 4096 ? n : begin + 4096;
        uint32_t some = 0;
        for (size_t i = begin; i < end; i++)
            some += (uint32_t)(halves[2 * i] != first) + (uint32_t)(halves[2 * i + 1] != second);
        count += some;
    }
    return count;
}

static size_t OHF(differing)(const unsigned char *elements, size_t n, size_t width, const unsigned char *value)
{
    uint16_t two;
    uint32_t four[2];
    if (width == 1)
        return OHF(differing_uint8_t)(elements, n, *value);
    if (width == 2) {
        memcpy(&two, value, sizeof two);
        return OHF(differing_uint16_t)((const uint16_t *)(const void *)elements, n, two);
    }
    memcpy(four, value, width);
    if (width == 4)
        return OHF(differing_uint32_t)((const uint32_t *)(const void *)elements, n, four[0]);
    return OHF(differing_uint64_t)((const uint32_t *)(const void *)elements, n, four);
}
