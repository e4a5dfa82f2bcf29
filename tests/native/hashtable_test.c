/* The hashtable of values against a sort, for every engine, layout and type, in memory that ends at a forbidden page.
 *
 * Runs without Python, so that a cross compiler, an emulator and the sanitizers can have it:
 *
 *     cc -O2 -Ionehot_fast tests/native/hashtable_test.c onehot_fast/_categories/hashtable/hashtable.c -o hashtable_test
 *
 * Ends with the number of comparisons, or at the first difference.
 */
#define _GNU_SOURCE
#include "_categories/hashtable/hashtable.h"
#include "_categories/hashtable/hashtable_split.h"
#include "_categories/hashtable/sort_texts.h"
#include "_kernels/microkernels.h"
#include "guarded_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, MOST_ROWS = 20000, MOST_VALUES = 9000, MOST_BYTES = 200, MARK = 0x5A5A5A5A };

static long n_compared = 0, n_reseeded = 0, n_failures_met = 0;
static const char *test_name = "";
static const ohf_engine *engine;

static void check(int holds, const char *what, int64_t row)
{
    if (holds)
        return;
    printf("%s: %s: %s differs at row %lld\n", engine->name, test_name, what, (long long)row);
    exit(1);
}

/* ---- Memory between two forbidden pages ---- */

static struct {
    uint8_t *pages;
    size_t size;
} guarded[4 * 1024];
static int n_guarded = 0;

/* Memory that begins behind a forbidden page, or ends in front of one. */
static uint8_t *guard(size_t n_bytes, int at_end)
{
    const size_t page = page_size(), inside = (n_bytes / page + 1) * page;
    uint8_t *pages = map_guarded(inside);
    if (pages == NULL)
        exit(2);
    guarded[n_guarded].pages = pages;
    guarded[n_guarded++].size = inside;
    return pages + page + (at_end ? inside - n_bytes : 0);
}

static void unguard(void)
{
    while (n_guarded > 0) {
        n_guarded--;
        unmap_guarded(guarded[n_guarded].pages, guarded[n_guarded].size);
    }
}

/* ---- Rows, and what is expected of them ---- */

typedef struct {
    const uint8_t *bytes;
    int64_t length;           /* or OHF_MISSING, OHF_OUTSIDE */
} row_text;

static row_text rows[MOST_ROWS + 1];
static int64_t n_rows, n_learned;        /* the first n_learned are learned, all are looked up */
static int32_t expected[MOST_ROWS], codes[MOST_ROWS + 1];
static int64_t n_expected, first_rows[MOST_ROWS];      /* the codes, and the row where each comes first */

