/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/settings.h"

#include <stdio.h>
#include <string.h>

#include "number/parse.h"
#include "rules/compressors.h"
#include "grammar/formats.h"
#include "rules/scales.h"
#include "rules/wide_formats.h"
#include "grammar/tables.h"
#include "policy/keywords.h"

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)

/* Keys for `group` and `node`: of the rule, or parameters of `reduce`. */
struct group_keys {
    const struct aps_yaml_node *group;
    const struct aps_yaml_node *node;
};

/* --- reading ------------------------------------------------------------- */

/* True if the format at `word` would hide INF and NaN; reports the error. */
static bool refuse_saturating(const struct aps_reader *reader,
                              const struct aps_yaml_node *word)
{
    if (!aps_format_name_saturates(word->text))
        return false;
    aps_reader_error(
        reader, word,
        "format '%.80s' does not saturate sums: what overflows "
        "would arrive as INF or NaN. Leave out '-sat'; scales with "
        "a state have on_overflow: saturate, as in scale: "
        "{backoff: {on_overflow: saturate}}",
        word->text);
    return true;
}

/* Reads `format`; *word is its text. True if the plan has a format. A rule with
 * `compress` needs none, and fp32 means uncompressed values there. */
static bool read_format(const struct aps_rule_keys *rule, bool compressed,
                        struct aps_plan *plan, const char **word)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_FORMAT];
    struct aps_value value;

    if (!key && compressed) {
        plan->rewrite = true;
        return aps_format_parse("e8m23", &plan->format, NULL) == 0;
    }
    /* Candidates have formats of their own. */
    if (!key && rule->keys[APS_RULE_SHADOW]) {
        (void)aps_format_parse("fp32", &plan->format, NULL);
        return false;
    }
    if (!key) {
        aps_reader_error(rule->reader, rule->node, "the rule has no 'format'");
        return false;
    }
    if (aps_format_is_auto(key)) {
        aps_reader_error(rule->reader, key->value,
                         "a candidate has one format: list each of them");
        return false;
    }
    if (aps_read_value(rule->reader, key, rule->formats, &value) < 0)
        return false;
    *word = value.at->text;
    if (value.word == APS_FORMAT_WORD_FP32 && compressed) {
        plan->rewrite = true;
        return aps_format_parse("e8m23", &plan->format, NULL) == 0;
    }
    if (value.word != APS_WORD_FORMAT) {
        /* Only the name `fp32` means MPI: e8m23 is a reduction of the
         * library. */
        plan->rewrite = false;
        return aps_format_parse("fp32", &plan->format, NULL) == 0;
    }
    plan->rewrite = true;
    plan->format = value.format;
    return !refuse_saturating(rule->reader, value.at);
}

static const struct aps_yaml_node *later_of(const struct aps_yaml_node *a,
                                            const struct aps_yaml_node *b)
{
    if (a->line != b->line)
        return a->line > b->line ? a : b;
    return a->column > b->column ? a : b;
}

/* Removes the scale of a format whose blocks have scales of their own.
 * aps-tight, which scales blocks by their maximum too, is allowed. */
static void settle_own_scale(const struct aps_rule_keys *rule,
                             struct aps_plan *plan)
{
    const struct aps_yaml_node *scale = rule->keys[APS_RULE_SCALE];
    const struct aps_yaml_node *aps = rule->keys[APS_RULE_APS];
    const enum aps_scale_kind kind = plan->scale.kind;

    plan->scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    if ((!scale && !aps) || kind == APS_SCALE_NONE ||
        kind == APS_SCALE_APS_TIGHT)
        return;
    aps_reader_error(rule->reader, scale ? scale->value : aps->value,
                     "format %s scales each block of %d values by itself: "
                     "leave '%s' out",
                     plan->format.name, plan->format.block,
                     scale ? scale->text : aps->text);
}

/* Sets the scale from `scale`, `aps` or `accumulate`, after format and
 * accumulate. */
