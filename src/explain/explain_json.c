/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/explain_json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "explain/auto_formats.h"
#include "cli/command.h"
#include "explain/notes.h"
#include "predictions/predictions_json.h"
#include "cli/problems.h"
#include "explain/shadows.h"
#include "explain/traffic.h"
#include "grammar/tables.h"
#include "policy/keywords.h"
#include "scale/explain.h"

/* The object that is written, and its source. */
struct writing {
    struct aps_json json;
    const struct aps_policy *policy;
    const struct aps_schedule *schedule;
    const struct aps_range *window;
};

static void write_size(struct aps_json *json, const char *key, size_t size)
{
    aps_json_unsigned(json, key, size);
}

/* Writes the scope of a scale's state, and its treatment of an overflow; null
 * if the scale has no state. */
static void write_state(struct aps_json *json, const struct aps_scale *scale,
                        bool layers)
{
    const char *layer = layers ? "layer" : "count";

    if (aps_scale_state_bytes(scale) == 0) {
        aps_json_null(json, "scope");
        aps_json_null(json, "on_overflow");
        return;
    }
    aps_json_text(json, "scope",
                  aps_scale_scope(scale) == APS_SCOPE_MODEL ? "model" : layer);
    aps_json_text(json, "on_overflow",
                  aps_keywords_overflow.known[aps_scale_on_overflow(scale)]);
}

/* A parameter that has no effect because of another one's word is null. */
static void write_parameter(struct aps_json *json,
                            const struct aps_parameter *parameters,
                            const double *values, int i)
{
    const struct aps_parameter *parameter = &parameters[i];
    int other = 0;

    while (parameter->needs &&
           strcmp(parameters[other].name, parameter->needs) != 0)
        other++;
    if (parameter->needs && values[other] > 0)
        aps_json_null(json, parameter->name);
    else if (parameter->kind == APS_PARAMETER_WORD)
        aps_json_text(json, parameter->name,
                      parameter->words->known[(int)values[i]]);
    else if (parameter->kind == APS_PARAMETER_SWITCH)
        aps_json_bool(json, parameter->name, values[i] != 0);
    else
        aps_json_double(json, parameter->name, values[i]);
}

/* Writes all but on_overflow and scope, which are members of the plan. Null if
 * there are none. */
static void write_parameters(struct aps_json *json, const char *key,
                             const struct aps_parameter *parameters,
                             const double *values)
{
    if (!parameters) {
        aps_json_null(json, key);
        return;
    }
    aps_json_open_object(json, key);
    for (int i = 0; parameters[i].name; i++) {
        if (parameters[i].words != &aps_keywords_overflow &&
            parameters[i].words != &aps_keywords_scope)
            write_parameter(json, parameters, values, i);
    }
    aps_json_close_object(json);
}

/* Null if ranks send the values themselves and layers have no residuals. */
static void write_compressor(struct aps_json *json, const struct aps_plan *plan)
{
    const struct aps_compressor *compressor = &plan->compressor;

    if (compressor->kind == APS_COMPRESSOR_NONE)
        aps_json_null(json, "compress");
    else
        aps_json_text(json, "compress", aps_compressor_name(compressor));
    if (aps_plan_is_compressed(plan))
        aps_json_bool(json, "feedback", plan->feedback);
    else
        aps_json_null(json, "feedback");
    write_parameters(json, "compress_parameters",
                     aps_grammar_compress.choices[compressor->kind].parameters,
                     compressor->parameters);
}

/* Writes a plan in the keys of a rule; a key without a meaning for it is
 * null. */
static void write_plan(struct writing *writing, const struct aps_plan *plan)
{
    const bool layers =
        aps_policy_steps(writing->policy)->kind != APS_STEPS_NONE;
    struct aps_json *json = &writing->json;
    char accumulate[APS_ACCUMULATE_TEXT_MAX], behaviour[APS_SCALE_TEXT_MAX];
    const bool groups = aps_reduce_takes(plan->reduce, APS_SETTING_GROUP);
    const bool node = aps_reduce_takes(plan->reduce, APS_SETTING_NODE);

    aps_json_text(json, "format", plan->format.name);
    aps_json_text(json, "scale",
                  aps_compressor_ops_of(&plan->compressor)->integers ? NULL
                  : plan->format.self_scaled ? APS_COMMAND_BLOCK_SCALE
                                             : aps_scale_name(&plan->scale));
    aps_json_double(json, "scale_value",
                    aps_scale_ops_of(&plan->scale)->value
                        ? aps_scale_value(&plan->scale, 0)
                        : NAN);
    aps_scale_explain(&plan->scale, &plan->format, layers, behaviour,
                      sizeof behaviour);
    aps_json_text(json, "scale_behaviour", behaviour[0] ? behaviour : NULL);
    write_parameters(json, "scale_parameters",
                     aps_grammar_scale.choices[plan->scale.kind].parameters,
                     plan->scale.parameters);
    write_state(json, &plan->scale, layers);
    aps_json_text(json, "reduce", aps_reduce_name(plan->reduce));
    if (groups && plan->group == APS_GROUP_NUMBER)
        aps_json_unsigned(json, "group", (uintmax_t)plan->group_size);
    else
        aps_json_text(json, "group",
                      groups ? aps_group_name(plan->group) : NULL);
    aps_json_text(json, "node", node ? aps_node_name(plan->node) : NULL);
    aps_json_text(json, "accumulate",
                  aps_plan_accumulate(plan, accumulate, sizeof accumulate));
    aps_json_text(json, "rounding", aps_rounding_name(plan->rounding));
    aps_json_unsigned_or_null(json, "seed", plan->rounding != APS_ROUND_NEAREST,
                              plan->seed);
    write_compressor(json, plan);
}

