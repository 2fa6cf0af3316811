/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan as text: the keywords; a rule of these keywords has the same plan. */
#include "config.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "grammar/plan_text.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

#define HEAD "version: 1\nsteps: {calls: 3}\nrules:\n  - "

/* Makes the plan of a rule in braces; false: the rule has none. */
static bool plan_of(const char *rule, struct aps_plan *plan)
{
    char text[1024];
    struct aps_policy *policy;

    snprintf(text, sizeof text, HEAD "%s\n", rule);
    policy = parse(text, NULL);
    if (!policy)
        return false;
    *plan = *aps_policy_rule_plan(policy, 0);
    aps_policy_destroy(policy);
    return true;
}

static bool same_format(const struct aps_format *a, const struct aps_format *b)
{
    return strcmp(a->name, b->name) == 0;
}

static bool same(const struct aps_plan *a, const struct aps_plan *b)
{
    return same_format(&a->format, &b->format) &&
           aps_scale_equal(&a->scale, &b->scale) && a->reduce == b->reduce &&
           a->group == b->group && a->group_size == b->group_size &&
           a->node == b->node && a->accumulate == b->accumulate &&
           a->chunk == b->chunk &&
           (a->accumulate == APS_ACCUMULATE_FP32 ||
            same_format(&a->sums, &b->sums)) &&
           a->rounding == b->rounding && a->seed == b->seed &&
           aps_compressor_equal(&a->compressor, &b->compressor) &&
           a->feedback == b->feedback;
}

static const struct {
    const char *rule, *text; /* NULL: the rule itself */
} cases[] = {
    {"{format: e4m3}", "{format: e4m3, scale: aps-tight}"},
    {"{format: e4m3, scale: aps}", NULL},
    {"{format: e3m0, scale: none}", NULL},
    {"{format: mx-e4m3fn}", NULL},
    {"{format: mx-e4m3fn, scale: aps-tight}", "{format: mx-e4m3fn}"},
    {"{format: bf16, scale: none}", "{format: e8m7, scale: none}"},
    {"{format: e8m23, scale: none}", NULL},
    {"{format: e4m3, scale: {fixed: 1024}}",
     "{format: e4m3, scale: {fixed: {factor: 1024}}}"},
    {"{format: e4m3, scale: {fixed: {factor: 0.1}}}", NULL},
    {"{format: e4m3, scale: {fixed: 2^-70}}",
     "{format: e4m3, scale: {fixed: {factor: 8.470329472543003e-22}}}"},
    {"{format: e5m2, scale: backoff}",
     "{format: e5m2, scale: {backoff: {scope: model}}}"},
    {"{format: e5m2, scale: {backoff: {max: 4096, min: 2, window: 100, "
     "on_overflow: inf, scope: layer}}}",
     NULL},
    {"{format: e5m2, scale: {backoff: {start: 64, scope: layer}}}", NULL},
    {"{format: e5m2, scale: {logmax: {beta1: 0.9, scope: layer}}}", NULL},
    {"{format: e5m2, scale: {unit: {steps: 4}}}", NULL},
    {"{format: e5m2, scale: {underflow: {model: log-normal}}}", NULL},
    {"{format: e4m3, scale: aps, rounding: stochastic}", NULL},
    {"{format: e4m3, scale: aps, rounding: {correlated: {seed: 4294967295}}}",
     NULL},
    {"{format: qsgd7/512, reduce: direct}", NULL},
    {"{format: qsgd7/512, rounding: {stochastic: {seed: 3}}}", NULL},
    {"{format: sign/64, feedback: on, reduce: direct}", NULL},
    {"{format: e4m3, scale: aps, feedback: on}",
     "{format: e4m3, scale: aps, feedback: on, reduce: direct}"},
    {"{format: e5m2, scale: aps, reduce: ring, accumulate: format}", NULL},
    {"{format: e5m2, accumulate: kahan, reduce: gather}",
     "{format: e5m2, scale: aps, reduce: gather, accumulate: kahan}"},
    {"{format: e5m2, scale: aps, reduce: gather, accumulate: {format: on, "
     "chunk: 64}}",
     NULL},
    {"{format: e5m2, scale: aps, reduce: gather, accumulate: {format: e8m7, "
     "kahan: on}}",
     NULL},
    {"{format: e5m2, accumulate: {format: fp32}}",
     "{format: e5m2, scale: aps-tight}"},
    {"{format: e5m2, scale: aps, group: 4, node: fp32}", NULL},
    {"{format: e5m2, scale: aps, group: numa}", NULL},
    {"{format: e5m2, scale: aps, reduce: {master: {group: 8}}}",
     "{format: e5m2, scale: aps, reduce: master, group: 8}"},
    {"{compress: powersgd}",
     "{format: e8m23, scale: aps-tight, compress: powersgd, reduce: "
     "hierarchical}"},
    {"{compress: {powersgd: {rank: 2, warm: off}}, format: e8m7, feedback: "
     "off, reduce: direct}",
     "{format: e8m7, scale: aps-tight, compress: {powersgd: {rank: 2, warm: "
     "off}}, feedback: off, reduce: direct}"},
    {"{compress: {topk: 0.1}}",
     "{format: e8m23, scale: aps-tight, compress: {topk: {density: 0.1}}, "
     "reduce: gather}"},
    {"{compress: {mstopk: {seed: 5}}, format: e4m3, scale: none, reduce: "
     "hierarchical}",
     "{format: e4m3, scale: none, compress: {mstopk: {seed: 5}}, reduce: "
     "hierarchical}"},
    {"{compress: {threshold: {value: 1e-3}}, format: e8m23, scale: none}",
     "{format: e8m23, scale: none, compress: {threshold: {value: 0.001}}, "
     "reduce: gather}"},
    {"{compress: ternary}", "{compress: ternary, reduce: direct}"},
    {"{compress: {ternary: {clip: 1.5}}, reduce: gather, feedback: on}",
     "{compress: {ternary: {clip: 1.5}}, feedback: on, reduce: gather}"},
    {"{compress: {vote: {value: 0.25}}}",
     "{compress: {vote: {value: 0.25}}, reduce: direct}"},
    {"{compress: {chunks: {density: 0.2, size: 64}}, format: e4m3, scale: "
     "none, feedback: on}",
     "{format: e4m3, scale: none, compress: {chunks: {density: 0.2, size: "
     "64}}, reduce: direct}"},
};

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rule = cases[i].rule;
        char text[APS_PLAN_TEXT_MAX];
        struct aps_plan plan, again;

        if (!ok(plan_of(rule, &plan), "%s", rule))
            continue;
        is(aps_plan_text(&plan, text, sizeof text),
           cases[i].text ? cases[i].text : rule, "... as text");
        ok(plan_of(text, &again) && same(&plan, &again),
           "... which plans the same");
    }
}

/* A buffer that is too small cuts the text, and nothing is written after it. */
static void test_short(void)
{
    char text[32] = "";
    struct aps_plan plan;

    if (!ok(plan_of("{format: e4m3, scale: aps}", &plan), "a plan"))
        return;
    text[8] = 'x';
    aps_plan_text(&plan, text, 8);
    ok(strcmp(text, "{format") == 0 && text[8] == 'x', "a text is cut: %s",
       text);
}

int main(void)
{
    /* If the locale exists, its decimal point is a comma. */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    test_cases();
    test_short();
    return done_testing();
}
