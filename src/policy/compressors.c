/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/compressors.h"

#include "policy/tables.h"
#include "policy/words.h"

/* --- the parameters ------------------------------------------------------- */

_Static_assert(APS_COMPRESSOR_PARAMETERS >= APS_ARGUMENTS_MAX,
               "a compressor keeps all parameters that a word may have");

#define END                                                                    \
    {                                                                          \
        .name = NULL                                                           \
    }

/* Ranks beyond a thousand compress nothing. */
static const struct aps_parameter powersgd[] = {
    [APS_POWERSGD_RANK] = {.name = "rank",
                           .kind = APS_PARAMETER_WHOLE,
                           .min = 1,
                           .max = 1024,
                           .otherwise = 4},
    [APS_POWERSGD_WARM] = {.name = "warm",
                           .kind = APS_PARAMETER_SWITCH,
                           .otherwise = 1},
    [APS_POWERSGD_MIN_RATIO] = {.name = "min_ratio",
                                .kind = APS_PARAMETER_REAL,
                                .min = 1,
                                .max = 1e6,
                                .otherwise = 2},
    [APS_POWERSGD_SEED] = {.name = "seed",
                           .kind = APS_PARAMETER_WHOLE,
                           .max = UINT32_MAX},
    END};

static const struct aps_choice compressors[APS_COMPRESSOR_KINDS] = {
    [APS_COMPRESSOR_POWERSGD] = {powersgd, NULL},
};
const struct aps_grammar aps_grammar_compress = {.words = &aps_words_compress,
                                                 .choices = compressors};

/* --- reading -------------------------------------------------------------- */

int aps_compressors_read(const struct aps_rule_keys *rule,
                         struct aps_plan *plan)
{
    const struct aps_yaml_node *compress = rule->keys[APS_RULE_COMPRESS];
    const struct aps_yaml_node *feedback = rule->keys[APS_RULE_FEEDBACK];
    struct aps_compressor *compressor = &plan->compressor;
    const struct aps_parameter *parameters;
    struct aps_value value;

    if (compress) {
        if (aps_read_value(rule->reader, compress, &aps_grammar_compress,
                           &value) < 0)
            return -1;
        parameters = aps_grammar_compress.choices[value.word].parameters;
        compressor->kind = (enum aps_compressor_kind)value.word;
        for (int i = 0; parameters && parameters[i].name; i++)
            compressor->parameters[i] =
                aps_argument_number(&parameters[i], &value.arguments[i]);
    }
    plan->feedback = aps_compressor_ops_of(compressor)->feedback;
    return feedback ? aps_read_switch(rule->reader, feedback, &plan->feedback)
                    : 0;
}

void aps_compressors_check(const struct aps_rule_keys *rule,
                           const struct aps_plan *plan)
{
    const struct aps_yaml_node *compress = rule->keys[APS_RULE_COMPRESS];
    const struct aps_yaml_node *feedback = rule->keys[APS_RULE_FEEDBACK];
    const unsigned others = rule->calls & ~(1u << APS_CALL_ALLREDUCE);
    const char *name = aps_compressor_name(&plan->compressor);
    char calls[64];

    if (plan->compressor.kind == APS_COMPRESSOR_NONE) {
        if (feedback && plan->feedback)
            aps_reader_error(rule->reader, feedback,
                             "'feedback' remembers what a compressor leaves "
                             "out: it goes with 'compress'");
        return;
    }
    if (others != 0) {
        aps_words_list(&aps_words_call, others, ", ", calls, sizeof calls);
        aps_reader_error(rule->reader, compress,
                         "compress: %s contradicts calls: %s; it goes with "
                         "allreduce",
                         name, calls);
    }
    if (!rule->context->knows_steps && aps_plan_remembers(plan))
        aps_reader_error(rule->reader, compress,
                         "compress: %s remembers something of each layer, and "
                         "layers are told apart by their places in a step: "
                         "write 'steps: auto' or a layer table ('table: FILE') "
                         "beside 'rules'",
                         name);
    if (plan->reduce == APS_REDUCE_AUTO)
        aps_reader_error(rule->reader, rule->keys[APS_RULE_REDUCE],
                         "reduce: auto contradicts compress: %s; name the "
                         "reduction that its messages go by",
                         name);
    if (aps_scale_state_bytes(&plan->scale) > 0)
        aps_reader_error(rule->reader, rule->keys[APS_RULE_SCALE],
                         "scale %s contradicts compress: %s, whose messages "
                         "are no gradients; use none, fixed, aps or aps-tight",
                         aps_scale_name(&plan->scale), name);
}
