/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/discovery.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "steps/discovery_files.h"
#include "steps/period.h"
#include "steps/sizes.h"
#include "steps/tiling.h"

/* Steps after which the sequence that was found is accepted as the step:
 * equal blocks at the beginning of a network look like steps, but repeat
 * less often. */
#define LASTING_STEPS 16

/* A program that alternates between two kinds of step is written out this many
 * times at most. */
#define TIMES_MAX 3

/* Most calls whose sizes are recorded, and most sizes in a line. */
#define RECORD_MAX 65536
#define NAMED_MAX 6

void aps_discovery_clear(struct aps_discovery *discovery)
{
    free(discovery->sizes);
    *discovery = (struct aps_discovery){0};
}

static bool discovery_is_news(struct aps_discovery *discovery, long layers)
{
    if (discovery->layers == layers || discovery->times == TIMES_MAX)
        return false;
    discovery->layers = layers;
    discovery->times++;
    return true;
}

bool aps_discovery_note(struct aps_discovery *discovery,
                        const struct aps_steps *steps,
                        const struct aps_step_position *position)
{
    const long layers = aps_steps_layers(steps);

    discovery->seen++;
    if (position->desync)
        discovery->followed = 0;
    if (!position->ends)
        return false;
    return ++discovery->followed == LASTING_STEPS &&
           discovery_is_news(discovery, layers);
}

void aps_discovery_record(struct aps_discovery *discovery, size_t count,
                          enum aps_element element)
{
    discovery->types |= 1u << element;
    if (discovery->recorded == RECORD_MAX)
        return;
    if (discovery->recorded == discovery->room) {
        const long room = discovery->room > 0 ? 2 * discovery->room : 64;
        size_t *sizes = realloc(discovery->sizes, (size_t)room * sizeof *sizes);

        if (!sizes)
            return;
        discovery->sizes = sizes;
        discovery->room = room;
    }
    discovery->sizes[discovery->recorded++] = count;
}

/* A step that accounts for few of the calls is a repetition by chance. */
bool aps_discovery_end(struct aps_discovery *discovery,
                       const struct aps_steps *steps)
{
    const long layers = aps_steps_layers(steps);

    return discovery->followed > 0 &&
           (discovery->followed + 2) * layers >= discovery->seen / 2 &&
           discovery_is_news(discovery, layers);
}

void aps_discovery_write(const struct aps_discovery *discovery,
                         const struct aps_steps *steps, const char *prefix,
                         char *said, size_t size)
{
    const long layers = aps_steps_layers(steps);
    size_t *counts = malloc((size_t)layers * sizeof *counts);
    struct aps_found found;

    if (!counts) {
        snprintf(said, size, "discovery: out of memory");
        return;
    }
    for (long i = 0; i < layers; i++)
        counts[i] = aps_steps_layer_count(steps, i);
    found = (struct aps_found){
        .kind = aps_steps_are_any(steps) ? APS_FOUND_ANY : APS_FOUND_CALLS,
        .types = discovery->types,
        .counts = counts,
        .layers = layers};
    aps_discovery_write_layers(&found, prefix, said, size);
    free(counts);
}

/* Returns the number of different sizes; the largest go to `text`, as "4096, 64
 * and 3 more". Sorts the record. */
static long discovery_list(struct aps_discovery *discovery, char *text,
                           size_t size)
{
    size_t used = 0;
    long kinds = 0;

    text[0] = '\0';
    aps_sizes_sort(discovery->sizes, (size_t)discovery->recorded);
    for (long i = 0; i < discovery->recorded; i++) {
        if (i > 0 && discovery->sizes[i] == discovery->sizes[i - 1])
            continue;
        if (kinds++ < NAMED_MAX && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%zu",
                                 kinds > 1 ? ", " : "", discovery->sizes[i]);
    }
    if (kinds > NAMED_MAX && used < size)
        snprintf(text + used, size - used, " and %ld more", kinds - NAMED_MAX);
    return kinds;
}

/* True if all calls repeat after `calls` of them in one order. */
static bool discovery_has_order(const struct aps_discovery *discovery,
                                long calls)
{
    for (long i = calls; i < discovery->recorded; i++)
        if (discovery->sizes[i] != discovery->sizes[i - calls])
            return false;
    return true;
}

/* Finds a step in any order that explains all calls, three whole steps at least.
 * Writes its layers, the largest first. Returns their number, or 0. */
static long discovery_find_any(const struct aps_discovery *discovery,
                               size_t *layers)
{
    struct aps_period *period = aps_period_create(0, true);
    long found = 0, cursor = 0, layer;

    if (!period)
        return 0;
    for (long i = 0; i < discovery->recorded; i++) {
        if (found > 0 && aps_period_follow(period, cursor, discovery->sizes[i],
                                           &layer) == APS_FOLLOW_FITS) {
            cursor = (cursor + 1) % found;
        } else {
            found = cursor = 0;
            if (aps_period_search(period, discovery->sizes[i]))
                found = aps_period_length(period);
        }
    }
    if (3 * found > discovery->recorded ||
        discovery_has_order(discovery, found))
        found = 0;
    for (long i = 0; i < found; i++)
        layers[i] = aps_period_count(period, i);
    aps_period_destroy(period);
    return found;
}

bool aps_discovery_write_turns(const struct aps_discovery *discovery,
                               const char *prefix, char *said, size_t size)
{
    struct aps_found found = {.kind = APS_FOUND_TURNS,
                              .types = discovery->types};
    size_t *layers = malloc(APS_PERIOD_MAX * sizeof *layers);

    if (!layers)
        return false;
    found.networks =
        aps_turns_find(discovery->sizes, discovery->recorded, APS_MIN_COUNT,
                       layers, APS_PERIOD_MAX, found.ends);
    if (found.networks > 0) {
        found.counts = layers;
        found.layers = found.ends[found.networks - 1];
        aps_discovery_write_layers(&found, prefix, said, size);
    }
    free(layers);
    return found.networks > 0;
}

bool aps_discovery_explain(struct aps_discovery *discovery, const char *prefix,
                           char *said, size_t size)
{
    char sizes[24 * NAMED_MAX + 32];
    struct aps_found found = {.kind = APS_FOUND_ANY, .types = discovery->types};
    size_t *layers;
    long kinds;

    if (discovery->recorded == 0)
        return false;
    layers = malloc(APS_PERIOD_MAX * sizeof *layers);
    if (layers)
        found.layers = discovery_find_any(discovery, layers);
    if (layers && found.layers == 0) {
        found.kind = APS_FOUND_FUSED;
        found.layers = aps_tiling_find(discovery->sizes, discovery->recorded,
                                       layers, APS_PERIOD_MAX);
    }
    found.counts = layers;
    if (found.layers > 0)
        aps_discovery_write_layers(&found, prefix, said, size);
    free(layers);
    if (found.layers > 0)
        return true;
    kinds = discovery_list(discovery, sizes, sizeof sizes);
    snprintf(said, size,
             "discovery: the program made %ld call%s of %ld size%s (%s), but "
             "no step repeats, and no row of layers explains the sizes; if a "
             "framework fuses buffers, switch that off for this run, or write "
             "rules without `layers`",
             discovery->seen, aps_plural(discovery->seen), kinds,
             aps_plural(kinds), sizes);
    return true;
}
