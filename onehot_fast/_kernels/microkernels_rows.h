/* Writers of rows: codes become output whose new axis is the last one, or is followed by few elements.
 * Included by microkernels_body.h once for each instruction set. */

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

#if OHF_ISA != OHF_ISA_PLAIN

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

/* The scratch block holds only off between blocks: hot elements are stored, the block is streamed, and the hot
 * elements are reset to off; if they are many, the whole block is reset instead. */
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

#undef OHF_EXPAND
