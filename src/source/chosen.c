/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "source/chosen.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/plural.h"
#include "base/print.h"
#include "base/utf8.h"
#include "policy/keywords.h"
#include "yaml/yaml.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* Layers of one rule, and the text that replaces the rule. */
struct group {
    const struct aps_policy *policy;
    const struct aps_yaml_node *rule; /* a mapping */
    const struct aps_chosen_layer *layers;
    size_t count;
    int written; /* rules written before */
};

/* Keys of a rule that are written. */
enum part {
    ALL,         /* all but `format` */
    CONDITIONS,  /* all but `format` and `name` */
    BESIDE_THESE /* all but conditions on layers and counts */
};

const char *aps_chosen_layer_format(const struct aps_policy *policy,
                                    const struct aps_chosen_layer *layer)
{
    const struct aps_plan *plan = aps_policy_rule_plan(policy, layer->rule);

    return layer->chosen < 0
               ? "fp32"
               : plan->auto_format->formats.plans[layer->chosen].format.name;
}

/* --- YAML ----------------------------------------------------------------- */

static void write_scalar(FILE *stream, const char *text)
{
    if (text[0] && strchr(LETTERS DIGITS, text[0]) &&
        text[strspn(text, LETTERS DIGITS "_.%+^/-")] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    while (*text) {
        uint32_t character = 0xfffd; /* a path may have other bytes */
        const size_t length = aps_utf8_next(text, &character);

        if (length == 0 || !aps_utf8_is_plain(character))
            fprintf(stream, "\\U%08x", (unsigned)character);
        else
            fprintf(stream, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "",
                    (int)length, text);
        text += length > 0 ? length : 1;
    }
    fputc('"', stream);
}

static void write_pair(FILE *stream, const struct aps_yaml_node *key);

static void write_node(FILE *stream, const struct aps_yaml_node *node)
{
    const bool mapping = node->kind == APS_YAML_MAPPING;

    if (node->kind == APS_YAML_SCALAR) {
        write_scalar(stream, node->text);
        return;
    }
    fputc(mapping ? '{' : '[', stream);
    for (const struct aps_yaml_node *item = node->first; item;
         item = item->next) {
        if (item != node->first)
            fputs(", ", stream);
        if (mapping)
            write_pair(stream, item);
        else
            write_node(stream, item);
    }
    fputc(mapping ? '}' : ']', stream);
}

/* Writes "scale: aps". */
static void write_pair(FILE *stream, const struct aps_yaml_node *key)
{
    write_scalar(stream, key->text);
    fputs(": ", stream);
    write_node(stream, key->value);
}

/* --- one rule ------------------------------------------------------------- */

static bool is_one_of(const struct aps_yaml_node *key, const char *const *names)
{
    return aps_keywords_find(names, key->text) >= 0;
}

/* True if the key of the rule is written for a plan of a format; NULL: for
 * FP32. */
static bool is_written(const struct aps_yaml_node *key, enum part part,
                       const struct aps_plan *plan)
{
    static const char *const conditions[] = {
        "name",   "calls", "types",     "communicators", "layers",
        "epochs", "steps", "min_count", "max_count",     NULL};
    static const char *const places[] = {"name", "layers", "min_count",
                                         "max_count", NULL};
    static const char *const scales[] = {"scale", "aps", NULL};

    if (aps_same_word(key->text, "format"))
        return false;
    if (part == CONDITIONS)
        return is_one_of(key, conditions);
    if (part == BESIDE_THESE && is_one_of(key, places))
        return false;
    return !plan->format.self_scaled || !is_one_of(key, scales);
}

/* Ends a rule with its other keys: ", scale: aps}". */
static void end_rule(FILE *stream, const struct group *group, enum part part,
                     const struct aps_plan *plan)
{
    for (const struct aps_yaml_node *key = group->rule->first; key;
         key = key->next) {
        if (!is_written(key, part, plan))
            continue;
        fputs(", ", stream);
        write_pair(stream, key);
    }
    fputs("}\n", stream);
}

/* Begins a rule, with a name if `named`: " - {format: e4m3". */
static void begin_rule(FILE *stream, struct group *group, const char *format,
                       bool named)
{
    const struct aps_yaml_node *name = aps_yaml_find(group->rule, "name");

    fprintf(stream, "  - {format: %s", format);
    group->written++;
    if (named && name && name->value->kind == APS_YAML_SCALAR)
        fprintf(stream, ", name: %s-%d", name->value->text, group->written);
}

static const struct aps_plan *plan_of(const struct group *group, int chosen)
{
    const struct aps_plan *plan =
        aps_policy_rule_plan(group->policy, group->layers[0].rule);

    return chosen < 0 ? NULL : &plan->auto_format->formats.plans[chosen];
}

/* --- comments ------------------------------------------------------------- */

/* Writes a name of the layer table, on one line. */
static void comment_name(FILE *stream, const char *name)
{
    fputs(" (", stream);
    for (; *name; name++)
        fputc((unsigned char)*name < ' ' ? '?' : *name, stream);
    fputc(')', stream);
}

static void comment_layer(FILE *stream, const struct group *group,
                          const struct aps_chosen_layer *layer)
{
    const struct aps_auto_format *formats =
        aps_policy_rule_plan(group->policy, layer->rule)->auto_format;

    fputs("  # ", stream);
    if (layer->layer >= 0)
        fprintf(stream, "layer %ld", layer->layer);
    if (layer->name)
        comment_name(stream, layer->name);
    fprintf(stream, "%s%zu element%s: %s", layer->layer >= 0 ? ", " : "",
            layer->count, aps_plural(layer->count),
            aps_chosen_layer_format(group->policy, layer));
    if (layer->chosen < 0)
        aps_fprint(
            stream,
            ", since no format met the target, by its margin of %g dB, with "
            "fewer bytes\n",
            formats->margin);
    else
        aps_fprint(stream, ", %s %.4g%s, %.1f %% of the bytes of FP32\n",
                   formats->target == APS_TARGET_SNR ? "snr" : "err",
                   formats->target == APS_TARGET_SNR ? -20 * log10(layer->error)
                                                     : layer->error,
                   formats->target == APS_TARGET_SNR ? "dB" : "",
                   100 * (double)layer->wire_bytes / (double)layer->fp32_bytes);
}

static void comment_rule(FILE *stream, const struct group *group)
{
    const struct aps_auto_format *formats =
        aps_policy_rule_plan(group->policy, group->layers[0].rule)->auto_format;
    char target[40];

    fprintf(stream,
            "  # Of line %d, whose target was %s, by its last "
            "measurements:\n",
            aps_policy_rule_line(group->policy, group->layers[0].rule),
            aps_auto_format_target(formats, target, sizeof target));
    for (size_t i = 0; i < group->count; i++)
        comment_layer(stream, group, &group->layers[i]);
}

/* --- the layers of one rule ----------------------------------------------- */

/* Writes "layers: [0-3, 7]": all layers that have the format. */
static void write_layers(FILE *stream, const struct group *group, int chosen)
{
    const char *separator = "";

    fputs(", layers: [", stream);
    for (size_t i = 0; i < group->count; i++) {
        const long first = group->layers[i].layer;
        long last = first;

        if (group->layers[i].chosen != chosen)
            continue;
        while (i + 1 < group->count && group->layers[i + 1].chosen == chosen &&
               group->layers[i + 1].layer <= last + 1)
            last = group->layers[++i].layer;
        fprintf(stream, last > first ? "%s%ld-%ld" : "%s%ld", separator, first,
                last);
        separator = ", ";
    }
    fputc(']', stream);
}

/* Writes a rule for each format but FP32, for layers with numbers. A layer that
 * had several counts has a format for each of them, and matches the first of
 * these rules. */
static void write_by_layer(FILE *stream, struct group *group, int formats)
{
    for (int chosen = 0; chosen < formats; chosen++) {
        size_t i = 0;

        while (i < group->count && group->layers[i].chosen != chosen)
            i++;
        if (i == group->count)
            continue;
        begin_rule(stream, group, plan_of(group, chosen)->format.name, true);
        write_layers(stream, group, chosen);
        end_rule(stream, group, BESIDE_THESE, plan_of(group, chosen));
    }
}

/* Writes a rule for each run of counts, for layers that are known only by
 * count. */
static void write_by_count(FILE *stream, struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const int chosen = group->layers[i].chosen;
        const size_t first = group->layers[i].count;

        while (i + 1 < group->count && group->layers[i + 1].chosen == chosen)
            i++;
        if (chosen < 0)
            continue;
        begin_rule(stream, group, plan_of(group, chosen)->format.name, true);
        fprintf(stream, ", min_count: %zu, max_count: %zu", first,
                group->layers[i].count);
        end_rule(stream, group, BESIDE_THESE, plan_of(group, chosen));
    }
}

