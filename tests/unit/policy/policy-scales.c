/* SPDX-License-Identifier: BSD-3-Clause */
/* Scales with a state: the meaning of their keywords in a policy, and their errors. */
#include "config.h"

#include <stdio.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

#define LAYER APS_SCOPE_LAYER
#define MODEL APS_SCOPE_MODEL

struct meaning {
    const char *text; /* value of the key `scale` */
    struct aps_scale scale;
};

/* The policy's only rule has that scale. `top` has other keys of the policy. */
static void is_scale(const char *top, const struct meaning *meaning,
                     const char *table)
{
    char text[512];
    struct aps_policy *policy;
    struct aps_plan plan;
    bool same;

    snprintf(text, sizeof text,
             "version: 1\n%srules:\n  - {format: e4m3, scale: %s}\n", top,
             meaning->text);
    policy = parse(text, table);
    if (!ok(policy != NULL, "%s", meaning->text))
        return;
    resolve(policy, table ? 0 : -1, 0, 5000, 0, 0, &plan);
    same = plan.rewrite && aps_scale_equal(&plan.scale, &meaning->scale);
    ok(same, "... and it is what it says");
    for (int i = 0; !same && i < APS_SCALE_PARAMETERS; i++)
        diag("parameter %d: %g, not %g", i, plan.scale.parameters[i],
             meaning->scale.parameters[i]);
    is(aps_scale_name(&plan.scale), aps_scale_names[meaning->scale.kind],
       "... by its name");
    aps_policy_destroy(policy);
}

static void test_meanings(void)
{
    static const struct meaning meanings[] = {
        {"backoff",
         {APS_SCALE_BACKOFF, {16384, 16384, 1, 2, 2000, APS_OVERFLOW_REDO}}},
        {"{backoff: {max: 2^20}}",
         {APS_SCALE_BACKOFF, {0x1p20, 0x1p20, 1, 2, 2000, APS_OVERFLOW_REDO}}},
        {"{backoff: {start: 2^14, window: 2000, scope: layer}}",
         {APS_SCALE_BACKOFF,
          {16384, 16384, 1, 2, 2000, APS_OVERFLOW_REDO, LAYER}}},
        {"{backoff: 1024}",
         {APS_SCALE_BACKOFF, {1024, 16384, 1, 2, 2000, APS_OVERFLOW_REDO}}},
        {"{backoff: {min: 2^-3, factor: 1.5, on_overflow: zero}}",
         {APS_SCALE_BACKOFF,
          {16384, 16384, 0.125, 1.5, 2000, APS_OVERFLOW_ZERO}}},
        {"{backoff: {on_overflow: saturate}}",
         {APS_SCALE_BACKOFF,
          {16384, 16384, 1, 2, 2000, APS_OVERFLOW_SATURATE}}},
        {"logmax",
         {APS_SCALE_LOGMAX, {3.09, 16384, 1, 0.99, 0.999, APS_OVERFLOW_REDO}}},
        {"lognormal",
         {APS_SCALE_LOGMAX, {3.09, 16384, 1, 0.99, 0.999, APS_OVERFLOW_REDO}}},
        {"{log-normal: {max: 2^20, min: 2^-20, beta1: 0.9, beta2: 0,"
         " on_overflow: inf, scope: layer}}",
         {APS_SCALE_LOGMAX,
          {3.09, 0x1p20, 0x1p-20, 0.9, 0, APS_OVERFLOW_INF, LAYER}}},
        {"{log_normal: 2}",
         {APS_SCALE_LOGMAX, {2, 16384, 1, 0.99, 0.999, APS_OVERFLOW_REDO}}},
        {"underflow", {APS_SCALE_UNDERFLOW, {0, 1e-3, 100, 1}}},
        {"{underflow: log-normal}", {APS_SCALE_UNDERFLOW, {1, 1e-3, 100, 1}}},
        {"{underflow: {model: lognormal, gamma: 0.01, every: 1Ki, min: 0,"
         " on_overflow: inf}}",
         {APS_SCALE_UNDERFLOW, {1, 0.01, 1024, 0, APS_OVERFLOW_INF}}},
        {"unit", {APS_SCALE_UNIT, {0, 1}}},
        {"{unit: {steps: 10, on_overflow: zero}}",
         {APS_SCALE_UNIT, {0, 10, APS_OVERFLOW_ZERO}}},
        {"autoflex", {APS_SCALE_AUTOFLEX, {16, 2, 3, 100}}},
        {"{autoflex: {window: 8, alpha: 1, beta: 0, gamma: 0,"
         " on_overflow: saturate}}",
         {APS_SCALE_AUTOFLEX, {8, 1, 0, 0, APS_OVERFLOW_SATURATE}}},
        {"delayed", {APS_SCALE_DELAYED, {1024, 0, 0}}},
        {"{delayed: {margin: 2, algo: most-recent}}",
         {APS_SCALE_DELAYED, {1024, 2, 1}}},
        {"{delayed: {history: 16, algo: max}}",
         {APS_SCALE_DELAYED, {16, 0, 0}}},
        {"dfxp", {APS_SCALE_DFXP, {100}}},
        {"{dfxp: 10}", {APS_SCALE_DFXP, {10}}},
    };

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        is_scale("", &meanings[i], NULL);
}

