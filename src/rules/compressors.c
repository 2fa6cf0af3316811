/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/compressors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grammar/tables.h"
#include "policy/keywords.h"

/* --- the parameters ------------------------------------------------------- */

_Static_assert(APS_COMPRESSOR_PARAMETERS >= APS_ARGUMENTS_MAX,
               "a compressor keeps all parameters that a word may have");

#define END                                                                    \
    {                                                                          \
        .name = NULL                                                           \
    }

/* Share of a layer's elements. */
#define DENSITY                                                                \
    {                                                                          \
        .name = "density", .kind = APS_PARAMETER_REAL, .above = true,          \
        .max = 1, .otherwise = 0.01                                            \
    }
/* Higher ranks would not compress. */
#define POWERSGD                                                               \
    [APS_POWERSGD_RANK] = {.name = "rank",                                     \
                           .kind = APS_PARAMETER_WHOLE,                        \
                           .min = 1,                                           \
                           .max = 1024,                                        \
                           .otherwise = 4},                                    \
    [APS_POWERSGD_WARM] = {.name = "warm",                                     \
                           .kind = APS_PARAMETER_SWITCH,                       \
                           .otherwise = 1},                                    \
    [APS_POWERSGD_MIN_RATIO] = {.name = "min_ratio",                           \
                                .kind = APS_PARAMETER_REAL,                    \
                                .min = 1,                                      \
                                .max = 1e6,                                    \
                                .otherwise = 2},                               \
    [APS_POWERSGD_SEED] = {                                                    \
        .name = "seed", .kind = APS_PARAMETER_WHOLE, .max = UINT32_MAX}
static const struct aps_parameter powersgd[] = {POWERSGD, END};
static const struct aps_parameter mstopk_powersgd[] = {
    POWERSGD, [APS_MSTOPK_POWERSGD_DENSITY] = DENSITY, END};
static const struct aps_parameter mstopk[] = {
    [APS_SELECTING_DENSITY] = DENSITY,
    [APS_MSTOPK_SEED] = {.name = "seed",
                         .kind = APS_PARAMETER_WHOLE,
                         .max = UINT32_MAX},
    END};
static const struct aps_parameter topk[] = {[APS_SELECTING_DENSITY] = DENSITY,
                                            END};
static const struct aps_parameter threshold[] = {
    [APS_SELECTING_DENSITY] = DENSITY,
    [APS_THRESHOLD_VALUE] = {.name = "value",
                             .kind = APS_PARAMETER_REAL,
                             .required = true,
                             .above = true,
                             .max = INFINITY},
    END};
/* No element deviates by more standard deviations than the root of the number
 * of elements: this clip has no effect on a layer of 10^8. */
static const struct aps_parameter ternary[] = {
    [APS_TERNARY_CLIP] = {.name = "clip",
                          .kind = APS_PARAMETER_REAL,
                          .max = 1e4,
                          .otherwise = 2.5},
    [APS_TERNARY_SEED] = {.name = "seed",
                          .kind = APS_PARAMETER_WHOLE,
                          .max = UINT32_MAX},
    END};

static const struct aps_parameter vote[] = {
    [APS_VOTE_VALUE] = {.name = "value",
                        .kind = APS_PARAMETER_REAL,
                        .max = INFINITY},
    END};
static const struct aps_parameter chunks[] = {
    [APS_CHUNKS_DENSITY] = {.name = "density",
                            .kind = APS_PARAMETER_REAL,
                            .above = true,
                            .max = 1,
                            .otherwise = 0.1},
    [APS_CHUNKS_SIZE] = {.name = "size",
                         .kind = APS_PARAMETER_WHOLE,
                         .min = 1,
                         .max = UINT32_MAX,
                         .otherwise = 1024},
    END};

static const struct aps_choice compressors[APS_COMPRESSOR_KINDS] = {
    [APS_COMPRESSOR_POWERSGD] = {powersgd, NULL},
    [APS_COMPRESSOR_MSTOPK] = {mstopk, NULL},
    [APS_COMPRESSOR_TOPK] = {topk, NULL},
    [APS_COMPRESSOR_MSTOPK_POWERSGD] = {mstopk_powersgd, NULL},
    [APS_COMPRESSOR_THRESHOLD] = {threshold,
                                  "compress: {threshold: {value: 1e-3}}"},
    [APS_COMPRESSOR_TERNARY] = {ternary, NULL},
    [APS_COMPRESSOR_CHUNKS] = {chunks, NULL},
    [APS_COMPRESSOR_VOTE] = {vote, NULL},
};
const struct aps_grammar aps_grammar_compress = {
    .words = &aps_keywords_compress, .choices = compressors};

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

