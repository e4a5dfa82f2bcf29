/* A microkernel is a C function that works on one block, which fits the first-level cache.
 *
 * It gets pointers that its caller has checked, allocates nothing, cannot fail and does not need the GIL. A
 * microkernel that writes past the caches (by non-temporal stores) does not wait for these stores: its caller
 * calls `ohf_store_fence` after its last microkernel. There are two families:
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
    OHF_P4, OHF_P8,   /* pixels of up to 4 or 8 bytes, the first one in the lowest byte; only for `map` */
    OHF_INDEX_TYPES
};

/* A kernel may write a window at a time: a range of neighbouring classes. A code is the number of a class in the
 * window, or OHF_NONE8 or OHF_NONE32 if the index has no class in the window. */
#define OHF_NONE8 255
#define OHF_NONE32 (-1)
#define OHF_SPAN8 255                      /* the maximum number of classes in a window with codes of one byte */
#define OHF_SPAN32 ((uint64_t)1 << 30)     /* the maximum number of classes in a window with codes of four bytes */
#define OHF_PAD 64                         /* microkernels may read this number of bytes behind a block of codes */
#define OHF_SCRATCH 16384                  /* the bytes of scratch for rows_scratch: half of a cache of 32 KiB */
/* `bits` writes a tile of OHF_BIT_ROWS codes at a time. A mask has one bit for each code of the tile, and
 * OHF_BIT_MASK bytes. The scratch of `bits` contains 32 masks, which tell for each value of a half of a code, 4
 * bits, which codes have it (plain C uses this part for one line of 64 bytes for each class), then 9 masks, each
 * of which tells which codes have one bit. */
#define OHF_BIT_ROWS 4096
#define OHF_BIT_MASK (OHF_BIT_ROWS / 8)
#define OHF_BIT_MASKS 16384
#define OHF_BIT_SCRATCH (OHF_BIT_MASKS + 9 * OHF_BIT_MASK)
#define OHF_MAP_BLOCK 512                  /* `map` converts this number of codes at a time: 2 KiB on the stack */
#define OHF_FIND_BLOCK 4096                /* `find_mapped` searches this number of bytes at a time */
#define OHF_EXPAND_DEPTH 255               /* the maximum number of classes of rows_expand; codes have one byte */
#define OHF_EXPAND_WINDOW 16               /* a vector of rows_expand covers at most this number of rows */

/* The meaning of an index: its class, and the code of this class in the window [base, base + span). */
typedef struct {
    uint64_t depth;        /* the classes are 0 ... depth - 1; depth < 2**63 */
    uint64_t base, span;
    uint64_t ignored;      /* if has_ignored: this index, converted to 64 bits, has no class */
    int has_ignored;
    int wrap;              /* an index k from -depth to -1 means class k + depth */
} ohf_policy;

#define OHF_UNKNOWN (-2)                   /* an entry of a look-up table: no class, and the value sets a flag */
#define OHF_FEW 32                         /* up to this number of values, comparisons replace a look-up */
#define OHF_FEW_BLOCK 128                  /* comparisons take 128 codes at a time, with 1 KiB of stack */
/* A class that is stored in one byte is less than OHF_FEW_CODES. The byte OHF_FEW_CODES stands for OHF_UNKNOWN,
 * and the byte 255 for no class. */
#define OHF_FEW_CODES 254

/* A few values and the class of each in one byte: 254 for OHF_UNKNOWN, 255 for no class. Every other value has the
 * class ohf_lut.other_class. */
typedef struct {
    int n;
    uint64_t values[OHF_FEW];
    uint8_t classes[OHF_FEW];
} ohf_few;

#define OHF_SLOTS 32
#define OHF_SLOT_STEPS 16

/* A hash table in which each of a few values has a slot of its own, so that one comparison finds a value. To find
 * the slot of a value, multiply its two halves of 32 bits by the two factors, and add the products. The five
 * highest bits of the sum and the next four bits are two numbers; the second one chooses a step. The exclusive or
 * of the first number and this step is the number of the slot. An empty slot contains a value that belongs in
 * another slot. */
