/* Convert rows of NumPy's StringDType to codes: collect their texts in blocks, which the loops of the hash table
 * read.
 *
 * NumPy's headers declare the functions of StringDType only for modules that do not support NumPy 1. This file
 * takes them from NumPy's array of functions by their numbers, which are part of NumPy's ABI. */
#ifndef OHF_HASHTABLE_PACKED_H
#define OHF_HASHTABLE_PACKED_H

#include <Python.h>
#include <numpy/arrayobject.h>
#include <string.h>

#include "hashtable.h"
#include "_runtime/workspace.h"

typedef int (*ohf_npy_load)(npy_string_allocator *, const npy_packed_static_string *, npy_static_string *);
typedef npy_string_allocator *(*ohf_npy_acquire)(const PyArray_StringDTypeObject *);
typedef void (*ohf_npy_release)(npy_string_allocator *);

#define OHF_NPY_LOAD ((ohf_npy_load)PyArray_API[313])
#define OHF_NPY_ACQUIRE ((ohf_npy_acquire)PyArray_API[316])
#define OHF_NPY_RELEASE ((ohf_npy_release)PyArray_API[318])

enum { OHF_PACKED_BLOCK = 256 };

/* A column of StringDType. */
typedef struct {
    const char *rows;
    Py_ssize_t stride;        /* the number of bytes from one row to the next */
    const PyObject *dtype;    /* a StringDType */
    const char *missing;      /* the text of every missing row, if the dtype defines one */
    int64_t missing_length;   /* the length of this text, -1 if a missing row has no text */
} ohf_packed;

/* A block of rows as texts for a loop of the hash table. */
typedef struct {
    const uint8_t *texts[OHF_PACKED_BLOCK];
    int64_t lengths[OHF_PACKED_BLOCK];
    uint8_t copies[OHF_PACKED_BLOCK][32];    /* texts of up to 16 bytes, after 16 bytes that loops may read */
} ohf_packed_block;

/* Read n rows, at most OHF_PACKED_BLOCK, into a block. Return how many rows NumPy could read. */
static inline int64_t ohf_read_packed(ohf_packed_block *block, const ohf_packed *packed,
                                      npy_string_allocator *allocator, int64_t begin, int64_t n)
{
    const ohf_npy_load load = OHF_NPY_LOAD;
    const char *row = packed->rows + begin * packed->stride;
    for (int64_t i = 0; i < n; i++, row += packed->stride) {
        npy_static_string text = {0, NULL};
        const int is_null = load(allocator, (const npy_packed_static_string *)row, &text);
        if (is_null < 0)
            return i;
        if (is_null) {
            text.buf = packed->missing;
            text.size = (size_t)packed->missing_length;
        }
        block->texts[i] = (const uint8_t *)text.buf;
        block->lengths[i] = (int64_t)text.size;
        if (text.size <= 16) {
            block->texts[i] = block->copies[i] + 16;
            if (text.buf == row)    /* a short text is stored in its row, which has 16 bytes */
                memcpy(block->copies[i] + 16, row, 16);
            else
                memcpy(block->copies[i] + 16, text.buf, text.size);
        }
    }
    return n;
}

/* Write the codes of rows [begin, end) of a column of StringDType, without the GIL. NumPy's own lock keeps the
 * texts from changing. Return 0 or an OHF_* failure. Unless memory ran out, *stopped is then the row that
 * failed. */
static inline int ohf_code_packed(ohf_hashtable *hashtable, const ohf_packed *packed, int learn, int64_t begin,
                                  int64_t end, int32_t *codes, int64_t *stopped)
{
    const ohf_code_texts code = learn ? hashtable->engine->learn_texts[OHF_BEHIND]
                                      : hashtable->engine->look_up_texts[OHF_BEHIND];
    npy_string_allocator *allocator;
    ohf_packed_block *const block = ohf_take_workspace(sizeof *block);
    ohf_texts texts;
    int failed = 0;
    if (block == NULL)
        return OHF_NO_MEMORY;
    allocator = OHF_NPY_ACQUIRE((const PyArray_StringDTypeObject *)packed->dtype);
    memset(block, 0, sizeof *block);
    memset(&texts, 0, sizeof texts);
    texts.rows = block->texts;
    texts.lengths = block->lengths;
    for (; begin < end && !failed; begin += OHF_PACKED_BLOCK) {
        const int64_t n = end - begin < OHF_PACKED_BLOCK ? end - begin : OHF_PACKED_BLOCK;
        int64_t row = ohf_read_packed(block, packed, allocator, begin, n);
        failed = row < n ? OHF_MALFORMED : code(hashtable, &texts, 0, n, codes + begin, &row);
        *stopped = begin + row;
        if (learn && !failed)
            ohf_note(hashtable, n, end - begin - n);
    }
    OHF_NPY_RELEASE(allocator);
    ohf_give_workspace(block, sizeof *block);
    return failed;
}

#endif