static int compare_rows(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const int64_t shared = rows[i].length < rows[j].length ? rows[i].length : rows[j].length;
    const int order = shared > 0 ? memcmp(rows[i].bytes, rows[j].bytes, (size_t)shared) : 0;
    if (order != 0)
        return order;
    if (rows[i].length != rows[j].length)
        return rows[i].length < rows[j].length ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Codes in order of first appearance: equal rows lie together when sorted, the first one first. */
static void expect_codes(void)
{
    static int32_t order[MOST_ROWS], first[MOST_ROWS];
    for (int32_t i = 0; i < n_rows; i++)
        order[i] = i;
    qsort(order, (size_t)n_rows, sizeof *order, compare_rows);
    for (int64_t i = 0; i < n_rows; i++) {
        const row_text *text = &rows[order[i]], *before = i > 0 ? &rows[order[i - 1]] : NULL;
        const int same = before != NULL && before->length == text->length
                         && (text->length <= 0 || memcmp(before->bytes, text->bytes, (size_t)text->length) == 0);
        first[order[i]] = same ? first[order[i - 1]] : order[i];
    }
    n_expected = 0;
    for (int32_t i = 0; i < n_rows; i++) {
        if (rows[i].length < 0)
            expected[i] = (int32_t)rows[i].length;
        else if (first[i] < i)
            expected[i] = expected[first[i]];
        else if (i >= n_learned)
            expected[i] = OHF_UNKNOWN;
        else {
            first_rows[n_expected] = i;
            expected[i] = (int32_t)n_expected++;
        }
    }
}

/* Random texts, many of them equal or nearly so; each lies alone in `values`. */
static uint8_t values[MOST_VALUES][MOST_BYTES];
static int64_t lengths[MOST_VALUES];

static void draw_values(int64_t n_values, int64_t most_bytes)
{
    static const int64_t hostile[] = {0, 1, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 34, 47, 48, 49, 63, 64, 65,
                                      66, MOST_BYTES};
    for (int64_t v = 0; v < n_values; v++) {
        const int64_t like = v > 0 ? (int64_t)draw((uint64_t)v) : 0;
        const uint64_t letters = draw(3) ? 256 : 2;
        int64_t length = draw(2) ? PICK(hostile) : (int64_t)draw(draw(4) ? 20 : MOST_BYTES + 1);
        if (length > most_bytes)
            length = (int64_t)draw((uint64_t)most_bytes + 1);
        for (int64_t i = 0; i < MOST_BYTES; i++)
            values[v][i] = (uint8_t)(letters == 2 ? draw(2) : draw(256));
        if (v > 0 && draw(2)) {             /* another one, with one byte changed or its end */
            memcpy(values[v], values[like], MOST_BYTES);
            if (draw(2)) {
                length = lengths[like];
                if (length > 0 && draw(4))
                    values[v][draw((uint64_t)length)] ^= (uint8_t)(1u << draw(8));
            }
        }
        lengths[v] = length;
    }
}

static void draw_rows(int64_t n_values, int64_t with_missing)
{
    const int64_t n_known = 1 + (int64_t)draw((uint64_t)n_values);
    for (int64_t i = 0; i < n_rows; i++) {
        const int64_t v = (int64_t)draw((uint64_t)(i < n_learned ? n_known : n_values));
        rows[i].bytes = values[v];
        rows[i].length = with_missing && draw(8) == 0 ? OHF_MISSING : lengths[v];
    }
}

/* The validity bits of texts, those around them random. */
static const uint8_t *bits_of(const row_text *texts, int64_t n, int64_t *begin)
{
    size_t n_bytes;
    uint8_t *bits;
    *begin = (int64_t)draw(71);
    n_bytes = (size_t)(*begin + n + 7) / 8;
    bits = guard(n_bytes, 1);
    for (size_t i = 0; i < n_bytes; i++)
        bits[i] = (uint8_t)draw(256);
    for (int64_t i = 0; i < n; i++) {
        const unsigned bit = 1u << ((*begin + i) & 7);
        uint8_t *byte = &bits[(*begin + i) >> 3];
        *byte = (uint8_t)(texts[i].length != OHF_MISSING ? *byte | bit : *byte & ~bit);
    }
    return bits;
}

/* ---- The layouts ---- */

static void put_offset(void *offsets, int layout, int64_t i, int64_t offset)
{
    if (layout == OHF_OFFSETS32)
        ((int32_t *)offsets)[i] = (int32_t)offset;
    else
        ((int64_t *)offsets)[i] = offset;
}

/* A row that is `bad` says what its buffers do not have. */
static void place_offsets(ohf_texts *placed, const row_text *texts, int64_t n, int64_t bad)
{
    static const int64_t leads[] = {0, 1, 15, 16, 39};     /* bytes of rows that were sliced off */
    static int64_t begins[MOST_ROWS + 1];
    uint8_t *offsets = guard((size_t)(n + 1) * (placed->layout == OHF_OFFSETS32 ? 4 : 8), 1), *data;
    int64_t n_bytes;
    begins[0] = PICK(leads);
    for (int64_t i = 0; i < n; i++)
        begins[i + 1] = begins[i] + (texts[i].length >= 0 ? texts[i].length : (int64_t)draw(20));
    for (int64_t i = 0; i <= n; i++)
        put_offset(offsets, placed->layout, i, begins[i]);
    n_bytes = begins[n];
    placed->limit = (uint64_t)n_bytes;
    placed->last_of_16 = n_bytes >= 16 ? (uint64_t)n_bytes - 15 : 0;
    placed->data = data = guard((size_t)n_bytes, (int)draw(2));
    for (int64_t i = 0; i < n_bytes; i++)
        data[i] = (uint8_t)draw(256);
    for (int64_t i = 0; i < n; i++)
        if (texts[i].length > 0)
            memcpy(data + begins[i], texts[i].bytes, (size_t)texts[i].length);
    if (bad >= 0)
        put_offset(offsets, placed->layout, bad + 1,
                   draw(2) ? (int64_t)(placed->limit + 1 + draw(2) * draw(99)) : -1 - (int64_t)draw(99));
    placed->rows = offsets;
}

static void place_views(ohf_texts *placed, const row_text *texts, int64_t n, int64_t bad)
{
    static const uint8_t *buffers[5];
    static int64_t sizes[5];
    uint8_t *views = guard(16 * (size_t)n, 1), *ends[5];
    placed->n_buffers = 1 + (int64_t)draw(5);
    memset(sizes, 0, sizeof sizes);
    for (int64_t i = 0; i < n; i++)
        if (texts[i].length > 12)
            sizes[i % placed->n_buffers] += texts[i].length;
    for (int64_t b = 0; b < placed->n_buffers; b++)
        buffers[b] = ends[b] = guard((size_t)sizes[b], (int)draw(2));
    for (int64_t i = 0; i < n; i++) {
        uint8_t *view = views + 16 * i;
        const int64_t b = i % placed->n_buffers;
        uint32_t words[4] = {(uint32_t)draw(0), (uint32_t)draw(0), (uint32_t)draw(0), (uint32_t)draw(0)};
        if (texts[i].length >= 0)
            words[0] = (uint32_t)texts[i].length;
        if (texts[i].length > 12) {
            words[2] = (uint32_t)b;
            words[3] = (uint32_t)(ends[b] - buffers[b]);
            memcpy(ends[b], texts[i].bytes, words[0]);
            ends[b] += words[0];
        }
        if (i == bad) {
            words[0] = (uint32_t)(draw(4) ? 13 + draw(2) * draw(200) : draw(0) | 1u << 31);
            words[2] = (uint32_t)(draw(2) ? (uint64_t)b : (uint64_t)placed->n_buffers + draw(3));
            words[3] = (uint32_t)sizes[b] - (words[0] < 1u << 31 && draw(2) ? 12 : 0);
        }
        memcpy(view, words, sizeof words);
        if (i != bad && texts[i].length >= 0 && texts[i].length <= 12)
            memcpy(view + 4, texts[i].bytes, (size_t)texts[i].length);
        else if (texts[i].length > 12)
            memcpy(view + 4, texts[i].bytes, 4);
    }
    placed->rows = views;
    placed->buffers = buffers;
    placed->sizes = sizes;
}

/* Few texts have a guarded page each; many share one area. */
static void place_pointers(ohf_texts *placed, const row_text *texts, int64_t n)
{
    static const uint8_t *pointers[MOST_ROWS];
    static int64_t its_lengths[MOST_ROWS];
    const size_t before = placed->layout == OHF_BEHIND ? 16 : 0;
    size_t total = before;
    uint8_t *to = NULL;
    for (int64_t i = 0; i < n; i++)
        total += texts[i].length > 0 ? (size_t)texts[i].length : 0;
    if (n > 100)
        to = guard(total, (int)draw(2)) + before;
    for (int64_t i = 0; i < n; i++) {
        const size_t length = texts[i].length > 0 ? (size_t)texts[i].length : 0;
        if (n <= 100)
            to = guard(before + length, (int)draw(2)) + before;
        memcpy(to, texts[i].bytes, length);
        pointers[i] = to;
        its_lengths[i] = texts[i].length;
        to += length;
    }
    placed->rows = pointers;
    placed->lengths = its_lengths;
}

static void place_padded(ohf_texts *placed, const row_text *texts, int64_t n)
{
    uint8_t *to;
    placed->width = 1 + (int64_t)draw(3);
    for (int64_t i = 0; i < n; i++)
        if (texts[i].length > placed->width)
            placed->width = texts[i].length;
    placed->rows = to = guard((size_t)(n * placed->width), 1);
    memset(to, 0, (size_t)(n * placed->width));
    for (int64_t i = 0; i < n; i++, to += placed->width)
        if (texts[i].length > 0)
            memcpy(to, texts[i].bytes, (size_t)texts[i].length);
}

static void place(ohf_texts *placed, int layout, const row_text *texts, int64_t n, int64_t bad)
{
    int any_missing = 0;
    memset(placed, 0, sizeof *placed);
    placed->layout = layout;
    for (int64_t i = 0; i < n; i++)
        any_missing |= texts[i].length == OHF_MISSING;
    if (layout != OHF_POINTERS && layout != OHF_BEHIND && (any_missing || draw(2)))
        placed->bits = bits_of(texts, n, &placed->bits_begin);
    if (layout == OHF_OFFSETS32 || layout == OHF_OFFSETS64)
        place_offsets(placed, texts, n, bad);
    else if (layout == OHF_VIEWS)
        place_views(placed, texts, n, bad);
    else if (layout == OHF_BYTES_S)
        place_padded(placed, texts, n);
    else
        place_pointers(placed, texts, n);
}

/* ---- Learning and looking up ---- */

static void open_hashtable(ohf_hashtable *hashtable, int is_texts)
{
    uint64_t seed[8];
    const int weak = draw(4) == 0;      /* a hash that makes keys collide */
    const int64_t room = draw(2) ? (int64_t)draw(3000) : 0;
    for (int i = 0; i < 8; i++)
        seed[i] = weak ? 0 : draw(0);
    if (ohf_hashtable_open(hashtable, engine, is_texts, seed, room) != 0)
        exit(2);
}

static void check_codes(int64_t begin, int64_t end, const char *what)
{
    for (int64_t i = begin; i < end; i++)
        check(codes[i] == expected[i], what, i);
    check(codes[n_rows] == MARK, "the memory behind the codes", n_rows);
    n_compared += end - begin;
}

/* The hashtable holds the expected values in the expected order. */
static void check_content(const ohf_hashtable *hashtable)
{
    check(hashtable->n_codes == n_expected, "the number of codes", n_expected);
    if (hashtable->is_texts) {
        static int64_t offsets[MOST_ROWS + 1], positions[MOST_ROWS], counts[OHF_SORT_BYTES / sizeof(int64_t)];
        static ohf_sorted items[MOST_ROWS], spare[MOST_ROWS];
        uint8_t *data = guard((size_t)(hashtable->n_short_bytes + hashtable->n_long_bytes), 1);
        ohf_hashtable_texts(hashtable, offsets, data);
        check(offsets[n_expected] == hashtable->n_short_bytes + hashtable->n_long_bytes, "the size of texts", -1);
        for (int64_t code = 0; code < n_expected; code++) {
            const row_text *text = &rows[first_rows[code]];
            check(offsets[code + 1] - offsets[code] == text->length
                      && memcmp(data + offsets[code], text->bytes, (size_t)text->length) == 0, "a text", code);
        }
        ohf_sort_texts(offsets, data, n_expected, items, spare, counts, positions);
        for (int64_t i = 1; i < n_expected; i++) {
            const int32_t pair[2] = {(int32_t)first_rows[positions[i - 1]], (int32_t)first_rows[positions[i]]};
            check(compare_rows(&pair[0], &pair[1]) < 0, "the order of texts", i);
        }
    } else {
        for (int64_t code = 0; code < n_expected; code++)
            check(memcmp(&hashtable->numbers[code], rows[first_rows[code]].bytes, 8) == 0, "a number", code);
    }
    n_compared += n_expected;
    n_reseeded += hashtable->n_seeds;
}

/* Rows [begin, end) of texts or of numbers. */
static int run(ohf_hashtable *hashtable, const ohf_texts *texts, const ohf_numbers *numbers, int learn, int64_t begin,
               int64_t end, int64_t *stopped)
{
    if (texts != NULL)
        return (learn ? ohf_learn_texts : ohf_look_up_texts)(hashtable, texts, begin, end, codes, stopped);
    return (learn ? ohf_learn_numbers : ohf_look_up_numbers)(hashtable, numbers, begin, end, codes, stopped);
}

static void forget_codes(void)
{
    for (int64_t i = 0; i <= n_rows; i++)
        codes[i] = MARK;
}

static void look_up(ohf_hashtable *hashtable, const ohf_texts *texts, const ohf_numbers *numbers)
{
    const int64_t cut = (int64_t)draw((uint64_t)n_rows + 1);
    int64_t stopped;
    forget_codes();
    check(run(hashtable, texts, numbers, 0, cut, n_rows, &stopped) == 0, "the end of looking up", cut);
    check(run(hashtable, texts, numbers, 0, 0, cut, &stopped) == 0, "the end of looking up", 0);
    check_codes(0, n_rows, "a code looked up");
}

/* Parts of the rows have hash tables of their own, in two steps; all values go into the first one, as if it had learned
 * all rows. The others have its seed or another one. */
static void merge(const uint64_t *seed, const ohf_texts *texts, const ohf_numbers *numbers)
{
    enum { MOST_PARTS = 5, STEPS = 2 };
    static int32_t luts[MOST_PARTS][MOST_ROWS];
    ohf_hashtable parts[MOST_PARTS];
    int64_t n_known[MOST_PARTS] = {0}, begin = 0, stopped;
    const int n_parts = 1 + (int)draw(MOST_PARTS);
    uint64_t other[8];
    for (int i = 0; i < 8; i++)
        other[i] = draw(0);
    for (int i = 0; i < n_parts; i++)
        if (ohf_hashtable_open(&parts[i], engine, texts != NULL, i == 0 || draw(2) ? seed : other, 0) != 0)
            exit(2);
    forget_codes();
    for (int turn = 0; turn < STEPS * n_parts; turn++) {
        const int i = turn % n_parts, is_last = turn == STEPS * n_parts - 1;
        const int64_t end = is_last ? n_learned : begin + (int64_t)draw((uint64_t)(n_learned - begin) + 1);
        check(run(&parts[i], texts, numbers, 1, begin, end, &stopped) == 0, "the end of learning a part", begin);
        if (i > 0) {
            check(ohf_merge(&parts[0], &parts[i], n_known[i], luts[i]) == 0, "the end of merging", begin);
            n_known[i] = parts[i].n_codes;
        }
        for (int64_t row = begin; i > 0 && row < end; row++)
            if (codes[row] >= 0)
                codes[row] = luts[i][codes[row]];
        begin = end;
    }
    check_codes(0, n_learned, "a merged code");
    check_content(&parts[0]);
    for (int i = 0; i < n_parts; i++)
        ohf_hashtable_close(&parts[i]);
}

static void learn_and_look_up(ohf_hashtable *hashtable, const ohf_texts *texts, const ohf_numbers *numbers)
{
    const int64_t cut = (int64_t)draw((uint64_t)n_learned + 1);
    int64_t stopped;
    uint64_t seed[8];
    memcpy(seed, hashtable->seed, sizeof seed);
    forget_codes();
    check(run(hashtable, texts, numbers, 1, 0, cut, &stopped) == 0, "the end of learning", 0);
    check(run(hashtable, texts, numbers, 1, cut, n_learned, &stopped) == 0, "the end of learning", cut);
    check_codes(0, n_learned, "a code");
    check_content(hashtable);
    look_up(hashtable, texts, numbers);
    merge(seed, texts, numbers);
}

/* Learning ends at a row, and what came before is as if the rest were not there. */
static void learn_until(ohf_hashtable *hashtable, const ohf_texts *texts, const ohf_numbers *numbers, int64_t bad,
                        int failure)
{
    int64_t stopped = -1, n_before = 0;
    while (n_before < n_expected && first_rows[n_before] < bad)
        n_before++;
    forget_codes();
    check(run(hashtable, texts, numbers, 1, 0, n_learned, &stopped) == failure, "the failure", bad);
    check(stopped == bad, "the row of the failure", stopped);
    check_codes(0, bad, "a code before a failure");
    check(hashtable->n_codes == n_before, "the number of codes before a failure", bad);
    n_failures_met++;
}

/* Learn the rows, of which one may fail, with a new hashtable; it stays open. */
static void learn_rows(ohf_hashtable *hashtable, const ohf_texts *texts, const ohf_numbers *numbers, int64_t bad,
                       int failure)
{
    open_hashtable(hashtable, texts != NULL);
    if (bad >= 0)
        learn_until(hashtable, texts, numbers, bad, failure);
    else
        learn_and_look_up(hashtable, texts, numbers);
}

static void close_hashtable(ohf_hashtable *hashtable)
{
    ohf_hashtable_close(hashtable);
    unguard();
}

/* How many rows, how many of them are learned, and out of how many values. */
static int64_t draw_sizes(int round)
{
    static const int64_t sizes[] = {1, 2, 63, 64, 65, 100, 129, 300, 1000, 5000};
    n_rows = round % 12 == 11 ? MOST_ROWS : PICK(sizes);
    n_learned = n_rows - (int64_t)draw((uint64_t)n_rows / 3 + 1);
    return round % 12 == 11 ? MOST_VALUES : 1 + (int64_t)draw(draw(2) ? 10 : 2000);
}

static void test_texts(int layout, int round)
{
    static const char *const names[] = {"offsets32", "offsets64", "views", "pointers", "behind", "bytes"};
    const int64_t n_values = draw_sizes(round);
    ohf_hashtable hashtable;
    ohf_texts texts;
    int64_t bad = -1;
    test_name = names[layout];
    draw_values(n_values, layout == OHF_BYTES_S ? 40 : MOST_BYTES);
    draw_rows(n_values, (int)draw(2));
    for (int64_t i = 0; layout == OHF_BYTES_S && i < n_rows; i++)
        while (rows[i].length > 0 && rows[i].bytes[rows[i].length - 1] == 0)
            rows[i].length--;
    expect_codes();
    if (layout <= OHF_VIEWS && draw(4) == 0)
        bad = (int64_t)draw((uint64_t)n_learned);
    if (bad >= 0 && rows[bad].length < 0)
        bad = -1;
    place(&texts, layout, rows, n_rows, bad);
    learn_rows(&hashtable, &texts, NULL, bad, OHF_MALFORMED);
    if (bad < 0) {
        place(&texts, (int)draw(OHF_BYTES_S), rows, n_rows, -1);
        look_up(&hashtable, &texts, NULL);
    }
    close_hashtable(&hashtable);
}

/* UTF-8 by the ranges of its definition; a lone surrogate like any other character. */
static int64_t encode(const uint32_t *characters, int64_t n, uint8_t *out)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t c = characters[i];
        const int n_more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
        out[used++] = (uint8_t)(first[n_more] + c / (1u << (6 * n_more)));
        for (int more = n_more - 1; more >= 0; more--)
            out[used++] = (uint8_t)(0x80 + c / (1u << (6 * more)) % 64);
    }
    return used;
}

