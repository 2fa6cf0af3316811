/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats that are chosen while the program runs: their settings in a rule,
 * errors, and the format that measurements choose. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policy/choice.h"
#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

#define V "version: 1\n"

static const struct aps_plan_key place = {
    .call = APS_CALL_ALLREDUCE, .layer = 2, .layers = 5, .count = 5000};

static const struct aps_auto_format *formats_of(const struct aps_policy *policy,
                                                struct aps_plan *plan)
{
    aps_policy_resolve(policy, &place, plan);
    return plan->auto_format;
}

static const char *list(const struct aps_policy *policy)
{
    static char text[512];
    struct aps_plan plan;
    const struct aps_auto_format *formats = formats_of(policy, &plan);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; formats && i < formats->formats.count; i++) {
        struct aps_plan one = plan;

        aps_policy_choose(policy, &place, (int)i, &one);
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s %s %s%s", i > 0 ? "; " : "",
            one.format.name, aps_scale_name(&one.scale),
            aps_reduce_name(one.reduce), one.feedback ? " feedback" : "");
        if (!one.rewrite || one.rule != plan.rule || one.auto_format != formats)
            return "a format that makes no plan with the rule";
    }
    return text;
}

static void test_rule(void)
{
    struct aps_policy *policy =
        parse(V "rules:\n  - format: {auto: [e3m2, e4m3, fp32, mx-e4m3fn], "
                "target: snr 20dB, every: 50}\n"
                "    scale: aps\n    feedback: on\n    reduce: direct\n",
              NULL);
    struct aps_plan plan;
    const struct aps_auto_format *formats;
    char text[32];

    if (!ok(policy != NULL, "a rule with several formats"))
        return;
    is(list(policy),
       "e3m2 aps direct feedback; e4m3 aps direct feedback; mx-e4m3fn none "
       "direct feedback",
       "the rule's settings hold of each, a scale of those that take one");
    formats = formats_of(policy, &plan);
    ok(formats->every == 50 && formats->target == APS_TARGET_SNR &&
           fabs(formats->most - 0.1) < 1e-12 && formats->margin == 3 &&
           fabs(formats->allowed / formats->most - 0.70794578) < 1e-6,
       "target, margin and every");
    is(aps_auto_format_target(formats, text, sizeof text), "snr 20dB",
       "the target in words");
    ok(plan.rewrite && aps_format_is_full(&plan.format) && !plan.feedback &&
           plan.scale.kind == APS_SCALE_NONE &&
           plan.reduce == APS_REDUCE_DIRECT,
       "the resolved plan is FP32 by the library");
    aps_policy_choose(policy, &place, -1, &plan);
    ok(!plan.rewrite, "no format is MPI's own");
    ok(aps_policy_chooses(policy) &&
           aps_policy_steps(policy)->kind == APS_STEPS_AUTO,
       "layers are told apart by steps");
    aps_policy_destroy(policy);
}

static void test_targets(void)
{
    static const struct {
        const char *target;
        enum aps_target_kind kind;
        double most, allowed;
    } cases[] = {
        {"snr 20dB", APS_TARGET_SNR, 0.1, 0.0707945784},
        {"snr=20dB, margin: 0dB", APS_TARGET_SNR, 0.1, 0.1},
        {"snr 40", APS_TARGET_SNR, 0.01, 0.00707945784},
        {"\"snr: 6 dB\", margin: 1", APS_TARGET_SNR, 0.501187, 0.446684},
        {"err 0.1", APS_TARGET_ERR, 0.1, 0.0501187},
        {"err=1e-3, margin: 20dB", APS_TARGET_ERR, 1e-3, 1e-4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct aps_policy *policy;
        const struct aps_auto_format *formats;
        struct aps_plan plan;

        snprintf(text, sizeof text,
                 V "steps: none\nrules:\n  - format: {auto: \"e5m2, e4m3\", "
                   "target: %s}\n",
                 cases[i].target);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "target: %s", cases[i].target))
            continue;
        formats = formats_of(policy, &plan);
        ok(formats->target == cases[i].kind &&
               fabs(formats->most / cases[i].most - 1) < 1e-5 &&
               fabs(formats->allowed / cases[i].allowed - 1) < 1e-5,
           "... its errors (%g, %g)", formats->most, formats->allowed);
        ok(formats->every == 500 &&
               aps_policy_steps(policy)->kind == APS_STEPS_NONE,
           "... every 500 calls, without steps");
        aps_policy_destroy(policy);
    }
}

