/* The structures of the Arrow C data and C stream interfaces, and shared ownership of arrays.
 *
 * An imported array is moved into an owner with a count of users; the last one releases it. Exports are copies of the
 * structures (never of the data), and each is one more user. There is no Python here: a library may release its import
 * on any thread, without the GIL, after the end of the interpreter. */
#ifndef OHF_ARROW_ABI_H
#define OHF_ARROW_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_MSC_VER)
#  include <intrin.h>
#endif

/* The guards are the specification's own: other headers of the same process may define the structures too. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* ---- Owners ---- */

typedef struct {
    volatile long n_users;
    struct ArrowArray array;
} ohf_arrow_owner;

static inline long ohf_arrow_add(volatile long *count, long change)
{
#if defined(_MSC_VER)
    return _InterlockedExchangeAdd(count, change) + change;
#else
    return __atomic_add_fetch(count, change, __ATOMIC_ACQ_REL);
#endif
}

/* Move an array into an owner with one user; NULL when there is no memory, and then the array stays where it is. */
static inline ohf_arrow_owner *ohf_arrow_own(struct ArrowArray *array)
{
    ohf_arrow_owner *owner = (ohf_arrow_owner *)malloc(sizeof *owner);
    if (owner != NULL) {
        owner->n_users = 1;
        owner->array = *array;
        array->release = NULL;
    }
    return owner;
}

static inline void ohf_arrow_keep(ohf_arrow_owner *owner)
{
    ohf_arrow_add(&owner->n_users, 1);
}

static inline void ohf_arrow_let_go(ohf_arrow_owner *owner)
{
    if (ohf_arrow_add(&owner->n_users, -1) == 0) {
        owner->array.release(&owner->array);
        free(owner);
    }
}

/* ---- Arrays that go out ---- */

/* The private_data of our arrays; the arrays of pointers and the children follow it in memory. */
typedef struct {
    ohf_arrow_owner *owner;
    uint8_t *validity;          /* a bitmap of our own, or NULL */
} ohf_arrow_part;

static inline void ohf_arrow_release_array(struct ArrowArray *array)
{
    ohf_arrow_part *part = (ohf_arrow_part *)array->private_data;
    int64_t i;
    for (i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    ohf_arrow_let_go(part->owner);
    free(part->validity);
    free(part);
    array->release = NULL;
}

/* Copy the structures of an array (checked before) and of all below it into `to`; 0 when there is no memory, and
 * then `to` is released. A child has a user of its own, since it may be moved out and outlive its parent. */
static inline int ohf_arrow_share(ohf_arrow_owner *owner, const struct ArrowArray *from, struct ArrowArray *to)
{
    const size_t n_buffers = (size_t)from->n_buffers, n_children = (size_t)from->n_children;
    const size_t n_below = n_children + (from->dictionary != NULL);
    ohf_arrow_part *part = (ohf_arrow_part *)calloc(
        1, sizeof *part + n_below * sizeof *to + (n_buffers + n_children) * sizeof(void *));
    struct ArrowArray *below = (struct ArrowArray *)(part + 1);
    to->release = NULL;
    if (part == NULL)
        return 0;
    *to = *from;
    to->private_data = part;
    to->release = ohf_arrow_release_array;
    to->n_children = 0;
    to->dictionary = NULL;
    to->buffers = (const void **)(below + n_below);
    to->children = (struct ArrowArray **)(to->buffers + n_buffers);
    if (n_buffers > 0)
        memcpy((void *)to->buffers, (const void *)from->buffers, n_buffers * sizeof(void *));
    part->owner = owner;
    ohf_arrow_keep(owner);
    for (; (size_t)to->n_children < n_children; to->n_children++) {
        to->children[to->n_children] = below + to->n_children;
        if (!ohf_arrow_share(owner, from->children[to->n_children], below + to->n_children))
            break;
    }
    if ((size_t)to->n_children == n_children && from->dictionary != NULL) {
        to->dictionary = below + n_children;
        if (ohf_arrow_share(owner, from->dictionary, to->dictionary))
            return 1;
    } else if ((size_t)to->n_children == n_children) {
        return 1;
    }
    to->release(to);
    return 0;
}

/* Give an array that goes out another validity bitmap, `n_before` zero bytes and then `n_bytes` of `bits`; 0 when
 * there is no memory. */
static inline int ohf_arrow_set_validity(
    struct ArrowArray *array, size_t n_before, const uint8_t *bits, size_t n_bytes)
{
    ohf_arrow_part *part = (ohf_arrow_part *)array->private_data;
    part->validity = (uint8_t *)calloc(n_before + n_bytes + 1, 1);
    if (part->validity == NULL)
        return 0;
    memcpy(part->validity + n_before, bits, n_bytes);
    array->buffers[0] = part->validity;
    return 1;
}

/* ---- Schemas that go out ---- */

static inline void ohf_arrow_release_schema(struct ArrowSchema *schema)
{
    int64_t i;
    for (i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free(schema->private_data);
    schema->release = NULL;
}

/* Make a schema with texts of its own and children (and a dictionary) that are still to be made; 0 when there is no
 * memory. `format` and `name` end with a zero byte; `metadata` may be NULL. */
static inline int ohf_arrow_make_schema(
    struct ArrowSchema *to, const char *format, const char *name, const char *metadata, size_t n_metadata,
    int64_t flags, size_t n_children, int has_dictionary)
{
    const size_t n_format = strlen(format) + 1, n_name = strlen(name) + 1, n_below = n_children + has_dictionary;
    const size_t n_bytes =
        n_below * sizeof *to + n_children * sizeof(void *) + n_metadata + n_format + n_name;
    struct ArrowSchema *below = (struct ArrowSchema *)calloc(1, n_bytes);
    struct ArrowSchema **children = (struct ArrowSchema **)(below + n_below);
    char *texts = (char *)(children + n_children);
    size_t i;
    if (below == NULL)
        return 0;
    for (i = 0; i < n_children; i++)
        children[i] = below + i;
    if (metadata != NULL)
        memcpy(texts, metadata, n_metadata);
    memcpy(texts + n_metadata, format, n_format);
    memcpy(texts + n_metadata + n_format, name, n_name);
    to->format = texts + n_metadata;
    to->name = texts + n_metadata + n_format;
    to->metadata = metadata != NULL ? texts : NULL;
    to->flags = flags;
    to->n_children = (int64_t)n_children;
    to->children = children;
    to->dictionary = has_dictionary ? below + n_children : NULL;
    to->private_data = below;
    to->release = ohf_arrow_release_schema;
    return 1;
}
#endif
