/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/notes.h"

#include <stddef.h>
#include <stdint.h>

#include "base/print.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "policy/keywords.h"
#include "scale/explain.h"
#include "yaml/size.h"

/* --- other calls ---------------------------------------------------------- */

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)

enum { LINE, CALLS, WHEN, ARROW, FORMAT, SCALE, ACCUMULATE, BYTES, CELLS };

static const char *const notes[APS_CALL_KINDS] = {
    [APS_CALL_REDUCE_SCATTER] =
        "reduce_scatter: every rank sends each block of its contribution, "
        "encoded, to the block's owner, which adds them up. The sum is not "
        "encoded. Nonblocking calls do the same.",
    [APS_CALL_ALLGATHER] = "allgather: every rank sends its block, encoded, to "
                           "all ranks. Nothing is "
                           "added up. Nonblocking calls do the same.",
    [APS_CALL_REDUCE] = "reduce: every rank sends each slice of its "
                        "contribution, encoded, to the slice's owner, which "
                        "adds them up and sends the encoded sum to the root. "
                        "Nonblocking calls do the same.",
    [APS_CALL_BCAST] =
        "bcast: the root sends its values, encoded, to all ranks. "
        "Nothing is added up. The root's own buffer is rounded, "
        "too, so that all ranks hold the same bits. Nonblocking "
        "calls do the same.",
};

/* Returns the first of the calls in `mask`, which is not 0. */
static enum aps_call_kind first_of(unsigned mask)
{
    int call = 0;

    while ((mask >> call & 1) == 0)
        call++;
    return (enum aps_call_kind)call;
}

static bool sums(unsigned mask)
{
    for (int i = 0; i < APS_CALL_KINDS; i++) {
        if ((mask >> i & 1) && aps_call_sums((enum aps_call_kind)i))
            return true;
    }
    return false;
}

static void add_rule(struct aps_columns *columns,
                     const struct aps_policy *policy, int rule, unsigned calls)
{
    const struct aps_plan *plan = aps_policy_rule_plan(policy, rule);
    const char *cells[CELLS] = {[ARROW] = "->"};
    char line[APS_COMMAND_RULE_MAX], names[64], when[400], scale[32], bytes[16];
    char accumulate[APS_ACCUMULATE_TEXT_MAX], format[APS_COMMAND_FORMAT_MAX];

    cells[LINE] = aps_command_rule(policy, rule, line);
    cells[CALLS] =
        aps_keywords_list(&aps_keywords_call, calls, ", ", names, sizeof names);
    cells[WHEN] =
        aps_policy_rule_when(policy, rule, first_of(calls), when, sizeof when);
    cells[FORMAT] = "native (by rule)";
    cells[BYTES] = "4";
    if (plan->rewrite) {
        cells[FORMAT] = aps_command_format(plan, format, sizeof format);
        cells[SCALE] = aps_command_scale(plan, scale, sizeof scale);
        cells[ACCUMULATE] = sums(calls) ? aps_plan_accumulate(plan, accumulate,
                                                              sizeof accumulate)
                                        : "-";
        aps_print(bytes, sizeof bytes, "%g",
                  aps_format_bits(&plan->format) / 8);
        cells[BYTES] = bytes;
    }
    aps_columns_add(columns, cells);
}

void aps_others_print(const struct aps_policy *policy)
{
    static const struct aps_column heads[CELLS] = {
        [LINE] = {"line", true},
        [CALLS] = {"calls", false},
        [WHEN] = {"when", false},
        [ARROW] = {"", false},
        [FORMAT] = {"format", false},
        [SCALE] = {"scale", false},
        [ACCUMULATE] = {"accumulate", false},
        [BYTES] = {"bytes/elem", true},
    };
    struct aps_columns *columns = aps_columns_create(heads, CELLS);
    unsigned listed = 0, rewritten = 0, measured = 0;

    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        unsigned calls = aps_policy_rule_calls(policy, (int)i) & ~ALLREDUCE;

        if (calls == 0)
            continue;
        listed |= calls;
        if (aps_policy_rule_plan(policy, (int)i)->rewrite)
            rewritten |= calls;
        if (aps_policy_rule_plan(policy, (int)i)->reduce == APS_REDUCE_AUTO)
            measured |= calls;
        add_rule(columns, policy, (int)i, calls);
    }
    if (listed != 0) {
        printf("\nother calls\n");
        aps_columns_print(columns);
    }
    aps_columns_destroy(columns);
    for (int i = 0; i < APS_CALL_KINDS; i++) {
        if (rewritten >> i & 1)
            aps_command_note(notes[i]);
    }
    if (measured != 0)
        aps_command_note(
            "With reduce: auto the library measures native MPI and its own "
            "algorithm with the first calls of each class of sizes, and keeps "
            "native unless it takes more than 1.1 times as long, plus 5 us.");
}

