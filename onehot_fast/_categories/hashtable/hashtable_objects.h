/* Convert rows of Python objects to codes: collect their texts in blocks, which the loops of the hash table read.
 *
 * These functions hold the GIL and run no Python code, so that no object can change. A column often repeats a few
 * objects, so a memo maps the addresses of objects to their codes, and a repeated object needs no search in the
 * hash table. */
#ifndef OHF_HASHTABLE_OBJECTS_H
#define OHF_HASHTABLE_OBJECTS_H

#include <Python.h>
#include <string.h>

#include "hashtable.h"
#include "_kernels/isa.h"
#include "_runtime/workspace.h"

/* The memo maps the addresses of objects to their codes. It is freed if it saves too little work: if it knew less
 * than a sixteenth of the rows so far, from OHF_MEMO_FIRST_CHECK rows on, or less than half of OHF_MEMO_WINDOW
 * rows, a number in which even thousands of different objects can enter it.
 *
 * The memo has about one place for each row, because objects with the same place replace each other: if the place
 * of an object is full, the object goes to the place beside it, and replaces the object there. Of 4,000 objects at
 * random addresses, 6 % share a place with another one if there are 2**16 places, and 38 % if there are 2**13. */
enum {
    OHF_BLOCK = 256, OHF_MIN_MEMO_BITS = 10, OHF_MAX_MEMO_BITS = 16, OHF_MEMO_FIRST_CHECK = 2048,
    OHF_MEMO_WINDOW = 16384, OHF_AHEAD = 32, OHF_MAX_MISSING = 4
};

/* A place of the memo: the address of an object, NULL if the place is empty, and its code. */
typedef struct {
    const PyObject *object;
    int64_t code;
} ohf_memo;

/* A column of Python objects, and what the conversion of its rows needs. */
typedef struct {
    const char *rows;         /* the address of row 0, which is a pointer to an object */
    Py_ssize_t stride;        /* the number of bytes from one row to the next */
    int is_text;              /* 1 if rows are exact str, 0 if they are exact bytes */
    PyObject *missing[OHF_MAX_MISSING];    /* these objects mean a missing row, besides None and NaN */
    int n_missing;
    ohf_memo *memo;           /* 2**(64 - memo_shift) places, or NULL without a memo */
    int memo_shift;
    int64_t tried, hits;      /* the memo knew `hits` of the last `tried` rows */
    uint8_t *scratch;         /* 16 bytes that loops may read, then the UTF-8 of texts that are not ASCII */
    size_t room;              /* the size of the scratch in bytes */
} ohf_objects;

/* A block of rows whose objects are not in the memo: their texts, which a loop of the hash table reads, and their
 * codes. */
typedef struct {
    const uint8_t *texts[OHF_BLOCK];
    int64_t lengths[OHF_BLOCK];
    const PyObject *objects[OHF_BLOCK];
    int32_t rows[OHF_BLOCK], codes[OHF_BLOCK];
    int64_t n;
    size_t used;              /* the number of bytes of the scratch that this block uses */
} ohf_block;

/* Make room for `needed` more bytes of scratch. Return 1 or OHF_NO_MEMORY. Return 0 if the scratch is full of
 * texts of this block, so that the caller must code the block before it adds a text. */
static inline int ohf_reserve_scratch(uint8_t **scratch, size_t *room, ohf_block *block, size_t needed)
{
    uint8_t *made;
    if (block->used == 0)
        block->used = 16;
    if (*room >= block->used + needed)
        return 1;
    if (block->used > 16)
        return 0;
    if (needed > PY_SSIZE_T_MAX - 4096)
        return OHF_NO_MEMORY;
    made = PyMem_RawRealloc(*scratch, needed + 4096);
    if (made == NULL)
        return OHF_NO_MEMORY;
    *scratch = made;
    *room = needed + 4096;
    return 1;
}

/* Add a text that is not ASCII to a block, as UTF-8 in the scratch. Return 1, 0 if the scratch is full, or
 * OHF_NO_MEMORY. */
