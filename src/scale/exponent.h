/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exponents of APS, with which other scales begin, or which they use as a
 * fallback.
 */
#ifndef APS_SCALE_EXPONENT_H
#define APS_SCALE_EXPONENT_H

#include "aps.h"

/* Returns ceil(log2(ranks * max)) for max > 0, APS_EXPONENT_ZERO (aps.h) for
 * max == 0: the x of the APS paper's Algorithm 1 (FindMaxExp) for one rank,
 * whose greatest finite magnitude is `max`. A stage uses the MAX of its ranks'
 * exponents. */
int aps_scale_max_exponent(float max, int ranks);

/* Returns the scale exponent of APS (Algorithm 1): U - x with U = 2^(E-1) - 1
 * and x the MAX over the stage's ranks; 0 for a layer of zeros. */
int aps_scale_aps(const struct aps_format *format, int max_exponent);

/* Returns the exponent of APS tight: floor(log2(maxfinite / max)), the greatest
 * power of two that brings `max` into the format without overflow; 0 for max ==
 * 0. */
int aps_scale_aps_tight(const struct aps_format *format, float max);

#endif