/* Returns the key that asks for the compressor, and its name in messages. */
static const struct aps_yaml_node *key_of(const struct aps_rule_keys *rule,
                                          const struct aps_plan *plan)
{
    return plan->compressor.kind == APS_COMPRESSOR_NONE
               ? rule->keys[APS_RULE_FEEDBACK]
               : rule->keys[APS_RULE_COMPRESS];
}

static const char *name_of(const struct aps_plan *plan, char *name, size_t size)
{
    if (plan->compressor.kind == APS_COMPRESSOR_NONE)
        return "'feedback'";
    snprintf(name, size, "compress: %s",
             aps_compressor_name(&plan->compressor));
    return name;
}

/* Reports a policy in which layers have no place in a step that distinguishes
 * them. */
static void check_steps(const struct aps_rule_keys *rule,
                        const struct aps_plan *plan)
{
    char name[64];

    if (rule->context->knows_steps || !aps_plan_remembers(plan))
        return;
    aps_reader_error(
        rule->reader, key_of(rule, plan),
        "%s keeps state of each layer, and only steps tell layers apart; write "
        "'steps: auto' or a layer table ('table: FILE') next to 'rules'",
        name_of(plan, name, sizeof name));
}

static void check_calls(const struct aps_rule_keys *rule,
                        const struct aps_plan *plan)
{
    const unsigned others = rule->calls & ~(1u << APS_CALL_ALLREDUCE);
    char calls[64], name[64];

    if (others == 0)
        return;
    aps_keywords_list(&aps_keywords_call, others, ", ", calls, sizeof calls);
    aps_reader_error(
        rule->reader, key_of(rule, plan),
        "%s cannot be combined with calls: %s; use it with allreduce",
        name_of(plan, name, sizeof name), calls);
}

static void check_scale(const struct aps_rule_keys *rule,
                        const struct aps_plan *plan)
{
    const bool reduced = plan->compressor.kind == APS_COMPRESSOR_NONE ||
                         aps_compressor_ops_of(&plan->compressor)->floats;
    const struct aps_yaml_node *key = rule->keys[APS_RULE_SCALE]
                                          ? rule->keys[APS_RULE_SCALE]
                                          : rule->keys[APS_RULE_APS];
    char name[64];

    /* Without a key the scale follows from `accumulate`, which is refused. */
    if (!key || (aps_scale_state_bytes(&plan->scale) == 0 &&
                 (reduced || !aps_scale_ops_of(&plan->scale)->agreed)))
        return;
    aps_reader_error(rule->reader, key,
                     "scale %s cannot be combined with %s, whose messages %s; "
                     "use none, fixed%s or aps-tight",
                     aps_scale_name(&plan->scale),
                     name_of(plan, name, sizeof name),
                     reduced ? "are no gradients" : "differ from rank to rank",
                     reduced ? ", aps" : "");
}

/* Reports keys for format, scale and rounding of integers, which have none,
 * unless the keys state that. */