/* Called by aps_shadows_write and aps_auto_formats_write. */
static void write_candidate(void *data, const struct aps_plan *plan)
{
    write_plan(data, plan);
}

/* Writes the member `plan`, null if the calls go to MPI. */
static void write_plan_or_null(struct writing *writing,
                               const struct aps_plan *plan)
{
    struct aps_json *json = &writing->json;

    if (!plan || !plan->rewrite || plan->auto_format) {
        aps_json_null(json, "plan");
        return;
    }
    aps_json_open_object(json, "plan");
    write_plan(writing, plan);
    aps_json_close_object(json);
}

static const struct aps_plan *plan_of(const struct writing *writing, int rule)
{
    return rule < 0 ? NULL : aps_policy_rule_plan(writing->policy, rule);
}

/* --- rules --------------------------------------------------------------- */

static void write_calls(struct aps_json *json, unsigned calls)
{
    aps_json_open_array(json, "calls");
    for (int i = 0; i < APS_CALL_KINDS; i++)
        if (calls >> i & 1)
            aps_json_text(json, NULL, aps_call_name((enum aps_call_kind)i));
    aps_json_close_array(json);
}

static void write_rule(struct writing *writing, int rule)
{
    const struct aps_policy *policy = writing->policy;
    const unsigned calls = aps_policy_rule_calls(policy, rule);
    const struct aps_plan *plan = aps_policy_rule_plan(policy, rule);
    struct aps_json *json = &writing->json;
    enum aps_call_kind first = APS_CALL_ALLREDUCE;
    char when[400];

    while ((calls >> first & 1) == 0 && first + 1 < APS_CALL_KINDS)
        first++;
    aps_json_open_object(json, NULL);
    aps_json_unsigned(json, "line",
                      (uintmax_t)aps_policy_rule_line(policy, rule));
    aps_json_text(json, "name", aps_policy_rule_name(policy, rule));
    write_calls(json, calls);
    aps_json_text(json, "when",
                  aps_policy_rule_when(policy, rule, first, when, sizeof when));
    write_plan_or_null(writing, plan);
    aps_auto_formats_write(json, plan, write_candidate, writing);
    /* The bytes of a compressor depend on layers. */
    aps_json_double(json, "bytes_per_element",
                    plan->compressor.kind == APS_COMPRESSOR_NONE
                        ? aps_traffic_per_element(plan, APS_ELEMENT_FLOAT)
                        : NAN);
    aps_json_close_object(json);
}

/* --- layers -------------------------------------------------------------- */

/* Writes whether a compressor takes the layer, and the layer's matrix; null
 * without a compressor. */
static void write_compressed(struct writing *writing, int rule, size_t layer)
{
    struct aps_json *json = &writing->json;
    struct aps_plan plan;

    aps_policy_layer_plan(writing->policy, rule, layer, &plan);
    if (plan.compressor.kind == APS_COMPRESSOR_NONE) {
        aps_json_null(json, "compressed");
        aps_json_null(json, "matrix");
        return;
    }
    aps_json_bool(json, "compressed", aps_plan_compresses(&plan));
    aps_json_open_object(json, "matrix");
    write_size(json, "rows", plan.matrix.rows);
    write_size(json, "columns", plan.matrix.columns);
    aps_json_close_object(json);
}

