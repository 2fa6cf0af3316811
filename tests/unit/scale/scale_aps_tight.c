/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <float.h>
#include <math.h>

#include "scale/exponent.h"
#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

static bool is_tight(const struct aps_format *format, float max)
{
    const double largest = (double)aps_format_max(format);
    const int f = aps_scale_aps_tight(format, max);

    if (largest == 0)
        return f == 0;
    if (ldexp((double)max, f) <= largest && largest < ldexp((double)max, f + 1))
        return true;
    diag("%s, max %a: f = %d", format->name, (double)max, f);
    return false;
}

static void test_aps_tight(void)
{
    struct aps_format format;
    bool tight = true;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            float largest;

            scales_parse(e, m, &format);
            largest = aps_format_max(&format);
            tight &= aps_scale_aps_tight(&format, 0) == 0;
            tight &= is_tight(&format, FLT_MAX);
            tight &= is_tight(&format, FLT_MIN);
            tight &= is_tight(&format, 0x1p-149f);
            for (int k = -149; k <= 127; k++)
                tight &= is_tight(&format, ldexpf(1, k)) &&
                         is_tight(&format, ldexpf(0x1.8p0f, k));
            if (largest > 0) {
                tight &= aps_scale_aps_tight(&format, largest) == 0;
                tight &= is_tight(&format, nextafterf(largest, 0));
                if (largest < FLT_MAX)
                    tight &= is_tight(&format, nextafterf(largest, INFINITY));
            }
            for (int i = 0; i < 2000; i++)
                tight &= is_tight(&format, scales_random_float());
        }
    }
    ok(tight, "tight: max 2^f <= maxfinite < max 2^(f+1) in all 192 formats");
    scales_parse(1, 0, &format);
    ok(aps_scale_aps_tight(&format, 1) == 0, "tight: e1m0 has nothing but 0");
    scales_parse(4, 3, &format);
    ok(aps_scale_aps_tight(&format, 1) == 7 &&
           aps_scale_aps_tight(&format, 240) == 0 &&
           aps_scale_aps_tight(&format, 241) == -1 &&
           aps_scale_aps_tight(&format, 1.875f) == 7 &&
           aps_scale_aps_tight(&format, 1.876f) == 6,
       "tight: e4m3 ends at 240");
}

/* The scale of a plan gives the formula's numbers. */
static void test_ops(void)
{
    const struct aps_scale tight = {.kind = APS_SCALE_APS_TIGHT};
    const struct aps_scale_ops *ops = aps_scale_ops_of(&tight);
    const struct aps_scaling scaling = aps_scale_scaling(&tight, 9);
    struct aps_format format;
    char text[32];
    bool same = true;

    scales_parse(4, 3, &format);
    is(aps_scale_name(&tight), "aps-tight", "the name");
    ok(!ops->agreed && ops->per_block,
       "aps-tight: each block is measured and has its own exponent");
    for (int i = 0; i < 1000; i++) {
        const struct aps_magnitude magnitude = {scales_random_float(), i % 2};

        same &= aps_scale_block_exponent(&tight, &format, magnitude, 3) ==
                aps_scale_aps_tight(&format, magnitude.max);
    }
    ok(same, "aps-tight: the block's exponent follows from its maximum alone");
    ok(aps_scale_stage_exponent(&tight, &format, 9) == 0,
       "aps-tight: a stage has none");
    ok(scaling.exponent == 9 && scaling.factor == 1 &&
           aps_scale_value(&tight, 9) == 512,
       "aps-tight: values are multiplied by 2^exponent");
    is(aps_scale_describe(&tight, text, sizeof text), "aps-tight",
       "aps-tight: the text");
}

int main(void)
{
    test_aps_tight();
    test_ops();
    return done_testing();
}
