/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/rule.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/auto_format.h"
#include "grammar/formats.h"
#include "grammar/tables.h"
#include "yaml/number.h"
#include "rules/settings.h"
#include "rules/shadow.h"
#include "policy/keywords.h"

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)

/* In the order of enum aps_rule_key. */
static const char *const known[] = {
    "name",       "calls",    "types",     "communicators", "layers",
    "epochs",     "steps",    "min_count", "max_count",     "format",
    "scale",      "aps",      "reduce",    "group",         "node",
    "accumulate", "rounding", "compress",  "feedback",      "shadow",
    NULL};
#define OF_AUTO                                                                \
    "it belongs in 'format': format: {auto: [e4m3, e5m10], target: snr 20dB, " \
    "every: 500}"
#define OF_COMPRESS(kind, ops, word)                                           \
    {word, "it is a compressor: compress: {" word ": {...}}"},
static const struct aps_hint hints[] = {
    {"<<", "YAML's merge is not accepted: repeat the keys"},
    {"on_overflow", "it is a parameter of a scale with a state: "
                    "scale: {backoff: {on_overflow: inf}}"},
    {"table", "write it at the top, next to 'rules'"},
    {"log", "write it at the top, next to 'rules'"},
    {"progress", "write it at the top, next to 'rules'"},
    {"fuse", "write it at the top, next to 'rules'"},
    {"per_epoch",
     "write it at the top, next to 'rules': steps: {per_epoch: N}"},
    {"order", "write it at the top, next to 'rules': steps: {order: backward}"},
    {"seed", "it is a parameter of the rounding: rounding: {stochastic: {seed: "
             "1}}"},
    {"budget", "write it at the top, next to 'rules'"},
    {"auto", OF_AUTO},
    {"target", OF_AUTO},
    {"every", OF_AUTO},
    {"margin", OF_AUTO},
    {"scope", "it is a parameter of a scale: scale: {backoff: {scope: layer}}"},
    APS_COMPRESSORS(OF_COMPRESS){NULL, NULL},
};
static const struct aps_keywords rule_words = {.known = known, .hints = hints};

/* A rule during parsing. */
struct reading {
    const struct aps_reader *reader;
    const struct aps_rule_context *context;
    const struct aps_yaml_node *const *keys;
    struct aps_rule *rule;
};

struct range_taker {
    const struct aps_reader *reader;
    const struct aps_yaml_node *key;
    struct aps_ranges *ranges;
};

static int take_range(void *data, const struct aps_item *item)
{
    const struct range_taker *taker = data;
    struct aps_range range;
    const char *why;

    if (aps_range_parse(item->text, &range, &why) == 0) {
        if (aps_ranges_add(taker->ranges, range.first, range.last) == 0)
            return 0;
        why = "does not fit in memory";
    }
    aps_errors_add(taker->reader->errors, taker->reader->path, item->line,
                   item->column, "%s '%.80s' %s", taker->key->text, item->text,
                   why);
    return -1;
}

int aps_rule_count(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, size_t *count)
{
    *count = 0;
    for (const struct aps_yaml_node *node = key->value->first; node;
         node = node->next)
        ++*count;
    if (*count <= APS_RULES_MAX)
        return 0;
    aps_reader_error(reader, key->value, "'%s' has %zu rules; the most is %d",
                     key->text, *count, APS_RULES_MAX);
    return -1;
}

void aps_rule_read_ranges(const struct aps_reader *reader,
                          const struct aps_yaml_node *key,
                          struct aps_ranges *ranges)
{
    struct range_taker taker = {reader, key, ranges};

    aps_read_items(reader, key, take_range, &taker);
    aps_ranges_sort(ranges);
}

static void read_counts(struct reading *reading)
{
    const struct aps_yaml_node *const *keys = reading->keys;
    struct aps_rule *rule = reading->rule;
    size_t least = reading->context->min_count;
    long number;

    if (keys[APS_RULE_MIN_COUNT] &&
        aps_read_number(reading->reader, keys[APS_RULE_MIN_COUNT], 0,
                        LONG_MAX - 1, &number) == 0)
        rule->min_count = (size_t)number;
    if (rule->min_count > 0 && rule->min_count < least)
        aps_reader_warn(
            reading->reader, keys[APS_RULE_MIN_COUNT],
            "min_count %zu has no effect: calls and layers of fewer than %zu "
            "elements match no rule (min_count next to 'rules')",
            rule->min_count, least);
    if (!keys[APS_RULE_MAX_COUNT] ||
        aps_read_number(reading->reader, keys[APS_RULE_MAX_COUNT], 0,
                        LONG_MAX - 1, &number) < 0)
        return;
    rule->max_count = (size_t)number;
    if (rule->max_count < rule->min_count)
        aps_reader_error(
            reading->reader, keys[APS_RULE_MAX_COUNT]->value,
            "max_count %zu is below the rule's min_count %zu: it can "
            "never match",
            rule->max_count, rule->min_count);
}

/* Reports a rule that is only for layers below min_count, which no rule
 * matches. With format fp32 it is not an error: such layers go to MPI
 * anyway. */
static void check_small(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[APS_RULE_MAX_COUNT];
    const struct aps_rule *rule = reading->rule;
    const size_t least = reading->context->min_count;

    if (!key || rule->max_count >= least || rule->max_count < rule->min_count)
        return;
    if (!rule->plan.rewrite)
        aps_reader_warn(reading->reader, key->value,
                        "the rule has no effect: max_count %zu is below the "
                        "policy's min_count %zu, and layers of fewer elements "
                        "are left to MPI anyway",
                        rule->max_count, least);
    else
        aps_reader_error(reading->reader, key->value,
                         "max_count %zu is below the policy's min_count %zu: "
                         "the rule can never match; give min_count next to "
                         "'rules' to rewrite such layers, too",
                         rule->max_count, least);
}

