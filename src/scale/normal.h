/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantiles of the standard normal distribution, with the same bits on every
 * machine (base/logarithm.h).
 */
#ifndef APS_SCALE_NORMAL_H
#define APS_SCALE_NORMAL_H

/* Returns the z > 0 for which |x| < z with that probability, 0 < probability <=
 * 1/2: sqrt(2) erfinv(probability). */
double aps_normal_center(double probability);

/* Returns the z >= 0 for which x > z with that probability, 1e-300 <=
 * probability <= 1/2: -sqrt(2) erfinv(2 probability - 1). */
double aps_normal_tail(double probability);

#endif
