/* Every variant of the microkernels, and the copies of the rows of a table, against the plainest possible code, over
 * hostile sizes and alignments.
 *
 * Runs without Python, so that a cross compiler, an emulator and the sanitizers can have it:
 *
 *     cc -O2 -Ionehot_fast tests/native/microkernels_test.c onehot_fast/_kernels/microkernels.c -o microkernels_test
 *
 * Ends with the number of comparisons, or at the first difference.
 */
#include "_kernels/isa.h"
#include "_kernels/microkernels.h"
#include "_kernels/table_rows.h"
#include "guarded_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 128, ROUNDS = 400, MARK = 0xA5 };

static long n_compared = 0;

static const size_t widths[] = {1, 2, 3, 4, 8, 12, 16, 20};
static const size_t depths[] = {1, 2, 3, 5, 7, 8, 10, 16, 21, 31, 33, 64, 100, 127, 128, 129, 255, 300, 5000};
static const size_t counts[] = {1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 257};

static void fail(const ohf_microkernels *microkernels, const char *what, size_t width, size_t depth, size_t n, size_t shift)
{
    printf("%s: %s differs: width %zu, depth %zu, n %zu, shift %zu\n", microkernels->name, what, width, depth, n, shift);
    exit(1);
}

/* End unless a guarded buffer holds what was expected, and nothing was written around it. */
static void check(const unsigned char *buffer, size_t shift, const void *expected, size_t n_bytes,
                  const ohf_microkernels *microkernels, const char *what, size_t width, size_t depth, size_t n)
{
    int is_same = memcmp(buffer + GUARD + shift, expected, n_bytes) == 0;
    n_compared++;
    for (size_t i = 0; i < GUARD + shift; i++)
        is_same &= buffer[i] == MARK && buffer[GUARD + shift + n_bytes + i % GUARD] == MARK;
    if (!is_same)
        fail(microkernels, what, width, depth, n, shift);
}

/* A buffer of MARK with room for n_bytes at GUARD + shift from a 64-byte boundary. */
static unsigned char *guarded(size_t n_bytes)
{
    const size_t size = (n_bytes + 4 * GUARD + 63) / 64 * 64;
    unsigned char *buffer = allocate_aligned(size);
    if (buffer == NULL)
        exit(2);
    memset(buffer, MARK, size);
    return buffer;
}

static void expect(const int64_t *classes, size_t n_groups, const ohf_fill *fill, unsigned char *out)
{
    for (size_t g = 0; g < n_groups; g++)
        for (size_t c = 0; c < fill->depth; c++)
            for (size_t i = 0; i < fill->inner; i++) {
                const int hit = classes[g * fill->inner + i] == (int64_t)c;
                memcpy(out + ((g * fill->depth + c) * fill->inner + i) * fill->width, hit ? fill->on : fill->off,
                       fill->width);
            }
}

