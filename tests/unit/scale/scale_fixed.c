/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <float.h>
#include <math.h>

#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

/* True if the value is `factor` as a float, and the multiplier is a factor in
 * [1, 2) and a power of two. */
static bool is_split(double factor)
{
    const struct aps_scale fixed = {APS_SCALE_FIXED, {factor}};
    const struct aps_scaling scaling = aps_scale_scaling(&fixed, 0);
    const double value = aps_scale_value(&fixed, 0);

    if (value == (double)(float)factor && scaling.factor >= 1 &&
        scaling.factor < 2 && !scaling.bounded &&
        ldexp((double)scaling.factor, scaling.exponent) == value)
        return true;
    diag("%a: %a, %a 2^%d", factor, value, (double)scaling.factor,
         scaling.exponent);
    return false;
}

static void test_values(void)
{
    bool split = is_split(0.1) && is_split(1000) && is_split((double)FLT_MAX);

    for (int e = -149; e <= 127; e++)
        split &= is_split(ldexp(1, e));
    for (int i = 0; i < 10000; i++)
        split &= is_split((double)scales_random_float());
    ok(split, "fixed: values are multiplied by the parameter as a float");
}

int main(void)
{
    const struct aps_scale fixed = {APS_SCALE_FIXED, {48}};
    const struct aps_scale_ops *ops = aps_scale_ops_of(&fixed);
    const struct aps_magnitude great = {0x1p100f, true};
    const struct aps_scaling zero = aps_scale_scaling(&fixed, 0);
    const struct aps_scaling other = aps_scale_scaling(&fixed, 5);
    struct aps_format format;
    char text[32];

    scales_parse(4, 3, &format);
    is(aps_scale_name(&fixed), "fixed", "the name");
    ok(!ops->agreed && !ops->per_block,
       "fixed: nothing is agreed on, and nothing measured");
    ok(aps_scale_stage_exponent(&fixed, &format, 40) == 0 &&
           aps_scale_block_exponent(&fixed, &format, great, 0) == 0,
       "fixed: exponents are 0, however great the values are");
    ok(zero.exponent == 5 && zero.factor == 1.5f && other.exponent == 5 &&
           other.factor == 1.5f,
       "fixed: 48 is 1.5 * 2^5, whatever exponent a header has");
    test_values();
    is(aps_scale_describe(&fixed, text, sizeof text), "fixed 48",
       "fixed: the text has the value");
    is(aps_scale_describe(&fixed, text, 4), "fix",
       "fixed: the text is cut where there is no room");
    return done_testing();
}
