/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/period.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "number/philox.h"
#include "steps/sizes.h"

/* Rounds of a trusted period for which a shorter one must last next to it,
 * because evaluations repeat small calls and are not steps. */
#define SHORTER_ROUNDS 16

/* A trusted pattern is dropped after more than this many losses without a whole round,
 * or interruptions after one round each: a longer step contains it. */
#define FALSE_ALARMS 3

/* After this many fruitless calls the search runs at every 64th call only; a
 * period is then found that much later, but its position is known all the
 * same. */
#define EAGER_CALLS (4 * APS_PERIOD_MAX)
#define PATIENT_CALLS 64

/* Rounds and calls that a period in any order needs, if they began with the
 * very first call: more than it takes to find a period in one order. In the
 * midst of the calls it needs more, because parts of an ordered step may repeat
 * in another order. */
#define ANY_ROUNDS_WHOLE 8
#define ANY_ROUNDS 16
#define ANY_CALLS 48

/* Rounds and calls that it needs if all periods are in any order. A single call
 * must come as often as two rounds of two calls, because networks begin with
 * layers of one size. */
#define STATED_ROUNDS 2
#define STATED_CALLS 4

struct pattern {
    long length;
    size_t *counts; /* [longest] */
    bool any;     /* its calls come in any order: counts are sorted, the largest
                     first */
    uint64_t sum; /* then the sum of the hashes of its counts */
};

struct aps_period {
    long stated;
    bool any;      /* only periods in any order are searched for */
    long longest;  /* a stated length may exceed APS_PERIOD_MAX */
    long recorded; /* recorded counts of a stated period's first round */

    struct pattern patterns[2];
    struct pattern *now;   /* pattern that is (or was last) followed */
    struct pattern *known; /* trusted once, or NULL */
    long cursor;           /* position that the search gives the next call */
    bool trusted;          /* now == known, while it is followed */
    int alarms;            /* breaks since `known` was last followed through */
    long rounds;           /* since the last calls between two of them */
    int brief;             /* consecutive interruptions that came after one
                              round */
    bool first;            /* it began with the very first call */
    long stretch;          /* calls since it began, until it is trusted */

    struct aps_sizes *sizes; /* layers of a pattern in any order, while it is
                                followed */
    size_t *history;         /* ring of the latest counts */
    uint64_t *sums; /* ring: sum of the hashes of all counts before each */
    uint64_t sum;   /* sum of the hashes of all counts */
    long mask;      /* size of the rings - 1 */
    long seen;      /* counts since the history began */
    bool complete;  /* it began with the very first call */
    long demand;    /* a stretch must have at least this length */
    long searched;  /* calls since the last period, or drop of the demand */
    long fruitless; /* calls since the last period */
    long repeats;   /* rounds of the longest stretch that is too short */
};

/* The ring holds four rounds of the longest period; three are needed. */
static long period_ring_size(long longest)
{
    long size = 4;

    while (size < 4 * longest)
        size *= 2;
    return size;
}

struct aps_period *aps_period_create(long stated, bool any)
{
    struct aps_period *period;
    long size;

    if (stated > LONG_MAX / 16) {
        errno = ENOMEM;
        return NULL;
    }
    period = calloc(1, sizeof *period);
    if (!period)
        return NULL;
    period->stated = stated;
    period->any = any;
    period->recorded = any ? stated : 0;
    period->longest = stated ? stated : APS_PERIOD_MAX;
    size = period_ring_size(period->longest);
    period->mask = size - 1;
    period->complete = true;
    period->now = &period->patterns[0];
    period->now->length = stated;
    period->history = calloc((size_t)size, sizeof *period->history);
    period->sums = calloc((size_t)size, sizeof *period->sums);
    period->sizes = aps_sizes_create((size_t)period->longest);
    for (int i = 0; i < 2; i++)
        period->patterns[i].counts =
            calloc((size_t)period->longest, sizeof(size_t));
    if (!period->history || !period->sums || !period->sizes ||
        !period->patterns[0].counts || !period->patterns[1].counts) {
        aps_period_destroy(period);
        return NULL;
    }
    return period;
}

void aps_period_destroy(struct aps_period *period)
{
    if (!period)
        return;
    for (int i = 0; i < 2; i++)
        free(period->patterns[i].counts);
    free(period->history);
    free(period->sums);
    aps_sizes_destroy(period->sizes);
    free(period);
}

/* Returns the count `back` places before the newest (0: the newest). */
static size_t period_past(const struct aps_period *period, long back)
{
    return period->history[(period->seen - 1 - back) & period->mask];
}

static void period_push(struct aps_period *period, size_t count)
{
    period->history[period->seen & period->mask] = count;
    period->sums[period->seen & period->mask] = period->sum;
    period->sum += aps_stream_mix(count);
    period->seen++;
}

/* Returns the number of counts in the history. */
static long period_held(const struct aps_period *period)
{
    return period->seen <= period->mask ? period->seen : period->mask + 1;
}