static void test_wide(int round)
{
    static const uint32_t limits[] = {1, 0x7F, 0x80, 0x7FF, 0x800, 0xD800, 0xDFFF, 0xFFFF, 0x10000, 0x10FFFF};
    const int64_t n_values = draw_sizes(round), width = 1 + (int64_t)draw(draw(4) ? 18 : MOST_BYTES / 4);
    static uint32_t characters[MOST_VALUES][MOST_BYTES / 4];
    ohf_hashtable hashtable;
    ohf_texts texts;
    uint32_t *to;
    int64_t bad = -1;
    test_name = "characters";
    for (int64_t v = 0; v < n_values; v++) {
        int64_t length = (int64_t)draw((uint64_t)width + 1);
        const uint32_t most = draw(3) ? 0x80 : PICK(limits);
        for (int64_t i = 0; i < width; i++)
            characters[v][i] = i >= length ? 0 : draw(9) ? (uint32_t)draw(most) : most == 0x80 ? 'a' : most;
        while (length > 0 && characters[v][length - 1] == 0)
            length--;
        lengths[v] = encode(characters[v], length, values[v]);
    }
    draw_rows(n_values, 0);
    expect_codes();
    memset(&texts, 0, sizeof texts);
    texts.layout = OHF_UCS4;
    texts.width = width;
    to = (uint32_t *)(void *)guard((size_t)(4 * n_rows * width), 1);
    texts.rows = to;
    for (int64_t i = 0; i < n_rows; i++)
        memcpy(to + i * width, characters[(rows[i].bytes - values[0]) / MOST_BYTES], (size_t)(4 * width));
    if (draw(4) == 0) {
        bad = (int64_t)draw((uint64_t)n_learned);
        to[bad * width + (int64_t)draw((uint64_t)width)] = (uint32_t)(0x110000 + draw(2) * draw(0xFFEF0000));
    }
    learn_rows(&hashtable, &texts, NULL, bad, OHF_OUTSIDE);
    close_hashtable(&hashtable);
}