static void check_integers(const struct aps_rule_keys *rule,
                           const struct aps_plan *plan)
{
    const struct {
        enum aps_rule_key key;
        const char *name;
        bool says;
    } keys[] = {
        {APS_RULE_FORMAT, "format",
         plan->rewrite && !aps_format_is_full(&plan->format)},
        {APS_RULE_SCALE, "scale", plan->scale.kind != APS_SCALE_NONE},
        {APS_RULE_APS, "aps", plan->scale.kind != APS_SCALE_NONE},
        {APS_RULE_ROUNDING, "rounding", plan->rounding != APS_ROUND_NEAREST},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (rule->keys[keys[i].key] && keys[i].says)
            aps_reader_error(rule->reader, rule->keys[keys[i].key],
                             "'%s' cannot be combined with compress: %s, whose "
                             "messages are integers; leave it out",
                             keys[i].name,
                             aps_compressor_name(&plan->compressor));
}

/* Reports `accumulate` for a compressor without a reduction, whose sums are
 * FP32 or exact. */
static void check_accumulate(const struct aps_rule_keys *rule,
                             const struct aps_plan *plan)
{
    if (plan->accumulate == APS_ACCUMULATE_FP32 ||
        aps_compressor_ops_of(&plan->compressor)->floats)
        return;
    aps_reader_error(rule->reader, rule->keys[APS_RULE_ACCUMULATE],
                     "'accumulate' cannot be combined with compress: %s, whose "
                     "messages are added up %s; leave it out",
                     aps_compressor_name(&plan->compressor),
                     aps_compressor_ops_of(&plan->compressor)->integers
                         ? "exactly"
                         : "in FP32");
}

/* Sets the reduction of compressors that have one of their own: each rank sends
 * to all others (fewest bytes with few ranks), to owners, or to owners of its
 * group. Sums of integers have few bits, and use owners. */
static void settle_reduce(const struct aps_rule_keys *rule,
                          const struct aps_yaml_node *node,
                          struct aps_plan *plan)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_REDUCE];
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);
    const char *name = aps_compressor_name(&plan->compressor);
    const bool levels = plan->reduce == APS_REDUCE_HIERARCHICAL;
    const bool known = plan->reduce == APS_REDUCE_GATHER ||
                       plan->reduce == APS_REDUCE_DIRECT ||
                       (levels && (!ops->integers || ops->nests));

    if (plan->reduce == APS_REDUCE_AUTO)
        aps_reader_error(rule->reader, key,
                         "reduce: auto cannot be combined with compress: %s; "
                         "name the reduction for its messages",
                         name);
    else if (!ops->floats && key && !known)
        aps_reader_error(
            rule->reader, key,
            "reduce: %s cannot be combined with compress: %s; use it with %s",
            aps_reduce_name(plan->reduce), name,
            !ops->integers ? "gather, direct or hierarchical"
            : ops->nests   ? "direct, gather or hierarchical"
                           : "direct or gather");
    else if (!ops->floats && !key)
        plan->reduce = ops->integers ? APS_REDUCE_DIRECT : APS_REDUCE_GATHER;
    else if (!ops->floats && levels && node)
        aps_reader_error(rule->reader, node,
                         "'node' cannot be combined with compress: %s, which "
                         "sends %s inside a group; leave it out",
                         name, ops->integers ? "integers" : "FP32");
}

/* Sets the reduction of a format with feedback, of all values or of chunks. */
static void settle_rounded(const struct aps_rule_keys *rule,
                           struct aps_plan *plan)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_FEEDBACK]
                                          ? rule->keys[APS_RULE_FEEDBACK]
                                          : rule->keys[APS_RULE_COMPRESS];
    const struct aps_yaml_node *reduce = rule->keys[APS_RULE_REDUCE];

    if (plan->accumulate != APS_ACCUMULATE_FP32)
        aps_reader_error(rule->reader, key,
                         "'feedback' cannot be combined with accumulate: %s: "
                         "partial sums have no residuals",
                         aps_accumulate_name(plan->accumulate));
    if (reduce && plan->reduce != APS_REDUCE_DIRECT)
        aps_reader_error(rule->reader, reduce,
                         "'feedback' of a format needs reduce: direct, not %s",
                         aps_reduce_name(plan->reduce));
    plan->reduce = APS_REDUCE_DIRECT;
}

/* Warns of feedback with a vote: the residual grows from call to call if most
 * ranks have one sign and the sum has the other. */
static void check_feedback(const struct aps_rule_keys *rule,
                           const struct aps_plan *plan)
{
    if (plan->feedback && aps_compressor_ops_of(&plan->compressor)->forgets)
        aps_reader_error(rule->reader, rule->keys[APS_RULE_FEEDBACK],
                         "'feedback' cannot be combined with compress: %s, "
                         "which loses magnitudes without bounds: use format: "
                         "sign/64 with 'feedback: on' instead",
                         aps_compressor_name(&plan->compressor));
}

/* True if chunks are rounded and have residuals. */
static bool rounds_chunks(const struct aps_plan *plan)
{
    return aps_compressor_ops_of(&plan->compressor)->chunk && plan->feedback &&
           !aps_format_is_full(&plan->format);
}

void aps_compressors_settle(const struct aps_rule_keys *rule,
                            const struct aps_yaml_node *node,
                            struct aps_plan *plan)
{
    if (!plan->rewrite || !aps_plan_is_compressed(plan))
        return;
    check_steps(rule, plan);
    check_calls(rule, plan);
    check_feedback(rule, plan);
    if (aps_compressor_ops_of(&plan->compressor)->integers)
        check_integers(rule, plan);
    else
        check_scale(rule, plan);
    if (plan->compressor.kind == APS_COMPRESSOR_NONE || rounds_chunks(plan)) {
        settle_rounded(rule, plan);
    } else {
        settle_reduce(rule, node, plan);
        check_accumulate(rule, plan);
    }
}
