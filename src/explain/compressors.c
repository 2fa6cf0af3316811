/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/compressors.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>

#include "base/plural.h"
#include "base/print.h"
#include "cli/command.h"
#include "explain/traffic.h"
#include "compress/lowrank.h"

/* Elements of the example layer whose bytes are shown without a layer table. */
#define EXAMPLE ((size_t)1 << 20)

/* Layers that have a rule at some time. */
struct layers {
    size_t all;
    size_t taken; /* taken by the compressor */
    size_t vectors;
    size_t squares;  /* taken without a shape in the table */
    double elements; /* elements of the layers taken */
    double bytes;    /* bytes that ranks send for them */
    double kept;     /* floats of their warm starts Q */
};

struct note {
    char text[1200];
    size_t used;
};

static __attribute__((format(printf, 2, 3))) void add(struct note *note,
                                                      const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = aps_vprint(note->text + note->used, sizeof note->text - note->used,
                        format, arguments);
    va_end(arguments);
    note->used += (size_t)length;
    if (note->used >= sizeof note->text)
        note->used = sizeof note->text - 1;
}

static bool applies(const struct aps_schedule *schedule,
                    const struct aps_range *window, size_t layer, int rule)
{
    const int *rules = aps_schedule_layer(schedule, layer);

    for (long i = window->first; i <= window->last; i++)
        if (rules[i] == rule)
            return true;
    return false;
}

/* Returns the floats of a layer's Q (powersgd_kept in
 * pmpi/compressed/powersgd.c). */
static double kept_floats(const struct aps_plan *plan)
{
    const double *parameters = plan->compressor.parameters;

    return aps_compressor_keeps(&plan->compressor)
               ? (double)plan->matrix.columns *
                     (double)aps_lowrank_rank(
                         &plan->matrix, (size_t)parameters[APS_POWERSGD_RANK])
               : 0;
}

static struct layers count_layers(const struct aps_policy *policy,
                                  const struct aps_schedule *schedule,
                                  const struct aps_range *window, int rule)
{
    const struct aps_layers *table = aps_policy_layers(policy);
    struct layers layers = {0};

    for (size_t i = 0; schedule && i < table->count; i++) {
        const struct aps_layer_row *layer = &table->list[i];
        struct aps_plan plan;

        if (layer->count < aps_policy_min_count(policy) ||
            !applies(schedule, window, i, rule))
            continue;
        layers.all++;
        aps_policy_layer_plan(policy, rule, i, &plan);
        if (aps_plan_compresses(&plan)) {
            layers.taken++;
            layers.squares += layer->dimensions == 0;
            layers.elements += (double)layer->count;
            layers.bytes += (double)aps_traffic_layer(policy, rule, i);
            layers.kept += kept_floats(&plan);
        } else if (plan.matrix.rows == 1 || plan.matrix.columns == 1) {
            layers.vectors++;
        }
    }
    return layers;
}

/* Describes matrices of low rank, and layers that are not matrices. */
static void add_factors(const struct aps_plan *plan,
                        const struct layers *layers, bool table,
                        const char *form, struct note *note)
{
    const size_t small = layers->all - layers->taken - layers->vectors;
    const size_t left = layers->all - layers->taken;

    add(note, "Two small matrices travel in place of a layer, as %s. ", form);
    if (!table) {
        add(note,
            "Without a layer table every layer is treated as a square matrix. "
            "Layers that would not become smaller by min_ratio %g are not "
            "compressed: they travel as %s.",
            plan->compressor.parameters[APS_POWERSGD_MIN_RATIO], form);
        return;
    }
    if (left == 0)
        add(note, "All layers of the rule are compressed.");
    else
        add(note, "%zu of %zu layer%s %s not compressed:", left, layers->all,
            aps_plural(layers->all), left == 1 ? "is" : "are");
    if (layers->vectors > 0)
        add(note, " %zu %s", layers->vectors,
            layers->vectors == 1 ? "is a vector" : "are vectors");
    if (small > 0)
        add(note, "%s %zu would not become smaller by min_ratio %g",
            layers->vectors > 0 ? "," : "", small,
            plan->compressor.parameters[APS_POWERSGD_MIN_RATIO]);
    if (left > 0)
        add(note, "; %s as %s.", left == 1 ? "it travels" : "they travel",
            form);
    if (layers->squares > 0)
        add(note,
            " %zu layer%s no shape in the layer table, and %s treated as "
            "%s.",
            layers->squares, layers->squares == 1 ? " has" : "s have",
            layers->squares == 1 ? "is" : "are",
            layers->squares == 1 ? "a square matrix" : "square matrices");
}

