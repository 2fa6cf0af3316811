/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/explain_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/print.h"
#include "explain/auto_formats.h"
#include "cli/columns.h"
#include "explain/compressors.h"
#include "cli/command.h"
#include "explain/layers.h"
#include "explain/notes.h"
#include "cli/schedule.h"
#include "explain/shadows.h"
#include "explain/traffic.h"
#include "explain/traffic_notes.h"
#include "text/ranges.h"
#include "policy/keywords.h"

/* --- cells --------------------------------------------------------------- */

/* Columns of a plan, equal in both tables. */
enum plan_cell { FORMAT, SCALE, REDUCE, GROUP, NODE, ACCUMULATE, PLAN_CELLS };
#define PLAN_COLUMNS                                                           \
    {"format", false}, {"scale", false}, {"reduce", false}, {"group", false},  \
        {"node", false},                                                       \
    {                                                                          \
        "accumulate", false                                                    \
    }

/* Texts of cells, until the table has copied them. */
struct cell_text {
    char native[80];
    char format[APS_COMMAND_FORMAT_MAX];
    char scale[32];
    char group[16];
    char accumulate[APS_ACCUMULATE_TEXT_MAX];
    char bytes[16];
    char saved[24];
};

static void fill_plan(const struct aps_plan *plan, struct cell_text *text,
                      const char **cells)
{
    bool groups = aps_reduce_takes(plan->reduce, APS_SETTING_GROUP);
    bool node = aps_reduce_takes(plan->reduce, APS_SETTING_NODE);

    cells[FORMAT] = aps_command_format(plan, text->format, sizeof text->format);
    cells[SCALE] = aps_command_scale(plan, text->scale, sizeof text->scale);
    cells[REDUCE] = aps_reduce_name(plan->reduce);
    cells[GROUP] = groups ? aps_group_name(plan->group) : "-";
    if (groups && plan->group == APS_GROUP_NUMBER) {
        snprintf(text->group, sizeof text->group, "%d", plan->group_size);
        cells[GROUP] = text->group;
    }
    cells[NODE] = node ? aps_node_name(plan->node) : "-";
    cells[ACCUMULATE] =
        aps_plan_accumulate(plan, text->accumulate, sizeof text->accumulate);
}

/* Fills the cells of a rule that chooses formats, with the settings of the
 * first. */
static void fill_auto_format(const struct aps_plan *plan,
                             struct cell_text *text, const char **cells)
{
    fill_plan(&plan->auto_format->formats.plans[0], text, cells);
    cells[FORMAT] = aps_auto_formats_list(plan->auto_format, text->format,
                                          sizeof text->format);
}

/* Fills all columns of a plan with "native (why)". */
static void fill_native(const char *why, struct cell_text *text,
                        const char **cells)
{
    snprintf(text->native, sizeof text->native, "native (%s)", why);
    cells[FORMAT] = text->native;
    for (int i = FORMAT + 1; i < PLAN_CELLS; i++)
        cells[i] = NULL;
}

/* Fills the cells of a rule, planned or native, and the bytes of an element
 * unless they depend on layers. */
static void fill_rule(const struct aps_policy *policy, int rule,
                      enum aps_element element, struct cell_text *text,
                      const char **cells)
{
    const struct aps_plan *plan =
        rule < 0 ? NULL : aps_policy_rule_plan(policy, rule);

    if (aps_policy_shadow(policy, rule)->count > 0)
        fill_native("shadow", text, cells);
    else if (!plan)
        fill_native("no rule matches", text, cells);
    else if (plan->auto_format)
        fill_auto_format(plan, text, cells);
    else if (plan->rewrite)
        fill_plan(plan, text, cells);
    else
        fill_native("by rule", text, cells);
    if (plan && plan->compressor.kind != APS_COMPRESSOR_NONE)
        snprintf(text->bytes, sizeof text->bytes, "-");
    else
        aps_print(text->bytes, sizeof text->bytes, "%g",
                  aps_traffic_per_element(plan, element));
}

/* --- with a layer table -------------------------------------------------- */

enum { LAYERS, NAME, COUNT, TIME, ARROW, PLAN };
enum { LINE = PLAN + PLAN_CELLS, BYTES, SAVED, LAYER_CELLS };

