/* Writers of planes: codes become output whose new axis is not the last one.
 * Included by microkernels_body.h once for each instruction set. */

OHF_INLINE void OHF(planes_scalar)(const uint8_t *codes, size_t n, unsigned class, const ohf_fill *fill,
                                   unsigned char *out, size_t width)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * width, codes[i] == class ? fill->on : fill->off, width);
}

#if OHF_ISA == OHF_ISA_PLAIN

static void OHF(planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                        const ohf_fill *fill, unsigned char *out)
{
    for (unsigned class = 0; class < n_classes; class++, out += plane_bytes)
        OHF_EACH_WIDTH(fill->width, OHF(planes_scalar)(codes, n, class, fill, out, W),
                       OHF(planes_scalar)(codes, n, class, fill, out, fill->width))
}

#else

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

#endif

#undef OHF_PLANES
