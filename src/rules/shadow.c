/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/shadow.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "grammar/plan_text.h"
#include "grammar/tables.h"
#include "rules/settings.h"

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)
#define BLANKS " \t"
#define SEPARATORS "," BLANKS

/* A rule's own plan precedes its candidates. */
#define PLANS_MAX (APS_SHADOW_MAX + 1)

/* Settings of a rule, consecutive in enum aps_rule_key. */
#define SETTINGS (APS_RULE_FEEDBACK - APS_RULE_FORMAT + 1)
static const char *const settings[] = {
    "format",     "scale",    "aps",      "reduce",   "group", "node",
    "accumulate", "rounding", "compress", "feedback", NULL};
#define OF_COMPRESS(kind, ops, word)                                           \
    {word, "it is a compressor: {compress: {" word ": {...}}}"},
static const struct aps_hint hints[] = {
    {"shadow", "a candidate has no candidates"},
    {"layers", "it is a condition of a rule, which may have 'shadow', too"},
    {"seed", "it is a parameter of the rounding: rounding: {stochastic: {seed: "
             "1}}"},
    APS_COMPRESSORS(OF_COMPRESS){NULL, NULL},
};
static const struct aps_keywords words = {.known = settings, .hints = hints};

/* A list during parsing. */
struct list {
    const struct aps_reader *reader;
    const struct aps_yaml_node *key;
    const struct aps_rule_keys *rule; /* rule that the candidates are for */
    bool inherit;                     /* the rule's settings have no errors */
    struct aps_shadow *shadow;
    size_t before; /* plans before those of the list */
};

/* --- one candidate -------------------------------------------------------- */

/* Adds the rule's settings to the candidate's, `group` and `node` only if the
 * candidate has the rule's reduction. */
static void inherit(const struct aps_rule_keys *rule,
                    struct aps_rule_keys *candidate)
{
    static const enum aps_rule_key inherited[] = {
        APS_RULE_GROUP, APS_RULE_NODE, APS_RULE_ACCUMULATE, APS_RULE_ROUNDING};
    const bool reduces = candidate->keys[APS_RULE_REDUCE] != NULL;

    for (size_t i = reduces ? 2 : 0; i < sizeof inherited / sizeof *inherited;
         i++)
        if (!candidate->keys[inherited[i]])
            candidate->keys[inherited[i]] = rule->keys[inherited[i]];
    if (!reduces)
        candidate->keys[APS_RULE_REDUCE] = rule->keys[APS_RULE_REDUCE];
}

/* Warns if the list already has the candidate. */
static void warn_twice(const struct list *list, const struct aps_yaml_node *at,
                       const struct aps_plan *plan)
{
    char text[APS_PLAN_TEXT_MAX], other[APS_PLAN_TEXT_MAX];

    aps_plan_text(plan, text, sizeof text);
    for (size_t i = list->before; i < list->shadow->count; i++) {
        aps_plan_text(&list->shadow->plans[i], other, sizeof other);
        if (strcmp(text, other) != 0)
            continue;
        aps_reader_warn(list->reader, at,
                        "candidate %zu is candidate %zu again, and would be "
                        "measured twice; leave it out",
                        list->shadow->count - list->before + 1,
                        i - list->before + 1);
        return;
    }
}

/* Adds the candidate with the settings keys[SETTINGS]; `at` is its place. */
static void add(struct list *list, const struct aps_yaml_node *at,
                const struct aps_yaml_node *const *keys)
{
    struct aps_rule_keys candidate = {.reader = list->reader,
                                      .node = at,
                                      .context = list->rule->context,
                                      .rule = list->rule->rule,
                                      .formats = &aps_grammar_format,
                                      .calls = ALLREDUCE};
    struct aps_plan plan = {.rule = list->rule->rule->plan.rule};
    const size_t before = list->reader->errors->count;

    if (list->shadow->count - list->before == APS_SHADOW_MAX) {
        aps_reader_error(list->reader, at,
                         "'shadow' has more than %d candidates: each of them "
                         "costs a reduction",
                         APS_SHADOW_MAX);
        list->shadow = NULL; /* stop here */
        return;
    }
    memcpy(candidate.keys + APS_RULE_FORMAT, keys, SETTINGS * sizeof *keys);
    if (!candidate.keys[APS_RULE_FORMAT] &&
        !candidate.keys[APS_RULE_COMPRESS]) {
        aps_reader_error(list->reader, at, "the candidate has no 'format'");
        return;
    }
    if (list->inherit)
        inherit(list->rule, &candidate);
    aps_settings_read(&candidate, &plan);
    if (list->reader->errors->count > before)
        return;
    if (!plan.rewrite) {
        aps_reader_error(list->reader, at,
                         "candidate '%s' is what the program gets; leave it "
                         "out (e8m23 is the library's FP32 reduction)",
                         candidate.keys[APS_RULE_FORMAT]->value->text);
        return;
    }
    warn_twice(list, at, &plan);
    list->shadow->plans[list->shadow->count++] = plan;
}

/* A key and its value, in text[length] of a scalar. */
struct pair {
    struct aps_yaml_node key, value;
    char name[8];
    char text[96];
};

