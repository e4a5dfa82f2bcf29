/* The microkernels of one instruction set, included by microkernels.c once per variant with OHF_ISA and OHF(name) defined.
 *
 * Memory traffic: the indices are read once per block, the codes live in the first-level cache, the output is
 * written once and never read. Writers are generated per element width so that every store is of constant size;
 * widths other than 1, 2, 4, 8 and 16 go through memcpy of the width.
 */
#if OHF_ISA != OHF_ISA_PLAIN
#  include "stream.h"

OHF_INLINE void OHF(put)(unsigned char *out, vec v, int streaming)
{
    if (streaming)
        stream(out, v);
    else
        store(out, v);
}

/* Bytes up to the next multiple of VB. */
static inline size_t OHF(to_boundary)(const unsigned char *p)
{
    return (size_t)(-(uintptr_t)p & (VB - 1));
}

#endif

#include "microkernels_narrow.h"
#include "microkernels_rows.h"
#include "microkernels_planes.h"
#include "microkernels_bits.h"
#include "microkernels_csr.h"
#include "microkernels_differing.h"

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
    .differing = OHF(differing),
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

#undef OHF_NARROW_TABLE
#undef OHF_MAP_TABLE
#undef equal_mask64
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
