/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of the keys at the top of a policy, and the names of its keywords. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "rules/gemm.h"
#include "yaml/version.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

static void test_defaults(void)
{
    struct aps_policy *policy = parse(RULE "format: e5m2\n", NULL);
    struct aps_plan plan;

    if (!ok(policy != NULL, "one rule makes a policy"))
        return;
    ok(aps_policy_steps(policy)->kind == APS_STEPS_NONE &&
           aps_policy_steps(policy)->calls == 0 &&
           aps_policy_steps(policy)->per_epoch == 0 &&
           !aps_policy_steps(policy)->backward,
       "it needs no step");
    ok(!aps_policy_log(policy)->file && aps_policy_log(policy)->every == 100,
       "there is no log");
    ok(aps_policy_min_count(policy) == 1024, "min_count is 1024");
    ok(aps_policy_pcontrol(policy), "MPI_Pcontrol is listened to");
    ok(!aps_policy_layers(policy) &&
           !aps_policy_by_step(policy, APS_CALL_ALLREDUCE),
       "nothing depends on layers or steps");
    resolve(policy, -1, 0, 1024, 0, 0, &plan);
    ok(plan.rewrite && plan.rule == 0, "every call matches");
    is(plan.format.name, "e5m2", "the format");
    ok(plan.scale.kind == APS_SCALE_APS_TIGHT &&
           plan.reduce == APS_REDUCE_HIERARCHICAL &&
           plan.group == APS_GROUP_NODE && plan.node == APS_NODE_FORMAT &&
           plan.accumulate == APS_ACCUMULATE_FP32,
       "aps-tight, hierarchical, node, format, fp32");
    resolve(policy, -1, 0, 1023, 0, 0, &plan);
    ok(!plan.rewrite && plan.rule == -1,
       "fewer than min_count elements do not");
    ok(aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 0) == -1 &&
           aps_policy_next_step(policy, APS_CALL_ALLREDUCE, 0) == -1,
       "nothing ever changes");
    ok(aps_policy_progress(policy) == APS_PROGRESS_CALLS &&
           aps_policy_fuse(policy) == 0,
       "the program drives nonblocking calls, each alone");
    ok(aps_policy_threads(policy) == 1, "a rank has one thread");
    ok(aps_policy_rule_calls(policy, 0) == 1u << APS_CALL_ALLREDUCE,
       "the rule is for all-reduces");
    aps_policy_destroy(policy);
    aps_policy_destroy(NULL);
}