typedef struct {
    uint32_t factor_low, factor_high;
    uint32_t steps[OHF_SLOT_STEPS];
    uint32_t low[OHF_SLOTS], high[OHF_SLOTS];   /* the halves of the value in each slot */
    uint32_t classes[OHF_SLOTS];                /* the class of the value; 254: OHF_UNKNOWN, 255: no class */
} ohf_slots;

/* Values of 8 bits that are their own codes, so that no look-up is needed: a writer compares a code with the value of
 * each class (ohf_fill.class_codes). Each class has exactly one value. */
typedef struct {
    uint8_t class_codes[OHF_SPAN8];
    uint8_t is_unknown[256];   /* is_unknown[v] is 1 if value v sets the flag of unknown values */
    /* The values that set the flag, as bits: value v has bit v / 16 % 8 of byte v % 16; the first array is for
     * values below 128, the second for the others. */
    uint8_t unknown_bits[2][16];
} ohf_raw;

/* A look-up table maps the codes of one column to classes. An entry of -1 means no class, and so does OHF_UNKNOWN.
 * The last entry belongs to every value that is no code, such as a missing value. Class base + c has the code c in
 * the window [base, base + span). */
typedef struct {
    const int32_t *entries;
    uint64_t n_codes;      /* the look-up table has n_codes + 1 entries */
    int only_adds;         /* 1 if entries[i] == entries[0] + i for each i: an addition replaces the look-up */
    uint64_t base, span;
    uint64_t low;          /* entry i belongs to the value low + i, modulo 2**64 */
    int *unknown;          /* NULL, or the flag to set if a value has the entry OHF_UNKNOWN */
    /* Faster forms of `entries`, or NULL. `map` uses the first one that is not NULL, but map8 prefers `raw` for
     * values of 8 bits. */
    const ohf_slots *slots;
    const ohf_few *few;
    const uint8_t *bytes;     /* for every value of 8 or 16 bits, else for every code: its class in one byte */
    uint8_t other_class;      /* for slots and few: the class of all other values in one byte */
    const ohf_raw *raw;       /* if not NULL, map8 copies the values of 8 bits: they are the codes */
    size_t pixel_bytes;       /* the number of bytes of a pixel of type OHF_P4 or OHF_P8 */
} ohf_lut;

/* A column of codes for a CSR matrix. A code c from 0 to `top` has the position first + c, which is a column of
 * the matrix and fits int32. Every other value has no position. */
typedef struct {
    const unsigned char *codes;
    int index_type;              /* OHF_I8, OHF_U8, OHF_I16, OHF_U16 or OHF_I32 */
    int32_t first, top;
} ohf_shifted;

/* The elements of the output: `on` where an index has its class, else `off`. `inner` neighbouring indices make one
 * group, whose depth * inner elements are neighbours in the output. If the new axis is the last one, `inner` is 1
 * and a group is a row. */
typedef struct {
    size_t width;          /* the number of bytes of an element */
    size_t depth, inner;
    const unsigned char *on, *off;
    int stream;            /* 1 if the writers shall store past the caches */
    int off_is_byte;       /* 1 if all bytes of `off` are equal, so that memset can fill */
    const uint8_t *class_codes;   /* NULL if a class is its own code, else the code of each class, in one byte */
    unsigned char on_line[64], off_line[64];   /* copies of on and off in 64 bytes, if width divides 64 */
} ohf_fill;

/* The plan of rows_expand: the row and the column of each element of a vector. The pattern repeats after `vectors`
 * vectors, which contain `rows` rows. */
typedef struct {
    size_t head;           /* the number of elements in front of the first aligned vector */
    size_t vectors, rows;
    uint16_t first_row[OHF_EXPAND_DEPTH];     /* for each vector: the row of its first element */
    /* for each element of each vector: its row, counted from first_row of the vector, and the code of its
     * column */
    unsigned char row[OHF_EXPAND_DEPTH * 64], column[OHF_EXPAND_DEPTH * 64];
} ohf_plan;

