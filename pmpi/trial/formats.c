/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/formats.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/bucket.h"
#include "comm/report.h"
#include "message/agree.h"

struct aps_auto_formats *aps_auto_formats_create(void)
{
    struct aps_auto_formats *formats = calloc(1, sizeof *formats);

    if (formats)
        formats->candidates.needed = &aps_counters.formats_bytes;
    return formats;
}

static void formats_remove(struct aps_auto_formats *formats,
                           struct aps_auto_layer **link)
{
    struct aps_auto_layer *layer = *link;

    *link = layer->next;
    formats->keyed_by_count -= layer->layer < 0;
    free(layer);
}

/* Drops all layers, or only those that are keyed by count. */
static void formats_clear(struct aps_auto_formats *formats, bool keyed_by_count)
{
    for (int i = 0; i < APS_AUTO_BUCKETS; i++) {
        struct aps_auto_layer **link = &formats->buckets[i];

        while (*link) {
            if (!keyed_by_count || (*link)->layer < 0)
                formats_remove(formats, link);
            else
                link = &(*link)->next;
        }
    }
}

void aps_auto_formats_destroy(struct aps_auto_formats *formats)
{
    if (!formats)
        return;
    formats_clear(formats, false);
    aps_candidates_clear(&formats->candidates);
    free(formats);
}

/* --- layers --------------------------------------------------------------- */

/* Returns the place of the pointer to the layer's record, or the place to
 * insert it. */
static struct aps_auto_layer **formats_place(struct aps_auto_formats *formats,
                                             const struct aps_place *place)
{
    const uint64_t number = aps_place_layer_key(place) + (uint64_t)place->rule;
    struct aps_auto_layer **link =
        &formats->buckets[aps_bucket(number, APS_AUTO_BUCKET_BITS)];

    while (*link &&
           ((*link)->layer != place->layer || (*link)->count != place->count ||
            (*link)->rule != place->rule))
        link = &(*link)->next;
    return link;
}

struct aps_auto_layer *
aps_auto_formats_find(const struct aps_auto_formats *formats,
                      const struct aps_place *place)
{
    struct aps_auto_layer *layer =
        *formats_place((struct aps_auto_formats *)formats, place);

    return layer && layer->generation == place->generation ? layer : NULL;
}

struct aps_auto_layer *aps_auto_formats_get(struct aps_auto_formats *formats,
                                            const struct aps_place *place)
{
    struct aps_auto_layer *layer = aps_auto_formats_find(formats, place);
    struct aps_auto_layer **link;

    if (layer)
        return layer;
    if (formats->generation != place->generation)
        formats_clear(formats, false);
    formats->generation = place->generation;
    if (place->layer < 0 && formats->keyed_by_count >= APS_AUTO_LAYERS_MAX)
        formats_clear(formats, true);
    layer = calloc(1, sizeof *layer);
    if (!layer)
        return NULL;
    link = formats_place(formats, place);
    *layer = (struct aps_auto_layer){.next = *link,
                                     .layer = place->layer,
                                     .count = place->count,
                                     .rule = place->rule,
                                     .generation = place->generation,
                                     .chosen = -1,
                                     .pause = 1};
    *link = layer;
    formats->keyed_by_count += layer->layer < 0;
    return layer;
}

/* --- decisions ------------------------------------------------------------ */

int aps_auto_formats_agree(struct aps_context *context, int verdict)
{
    /* Other ranks contribute the minimum, so MAX gives rank 0's decision. */
    int agreed = context->rank == 0 ? verdict : APS_VERDICT_NONE;

    (void)aps_context_fail(
        context, "format: auto",
        aps_agree_max(aps_comm_resources_vcomm(context->resources), 1,
                      &agreed));
    return agreed;
}
