/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictions/predictions_json.h"

#include <math.h>
#include <stdint.h>

#include "predictions/predictions.h"
#include "policy/keywords.h"

static void write_link(struct aps_json *json, const char *key,
                       const struct aps_link *link)
{
    aps_json_open_object(json, key);
    aps_json_double(json, "latency", link->latency);
    aps_json_double(json, "rate", link->rate);
    aps_json_double(json, "bulk", link->bulk);
    aps_json_double(json, "wait", link->wait);
    aps_json_double(json, "message", link->message);
    aps_json_double(json, "burst", link->burst);
    aps_json_double(json, "byte", link->byte);
    aps_json_close_object(json);
}

static void write_cluster(struct aps_json *json,
                          const struct aps_cluster *cluster)
{
    const struct aps_machine *machine = &cluster->machine;
    const bool busy = cluster->file && aps_measured_is_busy(cluster->measured);
    char because[120];

    aps_json_open_object(json, "cluster");
    aps_json_unsigned(json, "hosts", (uintmax_t)machine->hosts);
    aps_json_unsigned(json, "ranks_per_host",
                      (uintmax_t)machine->ranks_per_host);
    aps_json_text(json, "measured", cluster->file);
    aps_json_bool(json, "links_measured", cluster->file && cluster->file_links);
    aps_json_double(json, "spread", cluster->measured->spread);
    aps_json_bool(json, "busy", busy);
    aps_json_text(json, "busy_because",
                  busy ? aps_measured_busy(cluster->measured, NULL, because,
                                           sizeof because)
                       : NULL);
    aps_json_double(json, "ranks_per_core", cluster->crowd);
    write_link(json, "between", &machine->between);
    write_link(json, "inside", &machine->inside);
    aps_json_double(json, "copy", machine->copy);
    aps_json_double(json, "add", machine->add);
    aps_json_double(json, "mark", machine->mark);
    aps_json_close_object(json);
}

/* Writes the times; null, with a reason, for calls that a compressor takes. */
static void write_times(struct aps_json *json, const struct aps_predicted *one)
{
    static const char *const keys[APS_NATIVE_KINDS] = {
        "recursive_doubling", "rabenseifner", "ring", "composition"};
    const bool known = one->seconds > 0;

    if (!known) {
        aps_json_null(json, "seconds");
        aps_json_null(json, "bound");
        aps_json_null(json, "taken");
    } else {
        aps_json_double(json, "seconds", one->seconds);
        aps_json_text(json, "bound", aps_bound_name(one->bound));
        aps_json_text(json, "taken",
                      one->taken == APS_REDUCE_AUTO
                          ? "native"
                          : aps_reduce_name(one->taken));
    }
    aps_json_text(json, "not_predicted",
                  one->compressed > 0 ? "compress" : NULL);
    aps_json_open_object(json, "native");
    aps_json_double(json, "mpich", known ? one->mpich : NAN);
    for (int i = 0; i < APS_NATIVE_KINDS; i++)
        aps_json_double(json, keys[i], known ? one->native[i] : NAN);
    aps_json_close_object(json);
}

void aps_predictions_write_range(struct aps_json *json,
                                 const struct aps_range *range)
{
    aps_json_unsigned(json, "first", (uintmax_t)range->first);
    aps_json_unsigned_or_null(json, "last", range->last != APS_RANGE_OPEN,
                              (uintmax_t)range->last);
}

/* Writes the times of the formats that a rule chooses from; null if there are
 * none. The time of the count itself is that of FP32. */