static void test_writers(const ohf_microkernels *microkernels)
{
    static ohf_plan plan;
    unsigned char on[32], off[32], room[OHF_SCRATCH + 192];
    unsigned char *scratch = room + (-(uintptr_t)room & 63);
    const size_t width = PICK(widths), depth = PICK(depths), n = PICK(counts);
    const size_t shift = draw(4) ? draw(64) / width * width : draw(64), n_bytes = n * depth * width;
    const int vector = microkernels->vector > 0 && width <= 16 && 64 % width == 0;
    int64_t classes[300];
    int32_t codes[300];
    uint8_t small[300 + OHF_PAD];
    unsigned char *buffer = guarded(n_bytes), *expected = malloc(n_bytes);
    ohf_fill fill;
    for (size_t i = 0; i < 32; i++) {
        on[i] = (unsigned char)draw(256);
        off[i] = draw(3) ? (unsigned char)draw(256) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        classes[i] = draw(8) ? (int64_t)draw(depth) : -1;
        codes[i] = (int32_t)classes[i];
        small[i] = classes[i] < 0 || classes[i] > 254 ? OHF_NONE8 : (uint8_t)classes[i];
    }
    ohf_fill_init(&fill, width, depth, 1, on, off);
    expect(classes, n, &fill, expected);
    unsigned char *out = buffer + GUARD + shift;
    microkernels->rows_block(codes, n, &fill, out, scratch);
    check(buffer, shift, expected, n_bytes, microkernels, "rows_block", width, depth, n);
    for (int streaming = 0; vector && (uintptr_t)out % width == 0 && streaming < 2; streaming++) {
        fill.stream = streaming;
        microkernels->fill(scratch, OHF_SCRATCH + 64, &fill);
        memset(out, MARK, n_bytes);
        if (depth * width <= OHF_SCRATCH) {
            microkernels->rows_scratch(codes, n, &fill, out, scratch);
            check(buffer, shift, expected, n_bytes, microkernels, "rows_scratch", width, depth, n);
        }
        memset(out, MARK, n_bytes);
        microkernels->rows_merge(codes, n, &fill, out, scratch);
        check(buffer, shift, expected, n_bytes, microkernels, "rows_merge", width, depth, n);
        if (ohf_can_expand(microkernels, &fill, out)) {
            ohf_plan_init(&plan, microkernels, &fill, out);
            memset(out, MARK, n_bytes);
            microkernels->rows_expand(small, n, &plan, &fill, out);
            check(buffer, shift, expected, n_bytes, microkernels, "rows_expand", width, depth, n);
        }
    }
    if (depth <= OHF_SPAN8)
        for (int streaming = 0; streaming < 2; streaming++) {
            ohf_fill_init(&fill, width, depth, n, on, off);
            fill.stream = streaming && microkernels->streams;
            expect(classes, 1, &fill, expected);
            memset(out, MARK, n_bytes);
            microkernels->planes(small, n, depth, n * width, &fill, out);
            check(buffer, shift, expected, n_bytes, microkernels, "planes", width, depth, n);
        }
    free_aligned(buffer);
    free(expected);
}

/* Runs one after another: at each border, the vector that has elements of both runs is written with the second run, or
 * each run writes its own elements. */
static void test_joined_planes(const ohf_microkernels *microkernels)
{
    static const size_t depths_of_planes[] = {1, 2, 4, 5, 20, 33};
    static const size_t joined_widths[] = {1, 2, 4, 8, 16};
    enum { MOST = 300, RUNS = 5 };
    const size_t width = PICK(joined_widths), depth = PICK(depths_of_planes), n_runs = 1 + draw(RUNS);
    const size_t shift = draw(64) / width * width;
    unsigned char on[16], off[16];
    int64_t classes[RUNS * MOST];
    uint8_t room[64 + RUNS * MOST + OHF_PAD], *codes = room + 64;
    ohf_fill fill;
    if (microkernels->planes_joined == NULL)
        return;
    const size_t lanes = (size_t)microkernels->vector / width, n = lanes + draw(draw(2) ? 3 * lanes : MOST - lanes);
    const size_t n_bytes = n_runs * n * depth * width;
    unsigned char *buffer = guarded(n_bytes), *expected = malloc(n_bytes), *out = buffer + GUARD + shift;
    for (size_t i = 0; i < 16; i++) {
        on[i] = (unsigned char)draw(256);
        off[i] = (unsigned char)draw(256);
    }
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (uint8_t)draw(depth + 1);
    for (size_t i = 0; i < n_runs * n; i++)
        classes[i] = codes[i];
    ohf_fill_init(&fill, width, depth, n, on, off);
    fill.stream = microkernels->streams && draw(2);
    expect(classes, n_runs, &fill, expected);
    for (size_t run = 0, joins_before = 0; run < n_runs; run++) {
        const int joins_after = run + 1 < n_runs && draw(3);
        microkernels->planes_joined(codes + run * n, n, &fill, out + run * n * depth * width, (int)joins_before,
                                    joins_after);
        joins_before = (size_t)joins_after;
    }
    check(buffer, shift, expected, n_bytes, microkernels, "planes_joined", width, depth, n);
    free_aligned(buffer);
    free(expected);
}

