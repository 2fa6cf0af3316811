/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/tiling.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define STEPS_MIN 3

static int tiling_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* True if each multiple of `step` up to the last of the `calls` ends is an
 * end. */
static bool tiling_is_step(const uint64_t *ends, long calls, uint64_t step)
{
    uint64_t wanted = step;

    if (step > ends[calls - 1] / STEPS_MIN)
        return false;
    for (long i = 0; i < calls; i++) {
        if (ends[i] > wanted)
            return false;
        if (ends[i] == wanted)
            wanted += step;
    }
    return true;
}

/* Replaces `ends` by the ends of calls inside a step, sorted, without
 * duplicates, and the end of the step. Returns their number. */
static long tiling_fold(uint64_t *ends, long calls, uint64_t step)
{
    long kept = 0;

    for (long i = 0; i < calls; i++)
        ends[i] = (ends[i] - 1) % step + 1;
    qsort(ends, (size_t)calls, sizeof *ends, tiling_compare);
    for (long i = 0; i < calls; i++)
        if (kept == 0 || ends[i] != ends[kept - 1])
            ends[kept++] = ends[i];
    return kept;
}

long aps_tiling_find(const size_t *counts, long calls, size_t *layers,
                     long most)
{
    uint64_t *ends;
    long found = 0;
    uint64_t step = 0;

    if (calls < STEPS_MIN)
        return 0;
    ends = malloc((size_t)calls * sizeof *ends);
    if (!ends)
        return 0;
    for (long i = 0; i < calls; i++)
        ends[i] = (i > 0 ? ends[i - 1] : 0) + counts[i];
    for (long i = 0; i < calls && step == 0; i++)
        if (tiling_is_step(ends, calls, ends[i]))
            step = ends[i];
    if (step > 0)
        found = tiling_fold(ends, calls, step);
    if (found > most)
        found = 0;
    for (long i = 0; i < found; i++)
        layers[i] = (size_t)(ends[i] - (i > 0 ? ends[i - 1] : 0));
    free(ends);
    return found;
}
