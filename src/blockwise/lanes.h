/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over an array in FP64, with the same bits on every CPU: element i is
 * added to lane i mod 16, and then lanes are added that are 8, 4, 2 and 1
 * apart. Inlined into functions that are compiled for one instruction set.
 */
#ifndef APS_BLOCKWISE_LANES_H
#define APS_BLOCKWISE_LANES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/kernel.h"

#define APS_LANES 16

/* Returns the sum of `lanes` lanes, a power of two: first adds lanes that are
 * half as many apart, and so on to neighbours. It changes them. */
APS_INLINE double aps_lanes_fold(double *lane, size_t lanes)
{
    for (size_t apart = lanes / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++)
            lane[i] += lane[i + apart];
    return lane[0];
}

APS_INLINE double aps_lanes_total(const double *lane)
{
    double sum[APS_LANES];

    for (int i = 0; i < APS_LANES; i++)
        sum[i] = lane[i];
    return aps_lanes_fold(sum, APS_LANES);
}

/* Returns the sum of |x[n]|, or, if `squares`, of the squares, which are
 * exact. */
APS_INLINE double aps_lanes_sum(const aps_any_float *x, size_t n, bool squares)
{
    const size_t whole = n / APS_LANES * APS_LANES;
    double lane[APS_LANES] = {0};

    for (size_t i = 0; i < whole; i += APS_LANES)
        for (size_t j = 0; j < APS_LANES; j++) {
            const double v = (double)x[i + j];

            lane[j] += squares ? v * v : __builtin_fabs(v);
        }
    for (size_t j = 0; j < n - whole && j < APS_LANES; j++) {
        const double v = (double)x[whole + j];

        lane[j] += squares ? v * v : __builtin_fabs(v);
    }
    return aps_lanes_total(lane);
}

#endif
