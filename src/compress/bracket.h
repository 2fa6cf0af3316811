/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first pass of a compressor that selects, and the q-th largest magnitude,
 * exactly. In one read the pass adds gradient and error memory, takes the mean
 * and the maximum, and collects the elements between two magnitudes, between
 * which a sample places the q-th largest: mostly a few in a hundred. The search
 * continues in those. If the sample was wrong, or too many elements are equal,
 * three passes of a histogram over all elements find it. The sample affects
 * only the time, never the result.
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
    struct aps_magnitudes magnitudes; /* magnitudes of x */
    const struct aps_collect *passes;
    /* collected elements; undefined unless magnitudes.finite */
    uint32_t lo, hi;    /* lo <= hi */
    size_t above;       /* elements with |x| >= hi */
    size_t count;       /* elements with lo <= |x| < hi, in order: */
    uint32_t *index;    /* their indices */
    uint32_t *bits;     /* their magnitudes */
    uint32_t guess[2];  /* value that many may equal; INF: unknown */
    uint32_t *counters; /* counters of histograms */
};

/* Memory for a pass, and for its bracket: owned by the caller, aligned to 8
 * bytes. Its contents do not matter. */
struct aps_bracket_work {
    void *memory;
    size_t bytes; /* at least APS_BRACKET_ROOM_MIN; with less than
                     aps_bracket_room a search takes longer */
};
#define APS_BRACKET_ROOM_MIN (APS_COLLECT_COUNTERS * sizeof(uint32_t))
size_t aps_bracket_room(size_t n, size_t q);

/*
 * delta[n] = g[n] + e[n], like aps_magnitudes_add: e and delta may be NULL, and
 * without e delta is a copy of g; with e delta is an array. 1 <= n <= 2^32 - 1.
 * The bracket is made for the q-th largest, 1 <= q <= n. It refers to delta (or
 * g, without delta) and to the work memory. cpu: aps_cpu_chosen(); tests use
 * others.
 */
void aps_bracket_begin(const float *g, const float *e, size_t n, size_t q,
                       float *delta, const struct aps_bracket_work *work,
                       enum aps_cpu cpu, struct aps_bracket *bracket);

/* For a finite array: */

/* Returns the q-th largest magnitude, 1 <= q <= n, equal ones counted
 * separately. */
uint32_t aps_bracket_find(const struct aps_bracket *bracket, size_t q);

/* Returns the number of elements with |x| >= bits: from the bracket, or in one
 * read. */
size_t aps_bracket_count(const struct aps_bracket *bracket, uint32_t bits);

/* Gets the greatest magnitude below `lo` and the least one that is at least
 * `hi`; UINT32_MAX for none. From the bracket, or in one read. */
void aps_bracket_neighbours(const struct aps_bracket *bracket, uint32_t lo,
                            uint32_t hi, uint32_t *below, uint32_t *above);

#endif