/* A table that maps each byte to an entry. The entries form 16 runs of 16; `runs` has the numbers of those runs
 * whose entries are not all equal to entries[0]. */
typedef struct {
    uint8_t entries[256];
    int n_runs;
    uint8_t runs[16];
} ohf_byte_map;

typedef void (*ohf_narrow)(const void *indices, size_t n, const ohf_policy *policy, void *codes);
/* Return 1 if the function knows that every value has a class in the window, else 0. */
typedef int (*ohf_map)(const void *local_codes, size_t n, const ohf_lut *lut, void *codes);
typedef void (*ohf_rows)(const int32_t *codes, size_t n_groups, const ohf_fill *fill, unsigned char *out,
                         unsigned char *scratch);

/* The microkernels of one variant. In plain C, the writers that need vectors are NULL. */
typedef struct {
    const char *name;
    int vector;                            /* the number of bytes of a vector register, 0 in plain C */
    int streams;                           /* 1 if the variant has stores that bypass the caches */
    ohf_narrow narrow8[OHF_INDEX_TYPES], narrow32[OHF_INDEX_TYPES];   /* NULL for OHF_P4 and OHF_P8 */
    ohf_map map8[OHF_INDEX_TYPES], map32[OHF_INDEX_TYPES];   /* NULL for OHF_F32 and OHF_F64 */
    int has_fast_slots;                    /* 1 if ohf_lut.slots are faster than any other form */
    ohf_rows rows_scatter;                 /* write `on` into memory that already holds `off` */
    ohf_rows rows_block;                   /* fill a block with `off`, then write `on`; works for any width */
    ohf_rows rows_scratch;                 /* build a block in the scratch, then copy it past the caches */
    ohf_rows rows_merge;                   /* write rows past the caches; build only the vector that contains `on` */
    /* Write rows whose codes have one byte, vector by vector. */
    void (*rows_expand)(const uint8_t *codes, size_t n_rows, const ohf_plan *plan, const ohf_fill *fill,
                        unsigned char *out);
    /* Write a plane of n elements for each class: element i is `on` if codes[i] is the code of the class, else
     * `off`. */
    void (*planes)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes,
                   const ohf_fill *fill, unsigned char *out);
    /* Write the planes of all classes for n codes, one after the other without gaps, from `out` on, whose address
     * is a multiple of the width of an element. The width is 1, 2, 4, 8 or 16 bytes, and n elements fill at least
     * one vector. If `joins_before`, other planes end at `out`, and this call also writes their end, back to the
     * last multiple of the size of a vector; the codes in front of `codes` are the last codes of those planes. If
     * `joins_after`, the next call writes the end of the last plane, behind the last multiple of the size of a
     * vector. */
    void (*planes_joined)(const uint8_t *codes, size_t n, const ohf_fill *fill, unsigned char *out, int joins_before,
                          int joins_after);
    /* Write a plane for each class as bits, eight codes in a byte, the first in the lowest bit. Bits behind the
     * last code are 0. Only the last call for a column may have an n that is no multiple of 512. If `streaming`,
     * the address of each plane is a multiple of 64. `masks` has OHF_BIT_SCRATCH bytes, and its address is a
     * multiple of 64. */
    void (*bits)(const uint8_t *codes, size_t n, size_t n_classes, size_t plane_bytes, int streaming,
                 unsigned char *out, unsigned char *masks);
    /* Write a CSR matrix: the positions of each row to `indices`, and `place` plus the number of positions up to
     * the end of each row to `ends`. Stop at a row in which a code has no position, or some rows before it. Return
     * the number of rows that are complete; the memory of later rows may be changed, too. */
    size_t (*csr)(const ohf_shifted *columns, size_t n_columns, size_t n_rows, int32_t place, int32_t *indices,
                  int32_t *ends);
    /* Count the parts of n elements that differ from the same part of `value`. An aligned element of 1, 2 or 4 bytes is
     * one part, and one of 8 bytes is two parts. */
    size_t (*differing)(const unsigned char *elements, size_t n, size_t width, const unsigned char *value);
    /* Write the entry of each byte in the table `map`. */
    void (*map_bytes)(const uint8_t *bytes, size_t n, const ohf_byte_map *map, uint8_t *out);
    /* Return the position of the first byte whose entry in the table `map` is not 0, or n if there is none. */
    size_t (*find_mapped)(const uint8_t *bytes, size_t n, const ohf_byte_map *map);
    /* Write the positions of those bytes that are `first` ... `last`, and return their number. n is at most 65536,
     * so that a position fits 16 bits. */
    size_t (*find_bytes)(const uint8_t *bytes, size_t n, unsigned first, unsigned last, uint16_t *positions);
    /* Fill memory with copies of the element fill->off. */
    void (*fill)(unsigned char *out, size_t n_bytes, const ohf_fill *fill);
    /* Copy memory past the caches. Both addresses have the same remainder modulo 64. `move` also fills the source
     * with the element fill->off. In plain C, `copy` and `move` are NULL. */
    void (*copy)(unsigned char *out, const unsigned char *from, size_t n_bytes);
    void (*move)(unsigned char *out, unsigned char *from, size_t n_bytes, const ohf_fill *fill);
} ohf_microkernels;

