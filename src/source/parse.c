/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses a policy: the keys at the top of the file. rules/rule.c parses rules.
 */
#include "config.h"

#include "policy/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/formats.h"
#include "rules/gemm.h"
#include "yaml/number.h"
#include "source/object.h"
#include "source/shapes.h"
#include "rules/rule.h"
#include "rules/shadow.h"
#include "yaml/size.h"
#include "rules/sections.h"
#include "yaml/value.h"
#include "yaml/version.h"
#include "yaml/yaml.h"

#define FUSE_MAX ((size_t)1 << 30)
#define DEFAULT_BUDGET 0.05
#define DEFAULT_SHADOW_LOG "roundoff.csv"

/* In the order of `known`. */
enum top_key {
    KEY_VERSION,
    KEY_NEEDS,
    KEY_STEPS,
    KEY_TABLE,
    KEY_LAYERS,
    KEY_LOG,
    KEY_MIN_COUNT,
    KEY_ORDER,
    KEY_PROGRESS,
    KEY_FUSE,
    KEY_THREADS,
    KEY_GEMM,
    KEY_PCONTROL,
    KEY_OPERATIONS,
    KEY_SHADOW,
    KEY_BUDGET,
    KEY_RULES,
    KEYS
};
static const char *const known[] = {
    "version",   "needs",      "steps",    "table",  "layers",  "log",
    "min_count", "order",      "progress", "fuse",   "threads", "gemm",
    "pcontrol",  "operations", "shadow",   "budget", "rules",   NULL};

/* A policy during parsing. */
struct reading {
    struct aps_reader reader;
    const struct aps_policy_source *source;
    const struct aps_yaml_node *keys[KEYS];
    struct aps_yaml_node given; /* key with the candidates of APSMPI_SHADOW;
                                   value NULL: none */
    struct aps_policy *policy;
    struct aps_rule_context context;
    size_t before; /* errors that were reported earlier */
};

static void read_min_count(struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_MIN_COUNT];
    long number = APS_MIN_COUNT;

    if (key)
        aps_read_number(&reading->reader, key, 0, LONG_MAX - 1, &number);
    reading->policy->min_count = (size_t)number;
    reading->context.min_count = (size_t)number;
}

/* Reads the keys for nonblocking calls. */
static void read_nonblocking(const struct reading *reading)
{
    const struct aps_yaml_node *progress = reading->keys[KEY_PROGRESS];
    const struct aps_yaml_node *fuse = reading->keys[KEY_FUSE];
    struct aps_policy *policy = reading->policy;
    int word = APS_PROGRESS_CALLS;

    if (progress)
        aps_read_word(&reading->reader, progress, &aps_keywords_progress,
                      &word);
    policy->progress = (enum aps_progress_kind)word;
    if (fuse)
        aps_read_size(&reading->reader, fuse, FUSE_MAX, &policy->fuse);
}

static void read_gemm(const struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_GEMM];
    struct aps_policy *policy = reading->policy;

    if (key)
        aps_gemm_read(&reading->reader, key, &policy->gemm);
}

static void read_pcontrol(const struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_PCONTROL];

    reading->policy->pcontrol = true;
    if (key)
        aps_read_switch(&reading->reader, key, &reading->policy->pcontrol);
}

static void read_operations(const struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_OPERATIONS];
    int word = 0;

    if (key)
        aps_read_word(&reading->reader, key, &aps_keywords_operations, &word);
    reading->policy->probes = word == 1;
}

/* Reads the layer table, `table` or by its old name `layers`. Rules refer to
 * it. */