/* --- scales ---------------------------------------------------------------- */

void aps_scales_notes(const struct aps_policy *policy, const bool *shown)
{
    const bool layers = aps_policy_steps(policy)->kind != APS_STEPS_NONE;

    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);
        char rule[APS_COMMAND_RULE_MAX], text[APS_SCALE_TEXT_MAX];
        char note[APS_COMMAND_RULE_MAX + APS_SCALE_TEXT_MAX + 32];

        if (!shown[i] || !plan->rewrite)
            continue;
        aps_scale_explain(&plan->scale, &plan->format, layers, text,
                          sizeof text);
        if (text[0] == '\0')
            continue;
        snprintf(note, sizeof note, "scale %s (line %s): %s",
                 aps_scale_name(&plan->scale),
                 aps_command_rule(policy, i, rule), text);
        aps_command_note(note);
    }
}

/* --- nonblocking calls ----------------------------------------------------- */

size_t aps_nonblocking_groups(const struct aps_policy *policy,
                              const struct aps_schedule *schedule, size_t span)
{
    const struct aps_layers *table = aps_policy_layers(policy);
    size_t enough = aps_policy_fuse(policy) / sizeof(float);
    size_t count = 0, groups = 0;
    bool open = false;

    if (aps_policy_fuse(policy) % sizeof(float) > 0)
        enough++;
    for (size_t i = 0; i < table->count; i++) {
        size_t layer =
            aps_policy_steps(policy)->backward ? table->count - 1 - i : i;
        int rule = aps_schedule_layer(schedule, layer)[span];

        if (rule < 0 || !aps_policy_rule_plan(policy, rule)->rewrite)
            continue;
        /* A layer that has the size by itself is reduced alone. */
        if (open && table->list[layer].count >= enough) {
            open = false;
            count = 0;
        }
        if (!open)
            groups++;
        if (__builtin_add_overflow(count, table->list[layer].count, &count))
            count = SIZE_MAX;
        /* The layer that reaches the size closes the group. */
        open = count < enough;
        if (!open)
            count = 0;
    }
    return groups;
}

static void note_fuse(const struct aps_policy *policy)
{
    bool table = aps_policy_layers(policy) != NULL;
    char note[600], size[32];

    snprintf(note, sizeof note,
             "fuse %s: nonblocking all-reduces that follow each other form a "
             "batch, which is reduced together. The call with which a batch "
             "reaches this size in FP32 closes it; a call of this size is "
             "reduced alone. Calls that are left to MPI do not "
             "count. Each layer has the scale that it has alone. The ranks "
             "agree on the aps exponents of a batch by one message.%s%s%s",
             aps_size_format(aps_policy_fuse(policy), size, sizeof size),
             table ? " The batches above are those of a program that reduces "
                     "each layer by a call of its own, "
                   : "",
             table ? aps_policy_steps(policy)->backward ? "last" : "first" : "",
             table ? " layer first." : "");
    aps_command_note(note);
}

void aps_threads_note(const struct aps_policy *policy)
{
    const int threads = aps_policy_threads(policy);
    char note[400], number[96] = "the cores of its binding, divided by the "
                                 "ranks of its node that have this binding";

    if (threads == 1)
        return;
    if (threads != APS_THREADS_AUTO)
        snprintf(number, sizeof number, "%d", threads);
    snprintf(
        note, sizeof note,
        "threads: several threads of a rank encode, sum and decode slices of "
        "messages in host memory at a time, of 32768 values or more: %s. "
        "The results do not depend on the number.",
        number);
    aps_command_note(note);
}

void aps_nonblocking_notes(const struct aps_policy *policy)
{
    if (aps_policy_progress(policy) == APS_PROGRESS_THREAD)
        aps_command_note(
            "progress thread: a progress thread of the library carries "
            "nonblocking calls on while the program computes. For it the "
            "library initialises MPI with MPI_THREAD_MULTIPLE. If MPI does not "
            "give that level, the program's own calls of MPI carry nonblocking "
            "calls on.");
    if (aps_policy_fuse(policy) > 0)
        note_fuse(policy);
}
