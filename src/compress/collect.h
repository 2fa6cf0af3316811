/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes over an array that look for large magnitudes, once for every
 * instruction set. All give identical results. A magnitude |x| is its bit
 * pattern without the sign, which is monotone; all of x is finite.
 */
#ifndef APS_COMPRESS_COLLECT_H
#define APS_COMPRESS_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* Elements of one call of `collect` and `emit`, at most. */
#define APS_COLLECT_BLOCK 4096

/* What those two may write beyond their results: elements. */
#define APS_COLLECT_SLACK 16

/* Bins of a histogram, and its copies: neighbouring elements count in different
 * copies, so that equal ones do not wait for each other's store. One more bin a
 * copy takes what is out of range. */
#define APS_COLLECT_BINS 2048
#define APS_COLLECT_COPIES 4
#define APS_COLLECT_COUNTERS (APS_COLLECT_COPIES * (APS_COLLECT_BINS + 1))

struct aps_collect {
    /* index[], bits[]: first + i and |x[i]| of all i < n <= APS_COLLECT_BLOCK
     * with lo <= |x[i]| < hi, in order. Returns how many; *above grows by the
     * number of those with |x[i]| >= hi. Both arrays have room for n +
     * APS_COLLECT_SLACK elements. */
    size_t (*collect)(const float *x, size_t n, uint32_t first, uint32_t lo,
                      uint32_t hi, uint32_t *index, uint32_t *bits,
                      size_t *above);

    /* The same of all with |x[i]| >= lo, without their magnitudes. */
    size_t (*emit)(const float *x, size_t n, uint32_t first, uint32_t lo,
                   uint32_t *index);

    /* How many of x[n] have |x[i]| >= lo. */
    size_t (*count)(const float *x, size_t n, uint32_t lo);

    /* *below: the greatest |x[i]| < lo, UINT32_MAX for none; *above: the least
     * |x[i]| >= hi, UINT32_MAX for none. */
    void (*neighbours)(const float *x, size_t n, uint32_t lo, uint32_t hi,
                       uint32_t *below, uint32_t *above);

    /* counters[APS_COLLECT_COUNTERS]: copy i % APS_COLLECT_COPIES counts |x[i]|
     * in bin (|x[i]| - lo) >> shift. */
    void (*histogram)(const float *x, size_t n, uint32_t lo, unsigned shift,
                      uint32_t *counters);
};

/* The passes for an instruction set; NULL if it is not supported. */
const struct aps_collect *aps_collect_for(enum aps_cpu cpu);

#endif