#define TWO V "rules:\n  - format: {auto: [e4m3, e5m2], target: snr 20dB"
#define AUTO(rest) V "rules:\n  - format: {" rest "}\n"

#define OF_AUTO                                                                \
    "it belongs in 'format': format: {auto: [e4m3, e5m10], target: snr 20dB, " \
    "every: 500}"

static void test_errors(void)
{
    static const struct bad cases[] = {
        {"an unknown word", AUTO("auto: [fp8, e5m2], target: snr 20dB"),
         "3:21: unknown format 'fp8'; fp8 is e4m3 or e5m2"},
        {"one format", AUTO("auto: [e5m2], target: snr 20dB"),
         "3:20: 'auto' has a single format: name one more, such as fp32, or "
         "write format: e5m2"},
        {"no format but fp32", AUTO("auto: [fp32], target: snr 20dB"),
         "3:20: 'auto' has no format but fp32, which every layer has if no "
         "other format meets the target"},
        {"no list", AUTO("auto: [], target: snr 20dB"),
         "3:20: 'auto' is an empty list"},
        {"a format twice", AUTO("auto: [e5m10, fp16], target: snr 20dB"),
         "3:28: 'auto' names e5m10 twice"},
        {"no target", AUTO("auto: [e4m3, e5m2]"),
         "3:14: 'auto' has no 'target', such as target: snr 20dB"},
        {"a target in bytes", AUTO("auto: [e4m3, e5m2], target: bytes 25%"),
         "3:42: 'bytes 25%' is a target of apsmpi suggest, for all layers "
         "together; while the program runs each layer has its own: snr 20dB, "
         "or err 0.1"},
        {"no target at all", AUTO("auto: [e4m3, e5m2], target: 20dB"),
         "3:42: 'target' must be snr 20dB (a signal-to-noise ratio) or err 0.1 "
         "(a mean relative error), not '20dB'"},
        {"another unit", AUTO("auto: [e4m3, e5m2], target: err 1dB"),
         "3:42: 'target' must be snr 20dB (a signal-to-noise ratio) or err 0.1 "
         "(a mean relative error), not 'err 1dB'"},
        {"the word alone", V "rules:\n  - format: auto\n",
         "3:13: unknown format 'auto'; formats that are chosen while the "
         "program runs are those of a rule: format: {auto: [e4m3, e5m10], "
         "target: snr 20dB}"},
        {"a target beside it", TWO "}\n    target: snr 20dB\n",
         "4:5: unknown key 'target'; " OF_AUTO},
        {"a rule's own list", V "rules:\n  - auto: [e4m3]\n    every: 5\n",
         "3:5: unknown key 'auto'; " OF_AUTO "\n3:5: the rule has no 'format'"
         "\n4:5: unknown key 'every'; " OF_AUTO},
        {"products", V "gemm: {format: {auto: [e4m3, e5m2], target: snr 20}}\n",
         "2:16: products have one format, which nothing measures: format: "
         "{auto: ...} is for rules"},
        {"formats with scales",
         AUTO("auto: ['e4m3:aps', e5m2], target: err 0.1"),
         "3:21: 'e4m3:aps': the formats of 'auto' have the scale of their "
         "rule, such as scale: aps next to 'format'; FORMAT:SCALE is for "
         "candidates of 'shadow' only"},
        {"an exact target", AUTO("auto: [e4m3, e5m2], target: snr 200dB"),
         "3:42: 'snr 200dB' is out of reach: only fp32 is so exact"},
        {"an error below 0", AUTO("auto: [e4m3, e5m2], target: err -1"),
         "3:42: 'err -1': err must be above 0"},
        {"an error of 0", AUTO("auto: [e4m3, e5m2], target: err 0"),
         "3:42: 'err 0': err must be above 0"},
        {"an exact error", AUTO("auto: [e4m3, e5m2], target: err 1e-12"),
         "3:42: 'err 1e-12' is out of reach: only fp32 is so exact"},
        {"an idle target", AUTO("auto: [e4m3, e5m2], target: err 1"),
         "3:42: 'err 1' has no effect: zeros would meet it"},
        {"never", TWO ", every: 0}\n",
         "3:59: 'every' must be at least 1, not 0"},
        {"a margin", TWO ", margin: 80dB}\n",
         "3:60: 'margin' must be 0dB to 60dB, not '80dB'"},
        {"an unknown key", TWO ", evry: 5}\n",
         "3:52: unknown key 'evry'; did you mean 'every'?"},
        {"a key of the rule", TWO ", scale: aps}\n",
         "3:52: unknown key 'scale'; it belongs in the rule, and applies to "
         "all formats"},
        {"a compressor", TWO "}\n    compress: topk\n",
         "4:5: 'compress' cannot be combined with format: {auto: ...}, which "
         "chooses among formats: give 'compress' a rule of its own"},
        {"candidates", TWO "}\n    shadow: [e5m2]\n",
         "4:5: 'shadow' cannot be combined with format: {auto: ...}: it leaves "
         "layers to MPI; list these formats in 'shadow', or leave it out"},
        {"candidates of all rules", "shadow: [e5m2]\n" TWO "}\n",
         "4:5: 'shadow' next to 'rules', or APSMPI_SHADOW, cannot be combined "
         "with format: {auto: ...}: it leaves layers to MPI; list these "
         "formats in 'shadow', or leave it out"},
        {"other calls", TWO "}\n    calls: [allreduce, bcast]\n",
         "3:5: format: {auto: ...} is for all-reduces only; give other calls a "
         "rule of their own"},
        {"a wrong setting is reported once", TWO "}\n    scale: apps\n",
         "4:12: unknown scale 'apps'; did you mean 'aps'?"},
        {"a setting that one format refuses",
         V "rules:\n  - format: {auto: [e4m3, qsgd7/512], target: snr 20dB}\n"
           "    rounding: nearest\n",
         "4:15: rounding nearest cannot be combined with format qsgd7/512, "
         "whose levels are drawn: leave 'rounding' out, or use a format "
         "intB/BUCKET, such as int8/512"},
        {"a candidate of candidates",
         V "shadow: [{format: {auto: [e4m3, e5m2], target: snr 20dB}}]\n",
         "2:19: a candidate has one format: list each of them"},
    };

    REFUSE(cases, NULL);
}