/* ---- Numbers ---- */

static uint64_t patterns[MOST_ROWS];

/* Rows of type T; what a row is as a 64-bit pattern is said by PATTERN of its value `x`. */
#define DRAW_NUMBERS(T, DRAWN, PATTERN, IS_MISSING, IS_OUTSIDE)                              \
    do {                                                                                     \
        T *to = (T *)(void *)guard((size_t)n_rows * sizeof(T), 1);                           \
        numbers.rows = to;                                                                   \
        for (int64_t i = 0; i < n_rows; i++) {                                               \
            T x;                                                                             \
            do {                                                                             \
                const uint64_t v = draw((uint64_t)n_values), big = draw(50);                 \
                x = (T)(DRAWN);                                                              \
            } while ((IS_OUTSIDE) && !(has_outside && (i >= n_learned || has_outside > 1))); \
            to[i] = x;                                                                       \
            PATTERN;                                                                         \
            rows[i].bytes = (const uint8_t *)&patterns[i];                                   \
            rows[i].length = with_missing && draw(8) == 0 ? OHF_MISSING                      \
                             : (IS_MISSING)               ? OHF_MISSING                      \
                             : (IS_OUTSIDE)               ? OHF_OUTSIDE                      \
                                                          : 8;                               \
        }                                                                                    \
    } while (0)

