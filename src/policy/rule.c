/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/rule.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/words.h"

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)

/* In the order of `known`. */
enum rule_key {
    KEY_NAME,
    KEY_CALLS,
    KEY_LAYERS,
    KEY_EPOCHS,
    KEY_STEPS,
    KEY_MIN_COUNT,
    KEY_MAX_COUNT,
    KEY_FORMAT,
    KEY_SCALE,
    KEY_APS,
    KEY_REDUCE,
    KEY_GROUP,
    KEY_NODE,
    KEY_ACCUMULATE,
    KEYS
};

static const char *const known[] = {
    "name",      "calls",     "layers", "epochs",     "steps",
    "min_count", "max_count", "format", "scale",      "aps",
    "reduce",    "group",     "node",   "accumulate", NULL};
static const char *const later[] = {"rounding", "compress", "feedback",
                                    "on_overflow", NULL};
static const struct aps_words rule_words = {known, later, NULL};

/* A rule while it is read. */
struct reading {
    const struct aps_reader *reader;
    const struct aps_rule_context *context;
    const struct aps_yaml_node *node;
    const struct aps_yaml_node *keys[KEYS];
    struct aps_rule *rule;
};

/* --- conditions ---------------------------------------------------------- */

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

static void read_ranges(struct reading *reading,
                        const struct aps_yaml_node *key,
                        struct aps_ranges *ranges)
{
    struct range_taker taker = {reading->reader, key, ranges};

    aps_read_items(reading->reader, key, take_range, &taker);
    aps_ranges_sort(ranges);
}

static void read_counts(struct reading *reading)
{
    const struct aps_yaml_node *const *keys = reading->keys;
    struct aps_rule *rule = reading->rule;
    size_t least = reading->context->min_count;
    long number;

    if (keys[KEY_MIN_COUNT] &&
        aps_read_number(reading->reader, keys[KEY_MIN_COUNT], 0, LONG_MAX - 1,
                        &number) == 0)
        rule->min_count = (size_t)number;
    /* A layer of a table may be smaller than the call that carries it. */
    if (rule->min_count > 0 && rule->min_count < least &&
        !reading->context->layers.table && !reading->context->layers.blind)
        aps_reader_warn(reading->reader, keys[KEY_MIN_COUNT],
                        "min_count %zu has no effect: calls of fewer than %zu "
                        "elements match no rule (min_count beside 'rules')",
                        rule->min_count, least);
    if (!keys[KEY_MAX_COUNT] ||
        aps_read_number(reading->reader, keys[KEY_MAX_COUNT], 0, LONG_MAX - 1,
                        &number) < 0)
        return;
    rule->max_count = (size_t)number;
    if (rule->max_count < rule->min_count)
        aps_reader_error(
            reading->reader, keys[KEY_MAX_COUNT]->value,
            "max_count %zu is below the rule's min_count %zu: it can "
            "never match",
            rule->max_count, rule->min_count);
    else if (rule->max_count < least)
        aps_reader_error(
            reading->reader, keys[KEY_MAX_COUNT]->value,
            "max_count %zu is below the policy's min_count %zu: the "
            "rule can never match",
            rule->max_count, least);
}

/* A setting of a rule that is for no call with which it means anything. */
static void contradicts_calls(struct reading *reading, enum rule_key at,
                              const char *name, unsigned takers)
{
    const struct aps_rule *rule = reading->rule;
    char calls[64], others[64];

    /* 0: `calls` is wrong, and the error has been reported. */
    if (rule->calls == 0 || (rule->calls & takers) != 0)
        return;
    aps_words_list(&aps_words_call, rule->calls, ", ", calls, sizeof calls);
    aps_words_list(&aps_words_call, takers, " or ", others, sizeof others);
    aps_reader_error(reading->reader, reading->keys[at],
                     "%s contradicts calls: %s; it goes with %s", name, calls,
                     others);
}