/* Targets that the formats can and cannot meet; their accuracy is known from
 * the values that a format represents worst: just below a power of two, between
 * two of its values. */
static void test_reach(void)
{
    static const struct {
        const char *formats, *target;
        bool warned;
    } cases[] = {
        /* 20 log10(2^4 sqrt(12)) = 34.87 dB */
        {"[e4m3, e5m2]", "snr 31.8dB", false},
        {"[e4m3, e5m2]", "snr 31.9dB", true},
        {"[e4m3, e5m2]", "snr 34.8dB, margin: 0dB", false},
        {"[e4m3, e5m2]", "snr 34.9dB, margin: 0dB", true},
        {"[e5m2, e4m3]", "snr 40dB", true},
        {"[e4m3, e5m10]", "snr 40dB", false},
        {"[e4m3, fp32]", "snr 40dB", true},
        /* 1 / (4 * 2^4) */
        {"[e4m3, e5m2]", "err 0.016, margin: 0dB", false},
        {"[e4m3, e5m2]", "err 0.015, margin: 0dB", true},
        /* 20 log10(127 sqrt(12)) = 52.87 dB */
        {"[int8/512, mx-int8]", "snr 52dB, margin: 0dB", false},
        {"[int8/512, e4m3]", "snr 53dB, margin: 0dB", true},
        {"[bfp7/64, e4m3]", "snr 52.9dB, margin: 0dB", false},
        {"[bfp7/64, e4m3]", "snr 53dB, margin: 0dB", true},
        /* A block of one magnitude is exact. */
        {"[sign/512, e4m3]", "snr 100dB", false},
    };
    struct aps_policy *policy;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];

        snprintf(text, sizeof text,
                 V "rules:\n  - format: {auto: %s, target: %s}\n",
                 cases[i].formats, cases[i].target);
        policy = parse(text, NULL);
        ok(policy && (errors.warning_count == 1) == cases[i].warned,
           "%s: %s is %s", cases[i].formats, cases[i].target,
           cases[i].warned ? "out of reach" : "within reach");
        aps_policy_destroy(policy);
    }
    policy = parse(
        V "rules:\n  - format: {auto: [e4m3, e5m2], target: snr 60dB}\n", NULL);
    is(all_warnings(),
       "3:5: warning: snr 60dB with a margin of 3dB is out of reach of these "
       "formats: the most exact of them, e4m3, rounds to snr 34.9dB at best; "
       "layers are then in FP32",
       "... which says what is");
    aps_policy_destroy(policy);
    policy =
        parse(V "rules:\n  - format: {auto: [e4m3, e5m2], target: snr 60dB}\n"
                "    node: fp32\n",
              NULL);
    ok(policy && errors.warning_count == 0,
       "... not where sums inside a group are not rounded");
    aps_policy_destroy(policy);
}