static void make_pair(struct pair *pair, const char *name,
                      const struct aps_yaml_node *scalar, size_t offset,
                      size_t length)
{
    const int column = aps_yaml_column(scalar, offset);

    snprintf(pair->name, sizeof pair->name, "%s", name);
    snprintf(pair->text, sizeof pair->text, "%.*s", (int)length,
             scalar->text + offset);
    pair->value = (struct aps_yaml_node){.kind = APS_YAML_SCALAR,
                                         .line = scalar->line,
                                         .column = column,
                                         .text = pair->text};
    pair->key = pair->value;
    pair->key.text = pair->name;
    pair->key.value = &pair->value;
}

/* Adds FORMAT or FORMAT:SCALE, in text[length] of a scalar. */
static void add_word(struct list *list, const struct aps_yaml_node *scalar,
                     size_t offset, size_t length)
{
    const char *text = scalar->text + offset;
    const char *colon = memchr(text, ':', length);
    const size_t format = colon ? (size_t)(colon - text) : length;
    const struct aps_yaml_node *keys[SETTINGS] = {NULL};
    struct pair pairs[2];

    make_pair(&pairs[0], "format", scalar, offset, format);
    if (format == 0 || (colon && format + 1 == length)) {
        aps_reader_error(list->reader, &pairs[0].value,
                         "a candidate is a format, or a format and a scale, as "
                         "in e4m3:aps, not '%.*s'",
                         (int)length, text);
        return;
    }
    keys[0] = &pairs[0].key;
    if (colon) {
        make_pair(&pairs[1], "scale", scalar, offset + format + 1,
                  length - format - 1);
        keys[1] = &pairs[1].key;
    }
    add(list, &pairs[0].value, keys);
}

/* Reports a comma at text[at] without a candidate before or after it. */
static void refuse_comma(const struct list *list,
                         const struct aps_yaml_node *scalar, size_t at)
{
    aps_errors_add(list->reader->errors, list->reader->path, scalar->line,
                   aps_yaml_column(scalar, at),
                   "a candidate is missing next to this comma");
}

static void add_words(struct list *list, const struct aps_yaml_node *scalar)
{
    const char *text = scalar->text;
    size_t at = strspn(text, BLANKS);

    if (text[strspn(text, SEPARATORS)] == '\0') {
        aps_reader_error(list->reader, scalar, "'shadow' has no candidate");
        return;
    }
    while (text[at] != '\0' && list->shadow) {
        const size_t length = strcspn(text + at, SEPARATORS);

        if (length > 0)
            add_word(list, scalar, at, length);
        else
            refuse_comma(list, scalar, at);
        at += length;
        at += strspn(text + at, BLANKS);
        if (text[at] == ',') {
            const size_t comma = at++;

            at += strspn(text + at, BLANKS);
            if (text[at] == '\0')
                refuse_comma(list, scalar, comma);
        }
    }
}

/* Adds {format: F, ...}. */
static void add_mapping(struct list *list, const struct aps_yaml_node *node)
{
    const struct aps_yaml_node *keys[SETTINGS];
    const size_t before = list->reader->errors->count;

    if (node->kind == APS_YAML_LIST) {
        aps_reader_error(list->reader, node,
                         "a candidate of 'shadow' must be a word such as e4m3, "
                         "or a mapping (key: value), not %s",
                         aps_yaml_kind_name(node->kind));
        return;
    }
    if (aps_read_keys(list->reader, node, "a candidate of 'shadow'", &words,
                      keys) == 0 &&
        list->reader->errors->count == before)
        add(list, node, keys);
}

/* --- lists ---------------------------------------------------------------- */

static void read_list(struct list *list)
{
    const struct aps_yaml_node *value = list->key->value;

    if (value->kind == APS_YAML_SCALAR)
        add_words(list, value);
    else if (value->kind == APS_YAML_MAPPING)
        add_mapping(list, value);
    else if (value->kind == APS_YAML_LIST && !value->first)
        aps_reader_error(list->reader, value, "'shadow' is an empty list");
    for (const struct aps_yaml_node *node =
             value->kind == APS_YAML_LIST ? value->first : NULL;
         node && list->shadow; node = node->next) {
        if (node->kind == APS_YAML_SCALAR)
            add_words(list, node);
        else if (node->kind != APS_YAML_BAD)
            add_mapping(list, node);
    }
}

/* Allocates memory for all plans. */
static bool make_room(const struct aps_reader *reader,
                      const struct aps_yaml_node *key,
                      struct aps_shadow *shadow)
{
    shadow->plans = calloc(PLANS_MAX, sizeof *shadow->plans);
    if (!shadow->plans)
        aps_reader_error(reader, key, "out of memory");
    return shadow->plans != NULL;
}

void aps_shadow_read_top(struct aps_rule_context *context,
                         const struct aps_yaml_node *root,
                         struct aps_rule *rest)
{
    const struct aps_rule_keys none = {.reader = &context->shadow.reader,
                                       .node = root,
                                       .context = context,
                                       .rule = rest,
                                       .calls = ALLREDUCE};
    struct list list = {.reader = &context->shadow.reader,
                        .key = context->shadow.key,
                        .rule = &none,
                        .shadow = &rest->shadow};

