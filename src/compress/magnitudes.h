/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gradient and the error memory are added, and the sum and the maximum of
 * |delta| are taken on the way. One read of each input and one write.
 *
 * The arithmetic assumes the default floating point environment (round to
 * nearest, no flush to zero): aps_fpenv_enter (base/fpenv.h) sees to it.
 */
#ifndef APS_COMPRESS_MAGNITUDES_H
#define APS_COMPRESS_MAGNITUDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/*
 * The sum is taken in double, in an order that depends on n alone: lane j of
 * APS_MAGNITUDES_LANES adds |x[i]| of i = j, j + 32, j + 64, ... one after the
 * other; then lane j adds lane j + 16, for all j < 16; then j + 8, and so on.
 */
#define APS_MAGNITUDES_LANES 32

struct aps_magnitudes {
    double sum;  /* of |x[i]|; undefined unless all of x is finite */
    float max;   /* of |x[i]|, 0 of no element; undefined as well */
    bool finite; /* no element is INF or NaN */
};

/*
 * delta[n] = g[n] + e[n], one FP32 addition an element, and its magnitudes. e
 * NULL is an error memory of zeros; delta NULL is not written. delta may be g or
 * e, but then a delta that is not finite has overwritten what it was made of:
 * where the memory has to outlive such a step, delta is an array of its own,
 * and becomes the memory once the step has succeeded. Any alignment.
 */
struct aps_magnitudes aps_magnitudes_add(const float *g, const float *e,
                                         size_t n, float *delta);

/* The magnitudes of x[n]. */
struct aps_magnitudes aps_magnitudes_of(const float *x, size_t n);

/*
 * The same piece by piece, which all but the last are multiples of
 * APS_MAGNITUDES_LANES. {.max = 0} is an empty sum.
 */
struct aps_magnitudes_sum {
    double lane[APS_MAGNITUDES_LANES];
    int32_t max; /* bit pattern, NaN above INF above all else */
};
typedef void (*aps_magnitudes_fn)(const float *g, const float *e, size_t n,
                                  float *delta, struct aps_magnitudes_sum *sum);

/* The kernel of an instruction set; NULL if it is not supported. All give
 * identical bits. */
aps_magnitudes_fn aps_magnitudes_kernel(enum aps_cpu cpu);

/* Ends a sum, which it changes. */
struct aps_magnitudes aps_magnitudes_fold(struct aps_magnitudes_sum *sum);

#endif
