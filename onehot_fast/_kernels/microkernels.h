/* The C interface of the microkernels.
 *
 * A microkernel works on one block that fits the first-level cache, on raw pointers, without the GIL, allocations and
 * errors: its callers check everything. Two families:
 *
 *   narrow   indices of one kind -> small codes, every index policy applied
 *   write    codes -> output elements, known only by their width in bytes
 *
 * microkernels.c compiles microkernels.isa.inc once for each instruction set; each variant has one table of functions.
 */
#ifndef OHF_MICROKERNELS_H
#define OHF_MICROKERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The kinds of index the narrow microkernels read, in the order of their tables. */
enum {
    OHF_I8, OHF_I16, OHF_I32, OHF_I64, OHF_U8, OHF_U16, OHF_U32, OHF_U64, OHF_F32, OHF_F64,
    OHF_INDEX_TYPES
};

/* Codes are classes relative to the window's first class; these two say "no class of this window". */
#define OHF_NONE8 255
#define OHF_NONE32 (-1)
#define OHF_SPAN8 255                      /* most classes of a window with one-byte codes */
#define OHF_SPAN32 ((uint64_t)1 << 30)     /* most classes of a window with four-byte codes */
#define OHF_PAD 64                         /* readable bytes a block of codes has behind its end */
#define OHF_SCRATCH 16384                  /* bytes of the scratch block of rows_scratch: half of a 32 KiB L1 */
#define OHF_BIT_ROWS 4096                  /* codes of a block of masks, */
#define OHF_BIT_MASK (OHF_BIT_ROWS / 8)    /* bytes of such a mask, */
#define OHF_BIT_MASKS 16384                /* and of 32 masks; in plain C, of lines of 512 bits of all classes */
#define OHF_BIT_SCRATCH (OHF_BIT_MASKS + 9 * OHF_BIT_MASK)   /* these, and masks of each bit of the codes */
#define OHF_MAP_BLOCK 512                  /* codes of a block of a map: 2 KiB on the stack */
#define OHF_EXPAND_DEPTH 255               /* deepest row that rows_expand takes: its codes are one byte */
#define OHF_EXPAND_WINDOW 16               /* rows that one vector of rows_expand may span */

/* How indices are interpreted, and the window [base, base + span) of classes for relative codes. */
typedef struct {
    uint64_t depth;        /* classes are [0, depth); depth < 2**63 */
    uint64_t base, span;
    uint64_t ignored;      /* the ignored index widened to 64 bits, if has_ignored */
    int has_ignored;
    int wrap;              /* a negative k in [-depth, -1] means k + depth */
} ohf_policy;

/* A table from local codes to classes: entries -1 have none, and the entry behind the last code is for whatever is
 * no code: a missing value. The window is as in ohf_policy. */
typedef struct {
    const int32_t *entries;
    uint64_t n_codes;      /* n_codes + 1 entries */
    int only_adds;         /* entry i is entry 0 + i, for all codes */
    uint64_t base, span;
} ohf_lut;

/* A column of codes that a number is added to: those of [0, top] are there. The sum fits. */
typedef struct {
    const unsigned char *codes;
    int index_type;              /* OHF_I8, OHF_U8, OHF_I16, OHF_U16 or OHF_I32 */
    int32_t first, top;
} ohf_shifted;

/* The output: a group belongs to `inner` neighbouring indices and has depth * inner elements. */
typedef struct {
    size_t width;          /* bytes of an element */
    size_t depth, inner;
    const unsigned char *on, *off;
    int stream;            /* bypass the caches */
    int off_is_byte;       /* all bytes of off are equal: memset will do */
    unsigned char on_line[64], off_line[64];   /* the element repeated, where width divides 64 */
} ohf_fill;

/* How rows_expand builds its lines: for each vector of a period, which row and which column its lanes hold. */
typedef struct {
    size_t head;           /* elements before the first aligned vector */
    size_t vectors, rows;  /* in one period */
    uint16_t first_row[OHF_EXPAND_DEPTH];
    unsigned char row[OHF_EXPAND_DEPTH * 64], column[OHF_EXPAND_DEPTH * 64];   /* lanes entries a vector */
} ohf_plan;

