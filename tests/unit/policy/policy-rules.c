/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of the settings of a rule. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

static void test_settings(void)
{
    static const struct {
        const char *text; /* text of a rule in braces, without the format */
        struct aps_plan plan;
    } cases[] = {
        {"aps: on", {.scale = {APS_SCALE_APS}}},
        {"aps: Yes", {.scale = {APS_SCALE_APS}}},
        {"aps: true", {.scale = {APS_SCALE_APS}}},
        {"aps: off", {.scale = {APS_SCALE_NONE}}},
        {"aps: no", {.scale = {APS_SCALE_NONE}}},
        {"aps: false", {.scale = {APS_SCALE_NONE}}},
        {"scale: none", {.scale = {APS_SCALE_NONE}}},
        {"scale: 'aps'", {.scale = {APS_SCALE_APS}}},
        {"scale: aps-tight", {.scale = {APS_SCALE_APS_TIGHT}}},
        {"scale: {fixed: 1024}", {.scale = {APS_SCALE_FIXED, {1024}}}},
        {"scale: {fixed: 0.5}", {.scale = {APS_SCALE_FIXED, {0.5}}}},
        {"scale: {fixed: 1.5e+3}", {.scale = {APS_SCALE_FIXED, {1500}}}},
        {"aps: 1", {.scale = {APS_SCALE_APS}}},
        {"aps: 0", {.scale = {APS_SCALE_NONE}}},
        {"scale: {fixed: 2^10}", {.scale = {APS_SCALE_FIXED, {1024}}}},
        {"scale: {fixed: {factor: 2^-1}}", {.scale = {APS_SCALE_FIXED, {0.5}}}},
        {"scale: {aps: on}", {.scale = {APS_SCALE_APS}}},
        {"scale: {aps: {}}", {.scale = {APS_SCALE_APS}}},
        {"scale: {aps}", {.scale = {APS_SCALE_APS}}},
        {"scale: {aps: {x-why: [a, b]}, x-more: 1}",
         {.scale = {APS_SCALE_APS}}},
        {"scale: aps_tight", {.scale = {APS_SCALE_APS_TIGHT}}},
        {"scale: {aps_tight: yes}", {.scale = {APS_SCALE_APS_TIGHT}}},
        {"reduce: {master: {group: 16}}",
         {.scale = {APS_SCALE_APS_TIGHT},
          .reduce = APS_REDUCE_MASTER,
          .group = APS_GROUP_NUMBER,
          .group_size = 16}},
        {"reduce: {master: 2^4}",
         {.scale = {APS_SCALE_APS_TIGHT},
          .reduce = APS_REDUCE_MASTER,
          .group = APS_GROUP_NUMBER,
          .group_size = 16}},
        {"reduce: {master: yes}",
         {.scale = {APS_SCALE_APS_TIGHT}, .reduce = APS_REDUCE_MASTER}},
        {"reduce: {hierarchical: {group: numa, node: fp32}}",
         {.scale = {APS_SCALE_APS_TIGHT},
          .reduce = APS_REDUCE_HIERARCHICAL,
          .group = APS_GROUP_NUMA,
          .node = APS_NODE_FP32}},
        {"reduce: {auto: {node: fp32}}, group: l3",
         {.scale = {APS_SCALE_APS_TIGHT},
          .reduce = APS_REDUCE_AUTO,
          .group = APS_GROUP_L3,
          .node = APS_NODE_FP32}},
        {"reduce: {direct: {}}",
         {.scale = {APS_SCALE_APS_TIGHT}, .reduce = APS_REDUCE_DIRECT}},
        {"accumulate: {format: e4m3}",
         {.scale = {APS_SCALE_APS}, .accumulate = APS_ACCUMULATE_FORMAT}},
        {"accumulate: {format: e4m3, kahan: on}",
         {.scale = {APS_SCALE_APS}, .accumulate = APS_ACCUMULATE_KAHAN}},
        {"accumulate: {kahan: on}",
         {.scale = {APS_SCALE_APS}, .accumulate = APS_ACCUMULATE_KAHAN}},
        {"accumulate: {chunk: 64}",
         {.scale = {APS_SCALE_APS},
          .accumulate = APS_ACCUMULATE_FORMAT,
          .chunk = 64}},
        {"accumulate: {chunk: 2, kahan: off, format: e4m3}",
         {.scale = {APS_SCALE_APS},
          .accumulate = APS_ACCUMULATE_FORMAT,
          .chunk = 2}},
        {"accumulate: {format: fp32}",
         {.scale = {APS_SCALE_APS_TIGHT}, .accumulate = APS_ACCUMULATE_FP32}},
        {"accumulate: {fp32: on}",
         {.scale = {APS_SCALE_APS_TIGHT}, .accumulate = APS_ACCUMULATE_FP32}},
        {"rounding: nearest", {.scale = {APS_SCALE_APS_TIGHT}}},
        {"rounding: {nearest: {}}", {.scale = {APS_SCALE_APS_TIGHT}}},
        {"rounding: stochastic",
         {.scale = {APS_SCALE_APS_TIGHT}, .rounding = APS_ROUND_STOCHASTIC}},
        {"rounding: correlated",
         {.scale = {APS_SCALE_APS_TIGHT}, .rounding = APS_ROUND_CORRELATED}},
        {"rounding: {stochastic: {seed: 4294967295}}",
         {.scale = {APS_SCALE_APS_TIGHT},
          .rounding = APS_ROUND_STOCHASTIC,
          .seed = UINT32_MAX}},
        {"rounding: {correlated: 7}",
         {.scale = {APS_SCALE_APS_TIGHT},
          .rounding = APS_ROUND_CORRELATED,
          .seed = 7}},
        {"aps: on, reduce: direct",
         {.scale = {APS_SCALE_APS}, .reduce = APS_REDUCE_DIRECT}},
        {"aps: on, group: package",
         {.scale = {APS_SCALE_APS}, .group = APS_GROUP_PACKAGE}},
        {"aps: on, group: numa",
         {.scale = {APS_SCALE_APS}, .group = APS_GROUP_NUMA}},
        {"aps: on, group: l3",
         {.scale = {APS_SCALE_APS}, .group = APS_GROUP_L3}},
        {"aps: on, group: 4",
         {.scale = {APS_SCALE_APS},
          .group = APS_GROUP_NUMBER,
          .group_size = 4}},
        {"aps: on, node: fp32",
         {.scale = {APS_SCALE_APS}, .node = APS_NODE_FP32}},
        {"accumulate: format",
         {.scale = {APS_SCALE_APS}, .accumulate = APS_ACCUMULATE_FORMAT}},
        {"accumulate: format, scale: none",
         {.scale = {APS_SCALE_NONE}, .accumulate = APS_ACCUMULATE_FORMAT}},
        {"accumulate: kahan",
         {.scale = {APS_SCALE_APS}, .accumulate = APS_ACCUMULATE_KAHAN}},
        {"accumulate: kahan, aps: off, reduce: direct",
         {.scale = {APS_SCALE_NONE},
          .reduce = APS_REDUCE_DIRECT,
          .accumulate = APS_ACCUMULATE_KAHAN}},
        {"reduce: ring",
         {.scale = {APS_SCALE_APS_TIGHT}, .reduce = APS_REDUCE_RING}},
        {"reduce: ring, accumulate: format",
         {.scale = {APS_SCALE_APS},
          .reduce = APS_REDUCE_RING,
          .accumulate = APS_ACCUMULATE_FORMAT}},
        {"reduce: master, group: 16, scale: {fixed: 2}",
         {.scale = {APS_SCALE_FIXED, {2}},
          .reduce = APS_REDUCE_MASTER,
          .group = APS_GROUP_NUMBER,
          .group_size = 16}},
        {"reduce: master, accumulate: format",
         {.scale = {APS_SCALE_APS},
          .reduce = APS_REDUCE_MASTER,
          .accumulate = APS_ACCUMULATE_FORMAT}},
        {"reduce: gather, accumulate: kahan",
         {.scale = {APS_SCALE_APS},
          .reduce = APS_REDUCE_GATHER,
          .accumulate = APS_ACCUMULATE_KAHAN}},
        {"reduce: auto, group: numa, node: fp32",
         {.scale = {APS_SCALE_APS_TIGHT},
          .reduce = APS_REDUCE_AUTO,
          .group = APS_GROUP_NUMA,
          .node = APS_NODE_FP32}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct aps_plan *want = &cases[i].plan;
        char text[200];
        struct aps_policy *policy;
        struct aps_plan plan;

        snprintf(text, sizeof text, RULE "{format: e4m3, %s}\n", cases[i].text);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", cases[i].text))
            continue;
        resolve(policy, -1, 0, 5000, 0, 0, &plan);
        ok(plan.rewrite && aps_scale_equal(&plan.scale, &want->scale) &&
               plan.rounding == want->rounding && plan.seed == want->seed &&
               plan.reduce == (strstr(cases[i].text, "reduce")
                                   ? want->reduce
                                   : APS_REDUCE_HIERARCHICAL) &&
               plan.group == want->group &&
               plan.group_size == want->group_size && plan.node == want->node &&
               plan.accumulate == want->accumulate && plan.chunk == want->chunk,
           "... is what is planned");
        aps_policy_destroy(policy);
    }
}

/* Every reduction with every setting: meaningful combinations are accepted. */
static void test_combinations(void)
{
    static const char *const reductions[] = {"direct", "hierarchical", "ring",
                                             "master", "gather",       "auto"};
    static const struct {
        const char *text;
        const char *accepted; /* a letter for each reduction */
    } cases[] = {
        {"group: node", ".h.m.a"},
        {"group: 3", ".h.m.a"},
        {"node: format", ".h...a"},
        {"node: fp32", ".h...a"},
        {"accumulate: fp32", "dhrmga"},
        {"accumulate: format", "dhrmga"},
        {"accumulate: kahan", "dh..g."},
        {"accumulate: {chunk: 8}", "dh..g."},
        {"scale: aps-tight", "dhrmga"},
        {"scale: aps-tight, accumulate: format", "......"},
        {"scale: aps-tight, accumulate: kahan", "......"},
        {"scale: none, accumulate: kahan", "dh..g."},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char accepted[sizeof reductions / sizeof reductions[0] + 1] = "";

        for (size_t j = 0; j < sizeof accepted - 1; j++) {
            struct aps_policy *policy = NULL;
            char text[200];

            snprintf(text, sizeof text, RULE "{format: e5m2, reduce: %s, %s}\n",
                     reductions[j], cases[i].text);
            accepted[j] = '.';
            if (parse_bytes(text, strlen(text), NULL, &policy) == 0)
                accepted[j] = reductions[j][0];
            aps_policy_destroy(policy);
        }
        is(accepted, cases[i].accepted, "reductions with %s", cases[i].text);
    }
}

static void test_native(void)
{
    static const char *const words[] = {"native", "fp32", "{native: on}",
                                        "{fp32: {}}"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[200];
        struct aps_policy *policy;
        struct aps_plan plan;

        snprintf(text, sizeof text, RULE "{format: %s}\n", words[i]);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "format: %s", words[i]))
            continue;
        resolve(policy, -1, 0, 5000, 0, 0, &plan);
        ok(!plan.rewrite && plan.rule == 0, "... leaves the call to MPI");
        aps_policy_destroy(policy);
    }
}