#define DRAW_SIGNED(T)                                                                                    \
    DRAW_NUMBERS(T, big == 0 ? v << 32 : big == 1 ? UINT64_MAX - v : big == 2 ? (uint64_t)1 << 63 : v,    \
                 patterns[i] = (uint64_t)(int64_t)x, numbers.has_nat && patterns[i] == (uint64_t)1 << 63, \
                 numbers.into == OHF_U64 && x < 0)
#define DRAW_UNSIGNED(T)                                                                               \
    DRAW_NUMBERS(T, big == 0 ? v << 32 : big == 1 ? UINT64_MAX - v : big == 2 ? (uint64_t)1 << 63 : v, \
                 patterns[i] = (uint64_t)x, 0, numbers.into == OHF_I64 && (uint64_t)x >> 63)
#define DRAW_FLOATS(T)                                                                                              \
    DRAW_NUMBERS(T, big == 0 ? -0.0 : big == 1 ? 0.0 : big < 4 ? (double)NAN * (big == 2 ? 1 : -1)                  \
                    : big == 4 ? -INFINITY : big < 8 ? (double)v * 1e-45 : big < 20 ? -0.1 * (double)v : (double)v, \
                 number = x == 0 ? 0.0 : (double)x; memcpy(&patterns[i], &number, 8), x != x, 0)

