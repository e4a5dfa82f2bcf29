/* A microkernel is a C function that works on one block, which fits the first-level cache.
 *
 * It gets pointers that its caller has checked, allocates nothing, cannot fail and does not need the GIL. One that writes
 * past the caches does not wait for these stores: its caller calls `ohf_store_fence` after its last microkernel. There
 * are two families:
 *
 *   narrow and map   convert indices of one type to small codes
 *   rows, planes ... write the output elements of codes; they know an element only by its width in bytes
 *
 * microkernels.c compiles them once for each instruction set. Each variant is one struct ohf_microkernels. */
#ifndef OHF_MICROKERNELS_H
#define OHF_MICROKERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The types of an index, in the order of the arrays narrow8 ... map32. */
enum {
    OHF_I8, OHF_I16, OHF_I32, OHF_I64, OHF_U8, OHF_U16, OHF_U32, OHF_U64, OHF_F32, OHF_F64,
    OHF_INDEX_TYPES
};

/* A kernel may write a window of the classes at a time. A code is the number of a class in the window, or OHF_NONE8 or
 * OHF_NONE32 if the index has no class in the window. */
#define OHF_NONE8 255
#define OHF_NONE32 (-1)
#define OHF_SPAN8 255                      /* the most classes of a window with codes of one byte */
#define OHF_SPAN32 ((uint64_t)1 << 30)     /* the most classes of a window with codes of four bytes */
#define OHF_PAD 64                         /* a caller lets microkernels read so many bytes behind a block of codes */
#define OHF_SCRATCH 16384                  /* bytes of the scratch of rows_scratch: half of a cache of 32 KiB */
/* `bits` handles tiles of OHF_BIT_ROWS codes. A mask has one bit for each code of a tile. The scratch of `bits` holds
 * 32 masks of OHF_BIT_MASK bytes (plain C uses this part for one line of 64 bytes for each class), then 9 masks for
 * single bits of the codes. */
#define OHF_BIT_ROWS 4096
#define OHF_BIT_MASK (OHF_BIT_ROWS / 8)
#define OHF_BIT_MASKS 16384
#define OHF_BIT_SCRATCH (OHF_BIT_MASKS + 9 * OHF_BIT_MASK)
#define OHF_MAP_BLOCK 512                  /* `map` handles blocks of so many codes: 2 KiB on the stack */
#define OHF_FIND_BLOCK 1024                /* `find_mapped` looks at so many bytes at a time */
#define OHF_EXPAND_DEPTH 255               /* the most classes of rows_expand, whose codes have one byte */
#define OHF_EXPAND_WINDOW 16               /* the most rows of which one vector of rows_expand has elements */

/* What an index means: which class it is, and which code this class has in the window [base, base + span). */
typedef struct {
    uint64_t depth;        /* the classes are 0 ... depth - 1; depth < 2**63 */
    uint64_t base, span;
    uint64_t ignored;      /* if has_ignored: this index, converted to 64 bits, has no class */
    int has_ignored;
    int wrap;              /* an index k from -depth to -1 means class k + depth */
} ohf_policy;

#define OHF_UNKNOWN (-2)                   /* an entry of a look-up table for values that set a flag */
#define OHF_FEW 32                         /* so many values are compared one by one, instead of a look-up */
#define OHF_FEW_BLOCK 128                  /* they are compared with blocks of so many codes: up to 1 KiB on the stack */
#define OHF_FEW_CODES 254                  /* their classes are smaller; 254 stands for OHF_UNKNOWN, 255 for no class */

/* A look-up table maps the codes of one column to classes. An entry of -1 means no class, and so does OHF_UNKNOWN. The
 * last entry belongs to every value that is no code, such as a missing value. The window is that of ohf_policy. */
typedef struct {
    const int32_t *entries;
    uint64_t n_codes;      /* the look-up table has n_codes + 1 entries */
    int only_adds;         /* for each code i, entries[i] == entries[0] + i, so that an addition replaces the look-up */
    uint64_t base, span;
    uint64_t low;          /* entry i belongs to the value low + i, modulo 2**64 */
    int *unknown;          /* the flag that an entry of OHF_UNKNOWN sets, or NULL */
    /* If n_few is not 0, these values are compared, and all others have the class `other_class`. */
    int n_few;
    uint64_t few_values[OHF_FEW];
    uint8_t few_classes[OHF_FEW], other_class;
} ohf_lut;

/* A column of which a code c from 0 to `top` has the position first + c, which fits int32. Every other value has no
 * position. */
typedef struct {
    const unsigned char *codes;
    int index_type;              /* OHF_I8, OHF_U8, OHF_I16, OHF_U16 or OHF_I32 */
    int32_t first, top;
} ohf_shifted;