/* Write pointers to the variants that this processor can run, the fastest first, at most `room`. Return how
 * many. */
int ohf_variants(const ohf_microkernels **found, int room);

/* Return the size in bytes from which an output is written past the caches: half the last-level cache, but at most
 * 16 MiB, because a virtual machine may report a cache of hundreds of MiB that it shares with others. */
size_t ohf_stream_bytes(void);

/* Several extension modules call the following functions, which are therefore in the header. */

/* Describe the elements of an output, each of `width` bytes. */
static inline void ohf_fill_init(ohf_fill *fill, size_t width, size_t depth, size_t inner, const unsigned char *on,
                                 const unsigned char *off)
{
    fill->width = width;
    fill->depth = depth;
    fill->inner = inner;
    fill->on = on;
    fill->off = off;
    fill->stream = 0;
    fill->class_codes = NULL;
    fill->off_is_byte = 1;
    for (size_t i = 1; i < width; i++)
        fill->off_is_byte &= off[i] == off[0];
    if (width <= 16 && 64 % width == 0)
        for (size_t i = 0; i < 64; i += width) {
            memcpy(fill->on_line + i, on, width);
            memcpy(fill->off_line + i, off, width);
        }
}

/* Return the number of the slot in which a value belongs. */
static inline uint32_t ohf_slot_of(const ohf_slots *slots, uint64_t value)
{
    const uint32_t hash = (uint32_t)value * slots->factor_low + (uint32_t)(value >> 32) * slots->factor_high;
    return hash >> 27 ^ slots->steps[hash >> 23 & 15];
}

/* Choose the steps of the hash table for its factors, so that each of n values has a slot of its own. Return 0 if
 * there are no such steps. */
static inline int ohf_slots_choose(ohf_slots *slots, const uint64_t *values, int n)
{
    uint32_t first[OHF_SLOT_STEPS] = {0}, taken = 0;   /* for each step: the slots of its values if the step is 0 */
    int sizes[OHF_SLOT_STEPS] = {0};
    memset(slots->steps, 0, sizeof slots->steps);
    for (int i = 0; i < n; i++) {
        const uint32_t hash =
            (uint32_t)values[i] * slots->factor_low + (uint32_t)(values[i] >> 32) * slots->factor_high;
        const uint32_t group = hash >> 23 & 15, bit = (uint32_t)1 << (hash >> 27);
        if (first[group] & bit)
            return 0;
        first[group] |= bit;
        sizes[group]++;
    }
    for (int size = n; size > 0; size--)   /* steps with many values first, which are the hardest to choose */
        for (int group = 0; group < OHF_SLOT_STEPS; group++) {
            uint32_t step = 0, moved = 0;
            if (sizes[group] != size)
                continue;
            for (; step < OHF_SLOTS; step++) {
                moved = 0;
                for (uint32_t slot = 0; slot < OHF_SLOTS; slot++)
                    moved |= (first[group] >> slot & 1) << (slot ^ step);
                if ((moved & taken) == 0)
                    break;
            }
            if (step == OHF_SLOTS)
                return 0;
            taken |= moved;
            slots->steps[group] = step;
        }
    return 1;
}