/* Blocks have their own scales: a rule may name no other scale. */
static void test_blocks(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"format: bfp7/64", "bfp7/64"},
        {"format: hbfp8/576, scale: aps-tight", "bfp7/576"},
        {"format: mx-e2m1fn, aps: off", "mx-e2m1fn"},
        {"format: mx_int8, scale: none", "mx-int8"},
        {"format: nvfp4, accumulate: format", "nvfp4"},
        {"format: bfp3/96, accumulate: {format: e8m10}", "bfp3/96"},
        {"format: qsgd7/512", "qsgd7/512"},
        {"format: qsgd127/512-l2, rounding: correlated", "qsgd127/512-l2"},
        {"format: qsgd1/128, accumulate: {format: bf16}", "qsgd1/128"},
        {"format: int8/512, rounding: stochastic", "int8/512"},
        {"format: int4/64, accumulate: format", "int4/64"},
        {"format: sign/512, rounding: nearest", "sign/512"},
        {"format: bfp3/576, accumulate: {format: bfp7/64}", "bfp3/576"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct aps_plan *plan;
        struct aps_policy *policy;
        char text[200];

        snprintf(text, sizeof text, RULE "{%s}\n", cases[i].text);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", cases[i].text))
            continue;
        plan = aps_policy_rule_plan(policy, 0);
        is(plan->format.name, cases[i].name, "... is a format");
        ok(plan->scale.kind == APS_SCALE_NONE, "... without a scale");
        aps_policy_destroy(policy);
    }
}

