/* The structures of the Arrow C data and C stream interfaces, and how several users share an array.
 *
 * An imported array moves into an owner, which counts the users of the array. The last user releases it. An export
 * copies the structures, never the data, and is one more user. This file calls no Python function, because a library
 * may release an export on any thread, without the GIL, and after the end of the interpreter. */
#ifndef OHF_ARROW_ABI_H
#define OHF_ARROW_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_MSC_VER)
#  include <intrin.h>
#endif

/* The specification prescribes these guards, because other headers may define the same structures. */
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

/* An imported array and the number of its users. */
typedef struct {
    volatile long n_users;
    struct ArrowArray array;
} ohf_arrow_owner;

/* Add a number to a count in one atomic step, and return the sum. */
static inline long ohf_arrow_add(volatile long *count, long change)
{
#if defined(_MSC_VER)
    return _InterlockedExchangeAdd(count, change) + change;
#else
    return __atomic_add_fetch(count, change, __ATOMIC_ACQ_REL);
#endif
}

/* Move an array into an owner with one user, and return the owner. Without enough memory, return NULL and leave the
 * array unchanged. */
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

/* Add a user of the array. */
static inline void ohf_arrow_keep(ohf_arrow_owner *owner)
{
    ohf_arrow_add(&owner->n_users, 1);
}

/* Remove a user of the array. If it was the last one, release the array, and free the owner. */
static inline void ohf_arrow_let_go(ohf_arrow_owner *owner)
{
    if (ohf_arrow_add(&owner->n_users, -1) == 0) {
        owner->array.release(&owner->array);
        free(owner);
    }
}

/* ---- Exported arrays ---- */

/* The private_data of an exported array. One allocation contains this struct, then the structures of the children
 * and of the dictionary, then the arrays of pointers. */
typedef struct {
    ohf_arrow_owner *owner;
    uint8_t *validity;          /* a bitmap that ohf_arrow_set_validity has made, or NULL */
} ohf_arrow_part;

/* The function `release` of an exported array: release its children and its dictionary, then remove a user of the
 * imported array that has the data. */
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

/* Copy the structures of an array, of its children and of its dictionary into `to`. The caller has checked that
 * they are valid. Return 1. If there is no memory, release `to`, and return 0. Each child is one more user of the
 * owner, because a library may move a child out, and release it after its parent. */
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

/* Replace the validity bitmap of an exported array by n_before bytes of zeros, followed by n_bytes of `bits`.
 * Return 1, or 0 if there is no memory. */
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

/* ---- Exported schemas ---- */

/* The function `release` of an exported schema: release its children and its dictionary, then free its memory. */
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

/* Make a schema that owns copies of `format`, `name` and `metadata`. The caller then makes its children, and its
 * dictionary if it has one. Return 1, or 0 if there is no memory. `format` and `name` end with a zero byte;
 * `metadata` may be NULL. */
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