static void read_name(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[APS_RULE_NAME];
    const char *name = key ? aps_read_name(reading->reader, key) : NULL;

    if (!name)
        return;
    reading->rule->name = strdup(name);
    if (!reading->rule->name)
        aps_reader_error(reading->reader, key, "out of memory");
}

static void read_conditions(struct reading *reading)
{
    const struct aps_yaml_node *const *keys = reading->keys;
    struct aps_rule *rule = reading->rule;

    if (keys[APS_RULE_CALLS] &&
        aps_read_words(reading->reader, keys[APS_RULE_CALLS],
                       &aps_keywords_call, &rule->calls) < 0)
        rule->calls = 0;
    if (keys[APS_RULE_TYPES] &&
        aps_read_words(reading->reader, keys[APS_RULE_TYPES],
                       &aps_keywords_type, &rule->types) < 0)
        rule->types = 0;
    rule->by_communicator = keys[APS_RULE_COMMUNICATORS] != NULL;
    if (rule->by_communicator)
        aps_rule_read_ranges(reading->reader, keys[APS_RULE_COMMUNICATORS],
                             &rule->communicators);
    rule->by_layer = keys[APS_RULE_LAYERS] != NULL;
    rule->by_epoch = keys[APS_RULE_EPOCHS] != NULL;
    rule->by_step = keys[APS_RULE_STEPS] != NULL;
    if (rule->by_layer) {
        aps_select_read(reading->reader, keys[APS_RULE_LAYERS],
                        &reading->context->layers, &rule->layers);
        rule->by_layer = !rule->layers.all;
    }
    if (rule->by_epoch) {
        if (!reading->context->per_epoch)
            aps_reader_error(reading->reader, keys[APS_RULE_EPOCHS],
                             "'epochs' needs the length of an epoch (steps: "
                             "{per_epoch: N} next to 'rules')");
        aps_rule_read_ranges(reading->reader, keys[APS_RULE_EPOCHS],
                             &rule->epochs);
    }
    if (rule->by_step)
        aps_rule_read_ranges(reading->reader, keys[APS_RULE_STEPS],
                             &rule->steps);
    read_counts(reading);
}

int aps_rule_read(const struct aps_reader *reader,
                  const struct aps_rule_context *context,
                  const struct aps_yaml_node *node, int index,
                  struct aps_rule *rule)
{
    struct aps_rule_keys keys = {.reader = reader,
                                 .node = node,
                                 .context = context,
                                 .rule = rule,
                                 .formats = &aps_grammar_rule_format};
    struct reading reading = {reader, context, keys.keys, rule};
    size_t before = reader->errors->count;

    rule->line = node->line;
    rule->column = node->column;
    rule->calls = ALLREDUCE;
    rule->types = APS_ELEMENTS_DEFAULT;
    rule->max_count = SIZE_MAX;
    rule->plan.rule = index;
    if (aps_read_keys(reader, node, "a rule", &rule_words, keys.keys) < 0)
        return -1;
    read_name(&reading);
    read_conditions(&reading);
    keys.calls = rule->calls;
    aps_settings_check_calls(&keys, keys.keys[APS_RULE_LAYERS], "'layers'",
                             ALLREDUCE);
    if (aps_format_is_auto(keys.keys[APS_RULE_FORMAT]))
        aps_auto_format_read(&keys, rule);
    else
        aps_settings_read(&keys, &rule->plan);
    if (reader->errors->count == before || rule->plan.rewrite)
        check_small(&reading);
    if (!aps_format_is_auto(keys.keys[APS_RULE_FORMAT]))
        aps_shadow_settle(&keys, reader->errors->count == before, rule);
    return reader->errors->count > before ? -1 : 0;
}

void aps_rule_clear(struct aps_rule *rule)
{
    free(rule->name);
    free(rule->shadow.plans);
    free(rule->auto_format.formats.plans);
    aps_ranges_clear(&rule->communicators);
    aps_ranges_clear(&rule->layers.indices);
    aps_ranges_clear(&rule->epochs);
    aps_ranges_clear(&rule->steps);
}

bool aps_rule_matches(const struct aps_rule *rule,
                      const struct aps_plan_key *place)
{
    if (!(rule->calls & (1u << place->call)) ||
        !(rule->types & (1u << place->element)))
        return false;
    if (rule->by_communicator && place->ranks > 0 &&
        !aps_ranges_contain(&rule->communicators, place->ranks))
        return false;
    if (place->count < rule->min_count || place->count > rule->max_count)
        return false;
    /* Other calls have no layers; the condition concerns all-reduces only. */
    if (rule->by_layer && place->call == APS_CALL_ALLREDUCE &&
        !aps_selection_holds(&rule->layers, place->layer, place->layers))
        return false;
    if (rule->by_epoch && !aps_ranges_contain(&rule->epochs, place->epoch))
        return false;
    return !rule->by_step || aps_ranges_contain(&rule->steps, place->step);
}

unsigned aps_rule_matches_all(const struct aps_rule *rule, size_t min_count)
{
    if (!aps_rule_always_holds(rule) || rule->min_count > min_count ||
        rule->max_count != SIZE_MAX)
        return 0;
    return rule->by_layer ? rule->calls & ~ALLREDUCE : rule->calls;
}