struct explanation {
    const struct aps_policy *policy;
    const struct aps_layers *table;
    const struct aps_schedule *schedule;
    struct aps_range window; /* spans to show, as indices */
    bool each_layer;         /* one row for each layer */
    bool *shown;             /* rules that have a row */
    struct aps_columns *columns;
};

/* Consecutive layers with equal rules and types, without small ones. */
struct group {
    size_t first;
    size_t last;
    size_t count; /* elements */
    size_t bytes; /* bytes of those elements in the program's types */
};

static bool is_small(const struct explanation *explanation, size_t layer)
{
    return explanation->table->list[layer].count <
           aps_policy_min_count(explanation->policy);
}

static bool are_alike(const struct explanation *explanation, size_t a, size_t b)
{
    const int *x = aps_schedule_layer(explanation->schedule, a);
    const int *y = aps_schedule_layer(explanation->schedule, b);
    size_t first = (size_t)explanation->window.first;
    size_t count = (size_t)explanation->window.last - first + 1;

    return explanation->table->list[a].element ==
               explanation->table->list[b].element &&
           memcmp(x + first, y + first, count * sizeof *x) == 0;
}

/* Fills the bytes of its layers under a rule, and the bytes saved against the
 * program's types. */
static void fill_bytes(const struct explanation *explanation,
                       const struct group *group, int rule,
                       struct cell_text *text)
{
    const size_t bytes = is_small(explanation, group->first)
                             ? group->bytes
                             : aps_traffic_layers(explanation->policy, rule,
                                                  group->first, group->last);

    if (strcmp(text->bytes, "-") == 0)
        aps_print(text->bytes, sizeof text->bytes, "%.3g",
                  (double)bytes / (double)group->count);
    snprintf(text->saved, sizeof text->saved, "%lld",
             (long long)group->bytes - (long long)bytes);
}

static void add_group(const struct explanation *explanation,
                      const struct group *group)
{
    const struct aps_layers *table = explanation->table;
    const struct aps_range *spans = explanation->schedule->spans;
    const int *rules = aps_schedule_layer(explanation->schedule, group->first);
    struct aps_range layers = {(long)group->first, (long)group->last};
    const char *cells[LAYER_CELLS];
    char index[48], count[24];
    char name[256];

    snprintf(name, sizeof name, "%s%s%s", table->list[group->first].name,
             group->last > group->first ? " .. " : "",
             group->last > group->first ? table->list[group->last].name : "");
    snprintf(count, sizeof count, "%zu", group->count);
    cells[LAYERS] = aps_range_format(&layers, index, sizeof index);
    cells[NAME] = name;
    cells[COUNT] = count;
    cells[ARROW] = "->";
    for (long i = explanation->window.first; i <= explanation->window.last;) {
        int rule = rules[i];
        struct aps_range time = {spans[i].first, spans[i].last};
        char time_text[48], line[APS_COMMAND_RULE_MAX] = "-";
        struct cell_text text;

        for (; i <= explanation->window.last && rules[i] == rule; i++)
            time.last = spans[i].last;
        cells[TIME] = aps_range_format(&time, time_text, sizeof time_text);
        fill_rule(explanation->policy, rule, table->list[group->first].element,
                  &text, cells + PLAN);
        fill_bytes(explanation, group, rule, &text);
        if (rule >= 0)
            explanation->shown[rule] = true;
        if (is_small(explanation, group->first)) {
            char why[64];

            snprintf(why, sizeof why, "count < min_count %zu",
                     aps_policy_min_count(explanation->policy));
            fill_native(why, &text, cells + PLAN);
        }
        if (rule >= 0)
            aps_command_rule(explanation->policy, rule, line);
        cells[LINE] = line;
        cells[BYTES] = text.bytes;
        cells[SAVED] = text.saved;
        aps_columns_add(explanation->columns, cells);
        /* A group is described once. */
        cells[LAYERS] = cells[NAME] = cells[COUNT] = "";
    }
}

