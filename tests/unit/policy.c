/* SPDX-License-Identifier: BSD-3-Clause */
/* What a policy means: settings, conditions, the first match. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policytext.h"

static struct aps_policy *parse(const char *text, const char *table)
{
    struct aps_policy *policy = NULL;

    if (parse_bytes(text, strlen(text), table, &policy) < 0)
        diag("%s", all_errors());
    return policy;
}

static void resolve(const struct aps_policy *policy, long layer, long layers,
                    size_t count, long epoch, long step, struct aps_plan *plan)
{
    struct aps_plan_key place = {.layer = layer,
                                 .layers = layers,
                                 .count = count,
                                 .epoch = epoch,
                                 .step = step};

    aps_policy_resolve(policy, &place, plan);
}

static int rule_at(const struct aps_policy *policy, long layer, long layers,
                   size_t count, long epoch, long step)
{
    struct aps_plan plan;

    resolve(policy, layer, layers, count, epoch, step, &plan);
    return plan.rule;
}

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
    ok(plan.scale == APS_SCALE_APS_TIGHT &&
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

static void test_settings(void)
{
    static const struct {
        const char *text; /* of a rule in braces, without the format */
        struct aps_plan plan;
    } cases[] = {
        {"aps: on", {.scale = APS_SCALE_APS}},
        {"aps: Yes", {.scale = APS_SCALE_APS}},
        {"aps: true", {.scale = APS_SCALE_APS}},
        {"aps: off", {.scale = APS_SCALE_NONE}},
        {"aps: no", {.scale = APS_SCALE_NONE}},
        {"aps: false", {.scale = APS_SCALE_NONE}},
        {"scale: none", {.scale = APS_SCALE_NONE}},
        {"scale: 'aps'", {.scale = APS_SCALE_APS}},
        {"scale: aps-tight", {.scale = APS_SCALE_APS_TIGHT}},
        {"scale: {fixed: 1024}", {.scale = APS_SCALE_FIXED, .fixed = 1024}},
        {"scale: {fixed: 0.5}", {.scale = APS_SCALE_FIXED, .fixed = 0.5f}},
        {"scale: {fixed: 1.5e+3}", {.scale = APS_SCALE_FIXED, .fixed = 1500}},
        {"aps: on, reduce: direct",
         {.scale = APS_SCALE_APS, .reduce = APS_REDUCE_DIRECT}},
        {"aps: on, group: package",
         {.scale = APS_SCALE_APS, .group = APS_GROUP_PACKAGE}},
        {"aps: on, group: numa",
         {.scale = APS_SCALE_APS, .group = APS_GROUP_NUMA}},
        {"aps: on, group: l3", {.scale = APS_SCALE_APS, .group = APS_GROUP_L3}},
        {"aps: on, group: 4",
         {.scale = APS_SCALE_APS, .group = APS_GROUP_NUMBER, .group_size = 4}},
        {"aps: on, node: fp32",
         {.scale = APS_SCALE_APS, .node = APS_NODE_FP32}},
        {"accumulate: format",
         {.scale = APS_SCALE_APS, .accumulate = APS_ACCUMULATE_FORMAT}},
        {"accumulate: format, scale: none",
         {.scale = APS_SCALE_NONE, .accumulate = APS_ACCUMULATE_FORMAT}},
        {"accumulate: kahan",
         {.scale = APS_SCALE_APS, .accumulate = APS_ACCUMULATE_KAHAN}},
        {"accumulate: kahan, aps: off, reduce: direct",
         {.scale = APS_SCALE_NONE,
          .reduce = APS_REDUCE_DIRECT,
          .accumulate = APS_ACCUMULATE_KAHAN}},
        {"reduce: ring",
         {.scale = APS_SCALE_APS_TIGHT, .reduce = APS_REDUCE_RING}},
        {"reduce: ring, accumulate: format",
         {.scale = APS_SCALE_APS,
          .reduce = APS_REDUCE_RING,
          .accumulate = APS_ACCUMULATE_FORMAT}},
        {"reduce: master, group: 16, scale: {fixed: 2}",
         {.scale = APS_SCALE_FIXED,
          .fixed = 2,
          .reduce = APS_REDUCE_MASTER,
          .group = APS_GROUP_NUMBER,
          .group_size = 16}},
        {"reduce: master, accumulate: format",
         {.scale = APS_SCALE_APS,
          .reduce = APS_REDUCE_MASTER,
          .accumulate = APS_ACCUMULATE_FORMAT}},
        {"reduce: gather, accumulate: kahan",
         {.scale = APS_SCALE_APS,
          .reduce = APS_REDUCE_GATHER,
          .accumulate = APS_ACCUMULATE_KAHAN}},
        {"reduce: auto, group: numa, node: fp32",
         {.scale = APS_SCALE_APS_TIGHT,
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
        ok(plan.rewrite && plan.scale == want->scale &&
               plan.fixed == want->fixed &&
               plan.reduce == (strstr(cases[i].text, "reduce")
                                   ? want->reduce
                                   : APS_REDUCE_HIERARCHICAL) &&
               plan.group == want->group &&
               plan.group_size == want->group_size && plan.node == want->node &&
               plan.accumulate == want->accumulate,
           "... is what is planned");
        aps_policy_destroy(policy);
    }
}

/* Every reduction with every setting: what has a meaning is accepted. */
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
       "order may stand at the top");
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