/* QSGD's levels are random, also if the rule does not say it. */
static void test_drawn(void)
{
    static const struct {
        const char *text;
        enum aps_rounding rounding;
        uint32_t seed;
    } cases[] = {
        {"format: qsgd7/512", APS_ROUND_STOCHASTIC, 0},
        {"format: qsgd7/512, rounding: stochastic", APS_ROUND_STOCHASTIC, 0},
        {"format: qsgd7/512, rounding: {correlated: 7}", APS_ROUND_CORRELATED,
         7},
        {"format: int4/512", APS_ROUND_NEAREST, 0},
        {"format: sign/512", APS_ROUND_NEAREST, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct aps_plan *plan;
        struct aps_policy *policy;
        char text[200];

        snprintf(text, sizeof text, RULE "{%s}\n", cases[i].text);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", cases[i].text))
            continue;
        plan = aps_policy_rule_plan(policy, 0);
        ok(plan->rounding == cases[i].rounding && plan->seed == cases[i].seed,
           "... is rounded so");
        aps_policy_destroy(policy);
    }
}

static void test_sums(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"accumulate: format", "format"},
        {"accumulate: {format: e4m3}", "format"},
        {"accumulate: {format: e4m3, kahan: on}", "kahan"},
        {"accumulate: {format: bf16}", "e8m7"},
        {"accumulate: {format: bf16, kahan: on}", "e8m7 kahan"},
        {"accumulate: {format: fp32, kahan: on}", "e8m23 kahan"},
        {"accumulate: {format: fp32}", "fp32"},
        {"accumulate: {chunk: 64}", "format chunk 64"},
        {"accumulate: {format: on, chunk: 64}", "format chunk 64"},
        {"accumulate: {format: bf16, chunk: 2Ki}", "e8m7 chunk 2048"},
        {"accumulate: {format: fp32, chunk: 8}", "e8m23 chunk 8"},
        {"accumulate: {chunk: 4}, calls: reduce", "format chunk 4"},
        {"accumulate: {format: bf16}, calls: [reduce, reduce_scatter]", "e8m7"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200], said[APS_ACCUMULATE_TEXT_MAX];
        struct aps_policy *policy;

        snprintf(text, sizeof text, RULE "{format: e4m3, %s}\n", cases[i].text);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", cases[i].text))
            continue;
        is(aps_plan_accumulate(aps_policy_rule_plan(policy, 0), said,
                               sizeof said),
           cases[i].said, "... is what is planned");
        aps_policy_destroy(policy);
    }
}

