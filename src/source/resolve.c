/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the plan of a layer: that of the first rule that matches.
 */
#include "config.h"

#include "policy/policy.h"

#include "policy/keywords.h"
#include "source/object.h"

/* Adapts a plan of a rule for several kinds of calls to this kind. */
static void settle_call(struct aps_plan *plan, enum aps_call_kind call)
{
    if (call != APS_CALL_ALLREDUCE) {
        if (plan->reduce != APS_REDUCE_AUTO)
            plan->reduce = APS_REDUCE_DIRECT;
        plan->group = APS_GROUP_NODE;
        plan->group_size = 0;
        plan->node = APS_NODE_FORMAT;
    }
    if (!aps_call_sums(call)) {
        plan->accumulate = APS_ACCUMULATE_FP32;
        plan->chunk = 0;
    }
}

/* Sets the parameter of the scale that the layer table has. */
static void settle_scale(const struct aps_policy *policy, long layer,
                         struct aps_scale *scale)
{
    const int at = aps_scale_table(scale);

    if (at >= 0 && policy->layers && layer >= 0 &&
        (size_t)layer < policy->layers->count)
        scale->parameters[at] = policy->layers->list[layer].scale;
}

/* Sets the layer's shape from the layer table. */
static void settle_matrix(const struct aps_policy *policy,
                          const struct aps_plan_key *place,
                          struct aps_matrix *matrix)
{
    const struct aps_layers *layers = policy->layers;
    const struct aps_layer_row *layer;

    *matrix = aps_matrix_square(place->count);
    if (!layers || place->layer < 0 || (size_t)place->layer >= layers->count)
        return;
    layer = &layers->list[place->layer];
    if (layer->dimensions > 0 && layer->count == place->count)
        *matrix =
            aps_matrix_of_shape(layer->dimensions, layer->shape, layer->count);
}

static const struct aps_plan no_plan = {.rewrite = false, .rule = -1};

/* Returns the candidates for calls of the rule (-1: without a rule), or
 * NULL. */
static const struct aps_shadow *shadow_of(const struct aps_policy *policy,
                                          int rule, enum aps_call_kind call)
{
    const struct aps_shadow *shadow = aps_policy_shadow(policy, rule);

    return call == APS_CALL_ALLREDUCE && shadow->count > 0 ? shadow : NULL;
}

/* Completes the plan of a rule that matches `place`, or of one of its
 * candidates. */
static void settle_plan(const struct aps_policy *policy,
                        const struct aps_plan_key *place, struct aps_plan *plan)
{
    settle_call(plan, place->call);
    settle_scale(policy, place->layer, &plan->scale);
    if (aps_plan_is_compressed(plan))
        settle_matrix(policy, place, &plan->matrix);
}

static void settle(const struct aps_policy *policy, int rule,
                   const struct aps_plan_key *place, struct aps_plan *plan)
{
    *plan = policy->rules[rule].plan;
    plan->shadow = shadow_of(policy, rule, place->call);
    settle_plan(policy, place, plan);
}

/* Candidates run during other calls, or are not trials of `auto`; therefore
 * `direct` reduces them. */
void aps_policy_candidate(const struct aps_policy *policy,
                          const struct aps_plan_key *place,
                          const struct aps_shadow *shadow, size_t i,
                          struct aps_plan *plan)
{
    *plan = shadow->plans[i];
    settle_plan(policy, place, plan);
    if (plan->reduce == APS_REDUCE_AUTO)
        plan->reduce = APS_REDUCE_DIRECT;
}

void aps_policy_choose(const struct aps_policy *policy,
                       const struct aps_plan_key *place, int i,
                       struct aps_plan *plan)
{
    const struct aps_auto_format *formats = plan->auto_format;

    if (i < 0) {
        plan->rewrite = false;
        return;
    }
    *plan = formats->formats.plans[i];
    plan->auto_format = formats;
    settle_plan(policy, place, plan);
}

void aps_policy_layer_plan(const struct aps_policy *policy, int rule,
                           size_t layer, struct aps_plan *plan)
{
    const struct aps_plan_key place = aps_plan_key_of(policy->layers, layer);

    if (rule < 0)
        *plan = no_plan;
    else
        settle(policy, rule, &place, plan);
}

void aps_policy_resolve(const struct aps_policy *policy,
                        const struct aps_plan_key *place, struct aps_plan *plan)
{
    *plan = no_plan;
    if (place->count < policy->min_count)
        return;
    for (size_t i = 0; i < policy->rule_count; i++) {
        if (aps_rule_matches(&policy->rules[i], place)) {
            settle(policy, (int)i, place, plan);
            return;
        }
    }
    plan->shadow = shadow_of(policy, -1, place->call);
}