static void test_bits(const ohf_microkernels *microkernels)
{
    enum { MOST = 2 * OHF_BIT_ROWS + 70 };
    const int streaming = microkernels->streams && draw(2);
    const size_t n = draw(2) ? PICK(counts) : draw(draw(8) ? 1600 : MOST),
                 n_classes = 1 + draw(draw(2) ? 20 : 255), n_bytes = (n + 7) / 8;
    const size_t plane_bytes = streaming ? (n_bytes + 63) / 64 * 64 : n_bytes + draw(3);
    uint8_t codes[MOST + OHF_PAD];
    unsigned char room[OHF_BIT_SCRATCH + 64], *masks = room + (-(uintptr_t)room & 63);
    unsigned char *expected = malloc(n_classes * plane_bytes + 1);
    unsigned char *buffer = guarded(n_classes * plane_bytes + 64);
    const size_t shift = streaming ? -(uintptr_t)(buffer + GUARD) & 63 : draw(64);
    memset(masks, MARK, OHF_BIT_SCRATCH);
    memset(expected, MARK, n_classes * plane_bytes);
    for (size_t class = 0; class < n_classes; class++)
        memset(expected + class * plane_bytes, 0, n_bytes);
    for (size_t i = 0; i < n; i++) {
        const size_t code = draw(n_classes + 1);
        codes[i] = code < n_classes ? (uint8_t)code : OHF_NONE8;
        if (code < n_classes)
            expected[code * plane_bytes + i / 8] |= (unsigned char)(1u << i % 8);
    }
    microkernels->bits(codes, n, n_classes, plane_bytes, streaming, buffer + GUARD + shift, masks);
    check(buffer, shift, expected, n_classes * plane_bytes, microkernels, "bits", 0, n_classes, n);
    free_aligned(buffer);
    free(expected);
}

/* Elements of which some are the value, some share a half with it, and the rest differ. */
static void test_differing(const ohf_microkernels *microkernels)
{
    static const size_t element_widths[] = {1, 2, 4, 8};
    const size_t width = PICK(element_widths), n = draw(2) ? PICK(counts) : draw(20000), shift = draw(64) / width * width;
    const size_t part = width < 4 ? width : 4, n_bytes = n * width;
    unsigned char value[8], *buffer = guarded(n_bytes), *expected = malloc(n_bytes + 1);
    size_t count = 0;
    for (size_t i = 0; i < 8; i++)
        value[i] = (unsigned char)draw(256);
    for (size_t i = 0; i < n_bytes; i++)
        expected[i] = value[i % width];
    for (size_t i = draw(8); i < n_bytes; i += 1 + draw(draw(2) ? 4 : 300))
        expected[i] = (unsigned char)draw(256);
    for (size_t i = 0; i < n_bytes; i += part)
        count += memcmp(expected + i, value + i % width, part) != 0;
    memcpy(buffer + GUARD + shift, expected, n_bytes);
    const size_t found = microkernels->differing(buffer + GUARD + shift, n, width, value);
    if (found != count)
        fail(microkernels, "differing", width, count, n, found);
    check(buffer, shift, expected, n_bytes, microkernels, "differing", width, 1, n);
    free_aligned(buffer);
    free(expected);
}

/* Tables with entries in some runs of 16 bytes, or anywhere; the bytes to find may be many. */
static void test_bytes(const ohf_microkernels *microkernels)
{
    const size_t n = draw(2) ? PICK(counts) : draw(5000), shift = draw(64), first = draw(256), n_runs = draw(17);
    const size_t last = draw(2) ? first : first + draw(256 - first);
    unsigned char entries[256], *bytes = calloc(n + 1, 1), *expected = malloc(n + 1), *buffer = guarded(n);
    uint16_t *positions = malloc(2 * n + 2);
    size_t n_expected = 0;
    ohf_byte_map map;
    memset(entries, (int)draw(256), 256);
    for (size_t r = 0; r < n_runs; r++)
        for (size_t i = 0, run = draw(16); i < 16; i++)
            entries[16 * run + i] = (unsigned char)draw(256);
    ohf_byte_map_init(&map, entries);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)draw(256);
        expected[i] = entries[bytes[i]];
    }
    microkernels->map_bytes(bytes, n, &map, buffer + GUARD + shift);
    check(buffer, shift, expected, n, microkernels, "map_bytes", 1, n_runs, n);
    /* Most entries are 0, so that the first byte that is found may be anywhere, or missing. */
    memset(entries, 0, 256);
    for (size_t r = 0; r < n_runs % 4; r++)
        entries[draw(256)] = (unsigned char)draw(256);
    for (size_t i = 0; i < n && draw(2); i++)
        bytes[draw(n)] = bytes[0];
    ohf_byte_map_init(&map, entries);
    size_t wanted = 0;
    while (wanted < n && entries[bytes[wanted]] == 0)
        wanted++;
    if (microkernels->find_mapped(bytes, n, &map) != wanted)
        fail(microkernels, "find_mapped", n_runs, wanted, n, shift);
    const size_t n_found = microkernels->find_bytes(bytes, n, (unsigned)first, (unsigned)last, positions);
    for (size_t i = 0; i < n; i++)
        if (bytes[i] >= first && bytes[i] <= last) {
            if (n_expected >= n_found || positions[n_expected] != i)
                fail(microkernels, "find_bytes", first, last, n, i);
            n_expected++;
        }
    if (n_expected != n_found)
        fail(microkernels, "find_bytes", first, last, n, n_found);
    free_aligned(buffer);
    free(bytes);
    free(expected);
    free(positions);
}

