/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictions/predictions_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "predictions/predictions.h"
#include "predictions/predictions_advice.h"
#include "policy/keywords.h"
#include "predict/quantity.h"

#define TIME_MAX 24

/* Data that all rows share. */
struct report {
    struct aps_cluster *cluster;
    const struct aps_policy *policy;
    const struct aps_schedule *schedule; /* NULL: no layer table */
    bool each_layer;
    struct aps_columns *columns;
};

enum { TIME, LAYERS, NAME, COUNT, FORMAT, REDUCE, GROUP, OURS, NATIVE, FASTER };
enum { BOUND = FASTER + 1, CELLS };

/* --- rows ---------------------------------------------------------------- */

/* Returns "direct", "auto (direct)", "auto (native)". */
static const char *reduce_of(const struct aps_plan *plan,
                             const struct aps_predicted *sum, char *buffer,
                             size_t size)
{
    const char *name = aps_reduce_name(plan->reduce);

    if (plan->reduce != APS_REDUCE_AUTO || sum->seconds <= 0)
        return name;
    snprintf(buffer, size, "%s (%s)", name,
             sum->taken == APS_REDUCE_AUTO ? "native"
                                           : aps_reduce_name(sum->taken));
    return buffer;
}

/* Adds the times to a row with all other cells. */
static void add_times(const struct report *report, const char *cells[CELLS],
                      const struct aps_predicted *sum)
{
    char ours[TIME_MAX] = "-", native[TIME_MAX] = "-", faster[TIME_MAX] = "-";

    if (sum->seconds > 0) {
        aps_quantity_format_time(sum->seconds, ours, sizeof ours);
        aps_quantity_format_time(sum->mpich, native, sizeof native);
        aps_print(faster, sizeof faster, "%.2f", sum->mpich / sum->seconds);
    }
    cells[OURS] = sum->compressed > 0 ? "not predicted (compress)" : ours;
    cells[NATIVE] = native;
    cells[FASTER] = faster;
    cells[BOUND] = sum->seconds > 0 ? aps_bound_name(sum->bound) : "-";
    aps_columns_add(report->columns, cells);
}

/* Adds a row of calls that go to MPI; `format` says why. */
static void add_native(const struct report *report, const char *cells[CELLS],
                       const char *format, const struct aps_predicted *sum)
{
    cells[FORMAT] = format;
    cells[REDUCE] = cells[GROUP] = "-";
    add_times(report, cells, sum);
}

/* `chosen`: the plan is one of those that a rule chooses from. */
static void add_plan(const struct report *report, const char *cells[CELLS],
                     const struct aps_plan *plan, bool chosen,
                     const struct aps_predicted *sum)
{
    char one_of[APS_COMMAND_FORMAT_MAX + 16];
    char format[APS_COMMAND_FORMAT_MAX], group[16] = "-", reduce[32];
    struct aps_plan shown;

    /* Layers without a format yet, or without one that is good enough, go to
     * MPI. */
    if (plan && plan->auto_format && !chosen) {
        add_native(report, cells, "auto (fp32)", sum);
        return;
    }
    if (!plan || !plan->rewrite) {
        add_native(report, cells, "native", sum);
        return;
    }
    shown = *plan;
    if (sum->compressed == 0)
        shown.compressor.kind = APS_COMPRESSOR_NONE;
    cells[FORMAT] = aps_command_format(&shown, format, sizeof format);
    if (chosen) {
        snprintf(one_of, sizeof one_of, "auto (%s)", format);
        cells[FORMAT] = one_of;
    }
    cells[REDUCE] = reduce_of(plan, sum, reduce, sizeof reduce);
    if (aps_reduce_takes(plan->reduce, APS_SETTING_GROUP))
        snprintf(group, sizeof group, "%d",
                 aps_predict_group(&report->cluster->machine, plan));
    cells[GROUP] = group;
    add_times(report, cells, sum);
}

static void add_row(const struct report *report, const char *cells[CELLS],
                    const struct aps_plan *plan,
                    const struct aps_predicted *sum)
{
    add_plan(report, cells, plan, false, sum);
}