static void test_numbers(int number_type, int into, int round)
{
    static char name[32];
    const int64_t n_values = draw_sizes(round);
    const int with_missing = draw(2) == 0, has_outside = (int)draw(3);
    ohf_hashtable hashtable;
    ohf_numbers numbers;
    double number;
    int64_t bad = -1;
    snprintf(name, sizeof name, "numbers of type %d as %d", number_type, into);
    test_name = name;
    memset(&numbers, 0, sizeof numbers);
    numbers.number_type = number_type;
    numbers.into = into;
    numbers.has_nat = number_type == OHF_I64 && into == OHF_I64 && draw(2);
    switch (number_type) {
    case OHF_I8: DRAW_SIGNED(int8_t); break;
    case OHF_I16: DRAW_SIGNED(int16_t); break;
    case OHF_I32: DRAW_SIGNED(int32_t); break;
    case OHF_I64: DRAW_SIGNED(int64_t); break;
    case OHF_U8: DRAW_UNSIGNED(uint8_t); break;
    case OHF_U16: DRAW_UNSIGNED(uint16_t); break;
    case OHF_U32: DRAW_UNSIGNED(uint32_t); break;
    case OHF_U64: DRAW_UNSIGNED(uint64_t); break;
    case OHF_F32: DRAW_FLOATS(float); break;
    default: DRAW_FLOATS(double); break;
    }
    if (with_missing)
        numbers.bits = bits_of(rows, n_rows, &numbers.bits_begin);
    expect_codes();
    for (int64_t i = 0; i < n_rows; i++)
        if (expected[i] == OHF_OUTSIDE) {
            if (i < n_learned && bad < 0)
                bad = i;
            expected[i] = OHF_UNKNOWN;
        }
    learn_rows(&hashtable, NULL, &numbers, bad, OHF_OUTSIDE);
    close_hashtable(&hashtable);
}