static void test_counts(void)
{
    struct aps_policy *policy = parse(
        RULE "{format: {e4m3: {}}, min-count: 64Ki, max_count: 1Mi}\n", NULL);
    struct aps_plan plan;

    if (!ok(policy != NULL, "counts in Ki and Mi, a key with a hyphen"))
        return;
    resolve(policy, -1, 0, 65535, 0, 0, &plan);
    ok(plan.rule == -1, "an element less than 64Ki");
    resolve(policy, -1, 0, 65536, 0, 0, &plan);
    ok(plan.rule == 0, "64Ki are 65536");
    resolve(policy, -1, 0, 1048577, 0, 0, &plan);
    ok(plan.rule == -1, "an element more than 1Mi");
    aps_policy_destroy(policy);
}

static void test_fp32(void)
{
    struct aps_policy *policy = parse(
        RULE "{format: fp32, max_count: 2000}\n  - format: e8m23\n", NULL);
    struct aps_plan plan;

    if (!ok(policy != NULL, "fp32 and e8m23"))
        return;
    resolve(policy, -1, 0, 2000, 0, 0, &plan);
    ok(!plan.rewrite && plan.rule == 0,
       "fp32 leaves the call to MPI, by its rule");
    resolve(policy, -1, 0, 2001, 0, 0, &plan);
    ok(plan.rewrite && plan.rule == 1 && plan.format.width == 32,
       "e8m23 is our reduction");
    aps_policy_destroy(policy);
}

int main(void)
{
    test_settings();
    test_combinations();
    test_fp32();
    test_native();
    test_blocks();
    test_drawn();
    test_sums();
    test_counts();
    return done_testing();
}