/* Adds a row for the layers `first` to `last`, which share their rule or are
 * small. */
static void add_layers(const struct report *report, size_t first, size_t last,
                       size_t count, int rule, const char *time,
                       const struct aps_predicted *sum)
{
    const struct aps_layers *table = aps_policy_layers(report->policy);
    const struct aps_range range = {(long)first, (long)last};
    char index[48], elements[24], name[256];
    const char *cells[CELLS] = {
        [TIME] = time, [NAME] = name, [COUNT] = elements};

    snprintf(name, sizeof name, "%s%s%s", table->list[first].name,
             last > first ? " .. " : "",
             last > first ? table->list[last].name : "");
    snprintf(elements, sizeof elements, "%zu", count);
    cells[LAYERS] = aps_range_format(&range, index, sizeof index);
    add_row(report, cells,
            rule < 0 ? NULL : aps_policy_rule_plan(report->policy, rule), sum);
}

static bool is_small(const struct report *report, size_t layer)
{
    return aps_policy_layers(report->policy)->list[layer].count <
           aps_policy_min_count(report->policy);
}

static int rule_of(const struct report *report, size_t layer, long span)
{
    return is_small(report, layer)
               ? -1
               : aps_schedule_layer(report->schedule, layer)[span];
}

/* Consecutive layers with one rule, without small ones; or small layers. */
struct run {
    size_t layers;
    size_t first;
    size_t last;
    size_t count; /* elements */
    size_t taken; /* elements in layers that a compressor takes */
    struct aps_predicted sum;
};

static void run_add(struct run *run, const struct report *report, size_t layer,
                    const struct aps_predicted *one)
{
    if (run->layers++ == 0)
        run->first = layer;
    run->last = layer;
    run->count += aps_policy_layers(report->policy)->list[layer].count;
    if (one->compressed > 0)
        run->taken += aps_policy_layers(report->policy)->list[layer].count;
    aps_predicted_add(&run->sum, one);
}

/* Adds a row for the layers of a run that its compressor does not take. */
static void add_untaken(const struct report *report, const struct run *run,
                        int rule, const char *time)
{
    struct aps_predicted sum = run->sum;
    char layers[32], elements[24];
    const char *cells[CELLS] = {[TIME] = time,
                                [LAYERS] = layers,
                                [NAME] = "not compressed",
                                [COUNT] = elements};

    snprintf(layers, sizeof layers, "%zu of them",
             run->layers - sum.compressed);
    snprintf(elements, sizeof elements, "%zu", run->count - run->taken);
    sum.compressed = 0;
    add_row(report, cells, aps_policy_rule_plan(report->policy, rule), &sum);
}

/* Adds a row for the layers of a run in each of the formats that its rule
 * chooses from. */
static void add_formats(const struct report *report, const struct run *run,
                        int rule, long span, const char *time)
{
    const struct aps_shadow *formats =
        aps_predicted_formats(report->policy, rule);
    char elements[24];
    const char *cells[CELLS] = {
        [TIME] = time, [LAYERS] = "", [NAME] = "", [COUNT] = elements};

    snprintf(elements, sizeof elements, "%zu", run->count);
    for (size_t f = 0; f < formats->count; f++) {
        struct aps_predicted sum = {0};

        for (size_t i = run->first; i <= run->last; i++)
            if (rule_of(report, i, span) == rule) {
                const struct aps_predicted one =
                    aps_predicted_layer(report->cluster, report->policy, rule,
                                        i, &formats->plans[f], 0);

                aps_predicted_add(&sum, &one);
            }
        add_plan(report, cells, &formats->plans[f], true, &sum);
    }
}