static void settle_scale(const struct aps_rule_keys *rule,
                         struct aps_plan *plan)
{
    const struct aps_yaml_node *scale = rule->keys[APS_RULE_SCALE];
    const struct aps_yaml_node *aps = rule->keys[APS_RULE_APS];
    bool rounds_sums = plan->accumulate != APS_ACCUMULATE_FP32;
    bool on;

    plan->scale = aps_scale_unnamed(rounds_sums);
    if (aps && aps_read_switch(rule->reader, aps, &on) == 0) {
        plan->scale = aps_scale_switched(on);
        aps_scales_warn(rule, aps->value, plan);
    }
    if (scale && aps_scales_read(rule, plan) < 0)
        return;
    if (scale && aps)
        aps_reader_error(
            rule->reader, later_of(scale, aps),
            "'aps' and 'scale' have the same meaning; remove one of them");
    if (plan->rewrite && plan->format.self_scaled) {
        settle_own_scale(rule, plan);
        return;
    }
    if (!aps_scale_ops_of(&plan->scale)->per_block)
        return;
    if (rounds_sums)
        aps_reader_error(rule->reader, scale,
                         "scale %s cannot be combined with accumulate: %s "
                         "(every sender would have its own scale); use aps",
                         aps_scale_name(&plan->scale),
                         aps_accumulate_name(plan->accumulate));
    if (plan->rewrite && aps_format_max(&plan->format) == 0)
        aps_reader_error(rule->reader,
                         scale ? scale->value
                               : rule->keys[APS_RULE_FORMAT]->value,
                         "format %s has no finite value but zero, which "
                         "scale %s needs",
                         plan->format.name, aps_scale_name(&plan->scale));
}

static void set_group(const struct aps_argument *group, struct aps_plan *plan)
{
    if (group->word >= 0) {
        plan->group = (enum aps_group_kind)group->word;
        return;
    }
    plan->group = APS_GROUP_NUMBER;
    plan->group_size = (int)group->whole;
}

/* Reads a key of the rule that abbreviates a parameter of `reduce` into its
 * argument. */
static void read_short(const struct aps_rule_keys *rule, enum aps_rule_key at,
                       const struct aps_parameter *parameter,
                       struct aps_argument *argument)
{
    const struct aps_yaml_node *key = rule->keys[at];
    struct aps_argument read = *argument;

    if (!key)
        return;
    if (argument->key)
        aps_reader_error(
            rule->reader, later_of(key, argument->key),
            "'%s' is in the rule and in 'reduce'; remove one of them",
            parameter->name);
    else if (aps_read_argument(rule->reader, key, parameter, &read) == 0)
        *argument = read;
    argument->key = key;
}

static void read_reduce(const struct aps_rule_keys *rule, struct aps_plan *plan,
                        struct group_keys *given)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_REDUCE];
    struct aps_argument group = {.word = APS_GROUP_NODE};
    struct aps_argument node = {.word = APS_NODE_FORMAT};
    struct aps_value value;

    plan->reduce = APS_REDUCE_HIERARCHICAL;
    if (key &&
        aps_read_value(rule->reader, key, &aps_grammar_reduce, &value) == 0) {
        plan->reduce = (enum aps_reduce_kind)value.word;
        if (aps_reduce_takes(plan->reduce, APS_SETTING_GROUP))
            group = value.arguments[APS_REDUCE_GROUP];
        if (aps_reduce_takes(plan->reduce, APS_SETTING_NODE))
            node = value.arguments[APS_REDUCE_NODE];
    }
    read_short(rule, APS_RULE_GROUP, &aps_parameter_group, &group);
    read_short(rule, APS_RULE_NODE, &aps_parameter_node, &node);
    set_group(&group, plan);
    plan->node = (enum aps_node_kind)node.word;
    given->group = group.key;
    given->node = node.key;
}

