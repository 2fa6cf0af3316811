/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictions/predictions.h"

#include <stdint.h>
#include <string.h>

#include "policy/keywords.h"

static struct aps_predicted_call call_of(struct aps_cluster *cluster,
                                         const struct aps_plan *plan,
                                         size_t count, int group)
{
    struct aps_predicted_call call = {
        .machine = &cluster->machine,
        .plan = plan,
        .rates = *aps_cluster_rates(cluster, &plan->format),
        .count = count,
        .threads = cluster->threads,
        .group = group > 0 ? group : aps_predict_group(&cluster->machine, plan),
    };

    /* Contributions are searched before they are encoded, and sums as well. */
    if (aps_scale_ops_of(&plan->scale)->per_block)
        call.rates.encode += call.rates.magnitude;
    return call;
}

struct aps_predicted aps_predicted_of(struct aps_cluster *cluster,
                                      const struct aps_plan *plan,
                                      enum aps_element element, size_t count,
                                      int group)
{
    const size_t bytes = plan && plan->format.wide
                             ? sizeof(double)
                             : aps_element_types[element].bytes;
    /* floats of as many bytes: MPI's time follows from them */
    const size_t floats = (count * bytes + sizeof(float) - 1) / sizeof(float);
    const struct aps_machine *machine = &cluster->machine;
    struct aps_predicted one = {.bound = APS_BOUND_LINK,
                                .taken = APS_REDUCE_AUTO};

    for (int i = 0; i < APS_NATIVE_KINDS; i++)
        one.native[i] = one.whole[i] =
            aps_predict_native(machine, (enum aps_native_kind)i, floats);
    one.mpich = one.native[aps_predict_native_kind(machine, floats)];
    one.whole_mpich = one.mpich;
    one.seconds = one.longest = one.mpich;
    if (plan && plan->rewrite) {
        const struct aps_predicted_call call =
            call_of(cluster, plan, count, group);
        const struct aps_prediction all = aps_predict(&call);

        one.seconds = one.longest = all.seconds;
        one.bound = all.bound;
        one.taken = aps_predict_taken(&call);
    }
    return one;
}

/* Returns the time of a call that a compressor takes. */
static struct aps_predicted compressed_of(struct aps_cluster *cluster,
                                          enum aps_element element,
                                          size_t count)
{
    const struct aps_predicted native =
        aps_predicted_of(cluster, NULL, element, count, 0);
    struct aps_predicted one = {.compressed = 1};

    memcpy(one.whole, native.whole, sizeof one.whole);
    one.whole_mpich = native.whole_mpich;
    return one;
}

void aps_predicted_add(struct aps_predicted *sum,
                       const struct aps_predicted *one)
{
    sum->compressed += one->compressed;
    sum->seconds += one->seconds;
    sum->mpich += one->mpich;
    sum->whole_mpich += one->whole_mpich;
    for (int i = 0; i < APS_NATIVE_KINDS; i++) {
        sum->native[i] += one->native[i];
        sum->whole[i] += one->whole[i];
    }
    if (one->longest > sum->longest) {
        sum->longest = one->longest;
        sum->bound = one->bound;
        sum->taken = one->taken;
    }
}

const struct aps_shadow *aps_predicted_formats(const struct aps_policy *policy,
                                               int rule)
{
    static const struct aps_shadow none = {0};
    const struct aps_plan *plan =
        rule < 0 ? NULL : aps_policy_rule_plan(policy, rule);

    return plan && plan->auto_format ? &plan->auto_format->formats : &none;
}

struct aps_predicted aps_predicted_layer(struct aps_cluster *cluster,
                                         const struct aps_policy *policy,
                                         int rule, size_t layer,
                                         const struct aps_plan *format,
                                         int group)
{
    const struct aps_layer_row *row = &aps_policy_layers(policy)->list[layer];
    struct aps_plan plan;

    if (rule < 0 || row->count < aps_policy_min_count(policy))
        return aps_predicted_of(cluster, NULL, row->element, row->count, 0);
    if (aps_predicted_formats(policy, rule)->count > 0)
        return aps_predicted_of(cluster, format, row->element, row->count,
                                group);
    aps_policy_layer_plan(policy, rule, layer, &plan);
    if (plan.compressor.kind != APS_COMPRESSOR_NONE &&
        aps_plan_compresses(&plan))
        return compressed_of(cluster, row->element, row->count);
    return aps_predicted_of(cluster, &plan, row->element, row->count, group);
}