    rest->calls = ALLREDUCE;
    rest->max_count = SIZE_MAX;
    rest->plan.rule = -1;
    if (!context->shadow.key ||
        !make_room(list.reader, list.key, &rest->shadow))
        return;
    read_list(&list);
    context->shadow.read = &rest->shadow;
}

/* Reports settings that have no effect in a rule without a format. */
static void refuse_settings(const struct aps_rule_keys *keys)
{
    static const enum aps_rule_key own[] = {APS_RULE_SCALE, APS_RULE_APS,
                                            APS_RULE_FEEDBACK};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (keys->keys[own[i]])
            aps_reader_error(keys->reader, keys->keys[own[i]],
                             "'%s' is in a rule without 'format'; it belongs "
                             "to a candidate, as in shadow: [e4m3:aps] or "
                             "shadow: [{format: e4m3, feedback: on}]",
                             keys->keys[own[i]]->text);
}

/* True if the rule has a setting that also applies to candidates. */
static bool is_inherited_from(const struct aps_rule_keys *keys)
{
    return keys->keys[APS_RULE_REDUCE] || keys->keys[APS_RULE_GROUP] ||
           keys->keys[APS_RULE_NODE] || keys->keys[APS_RULE_ACCUMULATE] ||
           keys->keys[APS_RULE_ROUNDING];
}

/* Copies the policy's candidates, as read before, with the number of the
 * rule. */
static void copy_top(const struct aps_rule_keys *keys,
                     struct aps_shadow *shadow)
{
    const struct aps_shadow *read = keys->context->shadow.read;

    for (size_t i = 0; read && i < read->count; i++) {
        struct aps_plan *plan = &shadow->plans[shadow->count++];

        *plan = read->plans[i];
        plan->rule = keys->rule->plan.rule;
    }
}

/* Reads the policy's candidates with the rule's settings. Errors in a candidate
 * itself have been reported. */
static void read_top_again(const struct aps_rule_keys *keys, bool good,
                           struct list *list)
{
    const struct aps_rule_context *context = keys->context;
    struct aps_errors *errors = calloc(1, sizeof *errors);
    const struct aps_reader reader = {context->shadow.reader.path, errors};

    if (!errors) {
        aps_reader_error(keys->reader, keys->node, "out of memory");
        return;
    }
    list->reader = &reader;
    read_list(list);
    for (size_t i = 0; good && context->shadow.reader.errors->count == 0 &&
                       i < aps_errors_kept(errors);
         i++)
        aps_errors_add(keys->reader->errors, errors->list[i].file,
                       errors->list[i].line, errors->list[i].column, "%s",
                       errors->list[i].text);
    list->reader = keys->reader;
    free(errors);
}

void aps_shadow_settle(const struct aps_rule_keys *keys, bool good,
                       struct aps_rule *rule)
{
    const struct aps_yaml_node *own = keys->keys[APS_RULE_SHADOW];
    const struct aps_yaml_node *key = own ? own : keys->context->shadow.key;
    struct list list = {.reader = keys->reader,
                        .key = key,
                        .rule = keys,
                        .inherit = good,
                        .shadow = &rule->shadow};

    if (!key)
        return;
    aps_settings_check_calls(keys, own, "'shadow'", ALLREDUCE);
    if (own && !keys->keys[APS_RULE_FORMAT] && !keys->keys[APS_RULE_COMPRESS])
        refuse_settings(keys);
    if ((rule->calls & ALLREDUCE) != 0 && rule->plan.rewrite &&
        rule->plan.format.wide)
        aps_reader_error(keys->reader, keys->keys[APS_RULE_FORMAT],
                         "format %s is wider than FP32, in which candidates "
                         "(shadow) are measured; leave one of them out",
                         rule->plan.format.name);
    else if ((rule->calls & ALLREDUCE) != 0 &&
             make_room(keys->reader, key, &rule->shadow)) {
        if (rule->plan.rewrite && good)
            rule->shadow.plans[rule->shadow.count++] = rule->plan;
        list.before = rule->shadow.count;
        if (own)
            read_list(&list);
        else if (is_inherited_from(keys))
            read_top_again(keys, good, &list);
        else
            copy_top(keys, &rule->shadow);
    }
    rule->plan.rewrite = false;
}

/* --- budget --------------------------------------------------------------- */

void aps_shadow_read_budget(const struct aps_reader *reader,
                            const struct aps_yaml_node *key, double *budget)
{
    const char *text = aps_read_text(reader, key);
    const size_t length = text ? strlen(text) : 0;
    char number[32] = "";
    double percent;

    if (!text)
        return;
    if (text[length - 1] == '%')
        snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    number[strcspn(number, " ")] = '\0';
    percent = aps_real_parse(number);
    if (percent > 0 && percent <= 100) {
        *budget = percent / 100;
        return;
    }
    aps_reader_error(reader, key->value,
                     "'%s' is a share of the program's time, above 0%% and at "
                     "most 100%%, as in budget: 5%%, not '%.80s'",
                     key->text, text);
}