/* ---- Keys that collide ---- */

/* Where a hashtable of many codes meets hundreds of keys with nearly one home, it draws a new seed; rows that were hashed
 * with the old one are in work then. */
static void test_collisions(int is_texts)
{
    enum { HOMES = 16, MANY = 6200, COLLIDING = 400, SLOT_BITS = 16 };
    ohf_hashtable hashtable;
    ohf_numbers numbers;
    ohf_texts texts;
    uint64_t seed[8];
    uint32_t first_home;
    test_name = is_texts ? "texts that collide" : "numbers that collide";
    for (int i = 0; i < 8; i++)
        seed[i] = draw(0);
    first_home = (uint32_t)draw((1u << SLOT_BITS) - HOMES);
    if (ohf_hashtable_open(&hashtable, engine, is_texts, seed, 0) != 0)
        exit(2);
    n_rows = n_learned = MANY + COLLIDING;
    for (int64_t i = 0; i < n_rows; i++) {
        rows[i].bytes = values[i];
        rows[i].length = is_texts ? 9 + (int64_t)draw(12) : 8;
        for (;;) {
            uint64_t hash;
            for (int64_t byte = 0; byte < rows[i].length; byte += 4) {
                const uint32_t four = (uint32_t)draw(0);
                memcpy(values[i] + byte, &four, 4);
            }
            memcpy(&patterns[i], values[i], 8);
            hash = is_texts ? ohf_hash_text(&hashtable, values[i], (uint64_t)rows[i].length)
                            : ohf_hash_number(&hashtable, patterns[i]);
            if (i < MANY || (uint32_t)(hash >> (64 - SLOT_BITS)) - first_home < HOMES)
                break;
        }
    }
    expect_codes();
    memset(&numbers, 0, sizeof numbers);
    numbers.number_type = numbers.into = OHF_U64;
    numbers.rows = patterns;
    place(&texts, OHF_VIEWS, rows, n_rows, -1);
    learn_and_look_up(&hashtable, is_texts ? &texts : NULL, is_texts ? NULL : &numbers);
    check(hashtable.n_seeds > 0, "the number of seeds", hashtable.n_seeds);
    close_hashtable(&hashtable);
}

