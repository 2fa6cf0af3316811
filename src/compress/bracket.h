/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first pass of a compressor that selects, and the q-th largest magnitude,
 * exactly. In one read the pass adds gradient and error memory, takes the mean
 * and the maximum, and collects the elements between two magnitudes, where a
 * sample says that the q-th largest lies: mostly no more than a few in a
 * hundred. The search goes on in those. Where the sample was wrong, or too many
 * elements are alike, three passes of a histogram over all elements find it.
 * The sample decides the time alone, never the result.
 *
 * A magnitude |x| is its bit pattern without the sign (collect.h).
 */
#ifndef APS_COMPRESS_BRACKET_H
#define APS_COMPRESS_BRACKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "compress/collect.h"
#include "compress/magnitudes.h"

/* An array after the first pass. */
struct aps_bracket {
    const float *x; /* [n]: delta, or g */
    size_t n;
    struct aps_magnitudes magnitudes; /* of x */
    const struct aps_collect *passes;
    /* what is collected; undefined unless magnitudes.finite */
    uint32_t lo, hi;    /* lo <= hi */
    size_t above;       /* elements with |x| >= hi */
    size_t count;       /* elements with lo <= |x| < hi, in order: */
    uint32_t *index;    /* their indices */
    uint32_t *bits;     /* their magnitudes */
    uint32_t guess[2];  /* what many may be equal to; INF: unknown */
    uint32_t *counters; /* of histograms */
};

/* Memory that a pass works in, and a bracket after it: the caller's, aligned to
 * 8 bytes. Its contents do not matter. */
struct aps_bracket_work {
    void *memory;
    size_t bytes; /* at least APS_BRACKET_ROOM_MIN; with less than
                     aps_bracket_room a search takes longer */
};
#define APS_BRACKET_ROOM_MIN (APS_COLLECT_COUNTERS * sizeof(uint32_t))
size_t aps_bracket_room(size_t n, size_t q);

/*
 * delta[n] = g[n] + e[n], as aps_magnitudes_add: e and delta may be NULL, and
 * without e delta is a copy of g; with e delta is an array. 1 <= n <= 2^32 - 1.
 * The bracket is made for the q-th largest, 1 <= q <= n. It refers to delta (or
 * g, without delta) and to the work memory. cpu: aps_cpu_chosen(); tests name
 * others.
 */
void aps_bracket_begin(const float *g, const float *e, size_t n, size_t q,
                       float *delta, const struct aps_bracket_work *work,
                       enum aps_cpu cpu, struct aps_bracket *bracket);

/* Of a finite array: */

/* The q-th largest magnitude, 1 <= q <= n, equal ones counted one by one. */
uint32_t aps_bracket_find(const struct aps_bracket *bracket, size_t q);

/* How many elements have |x| >= bits: from the bracket, or else in one read. */
size_t aps_bracket_count(const struct aps_bracket *bracket, uint32_t bits);

/* The greatest magnitude below `lo` and the least one that is at least `hi`;
 * UINT32_MAX for none. From the bracket, or else in one read. */
void aps_bracket_neighbours(const struct aps_bracket *bracket, uint32_t lo,
                            uint32_t hi, uint32_t *below, uint32_t *above);

#endif