static void read_table(struct reading *reading)
{
    const struct aps_yaml_node *table = reading->keys[KEY_TABLE];
    const struct aps_yaml_node *old = reading->keys[KEY_LAYERS];
    const struct aps_yaml_node *key = table ? table : old;
    const struct aps_policy_source *source = reading->source;
    struct aps_step_layers *layers = &reading->context.layers;
    struct aps_policy *policy = reading->policy;

    layers->count = policy->steps.calls;
    if (!key)
        return;
    if (table && old)
        aps_reader_error(&reading->reader, old,
                         "'layers' at the top is 'table' by its old name: keep "
                         "'table'");
    layers->blind = true;
    if (!aps_read_text(&reading->reader, key))
        return;
    if (!source->layers_text) {
        /* The reader of the file has reported the cause if the path is
         * known. */
        if (!source->layers_path)
            aps_reader_error(&reading->reader, key->value,
                             "layer table '%.80s' was not read",
                             key->value->text);
        return;
    }
    if (aps_layers_parse(source->layers_path, source->layers_text,
                         source->layers_length, &policy->layers,
                         reading->reader.errors) < 0)
        return;
    layers->blind = false;
    layers->table = policy->layers;
    layers->count = (long)policy->layers->count;
    aps_networks_check(&reading->reader, key, &policy->steps, policy->layers,
                       policy->min_count);
    if (policy->layers->first && policy->steps.backward)
        aps_reader_warn(&reading->reader,
                        reading->keys[KEY_STEPS] ? reading->keys[KEY_STEPS]
                                                 : reading->keys[KEY_ORDER],
                        "order: backward reverses the rows of a table with the "
                        "column 'first'; the rows of apsmpi-layers --order ddp "
                        "have the order of the calls already");
    if (policy->steps.calls > layers->count)
        aps_reader_error(
            &reading->reader, reading->keys[KEY_STEPS],
            "a step of %ld calls has more calls than the table has layers "
            "(%ld): each call carries one layer or more",
            policy->steps.calls, layers->count);
}

/* For each kind of call the first rule that always matches; or NULL. */
struct covers {
    const struct aps_rule *of[APS_CALL_KINDS];
};

/* Reports a rule at `node` to which earlier rules leave no call. */
static void check_reachable(const struct reading *reading,
                            const struct aps_yaml_node *node,
                            const struct aps_rule *rule,
                            const struct covers *covers)
{
    int line = 0;

    for (int i = 0; i < APS_CALL_KINDS; i++) {
        if ((rule->calls >> i & 1) == 0)
            continue;
        if (!covers->of[i])
            return;
        if (covers->of[i]->line > line)
            line = covers->of[i]->line;
    }
    if (rule->calls == 1u << APS_CALL_ALLREDUCE)
        aps_reader_error(
            &reading->reader, node,
            "this rule is unreachable: the rule in line %d matches everything",
            line);
    else if (rule->calls != 0)
        aps_reader_error(
            &reading->reader, node,
            "this rule is unreachable: the rules up to line %d match all its "
            "calls",
            line);
}

/* Reports rules whose names earlier rules have. Names that differ in a hyphen
 * and an underscore differ, because the log shows them as written. */
static void check_names(const struct reading *reading,
                        const struct aps_yaml_node *first)
{
    const struct aps_rule *rules = reading->policy->rules;
    size_t i = 0, j;

    for (const struct aps_yaml_node *node = first; node; node = node->next) {
        for (j = 0; rules[i].name && j < i; j++) {
            if (rules[j].name && strcmp(rules[j].name, rules[i].name) == 0)
                break;
        }
        if (rules[i].name && j < i)
            aps_reader_error(&reading->reader,
                             aps_yaml_find(node, "name")->value,
                             "the rule in line %d has the name '%s', too",
                             rules[j].line, rules[i].name);
        i++;
    }
}

static void read_rule_list(const struct reading *reading,
                           const struct aps_yaml_node *first)
{
    struct aps_policy *policy = reading->policy;

    for (const struct aps_yaml_node *node = first; node; node = node->next) {
        int index = (int)policy->rule_count++;

        (void)aps_rule_read(&reading->reader, &reading->context, node, index,
                            &policy->rules[index]);
        policy->types |= policy->rules[index].types;
        policy->measures |= policy->rules[index].plan.reduce == APS_REDUCE_AUTO;
    }
    check_names(reading, first);
}

/* Reports rules after one that always matches. After other errors it reports
 * nothing, because a misspelt key may be a condition. */
static void check_order(const struct reading *reading,
                        const struct aps_yaml_node *first)
{
    const struct aps_policy *policy = reading->policy;
    const struct aps_rule *rule = policy->rules;
    struct covers covers = {{NULL}};

    if (reading->reader.errors->count > reading->before)
        return;
    for (const struct aps_yaml_node *node = first; node; node = node->next) {
        const unsigned all = aps_rule_matches_all(rule, policy->min_count);

        if ((rule->types & ~APS_ELEMENTS_DEFAULT) == 0)
            check_reachable(reading, node, rule, &covers);
        for (int i = 0; i < APS_CALL_KINDS; i++) {
            if ((all >> i & 1) && !covers.of[i])
                covers.of[i] = rule;
        }
        rule++;
    }
}