/* Reports integer sums in another format, which would need another scale. */
static bool refuse_integer_sums(const struct aps_reader *reader,
                                const struct aps_yaml_node *word,
                                const struct aps_plan *plan)
{
    if (plan->sums.exponent_bits > 0 || plan->sums.self_scaled ||
        strcmp(plan->sums.name, plan->format.name) == 0)
        return false;
    aps_reader_error(
        reader, word,
        "sums cannot be kept in %s unless the rule's format is %s: "
        "its integers would need a scale of their own",
        plan->sums.name, plan->sums.name);
    return true;
}

/* Reports partial sums without range: blocks with scales of their own leave
 * their sums without a scale, so that these need the range of FP32, or
 * blocks. */
static bool refuse_unscaled_sums(const struct aps_reader *reader,
                                 const struct aps_yaml_node *word,
                                 const struct aps_plan *plan)
{
    if (!plan->format.self_scaled || plan->sums.self_scaled ||
        plan->sums.exponent_bits == 8)
        return false;
    aps_reader_error(reader, word,
                     "sums cannot be kept in %s where the rule's format is %s: "
                     "its blocks scale themselves, and the sums would have no "
                     "scale; use a format in blocks, or one with the range of "
                     "fp32, such as bf16",
                     plan->sums.name, plan->format.name);
    return true;
}

/* accumulate: {format: F, kahan: on, chunk: K} */
static void read_sums(const struct aps_reader *reader,
                      const struct aps_value *value, struct aps_plan *plan)
{
    const struct aps_argument *format = &value->arguments[APS_SUM_FORMAT];
    const bool kahan = value->arguments[APS_SUM_KAHAN].on;

    plan->accumulate = kahan ? APS_ACCUMULATE_KAHAN : APS_ACCUMULATE_FORMAT;
    plan->chunk = (int)value->arguments[APS_SUM_CHUNK].whole;
    if (!format->key || refuse_saturating(reader, format->key->value))
        return;
    plan->sums = format->format;
    if (aps_format_granule(&plan->format) % aps_format_granule(&plan->sums) !=
        0)
        aps_reader_error(reader, format->key->value,
                         "partial sums in %s have blocks of %d values: slices "
                         "in %s begin elsewhere, at multiples of %zu",
                         plan->sums.name, plan->sums.block, plan->format.name,
                         aps_format_granule(&plan->format));
    if (refuse_integer_sums(reader, format->key->value, plan) ||
        refuse_unscaled_sums(reader, format->key->value, plan))
        return;
    if (!kahan && plan->chunk == 0 && aps_format_is_full(&format->format))
        plan->accumulate = APS_ACCUMULATE_FP32;
}

static void read_accumulate(const struct aps_rule_keys *rule,
                            struct aps_plan *plan)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_ACCUMULATE];
    struct aps_value value;

    plan->accumulate = APS_ACCUMULATE_FP32;
    plan->sums = plan->format;
    if (!key ||
        aps_read_value(rule->reader, key, &aps_grammar_accumulate, &value) < 0)
        return;
    if (value.word == APS_WORD_OWN)
        read_sums(rule->reader, &value, plan);
    else
        plan->accumulate = (enum aps_accumulate_kind)value.word;
}

/* --- what goes together -------------------------------------------------- */

static void check_native(const struct aps_rule_keys *rule, const char *word)
{
    static const enum aps_rule_key settings[] = {
        APS_RULE_SCALE,    APS_RULE_APS,      APS_RULE_REDUCE,
        APS_RULE_GROUP,    APS_RULE_NODE,     APS_RULE_ACCUMULATE,
        APS_RULE_ROUNDING, APS_RULE_COMPRESS, APS_RULE_FEEDBACK};

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct aps_yaml_node *key = rule->keys[settings[i]];

        if (key)
            aps_reader_error(
                rule->reader, key,
                "'%s' cannot be combined with format: %s, which leaves the "
                "call to MPI (e8m23 is the library's FP32 reduction)",
                key->text, word);
    }
}