struct aps_predicted aps_predicted_rule(struct aps_cluster *cluster,
                                        const struct aps_policy *policy,
                                        int rule, size_t count)
{
    const struct aps_plan *plan = aps_policy_rule_plan(policy, rule);

    if (plan->compressor.kind != APS_COMPRESSOR_NONE)
        return compressed_of(cluster, APS_ELEMENT_FLOAT, count);
    return aps_predicted_of(cluster, plan->auto_format ? NULL : plan,
                            APS_ELEMENT_FLOAT, count, 0);
}

/* Returns a count that the rule takes, the greatest if there is one; or 0. */
static size_t any_count(const struct aps_policy *policy, int rule)
{
    size_t least, most;

    if (!aps_policy_rule_counts(policy, rule, &least, &most))
        return 0;
    return most < SIZE_MAX ? most : least;
}

int aps_predicted_counts(const struct aps_cluster *cluster,
                         const struct aps_policy *policy, int rule,
                         size_t counts[APS_CLUSTER_COUNTS])
{
    int count = 0;

    for (int i = 0; i < cluster->count_count; i++)
        if (aps_policy_rule_takes(policy, rule, cluster->counts[i]))
            counts[count++] = cluster->counts[i];
    if (count == 0 && !cluster->counts_given &&
        (counts[0] = any_count(policy, rule)) > 0)
        count = 1;
    return count;
}

const char *aps_predicted_left(const struct aps_policy *policy, size_t count)
{
    if (count < aps_policy_min_count(policy))
        return "min_count";
    for (size_t i = 0; i < aps_policy_rules(policy); i++)
        if (aps_policy_rule_takes(policy, (int)i, count))
            return NULL;
    return "no rule matches";
}

const char *aps_predicted_nothing(const struct aps_policy *policy)
{
    for (size_t i = 0; i < aps_policy_rules(policy); i++)
        if (aps_policy_rule_calls(policy, (int)i) & 1u << APS_CALL_ALLREDUCE)
            return NULL;
    return aps_policy_shadows(policy)
               ? "Nothing is predicted: no rule is for all-reduces, and what "
                 "measuring candidates (shadow) takes is not predicted."
               : "Nothing is predicted: no rule is for all-reduces.";
}

/* --- advice -------------------------------------------------------------- */

/* Returns the time of all layers of a rule in a span. */
static double seconds_of(struct aps_cluster *cluster,
                         const struct aps_policy *policy,
                         const struct aps_schedule *schedule, long span,
                         int rule, const struct aps_plan *format, int group)
{
    double seconds = 0;

    for (size_t i = 0; i < schedule->layer_count; i++)
        if (aps_schedule_layer(schedule, i)[span] == rule)
            seconds +=
                aps_predicted_layer(cluster, policy, rule, i, format, group)
                    .seconds;
    return seconds;
}

static size_t largest_of(const struct aps_policy *policy,
                         const struct aps_schedule *schedule, long span,
                         int rule)
{
    size_t largest = 0;

    for (size_t i = 0; i < schedule->layer_count; i++) {
        const size_t count = aps_policy_layers(policy)->list[i].count;

        if (aps_schedule_layer(schedule, i)[span] == rule &&
            count >= aps_policy_min_count(policy) && count > largest)
            largest = count;
    }
    return largest;
}

/* Without a layer table: returns the greatest of the counts that are shown, or
 * another one that the rule takes. */
static size_t largest_shown(const struct aps_cluster *cluster,
                            const struct aps_policy *policy, int rule)
{
    size_t counts[APS_CLUSTER_COUNTS], largest = 0;
    const int count = aps_predicted_counts(cluster, policy, rule, counts);

    for (int i = 0; i < count; i++)
        if (counts[i] > largest)
            largest = counts[i];
    return largest > 0 ? largest : any_count(policy, rule);
}

