/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares correlated with stochastic rounding: the mean squared error of the
 * sum of N ranks' values, in squared steps of the format, as CSV.
 */
#include "config.h"

#include <stdio.h>

#include "unit/number/correlated_error.h"

int main(void)
{
    printf("ranks,values,stochastic,correlated,ratio\n");
    for (int v = 0; v < CORRELATED_VALUES; v++) {
        const struct correlated_values *values = &correlated_values[v];

        for (int n = 2; n <= 64; n *= 2) {
            struct correlated_error s =
                correlated_error_of(APS_ROUND_STOCHASTIC, n, values);
            struct correlated_error c =
                correlated_error_of(APS_ROUND_CORRELATED, n, values);

            printf("%d,%s,%.4g,%.4g,%.4g\n", n, values->name, s.mean, c.mean,
                   c.mean / s.mean);
        }
    }
    return 0;
}
