/* Sort texts by their bytes, with a stable radix sort over prefixes of eight bytes.
 *
 * Texts with equal prefixes are sorted again, by the next eight bytes after those that all of them share. */
#ifndef OHF_SORT_TEXTS_H
#define OHF_SORT_TEXTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A text to sort. */
typedef struct {
    uint64_t prefix;          /* eight bytes of the text, the first one highest; zeros follow a shorter text */
    int64_t text;             /* the position of the text in the column */
} ohf_sorted;

/* The texts of a column (text i is data[offsets[i]:offsets[i + 1]]), and memory to count bytes. */
typedef struct {
    const int64_t *offsets;
    const uint8_t *data;
    int64_t (*counts)[256];   /* counts[i][v]: how often byte i of a prefix is v; 16 KiB, too much for a stack */
} ohf_sort;

enum {
    OHF_FEW_TEXTS = 24,       /* this number of texts or fewer is sorted by insertion */
    OHF_SORT_BYTES = 8 * 256 * sizeof(int64_t)    /* the size of `counts` in bytes */
};

static inline int64_t ohf_length_of(const ohf_sort *sort, int64_t text)
{
    return sort->offsets[text + 1] - sort->offsets[text];
}

static inline uint64_t ohf_prefix_of(const ohf_sort *sort, int64_t text, int64_t depth)
{
    const uint8_t *bytes = sort->data + sort->offsets[text] + depth;
    const int64_t left = ohf_length_of(sort, text) - depth;
    uint64_t prefix = 0;
    for (int64_t i = 0; i < 8; i++)
        prefix = prefix << 8 | (i < left ? bytes[i] : 0u);
    return prefix;
}

/* Tell whether text a comes before text b. Both have the same first `depth` bytes. */
static inline int ohf_comes_before(const ohf_sort *sort, ohf_sorted a, ohf_sorted b, int64_t depth)
{
    const int64_t a_left = ohf_length_of(sort, a.text) - depth, b_left = ohf_length_of(sort, b.text) - depth;
    const int64_t shared = a_left < b_left ? a_left : b_left;
    int order;
    if (a.prefix != b.prefix)
        return a.prefix < b.prefix;
    order = shared <= 0 ? 0
                        : memcmp(sort->data + sort->offsets[a.text] + depth,
                                 sort->data + sort->offsets[b.text] + depth, (size_t)shared);
    return order < 0 || (order == 0 && a_left < b_left);
}

/* Sort texts by insertion, which is fast for a few texts. All have the same first `depth` bytes. */
static void ohf_sort_few(const ohf_sort *sort, ohf_sorted *items, int64_t n, int64_t depth)
{
    for (int64_t i = 1; i < n; i++) {
        const ohf_sorted item = items[i];
        int64_t place = i;
        for (; place > 0 && ohf_comes_before(sort, item, items[place - 1], depth); place--)
            items[place] = items[place - 1];
        items[place] = item;
    }
}

/* Sort texts by their prefixes: by one byte after the other, the lowest first. Skip a byte that is the same in all
 * texts. */
static void ohf_sort_prefixes(const ohf_sort *sort, ohf_sorted *items, ohf_sorted *spare, int64_t n)
{
    int64_t (*const counts)[256] = sort->counts;
    ohf_sorted *from = items, *to = spare;
    memset(counts, 0, 8 * sizeof *counts);
    for (int64_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++)
            counts[byte][items[i].prefix >> (8 * byte) & 255]++;
    for (int byte = 0; byte < 8; byte++) {
        int64_t next = 0, *ends = counts[byte];
        ohf_sorted *other;
        if (ends[items[0].prefix >> (8 * byte) & 255] == n)
            continue;
        for (int value = 0; value < 256; value++) {
            const int64_t count = ends[value];
            ends[value] = next;
            next += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[ends[from[i].prefix >> (8 * byte) & 255]++] = from[i];
        other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, (size_t)n * sizeof *items);
}

/* Some of n texts with equal prefixes may end within the prefix. Move these to the front, the shorter ones first,
 * and return their number. All texts have the same first `depth` bytes, which precede the prefix. */
static int64_t ohf_sort_ended(const ohf_sort *sort, ohf_sorted *items, ohf_sorted *spare, int64_t n, int64_t depth)
{
    int64_t ends[11] = {0}, n_ended;
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = ohf_length_of(sort, items[i].text) - depth;
        ends[1 + (left > 8 ? 9 : left)]++;
    }
    for (int i = 1; i < 11; i++)
        ends[i] += ends[i - 1];
    n_ended = ends[9];
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = ohf_length_of(sort, items[i].text) - depth;
        spare[ends[left > 8 ? 9 : left]++] = items[i];
    }
    memcpy(items, spare, (size_t)n * sizeof *items);
    return n_ended;
}

/* Return how many bytes are the same in all texts, counted from byte `depth` on. */
static int64_t ohf_common_bytes(const ohf_sort *sort, const ohf_sorted *items, int64_t n, int64_t depth)
{
    const uint8_t *first = sort->data + sort->offsets[items[0].text] + depth;
    int64_t common = ohf_length_of(sort, items[0].text) - depth;
    for (int64_t i = 1; i < n; i++) {
        const uint8_t *other = sort->data + sort->offsets[items[i].text] + depth;
        const int64_t left = ohf_length_of(sort, items[i].text) - depth;
        int64_t same = 0;
        if (left < common)
            common = left;
        while (same < common && first[same] == other[same])
            same++;
        common = same;
    }
    return common;
}

/* Sort texts that have the same first `depth` bytes. */
static void ohf_sort_from(const ohf_sort *sort, ohf_sorted *items, ohf_sorted *spare, int64_t n, int64_t depth)
{
    for (int64_t i = 0; i < n; i++)
        items[i].prefix = ohf_prefix_of(sort, items[i].text, depth);
    if (n <= OHF_FEW_TEXTS) {
        ohf_sort_few(sort, items, n, depth);
        return;
    }
    ohf_sort_prefixes(sort, items, spare, n);
    for (int64_t begin = 0, end; begin < n; begin = end) {
        int64_t n_ended;
        for (end = begin + 1; end < n && items[end].prefix == items[begin].prefix;)
            end++;
        if (end - begin == 1)
            continue;
        n_ended = ohf_sort_ended(sort, items + begin, spare, end - begin, depth);
        if (end - begin - n_ended > 1) {
            ohf_sorted *longer = items + begin + n_ended;
            const int64_t n_longer = end - begin - n_ended;
            ohf_sort_from(sort, longer, spare, n_longer,
                          depth + 8 + ohf_common_bytes(sort, longer, n_longer, depth + 8));
        }
    }
}

/* Sort n texts, where text i is data[offsets[i]:offsets[i + 1]], and write their positions in sorted order.
 * `items` and `spare` have room for n items. `counts` has OHF_SORT_BYTES; it may be NULL for up to OHF_FEW_TEXTS
 * texts. */
static void ohf_sort_texts(const int64_t *offsets, const uint8_t *data, int64_t n, ohf_sorted *items,
                           ohf_sorted *spare, void *counts, int64_t *positions)
{
    ohf_sort sort;
    sort.offsets = offsets;
    sort.data = data;
    sort.counts = counts;
    for (int64_t i = 0; i < n; i++)
        items[i].text = i;
    if (n > 0)
        ohf_sort_from(&sort, items, spare, n, ohf_common_bytes(&sort, items, n, 0));
    for (int64_t i = 0; i < n; i++)
        positions[i] = items[i].text;
}

#endif