static void read_name(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_NAME];
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

    if (keys[KEY_CALLS] && aps_read_words(reading->reader, keys[KEY_CALLS],
                                          &aps_words_call, &rule->calls) < 0)
        rule->calls = 0;
    rule->by_layer = keys[KEY_LAYERS] != NULL;
    rule->by_epoch = keys[KEY_EPOCHS] != NULL;
    rule->by_step = keys[KEY_STEPS] != NULL;
    if (rule->by_layer) {
        contradicts_calls(reading, KEY_LAYERS, "'layers'", ALLREDUCE);
        aps_select_read(reading->reader, keys[KEY_LAYERS],
                        &reading->context->layers, &rule->layers);
    }
    if (rule->by_epoch) {
        if (!reading->context->per_epoch)
            aps_reader_error(reading->reader, keys[KEY_EPOCHS],
                             "'epochs' needs the length of an epoch "
                             "(steps: {per_epoch: N} beside 'rules')");
        read_ranges(reading, keys[KEY_EPOCHS], &rule->epochs);
    }
    if (rule->by_step)
        read_ranges(reading, keys[KEY_STEPS], &rule->steps);
    read_counts(reading);
}

/* --- the plan ------------------------------------------------------------ */

/* `format`; returns whether it could be read. */
static bool read_format(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_FORMAT];
    struct aps_plan *plan = &reading->rule->plan;

    if (!key) {
        aps_reader_error(reading->reader, reading->node,
                         "the rule has no 'format'");
        return false;
    }
    if (aps_read_format(reading->reader, key, &plan->format) < 0)
        return false;
    /* By its name only: e8m23 is our reduction on full floats. */
    plan->rewrite = strcmp(key->value->text, "fp32") != 0;
    return true;
}

/* `scale: {fixed: X}` */
static int read_scale_mapping(struct reading *reading,
                              const struct aps_yaml_node *node)
{
    static const char *const fixed[] = {"fixed", NULL};
    const struct aps_words words = {fixed, aps_words_scale.later, NULL};
    const struct aps_yaml_node *key;
    struct aps_plan *plan = &reading->rule->plan;

    if (!node->first)
        aps_reader_error(reading->reader, node, "'scale' is empty");
    aps_read_keys(reading->reader, node, "'scale'", &words, &key);
    if (!key || aps_read_positive(reading->reader, key, &plan->fixed) < 0)
        return -1;
    plan->scale = APS_SCALE_FIXED;
    return 0;
}

static int read_scale(struct reading *reading, const struct aps_yaml_node *key)
{
    int word;

    if (key->value->kind == APS_YAML_MAPPING)
        return read_scale_mapping(reading, key->value);
    if (aps_read_word(reading->reader, key, &aps_words_scale, &word) < 0)
        return -1;
    if (word == APS_SCALE_FIXED) {
        aps_reader_error(reading->reader, key->value,
                         "'fixed' needs its number: scale: {fixed: 1024}");
        return -1;
    }
    reading->rule->plan.scale = (enum aps_scale_kind)word;
    return 0;
}

static const struct aps_yaml_node *later_of(const struct aps_yaml_node *a,
                                            const struct aps_yaml_node *b)
{
    if (a->line != b->line)
        return a->line > b->line ? a : b;
    return a->column > b->column ? a : b;
}