/* Rows and planes of a table with a row for each byte. The codes and the output end in front of a forbidden page. */
static void test_table_rows(void)
{
    static const size_t row_widths[] = {1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 20, 32, 33, 48, 63, 64, 65, 80, 100, 257};
    static const size_t element_widths[] = {1, 2, 3, 4, 8, 16};
    const size_t row_bytes = PICK(row_widths), width = PICK(element_widths), n = draw(4) ? draw(70) : draw(300);
    const size_t stride = ohf_table_stride(row_bytes), page = page_size(), plane_bytes = n * width;
    const size_t n_bytes = n * row_bytes > plane_bytes ? n * row_bytes : plane_bytes;
    const size_t codes_inside = (n / page + 1) * page, inside = (n_bytes / page + 1) * page;
    uint8_t *code_pages = map_guarded(codes_inside), *pages = map_guarded(inside);
    unsigned char *table = malloc(256 * (stride + width)), *expected = malloc(n_bytes + 1);
    if (code_pages == NULL || pages == NULL || table == NULL || expected == NULL)
        exit(2);
    uint8_t *codes = code_pages + page + codes_inside - n;
    if (stride < row_bytes || (stride > 16 && stride % 16 != 0))
        exit(printf("rows of %zu bytes have a stride of %zu\n", row_bytes, stride));
    for (size_t i = 0; i < 256 * (stride + width); i++)
        table[i] = (unsigned char)draw(256);
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint8_t)draw(draw(2) ? 256 : 2);
    for (size_t i = 0; i < n; i++)
        memcpy(expected + i * row_bytes, table + codes[i] * stride, row_bytes);
    unsigned char *out = pages + page + inside - n * row_bytes;
    memset(pages + page, MARK, inside);
    ohf_copy_rows(codes, n, table, stride, row_bytes, out);
    if (memcmp(out, expected, n * row_bytes) != 0 || (out > pages + page && out[-1] != MARK))
        exit(printf("the rows of a table differ: %zu rows of %zu bytes\n", n, row_bytes));
    for (size_t i = 0; i < n; i++)
        memcpy(expected + i * width, table + codes[i] * stride, width);
    out = pages + page + inside - plane_bytes;
    memset(pages + page, MARK, inside);
    ohf_copy_plane(codes, n, table, stride, width, out);
    if (memcmp(out, expected, plane_bytes) != 0 || (out > pages + page && out[-1] != MARK))
        exit(printf("the plane of a table differs: %zu elements of %zu bytes\n", n, width));
    n_compared += 2;
    unmap_guarded(code_pages, codes_inside);
    unmap_guarded(pages, inside);
    free(table);
    free(expected);
}

