/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/schedule.h"

#include <stdlib.h>

#include "cli/command.h"

/* Returns the next step or epoch after `now` at which a plan may change; -1:
 * none. */
static long next_change(const struct aps_policy *policy, bool by_step, long now)
{
    long per_epoch = aps_policy_steps(policy)->per_epoch;
    const enum aps_call_kind call = APS_CALL_ALLREDUCE;
    long step, epoch, start;

    if (!by_step)
        return aps_policy_next_epoch(policy, call, now);
    step = aps_policy_next_step(policy, call, now);
    if (per_epoch == 0)
        return step;
    epoch = aps_policy_next_epoch(policy, call, now / per_epoch);
    if (epoch < 0 || __builtin_mul_overflow(epoch, per_epoch, &start))
        return step;
    return step < 0 || start < step ? start : step;
}

static void cut_spans(struct aps_schedule *schedule,
                      const struct aps_policy *policy)
{
    size_t count = 1;
    long now;

    for (now = 0; now >= 0; count++)
        now = next_change(policy, schedule->by_step, now);
    schedule->spans = aps_command_alloc(count, sizeof *schedule->spans);
    for (now = 0; now >= 0;) {
        struct aps_range *span = &schedule->spans[schedule->span_count++];

        span->first = now;
        now = next_change(policy, schedule->by_step, now);
        span->last = now < 0 ? APS_RANGE_OPEN : now - 1;
    }
}

struct aps_schedule *aps_schedule_create(const struct aps_policy *policy)
{
    const struct aps_layers *table = aps_policy_layers(policy);
    long per_epoch = aps_policy_steps(policy)->per_epoch;
    struct aps_schedule *schedule = aps_command_alloc(1, sizeof *schedule);
    int *rule;

    schedule->by_step = aps_policy_by_step(policy, APS_CALL_ALLREDUCE);
    schedule->layer_count = table->count;
    cut_spans(schedule, policy);
    schedule->rules = aps_command_alloc(
        table->count, schedule->span_count * sizeof *schedule->rules);
    rule = schedule->rules;
    for (size_t i = 0; i < table->count; i++) {
        struct aps_plan_key place = aps_plan_key_of(table, i);

        for (size_t span = 0; span < schedule->span_count; span++) {
            long first = schedule->spans[span].first;
            struct aps_plan plan;

            if (schedule->by_step) {
                place.step = first;
                place.epoch = per_epoch > 0 ? first / per_epoch : 0;
            } else {
                place.epoch = first;
            }
            aps_policy_resolve(policy, &place, &plan);
            *rule++ = plan.rule;
        }
    }
    return schedule;
}

void aps_schedule_destroy(struct aps_schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->spans);
    free(schedule->rules);
    free(schedule);
}

const int *aps_schedule_layer(const struct aps_schedule *schedule, size_t layer)
{
    return schedule->rules + layer * schedule->span_count;
}

int aps_schedule_clip(struct aps_schedule *schedule,
                      const struct aps_policy *policy, struct aps_range time,
                      struct aps_range *window)
{
    long per_epoch = aps_policy_steps(policy)->per_epoch;
    size_t i = 0;

    if (schedule->by_step) {
        if (per_epoch == 0)
            return -1;
        if (__builtin_mul_overflow(time.first, per_epoch, &time.first))
            return -1;
        if (time.last == APS_RANGE_OPEN ||
            __builtin_mul_overflow(time.last + 1, per_epoch, &time.last))
            time.last = APS_RANGE_OPEN;
        else
            time.last--;
    }
    while (schedule->spans[i].last < time.first)
        i++;
    window->first = (long)i;
    schedule->spans[i].first = time.first;
    while (schedule->spans[i].last < time.last)
        i++;
    window->last = (long)i;
    schedule->spans[i].last = time.last;
    return 0;
}

bool aps_schedule_gives(const struct aps_schedule *schedule,
                        const struct aps_policy *policy, size_t layer, int rule)
{
    const int *rules = aps_schedule_layer(schedule, layer);

    if (aps_policy_layers(policy)->list[layer].count <
        aps_policy_min_count(policy))
        return false;
    for (size_t i = 0; i < schedule->span_count; i++)
        if (rules[i] == rule)
            return true;
    return false;
}

size_t aps_schedule_longest(const struct aps_schedule *schedule,
                            const struct aps_policy *policy,
                            bool (*asked)(const struct aps_policy *policy,
                                          int rule))
{
    const int rules = (int)aps_policy_rules(policy);
    size_t most = 0;

    for (size_t i = 0; schedule && i < schedule->layer_count; i++)
        for (int rule = -1; rule < rules; rule++)
            if (asked(policy, rule) &&
                aps_schedule_gives(schedule, policy, i, rule) &&
                aps_policy_layers(policy)->list[i].count > most)
                most = aps_policy_layers(policy)->list[i].count;
    return most;
}

/* True if the rule's compressor takes none of the layers that have the rule. A
 * compressor with state is of low rank, and takes only some shapes. */
static bool takes_none(const struct aps_schedule *schedule,
                       const struct aps_policy *policy, int rule)
{
    const struct aps_plan *of_rule = aps_policy_rule_plan(policy, rule);
    bool any = false;

    if (!of_rule->rewrite ||
        !aps_compressor_ops_of(&of_rule->compressor)->keeps)
        return false;
    for (size_t i = 0; i < schedule->layer_count; i++) {
        struct aps_plan plan;

        if (!aps_schedule_gives(schedule, policy, i, rule))
            continue;
        aps_policy_layer_plan(policy, rule, i, &plan);
        if (aps_plan_compresses(&plan))
            return false;
        any = true;
    }
    return any;
}

static void warn_compressors(const struct aps_schedule *schedule,
                             const struct aps_policy *policy, const char *path,
                             struct aps_errors *errors)
{
    for (int i = 0; i < (int)aps_policy_rules(policy); i++)
        if (takes_none(schedule, policy, i))
            aps_errors_warn(
                errors, path, aps_policy_rule_line(policy, i),
                aps_policy_rule_column(policy, i),
                "compress: %s takes no layer of this rule: they are vectors, "
                "or two small matrices would not save enough (rank, "
                "min_ratio); the layers travel as without it",
                aps_compressor_name(
                    &aps_policy_rule_plan(policy, i)->compressor));
}

void aps_schedule_warn(const struct aps_schedule *schedule,
                       const struct aps_policy *policy, const char *path,
                       struct aps_errors *errors)
{
    size_t rules = aps_policy_rules(policy);
    size_t cells = schedule->layer_count * schedule->span_count;
    bool *used = aps_command_alloc(rules, sizeof *used);

    for (size_t i = 0; i < cells; i++) {
        if (schedule->rules[i] >= 0)
            used[schedule->rules[i]] = true;
    }
    for (size_t i = 0; i < rules; i++) {
        /* A rule for other calls too may be meant for those. */
        if (!used[i] &&
            aps_policy_rule_calls(policy, (int)i) == 1u << APS_CALL_ALLREDUCE)
            aps_errors_warn(
                errors, path, aps_policy_rule_line(policy, (int)i),
                aps_policy_rule_column(policy, (int)i),
                "this rule applies to no layer: its layers have another type, "
                "fewer than %zu elements (min_count) or match an earlier rule",
                aps_policy_min_count(policy));
    }
    warn_compressors(schedule, policy, path, errors);
    aps_errors_sort(errors);
    free(used);
}
