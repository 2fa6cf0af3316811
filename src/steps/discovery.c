/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/discovery.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"

/* Files of earlier runs are never overwritten: as many names are tried. */
#define TRIES 100

/* Open a new pair of files PREFIX[-n]-layers.csv and PREFIX[-n].yaml. */
static int discovery_open_pair(const char *prefix, char table[], char policy[],
                               FILE *files[2])
{
    for (int i = 0; i < TRIES; i++) {
        char number[16] = "";

        if (i > 0)
            snprintf(number, sizeof number, "-%d", i);
        snprintf(table, PATH_MAX, "%s%s-layers.csv", prefix, number);
        snprintf(policy, PATH_MAX, "%s%s.yaml", prefix, number);
        files[1] = fopen(policy, "wx");
        if (!files[1] && errno != EEXIST)
            return -1;
        if (!files[1])
            continue;
        files[0] = fopen(table, "wx");
        if (files[0])
            return 0;
        fclose(files[1]);
        remove(policy);
        if (errno != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

static void discovery_write_table(FILE *file, const struct aps_steps *steps)
{
    fprintf(file,
            "# The layers of one step in the order of the calls: give them "
            "names. A column\n"
            "# shape (64x3x7x7) and a column scale, of which the calls tell "
            "nothing, may be\n"
            "# added; so may columns whose names begin with x-, which are "
            "ignored.\n"
            "layer,name,count\n");
    for (long i = 0; i < aps_steps_layers(steps); i++)
        fprintf(file, "%ld,layer%ld,%zu\n", i, i,
                aps_steps_signature(steps, i));
}

/* The last layer that a policy's usual min_count lets through, or -1. */
static long discovery_last_large(const struct aps_steps *steps)
{
    long last = aps_steps_layers(steps) - 1;

    while (last >= 0 && aps_steps_signature(steps, last) < APS_MIN_COUNT)
        last--;
    return last;
}

static size_t discovery_smallest(const struct aps_steps *steps)
{
    size_t least = SIZE_MAX;

    for (long i = 0; i < aps_steps_layers(steps); i++)
        if (aps_steps_signature(steps, i) < least)
            least = aps_steps_signature(steps, i);
    return least;
}

static void discovery_write_policy(FILE *file, const struct aps_steps *steps,
                                   const char *table)
{
    const long last = discovery_last_large(steps);

    fprintf(
        file,
        "# Written by apsmpi's discovery: a step of %ld call%s.\n"
        "version: 1\n"
        "table: %s\n"
        "# The table stands in the order of the calls. A program that "
        "reduces its last\n"
        "# layer first: reverse the table and say steps: {order: backward}. "
        "Rules by epoch\n"
        "# need the steps of an epoch, and both go into one line:\n"
        "# steps: {per_epoch: 100, order: backward}\n"
        "min_count: %zu  # smaller calls are left to MPI\n"
        "log: {file: roundoff.csv, every: 10}  # every 10th step\n"
        "rules:\n",
        aps_steps_layers(steps), aps_plural(aps_steps_layers(steps)), table,
        last < 0 ? discovery_smallest(steps) : APS_MIN_COUNT);
    if (last > 0)
        fprintf(file,
                "  - layers: %ld  # the last large layer stays FP32\n"
                "    format: fp32\n",
                last);
    fprintf(file, "  - format: e4m3  # all others: 8 bits\n"
                  "    scale: aps\n");
}

void aps_discovery_write(const struct aps_steps *steps, const char *prefix,
                         char *said, size_t size)
{
    const long layers = aps_steps_layers(steps);
    char table[PATH_MAX], policy[PATH_MAX], name[PATH_MAX];
    FILE *files[2];
    int bad;

    if (discovery_open_pair(prefix, table, policy, files) < 0) {
        snprintf(said, size, "discovery cannot write %s: %s", policy,
                 strerror(errno));
        return;
    }
    snprintf(name, sizeof name, "%s", table);
    discovery_write_table(files[0], steps);
    discovery_write_policy(files[1], steps, basename(name));
    bad = ferror(files[0]) | ferror(files[1]);
    bad |= fclose(files[0]);
    bad |= fclose(files[1]);
    if (bad)
        snprintf(said, size, "discovery cannot write %s", policy);
    else
        snprintf(said, size,
                 "the program repeats a step of %ld call%s: its layers are in "
                 "%s, and the skeleton of a policy is in %s",
                 layers, aps_plural(layers), table, policy);
}

/* Steps after which what was found is taken for the step: equal blocks at the
 * beginning of a network look like steps, but not for so long. */
#define LASTING_STEPS 16

/* A program that goes to and fro between two kinds of step is written down, but
 * not for ever. */
#define TIMES_MAX 3

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

    if (position->desync)
        discovery->followed = 0;
    if (!position->active || position->layer != layers - 1)
        return false;
    return ++discovery->followed == LASTING_STEPS &&
           discovery_is_news(discovery, layers);
}

bool aps_discovery_end(struct aps_discovery *discovery,
                       const struct aps_steps *steps)
{
    return discovery->followed > 0 &&
           discovery_is_news(discovery, aps_steps_layers(steps));
}