static bool is_met(const struct group *group, long layer)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->layers[i].layer == layer)
            return true;
    return false;
}

/* True if a last rule is needed, for layers in FP32 or layers that never
 * came. */
static bool is_rest_left(const struct group *group)
{
    const struct aps_layers *table = aps_policy_layers(group->policy);
    const int rule = group->layers[0].rule;
    bool left = !table || aps_yaml_find(group->rule, "epochs") ||
                aps_yaml_find(group->rule, "steps");

    for (size_t i = 0; i < group->count; i++)
        left |= group->layers[i].chosen < 0;
    for (size_t i = 0; !left && i < table->count; i++) {
        const struct aps_plan_key place = aps_plan_key_of(table, i);
        struct aps_plan plan;

        aps_policy_resolve(group->policy, &place, &plan);
        left = plan.rule == rule && !is_met(group, (long)i);
    }
    return left;
}

static void write_group(FILE *stream, struct group *group)
{
    bool alike = true;
    int first;

    /* Calls without a layer get no rule next to layers. */
    while (group->layers[0].layer < 0 &&
           group->layers[group->count - 1].layer >= 0) {
        group->layers++;
        group->count--;
    }
    first = group->layers[0].chosen;

    comment_rule(stream, group);
    for (size_t i = 0; i < group->count; i++)
        alike &= group->layers[i].chosen == first;
    /* Calls that were never measured, such as those of an evaluation, went to
     * MPI; a rule for all calls would round them. */
    if (alike && first >= 0 && !is_rest_left(group)) {
        begin_rule(stream, group, plan_of(group, first)->format.name, false);
        end_rule(stream, group, ALL, plan_of(group, first));
        return;
    }
    if (group->layers[0].layer >= 0)
        write_by_layer(
            stream, group,
            (int)aps_policy_rule_plan(group->policy, group->layers[0].rule)
                ->auto_format->formats.count);
    else
        write_by_count(stream, group);
    if (!is_rest_left(group))
        return;
    begin_rule(stream, group, "fp32", false);
    end_rule(stream, group, CONDITIONS, NULL);
}

