/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/logarithm.h"

#include <float.h>
#include <math.h>

#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

/* Returns the greatest error in units of the last place of the C library's
 * value, or of 2^-54 if that is less. */
static double log2_error(double x)
{
    const double wanted = log2(x);

    return fabs(aps_log2(x) - wanted) /
           fmax(fabs(wanted) * DBL_EPSILON, 0x1p-54);
}

static double uniform(void)
{
    return (scales_random() + scales_random() * 0x1p-32) * 0x1p-32;
}

static void test_log2(void)
{
    double worst = 0;
    bool exact = true;

    for (int e = -1074; e <= 1023; e++)
        exact &= aps_log2(ldexp(1, e)) == e;
    ok(exact, "log2: exact for powers of two, subnormal ones too");
    for (int i = 0; i < 300000; i++) {
        worst = fmax(worst, log2_error(1 + uniform()));
        worst = fmax(worst, log2_error(uniform() + 0x1p-60));
        worst = fmax(worst, log2_error((double)scales_random_float()));
    }
    if (!ok(worst <= 3, "log2: as the C library, to the last places"))
        diag("%g units", worst);
    ok(aps_log2(65504) > 15.9992 && aps_log2(65504) < 15.9993 &&
           aps_log2(240) > 7.9068 && aps_log2(240) < 7.9069,
       "log2: 65504 and 240");
}

static void test_exp(void)
{
    double worst = 0;

    for (int i = 0; i < 300000; i++) {
        const double x = uniform() * 1400 - 700;

        worst = fmax(worst, fabs(aps_exp(x) / exp(x) - 1));
    }
    if (!ok(worst <= 1e-14, "exp: as the C library, to 1e-14"))
        diag("%g", worst);
    ok(aps_exp(0) == 1, "exp: of 0 it is 1");
}

int main(void)
{
    test_log2();
    test_exp();
    return done_testing();
}