/* True if the end of a step is known or looked for, regardless of scales. */
static bool knows_steps(const struct reading *reading,
                        const struct aps_yaml_node *first)
{
    static const char *const conditions[] = {"layers", "epochs", "steps",
                                             "shadow", NULL};
    bool knows = reading->keys[KEY_STEPS] || reading->keys[KEY_TABLE] ||
                 reading->keys[KEY_LAYERS] || reading->context.shadow.key;

    for (const struct aps_yaml_node *node = first; node; node = node->next) {
        for (int i = 0; node->kind == APS_YAML_MAPPING && conditions[i]; i++)
            knows |= aps_yaml_find(node, conditions[i]) != NULL;
        if (node->kind == APS_YAML_MAPPING)
            knows |= aps_format_is_auto(aps_yaml_find(node, "format"));
    }
    return knows && !reading->policy->steps.none;
}

static void read_rules(struct reading *reading,
                       const struct aps_yaml_node *root)
{
    const struct aps_yaml_node *key = reading->keys[KEY_RULES];
    struct aps_policy *policy = reading->policy;
    const struct aps_reader *reader = &reading->reader;
    const struct aps_yaml_node *first = NULL;
    size_t count = 0;

    if (key && key->value->kind == APS_YAML_LIST)
        first = key->value->first;
    if (first && aps_rule_count(reader, key, &count) < 0)
        return;
    policy->rules = calloc(count + 1, sizeof *policy->rules);
    if (!policy->rules) {
        aps_reader_error(reader, root, "out of memory");
        return;
    }
    reading->context.rules = policy->rules;
    reading->context.log = &policy->log;
    reading->context.knows_steps = knows_steps(reading, first);
    aps_shadow_read_top(&reading->context, root, &policy->rules[count]);
    if (!key && !reading->keys[KEY_GEMM] && !reading->context.shadow.key)
        aps_reader_error(reader, root,
                         "'rules' is missing, and so is 'shadow', with which a "
                         "policy needs none");
    else if (key && key->value->kind != APS_YAML_LIST &&
             key->value->kind != APS_YAML_BAD)
        aps_reader_error(reader, key->value, "'rules' must be a list (- ...)");
    else if (key && key->value->kind == APS_YAML_LIST && !first)
        aps_reader_error(reader, key->value, "'rules' is an empty list");
    read_rule_list(reading, first);
    check_order(reading, first);
}

/* True if the plan depends on the end of a step. It does if layers have state,
 * and if the scale's state belongs to the whole model, which changes at the end
 * of a step. A scale's state of each layer counts in a policy with `steps`,
 * which distinguishes layers of one size. */
static bool plan_needs_steps(const struct aps_plan *plan, bool written)
{
    return aps_plan_remembers(plan) ||
           (aps_scale_state_bytes(&plan->scale) > 0 &&
            (written || aps_scale_scope(&plan->scale) == APS_SCOPE_MODEL));
}

static void settle_steps(const struct reading *reading)
{
    const struct aps_yaml_node *key = reading->keys[KEY_STEPS];
    const bool written = key && !reading->policy->steps.none;
    struct aps_policy *policy = reading->policy;
    bool needed = (aps_policy_shadows(policy) || aps_policy_chooses(policy)) &&
                  !policy->steps.none;
    bool by_layer = false;

    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct aps_rule *rule = &policy->rules[i];

        by_layer |= rule->by_layer;
        needed |= rule->by_layer || rule->by_epoch || rule->by_step ||
                  plan_needs_steps(&rule->plan, written);
    }
    if (policy->steps.any && !reading->context.layers.table &&
        !reading->context.layers.blind && by_layer)
        aps_reader_warn(&reading->reader, key ? key : reading->keys[KEY_ORDER],
                        "order: any numbers layers by their size, the largest "
                        "first; name a 'table' for other numbers and names");
    if (policy->layers)
        policy->steps.kind = APS_STEPS_TABLE;
    else if (policy->steps.calls > 0)
        policy->steps.kind = APS_STEPS_CALLS;
    else
        policy->steps.kind = needed ? APS_STEPS_AUTO : APS_STEPS_NONE;
}

/* Returns the source of the candidates that replace those of the policy. */
static const char *given_name(const struct aps_policy_source *source)
{
    return source->shadow_name ? source->shadow_name : APS_SHADOW_PATH;
}

