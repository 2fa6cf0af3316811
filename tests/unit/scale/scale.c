/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of every scale. */
#include "config.h"

#include "scale/scale.h"

#include <string.h>

#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

static bool has_only_name(enum aps_scale_kind kind)
{
    bool only = true;

    for (int other = 0; other < APS_SCALE_KINDS; other++)
        only &= other == (int)kind ||
                strcmp(aps_scale_names[other], aps_scale_names[kind]) != 0;
    return only;
}

static void test_row(enum aps_scale_kind kind)
{
    const struct aps_scale scale = {kind, {2}};
    const struct aps_scale_ops *ops = aps_scale_ops_of(&scale);
    const char *name = aps_scale_name(&scale);
    const struct aps_magnitude great = {0x1p30f, true};
    struct aps_format format;
    char text[64];

    scales_parse(5, 2, &format);
    ok(strcmp(name, aps_scale_names[kind]) == 0 && ops == aps_scales[kind] &&
           has_only_name(kind),
       "%s: the name of one scale alone", name);
    ok(!ops->agreed || !ops->per_block,
       "%s: an exponent is the stage's or the block's", name);
    ok(ops->agreed || aps_scale_stage_exponent(&scale, &format, 9) == 0,
       "%s: without agreement the stage's exponent is 0", name);
    ok(ops->per_block ||
           aps_scale_block_exponent(&scale, &format, great, -7) == -7,
       "%s: a block without its own exponent has the stage's", name);
    ok(ops->value || aps_scale_value(&scale, -3) == 0.125,
       "%s: values are multiplied by 2^exponent unless the policy says more",
       name);
    ok(strncmp(aps_scale_describe(&scale, text, sizeof text), name,
               strlen(name)) == 0,
       "%s: the text begins with the name", name);
}

static void test_equal(void)
{
    const struct aps_scale a = {APS_SCALE_FIXED, {2}};
    struct aps_scale b = a;

    ok(aps_scale_equal(&a, &b), "the same kind and parameters are equal");
    b.kind = APS_SCALE_NONE;
    ok(!aps_scale_equal(&a, &b), "another kind is not");
    b = a;
    b.parameters[0] = 2.5;
    ok(!aps_scale_equal(&a, &b), "nor is another parameter");
    b = a;
    b.parameters[APS_SCALE_PARAMETERS - 1] = 1;
    ok(!aps_scale_equal(&a, &b), "nor is it as the last");
}

int main(void)
{
    for (int kind = 0; kind < APS_SCALE_KINDS; kind++)
        test_row((enum aps_scale_kind)kind);
    ok(aps_scale_names[APS_SCALE_KINDS] == NULL, "the names end with NULL");
    test_equal();
    return done_testing();
}