/* Adds the rows of a run, and ends it. */
static void run_end(struct run *run, const struct report *report, long span,
                    const char *time)
{
    const size_t compressed = run->sum.compressed;
    const struct aps_predicted unknown = {.compressed = compressed};

    if (run->layers > 0)
        add_layers(report, run->first, run->last,
                   compressed > 0 ? run->taken : run->count,
                   rule_of(report, run->first, span), time,
                   compressed > 0 ? &unknown : &run->sum);
    if (compressed > 0 && compressed < run->layers)
        add_untaken(report, run, rule_of(report, run->first, span), time);
    if (run->layers > 0)
        add_formats(report, run, rule_of(report, run->first, span), span, time);
    *run = (struct run){0};
}

static void add_small(const struct report *report, const struct run *run,
                      const char *time)
{
    char layers[32], elements[24];
    const char *cells[CELLS] = {
        [TIME] = time, [LAYERS] = layers, [NAME] = "", [COUNT] = elements};

    if (run->layers == 0)
        return;
    snprintf(layers, sizeof layers, "%zu small", run->layers);
    snprintf(elements, sizeof elements, "%zu", run->count);
    add_row(report, cells, NULL, &run->sum);
}

/* If no layer has a prediction, native is the time of all of them as FP32. */
static void add_total(const struct report *report, const char *time,
                      const struct aps_predicted *sum)
{
    const bool known = sum->seconds > 0 || sum->compressed == 0;
    const char *cells[CELLS] = {
        [TIME] = time,
        [LAYERS] = known && sum->compressed > 0 ? "all predicted" : "all",
        [NAME] = "",
        [COUNT] = "",
        [FORMAT] = "",
        [REDUCE] = "",
        [GROUP] = "",
        [BOUND] = ""};
    char ours[TIME_MAX] = "-", native[TIME_MAX], faster[TIME_MAX] = "-";

    if (known) {
        aps_print(faster, sizeof faster, "%.2f",
                  sum->seconds > 0 ? sum->mpich / sum->seconds : 1);
        aps_quantity_format_time(sum->seconds, ours, sizeof ours);
    }
    cells[OURS] = ours;
    cells[NATIVE] = aps_quantity_format_time(
        known ? sum->mpich : sum->whole_mpich, native, sizeof native);
    cells[FASTER] = faster;
    aps_columns_add(report->columns, cells);
}

static struct aps_predicted add_span(const struct report *report, long span)
{
    const size_t layers = aps_policy_layers(report->policy)->count;
    struct aps_predicted all = {0};
    struct run run = {0}, small = {0};
    char time[48];

    aps_range_format(&report->schedule->spans[span], time, sizeof time);
    for (size_t i = 0; i < layers; i++) {
        const int rule = rule_of(report, i, span);
        const struct aps_predicted one = aps_predicted_layer(
            report->cluster, report->policy, rule, i, NULL, 0);

        aps_predicted_add(&all, &one);
        if (is_small(report, i) && !report->each_layer) {
            run_add(&small, report, i, &one);
            continue;
        }
        if (report->each_layer || rule_of(report, run.first, span) != rule)
            run_end(&run, report, span, time);
        run_add(&run, report, i, &one);
    }
    run_end(&run, report, span, time);
    add_small(report, &small, time);
    add_total(report, time, &all);
    return all;
}

/* Adds the counts that the user named and no rule takes. */
static void add_left(const struct report *report)
{
    const struct aps_cluster *cluster = report->cluster;

    for (int k = 0; cluster->counts_given && k < cluster->count_count; k++) {
        const size_t count = cluster->counts[k];
        const char *why = aps_predicted_left(report->policy, count);
        const struct aps_predicted one = aps_predicted_of(
            report->cluster, NULL, APS_ELEMENT_FLOAT, count, 0);
        char text[24], reason[40];
        const char *cells[CELLS] = {
            [TIME] = "-", [LAYERS] = "", [NAME] = "", [COUNT] = text};

        if (!why)
            continue;
        snprintf(text, sizeof text, "%zu", count);
        snprintf(reason, sizeof reason, "native (%s)", why);
        add_native(report, cells, reason, &one);
    }
}

/* Without a layer table: adds rows for each rule for all-reduces, with some
 * counts that it takes. True if a compressor takes any. */
