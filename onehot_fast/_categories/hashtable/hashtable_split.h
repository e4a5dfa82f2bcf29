/* Cut texts in Arrow's layouts at each separator, and give each piece a code. The loops of the hash table read the
 * pieces without a copy. */
#ifndef OHF_HASHTABLE_SPLIT_H
#define OHF_HASHTABLE_SPLIT_H

#include <stdlib.h>
#include <string.h>

#include "hashtable.h"
#include "_runtime/once.h"

enum { OHF_PIECES_BLOCK = 256 };

/* The state of the loop that cuts texts into pieces: the separator, the codes of all pieces so far, and the pieces
 * that have no code yet. */
typedef struct {
    const uint8_t *separator;
    size_t separator_bytes;   /* the length of the separator, at least one byte */
    int keeps_empty;          /* 1 if an empty piece has a code, 0 if it is dropped */
    int32_t *codes;           /* the codes of all pieces, row by row */
    int64_t n_codes, room;    /* `codes` contains n_codes codes, and has memory for `room` codes */
    const uint8_t *pieces[OHF_PIECES_BLOCK];    /* the pieces that have no code yet */
    int64_t lengths[OHF_PIECES_BLOCK];
    int64_t n_pieces;
    int64_t n_at_front;       /* the number of `pieces` with fewer than 16 bytes in front of them */
} ohf_split;

/* Give a code to each piece that has none yet. n_ahead is the number of rows that follow. Return 0 or an OHF_*
 * failure. */
static inline int ohf_code_pieces(ohf_hashtable *hashtable, ohf_split *split, int64_t n_ahead)
{
    ohf_texts texts;
    int64_t stopped;
    int failed;
    const int layout = split->n_at_front == 0 ? OHF_BEHIND : OHF_POINTERS;
    if (split->room - split->n_codes < OHF_PIECES_BLOCK) {
        const int64_t room = split->room + split->room / 2 + 16 * OHF_PIECES_BLOCK;
        int32_t *codes = realloc(split->codes, (size_t)room * sizeof *codes);
        if (codes == NULL)
            return OHF_NO_MEMORY;
        split->codes = codes;
        split->room = room;
    }
    memset(&texts, 0, sizeof texts);
    texts.rows = split->pieces;
    texts.lengths = split->lengths;
    failed = hashtable->engine->learn_texts[layout](hashtable, &texts, 0, split->n_pieces,
                                                     split->codes + split->n_codes, &stopped);
    if (failed)
        return failed;
    ohf_note(hashtable, split->n_pieces, n_ahead);
    split->n_codes += split->n_pieces;
    split->n_pieces = split->n_at_front = 0;
    return 0;
}

/* Return the address of the first separator in a text, or the end of the text. */
static inline const uint8_t *ohf_find_separator(const ohf_split *split, const uint8_t *text, const uint8_t *end)
{
    const size_t n = split->separator_bytes;
    while ((size_t)(end - text) >= n) {
        text = memchr(text, split->separator[0], (size_t)(end - text) - n + 1);
        if (text == NULL)
            return end;
        if (n == 1 || memcmp(text, split->separator, n) == 0)
            return text;
        text++;
    }
    return end;
}

/* Cut one text at each separator, and add the pieces to `split`, which gets their codes when it is full. n_ahead
 * is the number of rows that follow. Return 0 or an OHF_* failure. */
static inline int ohf_split_text(ohf_hashtable *hashtable, ohf_split *split, const uint8_t *buffer,
                                 const uint8_t *text, uint64_t length, int64_t n_ahead)
{
    const uint8_t *const end = text + length;
    for (;;) {
        const uint8_t *cut = ohf_find_separator(split, text, end);
        if (cut != text || split->keeps_empty) {
            split->n_at_front += text - buffer < 16;
            split->pieces[split->n_pieces] = text;
            split->lengths[split->n_pieces] = cut - text;
            if (++split->n_pieces == OHF_PIECES_BLOCK) {
                const int failed = ohf_code_pieces(hashtable, split, n_ahead);
                if (failed)
                    return failed;
            }
        }
        if (cut == end)
            return 0;
        text = cut + split->separator_bytes;
    }
}

/* Find the text of a row, and the beginning of its buffer. Return 0, OHF_MISSING or OHF_MALFORMED. */
static inline int ohf_text_of_row(const ohf_texts *texts, int64_t i, const uint8_t **buffer, const uint8_t **text,
                                  uint64_t *length)
{
    static const uint8_t nothing = 0;
    const int64_t bit = texts->bits_begin + i;
    int64_t from, to;
    if (texts->bits != NULL && !(texts->bits[bit >> 3] >> (bit & 7) & 1))
        return OHF_MISSING;
    *buffer = *text = &nothing;
    if (texts->layout == OHF_VIEWS) {
        const uint8_t *view = (const uint8_t *)texts->rows + 16 * i;
        uint32_t words[4];      /* a view: length, 4 bytes of the text, number of the buffer, offset */
        memcpy(words, view, sizeof words);
        OHF_FORGET(words);
        *length = words[0];
        *buffer = texts->rows;
        *text = view + 4;
        if (words[0] <= 12)
            return 0;
        if (words[2] >= (uint64_t)texts->n_buffers
            || words[3] + (uint64_t)words[0] > (uint64_t)texts->sizes[words[2]])
            return OHF_MALFORMED;
        *buffer = texts->buffers[words[2]];
        *text = *buffer + words[3];
        return 0;
    }
    if (texts->layout == OHF_OFFSETS32) {
        int32_t ends[2];
        memcpy(ends, (const char *)texts->rows + 4 * i, sizeof ends);
        OHF_FORGET(ends);
        from = ends[0];
        to = ends[1];
    } else {
        int64_t ends[2];
        memcpy(ends, (const char *)texts->rows + 8 * i, sizeof ends);
        OHF_FORGET(ends);
        from = ends[0];
        to = ends[1];
    }
    if (from < 0 || from > to || (uint64_t)to > texts->limit)
        return OHF_MALFORMED;
    *length = (uint64_t)(to - from);
    if (*length > 0) {
        *buffer = texts->data;
        *text = *buffer + from;
    }
    return 0;
}

/* Cut rows [begin, end) of an Arrow layout, and learn their pieces. ends[i] becomes the number of pieces up to the
 * end of row i. Return 0, or an OHF_* failure after writing to *stopped the row at which the loop ended. */
static inline int ohf_split_texts(ohf_hashtable *hashtable, const ohf_texts *texts, int64_t begin, int64_t end,
                                  ohf_split *split, int64_t *ends, int64_t *stopped)
{
    int failed = 0;
    for (*stopped = begin; *stopped < end; ++*stopped) {
        const uint8_t *buffer, *text;
        uint64_t length;
        failed = ohf_text_of_row(texts, *stopped, &buffer, &text, &length);
        if (failed == 0)
            failed = ohf_split_text(hashtable, split, buffer, text, length, end - *stopped);
        if (failed < OHF_MISSING)
            return failed;
        ends[*stopped] = split->n_codes + split->n_pieces;
    }
    return ohf_code_pieces(hashtable, split, 0);
}

#endif