static void advise_groups(struct aps_cluster *cluster,
                          const struct aps_policy *policy,
                          const struct aps_schedule *schedule, long span,
                          int rule, const struct aps_plan *plan,
                          struct aps_advice *advice)
{
    const struct aps_machine *machine = &cluster->machine;
    const int ranks = aps_machine_ranks(machine);

    if (!aps_reduce_takes(plan->reduce, APS_SETTING_GROUP))
        return;
    advice->group = advice->best_group = aps_predict_group(machine, plan);
    advice->seconds = advice->best_seconds =
        schedule ? seconds_of(cluster, policy, schedule, span, rule, plan, 0)
                 : aps_predicted_of(cluster, plan, APS_ELEMENT_FLOAT,
                                    advice->largest, 0)
                       .seconds;
    for (int group = 1, step = 1; group <= ranks; group += step) {
        double seconds;

        /* Groups larger than a host consist of whole hosts. */
        if (group >= machine->ranks_per_host)
            step = machine->ranks_per_host;
        if (!aps_predict_takes_group(machine, plan, group))
            continue;
        seconds = schedule ? seconds_of(cluster, policy, schedule, span, rule,
                                        plan, group)
                           : aps_predicted_of(cluster, plan, APS_ELEMENT_FLOAT,
                                              advice->largest, group)
                                 .seconds;
        if (seconds < advice->best_seconds) {
            advice->best_seconds = seconds;
            advice->best_group = group;
        }
    }
}

/* Returns the rounded sums of the plan; groups of 1 value, and groups with FP32
 * sums, have none. */
static struct aps_variance_sum sum_of(const struct aps_machine *machine,
                                      const struct aps_plan *plan, int group)
{
    const size_t ranks = (size_t)aps_machine_ranks(machine);
    struct aps_variance_sum sum = {.value_bits = plan->format.mantissa_bits,
                                   .group = ranks,
                                   .groups = 1,
                                   .chunk = (size_t)plan->chunk};

    if (group > 0) {
        sum.group = (size_t)group;
        sum.groups = ranks / sum.group;
    }
    if (group > 1 && aps_reduce_takes(plan->reduce, APS_SETTING_NODE) &&
        plan->node == APS_NODE_FP32)
        sum.group = 1;
    return sum;
}

static void advise_bits(const struct aps_machine *machine,
                        const struct aps_plan *plan, struct aps_advice *advice)
{
    const struct aps_variance_sum sum = sum_of(machine, plan, advice->group);

    if (plan->accumulate != APS_ACCUMULATE_FORMAT ||
        sum.group * sum.groups == 1)
        return;
    advice->sum = sum;
    advice->sum_bits = plan->sums.mantissa_bits;
    advice->bits = aps_variance_bits(&sum);
    advice->retained = aps_variance_retained_grouped(advice->sum_bits, &sum);
}

bool aps_advice_of(struct aps_cluster *cluster, const struct aps_policy *policy,
                   const struct aps_schedule *schedule, long span, int rule,
                   const struct aps_plan *format, struct aps_advice *advice)
{
    const struct aps_plan *plan =
        format ? format : aps_policy_rule_plan(policy, rule);
    struct aps_predicted_call call;

    *advice = (struct aps_advice){0};
    if (!plan->rewrite || plan->compressor.kind != APS_COMPRESSOR_NONE ||
        (aps_policy_rule_calls(policy, rule) & 1u << APS_CALL_ALLREDUCE) == 0)
        return false;
    advice->largest = schedule ? largest_of(policy, schedule, span, rule)
                               : largest_shown(cluster, policy, rule);
    if (advice->largest == 0 ||
        !aps_policy_rule_counts(policy, rule, &advice->least, &advice->most))
        return false;
    advice->wide = plan->format.wide;
    advice->least_count = SIZE_MAX;
    if (plan->auto_format) /* FP32 by MPI, like native */
        return true;
    call = call_of(cluster, plan, advice->largest, 0);
    advice->least_count = aps_predict_least_count(&call, advice->most);
    if (advice->least_count < advice->least)
        advice->least_count = advice->least;
    advice->most_rate = aps_predict_most_rate(&call);
    advise_groups(cluster, policy, schedule, span, rule, plan, advice);
    advise_bits(&cluster->machine, plan, advice);
    return true;
}
