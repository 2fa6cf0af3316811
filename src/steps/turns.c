/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/turns.h"

#include <stdbool.h>
#include <string.h>

/* Steps of a turn, turns, and calls of a step. */
#define STEPS_MIN 3
#define TURNS_MIN 4
#define CALLS_MAX 1024

/* Returns how many of the counts have period p, from the first one on. */
static long turns_stretch(const size_t *counts, long calls, long p)
{
    long i = p;

    while (i < calls && counts[i] == counts[i - p])
        i++;
    return i;
}

/* Returns the calls of the step that lasts longest from the first count on, and
 * repeats often enough; 0: none does. */
static long turns_step(const size_t *counts, long calls, long *stretch)
{
    long best = 0;

    *stretch = 0;
    for (long p = 1; p <= CALLS_MAX && p * STEPS_MIN <= calls; p++) {
        const long lasted = turns_stretch(counts, calls, p);

        if (lasted >= STEPS_MIN * p && lasted > *stretch) {
            best = p;
            *stretch = lasted;
        }
    }
    return best;
}

static size_t turns_elements(const size_t *counts, long calls)
{
    size_t sum = 0;

    for (long i = 0; i < calls; i++)
        sum += counts[i];
    return sum;
}

struct turns {
    size_t least; /* elements of a network's step */
    size_t *layers;
    long most;
    long *ends;
    int networks;
};

/* Adds the network whose step has these calls, unless it is known. Returns false if
 * there is no room. */
static bool turns_add(struct turns *turns, const size_t *step, long p)
{
    long begin = 0;

    for (int i = 0; i < turns->networks; begin = turns->ends[i++])
        if (turns->ends[i] - begin == p &&
            memcmp(&turns->layers[begin], step, (size_t)p * sizeof *step) == 0)
            return true;
    if (turns->networks == APS_TURNS_NETWORKS || begin + p > turns->most)
        return false;
    memcpy(&turns->layers[begin], step, (size_t)p * sizeof *step);
    turns->ends[turns->networks++] = begin + p;
    return true;
}

/* Adds the networks of the calls. Returns the number of turns, or 0 if calls belong
 * to none. A step that lasts may consist of turns itself, if each has the same length
 * every time. */
static long turns_scan(struct turns *turns, const size_t *counts, long calls,
                       bool inside)
{
    long stretch, number = 0;

    for (long at = 0; at < calls; at += stretch) {
        const long p = turns_step(&counts[at], calls - at, &stretch);
        const int before = turns->networks;
        long within;

        /* The program may end in a turn. */
        if (p == 0)
            return !inside && number >= TURNS_MIN ? number : 0;
        stretch -= stretch % p;
        within = turns_scan(turns, &counts[at], p, true);
        if (within > 1) {
            number += within * (stretch / p);
            continue;
        }
        turns->networks = before;
        if (turns_elements(&counts[at], p) < turns->least)
            continue;
        if (!turns_add(turns, &counts[at], p))
            return 0;
        number++;
    }
    return number;
}

int aps_turns_find(const size_t *counts, long calls, size_t least,
                   size_t *layers, long most, long ends[APS_TURNS_NETWORKS])
{
    struct turns turns = {
        .least = least, .layers = layers, .most = most, .ends = ends};
    const long number = turns_scan(&turns, counts, calls, false);

    return number >= TURNS_MIN && turns.networks > 1 ? turns.networks : 0;
}