typedef void (*ohf_narrow)(const void *indices, size_t n, const ohf_policy *policy, void *codes);
/* Returns 1 where it is known that no code is NONE. */
typedef int (*ohf_map)(const void *local_codes, size_t n, const ohf_lut *lut, void *codes);
typedef void (*ohf_rows)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                         unsigned char *scratch);

/* One variant's microkernels. Where `vector` is 0 the writers that need vectors are NULL. */
typedef struct {
    const char *name;
    int vector;                            /* bytes of a vector register, 0 for plain C */
    int streams;                           /* has stores that bypass the caches */
    ohf_narrow narrow8[OHF_INDEX_TYPES], narrow32[OHF_INDEX_TYPES];
    ohf_map map8[OHF_INDEX_TYPES], map32[OHF_INDEX_TYPES];   /* narrow through a table; no floats */
    ohf_rows rows_scatter;                 /* store hot elements into memory that holds off */
    ohf_rows rows_block;                   /* fill a block, then store hot elements: ordinary stores, any width */
    ohf_rows rows_scratch;                 /* compose blocks in the scratch block, stream them out */
    ohf_rows rows_merge;                   /* stream whole rows, composing the one line that holds the on */
    void (*rows_expand)(const uint8_t *codes, size_t n_rows, const ohf_plan *plan, const ohf_fill *fill,
                        unsigned char *out);
    void (*planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                   const ohf_fill *fill, unsigned char *out);
    /* The same in bits, the first position in the lowest bit; n is a multiple of 512 but in a run's last tile, and the
     * bits behind the run are 0. To be streamed, `out` and the planes start with a 64-byte line. `masks` are
     * OHF_BIT_SCRATCH bytes of scratch that start with a 64-byte line. */
    void (*bits)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes, int streaming,
                 unsigned char *out, unsigned char *masks);
    /* Write the positions of rows one after the other, and where each row ends, counted from `place`, up to a row that
     * lacks a code or to one shortly before it; return how many. What is written of later rows has no meaning. */
    size_t (*csr)(const ohf_shifted *columns, size_t n_columns, size_t n_rows, int32_t place, int32_t *indices,
                  int32_t *ends);
    /* Return how many parts of n aligned elements of 1, 2, 4 or 8 bytes differ from the same part of `value`. An element
     * is one part, or two halves if it has 8 bytes. */
    size_t (*differing)(const unsigned char *elements, size_t n, size_t width, const unsigned char *value);
    void (*fill)(unsigned char *out, size_t n_bytes, const ohf_fill *fill);
    /* Copy past the caches, from memory that has the same place in a 64-byte line; NULL where plain. After the last
     * one comes a fence. `move` leaves off behind. */
    void (*copy)(unsigned char *out, const unsigned char *from, size_t n_bytes);
    void (*move)(unsigned char *out, unsigned char *from, size_t n_bytes, const ohf_fill *fill);
    void (*fence)(void);
} ohf_microkernels;

/* The variants compiled in that this processor runs, best first; returns how many. */
int ohf_variants(const ohf_microkernels **found, int room);

/* The size of an output in bytes above which stores bypass the caches: half the last-level cache, and never more than
 * 16 MiB. A virtual machine may report a cache of hundreds of MiB that it shares with strangers. */
size_t ohf_stream_bytes(void);

/* These few functions are in the header because several extension modules call them. */

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

static inline size_t ohf_gcd(size_t a, size_t b)
{
    while (b != 0) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether rows of this fill fit rows_expand of `microkernels`, written to `out`. */
static inline int ohf_can_expand(const ohf_microkernels *microkernels, const ohf_fill *fill, const unsigned char *out)
{
    const size_t width = fill->width, row_bytes = fill->depth * width;
    if (microkernels->rows_expand == NULL || fill->inner != 1 || width > 16 || 64 % width != 0)
        return 0;
    if (fill->depth > OHF_EXPAND_DEPTH || (uintptr_t)out % width != 0)
        return 0;
    /* A vector spans at most this many rows: a part of one, whole ones, a part of one. */
    return ((size_t)microkernels->vector + row_bytes - width) / row_bytes + 1 <= OHF_EXPAND_WINDOW;
}

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
