/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/batches.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define BATCHES 5

static double now(void)
{
    return 1e-9 * (double)aps_clock_ns(CLOCK_MONOTONIC);
}

static double batches_one(const struct aps_batches *batches, int times)
{
    double begin;

    (void)aps_rank_layout_max(batches->site, 0); /* all ranks begin together */
    begin = now();
    batches->run(batches->state, times);
    return aps_rank_layout_max(batches->site, (now() - begin) / times);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double aps_batches_middle(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

static void note_spread(struct aps_spread *spread, const char *what,
                        double *values, size_t n)
{
    const double median = aps_batches_middle(values, n);
    const double share = median > 0 ? (values[n - 2] - values[1]) / median : 0;

    if (share <= spread->greatest)
        return;
    spread->greatest = share;
    spread->what = what;
}

/* Returns the number of repetitions that take as long as a batch. A few
 * repetitions predict this badly, because they fit into what a link passes at
 * once. */
static int batches_times(const struct aps_batches *batches)
{
    int times = batches->least;
    double one;

    for (;;) {
        one = batches_one(batches, times);
        if (times * one >= batches->seconds / 4 || times > batches->most / 4)
            break;
        times *= 4;
    }
    if (!(one * batches->most > batches->seconds))
        return batches->most;
    times = (int)(batches->seconds / one);
    return times < batches->least ? batches->least : times;
}

double aps_batches_median(const struct aps_batches *batches)
{
    double found[BATCHES];
    int times;

    (void)batches_one(batches, batches->least);
    times = batches_times(batches);
    for (int i = 0; i < BATCHES; i++)
        found[i] = batches_one(batches, times);
    note_spread(batches->spread, batches->what, found, BATCHES);
    return aps_batches_middle(found, BATCHES);
}