static inline int ohf_add_wide(ohf_objects *objects, ohf_block *block, PyObject *text)
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    uint8_t *begin, *out;
    const int reserved = ohf_reserve_scratch(&objects->scratch, &objects->room, block, 4 * (size_t)length);
    if (reserved != 1)
        return reserved;
    begin = out = objects->scratch + block->used;
    for (Py_ssize_t i = 0; i < length; i++)
        out = ohf_put_character(out, PyUnicode_READ(kind, data, i));
    block->texts[block->n] = begin;
    block->lengths[block->n++] = out - begin;
    block->used += (size_t)(out - begin);
    return 1;
}

static inline int ohf_is_missing(const ohf_objects *objects, PyObject *object)
{
    if (object == NULL || object == Py_None)
        return 1;
    if (PyFloat_Check(object))
        return Py_IS_NAN(PyFloat_AS_DOUBLE(object));
    for (int i = 0; i < objects->n_missing; i++)
        if (object == objects->missing[i])
            return 1;
    return 0;
}

/* Add the text of an object to a block. Return 1, 0 if the scratch is full, OHF_NO_MEMORY, or OHF_OUTSIDE if the
 * object is neither missing nor of the type of the column. */
static inline int ohf_add_object(ohf_objects *objects, ohf_block *block, PyObject *object)
{
    if (object != NULL && objects->is_text && PyUnicode_CheckExact(object)) {
#if PY_VERSION_HEX < 0x030C0000
        if (!PyUnicode_IS_READY(object))
            return OHF_OUTSIDE;
#endif
        if (!PyUnicode_IS_COMPACT_ASCII(object))
            return ohf_add_wide(objects, block, object);
        block->texts[block->n] = (const uint8_t *)PyUnicode_DATA(object);
        block->lengths[block->n++] = PyUnicode_GET_LENGTH(object);
        return 1;
    }
    if (object != NULL && !objects->is_text && PyBytes_CheckExact(object)) {
        block->texts[block->n] = (const uint8_t *)PyBytes_AS_STRING(object);
        block->lengths[block->n++] = PyBytes_GET_SIZE(object);
        return 1;
    }
    if (!ohf_is_missing(objects, object))
        return OHF_OUTSIDE;
    block->texts[block->n] = NULL;
    block->lengths[block->n++] = -1;
    return 1;
}

/* Return the place of the memo in which an object belongs. */
static inline ohf_memo *ohf_memo_of(const ohf_objects *objects, const PyObject *object)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u;
    return &objects->memo[mixed >> objects->memo_shift];
}

/* Return the place beside an entry of the memo. Both are in one cache line. */
static inline ohf_memo *ohf_beside(const ohf_objects *objects, const ohf_memo *entry)
{
    return &objects->memo[(entry - objects->memo) ^ 1];
}

/* Make a memo for a column of n_rows rows. Without enough memory, the column has no memo. */
static inline void ohf_make_memo(ohf_objects *objects, int64_t n_rows)
{
    int bits = OHF_MIN_MEMO_BITS;
    while (bits < OHF_MAX_MEMO_BITS && (int64_t)1 << bits < n_rows)
        bits++;
    objects->memo_shift = 64 - bits;
    objects->memo = PyMem_RawCalloc((size_t)1 << bits, sizeof *objects->memo);
}

/* Read rows from `begin` on: write the codes that the memo knows, and add the other rows to a block, until it is
 * full. Return how many rows were read, or a failure after writing its row to *stopped. */
