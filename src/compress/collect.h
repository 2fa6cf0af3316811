/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes over an array that search for large magnitudes, one for every
 * instruction set. All give identical results. A magnitude |x| is its bit
 * pattern without the sign, which is monotone; all of x is finite.
 */
#ifndef APS_COMPRESS_COLLECT_H
#define APS_COMPRESS_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* Most elements of one call of `collect` and `emit`. */
#define APS_COLLECT_BLOCK 4096

/* Elements that those two may write after their results. */
#define APS_COLLECT_SLACK 16

/* Bins of a histogram, and its copies: adjacent elements count in different
 * copies, so that equal ones do not wait for each other's store. One more bin
 * for each copy counts elements out of range. */
#define APS_COLLECT_BINS 2048
#define APS_COLLECT_COPIES 4
#define APS_COLLECT_COUNTERS (APS_COLLECT_COPIES * (APS_COLLECT_BINS + 1))

struct aps_collect {
    /* index[], bits[] = first + i and |x[i]| of all i < n <= APS_COLLECT_BLOCK
     * with lo <= |x[i]| < hi, in order. Returns their number; adds the number
     * of elements with |x[i]| >= hi to *above. Both arrays have room for n +
     * APS_COLLECT_SLACK elements. */
    size_t (*collect)(const float *x, size_t n, uint32_t first, uint32_t lo,
                      uint32_t hi, uint32_t *index, uint32_t *bits,
                      size_t *above);

    /* Collects all elements with |x[i]| >= lo like `collect`, without their
     * magnitudes. */
    size_t (*emit)(const float *x, size_t n, uint32_t first, uint32_t lo,
                   uint32_t *index);

    /* Returns the number of elements of x[n] with |x[i]| >= lo. */
    size_t (*count)(const float *x, size_t n, uint32_t lo);

    /* Gets *below, the greatest |x[i]| < lo, and *above, the least |x[i]| >=
     * hi; UINT32_MAX for none. */
    void (*neighbours)(const float *x, size_t n, uint32_t lo, uint32_t hi,
                       uint32_t *below, uint32_t *above);

    /* counters[APS_COLLECT_COUNTERS]: copy i % APS_COLLECT_COPIES counts |x[i]|
     * in bin (|x[i]| - lo) >> shift. */
    void (*histogram)(const float *x, size_t n, uint32_t lo, unsigned shift,
                      uint32_t *counters);
};

/* Returns the passes for an instruction set, or NULL if the set is not
 * supported. */
const struct aps_collect *aps_collect_for(enum aps_cpu cpu);

#endif
