/* SPDX-License-Identifier: BSD-3-Clause */
/* Candidates: the meaning of `shadow` at the top of a policy and in a rule, the
 * settings that they inherit from rules, and errors. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

#define V "version: 1\n"

/* Returns the candidates of a layer, "e5m2 none direct; e4m3 aps ring", or "none". */
static const char *candidates(const struct aps_policy *policy, long layer,
                              size_t count, enum aps_call_kind call)
{
    static char text[1024];
    const struct aps_plan_key place = {
        .call = call, .layer = layer, .layers = 5, .count = count};
    struct aps_plan plan;
    size_t used = 0;

    aps_policy_resolve(policy, &place, &plan);
    if (plan.rewrite)
        return "rewritten";
    if (!plan.shadow)
        return "none";
    for (size_t i = 0; i < plan.shadow->count; i++) {
        struct aps_plan candidate;

        aps_policy_candidate(policy, &place, plan.shadow, i, &candidate);
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s %s %s%s", i > 0 ? "; " : "",
            candidate.format.name, aps_scale_name(&candidate.scale),
            aps_reduce_name(candidate.reduce),
            candidate.feedback ? " feedback" : "");
        if (!candidate.rewrite || candidate.rule != plan.rule)
            return "a candidate that makes no plan with the rule";
    }
    return text;
}

static const char *all(const struct aps_policy *policy, long layer)
{
    return candidates(policy, layer, 5000, APS_CALL_ALLREDUCE);
}

static void test_top(void)
{
    static const char *const texts[] = {
        V "shadow: [e5m2, e4m3:aps]\n",
        V "shadow: e5m2, e4m3:aps\n",
        V "shadow: e5m2 e4m3:aps\n",
        V "shadow: [\"e5m2 e4m3:aps\"]\n",
        V "shadow:\n  - format: e5m2\n  - {format: e4m3, scale: aps}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct aps_policy *policy = parse(texts[i], NULL);

        if (!ok(policy != NULL, "list %zu is read", i))
            continue;
        is(all(policy, 0), "e5m2 aps-tight hierarchical; e4m3 aps hierarchical",
           "... for all layers");
        is(candidates(policy, 0, 1000, APS_CALL_ALLREDUCE), "none",
           "... of min_count elements");
        is(candidates(policy, -1, 5000, APS_CALL_BCAST), "none",
           "... of all-reduces");
        ok(aps_policy_steps(policy)->kind == APS_STEPS_AUTO,
           "... which a step tells apart");
        ok(aps_policy_budget(policy) == 0.05, "... in 5 %% of the time");
        is(aps_policy_log(policy)->file, "roundoff.csv", "... with a log");
        aps_policy_destroy(policy);
    }
}

static void test_rules(void)
{
    struct aps_policy *policy = parse("version: 1\n"
                                      "table: t.csv\n"
                                      "shadow: [e5m2, {format: e3m0, reduce: "
                                      "direct}]\n"
                                      "budget: 2.5%\n"
                                      "log: {file: l.csv, every: 10}\n"
                                      "rules:\n"
                                      "  - layers: 0\n"
                                      "    format: e4m3\n"
                                      "    scale: aps\n"
                                      "    reduce: ring\n"
                                      "  - {layers: 2, format: fp32}\n"
                                      "  - {layers: 3, shadow: [bf16]}\n"
                                      "  - {calls: bcast, format: e5m10}\n",
                                      TABLE);

    if (!ok(policy != NULL, "rules beside candidates"))
        return;
    is(all(policy, 0),
       "e4m3 aps ring; e5m2 aps-tight ring; e3m0 aps-tight direct",
       "a rule's plan comes first, and hands on its reduction");
    is(all(policy, 2), "e5m2 aps-tight hierarchical; e3m0 aps-tight direct",
       "fp32 is no candidate");
    is(all(policy, 3), "e8m7 aps-tight hierarchical",
       "a rule's own list takes the place of the policy's");
    is(all(policy, 4), "e5m2 aps-tight hierarchical; e3m0 aps-tight direct",
       "what no rule matches has the policy's");
    is(candidates(policy, -1, 5000, APS_CALL_BCAST), "none",
       "other calls are left to MPI, too");
    ok(aps_policy_budget(policy) == 0.025, "the budget");
    ok(aps_policy_log(policy)->stated && aps_policy_log(policy)->every == 10,
       "a stated `every` holds");
    aps_policy_destroy(policy);
}