/* `scale`, `aps`, or what `accumulate` implies; after both were read. */
static void settle_scale(struct reading *reading)
{
    const struct aps_yaml_node *scale = reading->keys[KEY_SCALE];
    const struct aps_yaml_node *aps = reading->keys[KEY_APS];
    struct aps_plan *plan = &reading->rule->plan;
    bool rounds_sums = plan->accumulate != APS_ACCUMULATE_FP32;
    bool on;

    plan->scale = rounds_sums ? APS_SCALE_APS : APS_SCALE_APS_TIGHT;
    if (aps && aps_read_switch(reading->reader, aps, &on) == 0)
        plan->scale = on ? APS_SCALE_APS : APS_SCALE_NONE;
    if (scale && read_scale(reading, scale) < 0)
        return;
    if (scale && aps)
        aps_reader_error(reading->reader, later_of(scale, aps),
                         "'aps' and 'scale' say the same thing: keep one");
    if (plan->scale != APS_SCALE_APS_TIGHT)
        return;
    if (rounds_sums)
        aps_reader_error(reading->reader, scale,
                         "scale aps-tight contradicts accumulate: %s (every "
                         "sender would have its own scale); use aps",
                         aps_accumulate_name(plan->accumulate));
    if (plan->rewrite && aps_format_max(&plan->format) == 0)
        aps_reader_error(reading->reader,
                         scale ? scale->value
                               : reading->keys[KEY_FORMAT]->value,
                         "format %s has no finite value but zero, which "
                         "scale aps-tight needs",
                         plan->format.name);
}

static void read_group(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_GROUP];
    struct aps_plan *plan = &reading->rule->plan;
    const char *text = key->value->text;
    long number;
    int word;

    if (text && text[0] >= '0' && text[0] <= '9') {
        if (aps_read_number(reading->reader, key, 1, INT_MAX, &number) < 0)
            return;
        plan->group = APS_GROUP_NUMBER;
        plan->group_size = (int)number;
    } else if (aps_read_word(reading->reader, key, &aps_words_group, &word) ==
               0) {
        plan->group = (enum aps_group_kind)word;
    }
}

/* A key whose value is a word of a list; `otherwise` where it is missing. */
static int read_choice(struct reading *reading, enum rule_key at,
                       const struct aps_words *words, int otherwise)
{
    int word = otherwise;

    if (reading->keys[at])
        aps_read_word(reading->reader, reading->keys[at], words, &word);
    return word;
}

static void check_fp32(struct reading *reading)
{
    static const enum rule_key settings[] = {
        KEY_SCALE, KEY_APS, KEY_REDUCE, KEY_GROUP, KEY_NODE, KEY_ACCUMULATE};

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct aps_yaml_node *key = reading->keys[settings[i]];

        if (key)
            aps_reader_error(
                reading->reader, key,
                "'%s' contradicts format: fp32, which leaves the "
                "call to MPI (e8m23 is the library's reduction of full floats)",
                key->text);
    }
}

/* "direct, hierarchical or gather": the reductions with that setting. */
static void list_reductions(enum aps_setting setting, char *list, size_t size)
{
    unsigned takers = 0;

    for (unsigned i = 0; i < APS_REDUCE_KINDS; i++) {
        if (aps_reduce_takes((enum aps_reduce_kind)i, setting))
            takers |= 1u << i;
    }
    aps_words_list(&aps_words_reduce, takers, " or ", list, size);
}

/* Settings that mean nothing with the rule's reduction. */
static void check_reduce(struct reading *reading)
{
    static const struct {
        enum rule_key key;
        enum aps_setting setting;
        const char *name;
    } settings[] = {
        {KEY_GROUP, APS_SETTING_GROUP, "'group'"},
        {KEY_NODE, APS_SETTING_NODE, "'node'"},
        {KEY_ACCUMULATE, APS_SETTING_KAHAN, "accumulate: kahan"},
    };
    const struct aps_plan *plan = &reading->rule->plan;

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct aps_yaml_node *key = reading->keys[settings[i].key];
        char list[128];

        if (!key || aps_reduce_takes(plan->reduce, settings[i].setting))
            continue;
        if (settings[i].setting == APS_SETTING_KAHAN &&
            plan->accumulate != APS_ACCUMULATE_KAHAN)
            continue;
        list_reductions(settings[i].setting, list, sizeof list);
        aps_reader_error(reading->reader, key,
                         "%s contradicts reduce: %s; it goes with %s",
                         settings[i].name, aps_reduce_name(plan->reduce), list);
    }
}

/* Settings that mean nothing with the rule's calls: calls other than an
 * all-reduce have a single algorithm each. */
