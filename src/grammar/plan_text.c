/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "grammar/plan_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "base/real.h"
#include "grammar/tables.h"
#include "policy/keywords.h"

struct text {
    char *buffer;
    size_t size;
};

static void add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    const size_t used = strlen(text->buffer);
    va_list args;

    va_start(args, format);
    aps_vprint(text->buffer + used, text->size - used, format, args);
    va_end(args);
}

static void add_key(struct text *text, const char *key)
{
    add(text, "%s%s: ", text->buffer[1] ? ", " : "", key);
}

/* --- words with parameters ------------------------------------------------- */

static int find(const struct aps_parameter *parameters, const char *name)
{
    int i = 0;

    while (strcmp(parameters[i].name, name) != 0)
        i++;
    return i;
}

/* True if parameter i has its default, or has no effect. */
static bool is_default(const struct aps_parameter *parameters,
                       const double *values, int i)
{
    const struct aps_parameter *parameter = &parameters[i];

    if (parameter->required)
        return false;
    if (parameter->needs && values[find(parameters, parameter->needs)] > 0)
        return true;
    if (parameter->follows)
        return values[i] == values[find(parameters, parameter->follows)];
    return values[i] == parameter->otherwise;
}

static void add_value(struct text *text, const struct aps_parameter *parameter,
                      double value)
{
    char number[APS_REAL_TEXT_MAX];

    if (parameter->kind == APS_PARAMETER_WORD)
        add(text, "%s", parameter->words->known[(int)value]);
    else if (parameter->kind == APS_PARAMETER_SWITCH)
        add(text, "%s", value != 0 ? "on" : "off");
    else
        add(text, "%s", aps_real_format(value, number));
}

/* Appends WORD, or {WORD: {parameter: value, ...}}. */
static void add_word(struct text *text, const char *word,
                     const struct aps_parameter *parameters,
                     const double *values)
{
    bool first = true;

    for (int i = 0; parameters && parameters[i].name; i++) {
        if (is_default(parameters, values, i))
            continue;
        if (first)
            add(text, "{%s: {", word);
        add(text, "%s%s: ", first ? "" : ", ", parameters[i].name);
        add_value(text, &parameters[i], values[i]);
        first = false;
    }
    add(text, "%s", first ? word : "}}");
}

/* --- the keys of a rule ------------------------------------------------------ */

static void add_compress(struct text *text, const struct aps_plan *plan)
{
    const struct aps_compressor *compressor = &plan->compressor;

    if (compressor->kind != APS_COMPRESSOR_NONE) {
        add_key(text, "compress");
        add_word(text, aps_compressor_name(compressor),
                 aps_grammar_compress.choices[compressor->kind].parameters,
                 compressor->parameters);
    }
    if (plan->feedback != aps_compressor_ops_of(compressor)->feedback) {
        add_key(text, "feedback");
        add(text, "%s", plan->feedback ? "on" : "off");
    }
}

static void add_rounding(struct text *text, const struct aps_plan *plan)
{
    const bool drawn = plan->format.draws == APS_FORMAT_DRAWS_ALWAYS;
    const char *word = aps_rounding_name(plan->rounding);

    if (plan->rounding == APS_ROUND_NEAREST || (drawn && plan->seed == 0))
        return;
    add_key(text, "rounding");
    if (plan->seed == 0)
        add(text, "%s", word);
    else
        add(text, "{%s: {seed: %lu}}", word, (unsigned long)plan->seed);
}

/* Appends the format and scale of values. Messages of integers have neither. */
static void add_format(struct text *text, const struct aps_plan *plan)
{
    if (aps_compressor_ops_of(&plan->compressor)->integers)
        return;
    add_key(text, "format");
    add(text, "%s", plan->format.name);
    if (!plan->format.self_scaled) {
        add_key(text, "scale");
        add_word(text, aps_scale_name(&plan->scale),
                 aps_grammar_scale.choices[plan->scale.kind].parameters,
                 plan->scale.parameters);
    }
    add_rounding(text, plan);
}

/* Appends the reduction. The default depends on the compressor. */
static void add_reduce(struct text *text, const struct aps_plan *plan)
{
    if (plan->reduce != APS_REDUCE_HIERARCHICAL ||
        aps_plan_is_compressed(plan)) {
        add_key(text, "reduce");
        add(text, "%s", aps_reduce_name(plan->reduce));
    }
    if (aps_reduce_takes(plan->reduce, APS_SETTING_GROUP) &&
        plan->group != APS_GROUP_NODE) {
        add_key(text, "group");
        if (plan->group == APS_GROUP_NUMBER)
            add(text, "%d", plan->group_size);
        else
            add(text, "%s", aps_group_name(plan->group));
    }
    if (aps_reduce_takes(plan->reduce, APS_SETTING_NODE) &&
        plan->node != APS_NODE_FORMAT) {
        add_key(text, "node");
        add(text, "%s", aps_node_name(plan->node));
    }
}

static void add_accumulate(struct text *text, const struct aps_plan *plan)
{
    const bool own = strcmp(plan->sums.name, plan->format.name) == 0;

    if (plan->accumulate == APS_ACCUMULATE_FP32)
        return;
    add_key(text, "accumulate");
    if (own && plan->chunk == 0) {
        add(text, "%s", aps_accumulate_name(plan->accumulate));
        return;
    }
    add(text, "{format: %s", own ? "on" : plan->sums.name);
    if (plan->accumulate == APS_ACCUMULATE_KAHAN)
        add(text, ", kahan: on");
    if (plan->chunk > 0)
        add(text, ", chunk: %d", plan->chunk);
    add(text, "}");
}

char *aps_plan_text(const struct aps_plan *plan, char *buffer, size_t size)
{
    struct text text = {buffer, size};

    snprintf(buffer, size, "{");
    add_format(&text, plan);
    add_compress(&text, plan);
    add_reduce(&text, plan);
    add_accumulate(&text, plan);
    add(&text, "}");
    return buffer;
}

char *aps_auto_format_target(const struct aps_auto_format *formats,
                             char *buffer, size_t size)
{
    char number[APS_REAL_TEXT_MAX];

    aps_real_round(formats->stated, 6, number);
    if (formats->target == APS_TARGET_SNR)
        snprintf(buffer, size, "snr %sdB", number);
    else
        snprintf(buffer, size, "err %s", number);
    return buffer;
}
