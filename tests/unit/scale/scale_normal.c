/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles of the normal distribution, compared with the C library's erf. */
#include "config.h"

#include "scale/normal.h"

#include <math.h>

#include "tests/tap/tap.h"

static bool is_near(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) <= tolerance)
        return true;
    diag("%.15g, not %.15g", got, wanted);
    return false;
}

int main(void)
{
    double center = 0, tail = 0;

    ok(is_near(aps_normal_center(1e-3), 0.00125331446543, 1e-14),
       "a thousandth lies within 0.0012533 of the middle");
    ok(is_near(aps_normal_tail(1e-3), 3.09023230617, 1e-11),
       "a thousandth lies above 3.0902");
    ok(is_near(aps_normal_tail(0.5), 0, 1e-11), "and half above 0");
    for (double p = 0.5; p > 1e-12; p *= 0.7) {
        const double z = aps_normal_center(p);

        center = fmax(center, fabs(erf(z * M_SQRT1_2) / p - 1));
    }
    if (!ok(center < 1e-12, "the inverse of erf"))
        diag("%g", center);
    for (double p = 0.5; p > 1e-300; p *= 0.7) {
        const double z = aps_normal_tail(p);

        tail = fmax(tail, fabs(erfc(z * M_SQRT1_2) / 2 / p - 1));
    }
    if (!ok(tail < 1e-10, "the inverse of erfc"))
        diag("%g", tail);
    return done_testing();
}