static void check_calls(struct reading *reading)
{
    static const struct {
        enum rule_key key;
        const char *name;
    } settings[] = {
        {KEY_REDUCE, "'reduce'"}, {KEY_GROUP, "'group'"}, {KEY_NODE, "'node'"}};
    const struct aps_plan *plan = &reading->rule->plan;
    unsigned sums = 0;
    char name[32];

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (reading->keys[settings[i].key])
            contradicts_calls(reading, settings[i].key, settings[i].name,
                              ALLREDUCE);
    }
    if (plan->accumulate == APS_ACCUMULATE_FP32)
        return;
    for (unsigned i = 0; i < APS_CALL_KINDS; i++) {
        if (aps_call_sums((enum aps_call_kind)i))
            sums |= 1u << i;
    }
    snprintf(name, sizeof name, "accumulate: %s",
             aps_accumulate_name(plan->accumulate));
    contradicts_calls(reading, KEY_ACCUMULATE, name, sums);
}

static void read_plan(struct reading *reading)
{
    struct aps_plan *plan = &reading->rule->plan;
    bool has_format = read_format(reading);

    plan->accumulate = (enum aps_accumulate_kind)read_choice(
        reading, KEY_ACCUMULATE, &aps_words_accumulate, APS_ACCUMULATE_FP32);
    plan->reduce = (enum aps_reduce_kind)read_choice(
        reading, KEY_REDUCE, &aps_words_reduce, APS_REDUCE_HIERARCHICAL);
    plan->node = (enum aps_node_kind)read_choice(
        reading, KEY_NODE, &aps_words_node, APS_NODE_FORMAT);
    plan->group = APS_GROUP_NODE;
    if (reading->keys[KEY_GROUP])
        read_group(reading);
    settle_scale(reading);
    if (has_format && !plan->rewrite) {
        check_fp32(reading);
        plan->scale = APS_SCALE_NONE;
    } else if (reading->rule->calls & ALLREDUCE) {
        check_reduce(reading);
    } else {
        check_calls(reading);
    }
}

int aps_rule_read(const struct aps_reader *reader,
                  const struct aps_rule_context *context,
                  const struct aps_yaml_node *node, int index,
                  struct aps_rule *rule)
{
    struct reading reading = {
        .reader = reader, .context = context, .node = node, .rule = rule};
    size_t before = reader->errors->count;

    rule->line = node->line;
    rule->calls = ALLREDUCE;
    rule->max_count = SIZE_MAX;
    rule->plan.rule = index;
    if (aps_read_keys(reader, node, "a rule", &rule_words, reading.keys) < 0)
        return -1;
    read_name(&reading);
    read_conditions(&reading);
    read_plan(&reading);
    return reader->errors->count > before ? -1 : 0;
}

void aps_rule_clear(struct aps_rule *rule)
{
    free(rule->name);
    aps_ranges_clear(&rule->layers.indices);
    aps_ranges_clear(&rule->epochs);
    aps_ranges_clear(&rule->steps);
}

bool aps_rule_matches(const struct aps_rule *rule,
                      const struct aps_plan_key *place)
{
    if (!(rule->calls & (1u << place->call)))
        return false;
    if (place->count < rule->min_count || place->count > rule->max_count)
        return false;
    /* Other calls have no layers: the condition is about all-reduces. */
    if (rule->by_layer && place->call == APS_CALL_ALLREDUCE &&
        !aps_selection_holds(&rule->layers, place->layer, place->layers))
        return false;
    if (rule->by_epoch && !aps_ranges_contain(&rule->epochs, place->epoch))
        return false;
    return !rule->by_step || aps_ranges_contain(&rule->steps, place->step);
}

unsigned aps_rule_matches_all(const struct aps_rule *rule, size_t min_count)
{
    if (rule->by_epoch || rule->by_step || rule->min_count > min_count ||
        rule->max_count != SIZE_MAX)
        return 0;
    return rule->by_layer ? rule->calls & ~ALLREDUCE : rule->calls;
}