/* Writes the spans i to `last`, with one rule. */
static void write_span(struct writing *writing, size_t layer, int rule,
                       const struct aps_range *time)
{
    const struct aps_policy *policy = writing->policy;
    const struct aps_layer_row *row = &aps_policy_layers(policy)->list[layer];
    const size_t count = row->count;
    const struct aps_plan *plan = plan_of(writing, rule);
    struct aps_json *json = &writing->json;
    const bool small = count < aps_policy_min_count(policy);
    const size_t bytes = aps_traffic_layer(policy, rule, layer);

    aps_json_open_object(json, NULL);
    aps_predictions_write_range(json, time);
    /* Index of the rule in `rules`. */
    aps_json_unsigned_or_null(json, "rule", rule >= 0, (uintmax_t)rule);
    if (small)
        aps_json_text(json, "native", "min_count");
    else if (aps_policy_shadow(policy, rule)->count > 0)
        aps_json_text(json, "native", "shadow");
    else if (!plan)
        aps_json_text(json, "native", "no rule matches");
    else
        aps_json_text(json, "native", plan->rewrite ? NULL : "by rule");
    write_plan_or_null(writing, small ? NULL : plan);
    write_compressed(writing, small ? -1 : rule, layer);
    if (plan && plan->compressor.kind != APS_COMPRESSOR_NONE)
        aps_json_double(json, "bytes_per_element",
                        (double)bytes / (double)count);
    else
        aps_json_double(json, "bytes_per_element",
                        aps_traffic_per_element(plan, row->element));
    aps_json_double(json, "saved_bytes",
                    (double)aps_traffic_layer_native(policy, layer) -
                        (double)bytes);
    aps_json_close_object(json);
}

static void write_layer(struct writing *writing, size_t layer)
{
    const struct aps_layers *table = aps_policy_layers(writing->policy);
    const int *rules = aps_schedule_layer(writing->schedule, layer);
    const struct aps_range *spans = writing->schedule->spans;
    struct aps_json *json = &writing->json;

    aps_json_open_object(json, NULL);
    write_size(json, "layer", layer);
    aps_json_text(json, "name", table->list[layer].name);
    write_size(json, "count", table->list[layer].count);
    aps_json_text(json, "type",
                  aps_element_types[table->list[layer].element].name);
    aps_json_open_array(json, "spans");
    for (long i = writing->window->first; i <= writing->window->last;) {
        const int rule = rules[i];
        struct aps_range time = spans[i];

        for (; i <= writing->window->last && rules[i] == rule; i++)
            time.last = spans[i].last;
        write_span(writing, layer, rule, &time);
    }
    aps_json_close_array(json);
    aps_json_close_object(json);
}

/* Writes the bytes of one encoded copy of all layers in a span. */
static void write_total(struct writing *writing, long span)
{
    const struct aps_layers *table = aps_policy_layers(writing->policy);
    struct aps_json *json = &writing->json;
    size_t native = 0, wire = 0;

    for (size_t layer = 0; layer < table->count; layer++) {
        const int rule = aps_schedule_layer(writing->schedule, layer)[span];

        native += aps_traffic_layer_native(writing->policy, layer);
        wire += aps_traffic_layer(writing->policy, rule, layer);
    }
    aps_json_open_object(json, NULL);
    aps_predictions_write_range(json, &writing->schedule->spans[span]);
    write_size(json, "wire_bytes", wire);
    write_size(json, "fp32_bytes", native);
    if (aps_policy_fuse(writing->policy) > 0)
        write_size(json, "batches",
                   aps_nonblocking_groups(writing->policy, writing->schedule,
                                          (size_t)span));
    else
        aps_json_null(json, "batches");
    aps_json_close_object(json);
}

static void write_layers(struct writing *writing)
{
    struct aps_json *json = &writing->json;

    aps_json_text(json, "time",
                  writing->schedule->by_step ? "steps" : "epochs");
    aps_json_open_array(json, "layers");
    for (size_t i = 0; i < aps_policy_layers(writing->policy)->count; i++)
        write_layer(writing, i);
    aps_json_close_array(json);
    aps_json_open_array(json, "totals");
    for (long i = writing->window->first; i <= writing->window->last; i++)
        write_total(writing, i);
    aps_json_close_array(json);
}

void aps_explain_json(const struct aps_arguments *arguments, const char *path,
                      const struct aps_policy *policy,
                      const struct aps_schedule *schedule,
                      const struct aps_range *window,
                      struct aps_cluster *cluster,
                      const struct aps_errors *errors)
{
    struct writing writing = {
        .policy = policy, .schedule = schedule, .window = window};
    struct aps_json *json = &writing.json;
    char summary[256];

    aps_problems_open(json, arguments, policy != NULL);
    aps_json_text(json, "file", path);
    aps_problems_write(json, errors);
    if (policy) {
        aps_json_text(json, "summary",
                      aps_command_summary(policy, summary, sizeof summary));
        write_size(json, "min_count", aps_policy_min_count(policy));
        aps_json_bool(json, "pcontrol", aps_policy_pcontrol(policy));
        aps_json_unsigned_or_null(
            json, "threads", aps_policy_threads(policy) != APS_THREADS_AUTO,
            (uintmax_t)aps_policy_threads(policy));
        aps_json_open_array(json, "rules");
        for (size_t i = 0; i < aps_policy_rules(policy); i++)
            write_rule(&writing, (int)i);
        aps_json_close_array(json);
        aps_shadows_write(json, policy, schedule, write_candidate, &writing);
    }
    if (schedule)
        write_layers(&writing);
    if (policy && cluster)
        aps_predictions_write(json, cluster, policy, schedule, window);
    aps_problems_close(json);
}