static void test_rule_alone(void)
{
    struct aps_policy *policy =
        parse("version: 1\n"
              "steps: none\n"
              "rules:\n"
              "  - {max_count: 6000, shadow: [e4m3], reduce: auto}\n"
              "  - {format: e5m2}\n",
              NULL);

    if (!ok(policy != NULL, "candidates of a rule alone"))
        return;
    is(all(policy, -1), "e4m3 aps-tight direct", "direct stands for auto");
    is(candidates(policy, -1, 7000, APS_CALL_ALLREDUCE), "rewritten",
       "other rules rewrite");
    ok(aps_policy_steps(policy)->kind == APS_STEPS_NONE,
       "steps: none does without steps");
    aps_policy_destroy(policy);
}

static void test_given_error(const char *text, const char *wanted)
{
    struct aps_policy_source source;
    struct aps_policy *policy = NULL;

    errors.count = 0;
    ok(aps_policy_source_shadow(text, "--shadow", &source) == 0 &&
           aps_policy_parse(&source, &policy, &errors) < 0,
       "%s is refused", text);
    is(all_errors(), wanted, "... with brackets, and nothing of indentation");
    aps_policy_source_clear(&source);
}

/* Tests APSMPI_SHADOW. */
static void test_given(void)
{
    struct aps_policy_source source;
    struct aps_policy *policy = NULL;

    errors.count = errors.warning_count = 0;
    ok(aps_policy_source_shadow("[e5m2, {format: e3m0, feedback: on}]",
                                APS_SHADOW_PATH, &source) == 0 &&
           aps_policy_parse(&source, &policy, &errors) == 0,
       "candidates without a policy");
    if (policy)
        is(all(policy, 0),
           "e5m2 aps-tight hierarchical; e3m0 aps-tight direct feedback",
           "... hold of all layers");
    aps_policy_destroy(policy);
    aps_policy_source_clear(&source);
    errors.count = 0;
    ok(aps_policy_source_shadow("e5m2 e4n3", "--shadow", &source) == 0 &&
           aps_policy_parse(&source, &policy, &errors) < 0,
       "wrong ones are refused");
    ok(strncmp(all_errors(), "--shadow:1:6: format 'e4n3'", 27) == 0,
       "... by their place");
    aps_policy_source_clear(&source);
    test_given_error(
        "e4m3:aps,{compress: {powersgd: 4}}",
        "--shadow:1:34: a key and ':' are not allowed here: write a mapping "
        "in braces and several values in brackets, as in [a, {key: b}], and "
        "quote a value that contains ': '");
    test_given_error(
        "format: e4m3, scale: aps",
        "--shadow:1:20: a key and ':' are not allowed here: write a mapping "
        "in braces and several values in brackets, as in [a, {key: b}], and "
        "quote a value that contains ': '");
    test_given_error("e4m3:aps,{powersgd: 4}",
                     "--shadow:1:1: unknown key 'e4m3:aps,{powersgd'; write "
                     "several values in brackets, as in [a, {key: b}]");
}