/* Adds one row for all layers below min_count. */
static void add_small(const struct explanation *explanation, size_t layers,
                      const struct group *small)
{
    const char *cells[LAYER_CELLS] = {
        [TIME] = "all", [ARROW] = "->", [LINE] = "-", [SAVED] = "0"};
    char layers_text[32], count_text[24], why[64];
    struct cell_text text;

    snprintf(layers_text, sizeof layers_text, "%zu small", layers);
    snprintf(count_text, sizeof count_text, "%zu", small->count);
    snprintf(why, sizeof why, "count < min_count %zu",
             aps_policy_min_count(explanation->policy));
    fill_native(why, &text, cells + PLAN);
    aps_print(text.bytes, sizeof text.bytes, "%.3g",
              (double)small->bytes / (double)small->count);
    cells[BYTES] = text.bytes;
    cells[LAYERS] = layers_text;
    cells[NAME] = "";
    cells[COUNT] = count_text;
    aps_columns_add(explanation->columns, cells);
}

static void add_layers(const struct explanation *explanation)
{
    size_t small_layers = 0;
    struct group group = {.count = 0}, small = {.count = 0};

    for (size_t i = 0; i < explanation->table->count; i++) {
        const size_t count = explanation->table->list[i].count;
        const size_t bytes = aps_traffic_layer_native(explanation->policy, i);

        if (!explanation->each_layer && is_small(explanation, i)) {
            small_layers++;
            small.count += count;
            small.bytes += bytes;
            continue;
        }
        if (group.count > 0 && (explanation->each_layer ||
                                !are_alike(explanation, group.first, i))) {
            add_group(explanation, &group);
            group.count = group.bytes = 0;
        }
        if (group.count == 0)
            group.first = i;
        group.last = i;
        group.count += count;
        group.bytes += bytes;
    }
    if (group.count > 0)
        add_group(explanation, &group);
    if (small_layers > 0)
        add_small(explanation, small_layers, &small);
}

/* Prints the bytes of one encoded copy of all layers, for each span. */
static void print_totals(const struct explanation *explanation)
{
    const struct aps_schedule *schedule = explanation->schedule;
    const struct aps_layers *table = explanation->table;
    const char *unit = schedule->by_step ? "steps" : "epochs";
    const struct aps_column heads[] = {{unit, false},
                                       {"bytes/step", true},
                                       {"native", true},
                                       {"saved", true},
                                       {"batches", true}};
    bool fuses = aps_policy_fuse(explanation->policy) > 0;
    struct aps_columns *columns = aps_columns_create(heads, fuses ? 5 : 4);

    for (long i = explanation->window.first; i <= explanation->window.last;
         i++) {
        size_t native = 0, wire = 0;
        char time[48], wire_text[24], native_text[24], saved[16], groups[24];
        const char *cells[] = {time, wire_text, native_text, saved, groups};

        for (size_t layer = 0; layer < table->count; layer++) {
            native += aps_traffic_layer_native(explanation->policy, layer);
            wire += aps_traffic_layer(explanation->policy,
                                      aps_schedule_layer(schedule, layer)[i],
                                      layer);
        }
        aps_range_format(&schedule->spans[i], time, sizeof time);
        snprintf(wire_text, sizeof wire_text, "%zu", wire);
        snprintf(native_text, sizeof native_text, "%zu", native);
        aps_print(saved, sizeof saved, "%.1f%%",
                  100.0 * ((double)native - (double)wire) / (double)native);
        snprintf(
            groups, sizeof groups, "%zu",
            aps_nonblocking_groups(explanation->policy, schedule, (size_t)i));
        aps_columns_add(columns, cells);
    }
    printf("\ntotal (one encoded copy of every layer)\n");
    aps_columns_print(columns);
    aps_columns_destroy(columns);
}