static void write_formats(struct aps_json *json, struct aps_cluster *cluster,
                          const struct aps_shadow *formats, size_t count)
{
    if (formats->count == 0) {
        aps_json_null(json, "formats");
        return;
    }
    aps_json_open_array(json, "formats");
    for (size_t i = 0; i < formats->count; i++) {
        const struct aps_plan *format = &formats->plans[i];
        const struct aps_predicted one =
            aps_predicted_of(cluster, format, APS_ELEMENT_FLOAT, count, 0);

        aps_json_open_object(json, NULL);
        aps_json_text(json, "format", format->format.name);
        write_times(json, &one);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

static void write_span(struct aps_json *json, struct aps_cluster *cluster,
                       const struct aps_policy *policy,
                       const struct aps_schedule *schedule, long span)
{
    struct aps_predicted all = {0};

    aps_json_open_object(json, NULL);
    aps_predictions_write_range(json, &schedule->spans[span]);
    aps_json_open_array(json, "layers");
    for (size_t i = 0; i < schedule->layer_count; i++) {
        const size_t count = aps_policy_layers(policy)->list[i].count;
        const int rule = count < aps_policy_min_count(policy)
                             ? -1
                             : aps_schedule_layer(schedule, i)[span];
        const struct aps_predicted one =
            aps_predicted_layer(cluster, policy, rule, i, NULL, 0);

        aps_json_open_object(json, NULL);
        aps_json_unsigned(json, "layer", i);
        write_times(json, &one);
        write_formats(json, cluster, aps_predicted_formats(policy, rule),
                      count);
        aps_json_close_object(json);
        aps_predicted_add(&all, &one);
    }
    aps_json_close_array(json);
    write_times(json, &all);
    aps_json_unsigned(json, "layers_not_predicted", all.compressed);
    aps_json_close_object(json);
}

static void write_counts(struct aps_json *json, struct aps_cluster *cluster,
                         const struct aps_policy *policy, int rule)
{
    size_t counts[APS_CLUSTER_COUNTS];
    const int shown = aps_predicted_counts(cluster, policy, rule, counts);

    aps_json_open_array(json, "counts");
    for (int k = 0; k < shown; k++) {
        const struct aps_predicted one =
            aps_predicted_rule(cluster, policy, rule, counts[k]);

        aps_json_open_object(json, NULL);
        aps_json_unsigned(json, "count", counts[k]);
        write_times(json, &one);
        write_formats(json, cluster, aps_predicted_formats(policy, rule),
                      counts[k]);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

/* Writes the counts that the user named and no rule takes, with the reason. */
static void write_left(struct aps_json *json, struct aps_cluster *cluster,
                       const struct aps_policy *policy)
{
    aps_json_open_array(json, "counts_native");
    for (int k = 0; cluster->counts_given && k < cluster->count_count; k++) {
        const size_t count = cluster->counts[k];
        const struct aps_predicted one =
            aps_predicted_of(cluster, NULL, APS_ELEMENT_FLOAT, count, 0);
        const char *why = aps_predicted_left(policy, count);

        if (!why)
            continue;
        aps_json_open_object(json, NULL);
        aps_json_unsigned(json, "count", count);
        aps_json_text(json, "why", why);
        write_times(json, &one);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

/* A count beyond all bounds, and missing groups and sums, are null. */
static void write_advice(struct aps_json *json, const struct aps_advice *advice)
{
    aps_json_unsigned_or_null(json, "least_count",
                              advice->least_count != SIZE_MAX,
                              advice->least_count);
    aps_json_double(json, "most_rate", advice->most_rate);
    aps_json_unsigned(json, "largest_count", advice->largest);
    if (advice->group > 0) {
        aps_json_unsigned(json, "group", (uintmax_t)advice->group);
        aps_json_unsigned(json, "best_group", (uintmax_t)advice->best_group);
        aps_json_double(json, "group_seconds", advice->seconds);
        aps_json_double(json, "best_group_seconds", advice->best_seconds);
    } else {
        aps_json_null(json, "group");
        aps_json_null(json, "best_group");
        aps_json_null(json, "group_seconds");
        aps_json_null(json, "best_group_seconds");
    }
    if (advice->sum.group > 0) {
        const struct aps_variance_sum *sum = &advice->sum;

        aps_json_open_object(json, "sums");
        aps_json_unsigned(json, "terms",
                          sum->group > sum->groups ? sum->group : sum->groups);
        aps_json_unsigned(json, "group_terms", sum->group);
        aps_json_unsigned(json, "groups", sum->groups);
        aps_json_unsigned(json, "mantissa_bits", (uintmax_t)advice->sum_bits);
        aps_json_unsigned(json, "mantissa_bits_needed",
                          (uintmax_t)advice->bits);
        aps_json_double(json, "variance_retained", advice->retained);
        aps_json_close_object(json);
    } else {
        aps_json_null(json, "sums");
    }
}

/* Writes the advice on each format that the rule chooses from; null if there
 * are none. */
static void write_formats_advice(struct aps_json *json,
                                 struct aps_cluster *cluster,
                                 const struct aps_policy *policy,
                                 const struct aps_schedule *schedule, long span,
                                 int rule)
{
    const struct aps_shadow *formats = aps_predicted_formats(policy, rule);
    struct aps_advice advice;

    if (formats->count == 0) {
        aps_json_null(json, "formats");
        return;
    }
    aps_json_open_array(json, "formats");
    for (size_t i = 0; i < formats->count; i++) {
        if (!aps_advice_of(cluster, policy, schedule, span, rule,
                           &formats->plans[i], &advice))
            continue;
        aps_json_open_object(json, NULL);
        aps_json_text(json, "format", formats->plans[i].format.name);
        write_advice(json, &advice);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

/* Writes the rules whose compressor has no prediction, with the reason. */
static void write_not_predicted(struct aps_json *json,
                                const struct aps_policy *policy)
{
    aps_json_open_array(json, "rules_not_predicted");
    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, (int)i);

        if (plan->compressor.kind == APS_COMPRESSOR_NONE)
            continue;
        aps_json_open_object(json, NULL);
        aps_json_unsigned(json, "rule", i);
        aps_json_text(json, "not_predicted", "compress");
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

void aps_predictions_write(struct aps_json *json, struct aps_cluster *cluster,
                           const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window)
{
    struct aps_advice advice;

    aps_json_open_object(json, "prediction");
    write_cluster(json, cluster);
    aps_json_text(json, "nothing",
                  schedule ? NULL : aps_predicted_nothing(policy));
    aps_json_open_array(json, "spans");
    for (long i = window->first; schedule && i <= window->last; i++)
        write_span(json, cluster, policy, schedule, i);
    aps_json_close_array(json);
    aps_json_open_array(json, "rules");
    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        if (!aps_advice_of(cluster, policy, schedule, window->last, (int)i,
                           NULL, &advice))
            continue;
        aps_json_open_object(json, NULL);
        aps_json_unsigned(json, "rule", i);
        write_advice(json, &advice);
        write_formats_advice(json, cluster, policy, schedule, window->last,
                             (int)i);
        if (!schedule)
            write_counts(json, cluster, policy, (int)i);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
    if (!schedule)
        write_left(json, cluster, policy);
    write_not_predicted(json, policy);
    aps_json_close_object(json);
}