/* A log of measured steps only. */
static void test_log(void)
{
    static const struct {
        const char *log, *every;
        bool warned;
    } cases[] = {
        {"{file: a.csv, every: 50}", "50", true},
        {"{file: a.csv, every: 100}", "50", true},
        {"a.csv", "100", true},
        {"a.csv", "500", false},
        {"{file: a.csv, every: 50}", "100", false},
        {"{file: a.csv, every: 120}", "500", false},
        {"{file: a.csv, every: 1}", "1", false},
    };
    struct aps_policy *policy;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];

        snprintf(text, sizeof text,
                 V "log: %s\nrules:\n  - format: {auto: [e4m3, e5m2], target: "
                   "snr 20dB, every: %s}\n",
                 cases[i].log, cases[i].every);
        policy = parse(text, NULL);
        ok(policy && (errors.warning_count == 1) == cases[i].warned,
           "log: %s beside every: %s is %s", cases[i].log, cases[i].every,
           cases[i].warned ? "a warning" : "none");
        aps_policy_destroy(policy);
    }
    policy =
        parse(V "log: {file: a.csv, every: 100}\nrules:\n  - format: {auto: "
                "[e4m3, e5m2], target: snr 20dB, every: 50}\n",
              NULL);
    is(all_warnings(),
       "4:5: warning: the log samples one step in 100, and one in 50 is "
       "measured: the log shows layers only just after a format was chosen; "
       "log: {every: 99} also shows the steps in between",
       "... which says what the log lacks");
    aps_policy_destroy(policy);
    aps_policy_destroy(parse(TWO ", every: 100}\n", NULL));
    ok(errors.warning_count == 0, "without a log there is none");
}

/* --- the choice ----------------------------------------------------------- */

#define OF(error, bytes)                                                       \
    {                                                                          \
        true, error, bytes, 4000                                               \
    }