/* The elements of the output. `inner` neighbouring indices make one group, whose depth * inner elements lie together
 * in the output. With the new axis last, `inner` is 1 and a group is a row. */
typedef struct {
    size_t width;          /* the bytes of an element */
    size_t depth, inner;
    const unsigned char *on, *off;
    int stream;            /* 1 if stores shall bypass the caches */
    int off_is_byte;       /* 1 if all bytes of `off` are equal, so that memset can fill */
    unsigned char on_line[64], off_line[64];   /* copies of on and off in 64 bytes, if width divides 64 */
} ohf_fill;

/* Tell rows_expand to which row and column each element of a vector belongs. After `vectors` vectors, or `rows` rows,
 * the pattern repeats. */
typedef struct {
    size_t head;           /* the elements in front of the first aligned vector */
    size_t vectors, rows;
    uint16_t first_row[OHF_EXPAND_DEPTH];     /* for each vector: the row of its first element */
    /* for each element of each vector: its row, counted from first_row, and its column */
    unsigned char row[OHF_EXPAND_DEPTH * 64], column[OHF_EXPAND_DEPTH * 64];
} ohf_plan;

/* A table of 256 bytes. `runs` are the runs of 16 entries that are not all equal to the first entry. */
typedef struct {
    uint8_t entries[256];
    int n_runs;
    uint8_t runs[16];
} ohf_byte_map;

typedef void (*ohf_narrow)(const void *indices, size_t n, const ohf_policy *policy, void *codes);
/* Return 1 if every index has a class in the window; 0 says nothing. */
typedef int (*ohf_map)(const void *local_codes, size_t n, const ohf_lut *lut, void *codes);
typedef void (*ohf_rows)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                         unsigned char *scratch);

/* The microkernels of one variant. In plain C, the writers that need vectors are NULL. */
typedef struct {
    const char *name;
    int vector;                            /* the bytes of a vector register, 0 in plain C */
    int streams;                           /* 1 if the variant has stores that bypass the caches */
    ohf_narrow narrow8[OHF_INDEX_TYPES], narrow32[OHF_INDEX_TYPES];
    ohf_map map8[OHF_INDEX_TYPES], map32[OHF_INDEX_TYPES];   /* NULL for floats */
    ohf_rows rows_scatter;                 /* write `on` into memory that already holds `off` */
    ohf_rows rows_block;                   /* fill a block with `off`, then write `on`; for any width */
    ohf_rows rows_scratch;                 /* build a block in the scratch, then copy it past the caches */
    ohf_rows rows_merge;                   /* write rows past the caches; build only the vector that contains `on` */
    /* Write rows whose codes have one byte, vector by vector. */
    void (*rows_expand)(const uint8_t *codes, size_t n_rows, const ohf_plan *plan, const ohf_fill *fill,
                        unsigned char *out);
    /* Write a plane of n elements for each class: an element is `on` if the code at its position is the class. */
    void (*planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                   const ohf_fill *fill, unsigned char *out);
    /* Write all planes of n codes without gaps from `out` on, whose address is a multiple of the width. n is at least the
     * elements of a vector, the width is one of rows_expand. If `joins_before`, also write the end of the planes before
     * `out`, back to the last multiple of a vector; the codes in front of `codes` are the last codes of these planes. If
     * `joins_after`, leave the end behind the last multiple of a vector to the next call. */
    void (*planes_joined)(const uint8_t *codes, size_t n, const ohf_fill *fill, unsigned char *out, int joins_before,
                          int joins_after);
    /* Write the planes as bits, eight positions in a byte, the first in the lowest bit. Bits behind the last position
     * are 0. Only the last call for a column may have an n that is no multiple of 512. If `streaming`, the address of
     * each plane is a multiple of 64. `masks` has OHF_BIT_SCRATCH bytes, and its address is a multiple of 64. */
    void (*bits)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes, int streaming,
                 unsigned char *out, unsigned char *masks);
    /* Write the positions of each row to `indices`, and to `ends` how many positions there are up to the end of the
     * row, plus `place`. Stop at a row in which a column has no position, or some rows before it. Return the number of
     * rows that are complete; the memory of later rows may be changed too. */
    size_t (*csr)(const ohf_shifted *columns, size_t n_columns, size_t n_rows, int32_t place, int32_t *indices,
                  int32_t *ends);
    /* Count the parts of n elements that differ from the same part of `value`. An aligned element of 1, 2 or 4 bytes is
     * one part, and one of 8 bytes is two parts. */
    size_t (*differing)(const unsigned char *elements, size_t n, size_t width, const unsigned char *value);
    /* Write the entry of each byte. */
    void (*map_bytes)(const uint8_t *bytes, size_t n, const ohf_byte_map *map, uint8_t *out);
    /* Return the position of the first byte whose entry is not 0, or n. */
    size_t (*find_mapped)(const uint8_t *bytes, size_t n, const ohf_byte_map *map);
    /* Write the positions of the bytes from `first` to `last`, and return their number. There are at most 65536 bytes. */
    size_t (*find_bytes)(const uint8_t *bytes, size_t n, unsigned first, unsigned last, uint16_t *positions);
    /* Fill memory with `off`. */
    void (*fill)(unsigned char *out, size_t n_bytes, const ohf_fill *fill);
    /* Copy memory past the caches. Both addresses have the same remainder by 64. `move` also fills the source with
     * `off`. In plain C these are NULL. */
    void (*copy)(unsigned char *out, const unsigned char *from, size_t n_bytes);
    void (*move)(unsigned char *out, unsigned char *from, size_t n_bytes, const ohf_fill *fill);
} ohf_microkernels;

