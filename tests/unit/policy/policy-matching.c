/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that matches: layers, epochs, steps, counts, calls. */
#include "config.h"

#include <stdio.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

/* Returns the layers that a rule with `layers: TEXT` matches, as "0 1 4". */
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

/* Rules are for the types of gradients, or for those that they name. */
/* A rule for communicators of some sizes. */
static void test_communicators(void)
{
    static const int ranks[] = {0, 1, 2, 3, 4, 5, 16};
    static const bool taken[] = {true, false, true, true, false, false, true};
    struct aps_policy *policy =
        parse(RULE "{communicators: [2-3, 8-], format: e5m2}\n", NULL);
    char text[64];
    bool right = true;

    for (size_t i = 0; policy && i < sizeof ranks / sizeof *ranks; i++) {
        struct aps_plan plan;

        aps_policy_resolve(policy,
                           &(struct aps_plan_key){
                               .ranks = ranks[i], .layer = -1, .count = 4096},
                           &plan);
        right &= plan.rewrite == taken[i];
    }
    ok(policy && right, "rules for communicators of some sizes");
    is(aps_policy_rule_when(policy, 0, APS_CALL_ALLREDUCE, text, sizeof text),
       "ranks 2-3, 8-", "... whose sizes are shown");
    aps_policy_destroy(policy);
}

static void test_types(void)
{
    static const bool taken[2][APS_ELEMENTS] = {{true, true, true, false},
                                                {false, false, true, true}};
    static const char *const rules[] = {
        "format: e5m2", "{types: [fp16, double], format: e5m2}"};

    for (int i = 0; i < 2; i++) {
        struct aps_policy *policy;
        char text[128];
        bool right = true;

        snprintf(text, sizeof text, RULE "%s\n", rules[i]);
        policy = parse(text, NULL);
        for (int element = 0; policy && element < APS_ELEMENTS; element++) {
            const struct aps_plan_key key = {.element =
                                                 (enum aps_element)element,
                                             .layer = -1,
                                             .count = 4096};
            struct aps_plan plan;

            aps_policy_resolve(policy, &key, &plan);
            right &= plan.rewrite == taken[i][element];
            right &= (aps_policy_elements(policy) >> element & 1) ==
                     taken[i][element];
        }
        ok(policy && right, "types of %s", rules[i]);
        aps_policy_destroy(policy);
    }
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

/* Returns the rule for such a call of 5000 elements at epoch 0, step 0. */
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
        {"allreduce", "l...."},
        {"reduce_scatter", ".s..."},
        {"allgather", "..g.."},
        {"reduce", "...r."},
        {"bcast", "....b"},
        {"[reduce]", "...r."},
        {"'reduce, allreduce'", "l..r."},
        {"[allreduce, reduce_scatter, allgather, reduce, bcast]", "lsgrb"},
        {"[reduce, 'allgather']", "..gr."},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_policy *policy;
        char text[200], calls[APS_CALL_KINDS + 1] = ".....";

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
                calls[call] = "lsgrb"[call];
        }
        is(calls, cases[i].calls, "... and these calls match it, no others");
        aps_policy_destroy(policy);
    }
}

/* One rule for several calls makes a plan for each with the settings that apply. */
static void test_call_plans(void)
{
    struct aps_policy *policy =
        parse(RULE "{calls: [allreduce, reduce_scatter, allgather, reduce,\n"
                   "     bcast], format: e4m3, accumulate: format, group: 4,\n"
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
        ok(plan.rewrite && plan.rule == 0 && plan.scale.kind == APS_SCALE_APS &&
               plan.reduce == APS_REDUCE_DIRECT &&
               plan.group == APS_GROUP_NODE && plan.group_size == 0 &&
               plan.node == APS_NODE_FORMAT &&
               plan.accumulate ==
                   (call == APS_CALL_ALLGATHER || call == APS_CALL_BCAST
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
    ok(policy != NULL, "sums by the reduction that all of them support");
    aps_policy_destroy(policy);
}

/* Rules for other calls do not change all-reduces, nor these the other calls. */
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

    ok(!policy, "a rule after one whose layers do not limit it");
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

    if (!ok(policy != NULL, "all-reduces after a rule for other calls"))
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

int main(void)
{
    test_layers();
    test_first_match();
    test_types();
    test_communicators();
    test_call_words();
    test_call_plans();
    test_call_rules();
    return done_testing();
}