static void test_choice(void)
{
    struct aps_plan plans[3];
    const struct aps_auto_format formats = {
        .formats = {3, plans}, .most = 0.1, .allowed = 0.07};
    static const struct {
        const char *what;
        int chosen, expected;
        struct aps_trial trials[3];
    } cases[] = {
        {"the cheapest that meets the target with the margin",
         -1,
         1,
         {OF(0.2, 750), OF(0.06, 1000), OF(0.01, 2000)}},
        {"whatever its place",
         -1,
         2,
         {OF(0.01, 2000), OF(0.2, 750), OF(0.06, 1000)}},
        {"not without the margin",
         -1,
         2,
         {OF(0.2, 750), OF(0.09, 1000), OF(0.01, 2000)}},
        {"but it is kept with half of it",
         1,
         1,
         {OF(0.2, 750), OF(0.08, 1000), OF(0.01, 2000)}},
        {"and not with less",
         1,
         2,
         {OF(0.2, 750), OF(0.09, 1000), OF(0.01, 2000)}},
        {"a cheaper one is not taken without the margin",
         2,
         2,
         {OF(0.2, 750), OF(0.09, 1000), OF(0.01, 2000)}},
        {"it is taken with it",
         2,
         1,
         {OF(0.2, 750), OF(0.06, 1000), OF(0.01, 2000)}},
        {"none meets the target",
         2,
         -1,
         {OF(0.2, 750), OF(0.2, 1000), OF(0.11, 2000)}},
        {"of equal bytes the least error",
         -1,
         1,
         {OF(0.06, 1000), OF(0.02, 1000), OF(0.01, 2000)}},
        {"equal bytes are no reason to change",
         0,
         0,
         {OF(0.08, 1000), OF(0.02, 1000), OF(0.01, 2000)}},
        {"as many bytes as FP32 save nothing",
         -1,
         -1,
         {OF(0.2, 750), OF(0.2, 1000), OF(0.0, 4000)}},
        {"NaN meets no target",
         0,
         -1,
         {OF(NAN, 750), OF(INFINITY, 1000), OF(0.2, 2000)}},
        {"what cannot run is not chosen",
         0,
         2,
         {{false, 0, 0, 0}, {false, 0, 0, 0}, OF(0.01, 2000)}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(aps_auto_format_choose(&formats, cases[i].chosen, cases[i].trials) ==
               cases[i].expected,
           "%s", cases[i].what);
}

/* A layer whose error is near the margin of its cheaper format. A letter for each
 * measurement of the cheaper format: less than the target with the margin (+), less
 * than with half of it (=), more (-). The result is the layer's format. */
static void test_past(void)
{
    static const struct {
        const char *what, *measured, *formats;
    } cases[] = {
        {"noise changes it ever less often", "+-+-++-++++-++++++++-",
         "abab"
         "bab"
         "bbbab"
         "bbbbbbbab"},
        {"between both it stays", "+===-====+===", "aaaabbbbbaaaa"},
    };
    const struct aps_auto_format formats = {
        .target = APS_TARGET_SNR,
        .most = 0.1,
        .allowed = 0.05,
        .formats = {.count = 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_auto_past past = {0};
        char formats_got[256] = "";
        int chosen = 0;

        for (size_t k = 0; cases[i].measured[k]; k++) {
            const char m = cases[i].measured[k];
            const struct aps_trial trials[] = {OF(m == '+'   ? 0.04
                                                  : m == '=' ? 0.06
                                                             : 0.2,
                                                  1000),
                                               OF(0.01, 2000)};

            chosen = aps_auto_format_settle(
                &formats, &past, chosen,
                aps_auto_format_choose(&formats, chosen, trials), trials);
            formats_got[k] = (char)('a' + chosen);
        }
        is(formats_got, cases[i].formats, "%s", cases[i].what);
    }
}

/* If a layer's format misses the target, nothing waits; a calm layer begins again. */
static void test_past_ends(void)
{
    const struct aps_auto_format formats = {.target = APS_TARGET_SNR,
                                            .most = 0.1,
                                            .allowed = 0.05,
                                            .formats = {.count = 2}};
    const struct aps_trial odd[] = {OF(0.01, 1000), OF(0.2, 2000)};
    const struct aps_trial good[] = {OF(0.01, 1000), OF(0.01, 2000)};
    struct aps_auto_past past = {.rises = 5};

    ok(aps_auto_format_settle(&formats, &past, 1, 0, odd) == 0,
       "a format that misses the target is left at once");
    past = (struct aps_auto_past){.rises = 5};
    for (int k = 0; k < 64; k++)
        (void)aps_auto_format_settle(&formats, &past, 0, 0, good);
    ok(past.rises == 0, "after 64 calm measurements all is forgotten");
}

int main(void)
{
    test_rule();
    test_targets();
    test_errors();
    test_log();
    test_reach();
    test_choice();
    test_past();
    test_past_ends();
    return done_testing();
}