static bool add_rules(const struct report *report)
{
    bool compressed = false;
    const struct aps_policy *policy = report->policy;

    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, (int)i);
        const struct aps_shadow *formats =
            aps_predicted_formats(policy, (int)i);
        char line[APS_COMMAND_RULE_MAX];
        size_t counts[APS_CLUSTER_COUNTS];
        const int shown =
            aps_predicted_counts(report->cluster, policy, (int)i, counts);

        for (int k = 0; k < shown; k++) {
            const size_t count = counts[k];
            const struct aps_predicted one =
                aps_predicted_rule(report->cluster, policy, (int)i, count);
            char text[24];
            const char *cells[CELLS] = {
                [TIME] = aps_command_rule(policy, (int)i, line),
                [LAYERS] = "",
                [NAME] = "",
                [COUNT] = text};

            snprintf(text, sizeof text, "%zu", count);
            add_row(report, cells, plan, &one);
            compressed |= one.compressed > 0;
            for (size_t f = 0; f < formats->count; f++) {
                const struct aps_plan *format = &formats->plans[f];
                const struct aps_predicted other = aps_predicted_of(
                    report->cluster, format, APS_ELEMENT_FLOAT, count, 0);

                add_plan(report, cells, format, true, &other);
            }
        }
    }
    add_left(report);
    return compressed;
}

/* --- all of it ----------------------------------------------------------- */

static void print_natives(const struct aps_machine *machine,
                          const struct aps_predicted *all, const char *time)
{
    const bool composed =
        aps_predict_native_kind(machine, 1) == APS_NATIVE_COMPOSITION;
    char text[TIME_MAX], note[600];

    snprintf(note, sizeof note, "native of a step (%s):", time);
    for (int i = 0; i < APS_NATIVE_KINDS; i++)
        snprintf(note + strlen(note), sizeof note - strlen(note), "%s %s %s",
                 i > 0 ? "," : "", aps_native_name((enum aps_native_kind)i),
                 aps_quantity_format_time(all->whole[i], text, sizeof text));
    snprintf(note + strlen(note), sizeof note - strlen(note),
             "; the table has what MPICH 4 takes for each count%s.",
             composed ? ": the composition of a reduce inside each host, an "
                        "all-reduce between hosts and a broadcast inside each "
                        "host"
                      : "");
    aps_command_note(note);
}

void aps_predictions_print(struct aps_cluster *cluster,
                           const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, bool each_layer)
{
    const struct aps_column heads[CELLS] = {{!schedule           ? "rule"
                                             : schedule->by_step ? "steps"
                                                                 : "epochs",
                                             false},
                                            {schedule ? "layers" : "", false},
                                            {schedule ? "name" : "", false},
                                            {"count", true},
                                            {"format", false},
                                            {"reduce", false},
                                            {"group", true},
                                            {"time", true},
                                            {"native", true},
                                            {"faster", true},
                                            {"bound", false}};
    struct report report = {cluster, policy, schedule, each_layer,
                            aps_columns_create(heads, CELLS)};
    struct aps_predicted all = {0};
    const char *nothing = schedule ? NULL : aps_predicted_nothing(policy);
    bool compressed = false;
    char time[48] = "";

    for (long i = window->first; schedule && i <= window->last; i++) {
        all = add_span(&report, i);
        compressed |= all.compressed > 0;
    }
    if (!schedule)
        compressed = add_rules(&report);
    aps_cluster_print(cluster);
    if (nothing) {
        aps_columns_destroy(report.columns);
        aps_command_note(nothing);
        return;
    }
    putchar('\n');
    aps_columns_print(report.columns);
    aps_columns_destroy(report.columns);
    if (schedule)
        print_natives(&cluster->machine, &all,
                      aps_range_format(&schedule->spans[window->last], time,
                                       sizeof time));
    if (compressed)
        aps_command_note("not predicted (compress): what a compressor takes "
                         "has no prediction. Sums are of the other layers "
                         "alone, with the policy and native; where there are "
                         "none, native is that of all layers.");
    aps_predictions_print_advice(cluster, policy, schedule, window->last);
}
