/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "summary/chosen_formats.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of layers. A program that makes communicators without end has
 * layers without end; the library drops the formats of later ones. */
#define LAYERS_MAX ((size_t)16384)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_chosen_format *all;
static size_t count, room;

static bool chosen_is_same(const struct aps_chosen_format *a,
                           const struct aps_chosen_format *b)
{
    return a->layer.rule == b->layer.rule && a->layer.layer == b->layer.layer &&
           a->layer.count == b->layer.count && strcmp(a->comm, b->comm) == 0;
}

/* Returns the entry of the layer, or NULL if there is no room for it. The lock
 * is held. */
static struct aps_chosen_format *
chosen_place_of(const struct aps_chosen_format *chosen)
{
    struct aps_chosen_format *more;

    for (size_t i = 0; i < count; i++)
        if (chosen_is_same(&all[i], chosen))
            return &all[i];
    if (count == LAYERS_MAX)
        return NULL;
    if (count == room) {
        more = realloc(all, (2 * room + 16) * sizeof *all);
        if (!more)
            return NULL;
        all = more;
        room = 2 * room + 16;
    }
    return &all[count++];
}

/* The lock is held. Drops the formats of a communicator of that name in another
 * generation of its steps: an earlier generation is past, and a communicator with a
 * later one is gone. */
static void chosen_forget_generations(const struct aps_chosen_format *chosen)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (all[i].generation == chosen->generation ||
            strcmp(all[i].comm, chosen->comm) != 0)
            all[kept++] = all[i];
    count = kept;
}

void aps_chosen_formats_note(const struct aps_chosen_format *chosen)
{
    struct aps_chosen_format *place;

    pthread_mutex_lock(&lock);
    chosen_forget_generations(chosen);
    place = chosen_place_of(chosen);
    if (place)
        *place = *chosen;
    pthread_mutex_unlock(&lock);
}

static double chosen_share(const struct aps_chosen_layer *chosen)
{
    return chosen->chosen < 0 || chosen->fp32_bytes == 0
               ? 1
               : (double)chosen->wire_bytes / (double)chosen->fp32_bytes;
}

/* Compares rule, layer and count, and then the share of bytes that is sent, the
 * largest first. */
static int chosen_compare(const void *left, const void *right)
{
    const struct aps_chosen_layer *a = left, *b = right;

    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return (chosen_share(a) < chosen_share(b)) -
           (chosen_share(a) > chosen_share(b));
}

int aps_chosen_formats_list(struct aps_chosen_layer **list, size_t *length)
{
    size_t kept = 0, unique = 0;
    bool no_memory;

    pthread_mutex_lock(&lock);
    *list = count > 0 ? malloc(count * sizeof **list) : NULL;
    no_memory = count > 0 && !*list;
    for (size_t i = 0; *list && i < count; i++)
        (*list)[kept++] = all[i].layer;
    pthread_mutex_unlock(&lock);
    if (kept > 0)
        qsort(*list, kept, sizeof **list, chosen_compare);
    for (size_t i = 0; i < kept; i++) {
        const struct aps_chosen_layer *one = &(*list)[i];

        if (unique == 0 || (*list)[unique - 1].rule != one->rule ||
            (*list)[unique - 1].layer != one->layer ||
            (*list)[unique - 1].count != one->count)
            (*list)[unique++] = *one;
    }
    *length = unique;
    return no_memory ? -1 : 0;
}