/* Layers that a rule with `layers: TEXT` matches, as "0 1 4". */
static const char *selected(const char *layers, const char *table, long count)
{
    static char list[200];
    char text[200];
    size_t used = 0;
    struct aps_policy *policy;

    snprintf(text, sizeof text,
             "version: 1\nmin_count: 1\n%srules:\n- format: e5m2\n"
             "  layers: %s\n",
             table ? "layers: t.csv\n" : "", layers);
    policy = parse(text, table);
    if (!policy)
        return NULL;
    list[0] = '\0';
    for (long i = -1; i < 10; i++) {
        if (rule_at(policy, i, count, 1, 0, 0) == 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%ld",
                                     used > 0 ? " " : "", i);
    }
    aps_policy_destroy(policy);
    return list;
}

static void test_layers(void)
{
    static const struct {
        const char *layers;
        const char *selected;
    } without[] =
        {
            {"3", "3"},
            {"first", "0"},
            {"last", "7"},
            {"first, last", "0 7"},
            {"last-last", "7"},
            {"2-4", "2 3 4"},
            {"first-2, 2-3", "0 1 2 3"},
            {"6-", "6 7 8 9"},
            {"[0, 2-3, last]", "0 2 3 7"},
            {"'1, 5'", "1 5"},
        },
      with[] = {
          {"3", "3"},
          {"last", "4"},
          {"first", "0"},
          {"2-last", "2 3 4"},
          {"3-", "3 4"},
          {"0-4", "0 1 2 3 4"},
          {"fc.weight", "4"},
          {"conv?.weight", "0 2"},
          {"'*'", "0 1 2 3 4"},
          {"'*.bias'", "3"},
          {"conv[1-2].*", "0 2 3"},
          {"conv[!1].*", "2 3"},
          {"0-1, conv2.*", "0 1 2 3"},
          {"['*.weight', 3]", "0 1 2 3 4"},
      };

    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        is(selected(without[i].layers, NULL, 8), without[i].selected,
           "layers: %s, of 8", without[i].layers);
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++)
        is(selected(with[i].layers, TABLE, 5), with[i].selected,
           "layers: %s, of the table", with[i].layers);
    is(selected("1,\n    5", NULL, 8), "1 5", "layers on two lines");
    is(selected("|\n    1,\n    5", NULL, 8), "1 5", "layers as a literal");
    is(selected("last", NULL, 0), "",
       "no layer is the last while their number is not known");
    is(selected("'a, b'", "layer,name,count\n0,\"a, b\",5\n", 1), NULL,
       "a text with a comma is two names");
    is(selected("['a, b']", "layer,name,count\n0,\"a, b\",5\n", 1), "0",
       "an item of a list is one");
    is(selected("['w[0]']", "layer,name,count\n0,w[0],5\n1,w0,5\n", 2), "0 1",
       "a name that looks like a pattern is both");
}

