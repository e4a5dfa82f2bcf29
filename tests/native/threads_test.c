/* Threads that share what calls share: the microkernels, a hashtable that is only read, and the kept workspaces.
 *
 * Runs without Python, so that no lock of the interpreter orders the threads, and ThreadSanitizer sees every race:
 *
 *     cc -O1 -g -fsanitize=thread -Ionehot_fast tests/native/threads_test.c onehot_fast/_kernels/microkernels.c \
 *         onehot_fast/_categories/hashtable/hashtable.c -lpthread -o threads_test
 *
 * Ends with the number of comparisons, or at the first difference.
 */
#include "_categories/hashtable/hashtable.h"
#include "_categories/hashtable/sort_texts.h"
#include "_kernels/isa.h"
#include "_kernels/microkernels.h"
#include "_runtime/workspace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 4, ROUNDS = 20, ROWS = 3000, CLASSES = 20, VALUES = 700, CHARACTERS = 12, TURNS = 2000,
    OUT_BYTES = ROWS * CLASSES * 4
};

static const ohf_microkernels *kernels;
static ohf_hashtable texts_of, numbers_of;

/* The input, which all threads read. */
static int32_t indices[ROWS + OHF_PAD];
static uint64_t numbers[ROWS];
static uint32_t wide[ROWS][CHARACTERS];
static uint8_t data[ROWS * CHARACTERS];
static int64_t offsets[ROWS + 1];
static int32_t entries[CLASSES + 1];
static const uint32_t on = 7, off = 3;
static ohf_fill fill;
static ohf_plan plan;

/* What one thread writes. */
typedef struct {
    int32_t codes[ROWS + OHF_PAD], mapped[ROWS], of_texts[ROWS], of_wide[ROWS], of_numbers[ROWS];
    uint8_t small[ROWS + OHF_PAD];
    unsigned char rows[OUT_BYTES + 64], planes[OUT_BYTES + 64], bits[CLASSES * 512], room[OHF_BIT_SCRATCH + 64];
    unsigned char scratch[OHF_SCRATCH + 128], expanded[OUT_BYTES + 64];
    int64_t order[ROWS];
    ohf_sorted items[2 * ROWS];
    int64_t counts[8 * 256];
} result;

static result expected, results[THREADS];

static unsigned char *line_of(unsigned char *room)
{
    return room + (-(uintptr_t)room & 63);
}

static void fail(const char *what)
{
    printf("%s: %s\n", kernels->name, what);
    exit(1);
}

static void look_up(result *to)
{
    ohf_texts texts;
    ohf_numbers all;
    int64_t stopped;
    int failed;
    memset(&texts, 0, sizeof texts);
    texts.layout = OHF_OFFSETS64;
    texts.rows = offsets;
    texts.data = data;
    texts.limit = (uint64_t)offsets[ROWS];
    texts.last_of_16 = texts.limit > 15 ? texts.limit - 15 : 0;
    failed = ohf_look_up_texts(&texts_of, &texts, 0, ROWS, to->of_texts, &stopped);
    memset(&texts, 0, sizeof texts);
    texts.layout = OHF_UCS4;
    texts.rows = wide;
    texts.width = CHARACTERS;
    failed |= ohf_look_up_texts(&texts_of, &texts, 0, ROWS, to->of_wide, &stopped);
    memset(&all, 0, sizeof all);
    all.number_type = all.into = OHF_U64;
    all.rows = numbers;
    failed |= ohf_look_up_numbers(&numbers_of, &all, 0, ROWS, to->of_numbers, &stopped);
    if (failed)
        fail("a look-up failed");
}

static void encode(result *to)
{
    ohf_policy policy;
    ohf_lut lut;
    memset(&policy, 0, sizeof policy);
    memset(&lut, 0, sizeof lut);
    policy.depth = policy.span = lut.span = CLASSES;
    lut.entries = entries;
    lut.n_codes = CLASSES;
    kernels->narrow32[OHF_I32](indices, ROWS, &policy, to->codes);
    kernels->narrow8[OHF_I32](indices, ROWS, &policy, to->small);
    kernels->map32[OHF_I32](indices, ROWS, &lut, to->mapped);
    if (kernels->rows_scratch != NULL) {
        kernels->fill(line_of(to->scratch), OHF_SCRATCH + 64, &fill);
        kernels->rows_scratch(to->codes, ROWS, &fill, line_of(to->rows), line_of(to->scratch));
    } else {
        kernels->rows_block(to->codes, ROWS, &fill, line_of(to->rows), NULL);
    }
    if (kernels->rows_expand != NULL)
        kernels->rows_expand(to->small, ROWS, &plan, &fill, line_of(to->expanded));
    kernels->planes(to->small, ROWS, CLASSES, ROWS * sizeof on, &fill, line_of(to->planes));
    kernels->bits(to->small, ROWS, CLASSES, 512, 0, to->bits, line_of(to->room));
    ohf_store_fence();
}

