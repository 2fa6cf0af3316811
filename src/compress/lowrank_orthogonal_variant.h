/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gram-Schmidt's loops for one instruction set; lowrank.c includes this once
 * for each, after it has defined
 *
 *     NAME(x)   x with the instruction set's name appended
 *     TARGET    the attribute of functions for it
 *     LANES     doubles of a vector register: 2, 4 or 8
 *
 * Element i of a product belongs to lane i mod SUM_LANES, which adds one after
 * the other, from 0; lanes l and l + 8 are added, then l and l + 4, l and l +
 * 2, l and l + 1. No product is fused with an addition.
 */

#define VECTOR NAME(vector)
#define PARTS (SUM_LANES / LANES)

typedef double VECTOR __attribute__((vector_size(8 * LANES), aligned(8)));

/* n is a multiple of SUM_LANES. */
TARGET static double NAME(dot)(const double *x, const double *y, size_t n)
{
    VECTOR sum[PARTS] = {{0}};
    double lane[SUM_LANES];

    for (size_t i = 0; i < n; i += SUM_LANES) {
        for (int s = 0; s < PARTS; s++)
            sum[s] += *(const VECTOR *)(x + i + s * LANES) *
                      *(const VECTOR *)(y + i + s * LANES);
    }
    for (int s = 0; s < PARTS; s++)
        *(VECTOR *)(lane + s * LANES) = sum[s];
    return aps_lanes_fold(lane, SUM_LANES);
}

/* y -= factor * x. */
TARGET static void NAME(subtract)(double factor, const double *restrict x,
                                  size_t n, double *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] -= factor * x[i];
}

static const struct kernels NAME(kernels) = {NAME(dot), NAME(subtract)};

#undef NAME
#undef TARGET
#undef LANES
#undef VECTOR
#undef PARTS