/* Lists the reductions with that setting: "direct, hierarchical or gather". */
static void list_reductions(enum aps_setting setting, char *list, size_t size)
{
    unsigned takers = 0;

    for (unsigned i = 0; i < APS_REDUCE_KINDS; i++) {
        if (aps_reduce_takes((enum aps_reduce_kind)i, setting))
            takers |= 1u << i;
    }
    aps_keywords_list(&aps_keywords_reduce, takers, " or ", list, size);
}

static void check_reduce(const struct aps_rule_keys *rule,
                         const struct aps_plan *plan,
                         const struct group_keys *given)
{
    const struct aps_yaml_node *accumulate = rule->keys[APS_RULE_ACCUMULATE];
    const bool kahan = plan->accumulate == APS_ACCUMULATE_KAHAN;
    const bool other = plan->accumulate != APS_ACCUMULATE_FP32 &&
                       plan->rewrite &&
                       strcmp(plan->sums.name, plan->format.name) != 0;
    const struct {
        const struct aps_yaml_node *key;
        enum aps_setting setting;
        const char *name;
    } settings[] = {
        {given->group, APS_SETTING_GROUP, "'group'"},
        {given->node, APS_SETTING_NODE, "'node'"},
        {kahan ? accumulate : NULL, APS_SETTING_KAHAN, "accumulate: kahan"},
        {plan->chunk > 0 ? accumulate : NULL, APS_SETTING_CHUNK,
         "a sum in chunks"},
        {other && !kahan ? accumulate : NULL, APS_SETTING_SUMS,
         "a format of sums that is not the rule's"},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char list[128];

        if (!settings[i].key ||
            aps_reduce_takes(plan->reduce, settings[i].setting))
            continue;
        list_reductions(settings[i].setting, list, sizeof list);
        aps_reader_error(
            rule->reader, settings[i].key,
            "%s cannot be combined with reduce: %s; use it with %s",
            settings[i].name, aps_reduce_name(plan->reduce), list);
    }
}

static void warn_groups(const struct aps_rule_keys *rule,
                        const struct aps_plan *plan,
                        const struct group_keys *given)
{
    if (given->node && plan->node == APS_NODE_FP32 &&
        plan->group == APS_GROUP_NUMBER && plan->group_size == 1)
        aps_reader_warn(rule->reader, given->node,
                        "node: fp32 has no effect with groups of one rank");
}

void aps_settings_check_calls(const struct aps_rule_keys *rule,
                              const struct aps_yaml_node *at, const char *name,
                              unsigned takers)
{
    char calls[64], others[64];

    /* If calls is 0, the key `calls` is wrong, and its error has been
     * reported. */
    if (!at || rule->calls == 0 || (rule->calls & takers) != 0)
        return;
    aps_keywords_list(&aps_keywords_call, rule->calls, ", ", calls,
                      sizeof calls);
    aps_keywords_list(&aps_keywords_call, takers, " or ", others,
                      sizeof others);
    aps_reader_error(rule->reader, at,
                     "%s cannot be combined with calls: %s; use it with %s",
                     name, calls, others);
}

/* Reports settings that only all-reduces have. */
static void check_calls(const struct aps_rule_keys *rule,
                        const struct aps_plan *plan,
                        const struct group_keys *given)
{
    unsigned sums = 0;
    char name[32];

    snprintf(name, sizeof name, "reduce: %s", aps_reduce_name(plan->reduce));
    if (plan->reduce != APS_REDUCE_AUTO)
        aps_settings_check_calls(rule, rule->keys[APS_RULE_REDUCE], name,
                                 ALLREDUCE);
    aps_settings_check_calls(rule, given->group, "'group'", ALLREDUCE);
    aps_settings_check_calls(rule, given->node, "'node'", ALLREDUCE);
    if (plan->accumulate == APS_ACCUMULATE_FP32)
        return;
    for (unsigned i = 0; i < APS_CALL_KINDS; i++)
        if (aps_call_sums((enum aps_call_kind)i))
            sums |= 1u << i;
    snprintf(name, sizeof name, "accumulate: %s",
             aps_accumulate_name(plan->accumulate));
    aps_settings_check_calls(rule, rule->keys[APS_RULE_ACCUMULATE], name, sums);
}