/* Returns how many of the latest counts have period p, at least p. */
static long period_stretch_of(const struct aps_period *period, long p)
{
    const long end = period_held(period) - p;
    long back = 0;

    while (back < end &&
           period_past(period, back) == period_past(period, back + p))
        back++;
    return back + p;
}

/* Returns the sum of the hashes of the `p` counts before the latest `back`
 * ones: equal sums mean the same counts, in any order. */
static uint64_t period_sum(const struct aps_period *period, long back, long p)
{
    const uint64_t end =
        back == 0 ? period->sum
                  : period->sums[(period->seen - back) & period->mask];

    return end - period->sums[(period->seen - back - p) & period->mask];
}

/* Returns how many of the latest counts are whole rounds of p calls in any
 * order, at least p. */
static long period_stretch_any(const struct aps_period *period, long p)
{
    const uint64_t sum = period_sum(period, 0, p);
    long lasted = p;

    while (lasted + p <= period_held(period) &&
           period_sum(period, lasted, p) == sum)
        lasted += p;
    return lasted;
}

/* Returns `need`, or the demand if that is more; at most what the history holds. */
static long period_bounded(const struct aps_period *period, long need)
{
    const long most = 3 * period->longest;

    if (need < period->demand)
        need = period->demand;
    return need < most || period->stated ? need : most;
}

static long period_needed(const struct aps_period *period, long p)
{
    long need = (period->stated ? 2 : 3) * p;

    if (period->known && p < period->known->length &&
        need < SHORTER_ROUNDS * period->known->length)
        need = SHORTER_ROUNDS * period->known->length;
    return period_bounded(period, need);
}

/* Returns the smallest period that has lasted long enough, or 0, and sets `repeats`. If
 * p has lasted for `lasted` counts, no q <= lasted - p is new (Fine and Wilf). */
static long period_shortest(struct aps_period *period, long *stretch)
{
    long p = period->stated ? period->stated : 1, longest = 0;

    period->repeats = 1;
    while (p <= period->longest && p < period_held(period)) {
        long lasted;

        if (period_past(period, 0) != period_past(period, p)) {
            p++;
            continue;
        }
        lasted = period_stretch_of(period, p);
        if (lasted >= period_needed(period, p)) {
            *stretch = lasted;
            return p;
        }
        if (lasted > longest)
            period->repeats = (longest = lasted) / p;
        p = lasted >= 2 * p ? lasted - p + 1 : p + 1;
    }
    return 0;
}

static long period_needed_any(const struct aps_period *period, long p,
                              long lasted)
{
    const bool whole = period->complete && lasted == period->seen;
    long need = period->any ? STATED_CALLS : ANY_CALLS, rounds = ANY_ROUNDS;

    if (period->stated)
        return whole ? p : 2 * p;
    if (whole)
        rounds = period->any ? STATED_ROUNDS : ANY_ROUNDS_WHOLE;
    if (need < rounds * p)
        need = rounds * p;
    return period_bounded(period, need);
}

/* Returns the smallest period in any order that has lasted for long enough, or
 * 0. Unless all periods are to be such, its rounds must differ in their order:
 * period_shortest finds others. */
static long period_shortest_any(const struct aps_period *period, long *stretch)
{
    long p = period->stated ? period->stated : 1;

    for (; p <= period->longest && p <= period_held(period); p++) {
        const long lasted = period_stretch_any(period, p);

        if (lasted >= period_needed_any(period, p, lasted) &&
            (period->any || period_stretch_of(period, p) < lasted)) {
            *stretch = lasted;
            return p;
        }
        if (period->stated)
            break;
    }
    return 0;
}

/* True if the latest counts were the trusted pattern. */
static bool period_is_known(const struct aps_period *period)
{
    const struct pattern *known = period->known;

    if (!known || period_held(period) < known->length)
        return false;
    if (known->any)
        return period_sum(period, 0, known->length) == known->sum;
    for (long back = 0; back < known->length; back++)
        if (period_past(period, back) !=
            known->counts[known->length - 1 - back])
            return false;
    return true;
}

static void period_use(struct aps_period *period, struct pattern *pattern)
{
    period->now = pattern;
    if (pattern->any)
        aps_sizes_set(period->sizes, pattern->counts, (size_t)pattern->length);
}

/* Follows the period p, whose first round began `stretch` calls ago. */
static void period_take_up(struct aps_period *period, long p, bool any,
                           long stretch)
{
    struct pattern *pattern = &period->patterns[0];

    if (pattern == period->known)
        pattern = &period->patterns[1];
    pattern->length = p;
    pattern->any = any;
    for (long i = 0; i < p; i++)
        pattern->counts[i] = period_past(period, stretch - 1 - i);
    if (any) {
        pattern->sum = period_sum(period, 0, p);
        aps_sizes_sort(pattern->counts, (size_t)p);
    }
    period_use(period, pattern);
    period->cursor = stretch % p;
    period->rounds = period->brief = 0;
    period->first = period->complete && stretch == period->seen;
    period->stretch = stretch;
}