/* Write the variants that this processor can run, the fastest first, at most `room`. Return how many there are. */
int ohf_variants(const ohf_microkernels **found, int room);

/* Return the size in bytes from which an output is written past the caches: half the last-level cache, but at most
 * 16 MiB, because a virtual machine may report a cache of hundreds of MiB that it shares with others. */
size_t ohf_stream_bytes(void);

/* Several extension modules call the following functions, which are therefore in the header. */

/* Describe an output with elements of `width` bytes. */
static inline void ohf_fill_init(ohf_fill *fill, size_t width, size_t depth, size_t inner, const unsigned char *on,
                                 const unsigned char *off)
{
    fill->width = width;
    fill->depth = depth;
    fill->inner = inner;
    fill->on = on;
    fill->off = off;
    fill->stream = 0;
    fill->off_is_byte = 1;
    for (size_t i = 1; i < width; i++)
        fill->off_is_byte &= off[i] == off[0];
    if (width <= 16 && 64 % width == 0)
        for (size_t i = 0; i < 64; i += width) {
            memcpy(fill->on_line + i, on, width);
            memcpy(fill->off_line + i, off, width);
        }
}

/* Describe a table of bytes. */
static inline void ohf_byte_map_init(ohf_byte_map *map, const uint8_t *entries)
{
    memcpy(map->entries, entries, 256);
    map->n_runs = 0;
    for (int run = 0; run < 16; run++) {
        int is_same = 1;
        for (int i = 0; i < 16; i++)
            is_same &= entries[16 * run + i] == entries[0];
        if (!is_same)
            map->runs[map->n_runs++] = (uint8_t)run;
    }
}

/* Return the greatest common divisor. */
static inline size_t ohf_gcd(size_t a, size_t b)
{
    while (b != 0) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Tell whether rows_expand can write this output to `out`. */
static inline int ohf_can_expand(const ohf_microkernels *microkernels, const ohf_fill *fill, const unsigned char *out)
{
    const size_t width = fill->width, row_bytes = fill->depth * width;
    if (microkernels->rows_expand == NULL || fill->inner != 1 || width > 16 || 64 % width != 0)
        return 0;
    if (fill->depth > OHF_EXPAND_DEPTH || (uintptr_t)out % width != 0)
        return 0;
    /* Vectors begin at places of a row whose distances are multiples of `step`. Count the rows of the vector that begins
     * at the last of these places. */
    const size_t vector = (size_t)microkernels->vector, step = ohf_gcd(row_bytes, vector);
    const size_t last = row_bytes - step + (size_t)(-(uintptr_t)out & (step - 1));
    return (last + vector - 1) / row_bytes + 1 <= OHF_EXPAND_WINDOW;
}

/* Compute the plan of rows_expand for an output at `out`. */
static inline void ohf_plan_init(ohf_plan *plan, const ohf_microkernels *microkernels, const ohf_fill *fill,
                                 const unsigned char *out)
{
    const size_t vector = (size_t)microkernels->vector, width = fill->width, depth = fill->depth;
    const size_t lanes = vector / width, row_bytes = depth * width, shared = ohf_gcd(row_bytes, vector);
    size_t element = plan->head = (size_t)(-(uintptr_t)out & (vector - 1)) / width;
    plan->vectors = row_bytes / shared;
    plan->rows = vector / shared;
    for (size_t v = 0; v < plan->vectors; v++) {
        const size_t first = element / depth;
        plan->first_row[v] = (uint16_t)first;
        for (size_t lane = 0; lane < lanes; lane++, element++) {
            plan->row[v * lanes + lane] = (unsigned char)(element / depth - first);
            plan->column[v * lanes + lane] = (unsigned char)(element % depth);
        }
    }
}

#endif