static void check_rounding(const struct aps_rule_keys *rule,
                           const struct aps_yaml_node *at,
                           const struct aps_plan *plan)
{
    const bool nearest = plan->rounding == APS_ROUND_NEAREST;

    if (plan->format.draws == APS_FORMAT_DRAWS_ALWAYS && nearest)
        aps_reader_error(rule->reader, at,
                         "rounding nearest cannot be combined with format %s, "
                         "whose levels are drawn: leave 'rounding' out, or use "
                         "a format intB/BUCKET, such as int8/512",
                         plan->format.name);
    else if (plan->format.draws == APS_FORMAT_DRAWS_NEVER && !nearest)
        aps_reader_error(rule->reader, at,
                         "format %s keeps signs, which are not rounded: leave "
                         "'rounding' out",
                         plan->format.name);
}

/* Reports sums whose format always draws, because partial sums are rounded to
 * nearest, and, with on_overflow: inf, sums without INF and NaN. */
static void check_sums(const struct aps_rule_keys *rule,
                       const struct aps_plan *plan)
{
    if (aps_scale_state_bytes(&plan->scale) > 0 &&
        aps_scale_on_overflow(&plan->scale) == APS_OVERFLOW_INF &&
        plan->sums.saturate)
        aps_reader_error(rule->reader, rule->keys[APS_RULE_ACCUMULATE],
                         "on_overflow: inf needs sums that can be INF or NaN, "
                         "and %s has neither: leave 'accumulate' out, or keep "
                         "sums in another format, as in accumulate: {format: "
                         "bf16}",
                         plan->sums.name);
    if (plan->sums.draws == APS_FORMAT_DRAWS_ALWAYS)
        aps_reader_error(rule->reader, rule->keys[APS_RULE_ACCUMULATE],
                         "partial sums are rounded to nearest, and the levels "
                         "of %s are drawn: leave 'accumulate' out, or keep "
                         "sums in another format, as in accumulate: {format: "
                         "bf16}",
                         plan->sums.name);
}

static void read_rounding(const struct aps_rule_keys *rule,
                          struct aps_plan *plan)
{
    const struct aps_yaml_node *key = rule->keys[APS_RULE_ROUNDING];
    struct aps_value value;

    if (plan->rewrite && plan->format.draws == APS_FORMAT_DRAWS_ALWAYS)
        plan->rounding = APS_ROUND_STOCHASTIC;
    if (!key ||
        aps_read_value(rule->reader, key, &aps_grammar_rounding, &value) < 0)
        return;
    plan->rounding = aps_rounding_of_word((enum aps_rounding_word)value.word);
    if (plan->rounding != APS_ROUND_NEAREST)
        plan->seed = (uint32_t)value.arguments[APS_ROUNDING_SEED].whole;
    if (plan->rewrite)
        check_rounding(rule, value.at, plan);
}

void aps_settings_read(const struct aps_rule_keys *rule, struct aps_plan *plan)
{
    const char *word = NULL;
    struct group_keys given;
    /* If `compress` is wrong, its error has been reported. */
    const bool compressed = aps_compressors_read(rule, plan) < 0 ||
                            plan->compressor.kind != APS_COMPRESSOR_NONE;
    const bool has_format = read_format(rule, compressed, plan, &word);

    read_accumulate(rule, plan);
    read_reduce(rule, plan, &given);
    settle_scale(rule, plan);
    read_rounding(rule, plan);
    if (plan->rewrite && plan->accumulate != APS_ACCUMULATE_FP32)
        check_sums(rule, plan);
    aps_compressors_settle(rule, given.node, plan);
    aps_wide_formats_settle(rule, given.node, plan);
    if (has_format && !plan->rewrite) {
        check_native(rule, word);
        plan->scale = (struct aps_scale){0};
    } else if (rule->calls & ALLREDUCE) {
        check_reduce(rule, plan, &given);
        warn_groups(rule, plan, &given);
    } else {
        check_calls(rule, plan, &given);
    }
}