static bool period_has_lasted(const struct aps_period *period, long rounds)
{
    return period->stretch / rounds >= period->now->length;
}

/* True if the followed period is to be trusted from now on. */
static bool period_is_proven(const struct aps_period *period)
{
    return period_has_lasted(period, period->stated ? 2 : APS_PERIOD_ROUNDS);
}

static void period_trust(struct aps_period *period)
{
    period->trusted = true;
    period->known = period->now;
    period->demand = 0;
}

/* True if the search is to run now: a long fruitless search must not slow the
 * program down. */
static bool period_is_due(const struct aps_period *period)
{
    return period->fruitless < EAGER_CALLS ||
           period->fruitless % PATIENT_CALLS == 0;
}

/* Takes up the shortest period that has lasted, if there is one. */
static bool period_find(struct aps_period *period)
{
    long stretch, p = 0;
    bool any = false;

    if (!period->any)
        p = period_shortest(period, &stretch);
    if (p == 0 && (period->any || !period->stated)) {
        p = period_shortest_any(period, &stretch);
        any = true;
    }
    if (p > 0)
        period_take_up(period, p, any, stretch);
    return p > 0;
}

bool aps_period_search(struct aps_period *period, size_t count)
{
    period_push(period, count);
    period->fruitless++;
    /* No stretch is longer than the one that broke: the demand was too high. */
    if (++period->searched > 3 * period->longest) {
        period->searched = 0;
        period->demand = 0;
    }
    if (period_is_known(period)) {
        period_use(period, period->known);
        period->cursor = 0;
        period_trust(period);
    } else if (period_is_due(period) && period_find(period)) {
        if (period_is_proven(period))
            period_trust(period);
    } else {
        return false;
    }
    period->searched = period->fruitless = 0;
    return true;
}

long aps_period_cursor(const struct aps_period *period)
{
    return period->cursor;
}

static void period_forget_history(struct aps_period *period)
{
    period->seen = 0;
    period->complete = false;
}

/* Between two rounds of a period that began with the very first call fewer
 * rounds are enough to trust it. */
static void period_trust_whole(struct aps_period *period)
{
    if (period->first && period_has_lasted(period, APS_PERIOD_ROUNDS_WHOLE))
        period_trust(period);
}

bool aps_period_is_between(struct aps_period *period, size_t count)
{
    if (period->now->any ? aps_sizes_has(period->sizes, count)
                         : period->now->counts[0] == count)
        return false;
    period_trust_whole(period);
    if (period->brief > FALSE_ALARMS) /* a longer step continues there */
        period->known = NULL;
    return period->trusted && period->known;
}

bool aps_period_watch(struct aps_period *period, size_t count, bool first)
{
    if (first) {
        period_forget_history(period);
        period->searched = period->fruitless = 0;
        period->brief = period->rounds > 1 ? 0 : period->brief + 1;
        period->rounds = 0;
    }
    if (!aps_period_search(period, count))
        return false;
    period->trusted = period->now == period->known;
    return true;
}

/* Loses the period at place `cursor`. */
static enum aps_follow period_lose(struct aps_period *period, long cursor)
{
    if (cursor == 0)
        period_trust_whole(period);
    if (period->trusted) {
        if (++period->alarms > FALSE_ALARMS)
            period->known = NULL;
        period->trusted = false;
        period_forget_history(period);
        return APS_FOLLOW_BROKEN;
    }
    if (!period->stated && period->demand <= period->stretch)
        period->demand = period->stretch + 1;
    return APS_FOLLOW_WRONG;
}

/* Returns the layer of a call with place `cursor`, or -1. */
static long period_layer(struct aps_period *period, long cursor, size_t count)
{
    if (period->now->any) {
        if (cursor == 0)
            aps_sizes_begin(period->sizes);
        return aps_sizes_take(period->sizes, count);
    }
    if (period->recorded < period->stated)
        period->now->counts[period->recorded++] = count;
    return period->now->counts[cursor] == count ? cursor : -1;
}

enum aps_follow aps_period_follow(struct aps_period *period, long cursor,
                                  size_t count, long *layer)
{
    *layer = period_layer(period, cursor, count);
    if (*layer < 0)
        return period_lose(period, cursor);
    if (cursor == period->now->length - 1) {
        period->alarms = 0;
        period->rounds++;
    }
    if (!period->trusted) {
        period_push(period, count);
        period->stretch++;
        if (period_is_proven(period))
            period_trust(period);
    }
    return APS_FOLLOW_FITS;
}

long aps_period_repeats(const struct aps_period *period)
{
    return period->repeats;
}

long aps_period_length(const struct aps_period *period)
{
    return period->now->length;
}

size_t aps_period_count(const struct aps_period *period, long i)
{
    return period->now->counts[i];
}

bool aps_period_is_any(const struct aps_period *period)
{
    return period->now->any;
}