static void test_scopes(void)
{
    static const struct meaning model = {
        "backoff",
        {APS_SCALE_BACKOFF,
         {16384, 16384, 1, 2, 2000, APS_OVERFLOW_REDO, MODEL}}};
    static const struct meaning layer = {
        "{backoff: {scope: layer}}",
        {APS_SCALE_BACKOFF,
         {16384, 16384, 1, 2, 2000, APS_OVERFLOW_REDO, LAYER}}};
    static const struct meaning given = {
        "{backoff: {scope: model}}",
        {APS_SCALE_BACKOFF,
         {16384, 16384, 1, 2, 2000, APS_OVERFLOW_REDO, MODEL}}};
    struct aps_policy *policy;

    is_scale("steps: {calls: 3}\n", &model, NULL);
    is_scale("table: t.csv\n", &model, TABLE);
    is_scale("steps: auto\n", &model, NULL);
    is_scale("steps: auto\n", &layer, NULL);
    is_scale("steps: auto\n", &given, NULL);
    policy = parse("version: 1\nsteps: auto\nrules:\n"
                   "  - {format: e4m3, scale: backoff}\n",
                   NULL);
    ok(policy && aps_policy_steps(policy)->kind == APS_STEPS_AUTO,
       "a state of the model needs steps");
    aps_policy_destroy(policy);
    policy = parse("version: 1\nrules:\n"
                   "  - {epochs: 0-, format: e4m3, scale: backoff}\n"
                   "steps: {per_epoch: 10}\n",
                   NULL);
    ok(policy && aps_scale_scope(&aps_policy_rule_plan(policy, 0)->scale) ==
                     APS_SCOPE_MODEL,
       "a rule by epoch makes the steps known");
    aps_policy_destroy(policy);
    policy =
        parse("version: 1\nrules:\n  - {format: e4m3, scale: backoff}\n", NULL);
    ok(policy && aps_policy_steps(policy)->kind == APS_STEPS_NONE,
       "a scale by itself does not");
    aps_policy_destroy(policy);
    policy = parse("version: 1\nsteps: auto\nrules:\n"
                   "  - {format: e4m3, scale: unit}\n",
                   NULL);
    ok(policy && aps_policy_steps(policy)->kind == APS_STEPS_AUTO,
       "with 'steps' written down, a state of each layer needs steps");
    aps_policy_destroy(policy);
    policy = parse("version: 1\nsteps: auto\nrules:\n"
                   "  - {format: e4m3, scale: aps}\n",
                   NULL);
    ok(policy && aps_policy_steps(policy)->kind == APS_STEPS_NONE,
       "... and other scales do not");
    aps_policy_destroy(policy);
}

#define SCALED                                                                 \
    "layer,name,count,scale\n"                                                 \
    "0,conv,9408,0.25\n"                                                       \
    "1,bias,64,\n"                                                             \
    "2,fc,20480,0.001\n"

static void test_table(void)
{
    static const char text[] = "version: 1\ntable: t.csv\nrules:\n"
                               "  - {epochs: 0, format: e5m2, scale: unit}\n"
                               "  - {format: e5m2, scale: {unit: table}}\n"
                               "steps: {per_epoch: 3}\n";
    static const char others[] = "version: 1\ntable: t.csv\nrules:\n"
                                 "  - {layers: bias, format: fp32}\n"
                                 "  - {format: e5m2, scale: {unit: table}}\n";
    static const char given[] =
        "version: 1\ntable: t.csv\nrules:\n"
        "  - {layers: '0, fc', format: e5m2, scale: {unit: table}}\n";
    struct aps_policy *policy = parse(given, SCALED);
    struct aps_plan first, last;
    struct aps_policy *refused = NULL;

    if (!ok(policy != NULL, "{unit: table}"))
        return;
    resolve(policy, 0, 3, 9408, 0, 0, &first);
    resolve(policy, 2, 3, 20480, 0, 0, &last);
    ok(first.scale.parameters[aps_scale_table(&first.scale)] == 0.25 &&
           last.scale.parameters[aps_scale_table(&last.scale)] == 0.001,
       "... each layer has the value of the table");
    aps_policy_destroy(policy);
    policy = parse(others, SCALED);
    ok(policy != NULL, "a layer that another rule is for needs no value");
    aps_policy_destroy(policy);
    ok(parse_bytes(text, strlen(text), SCALED, &refused) < 0,
       "a layer without a value");
    is(all_errors(),
       "5:28: the layer table has no 'scale' for layer 'bias': its column "
       "'scale' has the standard deviation of each layer's gradient, for scale "
       "unit: table",
       "... with its place and cause");
    ok(parse_bytes(text, strlen(text), TABLE, &refused) < 0,
       "a table without the column");
    is(all_errors(),
       "5:28: the layer table has no 'scale' for layer 'conv1.weight': its "
       "column 'scale' has the standard deviation of each layer's gradient, "
       "for scale unit: table",
       "... with its place and cause");
}

