/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes about what reductions send, below the table of `apsmpi explain`. */
#include "config.h"

#include "explain/traffic_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "policy/keywords.h"

#define NOTE_MAX 400

static void write_note(const struct aps_plan *plan, char *note, size_t size)
{
    const char *accumulate = aps_accumulate_name(plan->accumulate);
    bool fp32 = plan->accumulate == APS_ACCUMULATE_FP32;
    const double bytes = (double)aps_format_value_bytes(&plan->format);
    const char *sums = plan->format.wide ? "FP64" : "FP32";
    const int ranks = (int)ceil(2 * 8 * bytes / aps_format_bits(&plan->format));

    note[0] = '\0';
    if (!plan->rewrite)
        return;
    switch (plan->reduce) {
    case APS_REDUCE_RING:
        if (fp32)
            snprintf(note, size,
                     "ring, accumulate %s: partial sums travel in %s, and the "
                     "result in the format; bytes/elem is the mean of both.",
                     accumulate, sums);
        else
            snprintf(note, size,
                     "ring, accumulate %s: partial sums and the result travel "
                     "in the format; each rank rounds.",
                     accumulate);
        break;
    case APS_REDUCE_MASTER:
        snprintf(note, size,
                 "master, accumulate %s: the members of a group send their "
                 "contributions to their master in the format, and get the "
                 "result from it in the format; between the masters partial "
                 "sums travel in %s%s.",
                 accumulate, fp32 ? sums : "the format",
                 fp32 ? ", whose bytes are not in the table"
                      : ", and each master rounds");
        break;
    case APS_REDUCE_GATHER:
        /* Compressors that gather have a note of their own. */
        if (plan->compressor.kind != APS_COMPRESSOR_NONE &&
            !aps_compressor_ops_of(&plan->compressor)->floats)
            break;
        /* Each rank sends p - 1 copies; other reductions, FP32 too, send (p -
         * 1) / p of a copy each way. */
        snprintf(note, size,
                 "gather: every rank gets the %s of all p ranks and adds it up "
                 "itself. That takes p/2 times the bytes shown, which is no "
                 "less than %s from %d ranks on. The sum is not encoded.",
                 plan->format.name, sums, ranks);
        break;
    case APS_REDUCE_AUTO:
        snprintf(
            note, size,
            "auto: the library measures native MPI_Allreduce, hierarchical, "
            "direct and ring with the first calls of each class of sizes, "
            "eight times each (16 below 64 Ki elements), and keeps native "
            "unless it takes more than 1.1 times as long as the fastest, plus "
            "5 us. The bytes shown are those of hierarchical and direct.");
        break;
    default:
        break;
    }
}

/* Writes the format inside a group; empty if it is the rule's. */
static void write_node_note(const struct aps_plan *plan, char *note,
                            size_t size)
{
    note[0] = '\0';
    if (plan->rewrite && plan->node == APS_NODE_FP32 &&
        aps_reduce_takes(plan->reduce, APS_SETTING_NODE))
        snprintf(note, size,
                 "node fp32: full floats travel inside a group, and values in "
                 "the format between groups, whose bytes are shown. If all "
                 "ranks are in one group, nothing is rounded: format, scale, "
                 "accumulate and rounding have no effect.");
}

/* Prints the notes of all rules that are shown, each once. */
static void print_notes(const struct aps_policy *policy, const bool *shown,
                        void (*write)(const struct aps_plan *plan, char *note,
                                      size_t size))
{
    char note[NOTE_MAX], earlier[NOTE_MAX];

    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        bool said = !shown[i];

        write(aps_policy_rule_plan(policy, (int)i), note, sizeof note);
        for (size_t j = 0; j < i && !said; j++) {
            write(aps_policy_rule_plan(policy, (int)j), earlier,
                  sizeof earlier);
            said = shown[j] && strcmp(note, earlier) == 0;
        }
        if (note[0] != '\0' && !said)
            aps_command_note(note);
    }
}

void aps_traffic_notes(const struct aps_policy *policy, const bool *shown)
{
    print_notes(policy, shown, write_note);
    print_notes(policy, shown, write_node_note);
}