static void explain_layers(const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, bool each_layer)
{
    const struct aps_column heads[] = {
        {"layers", false},    {"name", false},
        {"count", true},      {schedule->by_step ? "steps" : "epochs", false},
        {"", false},          PLAN_COLUMNS,
        {"line", true},       {"bytes/elem", true},
        {"saved/step", true},
    };
    struct explanation explanation = {
        .policy = policy,
        .table = aps_policy_layers(policy),
        .schedule = schedule,
        .window = *window,
        .each_layer = each_layer,
    };

    explanation.shown =
        aps_command_alloc(aps_policy_rules(policy), sizeof *explanation.shown);
    explanation.columns = aps_columns_create(heads, LAYER_CELLS);
    add_layers(&explanation);
    aps_columns_print(explanation.columns);
    aps_columns_destroy(explanation.columns);
    print_totals(&explanation);
    aps_traffic_notes(policy, explanation.shown);
    aps_scales_notes(policy, explanation.shown);
    aps_compressors_notes(policy, schedule, window, explanation.shown);
    aps_nonblocking_notes(policy);
    aps_threads_note(policy);
    aps_others_print(policy);
    free(explanation.shown);
}

/* --- without a layer table ----------------------------------------------- */

/* Prints the rules for all-reduces. */
static void print_rules(const struct aps_policy *policy)
{
    enum { RULE_LINE, WHEN, RULE_ARROW, RULE_PLAN };
    enum { RULE_BYTES = RULE_PLAN + PLAN_CELLS, RULE_CELLS };
    static const struct aps_column heads[] = {
        {"line", true}, {"when", false},      {"", false},
        PLAN_COLUMNS,   {"bytes/elem", true},
    };
    size_t rules = aps_policy_rules(policy);
    struct aps_columns *columns = aps_columns_create(heads, RULE_CELLS);
    bool *shown = aps_command_alloc(rules, sizeof *shown);
    bool any = false;

    for (size_t i = 0; i < rules; i++) {
        const char *cells[RULE_CELLS] = {[RULE_ARROW] = "->"};
        char line[APS_COMMAND_RULE_MAX], when[400];
        struct cell_text text;
        int rule = (int)i;

        if ((aps_policy_rule_calls(policy, rule) & 1u << APS_CALL_ALLREDUCE) ==
            0)
            continue;
        cells[RULE_LINE] = aps_command_rule(policy, rule, line);
        cells[WHEN] = aps_policy_rule_when(policy, rule, APS_CALL_ALLREDUCE,
                                           when, sizeof when);
        fill_rule(policy, rule, APS_ELEMENT_FLOAT, &text, cells + RULE_PLAN);
        cells[RULE_BYTES] = text.bytes;
        aps_columns_add(columns, cells);
        any = shown[i] = true;
    }
    if (any)
        aps_columns_print(columns);
    else
        printf("No rule is for all-reduces: all of them are left to MPI.\n");
    aps_columns_destroy(columns);
    aps_traffic_notes(policy, shown);
    aps_scales_notes(policy, shown);
    aps_compressors_notes(policy, NULL, NULL, shown);
    free(shown);
}

static void explain_rules(const struct aps_policy *policy)
{
    print_rules(policy);
    aps_nonblocking_notes(policy);
    aps_threads_note(policy);
    aps_others_print(policy);
    printf("\nThe first rule that matches applies. Calls that no rule matches, "
           "and "
           "calls of\nfewer than %zu element%s (min_count), are left to "
           "MPI.\n",
           aps_policy_min_count(policy),
           aps_plural(aps_policy_min_count(policy)));
    if (aps_policy_steps(policy)->kind == APS_STEPS_AUTO)
        printf("Until the program has repeated its step %s, all all-reduces "
               "are left to\nMPI (steps: auto).\n",
               aps_policy_steps(policy)->any ? "twice" : "three times");
}

/* --- both ---------------------------------------------------------------- */

void aps_explain_text(const char *path, const struct aps_policy *policy,
                      const struct aps_schedule *schedule,
                      const struct aps_range *window, bool each_layer)
{
    char summary[256];

    printf("%s: %s\n\n", path,
           aps_command_summary(policy, summary, sizeof summary));
    if (schedule)
        explain_layers(policy, schedule, window, each_layer);
    else if (aps_policy_rules(policy) > 0)
        explain_rules(policy);
    else
        printf("No rules: every call is left to MPI.\n");
    aps_auto_formats_notes(policy, schedule);
    aps_shadows_print(policy, schedule);
    aps_layers_note(policy);
    if (!aps_policy_pcontrol(policy))
        printf("\nThe library only passes MPI_Pcontrol on (pcontrol: off).\n");
}