static void test_first_match(void)
{
    struct aps_policy *policy =
        parse("version: 1\n"
              "steps: {per_epoch: 10}\n"
              "rules:\n"
              "  - {layers: last, format: fp32}\n"
              "  - {epochs: '0-2, 5', format: e5m10}\n"
              "  - {steps: 35-39, layers: 0-4, format: e8m7}\n"
              "  - {min_count: 4000, max_count: 8000, format: e4m3}\n"
              "  - {epochs: 8-, format: e5m2}\n",
              NULL);
    char text[64];

    if (!ok(policy != NULL, "five rules"))
        return;
    ok(rule_at(policy, 7, 8, 5000, 0, 0) == 0, "the last layer");
    ok(rule_at(policy, 6, 8, 5000, 0, 0) == 1 &&
           rule_at(policy, 6, 8, 5000, 2, 29) == 1 &&
           rule_at(policy, 6, 8, 5000, 5, 50) == 1,
       "the first epochs");
    ok(rule_at(policy, 4, 8, 5000, 3, 35) == 2 &&
           rule_at(policy, 5, 8, 5000, 3, 35) == 3 &&
           rule_at(policy, 4, 8, 5000, 4, 40) == 3,
       "both conditions of a rule must hold");
    ok(rule_at(policy, 5, 8, 3999, 3, 30) == -1 &&
           rule_at(policy, 5, 8, 4000, 3, 30) == 3 &&
           rule_at(policy, 5, 8, 8000, 3, 30) == 3 &&
           rule_at(policy, 5, 8, 8001, 3, 30) == -1,
       "counts, both ends included");
    ok(rule_at(policy, 5, 8, 2000, 8, 80) == 4 &&
           rule_at(policy, 5, 8, 2000, 99999, 999990) == 4,
       "an open end");
    ok(rule_at(policy, 5, 8, 1000, 8, 80) == -1, "below min_count: none");
    ok(aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 0) == 3 &&
           aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 3) == 5 &&
           aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 5) == 6 &&
           aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 6) == 8 &&
           aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 8) == -1,
       "the epochs at which plans change");
    ok(aps_policy_next_step(policy, APS_CALL_ALLREDUCE, 0) == 35 &&
           aps_policy_next_step(policy, APS_CALL_ALLREDUCE, 35) == 40 &&
           aps_policy_next_step(policy, APS_CALL_ALLREDUCE, 40) == -1,
       "the steps at which plans change");
    ok(aps_policy_rules(policy) == 5 && aps_policy_rule_line(policy, 0) == 4 &&
           aps_policy_rule_line(policy, 4) == 8,
       "rules know their lines");
    is(aps_policy_rule_when(policy, 0, APS_CALL_ALLREDUCE, text, sizeof text),
       "layers last", "when: the last layer");
    is(aps_policy_rule_when(policy, 1, APS_CALL_ALLREDUCE, text, sizeof text),
       "epochs 0-2, 5", "when: epochs");
    is(aps_policy_rule_when(policy, 2, APS_CALL_ALLREDUCE, text, sizeof text),
       "layers 0-4; steps 35-39", "when: layers and steps");
    is(aps_policy_rule_when(policy, 3, APS_CALL_ALLREDUCE, text, sizeof text),
       "count >= 4000; count <= 8000", "when: counts");
    is(aps_policy_rule_when(policy, 3, APS_CALL_ALLREDUCE, text, 10),
       "count >= ", "when: cut to the space there is");
    aps_policy_destroy(policy);
}