/* ---- Texts cut at a separator ---- */

enum { MOST_LISTS = 2000, MOST_PIECES = 8 };

static void test_split(void)
{
    static const int layouts[] = {OHF_OFFSETS32, OHF_OFFSETS64, OHF_VIEWS};
    static uint8_t joined[MOST_LISTS][MOST_PIECES * (MOST_BYTES + 3)];
    static row_text lists[MOST_LISTS];
    static int64_t ends[MOST_LISTS], expected_ends[MOST_LISTS];
    const int64_t n_values = 1 + (int64_t)draw(300), n_lists = 1 + (int64_t)draw(MOST_LISTS);
    static ohf_split split;
    uint8_t separator[3];
    ohf_hashtable hashtable;
    ohf_texts texts;
    int64_t stopped = 0;
    test_name = "split";
    memset(&split, 0, sizeof split);
    split.separator = separator;
    split.separator_bytes = 1 + (size_t)draw(3);
    split.keeps_empty = (int)draw(2);
    memset(separator, draw(2) ? '|' : 0, sizeof separator);
    separator[1] = draw(2) ? separator[0] : '-';
    draw_values(n_values, draw(3) ? 20 : MOST_BYTES);
    n_rows = 0;
    for (int64_t i = 0; i < n_lists; i++) {
        const int64_t n_pieces = (int64_t)draw(MOST_PIECES + 1), n = (int64_t)split.separator_bytes;
        int64_t length = 0, begin = 0;
        lists[i].bytes = joined[i];
        for (int64_t piece = 0; piece < n_pieces; piece++) {
            const int64_t v = (int64_t)draw((uint64_t)n_values);
            memcpy(joined[i] + length, values[v], (size_t)lengths[v]);
            length += lengths[v];
            if (piece + 1 < n_pieces) {
                memcpy(joined[i] + length, separator, (size_t)n);
                length += n;
            }
        }
        if (n_rows + length + 1 > MOST_ROWS)    /* no more pieces than bytes and one */
            length = 0;
        lists[i].length = draw(9) && n_rows < MOST_ROWS ? length : OHF_MISSING;
        for (int64_t at = 0; lists[i].length >= 0 && at <= length; at++) {
            const int is_cut = at + n <= length && memcmp(joined[i] + at, separator, (size_t)n) == 0;
            if (!is_cut && at < length)
                continue;
            if (at > begin || split.keeps_empty) {
                rows[n_rows].bytes = joined[i] + begin;
                rows[n_rows++].length = at - begin;
            }
            if (is_cut) {
                begin = at + n;
                at = begin - 1;
            }
        }
        expected_ends[i] = n_rows;
    }
    n_learned = n_rows;
    expect_codes();
    place(&texts, PICK(layouts), lists, n_lists, -1);
    open_hashtable(&hashtable, 1);
    check(ohf_split_texts(&hashtable, &texts, 0, n_lists, &split, ends, &stopped) == 0, "the end of cutting", stopped);
    check(split.n_codes == n_rows, "the number of pieces", n_rows);
    check(memcmp(ends, expected_ends, (size_t)n_lists * sizeof *ends) == 0, "the ends of rows", -1);
    memcpy(codes, split.codes, (size_t)n_rows * sizeof *codes);
    codes[n_rows] = MARK;
    check_codes(0, n_rows, "the code of a piece");
    check_content(&hashtable);
    free(split.codes);
    close_hashtable(&hashtable);
}

int main(void)
{
    const ohf_engine *const plain = ohf_engine_of("plain"), *const best = ohf_engine_of("avx2");
    for (engine = plain;; engine = best) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int layout = OHF_OFFSETS32; layout < OHF_UCS4; layout++)
                test_texts(layout, round);
            test_wide(round);
            for (int number_type = OHF_I8; number_type < OHF_F32; number_type++)
                test_numbers(number_type, draw(2) ? OHF_I64 : OHF_U64, round);
            test_numbers(OHF_F32, OHF_F64, round);
            test_numbers(OHF_F64, OHF_F64, round);
            for (int i = 0; i < 4; i++)
                test_split();
        }
        test_collisions(0);
        test_collisions(1);
        printf("%s: agrees, %ld comparisons, %ld failures met and %ld new seeds so far\n", engine->name, n_compared,
               n_failures_met, n_reseeded);
        if (engine == best)
            break;
    }
    return n_reseeded == 0 || n_failures_met == 0;
}