static void test_pcontrol(void)
{
    static const struct {
        const char *text;
        bool on;
    } cases[] = {{"on", true}, {"yes", true}, {"off", false}, {"no", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct aps_policy *policy;

        snprintf(text, sizeof text, "pcontrol: %s\n" RULE "format: e5m2\n",
                 cases[i].text);
        policy = parse(text, NULL);
        ok(policy && aps_policy_pcontrol(policy) == cases[i].on, "pcontrol: %s",
           cases[i].text);
        aps_policy_destroy(policy);
    }
}

static void test_top(void)
{
    struct aps_policy *policy =
        parse("version: 1\n"
              "min_count: 0\n"
              "log: {file: a b.csv, every: 7}\n"
              "steps: {calls: 4, per_epoch: 10, order: backward}\n"
              "rules:\n  - {format: e5m2, layers: last}\n",
              NULL);

    if (!ok(policy != NULL, "all keys"))
        return;
    ok(aps_policy_min_count(policy) == 0, "min_count");
    is(aps_policy_log(policy)->file, "a b.csv", "log file");
    ok(aps_policy_log(policy)->every == 7, "log every");
    ok(aps_policy_steps(policy)->kind == APS_STEPS_CALLS &&
           aps_policy_steps(policy)->calls == 4 &&
           aps_policy_steps(policy)->per_epoch == 10 &&
           aps_policy_steps(policy)->backward,
       "steps");
    ok(rule_at(policy, 3, 4, 1, 0, 0) == 0 &&
           rule_at(policy, 2, 4, 1, 0, 0) == -1,
       "last is the last of the calls");
    aps_policy_destroy(policy);
    policy = parse("order: backward\n" RULE "format: e5m2\n", NULL);
    ok(policy && aps_policy_steps(policy)->backward,
       "order is allowed at the top");
    is(all_warnings(),
       "1:1: warning: 'order' has its place in 'steps': steps: {order: "
       "backward}",
       "... where it is a warning");
    aps_policy_destroy(policy);
    policy = parse("\xef\xbb\xbfsteps: auto\n" TOP "- format: e5m2\n", NULL);
    ok(policy && aps_policy_steps(policy)->kind == APS_STEPS_NONE,
       "a byte order mark; steps: auto is the default");
    aps_policy_destroy(policy);
}

static void test_nonblocking(void)
{
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"off", 0},
        {"Off", 0},
        {"0", 0},
        {"0GiB", 0},
        {"1", 1},
        {"4194304", 4194304},
        {"1KiB", 1024},
        {"4MiB", 4194304},
        {"4 MiB", 4194304},
        {"'0004  MiB'", 4194304},
        {"1536KiB", 1572864},
        {"1GiB", 1073741824},
        {"1048576KiB", 1073741824},
        {"1073741824", 1073741824},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_policy *policy;
        char text[200];

        snprintf(text, sizeof text, "fuse: %s\n" RULE "format: e5m2\n",
                 cases[i].text);
        policy = parse(text, NULL);
        ok(policy && aps_policy_fuse(policy) == cases[i].bytes,
           "fuse: %s is %zu bytes", cases[i].text, cases[i].bytes);
        aps_policy_destroy(policy);
    }
    for (int kind = APS_PROGRESS_CALLS; kind <= APS_PROGRESS_THREAD; kind++) {
        const char *name = aps_progress_name((enum aps_progress_kind)kind);
        struct aps_policy *policy;
        char text[200];

        snprintf(text, sizeof text, "progress: %s\n" RULE "format: e5m2\n",
                 name);
        policy = parse(text, NULL);
        ok(policy && (int)aps_policy_progress(policy) == kind &&
               aps_policy_steps(policy)->kind == APS_STEPS_NONE,
           "progress: %s", name);
        aps_policy_destroy(policy);
    }
}

