/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <string.h>

#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

int main(void)
{
    const struct aps_scale none = {0};
    const struct aps_scale_ops *ops = aps_scale_ops_of(&none);
    const struct aps_magnitude great = {0x1p100f, true};
    const struct aps_scaling scaling = aps_scale_scaling(&none, 0);
    struct aps_format format;
    char text[32];

    scales_parse(4, 3, &format);
    is(aps_scale_name(&none), "none", "a scale of zeros");
    ok(!ops->agreed && !ops->per_block,
       "none: nothing is agreed on, and nothing measured");
    ok(aps_scale_stage_exponent(&none, &format, 40) == 0,
       "none: a stage's exponent is 0");
    ok(aps_scale_block_exponent(&none, &format, great, 0) == 0,
       "none: a block's exponent is 0, however great it is");
    ok(scaling.exponent == 0 && scaling.factor == 1 && !scaling.bounded,
       "none: values stay what they are");
    ok(!ops->value && aps_scale_value(&none, 0) == 1,
       "none: the policy says no value, and the log says 1");
    is(aps_scale_describe(&none, text, sizeof text), "none", "none: the text");
    return done_testing();
}
