/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the gradient and the error memory, and takes the sum and the maximum of
 * |delta| in the same pass. One read of each input and one write.
 *
 * The arithmetic assumes the default floating point environment (round to
 * nearest, no flush to zero), which aps_fpenv_enter (base/fpenv.h) sets.
 */
#ifndef APS_COMPRESS_MAGNITUDES_H
#define APS_COMPRESS_MAGNITUDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* The sum is in double, in an order that depends on n alone: lane j of
 * APS_MAGNITUDES_LANES adds |x[i]| of i = j, j + 32, j + 64, ... one after
 * the other; then lane j adds lane j + 16, for all j < 16; then j + 8, and
 * so on. */
#define APS_MAGNITUDES_LANES 32

struct aps_magnitudes {
    double sum;  /* sum of |x[i]|; undefined unless all of x is finite */
    float max;   /* maximum of |x[i]|, 0 for no element; undefined unless all of
                    x is finite */
    bool finite; /* no element is INF or NaN */
};

/*
 * delta[n] = g[n] + e[n], one FP32 addition for each element, and its
 * magnitudes. e NULL is an error memory of zeros; delta NULL is not written.
 * delta may be g or e, but then a delta that is not finite has overwritten its
 * input. If the memory must survive such a step, delta is a separate array, and
 * becomes the memory after the step has succeeded. Arrays need no alignment.
 */
struct aps_magnitudes aps_magnitudes_add(const float *g, const float *e,
                                         size_t n, float *delta);

/* Returns the magnitudes of x[n]. */
struct aps_magnitudes aps_magnitudes_of(const float *x, size_t n);

/* Magnitudes piece by piece: all pieces except the last are multiples of
 * APS_MAGNITUDES_LANES. {.max = 0} is an empty sum. */
struct aps_magnitudes_sum {
    double lane[APS_MAGNITUDES_LANES];
    int32_t max; /* bit pattern, NaN above INF above all others */
};
typedef void (*aps_magnitudes_fn)(const float *g, const float *e, size_t n,
                                  float *delta, struct aps_magnitudes_sum *sum);

/* Returns the kernel of an instruction set, or NULL if the set is not
 * supported. All give identical bits. */
aps_magnitudes_fn aps_magnitudes_kernel(enum aps_cpu cpu);

/* Ends a sum, which it changes. */
struct aps_magnitudes aps_magnitudes_fold(struct aps_magnitudes_sum *sum);

#endif