/* Columns of every index_type, of which a code now and then is none: all rows before it may be written, and none beyond. */
static void test_csr(const ohf_microkernels *microkernels)
{
    static const int index_types[] = {OHF_I8, OHF_U8, OHF_I16, OHF_U16, OHF_I32};
    static const size_t sizes[] = {1, 1, 2, 2, 4};
    const size_t n_columns = draw(8) ? 1 + draw(12) : PICK(depths);
    const size_t n = draw(n_columns < 20 ? 600 : 40), mixed = draw(2), index_type = draw(5), hole = draw(2) ? draw(2 * n + 1) : n;
    const int32_t place = (int32_t)draw(1000);
    const size_t shift = 4 * draw(17), ends_shift = 4 * draw(17), n_bytes = n * n_columns * 4;
    ohf_shifted *columns = malloc((n_columns + 1) * sizeof *columns);
    int32_t *expected = malloc(n_bytes + 4), *ends = malloc(4 * n + 4);
    unsigned char *buffer = guarded(n_bytes + 64), *end_buffer = guarded(4 * n + 64);
    for (size_t j = 0; j < n_columns; j++) {
        const size_t k = mixed ? draw(5) : index_type;
        unsigned char *codes = malloc(sizes[k] * n + 1);
        ohf_shifted column = {codes, index_types[k], (int32_t)draw(1u << 20), k > 3 ? INT32_MAX >> draw(31) : (int32_t)draw(120)};
        for (size_t i = 0; i < n; i++) {
            int32_t code = (int32_t)draw((uint64_t)column.top + 1) & 0xFFFFF;
            expected[i * n_columns + j] = column.first + code;
            if (i == hole && j == draw(n_columns))
                code = column.top < INT32_MAX && draw(2) ? column.top + 1 : -1;
            if (sizes[k] == 4)
                ((int32_t *)codes)[i] = code;
            else if (sizes[k] == 2)
                ((int16_t *)codes)[i] = (int16_t)code;
            else
                codes[i] = (unsigned char)code;
        }
        columns[j] = column;
    }
    for (size_t i = 0; i < n; i++)
        ends[i] = place + (int32_t)((i + 1) * n_columns);
    const size_t done = microkernels->csr(columns, n_columns, n, place, (int32_t *)(buffer + GUARD + shift),
                                          (int32_t *)(end_buffer + GUARD + ends_shift));
    const size_t ready = done * n_columns * 4;
    if (done > n || done + 128 < (hole < n ? hole : n) || (done < n && hole >= n))
        fail(microkernels, "the number of rows of csr", 4, n_columns, n, done);
    /* What lies behind the last row that is written has no meaning, but for the guard. */
    memcpy((unsigned char *)expected + ready, buffer + GUARD + shift + ready, n_bytes - ready);
    memcpy(ends + done, end_buffer + GUARD + ends_shift + 4 * done, 4 * (n - done));
    check(buffer, shift, expected, n_bytes, microkernels, "csr", 4, n_columns, n);
    check(end_buffer, ends_shift, ends, 4 * n, microkernels, "the ends of csr", 4, n_columns, n);
    for (size_t j = 0; j < n_columns; j++)
        free((void *)columns[j].codes);
    free(columns);
    free(expected);
    free(ends);
    free_aligned(buffer);
    free_aligned(end_buffer);
}

/* What is copied stays; what is moved leaves off behind, whatever the width and the place in a line. */
static void test_move(const ohf_microkernels *microkernels)
{
    static const size_t widths[] = {1, 2, 4, 8, 16};
    const size_t width = PICK(widths), n_bytes = width * draw(40), place = width * draw(64 / width);
    unsigned char on[16], off[16] = {0}, room[64 + 64 + 640 + 64] = {0}, moved[640], rest[640];
    unsigned char *from = room + (-(uintptr_t)room & 63) + place, *buffer = guarded(n_bytes + 128);
    const size_t shift = (-(uintptr_t)(buffer + GUARD) & 63) + place;
    ohf_fill fill;
    for (size_t i = 0; i < width; i++)
        off[i] = (unsigned char)draw(256);
    ohf_fill_init(&fill, width, 1, 1, memset(on, 0, sizeof on), off);
    for (size_t i = 0; i < n_bytes; i++) {
        moved[i] = from[i] = (unsigned char)draw(256);
        rest[i] = off[i % width];
    }
    microkernels->copy(buffer + GUARD + shift, from, n_bytes);
    ohf_store_fence();
    check(buffer, shift, moved, n_bytes, microkernels, "copy", width, 1, n_bytes);
    if (memcmp(from, moved, n_bytes) != 0)
        fail(microkernels, "what copy leaves", width, 1, n_bytes, place);
    memset(buffer + GUARD + shift, MARK, n_bytes);
    microkernels->move(buffer + GUARD + shift, from, n_bytes, &fill);
    ohf_store_fence();
    check(buffer, shift, moved, n_bytes, microkernels, "move", width, 1, n_bytes);
    if (memcmp(from, rest, n_bytes) != 0)
        fail(microkernels, "what move leaves", width, 1, n_bytes, place);
    free_aligned(buffer);
}

