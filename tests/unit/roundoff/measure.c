/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/measure.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "tests/tap/tap.h"

static bool near(double got, double expected)
{
    return got == expected || fabs(got - expected) <= 1e-14 * fabs(expected);
}

static void test_empty(void)
{
    struct aps_measure m = {0};

    aps_measure_add(&m, NULL, NULL, 0);
    ok(aps_measure_mean(&m) == 0 && aps_measure_l2(&m) == 0 &&
           aps_measure_snr(&m) == INFINITY,
       "empty: no error");
}

static void test_mean(void)
{
    const double reference[] = {1, -2, 4, 0, 8};
    const float low[] = {1.5f, -2, 3, 5, 8};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 5);
    ok(m.compared == 4 && m.skipped == 1, "reference 0 is skipped, counted");
    ok(near(aps_measure_mean(&m), (0.5 + 0 + 0.25 + 0) / 4),
       "Eq. 5: the mean of |ref - low| / |ref|");
    ok(m.max_relative == 0.5, "the greatest");
    ok(near(aps_measure_l2(&m), sqrt((0.25 + 1) / (1 + 4 + 16 + 64))),
       "relative L2");
    ok(near(aps_measure_snr(&m), 10 * log10(85 / 1.25)), "SNR in dB");
    ok(m.underflow == 0 && m.overflow == 0 && m.nonfinite == 0,
       "nothing went under or over");
}

static void test_parts(void)
{
    const double reference[] = {3, 5, 7, 0, 9, 11};
    const float low[] = {3.25f, 4, 8, 1, 9, 10};
    struct aps_measure whole = {0}, parts = {0};

    aps_measure_add(&whole, reference, low, 6);
    aps_measure_add(&parts, reference, low, 2);
    aps_measure_add(&parts, reference + 2, low + 2, 4);
    ok(aps_measure_mean(&whole) == aps_measure_mean(&parts) &&
           aps_measure_l2(&whole) == aps_measure_l2(&parts) &&
           whole.compared == parts.compared,
       "in parts as at once");
}

static void test_snr(void)
{
    const double reference[] = {10, 10};
    const float tenth[] = {11, 9}, exact[] = {10, 10};
    struct aps_measure m = {0}, none = {0};

    aps_measure_add(&m, reference, tenth, 2);
    ok(near(aps_measure_snr(&m), 20), "SNR of a tenth: 20 dB");
    aps_measure_add(&none, reference, exact, 2);
    ok(aps_measure_snr(&none) == INFINITY && aps_measure_mean(&none) == 0,
       "SNR without error: INF");
}

static void test_underflow(void)
{
    const double reference[] = {1e-10, -1e-40, 0};
    const float low[] = {0, -0.f, 0};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 3);
    ok(m.underflow == 2 && m.compared == 2 && m.skipped == 1,
       "underflow: a result of 0 where there was something");
    ok(aps_measure_mean(&m) == 1 && m.max_relative == 1,
       "underflow: error 1 each");
}

static void test_overflow(void)
{
    const double reference[] = {1, 2, 4};
    const float low[] = {1, INFINITY, NAN};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 3);
    ok(m.overflow == 2 && m.nonfinite == 2 && m.compared == 3,
       "overflow: INF and NaN where the reference is finite");
    ok(aps_measure_mean(&m) == INFINITY && m.max_relative == INFINITY &&
           aps_measure_l2(&m) == INFINITY && aps_measure_snr(&m) == -INFINITY,
       "overflow: infinite errors, no NaN");
}

static void test_nonfinite_reference(void)
{
    const double reference[] = {INFINITY, -INFINITY, NAN, 1e39, 1};
    const float low[] = {INFINITY, 1, NAN, INFINITY, 1};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 5);
    ok(m.skipped == 4 && m.compared == 1,
       "a reference that is not finite in FP32 is skipped");
    ok(m.nonfinite == 3 && m.overflow == 0,
       "the result is counted as not finite, as no overflow");
    ok(aps_measure_mean(&m) == 0 && aps_measure_l2(&m) == 0,
       "and is in no error");
}

/* The reference is accumulated in FP64: values that FP32 cannot hold are not errors. */
static void test_rounding(void)
{
    const double reference[] = {1 + 0x1p-30, 0.1, 1 / 3., 0x1p-151, 16777217};
    const float low[] = {1, 0.1f, (float)(1 / 3.), 0, 16777216};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 5);
    ok(aps_measure_mean(&m) == 0 && m.max_relative == 0 &&
           aps_measure_l2(&m) == 0,
       "equal once rounded to FP32: no error");
    ok(m.compared == 4 && m.skipped == 1 && m.underflow == 0,
       "a reference that rounds to 0 is 0");
}

static void test_extremes(void)
{
    const double reference[] = {(double)FLT_MAX, 0x1p-149, -(double)FLT_MAX};
    const float low[] = {-FLT_MAX, FLT_MAX, -FLT_MAX};
    struct aps_measure m = {0};

    aps_measure_add(&m, reference, low, 3);
    ok(isfinite(aps_measure_mean(&m)) && isfinite(aps_measure_l2(&m)),
       "the greatest errors there are stay finite");
    ok(m.max_relative == (double)FLT_MAX / 0x1p-149 - 1 ||
           near(m.max_relative, (double)FLT_MAX / 0x1p-149),
       "the greatest relative error");
}

int main(void)
{
    test_empty();
    test_mean();
    test_parts();
    test_snr();
    test_underflow();
    test_overflow();
    test_nonfinite_reference();
    test_rounding();
    test_extremes();
    return done_testing();
}