/* Reads the candidates of APSMPI_SHADOW in place of the policy's. */
static void read_shadow(struct reading *reading)
{
    const struct aps_yaml_node *budget = reading->keys[KEY_BUDGET];
    struct aps_rule_context *context = &reading->context;

    context->shadow.reader = reading->reader;
    context->shadow.key = reading->keys[KEY_SHADOW];
    if (reading->given.value) {
        context->shadow.reader.path = given_name(reading->source);
        context->shadow.key = &reading->given;
    }
    reading->policy->budget = DEFAULT_BUDGET;
    if (budget)
        aps_shadow_read_budget(&reading->reader, budget,
                               &reading->policy->budget);
}

/* Checks that a policy with candidates has a log, to which they are written. */
static void settle_shadow(const struct reading *reading)
{
    const struct aps_yaml_node *budget = reading->keys[KEY_BUDGET];
    struct aps_policy *policy = reading->policy;

    if (budget && !aps_policy_shadows(policy) &&
        reading->reader.errors->count == reading->before)
        aps_reader_error(
            &reading->reader, budget,
            "'budget' has no effect without 'shadow'; leave it out");
    if (!aps_policy_shadows(policy) || policy->log.file)
        return;
    policy->log.file = strdup(DEFAULT_SHADOW_LOG);
    if (!policy->log.file)
        aps_errors_add(reading->reader.errors, reading->reader.path, 0, 0,
                       "out of memory");
}

static void read_root(struct reading *reading, const struct aps_yaml_node *root)
{
    static const char *const old[] = {"layers", "order", NULL};
    static const struct aps_keywords words = {
        .known = known, .hints = aps_top_hints, .old = old};

    if (aps_read_keys(&reading->reader, root, "a policy", &words,
                      reading->keys) < 0)
        return;
    /* Rules come last, because they depend on all other keys. */
    aps_version_check(&reading->reader, root);
    reading->context.per_epoch = aps_policy_steps_read(
        &reading->reader, reading->keys[KEY_STEPS], reading->keys[KEY_ORDER],
        &reading->policy->steps);
    aps_policy_log_read(&reading->reader, reading->keys[KEY_LOG],
                        &reading->policy->log);
    read_min_count(reading);
    read_nonblocking(reading);
    reading->policy->threads =
        aps_policy_threads_read(&reading->reader, reading->keys[KEY_THREADS]);
    read_table(reading);
    read_gemm(reading);
    read_pcontrol(reading);
    read_operations(reading);
    read_shadow(reading);
    read_rules(reading, root);
    settle_steps(reading);
    settle_shadow(reading);
    if (reading->reader.errors->count == reading->before)
        aps_shapes_check(reading->policy, reading->reader.path,
                         reading->reader.errors);
}

/* Parses the value of APSMPI_SHADOW like that of a key. */
static int parse_given(const char *text, struct reading *reading)
{
    static char name[] = "shadow";

    reading->given = (struct aps_yaml_node){
        .kind = APS_YAML_SCALAR, .line = 1, .column = 1, .text = name};
    return aps_yaml_parse(given_name(reading->source), text, strlen(text),
                          &reading->given.value, reading->reader.errors);
}

int aps_policy_parse(const struct aps_policy_source *source,
                     struct aps_policy **policy, struct aps_errors *errors)
{
    struct reading reading = {.reader = {source->path, errors},
                              .source = source};
    size_t before = errors->count;
    struct aps_yaml_node *root;
    struct aps_error error;

    if (aps_yaml_parse(source->path, source->text, source->length, &root,
                       errors) < 0)
        return -1;
    if (!aps_version_is_ours(source->path, root, &error)) {
        /* Another version of the language may allow other YAML. */
        errors->count = before;
        aps_errors_add(errors, error.file, error.line, error.column, "%s",
                       error.text);
        aps_yaml_destroy(root);
        errno = EINVAL;
        return -1;
    }
    reading.before = before;
    reading.policy = calloc(1, sizeof *reading.policy);
    if (source->shadow && parse_given(source->shadow, &reading) < 0)
        ; /* the errors have been reported */
    else if (reading.policy)
        read_root(&reading, root);
    else
        aps_reader_error(&reading.reader, root, "out of memory");
    aps_yaml_destroy(root);
    aps_yaml_destroy(reading.given.value);
    aps_errors_sort(errors);
    if (errors->count > before) {
        aps_policy_destroy(reading.policy);
        errno = EINVAL;
        return -1;
    }
    *policy = reading.policy;
    return 0;
}