/* The class of a 64-bit pattern, from the rules and nothing else. */
static int64_t class_of(uint64_t raw, int is_signed, const ohf_policy *policy)
{
    if (policy->has_ignored && raw == policy->ignored)
        return -1;
    if (is_signed && (int64_t)raw < 0)
        return policy->wrap && (int64_t)raw >= -(int64_t)policy->depth ? (int64_t)(raw + policy->depth) : -1;
    return raw < policy->depth ? (int64_t)raw : -1;
}

#define FOR_INTEGERS(TEST)                    \
    do {                                      \
        TEST(OHF_I8, int8_t, int64_t, 1);     \
        TEST(OHF_I16, int16_t, int64_t, 1);   \
        TEST(OHF_I32, int32_t, int64_t, 1);   \
        TEST(OHF_I64, int64_t, int64_t, 1);   \
        TEST(OHF_U8, uint8_t, uint64_t, 0);   \
        TEST(OHF_U16, uint16_t, uint64_t, 0); \
        TEST(OHF_U32, uint32_t, uint64_t, 0); \
        TEST(OHF_U64, uint64_t, uint64_t, 0); \
    } while (0)
/* Indices of type T: DRAWN at random, and CLASS is the class of an index x. */
#define TEST_NARROW(KIND, T, DRAWN, CLASS)                                                                 \
    do {                                                                                                   \
        T indices[300] = {0};                                                                              \
        for (size_t i = 0; i < n; i++)                                                                     \
            indices[i] = (T)(DRAWN);                                                                       \
        microkernels->narrow8[KIND](indices, n, &policy, small);                                           \
        microkernels->narrow32[KIND](indices, n, &wide, codes);                                            \
        for (size_t i = 0; i < n; i++) {                                                                   \
            const T x = indices[i];                                                                        \
            const int64_t k = (CLASS), window = k - (int64_t)policy.base;                                  \
            if (small[i] != (k >= 0 && window >= 0 && window < (int64_t)policy.span ? window : OHF_NONE8)) \
                fail(microkernels, "narrow8 " #T, 0, policy.depth, n, i);                                  \
            if (codes[i] != (int32_t)k)                                                                    \
                fail(microkernels, "narrow32 " #T, 0, policy.depth, n, i);                                 \
        }                                                                                                  \
        n_compared += 2;                                                                                   \
    } while (0)
#define NARROW_INTEGERS(KIND, T, WIDE, IS_SIGNED)                                       \
    TEST_NARROW(KIND, T, draw(6) ? draw(2 * policy.depth + 2) - policy.depth : draw(0), \
                class_of((uint64_t)(WIDE)x, IS_SIGNED, &policy))
/* Floats are truncated towards zero; those that int64 cannot hold have no class. */
#define NARROW_FLOATS(KIND, T)                                                                           \
    TEST_NARROW(KIND, T, draw(4) ? ((double)draw(8 * policy.depth + 8) - 4.0 * (double)policy.depth) / 4 \
                                 : PICK(hostile_floats),                                                 \
                x >= (T)-0x1p63 && x < (T)0x1p63 ? class_of((uint64_t)(int64_t)x, 1, &policy) : -1)

static void test_narrow(const ohf_microkernels *microkernels)
{
    static const double hostile_floats[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0, -0.75, 0.999, -0x1p63, 0x1p63,
                                            -0x1.1p63, 0x1.fffffep62, 0x1p32, 0x1p31, 1e30, -1e30, 1e-40};
    const size_t n = PICK(counts);
    uint8_t small[300 + OHF_PAD];
    int32_t codes[300];
    ohf_policy policy = {.depth = PICK(depths)}, wide;
    policy.wrap = (int)draw(2);
    policy.has_ignored = (int)draw(2);
    policy.ignored = draw(policy.depth);
    wide = policy;
    wide.span = policy.depth;
    policy.base = draw(policy.depth);
    policy.span = policy.depth - policy.base < OHF_SPAN8 ? policy.depth - policy.base : OHF_SPAN8;
    FOR_INTEGERS(NARROW_INTEGERS);
    NARROW_FLOATS(OHF_F32, float);
    NARROW_FLOATS(OHF_F64, double);
}

enum { MOST_ENTRIES = 65537 + 1, MOST_MAPPED = 2 * OHF_MAP_BLOCK + 3 };
static int32_t entries[MOST_ENTRIES];

/* The class of a local code, from the lut and nothing else, relative to the window; -1 for none. */
static int64_t mapped(uint64_t raw, int is_signed, const ohf_lut *lut)
{
    const int is_code = !(is_signed && (int64_t)raw < 0) && raw < lut->n_codes;
    const int64_t entry = lut->entries[is_code ? raw : lut->n_codes], code = entry - (int64_t)lut->base;
    return entry >= 0 && code >= 0 && (uint64_t)code < lut->span ? code : -1;
}

/* Add the entries to the lut as a few values, also in slots. */
static void choose_few(ohf_lut *lut, size_t width, int in_slots)
{
    static ohf_few few;
    static ohf_slots slots;
    few.n = (int)lut->n_codes;
    for (int i = 0; i < few.n; i++) {
        few.values[i] = (uint64_t)i;
        few.classes[i] = ohf_few_class(entries[i]);
    }
    lut->few = &few;
    lut->other_class = ohf_few_class(entries[lut->n_codes]);
    if (in_slots && width > 1) {
        if (!ohf_slots_init(&slots, &few, width))
            exit(printf("no slots for %zu values\n", (size_t)lut->n_codes));
        lut->slots = &slots;
    }
}

/* Add another form of the entries to both luts, if there is one: a few values, slots, or a table of bytes. Their classes
 * are all in the first window, so that a later window begins behind them. */
static void choose_form(ohf_lut *lut, ohf_lut *wide, size_t width, int is_signed)
{
    static uint8_t bytes[MOST_ENTRIES];
    const uint64_t form = draw(4), n_values = width > 2 ? lut->n_codes + 1 : (uint64_t)1 << 8 * width;
    lut->few = wide->few = NULL;
    lut->slots = wide->slots = NULL;
    lut->bytes = wide->bytes = NULL;
    for (size_t i = 0; i <= lut->n_codes; i++)
        if (entries[i] >= OHF_FEW_CODES)
            return;
    if (form == 1)
        for (uint64_t value = 0; value < n_values; value++) {
            const int is_code = value < lut->n_codes && !(is_signed && width <= 2 && value >= n_values / 2);
            bytes[value] = ohf_few_class(entries[is_code ? value : lut->n_codes]);
            lut->bytes = bytes;
        }
    if (form > 1 && lut->n_codes != 0 && lut->n_codes <= OHF_FEW)
        choose_few(lut, width, form == 3);
    if (lut->bytes != NULL || lut->few != NULL)
        lut->base = wide->base = draw(2) * OHF_SPAN8;
    wide->few = lut->few;
    wide->slots = lut->slots;
    wide->bytes = lut->bytes;
    wide->other_class = lut->other_class;
}

/* Local codes in the lut, on either side of its ends, at the limits of their type, and any. */
#define TEST_MAP(KIND, T, WIDE, IS_SIGNED)                                                              \
    do {                                                                                                \
        static T local[MOST_MAPPED];                                                                    \
        choose_form(&lut, &wide, sizeof(T), IS_SIGNED);                                                 \
        const int in_range = lut.n_codes != 0 && draw(3) == 0;                                          \
        for (size_t i = 0; i < n; i++) {                                                                \
            const uint64_t choice = draw(8), power = (uint64_t)1 << (8 * sizeof(T) - draw(2)) % 64;     \
            local[i] = (T)(choice < 5 || in_range ? draw(lut.n_codes + !in_range)                       \
                           : choice < 7 ? (draw(2) ? lut.n_codes : power) + draw(4) - 2                 \
                                        : draw(0));                                                     \
        }                                                                                               \
        memset(small, MARK, sizeof small);                                                              \
        memset(codes, MARK, sizeof codes);                                                              \
        const int full8 = microkernels->map8[KIND](local, n, &lut, small);                              \
        const int full32 = microkernels->map32[KIND](local, n, &wide, codes);                           \
        for (size_t i = 0; i < n; i++) {                                                                \
            const int64_t k8 = mapped((uint64_t)(WIDE)local[i], IS_SIGNED, &lut);                       \
            const int64_t k32 = mapped((uint64_t)(WIDE)local[i], IS_SIGNED, &wide);                     \
            if (small[i] != (k8 < 0 ? OHF_NONE8 : k8) || (full8 && k8 < 0))                             \
                fail(microkernels, "map8 " #T, (size_t)lut.only_adds, (size_t)lut.n_codes, n, i);       \
            if (codes[i] != (k32 < 0 ? OHF_NONE32 : k32) || (full32 && k32 < 0))                        \
                fail(microkernels, "map32 " #T, (size_t)lut.only_adds, (size_t)lut.n_codes, n, i);      \
        }                                                                                               \
        if (small[n] != MARK || ((unsigned char *)(codes + n))[0] != MARK)                              \
            fail(microkernels, "the end of map " #T, (size_t)lut.only_adds, (size_t)lut.n_codes, n, n); \
        n_compared += 2;                                                                                \
    } while (0)

static void test_map(const ohf_microkernels *microkernels)
{
    static const size_t sizes[] = {0, 1, 2, 5, 21, 32, 100, 127, 128, 129, 254, 255, 256, 257, 1000};
    static const size_t large_sizes[] = {32767, 32768, 32769, 65535, 65536, 65537};
    static const int64_t firsts[] = {-1, 0, 1, 7, 254, 255, 256, 70000, INT32_MAX - 65537};
    static uint8_t small[MOST_MAPPED + 1];
    static int32_t codes[MOST_MAPPED + 1];
    const size_t n = draw(4) ? PICK(counts) : OHF_MAP_BLOCK - 1 + draw(OHF_MAP_BLOCK + 4);
    ohf_lut lut = {.entries = entries}, wide;
    const int64_t first = PICK(firsts);
    lut.n_codes = draw(8) ? PICK(sizes) : PICK(large_sizes);
    lut.only_adds = lut.n_codes > 0 && draw(2);
    for (size_t i = 0; i < lut.n_codes; i++)
        entries[i] = (int32_t)(lut.only_adds ? first + (int64_t)i
                               : draw(4) == 0  ? -1
                                               : first + (int64_t)draw(lut.n_codes));
    entries[lut.n_codes] = (int32_t)(draw(2) ? -1 : first + (int64_t)draw(lut.n_codes + 1));
    wide = lut;
    wide.span = draw(4) ? OHF_SPAN32 : 1 + draw(1000);
    wide.base = draw(2) ? 0 : (uint64_t)(first + 1) + draw(lut.n_codes + 1);
    lut.span = draw(2) ? OHF_SPAN8 : 1 + draw(OHF_SPAN8);
    lut.base = draw(8) ? (uint64_t)(first + 1) + draw(lut.n_codes + 1) : (uint64_t)draw(4) << 31;
    FOR_INTEGERS(TEST_MAP);
}

int main(void)
{
    const ohf_microkernels *found[4];
    const int n_variants = ohf_variants(found, 4);
    for (int round = 0; round < 5 * ROUNDS; round++)
        test_table_rows();
    for (int v = 0; v < n_variants; v++) {
        for (int round = 0; round < ROUNDS; round++) {
            test_narrow(found[v]);
            test_map(found[v]);
            test_writers(found[v]);
            test_joined_planes(found[v]);
            test_bits(found[v]);
            test_csr(found[v]);
            test_differing(found[v]);
            test_bytes(found[v]);
            if (found[v]->move != NULL)
                test_move(found[v]);
        }
        printf("%s: agrees, %ld comparisons so far\n", found[v]->name, n_compared);
    }
    return 0;
}
