/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/bracket.h"

#include <math.h>
#include <string.h>

#include "number/bits.h"

#define SAMPLE_MIN 1024
#define SAMPLE_MAX 32768
#define SAMPLE_SHARE 128 /* elements for each element of the sample */
#define SAMPLE_RUN 4     /* adjacent elements that are sampled together */
#define SAMPLE_SIGMAS                                                          \
    4                 /* standard deviations by which a quantile of the
                            sample may be wrong */
#define ROOM_MIN 4096 /* elements that are collected in any case */
#define PAIR (2 * sizeof(uint32_t))

/* Elements of memory beyond the collected ones. */
#define SPARE (APS_COLLECT_BLOCK + APS_COLLECT_SLACK)

/* --- the search ---------------------------------------------------------- */

/* A range of magnitudes that contains the q-th largest, with rank q in it. */
struct bracket_range {
    uint32_t lo, hi;
    size_t q, held;
};

/* Cuts the range into bins, and takes the one that holds the q-th. x[n] has no
 * element above the range. */
static void bracket_cut(const struct aps_bracket *bracket, const float *x,
                        size_t n, struct bracket_range *range)
{
    uint32_t *counters = bracket->counters;
    unsigned shift = 0;
    uint32_t bin;

    while ((range->hi - range->lo) >> shift >= APS_COLLECT_BINS)
        shift++;
    memset(counters, 0, APS_COLLECT_COUNTERS * sizeof *counters);
    bracket->passes->histogram(x, n, range->lo, shift, counters);
    for (bin = (range->hi - range->lo) >> shift;; bin--) {
        range->held = 0;
        for (size_t c = 0; c < APS_COLLECT_COPIES; c++)
            range->held += counters[c * (APS_COLLECT_BINS + 1) + bin];
        if (range->held >= range->q || bin == 0)
            break;
        range->q -= range->held;
    }
    range->lo += bin << shift;
    if (range->hi - range->lo > ((uint32_t)1 << shift) - 1)
        range->hi = range->lo + (((uint32_t)1 << shift) - 1);
}

/* Copies the elements of x[n] in the range to spare memory. */
static const float *bracket_move(const struct aps_bracket *bracket,
                                 const float *x, size_t n,
                                 const struct bracket_range *range)
{
    uint32_t *index = bracket->index + bracket->count;
    uint32_t *bits = bracket->bits + bracket->count;
    size_t found = 0, above = 0;

    for (size_t at = 0; at < n; at += APS_COLLECT_BLOCK)
        found += bracket->passes->collect(
            x + at, n - at < APS_COLLECT_BLOCK ? n - at : APS_COLLECT_BLOCK, 0,
            range->lo, range->hi + 1, index, bits + found, &above);
    return (const void *)bits;
}

/* Returns the q-th largest of the magnitudes of x[n] in [lo, hi], of which
 * there are at least q. No magnitude is above hi. */
static uint32_t bracket_narrow(const struct aps_bracket *bracket,
                               const float *x, size_t n, size_t q, uint32_t lo,
                               uint32_t hi)
{
    struct bracket_range range = {lo, hi, q, n};
    bool moved = bracket->index == NULL;

    while (range.lo < range.hi) {
        bracket_cut(bracket, x, n, &range);
        if (!moved && range.held <= APS_COLLECT_BLOCK / 2) {
            x = bracket_move(bracket, x, n, &range);
            n = range.held;
            moved = true;
        }
    }
    return range.lo;
}

/* --- the sample ---------------------------------------------------------- */

/* Returns the magnitude of a float; 0 if it is not finite. */
static uint32_t bracket_finite(float x)
{
    const uint32_t bits = aps_float_bits(x) & ~APS_FLOAT_SIGN;

    return bits < APS_FLOAT_INF ? bits : 0;
}

/* Samples magnitudes from all of the array, in short runs, each at a different
 * place in its part, so that no period of the array coincides with one of the
 * sample. */
static void bracket_sample(const float *g, const float *e, size_t n,
                           size_t runs, uint32_t *sample)
{
    const size_t part = n / runs;
    uint32_t state = 1;

    for (size_t r = 0; r < runs; r++) {
        const size_t from = r * part + (state >> 8) % (part - SAMPLE_RUN + 1);

        for (size_t i = from; i < from + SAMPLE_RUN; i++)
            *sample++ = bracket_finite(e ? g[i] + e[i] : g[i]);
        state = state * 1664525u + 1013904223u;
    }
}

/* Gets lo and hi of the bracket, between which the q-th largest is expected.
 * All elements from lo on are collected if they fit: `room` elements. If lo and
 * hi are equal, many elements are as large as the q-th, and all larger ones are
 * collected. Zeros are many or none, and never collected. */
