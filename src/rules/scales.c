/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/scales.h"

#include <stdio.h>

#include "grammar/tables.h"
#include "policy/keywords.h"
#include "scale/explain.h"

_Static_assert(APS_SCALE_PARAMETERS >= APS_ARGUMENTS_MAX,
               "a scale keeps all parameters that a word may have");

/* Reports a scale with a state for other calls: it learns from results that all
 * ranks receive, and only an all-reduce has such results. */
static int scales_check_calls(const struct aps_rule_keys *rule,
                              const struct aps_value *value,
                              const struct aps_scale *scale)
{
    const unsigned others = rule->calls & ~(1u << APS_CALL_ALLREDUCE);
    char calls[64];

    if (others == 0)
        return 0;
    aps_keywords_list(&aps_keywords_call, others, ", ", calls, sizeof calls);
    aps_reader_error(
        rule->reader, value->at,
        "scale %s cannot be combined with calls: %s; use it with allreduce, "
        "whose results tell all ranks what it needs to know",
        aps_scale_name(scale), calls);
    return -1;
}

/* Reports a state of the whole model without steps, at whose ends it
 * changes. */
static int scales_settle_scope(const struct aps_rule_keys *rule,
                               const struct aps_value *value,
                               struct aps_scale *scale)
{
    const bool steps = rule->context->knows_steps;
    const int at = aps_scale_ops_of(scale)->scope;
    const struct aps_argument *scope;

    if (at < 0)
        return 0;
    scope = &value->arguments[at];
    if (!scope->key)
        scale->parameters[at] = steps ? APS_SCOPE_MODEL : APS_SCOPE_LAYER;
    if (steps || scale->parameters[at] != APS_SCOPE_MODEL)
        return 0;
    aps_reader_error(rule->reader, scope->key->value,
                     "scope: model needs to know where a step ends: write "
                     "'steps: auto' next to 'rules', or scope: layer");
    return -1;
}

/* True if the rule may be for layer i of the table. */
static bool scales_is_for(const struct aps_rule *rule,
                          const struct aps_layers *table, size_t i)
{
    const size_t count = table->list[i].count;

    return (rule->calls >> APS_CALL_ALLREDUCE & 1) != 0 &&
           count >= rule->min_count && count <= rule->max_count &&
           (!rule->by_layer ||
            aps_selection_holds(&rule->layers, (long)i, (long)table->count));
}

/* True if earlier rules leave layer i to the rule at some time. */
static bool scales_reaches(const struct aps_rule_keys *keys,
                           const struct aps_layers *table, size_t i)
{
    const struct aps_rule *rule = keys->rule;

    for (const struct aps_rule *before = keys->context->rules; before < rule;
         before++) {
        if (aps_rule_always_holds(before) && scales_is_for(before, table, i))
            return false;
    }
    return scales_is_for(rule, table, i);
}

/* Returns the first layer that the rule may be for and that has no value in the
 * table, or NULL. */
static const struct aps_layer_row *
scales_missing_layer(const struct aps_rule_keys *rule,
                     const struct aps_layers *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->list[i].scale == 0 && scales_reaches(rule, table, i))
            return &table->list[i];
    }
    return NULL;
}

/* Checks the values of the layer table's column `scale`. */
static int scales_check_table(const struct aps_rule_keys *rule,
                              const struct aps_value *value,
                              const struct aps_scale *scale)
{
    const struct aps_step_layers *layers = &rule->context->layers;
    const struct aps_layer_row *missing;

    if (aps_scale_table(scale) < 0 || layers->blind)
        return 0;
    if (!layers->table) {
        aps_reader_error(
            rule->reader, value->at,
            "scale %s: table takes each layer's standard deviation from a "
            "layer table: write 'table: FILE' next to 'rules'",
            aps_scale_name(scale));
        return -1;
    }
    missing = scales_missing_layer(rule, layers->table);
    if (!missing)
        return 0;
    aps_reader_error(rule->reader, value->at,
                     "the layer table has no 'scale' for layer '%.80s': its "
                     "column 'scale' has the standard deviation of each "
                     "layer's gradient, for scale %s: table",
                     missing->name, aps_scale_name(scale));
    return -1;
}

void aps_scales_warn(const struct aps_rule_keys *rule,
                     const struct aps_yaml_node *at,
                     const struct aps_plan *plan)
{
    char doubt[APS_SCALE_TEXT_MAX];

    if (plan->rewrite && !plan->format.self_scaled &&
        aps_scale_warning(&plan->scale, &plan->format, doubt, sizeof doubt))
        aps_reader_warn(rule->reader, at, "%s", doubt);
}

int aps_scales_read(const struct aps_rule_keys *rule, struct aps_plan *plan)
{
    struct aps_scale *scale = &plan->scale;
    const struct aps_parameter *parameters;
    struct aps_value value;
    int result = 0;

    if (aps_read_value(rule->reader, rule->keys[APS_RULE_SCALE],
                       &aps_grammar_scale, &value) < 0)
        return -1;
    parameters = aps_grammar_scale.choices[value.word].parameters;
    *scale = (struct aps_scale){.kind = (enum aps_scale_kind)value.word};
    for (int i = 0; parameters && parameters[i].name; i++)
        scale->parameters[i] =
            aps_argument_number(&parameters[i], &value.arguments[i]);
    if (aps_scale_state_bytes(scale) > 0) {
        result |= scales_check_calls(rule, &value, scale);
        result |= scales_settle_scope(rule, &value, scale);
        result |= scales_check_table(rule, &value, scale);
    }
    if (result == 0)
        aps_scales_warn(rule, value.at, plan);
    return result;
}