static void test_errors(void)
{
    static const struct bad cases[] = {
        {"a start of 0", RULE "{format: e4m3, scale: {backoff: 0}}\n",
         "3:37: 'backoff' must be a finite number above 0, not '0'"},
        {"a start above the default of max",
         RULE "{format: e4m3, scale: {backoff: {start: 2^16}}}\n",
         "3:45: 'start' is 65536, above 'max', which is 16384 by default"},
        {"a min above a start",
         RULE "{format: e4m3, scale: {backoff: {min: 8, start: 4}}}\n",
         "3:43: 'min' is 8, above 'start', which is 4"},
        {"a max below the default of min",
         RULE "{format: e4m3, scale: {backoff: {max: 0.5}}}\n",
         "3:43: 'min' is 1 by default, above 'max', which is 0.5"},
        {"no window",
         RULE "{format: e4m3, scale: {backoff: {window: 0, factor: 1}}}\n",
         "3:46: 'window' must be at least 1, not 0\n"
         "3:57: 'factor' must be a finite number above 1, not '1'"},
        {"numbers that FP32 does not have",
         RULE "{format: e4m3, scale: {backoff: {start: 2^200, max: 1e9999}}}\n"
              "  - {format: e4m3, scale: {fixed: 2^-200}}\n"
              "  - {format: e4m3, scale: {backoff: {min: 1e-9999}}}\n"
              "  - {format: e4m3, scale: {fixed: 2^9999}}\n"
              "  - {format: e4m3, scale: {fixed: 2^-9999}}\n",
         "3:45: 'start' is too large: 2^200; the largest number of FP32 is "
         "3.4e+38\n"
         "3:57: 'max' is too large: 1e9999; the largest number of FP32 is "
         "3.4e+38\n"
         "4:35: 'fixed' is too small: 2^-200; the smallest number of FP32 is "
         "1.4e-45\n"
         "5:43: 'min' is too small: 1e-9999; the smallest number of FP32 is "
         "1.4e-45\n"
         "6:35: 'fixed' is too large: 2^9999; the largest number of FP32 is "
         "3.4e+38\n"
         "7:35: 'fixed' is too small: 2^-9999; the smallest number of FP32 is "
         "1.4e-45"},
        {"numbers in other languages",
         RULE "{format: e4m3, scale: {backoff: {start: 2**14, min: 1/4}}}\n",
         "3:45: 'start' must be a finite number above 0, not '2**14'; numbers "
         "are written as 0.5, 1e-3 or 2^14\n"
         "3:57: 'min' must be a finite number above 0, not '1/4'; numbers are "
         "written as 0.5, 1e-3 or 2^14"},
        {"negative numbers",
         RULE "{format: e4m3, scale: {backoff: {window: -3, min: -1}}}\n"
              "  - {format: e4m3, scale: {delayed: {margin: -2}}}\n",
         "3:46: 'window' must be at least 1, not -3\n"
         "3:55: 'min' must be a finite number above 0, not '-1'\n"
         "4:46: 'margin' must be at least 0, not -2"},
        {"an unknown parameter",
         RULE "{format: e4m3, scale: {backoff: {widow: 3}}}\n",
         "3:38: unknown parameter 'widow'; did you mean 'window'?"},
        {"what a program may do with an overflow",
         RULE "{format: e4m3, scale: {backoff: {on_overflow: skip}}}\n",
         "3:51: unknown on_overflow 'skip'; the library cannot skip a step; "
         "'inf' is for programs that do"},
        {"a model without steps",
         RULE "{format: e4m3, scale: {backoff: {scope: model}}}\n",
         "3:45: scope: model needs to know where a step ends: write 'steps: "
         "auto' next to 'rules', or scope: layer"},
        {"an average that never changes",
         RULE "{format: e4m3, scale: {logmax: {beta1: 1, min: 2^15}}}\n",
         "3:44: 'beta1' must be a number of at least 0 and at most 0.999999, "
         "not '1'"},
        {"a min above the default of max",
         RULE "{format: e4m3, scale: {logmax: {min: 2^15}}}\n",
         "3:42: 'min' is 32768, above 'max', which is 16384 by default"},
        {"a table where there is none",
         RULE "{format: e4m3, scale: {unit: table}}\n",
         "3:28: scale unit: table takes each layer's standard deviation from a "
         "layer table: write 'table: FILE' next to 'rules'"},
        {"parameters of what is not done",
         RULE "{format: e4m3, scale: {unit: {steps: 3, from: table}}}\n"
              "  - {format: e4m3,\n"
              "     scale: {delayed: {history: 3, algo: most_recent}}}\n",
         "3:35: 'steps' has no effect with from: table; leave it out\n"
         "5:24: 'history' has no effect with algo: most_recent; leave it out"},
        {"a scope of scales of layers",
         RULE "{format: e4m3, scale: {underflow: {scope: model}}}\n",
         "3:40: unknown parameter 'scope'; one of model, gamma, every, min, "
         "on_overflow"},
        {"shares that are none",
         RULE "{format: e4m3, scale: {underflow: {gamma: 0, every: 0}}}\n",
         "3:47: 'gamma' must be a number above 0 and at most 0.5, not '0'\n"
         "3:57: 'every' must be at least 1, not 0"},
        {"a window of nothing",
         RULE "{format: e4m3, scale: {autoflex: 0}}\n"
              "  - {format: e4m3, scale: {delayed: {history: 1Mi}}}\n",
         "3:38: 'autoflex' must be at least 1, not 0\n"
         "4:47: 'history' is too large: 1Mi; the most is 65536"},
        {"other calls",
         RULE "{format: e4m3, calls: [reduce, allreduce, allgather],\n"
              "     scale: backoff}\n",
         "4:13: scale backoff cannot be combined with calls: allgather, "
         "reduce; use it with allreduce, whose results tell all ranks what it "
         "needs to know"},
        {"a parameter of a scale in the rule",
         RULE "{format: e4m3, scale: backoff, on_overflow: inf}\n",
         "3:36: unknown key 'on_overflow'; it is a parameter of a scale with a "
         "state: scale: {backoff: {on_overflow: inf}}"},
        {"a word of others",
         RULE "{format: e4m3, scale: loss_scaling}\n"
              "  - {format: e4m3, scale: dynamic}\n",
         "3:27: unknown scale 'loss_scaling'; did you mean 'backoff', or "
         "'fixed'?\n"
         "4:27: unknown scale 'dynamic'; did you mean 'backoff'?"},
    };

    REFUSE(cases, NULL);
}