static void bracket_expect(const float *g, const float *e, size_t q,
                           size_t room, struct aps_bracket *bracket)
{
    const double n = (double)bracket->n;
    uint32_t *drawn = bracket->index + SPARE;
    const float *sample = (const void *)drawn;
    size_t size = bracket->n / SAMPLE_SHARE;
    double rank, spread, least, most;
    uint32_t lo = 0, hi = APS_FLOAT_INF;

    size = size < SAMPLE_MIN ? SAMPLE_MIN : size;
    size = size > SAMPLE_MAX ? SAMPLE_MAX : size;
    size = size > room ? room : size;
    size -= size % SAMPLE_RUN;
    rank = (double)q / n * (double)size;
    spread = SAMPLE_SIGMAS * sqrt(rank * (1 - rank / (double)size)) + 8;
    least = rank - spread;
    most = rank + spread;
    bracket_sample(g, e, bracket->n, size / SAMPLE_RUN, drawn);
    if (most < (double)size)
        lo = bracket_narrow(bracket, sample, size, (size_t)most, 0,
                            APS_FLOAT_INF - 1);
    if (least >= 1)
        hi = bracket_narrow(bracket, sample, size, (size_t)least, 0,
                            APS_FLOAT_INF - 1);
    bracket->guess[0] = hi;
    bracket->guess[1] = lo;
    bracket->lo = lo == hi || lo == 0 ? lo + 1 : lo;
    if (most / (double)size * n > 0.9 * (double)room)
        bracket->hi = hi;
    if (bracket->lo > bracket->hi)
        bracket->lo = bracket->hi;
}

/* --- the pass ------------------------------------------------------------ */

size_t aps_bracket_room(size_t n, size_t q)
{
    size_t room = (q <= n / 8 ? 2 * q : n / 16) + n / 64 + ROOM_MIN;

    return APS_BRACKET_ROOM_MIN + ((room < n ? room : n) + SPARE) * PAIR;
}

/* Collects no elements. */
static void bracket_empty(struct aps_bracket *bracket)
{
    bracket->lo = bracket->hi = APS_FLOAT_INF;
    bracket->above = bracket->count = 0;
}

static void bracket_collect(struct aps_bracket *bracket, size_t at, size_t size,
                            size_t room)
{
    if (bracket->count > room)
        bracket_empty(bracket);
    if (bracket->lo < APS_FLOAT_INF)
        bracket->count += bracket->passes->collect(
            bracket->x + at, size, (uint32_t)at, bracket->lo, bracket->hi,
            bracket->index + bracket->count, bracket->bits + bracket->count,
            &bracket->above);
}

void aps_bracket_begin(const float *g, const float *e, size_t n, size_t q,
                       float *delta, const struct aps_bracket_work *work,
                       enum aps_cpu cpu, struct aps_bracket *bracket)
{
    const aps_magnitudes_fn add = aps_magnitudes_kernel(cpu);
    const size_t all = (work->bytes - APS_BRACKET_ROOM_MIN) / PAIR;
    const size_t room = all > SPARE ? all - SPARE : 0;
    uint32_t *memory = work->memory;
    struct aps_magnitudes_sum sum = {.max = 0};
    struct aps_bracket b = {
        .x = delta ? delta : g,
        .n = n,
        .passes = aps_collect_for(cpu),
        .hi = APS_FLOAT_INF,
        .guess = {APS_FLOAT_INF, APS_FLOAT_INF},
        .counters = memory,
        .index = room > 0 ? memory + APS_COLLECT_COUNTERS : NULL,
        .bits = room > 0 ? memory + APS_COLLECT_COUNTERS + all : NULL,
    };

    if (n > room && room >= SAMPLE_MIN)
        bracket_expect(g, e, q, room, &b);
    else if (n > room)
        bracket_empty(&b);
    for (size_t at = 0; at < n; at += APS_COLLECT_BLOCK) {
        size_t left = n - at;
        size_t size = left < APS_COLLECT_BLOCK ? left : APS_COLLECT_BLOCK;

        add(g + at, e ? e + at : NULL, size, delta ? delta + at : NULL, &sum);
        bracket_collect(&b, at, size, room);
    }
    if (b.count > room)
        bracket_empty(&b);
    b.magnitudes = aps_magnitudes_fold(&sum);
    *bracket = b;
}

/* --- what is known of the array ------------------------------------------ */

uint32_t aps_bracket_find(const struct aps_bracket *b, size_t q)
{
    const uint32_t max = aps_float_bits(b->magnitudes.max);

    if (b->above < q && q <= b->above + b->count)
        return bracket_narrow(b, (const void *)b->bits, b->count, q - b->above,
                              b->lo, max < b->hi ? max : b->hi - 1);
    for (int i = 0; i < 2; i++) {
        if (b->guess[i] < APS_FLOAT_INF &&
            aps_bracket_count(b, b->guess[i] + 1) < q &&
            q <= aps_bracket_count(b, b->guess[i]))
            return b->guess[i];
    }
    return bracket_narrow(b, b->x, b->n, q, 0, max);
}

size_t aps_bracket_count(const struct aps_bracket *b, uint32_t bits)
{
    if (bits == 0)
        return b->n;
    if (bits >= APS_FLOAT_INF)
        return 0;
    if (bits < b->lo || bits > b->hi)
        return b->passes->count(b->x, b->n, bits);
    return b->above + b->passes->count((const void *)b->bits, b->count, bits);
}

void aps_bracket_neighbours(const struct aps_bracket *b, uint32_t lo,
                            uint32_t hi, uint32_t *below, uint32_t *above)
{
    uint32_t under, over;

    b->passes->neighbours((const void *)b->bits, b->count, lo, hi, &under,
                          &over);
    /* elements outside the bracket are farther, unless the bracket is empty */
    if ((under == UINT32_MAX && b->lo > 0 && lo > 0) ||
        (over == UINT32_MAX && b->above > 0) || hi < b->lo || lo > b->hi)
        b->passes->neighbours(b->x, b->n, lo, hi, &under, &over);
    *below = under;
    *above = over;
}