/* --- the policy ----------------------------------------------------------- */

static void write_rules(FILE *stream, const struct aps_policy *policy,
                        const struct aps_yaml_node *rules,
                        const struct aps_chosen_layer layers[], size_t count)
{
    size_t at = 0;
    int index = 0;

    fputs("rules:\n", stream);
    for (const struct aps_yaml_node *rule = rules->first; rule;
         rule = rule->next, index++) {
        struct group group = {
            .policy = policy, .rule = rule, .layers = &layers[at]};

        while (at < count && layers[at].rule == index) {
            at++;
            group.count++;
        }
        if (group.count > 0) {
            write_group(stream, &group);
            continue;
        }
        fputs("  - ", stream);
        write_node(stream, rule);
        fputc('\n', stream);
    }
}

/* Writes `steps` for layers whose order was found to change. `steps`: its node in
 * the source, or NULL. */
static void write_any_order(FILE *stream, const struct aps_yaml_node *steps)
{
    fputs("steps: {order: any", stream);
    if (steps && steps->kind == APS_YAML_MAPPING)
        for (const struct aps_yaml_node *key = steps->first; key;
             key = key->next) {
            if (strcmp(key->text, "order") == 0)
                continue;
            fputs(", ", stream);
            write_pair(stream, key);
        }
    fputs("}\n", stream);
}

int aps_chosen_write(FILE *stream, const struct aps_policy_source *source,
                     const struct aps_policy *policy, const char *table,
                     bool any, const struct aps_chosen_layer layers[],
                     size_t count)
{
    struct aps_errors *errors = calloc(1, sizeof *errors);
    struct aps_yaml_node *root = NULL;
    const struct aps_yaml_node *steps;

    if (!errors || aps_yaml_parse(source->path, source->text, source->length,
                                  &root, errors) < 0) {
        free(errors);
        return -1;
    }
    steps = aps_yaml_find(root, "steps");
    for (const struct aps_yaml_node *key = root->first; key; key = key->next) {
        if (any && strcmp(key->text, "steps") == 0)
            continue;
        if (any && strcmp(key->text, "rules") == 0)
            write_any_order(stream, steps ? steps->value : NULL);
        if (strcmp(key->text, "rules") == 0) {
            write_rules(stream, policy, key->value, layers, count);
            continue;
        }
        if (table && (strcmp(key->text, "table") == 0 ||
                      strcmp(key->text, "layers") == 0)) {
            fputs("table: ", stream);
            write_scalar(stream, table);
        } else {
            write_pair(stream, key);
        }
        fputc('\n', stream);
    }
    aps_yaml_destroy(root);
    free(errors);
    return ferror(stream) ? -1 : 0;
}