/* Put distinct values of `width` bytes into a hash table. Return 0 if no factors were found for which each value
 * has a slot of its own; for 32 random values, this is true of about one in a hundred pairs of factors. */
static inline int ohf_slots_init(ohf_slots *slots, const ohf_few *few, size_t width)
{
    uint64_t cut[OHF_SLOTS], random = 1;
    const int n = few->n;
    int tries = n == 0 ? 0 : 1000;
    for (int i = 0; i < n; i++)
        cut[i] = width == 8 ? few->values[i] : few->values[i] & (((uint64_t)1 << 8 * width) - 1);
    for (; tries > 0; tries--) {
        random = random * 6364136223846793005u + 1442695040888963407u;   /* Knuth's random generator */
        slots->factor_low = (uint32_t)(random >> 32) | 1;
        random = random * 6364136223846793005u + 1442695040888963407u;
        slots->factor_high = (uint32_t)(random >> 32) | 1;
        if (ohf_slots_choose(slots, cut, n))
            break;
    }
    if (tries == 0)
        return 0;
    for (int i = -OHF_SLOTS; i < n; i++) {   /* first fill all slots with the first value, so that none is empty */
        const int which = i < 0 ? 0 : i;
        const uint32_t slot = i < 0 ? (uint32_t)(i + OHF_SLOTS) : ohf_slot_of(slots, cut[i]);
        slots->low[slot] = (uint32_t)cut[which];
        slots->high[slot] = (uint32_t)(cut[which] >> 32);
        slots->classes[slot] = few->classes[which];
    }
    return 1;
}

/* Return the code of a class. A writer of codes of one byte compares each code with it. */
static inline unsigned ohf_code_of(const ohf_fill *fill, size_t class_number)
{
    return fill->class_codes == NULL ? (unsigned)class_number : fill->class_codes[class_number];
}

/* Return an entry of a look-up table in one byte: 254 for OHF_UNKNOWN, 255 for no class. A class in the entry is
 * less than OHF_FEW_CODES. */
static inline uint8_t ohf_few_class(int32_t entry)
{
    return (uint8_t)(entry >= 0 ? entry : entry == OHF_UNKNOWN ? OHF_FEW_CODES : OHF_NONE8);
}

/* Fill `raw` for values of 8 bits. classes[v] is the class of value v in one byte: 254 for OHF_UNKNOWN, 255 for no
 * class. Return 0 if a class below `depth` has no value, or several: then values cannot be the codes of
 * classes. */
static inline int ohf_raw_init(ohf_raw *raw, const uint8_t *classes, size_t depth)
{
    int n_values[OHF_FEW_CODES] = {0};
    memset(raw, 0, sizeof *raw);
    if (depth > OHF_FEW_CODES)
        return 0;
    for (unsigned value = 0; value < 256; value++) {
        if (classes[value] < OHF_FEW_CODES) {
            n_values[classes[value]]++;
            raw->class_codes[classes[value]] = (uint8_t)value;
        } else if (classes[value] == OHF_FEW_CODES) {
            raw->is_unknown[value] = 1;
            raw->unknown_bits[value >> 7][value & 15] |= (uint8_t)(1 << (value >> 4 & 7));
        }
    }
    for (size_t i = 0; i < depth; i++)
        if (n_values[i] != 1)
            return 0;
    return 1;
}

/* Copy the 256 entries of a table, and find the runs of 16 entries that are not all equal to the first entry. */
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
    /* Vectors begin at places of a row whose distances are multiples of `step`. Count the rows of the vector that
     * begins at the last of these places, because no vector has elements of more rows. */
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
            plan->column[v * lanes + lane] = (unsigned char)ohf_code_of(fill, element % depth);
        }
    }
}

#endif