static void add_varies(const struct aps_plan *plan, bool table,
                       struct note *note)
{
    if (table && aps_compressor_ops_of(&plan->compressor)->varies)
        add(note, " The bytes are the most: they follow the rank that selects "
                  "most elements.");
}

/* Returns the end of "the bytes shown"; without a layer table the column has
 * none. */
static const char *where_shown(bool table)
{
    return table ? "" : " by apsmpi explain with a layer table";
}

/* Describes selected elements that go to owners, and the sums that these
 * send. */
static void add_selected_direct(const struct aps_plan *plan, bool table,
                                const char *form, struct note *note)
{
    add(note,
        "Each rank sends some of a layer's elements, as %s, and their "
        "indices, to the owners of the slices, and these send what they have "
        "added up to all.",
        form);
    if (table)
        add(note,
            " The bytes shown are those of %d ranks that select different "
            "elements; they are fewer where ranks select the same.",
            APS_TRAFFIC_RANKS);
    add_varies(plan, table, note);
}

/* Describes FP32 inside a group, whose owners send like one rank by gather. */
static void add_selected_hierarchical(const struct aps_plan *plan, bool table,
                                      const char *form, struct note *note)
{
    add(note,
        "The ranks of a group add up their values in full floats, slice by "
        "slice, and some elements of these sums travel between groups, as %s, "
        "with their indices. With g groups a group sends g/2 times the bytes "
        "shown%s to the others; inside a group full floats travel, whose bytes "
        "are not shown.",
        form, where_shown(table));
    add_varies(plan, table, note);
}

/* FP32 sends 2 (p - 1) / p copies; a rank that sends to all others sends p -
 * 1. */
static void add_selected(const struct aps_plan *plan,
                         const struct layers *layers, const char *form,
                         struct note *note)
{
    const struct aps_matrix example = {1, EXAMPLE, EXAMPLE};
    const bool known = layers->bytes > 0;
    const double elements = known ? layers->elements : (double)EXAMPLE;
    const double bytes =
        known ? layers->bytes : (double)aps_traffic_compressed(plan, &example);

    add(note,
        "Each rank sends some of a layer's elements, as %s, and their "
        "indices, to all others. That takes p/2 times the bytes shown%s, "
        "which is no less than FP32 from %.0f ranks on%s.",
        form, where_shown(known), ceil(2 * sizeof(float) * elements / bytes),
        known ? "" : ", with layers of 2^20 elements");
    add_varies(plan, known, note);
}

/* Describes chunks, which all ranks select identically. */
static void add_chunks(const struct aps_plan *plan, const char *form,
                       struct note *note)
{
    add(note,
        "The ranks add up the norms of a layer's chunks of %.0f elements, and "
        "then the %g of the chunks with the greatest norms, as %s. A layer "
        "with a single chunk is sent whole.",
        plan->compressor.parameters[APS_CHUNKS_SIZE],
        plan->compressor.parameters[APS_CHUNKS_DENSITY], form);
}

/* Describes digits or signs, and their sums. */
static void add_integers(const struct aps_plan *plan, bool table,
                         struct note *note)
{
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);

    add(note, "%c%s", toupper((unsigned char)ops->integer_text[0]),
        ops->integer_text + 1);
    if (plan->reduce == APS_REDUCE_GATHER)
        add(note,
            ", from each rank to all others. That takes p/2 times the bytes "
            "shown%s, which is no less than FP32 from %.0f ranks on.",
            where_shown(table),
            ceil(2.0 * sizeof(float) * EXAMPLE /
                 (double)ops->integer_bytes(EXAMPLE)));
    else
        add(note, ", and %s", ops->sum_text);
    if (plan->reduce != APS_REDUCE_GATHER && table)
        add(note, ": the bytes shown are those of %d ranks", APS_TRAFFIC_RANKS);
    if (plan->reduce == APS_REDUCE_HIERARCHICAL)
        add(note, " inside a group; between groups only sums travel, of a "
                  "group of m ranks m-th parts of the layer by each");
    if (plan->reduce != APS_REDUCE_GATHER)
        add(note, ".");
}

