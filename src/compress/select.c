/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/select.h"

#include <math.h>
#include <string.h>

#include "number/bits.h"
#include "number/draw.h"
#include "number/philox.h"

/* The group of four of random bits from which `start` is drawn: neither
 * elements nor permutations (number/draw.h) use it. */
#define SELECT_GROUP ((uint64_t)1 << 63)

#define BLOCK APS_COLLECT_BLOCK

size_t aps_select_count(double density, size_t n)
{
    const double count = density * (double)n;

    if (!(count >= 1))
        return n > 0;
    return count < (double)n ? (size_t)count : n;
}

/* --- what is selected, in order ------------------------------------------ */

/* A cut selects all elements with |x| >= upper, and of those with lower <= |x|
 * < upper `between` from number `start` on; in all, `count`. */
struct select_cut {
    uint32_t upper, lower;
    size_t start, between, count;
};

static void select_from_bracket(const struct aps_bracket *bracket,
                                const struct select_cut *cut, uint32_t *indices)
{
    size_t found = 0, ordinal = 0;

    for (size_t i = 0; found < cut->count; i++) {
        const uint32_t a = bracket->bits[i];
        const size_t top = a >= cut->upper;
        const size_t middle = !top & (a >= cut->lower);

        indices[found] = bracket->index[i];
        found += top | (middle & (ordinal - cut->start < cut->between));
        ordinal += middle;
    }
}

/* Selects all in [from, to) with |x| >= lower, and writes at most `most`.
 * Returns their number, or more than `most`. */
static size_t select_reaching(const struct aps_bracket *bracket, size_t from,
                              size_t to, uint32_t lower, size_t most,
                              uint32_t *indices)
{
    const struct aps_collect *passes = bracket->passes;
    uint32_t some[BLOCK + APS_COLLECT_SLACK];
    size_t found = 0;

    for (size_t at = from; at < to && found <= most; at += BLOCK) {
        size_t size = to - at < BLOCK ? to - at : BLOCK;
        size_t count =
            passes->emit(bracket->x + at, size, (uint32_t)at, lower, some);
        size_t kept = count < most - found ? count : most - found;

        memcpy(indices + found, some, kept * sizeof *some);
        found += count;
    }
    return found;
}

/* Returns the index of the element of that number among those with cut->lower
 * <= |x| < cut->upper, of which *seen are before `from`. */
static size_t select_locate(const struct aps_bracket *bracket,
                            const struct select_cut *cut, size_t number,
                            size_t *from, size_t *seen)
{
    const struct aps_collect *passes = bracket->passes;

    for (;; *from += BLOCK) {
        const float *x = bracket->x + *from;
        size_t left = bracket->n - *from;
        size_t size = left < BLOCK ? left : BLOCK;
        size_t count = passes->count(x, size, cut->lower) -
                       passes->count(x, size, cut->upper);

        if (number < *seen + count || left <= BLOCK)
            break;
        *seen += count;
    }
    for (size_t i = *from, ordinal = *seen; i < bracket->n; i++) {
        uint32_t a = aps_float_bits(bracket->x[i]) & ~APS_FLOAT_SIGN;

        if (a >= cut->lower && a < cut->upper && ordinal++ == number)
            return i;
    }
    return bracket->n; /* not reached, because there are enough */
}

/* The elements between are those that reach `lower` from the first of them to
 * the last. */
static void select_from_all(const struct aps_bracket *bracket,
                            const struct select_cut *cut, uint32_t *indices)
{
    size_t from = 0, seen = 0, first = 0, end = 0, found;

    if (cut->between > 0) {
        first = select_locate(bracket, cut, cut->start, &from, &seen);
        end = select_locate(bracket, cut, cut->start + cut->between - 1, &from,
                            &seen) +
              1;
    }
    found = select_reaching(bracket, 0, first, cut->upper, cut->count, indices);
    found += select_reaching(bracket, first, end, cut->lower,
                             cut->count - found, indices + found);
    select_reaching(bracket, end, bracket->n, cut->upper, cut->count - found,
                    indices + found);
}

static void select_by_cut(const struct aps_bracket *bracket,
                          const struct select_cut *cut, uint32_t *indices)
{
    if (bracket->above == 0 && bracket->count > 0 &&
        (cut->between > 0 ? cut->lower : cut->upper) >= bracket->lo)
        select_from_bracket(bracket, cut, indices);
    else
        select_from_all(bracket, cut, indices);
}

/* --- MSTopK -------------------------------------------------------------- */

/* Returns the bit pattern for |x| >= t: the least float that is at least t, t
 * >= 0. */
static uint32_t select_bits(double t)
{
    const float nearest = (float)t;

    return aps_float_bits(nearest) + ((double)nearest < t);
}