/* Take two workspaces at a time, fill them, and give them back: nobody else may have written to them. */
static void take_turns(int thread)
{
    const size_t sizes[] = {1000, 60000, 100000};
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t first = sizes[turn % 3], second = sizes[(turn + thread) % 3];
        unsigned char *a = ohf_take_workspace(first), *b = ohf_take_workspace(second);
        if (a == NULL || b == NULL)
            fail("no memory");
        memset(a, thread, 1000);
        memset(b, thread + THREADS, 1000);
        for (size_t i = 0; i < 1000; i++)
            if (a[i] != thread || b[i] != thread + THREADS)
                fail("two threads have the same workspace");
        ohf_give_workspace(a, first);
        ohf_give_workspace(b, second);
    }
}

static void work(result *to)
{
    look_up(to);
    encode(to);
    ohf_sort_texts(offsets, data, ROWS, to->items, to->items + ROWS, to->counts, to->order);
}

static void *run(void *number)
{
    const int thread = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++)
        work(&results[thread]);
    take_turns(thread);
    return NULL;
}

static void compare(const result *one)
{
    result *const all = &expected;
    /* The vectors of lines begin at a place of their own in each result. */
    if (memcmp(one->codes, all->codes, ROWS * 4) || memcmp(one->mapped, all->mapped, ROWS * 4)
        || memcmp(one->of_texts, all->of_texts, ROWS * 4) || memcmp(one->of_wide, all->of_wide, ROWS * 4)
        || memcmp(one->of_numbers, all->of_numbers, ROWS * 4) || memcmp(one->small, all->small, ROWS)
        || memcmp(one->bits, all->bits, sizeof all->bits) || memcmp(one->order, all->order, sizeof all->order)
        || memcmp(line_of((unsigned char *)one->rows), line_of(all->rows), OUT_BYTES)
        || memcmp(line_of((unsigned char *)one->planes), line_of(all->planes), OUT_BYTES)
        || memcmp(line_of((unsigned char *)one->expanded), line_of(all->expanded), OUT_BYTES))
        fail("a thread has another result");
}

static void make_input(void)
{
    uint64_t seed[8], state = 1;
    ohf_texts texts;
    ohf_numbers all;
    int64_t stopped;
    for (int i = 0; i < ROWS; i++) {
        const int value = (int)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % VALUES;
        char text[CHARACTERS + 1];
        const int length = snprintf(text, sizeof text, "text %d", value);
        indices[i] = value % (CLASSES + 2) - 1;
        numbers[i] = (uint64_t)value << 40;
        memcpy(data + offsets[i], text, (size_t)length);
        offsets[i + 1] = offsets[i] + length;
        for (int c = 0; c < length; c++)
            wide[i][c] = (uint32_t)text[c];
    }
    for (int i = 0; i < 8; i++)
        seed[i] = 0x9E3779B97F4A7C15u * (uint64_t)(i + 1) | 1;
    for (int i = 0; i <= CLASSES; i++)
        entries[i] = CLASSES - 1 - i;
    memset(&texts, 0, sizeof texts);
    texts.layout = OHF_UCS4;
    texts.rows = wide;
    texts.width = CHARACTERS;
    memset(&all, 0, sizeof all);
    all.number_type = all.into = OHF_U64;
    all.rows = numbers;
    if (ohf_hashtable_open(&texts_of, ohf_engine_of(kernels->name), 1, seed, 0)
        || ohf_hashtable_open(&numbers_of, ohf_engine_of(kernels->name), 0, seed, 0)
        || ohf_learn_texts(&texts_of, &texts, 0, ROWS, expected.of_wide, &stopped)
        || ohf_learn_numbers(&numbers_of, &all, 0, ROWS, expected.of_numbers, &stopped))
        fail("a hashtable failed");
    ohf_fill_init(&fill, sizeof on, CLASSES, 1, (const unsigned char *)&on, (const unsigned char *)&off);
    fill.stream = kernels->streams;
    if (kernels->rows_expand != NULL)
        ohf_plan_init(&plan, kernels, &fill, line_of(expected.expanded));
}

int main(void)
{
    const ohf_microkernels *found[8];
    const int n_variants = ohf_variants(found, 8);
    long n_compared = 0;
    for (int v = 0; v < n_variants; v++) {
        pthread_t threads[THREADS];
        kernels = found[v];
        make_input();
        work(&expected);
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i) != 0)
                fail("no thread");
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++, n_compared++)
            compare(&results[i]);
        ohf_hashtable_close(&texts_of);
        ohf_hashtable_close(&numbers_of);
        printf("%s: agrees, %ld comparisons so far\n", kernels->name, n_compared);
    }
    return 0;
}