/* The rule for such a call of 5000 elements at epoch 0, step 0. */
static int rule_for(const struct aps_policy *policy, enum aps_call_kind call,
                    long layer)
{
    struct aps_plan_key place = {
        .call = call, .layer = layer, .layers = 8, .count = 5000};
    struct aps_plan plan;

    aps_policy_resolve(policy, &place, &plan);
    return plan.rule;
}

static void test_call_words(void)
{
    static const struct {
        const char *text;
        const char
            *calls; /* a letter each: aLl-reduce, Scatter, Gather, Root */
    } cases[] = {
        {"allreduce", "l..."},
        {"reduce_scatter", ".s.."},
        {"allgather", "..g."},
        {"reduce", "...r"},
        {"[reduce]", "...r"},
        {"'reduce, allreduce'", "l..r"},
        {"[allreduce, reduce_scatter, allgather, reduce]", "lsgr"},
        {"[reduce, 'allgather']", "..gr"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_policy *policy;
        char text[200], calls[APS_CALL_KINDS + 1] = "....";

        snprintf(text, sizeof text, RULE "{format: e5m2, calls: %s}\n",
                 cases[i].text);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "calls: %s", cases[i].text))
            continue;
        for (int call = 0; call < APS_CALL_KINDS; call++) {
            bool listed = (aps_policy_rule_calls(policy, 0) >> call & 1) != 0;
            int rule = rule_for(policy, (enum aps_call_kind)call, -1);

            if (listed != (rule == 0))
                calls[call] = '?';
            else if (listed)
                calls[call] = "lsgr"[call];
        }
        is(calls, cases[i].calls, "... and these calls match it, no others");
        aps_policy_destroy(policy);
    }
}

/* One rule for several calls plans what has a meaning for each. */
static void test_call_plans(void)
{
    struct aps_policy *policy =
        parse(RULE "{calls: [allreduce, reduce_scatter, allgather, reduce],\n"
                   "     format: e4m3, accumulate: format, group: 4,\n"
                   "     reduce: master}\n",
              NULL);
    struct aps_plan_key place = {.layer = -1, .count = 5000};
    struct aps_plan plan;

    if (!ok(policy != NULL, "a rule for all calls"))
        return;
    place.call = APS_CALL_ALLREDUCE;
    aps_policy_resolve(policy, &place, &plan);
    ok(plan.rewrite && plan.reduce == APS_REDUCE_MASTER &&
           plan.group == APS_GROUP_NUMBER && plan.group_size == 4 &&
           plan.accumulate == APS_ACCUMULATE_FORMAT,
       "an all-reduce gets all of it");
    for (int call = APS_CALL_REDUCE_SCATTER; call < APS_CALL_KINDS; call++) {
        place.call = (enum aps_call_kind)call;
        aps_policy_resolve(policy, &place, &plan);
        ok(plan.rewrite && plan.rule == 0 && plan.scale == APS_SCALE_APS &&
               plan.reduce == APS_REDUCE_DIRECT &&
               plan.group == APS_GROUP_NODE && plan.group_size == 0 &&
               plan.node == APS_NODE_FORMAT &&
               plan.accumulate == (call == APS_CALL_ALLGATHER
                                       ? APS_ACCUMULATE_FP32
                                       : APS_ACCUMULATE_FORMAT),
           "%s: one way, no groups", aps_call_name((enum aps_call_kind)call));
    }
    aps_policy_destroy(policy);
    policy = parse(RULE "{calls: [reduce_scatter, reduce], format: e4m3,\n"
                        "     accumulate: kahan}\n"
                        "  - {calls: allgather, format: e4m3,\n"
                        "     accumulate: fp32}\n",
                   NULL);
    ok(policy != NULL, "sums as all of them can be had");
    aps_policy_destroy(policy);
}

