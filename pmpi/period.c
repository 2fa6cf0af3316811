/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "period.h"

#include <stdlib.h>
#include <string.h>

/* A period that breaks within so many rounds was a repetition inside a step. */
#define TRUSTED_ROUNDS 3

struct aps_period {
    long stated;
    long length;  /* known, or 0 */
    long recorded; /* counts of a stated period's first round */
    long followed; /* calls since the period was found */
    long minimum; /* shorter ones have proved to be wrong */
    long longest; /* a stated length may exceed APS_PERIOD_MAX */

    size_t *pattern; /* [longest]: the counts of the known period */
    size_t *history; /* [2 * longest]: ring of the counts since `begun` */
    long seen;       /* counts since then */
    long *run;       /* [longest + 1]: run[p] counts in a row equalled the one
                        p before them */
};

struct aps_period *aps_period_create(long stated)
{
    struct aps_period *period = calloc(1, sizeof *period);

    if (!period)
        return NULL;
    period->stated = stated;
    period->length = stated;
    period->minimum = stated ? stated : 1;
    period->longest = stated ? stated : APS_PERIOD_MAX;
    period->pattern = calloc((size_t)period->longest, sizeof *period->pattern);
    period->history =
        calloc((size_t)period->longest * 2, sizeof *period->history);
    period->run = calloc((size_t)period->longest + 1, sizeof *period->run);
    if (!period->pattern || !period->history || !period->run) {
        aps_period_destroy(period);
        return NULL;
    }
    return period;
}

void aps_period_destroy(struct aps_period *period)
{
    if (!period)
        return;
    free(period->pattern);
    free(period->history);
    free(period->run);
    free(period);
}

/* The count `back` places before the newest (0: the newest). */
static size_t past(const struct aps_period *period, long back)
{
    return period->history[(period->seen - 1 - back) % (2 * period->longest)];
}

static void push(struct aps_period *period, size_t count)
{
    period->history[period->seen % (2 * period->longest)] = count;
    period->seen++;
}

static void forget(struct aps_period *period)
{
    period->seen = 0;
    memset(period->run, 0,
           ((size_t)period->longest + 1) * sizeof *period->run);
}

/* Lengthen or break the runs by the newest count; the shortest period that is
 * complete, or 0. */
static long update_runs(struct aps_period *period)
{
    const long rounds = period->stated ? 1 : 2;
    long limit = period->longest;
    long complete = 0;

    if (limit > period->seen - 1)
        limit = period->seen - 1;
    for (long p = limit; p >= period->minimum; p--) {
        if (past(period, p) != past(period, 0)) {
            period->run[p] = 0;
            continue;
        }
        if (++period->run[p] >= rounds * p)
            complete = p;
    }
    return complete;
}

bool aps_period_search(struct aps_period *period, size_t count)
{
    long length;

    push(period, count);
    length = update_runs(period);
    if (length == 0)
        return false;
    period->length = length;
    period->followed = 0;
    for (long i = 0; i < length; i++)
        period->pattern[i] = past(period, length - 1 - i);
    return true;
}

/* The runs as they would be had the search never stopped. */
static void rebuild_runs(struct aps_period *period)
{
    long kept = period->seen;

    memset(period->run, 0,
           ((size_t)period->longest + 1) * sizeof *period->run);
    for (period->seen = 1; period->seen <= kept; period->seen++)
        (void)update_runs(period);
    period->seen = kept;
}

bool aps_period_follow(struct aps_period *period, long cursor, size_t count)
{
    bool trusted;

    if (period->stated && period->recorded < period->stated) {
        period->pattern[period->recorded++] = count;
        return true;
    }
    if (period->pattern[cursor] == count) {
        if (period->followed < TRUSTED_ROUNDS * period->length) {
            period->followed++;
            push(period, count);
        }
        return true;
    }
    trusted = period->stated ||
              period->followed >= TRUSTED_ROUNDS * period->length ||
              period->seen >= 2 * period->longest;
    if (trusted) {
        forget(period);
    } else {
        period->minimum = period->length + 1;
        if (period->minimum > period->longest) {
            period->minimum = 1;
            forget(period);
        } else {
            rebuild_runs(period);
        }
    }
    return false;
}

long aps_period_length(const struct aps_period *period)
{
    return period->length;
}

size_t aps_period_count(const struct aps_period *period, long i)
{
    return period->pattern[i];
}