static void test_groups_of_one(void)
{
    struct aps_policy *policy =
        parse("version: 1\nrules:\n"
              "  - {layers: 0, format: e4m3, group: 1, node: fp32}\n"
              "  - {layers: 1, format: e4m3, group: 1}\n"
              "  - {format: e4m3, group: 2, node: fp32}\n",
              NULL);

    ok(policy != NULL, "groups of one rank");
    is(all_warnings(),
       "3:41: warning: node: fp32 has no effect with groups of one rank",
       "... have nothing inside");
    aps_policy_destroy(policy);
}

static void test_warnings(void)
{
    struct aps_policy *policy =
        parse("version: 1\nrules:\n"
              "  - {layers: 0, format: flex16, scale: none}\n"
              "  - {layers: 1, format: flex8, aps: off}\n"
              "  - {layers: 2, format: flex16, scale: unit}\n"
              "  - {layers: 3, format: flex16, scale: {fixed: 2^14}}\n"
              "  - {layers: 4, format: bfp7/64, scale: none}\n"
              "  - {layers: 5, format: flex16, aps: on}\n"
              "  - {layers: 6, format: flex16}\n",
              NULL);

    ok(policy != NULL, "integers without a scale");
    is(all_warnings(),
       "3:40: warning: without a scale, all values below 0.5 arrive as zeros "
       "in flex16, whose smallest value is 1; use scale: autoflex\n"
       "4:37: warning: without a scale, all values below 0.5 arrive as zeros "
       "in flex8, whose smallest value is 1; use scale: autoflex\n"
       "5:40: warning: with scale unit, all values below 0.5 standard "
       "deviations arrive as zeros in flex16, whose smallest value is 1; use "
       "scale: autoflex",
       "... are warned of");
    aps_policy_destroy(policy);
}

int main(void)
{
    test_meanings();
    test_scopes();
    test_table();
    test_warnings();
    test_groups_of_one();
    test_errors();
    return done_testing();
}