/* Rules for other calls change nothing for all-reduces, nor these for them. */
static void test_call_rules(void)
{
    struct aps_policy *policy =
        parse("version: 1\n"
              "steps: {calls: 8, per_epoch: 10}\n"
              "rules:\n"
              "  - {calls: [reduce, allgather], format: e5m2}\n"
              "  - {calls: [allreduce, reduce_scatter], layers: 2, "
              "format: e4m3}\n"
              "  - {calls: reduce_scatter, epochs: 3-, format: e3m0}\n"
              "  - {epochs: 5-, format: e4m3}\n"
              "  - {format: e5m2}\n",
              NULL);

    ok(!policy, "a rule behind one whose layers do not limit it");
    is(all_errors(),
       "6:5: this rule is unreachable: the rules up to line 5 match all its "
       "calls",
       "... is unreachable");
    policy = parse("version: 1\n"
                   "steps: {calls: 8, per_epoch: 10}\n"
                   "rules:\n"
                   "  - {calls: [reduce, allgather], format: e5m2}\n"
                   "  - {calls: reduce_scatter, epochs: 3-, steps: 40-, "
                   "format: e3m0}\n"
                   "  - {calls: [allreduce, reduce_scatter], layers: 2, "
                   "format: e4m3}\n"
                   "  - {epochs: 5-, format: e4m3}\n"
                   "  - {format: e5m2}\n",
                   NULL);
    char text[64];

    if (!ok(policy != NULL, "all-reduces behind a rule for other calls"))
        return;
    ok(rule_for(policy, APS_CALL_ALLREDUCE, 2) == 2 &&
           rule_for(policy, APS_CALL_ALLREDUCE, 3) == 4,
       "... get their own rules");
    ok(rule_for(policy, APS_CALL_REDUCE, -1) == 0 &&
           rule_for(policy, APS_CALL_ALLGATHER, -1) == 0,
       "... the others theirs");
    ok(rule_for(policy, APS_CALL_REDUCE_SCATTER, -1) == 2,
       "layers do not limit other calls");
    ok(aps_policy_next_epoch(policy, APS_CALL_ALLREDUCE, 0) == 5 &&
           aps_policy_next_epoch(policy, APS_CALL_REDUCE_SCATTER, 0) == 3 &&
           aps_policy_next_epoch(policy, APS_CALL_REDUCE, 0) == -1,
       "epochs at which plans change, by call");
    ok(aps_policy_next_step(policy, APS_CALL_ALLREDUCE, 0) == -1 &&
           aps_policy_next_step(policy, APS_CALL_REDUCE_SCATTER, 0) == 40 &&
           !aps_policy_by_step(policy, APS_CALL_ALLREDUCE) &&
           aps_policy_by_step(policy, APS_CALL_REDUCE_SCATTER),
       "steps at which plans change, by call");
    is(aps_policy_rule_when(policy, 2, APS_CALL_ALLREDUCE, text, sizeof text),
       "layers 2", "when: an all-reduce");
    is(aps_policy_rule_when(policy, 2, APS_CALL_REDUCE_SCATTER, text,
                            sizeof text),
       "always", "when: another call");
    aps_policy_destroy(policy);
}

static void test_names(void)
{
    is(aps_call_name(APS_CALL_REDUCE_SCATTER), "reduce_scatter",
       "a call's name");
    is(aps_progress_name(APS_PROGRESS_THREAD), "thread", "a progress's name");
    is(aps_scale_name(APS_SCALE_APS_TIGHT), "aps-tight", "a scale's name");
    is(aps_scale_name(APS_SCALE_FIXED), "fixed", "another's");
    is(aps_reduce_name(APS_REDUCE_DIRECT), "direct", "a reduction's name");
    is(aps_reduce_name(APS_REDUCE_AUTO), "auto", "another's");
    is(aps_group_name(APS_GROUP_NUMA), "numa", "a group's name");
    is(aps_group_name(APS_GROUP_NUMBER), "number", "a numbered group's");
    is(aps_node_name(APS_NODE_FP32), "fp32", "a node's name");
    is(aps_accumulate_name(APS_ACCUMULATE_FORMAT), "format",
       "an accumulation's name");
    is(aps_accumulate_name(APS_ACCUMULATE_KAHAN), "kahan", "another's");
}

