/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/normal.h"

#include <math.h>

#include "base/logarithm.h"

#define SQRT_2_PI 2.50662827463100050242
#define LARGEST 37.5 /* the tail above it is below 1e-300 */

static double normal_density(double z)
{
    return aps_exp(-z * z / 2) / SQRT_2_PI;
}

/* Returns the probability of 0 < x < z, for z up to about 3: density times z +
 * z^3 / 3 + z^5 / (3 5) + ... */
static double normal_half(double z)
{
    double term = z, sum = 0;

    for (int i = 3; sum + term > sum; i += 2) {
        sum += term;
        term *= z * z / i;
    }
    return normal_density(z) * sum;
}

/* Returns the probability of x > z, z >= 0: from 2.5 on by Laplace's continued
 * fraction, density / (z + 1 / (z + 2 / (z + 3 / ...))). */
static double normal_above(double z)
{
    double fraction = z;

    if (z < 2.5)
        return 0.5 - normal_half(z);
    for (int i = 200; i >= 1; i--)
        fraction = z + i / fraction;
    return normal_density(z) / fraction;
}

double aps_normal_center(double probability)
{
    double low = 0, high = 1;

    for (int i = 0; i < 200 && low < high; i++) {
        const double z = (low + high) / 2;

        if (2 * normal_half(z) < probability)
            low = z;
        else
            high = z;
    }
    return high;
}

double aps_normal_tail(double probability)
{
    double low = 0, high = LARGEST;

    for (int i = 0; i < 60; i++) {
        const double z = (low + high) / 2;

        if (normal_above(z) > probability)
            low = z;
        else
            high = z;
    }
    return high;
}