/* Writes the note on feedback with a plain format. */
static void write_feedback(const struct aps_policy *policy, int rule,
                           struct note *note)
{
    char line[APS_COMMAND_RULE_MAX];

    *note = (struct note){0};
    add(note,
        "feedback (line %s): What a call rounds off is added to the layer's "
        "next call. A rank keeps 4 bytes an element for it, and as many of "
        "each element that it adds up, which are 1/p of them.",
        aps_command_rule(policy, rule, line));
}

/* Describes the memory that `warm: on` takes in addition to feedback. */
static void add_kept(const struct aps_plan *plan, const struct layers *layers,
                     bool table, struct note *note)
{
    add(note,
        " The next call begins with the layer's Q (warm: on); a rank "
        "%skeeps %g bytes of it for each column of the matrix",
        plan->feedback ? "also " : "",
        sizeof(float) * plan->compressor.parameters[APS_POWERSGD_RANK]);
    if (table)
        add(note, ", %.0f bytes together", sizeof(float) * layers->kept);
    add(note, ".");
}

static void write_note(const struct aps_policy *policy, int rule,
                       const struct layers *layers, struct note *note)
{
    const struct aps_plan *plan = aps_policy_rule_plan(policy, rule);
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);
    char line[APS_COMMAND_RULE_MAX], text[APS_COMPRESSOR_TEXT_MAX];
    const bool full = aps_format_is_full(&plan->format);
    const bool table = aps_policy_layers(policy) != NULL;
    const char *form = full ? "full floats" : plan->format.name;

    *note = (struct note){0};
    add(note, "compress %s (line %s): ",
        aps_compressor_describe(&plan->compressor, text, sizeof text),
        aps_command_rule(policy, rule, line));
    if (ops->chunk)
        add_chunks(plan, form, note);
    else if (ops->floats)
        add_factors(plan, layers, table, form, note);
    else if (ops->integers)
        add_integers(plan, table, note);
    else if (plan->reduce == APS_REDUCE_DIRECT)
        add_selected_direct(plan, table, form, note);
    else if (plan->reduce == APS_REDUCE_HIERARCHICAL)
        add_selected_hierarchical(plan, table, form, note);
    else
        add_selected(plan, layers, form, note);
    if (plan->feedback)
        add(note, " What a call leaves out is added to the layer's next call; "
                  "a rank keeps 4 bytes an element for it.");
    else if (ops->feedback)
        add(note, " What a call leaves out is lost (feedback: off).");
    if (aps_compressor_keeps(&plan->compressor) &&
        (!table || layers->taken > 0))
        add_kept(plan, layers, table, note);
}

/* True if the bytes of a plan depend on the ranks, and are those of
 * APS_TRAFFIC_RANKS. */
static bool counts_ranks(const struct aps_plan *plan)
{
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);

    if (plan->compressor.kind == APS_COMPRESSOR_NONE || ops->floats)
        return false;
    return plan->reduce == APS_REDUCE_DIRECT ||
           (ops->integers && plan->reduce != APS_REDUCE_GATHER);
}

/* Prints a note if the bytes of one column are for different numbers of
 * ranks. */
static void print_ranks(const struct aps_policy *policy, const bool *shown)
{
    bool gathers = false, counts = false;
    char note[400];

    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);

        if (!shown[i] || !plan->rewrite)
            continue;
        gathers |= plan->reduce == APS_REDUCE_GATHER;
        counts |= counts_ranks(plan);
    }
    if (!gathers || !counts)
        return;
    snprintf(note, sizeof note,
             "bytes shown: those of rules with reduce: gather are what 2 ranks "
             "send, those of compressors with other reductions what %d ranks "
             "send. With %d ranks gather takes %d times the bytes shown.",
             APS_TRAFFIC_RANKS, APS_TRAFFIC_RANKS, APS_TRAFFIC_RANKS / 2);
    aps_command_note(note);
}

void aps_compressors_notes(const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, const bool *shown)
{
    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);
        struct layers layers;
        struct note note;

        if (!shown[i] || !plan->rewrite || !aps_plan_is_compressed(plan))
            continue;
        if (plan->compressor.kind == APS_COMPRESSOR_NONE) {
            write_feedback(policy, i, &note);
        } else {
            layers = count_layers(policy, schedule, window, i);
            write_note(policy, i, &layers, &note);
        }
        aps_command_note(note.text);
    }
    if (schedule)
        print_ranks(policy, shown);
}