static void test_steps_kinds(void)
{
    static const struct {
        const char *what;
        const char *text;
        enum aps_steps_kind kind;
        bool by_step;
    } cases[] = {
        {"counts alone", RULE "{format: e5m2, min_count: 5000}\n",
         APS_STEPS_NONE, false},
        {"layers", RULE "{format: e5m2, layers: 0}\n", APS_STEPS_AUTO, false},
        {"all layers", RULE "{format: e5m2, layers: all}\n", APS_STEPS_NONE,
         false},
        {"all layers and others", RULE "{format: e5m2, layers: [3, all]}\n",
         APS_STEPS_NONE, false},
        {"epochs", EPOCH_RULE "{format: e5m2, epochs: 0}\n", APS_STEPS_AUTO,
         false},
        {"steps", RULE "{format: e5m2, steps: 0}\n", APS_STEPS_AUTO, true},
        {"other calls", RULE "{format: e5m2, calls: reduce}\n", APS_STEPS_NONE,
         false},
        {"epochs of other calls",
         EPOCH_RULE "{format: e5m2, calls: reduce, epochs: 0}\n",
         APS_STEPS_AUTO, false},
        {"steps of other calls",
         RULE "{format: e5m2, calls: reduce, steps: 0}\n", APS_STEPS_AUTO,
         false},
        {"steps of other calls too",
         RULE "{format: e5m2, calls: [reduce, allreduce], steps: 0}\n",
         APS_STEPS_AUTO, true},
        {"stated calls", "steps: {calls: 3}\n" RULE "format: e5m2\n",
         APS_STEPS_CALLS, false},
        {"a table", NAMED_RULE "format: e5m2\n", APS_STEPS_TABLE, false},
        {"a table and calls", "steps: {calls: 3}\n" NAMED_RULE "format: e5m2\n",
         APS_STEPS_TABLE, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_policy *policy = parse(cases[i].text, TABLE);

        ok(policy && aps_policy_steps(policy)->kind == cases[i].kind &&
               aps_policy_by_step(policy, APS_CALL_ALLREDUCE) ==
                   cases[i].by_step,
           "the kind of step: %s", cases[i].what);
        aps_policy_destroy(policy);
    }
}

static void test_names(void)
{
    is(aps_call_name(APS_CALL_REDUCE_SCATTER), "reduce_scatter",
       "a call's name");
    is(aps_progress_name(APS_PROGRESS_THREAD), "thread", "a progress's name");
    is(aps_reduce_name(APS_REDUCE_DIRECT), "direct", "a reduction's name");
    is(aps_reduce_name(APS_REDUCE_AUTO), "auto", "another's");
    is(aps_group_name(APS_GROUP_NUMA), "numa", "a group's name");
    is(aps_group_name(APS_GROUP_NUMBER), "number", "a numbered group's");
    is(aps_node_name(APS_NODE_FP32), "fp32", "a node's name");
    is(aps_accumulate_name(APS_ACCUMULATE_FORMAT), "format",
       "an accumulation's name");
    is(aps_accumulate_name(APS_ACCUMULATE_KAHAN), "kahan", "another's");
}

static void test_gemm(void)
{
    static const char text[] =
        "version: 1\n"
        "gemm: {format: bf16, accumulate: {format: e8m23, kahan: on}}\n";
    const struct aps_policy_gemm *gemm;
    struct aps_policy *policy;
    struct aps_plan plan;

    if (!ok(parse_bytes(text, strlen(text), NULL, &policy) == 0,
            "a policy for products alone needs no rules"))
        return;
    gemm = aps_policy_gemm(policy);
    ok(gemm && gemm->rewrite && gemm->kahan, "... says how to compute them");
    is(gemm->format.name, "e8m7", "... in which format");
    is(gemm->accumulator.name, "e8m23", "... summed in which");
    aps_policy_resolve(policy, &(struct aps_plan_key){.count = 1 << 20}, &plan);
    ok(!plan.rewrite && plan.rule == -1, "... and leaves calls to MPI");
    aps_policy_destroy(policy);

    static const struct {
        const char *text, *sums;
        bool kahan;
        int chunk;
    } words[] = {
        {"accumulate: fp32", "e8m23", false, 0},
        {"accumulate: format", "e5m2", false, 0},
        {"accumulate: kahan", "e5m2", true, 0},
        {"accumulate: {kahan: on}", "e5m2", true, 0},
        {"accumulate: {format: bf16}", "e8m7", false, 0},
        {"accumulate: {chunk: 64}", "e5m2", false, 64},
        {"accumulate: {format: fp32, chunk: 2^7}", "e8m23", false, 128},
        {"format_b: e5m2", "e5m2", false, 0},
        {"accumulator: bf16, kahan: yes", "e8m7", true, 0}, /* old keywords */
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char line[200];

        snprintf(line, sizeof line, "version: 1\ngemm: {format: e5m2, %s}\n",
                 words[i].text);
        policy = parse(line, NULL);
        if (!ok(policy != NULL, "products: %s", words[i].text))
            continue;
        gemm = aps_policy_gemm(policy);
        is(gemm->accumulator.name, words[i].sums, "... summed in which format");
        ok(gemm->kahan == words[i].kahan, "... with Kahan's sum or without");
        ok(gemm->chunk == words[i].chunk, "... in chunks or not");
        ok((errors.warning_count > 0) ==
               (strncmp(words[i].text, "accumulator", 11) == 0),
           "... an old word is a warning");
        aps_policy_destroy(policy);
    }

    static const char blocks[] =
        "version: 1\ngemm: {format: hbfp8/64, format_b: hbfp16/64}\n";
    if (!ok(parse_bytes(blocks, strlen(blocks), NULL, &policy) == 0,
            "products in blocks"))
        return;
    gemm = aps_policy_gemm(policy);
    is(gemm->format.name, "bfp7/64", "... in the format of one operand");
    is(gemm->format_b.name, "bfp15/64", "... and of the other");
    is(gemm->accumulator.name, "e8m23", "... with sums in FP32");
    ok(gemm->rounding == APS_ROUND_NEAREST, "... rounded to nearest");
    aps_policy_destroy(policy);

    static const char drawn[] = "version: 1\ngemm: {format: hbfp4/64, "
                                "rounding: {stochastic: {seed: 5}}}\n";
    if (!ok(parse_bytes(drawn, strlen(drawn), NULL, &policy) == 0,
            "products of operands that are rounded stochastically"))
        return;
    gemm = aps_policy_gemm(policy);
    ok(gemm->rounding == APS_ROUND_STOCHASTIC && gemm->seed == 5,
       "... by a seed");
    aps_policy_destroy(policy);

    static const char defaults[] = RULE "format: e5m2\n"
                                        "gemm: {format: e5m2}\n";
    if (!ok(parse_bytes(defaults, strlen(defaults), NULL, &policy) == 0,
            "rules may follow it"))
        return;
    gemm = aps_policy_gemm(policy);
    ok(gemm && gemm->rewrite && !gemm->kahan, "... without Kahan by default");
    is(gemm->accumulator.name, "e5m2", "... summed in the same format");
    aps_policy_destroy(policy);

    static const char fp32[] = "version: 1\ngemm: {format: fp32}\n";
    if (!ok(parse_bytes(fp32, strlen(fp32), NULL, &policy) == 0,
            "fp32 is a setting too"))
        return;
    gemm = aps_policy_gemm(policy);
    ok(gemm && !gemm->rewrite, "... that leaves products alone");
    aps_policy_destroy(policy);

    static const char none[] = RULE "format: e5m2\n";
    if (!ok(parse_bytes(none, strlen(none), NULL, &policy) == 0,
            "no section is right"))
        return;
    ok(!aps_policy_gemm(policy), "... and says nothing of products");
    aps_policy_destroy(policy);
}

static void test_gemm_rules(void)
{
    static const char text[] =
        "version: 1\ngemm:\n  - {dimensions: [10, 784-], format: fp32}\n"
        "  - {products: 0-99, format: bfp3/64}\n  - {format: bfp5/64}\n";
    const struct aps_policy_gemm *gemm, *rule;
    struct aps_policy *policy = parse(text, NULL);

    if (!ok(policy != NULL, "rules for products"))
        return;
    gemm = aps_policy_gemm(policy);
    ok(!aps_gemm_rule(gemm, 0, 10, 64, 64), "... a size in FP32");
    ok(!aps_gemm_rule(gemm, 0, 64, 1000, 64), "... another");
    ok(!aps_gemm_rule(gemm, 0, 64, 64, 784), "... the inner one");
    rule = aps_gemm_rule(gemm, 99, 64, 64, 64);
    is(rule ? rule->format.name : "none", "bfp3/64", "... by its number");
    rule = aps_gemm_rule(gemm, 100, 64, 64, 64);
    is(rule ? rule->format.name : "none", "bfp5/64", "... the last rule");
    aps_policy_destroy(policy);
}

/* Of 10,001 rules in a list, with `key` before them. */
static void test_many_rules(const char *key)
{
    static char text[4 * 10001 + 64], wanted[64];
    size_t length =
        (size_t)snprintf(text, sizeof text, "version: 1\n%s: [{}", key);

    for (int i = 0; i < 10000; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, ",{}");
    snprintf(text + length, sizeof text - length, "]\n");
    snprintf(wanted, sizeof wanted, "'%s' has 10001 rules; the most is 10000",
             key);
    ok(!parse(text, NULL) && errors.count == 1, "10,001 rules: one error");
    is(errors.count > 0 ? errors.list[0].text : "none", wanted, "... says so");
}

/* Keys of other tools are allowed in every mapping, with any value. */
static void test_ignored(void)
{
    struct aps_policy *policy =
        parse("version: 1\n"
              "x-list: [1, {a: b}]\n"
              "x_b: 1\n"
              "log: {file: a.csv, x-why: because}\n"
              "steps: {calls: 3, x-n: 1, x-n: 2}\n"
              "gemm: {format: e5m2, x-a: b, accumulate: {kahan: on, x-b: c}}\n"
              "rules:\n"
              "  - {x-by: me, format: e5m2, reduce: {master: {x-g: 1}}}\n",
              NULL);

    ok(policy && errors.warning_count == 0, "x- keys are ignored everywhere");
    aps_policy_destroy(policy);
}

static void test_log(void)
{
    struct aps_policy *policy =
        parse("log: a.csv\n" RULE "format: e5m2\n", NULL);

    if (!ok(policy != NULL, "a log may be a file alone"))
        return;
    is(aps_policy_log(policy)->file, "a.csv", "... its name");
    ok(aps_policy_log(policy)->every == 100, "... and the default of `every`");
    aps_policy_destroy(policy);
}

static void test_needs(void)
{
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {
        {"0.9", "0.10", -1},      {"0.10", "0.9", 1},  {"1", "1.0.0", 0},
        {"0.2", "0.1.0", 1},      {"0.1", "0.1.0", 0}, {"0.1.0", "0.1.1", -1},
        {"01.002", "1.2", 0},     {"2", "10", -1},     {"0.2", "0.2-rc1", 0},
        {"0.1.9", "0.2-rc1", -1}, {"", "0", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int order = aps_version_compare(cases[i].a, cases[i].b);

        ok((order > 0) - (order < 0) == cases[i].order, "version %s and %s",
           cases[i].a, cases[i].b);
    }
    struct aps_policy *policy =
        parse("needs: " PACKAGE_VERSION "\n" RULE "format: e5m2\n", NULL);

    ok(policy != NULL, "a policy that needs this version");
    aps_policy_destroy(policy);
}

static void test_rule_names(void)
{
    struct aps_policy *policy =
        parse(RULE "{name: conv-1_a.B, max_count: 2000, format: e5m2}\n"
                   "  - {format: e4m3}\n",
              NULL);

    if (!ok(policy != NULL, "a rule may have a name"))
        return;
    is(aps_policy_rule_name(policy, 0), "conv-1_a.B", "... and keeps it");
    ok(!aps_policy_rule_name(policy, 1), "... or may have none");
    aps_policy_destroy(policy);
}

static void test_warnings(void)
{
    struct aps_policy *policy =
        parse("version: 1\nmin_count: 5000\nrules:\n"
              "  - {min_count: 9, max_count: 7000, format: e5m2}\n"
              "  - {min_count: 4999, format: e4m3}\n",
              NULL);

    ok(policy != NULL, "a policy with warnings is accepted");
    is(all_warnings(),
       "4:6: warning: min_count 9 has no effect: calls and layers of fewer "
       "than 5000 elements match no rule (min_count next to 'rules')\n"
       "5:6: warning: min_count 4999 has no effect: calls and layers of fewer "
       "than 5000 elements match no rule (min_count next to 'rules')",
       "... and they are reported by place");
    aps_policy_destroy(policy);
    policy = parse(NAMED_RULE "{min_count: 9, format: e5m2}\n", TABLE);
    ok(policy && errors.warning_count == 1, "... also beside a layer table");
    aps_policy_destroy(policy);
    policy = parse(RULE "{max_count: 1023, format: fp32}\n"
                        "  - {format: e4m3}\n",
                   NULL);
    is(all_warnings(),
       "3:17: warning: the rule has no effect: max_count 1023 is below the "
       "policy's min_count 1024, and layers of fewer elements are left to MPI "
       "anyway",
       "a rule may say that small layers are left to MPI");
    aps_policy_destroy(policy);
}

static void test_threads(void)
{
    static const char *const texts[] = {"1", "'2'", "64", "auto"};
    static const int threads[] = {1, 2, 64, APS_THREADS_AUTO};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[200];
        struct aps_policy *policy;

        snprintf(text, sizeof text, "threads: %s\n" RULE "format: e5m2\n",
                 texts[i]);
        policy = parse(text, NULL);
        ok(policy && aps_policy_threads(policy) == threads[i], "threads: %s",
           texts[i]);
        aps_policy_destroy(policy);
    }
}

int main(void)
{
    test_defaults();
    test_threads();
    test_pcontrol();
    test_top();
    test_nonblocking();
    test_steps_kinds();
    test_names();
    test_gemm();
    test_gemm_rules();
    test_many_rules("gemm");
    test_many_rules("rules");
    test_ignored();
    test_log();
    test_needs();
    test_rule_names();
    test_warnings();
    return done_testing();
}