static void test_errors(void)
{
    static const struct bad cases[] = {
        {"no candidate", V "shadow: []\n", "2:9: 'shadow' is an empty list"},
        {"a blank", V "shadow: ' '\n", "2:9: 'shadow' has no candidate"},
        {"commas alone", V "shadow: ', ,'\n", "2:9: 'shadow' has no candidate"},
        {"a list in the list", V "shadow: [e4m3, [e5m2]]\n",
         "2:16: a candidate of 'shadow' must be a word such as e4m3, or a "
         "mapping (key: value), not a list"},
        {"commas without a candidate", V "shadow: ',e5m2,,e4m3, '\n",
         "2:10: a candidate is missing next to this comma\n"
         "2:16: a candidate is missing next to this comma\n"
         "2:21: a candidate is missing next to this comma"},
        {"a compressor as a key", V "shadow: [e4m3, {powersgd: 4}]\n",
         "2:17: unknown key 'powersgd'; it is a compressor: {compress: "
         "{powersgd: {...}}}"},
        {"an unknown scale", V "shadow: [e4m3:apps]\n",
         "2:15: unknown scale 'apps'; did you mean 'aps'?"},
        {"half a pair", V "shadow: [\"e5m2:\", \":aps\"]\n",
         "2:11: a candidate is a format, or a format and a scale, as in "
         "e4m3:aps, not 'e5m2:'\n"
         "2:20: a candidate is a format, or a format and a scale, as in "
         "e4m3:aps, not ':aps'"},
        {"an unknown key", V "shadow: [{format: e5m2, scael: aps}]\n",
         "2:25: unknown key 'scael'; did you mean 'scale'?"},
        {"no format", V "shadow: [{scale: aps}]\n",
         "2:10: the candidate has no 'format'"},
        {"what the program gets", V "shadow: [native]\n",
         "2:10: candidate 'native' is what the program gets; leave it out "
         "(e8m23 is the library's FP32 reduction)"},
        {"too many",
         V
         "shadow: e1m1 e1m2 e1m3 e1m4 e1m5 e2m1 e2m2 e2m3 e2m4 e2m5 e3m1 e3m2 "
         "e3m3 e3m4 e3m5 e4m3 e4m4 e4m5\n",
         "2:89: 'shadow' has more than 16 candidates: each of them costs a "
         "reduction"},
        {"no share", V "shadow: [e5m2]\nbudget: 5\n",
         "3:9: 'budget' is a share of the program's time, above 0% and at most "
         "100%, as in budget: 5%, not '5'"},
        {"too great a share", V "shadow: [e5m2]\nbudget: 101%\n",
         "3:9: 'budget' is a share of the program's time, above 0% and at most "
         "100%, as in budget: 5%, not '101%'"},
        {"a share of nothing", "budget: 5%\n" TOP "  - {format: e5m2}\n",
         "1:1: 'budget' has no effect without 'shadow'; leave it out"},
        {"another call", RULE "calls: bcast\n    shadow: [e5m2]\n",
         "4:5: 'shadow' cannot be combined with calls: bcast; use it with "
         "allreduce"},
        {"a scale of no format", RULE "scale: aps\n    shadow: [e5m2]\n",
         "3:5: 'scale' is in a rule without 'format'; it belongs to a "
         "candidate, as in shadow: [e4m3:aps] or shadow: [{format: e4m3, "
         "feedback: on}]"},
        {"a rule and a candidate that do not agree",
         "shadow: [e5m2, {format: e4m3, scale: aps-tight}]\n" TOP
         "  - {format: e4m3, scale: aps, accumulate: format}\n",
         "1:31: scale aps-tight cannot be combined with accumulate: format "
         "(every sender would have its own scale); use aps"},
    };

    REFUSE(cases, NULL);
}

static void test_twice(void)
{
    struct aps_policy *policy =
        parse(V "shadow: [e4m3:aps, {scale: aps, format: e4m3}]\n"
                "rules:\n  - {max_count: 5000, format: e4m3, scale: aps}\n",
              NULL);

    if (!ok(policy != NULL, "a candidate that a list has twice"))
        return;
    is(all_warnings(),
       "2:20: warning: candidate 2 is candidate 1 again, and would be measured "
       "twice; leave it out",
       "is said once");
    aps_policy_destroy(policy);
}

int main(void)
{
    test_top();
    test_twice();
    test_rules();
    test_rule_alone();
    test_given();
    test_errors();
    return done_testing();
}
