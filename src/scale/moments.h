/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moments of values, for scales that ask for them.
 */
#ifndef APS_SCALE_MOMENTS_H
#define APS_SCALE_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "scale/scale.h"

/* Add the finite values of x[n]; the sums of logarithms, which cost most, only
 * where `logarithms`. */
void aps_scale_moments_add(struct aps_scale_moments *moments, const float *x,
                           size_t n, bool logarithms);

/* Add those of other values. */
void aps_scale_moments_merge(struct aps_scale_moments *moments,
                             const struct aps_scale_moments *other);

#endif