/* Simulates the samplings: t, and whether more than k elements reach it. */
struct select_search {
    double t[APS_SELECT_SAMPLINGS];
    bool more[APS_SELECT_SAMPLINGS];
};

/* `next` is the (k + 1)-th largest magnitude, -1 if k = n. */
static void select_search(double m, double u, int64_t next,
                          struct select_search *search)
{
    double l = 0, h = 1;

    for (int i = 0; i < APS_SELECT_SAMPLINGS; i++) {
        const double b = l + (h - l) / 2;

        search->t[i] = m + b * (u - m);
        search->more[i] = next >= (int64_t)select_bits(search->t[i]);
        if (search->more[i])
            l = b;
        else
            h = b;
    }
}

/* The loop keeps the first t of those that the most elements reach, if these
 * are at most k, and the first of those that the fewest reach, if these are
 * more. Two thresholds are reached by equally many elements if no magnitude
 * lies between them. */
static void select_keep(const struct aps_bracket *bracket,
                        const struct select_search *search,
                        struct aps_selection *selection)
{
    uint32_t least = APS_FLOAT_INF, greatest = 0, below, above;

    for (int i = 0; i < APS_SELECT_SAMPLINGS; i++) {
        const uint32_t bits = select_bits(search->t[i]);

        if (search->more[i])
            greatest = bits > greatest ? bits : greatest;
        else
            least = bits < least ? bits : least;
    }
    aps_bracket_neighbours(bracket, greatest, least, &below, &above);
    selection->t1 = INFINITY;
    selection->t2 = 0;
    for (int i = APS_SELECT_SAMPLINGS - 1; i >= 0; i--) {
        const uint32_t bits = select_bits(search->t[i]);

        if (search->more[i] && below != UINT32_MAX && bits > below)
            selection->t2 = search->t[i];
        if (!search->more[i] && above != UINT32_MAX && bits <= above)
            selection->t1 = search->t[i];
    }
}

static size_t select_draw(const struct aps_cast_options *options,
                          size_t choices)
{
    struct aps_cast_options all = *options;
    struct aps_stream stream;
    uint32_t word[4];

    all.rank = APS_RANK_ALL;
    stream = aps_stream_init(&all);
    aps_stream_group(&stream, SELECT_GROUP, word);
    return aps_draw_below(word[0], (uint32_t)choices);
}

void aps_select_mstopk(const struct aps_bracket *bracket, size_t k,
                       const struct aps_cast_options *options,
                       uint32_t *indices, struct aps_selection *selection)
{
    struct aps_selection s = {.t1 = INFINITY};
    struct select_search search;
    struct select_cut cut = {.count = k};
    int64_t next = -1;

    if (bracket->magnitudes.max > 0) {
        if (k < bracket->n)
            next = aps_bracket_find(bracket, k + 1);
        select_search(bracket->magnitudes.sum / (double)bracket->n,
                      (double)bracket->magnitudes.max, next, &search);
        select_keep(bracket, &search, &s);
        cut.upper = select_bits(s.t1);
        cut.lower = select_bits(s.t2);
        s.count = k;
        s.k1 = aps_bracket_count(bracket, cut.upper);
        s.k2 = aps_bracket_count(bracket, cut.lower);
        cut.between = k - s.k1;
        cut.start = s.start = select_draw(options, s.k2 - k + 1);
        select_by_cut(bracket, &cut, indices);
    }
    *selection = s;
}

/* --- exactly the largest, and those that reach a threshold --------------- */

size_t aps_select_topk(const struct aps_bracket *bracket, size_t k,
                       uint32_t *indices)
{
    struct select_cut cut = {.count = k};

    if (bracket->magnitudes.max <= 0)
        return 0;
    cut.lower = aps_bracket_find(bracket, k);
    cut.upper = cut.lower + 1;
    cut.between = k - aps_bracket_count(bracket, cut.upper);
    select_by_cut(bracket, &cut, indices);
    return k;
}

size_t aps_select_threshold(const struct aps_bracket *bracket, float threshold,
                            size_t k, uint32_t *indices)
{
    struct select_cut cut = {.upper =
                                 aps_float_bits(threshold) & ~APS_FLOAT_SIGN};

    if (bracket->above > 0 || bracket->count == 0 || cut.upper < bracket->lo) {
        cut.count =
            select_reaching(bracket, 0, bracket->n, cut.upper, k, indices);
    } else {
        cut.count = aps_bracket_count(bracket, cut.upper);
        if (cut.count <= k)
            select_from_bracket(bracket, &cut, indices);
    }
    return cut.count <= k ? cut.count : aps_select_topk(bracket, k, indices);
}