static inline int64_t ohf_read_objects(ohf_objects *objects, ohf_block *block, int64_t begin, int64_t end, int32_t *codes,
                                int64_t *stopped)
{
    int64_t i;
    block->n = 0;
    block->used = 0;
    for (i = begin; i < end && block->n < OHF_BLOCK; i++) {
        PyObject *object;
        int added;
        memcpy(&object, objects->rows + i * objects->stride, sizeof object);
        if (objects->memo == NULL && end - i > OHF_AHEAD) {
            const char *ahead;
            memcpy(&ahead, objects->rows + (i + OHF_AHEAD) * objects->stride, sizeof ahead);
            OHF_PREFETCH(ahead);
            OHF_PREFETCH_AT(ahead, 48);     /* the characters of an ASCII str begin near byte 48 of the object */
        }
        if (objects->memo != NULL) {
            const ohf_memo *known = ohf_memo_of(objects, object);
            if (known->object != object)
                known = ohf_beside(objects, known);
            if (known->object == object && object != NULL) {
                codes[i] = (int32_t)known->code;
                objects->hits++;
                continue;
            }
        }
        block->objects[block->n] = object;
        block->rows[block->n] = (int32_t)(i - begin);
        added = ohf_add_object(objects, block, object);
        if (added == 0)
            break;
        if (added < 0) {
            *stopped = i;
            return added;
        }
    }
    return i - begin;
}

/* Write the codes of a block to its rows in `codes` and to the memo. Free the memo if it knew too few of the
 * n_rows rows that were just read, and of the rows before them. */
static inline void ohf_spread_block(ohf_objects *objects, const ohf_block *block, int32_t *codes, int64_t n_rows)
{
    for (int64_t i = 0; i < block->n; i++)
        codes[block->rows[i]] = block->codes[i];
    if (objects->memo == NULL)
        return;
    for (int64_t i = 0; i < block->n; i++) {
        ohf_memo *entry = ohf_memo_of(objects, block->objects[i]);
        if (entry->object != NULL)
            entry = ohf_beside(objects, entry);
        entry->object = block->objects[i];
        entry->code = block->codes[i];
    }
    objects->tried += n_rows;
    if (objects->hits * (objects->tried < OHF_MEMO_WINDOW ? 16 : 2) < objects->tried && objects->tried >= OHF_MEMO_FIRST_CHECK) {
        PyMem_RawFree(objects->memo);
        objects->memo = NULL;
    }
    if (objects->tried >= OHF_MEMO_WINDOW)
        objects->tried = objects->hits = 0;
}

/* Write the codes of rows [begin, end) of a column of objects, block by block. The caller holds the GIL. Return 0
 * or an OHF_* failure. Unless memory ran out, *stopped is then the row that failed. */
static inline int ohf_code_blocks(ohf_hashtable *hashtable, ohf_objects *objects, ohf_block *block, int learn,
                                  int64_t begin, int64_t end, int32_t *codes, int64_t *stopped)
{
    ohf_texts texts;
    memset(&texts, 0, sizeof texts);
    texts.layout = OHF_BEHIND;
    texts.rows = block->texts;
    texts.lengths = block->lengths;
    while (begin < end) {
        int64_t row = 0;
        const int64_t taken = ohf_read_objects(objects, block, begin, end, codes, stopped);
        int failed;
        if (taken < 0)
            return (int)taken;
        failed = (learn ? hashtable->engine->learn_texts[OHF_BEHIND] : hashtable->engine->look_up_texts[OHF_BEHIND])(
            hashtable, &texts, 0, block->n, block->codes, &row);
        if (failed) {
            *stopped = begin + block->rows[row];
            return failed;
        }
        ohf_spread_block(objects, block, codes + begin, taken);
        if (learn)
            ohf_note(hashtable, taken, end - begin - taken);
        begin += taken;
    }
    return 0;
}

/* Write the codes of rows [begin, end) of a column of objects, with memory from the workspaces. The caller holds
 * the GIL. Return 0 or an OHF_* failure. Unless memory ran out, *stopped is then the row that failed. */
static inline int ohf_code_objects(ohf_hashtable *hashtable, ohf_objects *objects, int learn, int64_t begin,
                                   int64_t end, int32_t *codes, int64_t *stopped)
{
    ohf_block *const block = ohf_take_workspace(sizeof *block);
    int failed;
    if (block == NULL)
        return OHF_NO_MEMORY;
    failed = ohf_code_blocks(hashtable, objects, block, learn, begin, end, codes, stopped);
    ohf_give_workspace(block, sizeof *block);
    return failed;
}

#endif