/* --- anything at all ----------------------------------------------------- */

static const char sample[] =
    "version: 1\n"
    "steps: {calls: 5, per_epoch: 156, order: backward}\n"
    "layers: t.csv   # a table \xc3\xa4\n"
    "log: {file: \"round\\u006fff.csv\", every: 100}\n"
    "min_count: 10\n"
    "progress: thread\n"
    "fuse: 4 MiB\n"
    "rules:\n"
    "  - calls: [allgather, reduce]\n"
    "    format: e4m3\n"
    "  - layers: [last, '*.bias']\n"
    "    format: fp32\n"
    "  - epochs: 0-29, 40-\n"
    "    steps: 7-\n"
    "    format: fp32\n"
    "  - layers: 0-1, conv[1-2].*\n"
    "    format: e4m3\n"
    "    scale: {fixed: 1.5e3}\n"
    "    group: 4\n"
    "  - format: e5m2\n"
    "    aps: on\n"
    "    reduce: direct\n";

/* Parse a copy without room behind it, so that a tool can see a read there. */
static bool try_text(const char *text, size_t length)
{
    struct aps_policy *policy = NULL;
    char *copy = malloc(length ? length : 1);
    int result;

    if (!copy)
        bail_out("out of memory");
    memcpy(copy, text, length);
    result = parse_bytes(copy, length, TABLE, &policy);
    free(copy);
    if (result == 0) {
        struct aps_plan plan;

        resolve(policy, 0, 5, 9408, 3, 500, &plan);
        aps_policy_destroy(policy);
        return errors.count == 0;
    }
    return errors.count > 0 && !policy;
}

static void test_truncated(void)
{
    bool sound = true;

    for (size_t length = 0; length < sizeof sample; length++)
        sound &= try_text(sample, length);
    ok(sound, "a policy cut anywhere parses or says why not");
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void test_mutated(void)
{
    static const char spice[] = "{}[]:,-&*!|>'\"%@`#?\n\t \\0a\xff\xc3\x01~<";
    uint32_t state = 1;
    bool sound = true;
    int parsed = 0;

    for (int round = 0; round < 2000; round++) {
        char text[sizeof sample];
        size_t length = sizeof sample - 1;

        memcpy(text, sample, sizeof sample);
        for (uint32_t n = 1 + draw(&state) % 4; n > 0; n--) {
            size_t at = draw(&state) % length;

            switch (draw(&state) % 3) {
            case 0: /* another byte */
                text[at] = spice[draw(&state) % (sizeof spice - 1)];
                break;
            case 1: /* a byte less */
                memmove(text + at, text + at + 1, length - at - 1);
                length--;
                break;
            default: /* two bytes from elsewhere */
                memmove(text + at, text + draw(&state) % (length - 2),
                        length - at < 2 ? 1 : 2);
                break;
            }
        }
        sound &= try_text(text, length);
        parsed += errors.count == 0;
    }
    ok(sound, "2000 mutations of a policy parse or say why not");
    ok(parsed > 0 && parsed < 2000, "... some of either (%d parse)", parsed);
}

static void test_gemm(void)
{
    static const char text[] =
        "version: 1\n"
        "gemm: {format: bf16, accumulator: e8m23, kahan: on}\n";
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

    static const char defaults[] = RULE "format: e5m2\n"
                                        "gemm: {format: e5m2}\n";
    if (!ok(parse_bytes(defaults, strlen(defaults), NULL, &policy) == 0,
            "it may stand beside rules"))
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

int main(void)
{
    test_defaults();
    test_pcontrol();
    test_settings();
    test_combinations();
    test_fp32();
    test_top();
    test_nonblocking();
    test_steps_kinds();
    test_layers();
    test_first_match();
    test_call_words();
    test_call_plans();
    test_call_rules();
    test_names();
    test_gemm();
    test_truncated();
    test_mutated();
    return done_testing();
}
