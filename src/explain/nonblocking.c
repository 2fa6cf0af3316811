/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/nonblocking.h"

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "yaml/size.h"

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
        /* One that has the size by itself goes alone. */
        if (open && table->list[layer].count >= enough) {
            open = false;
            count = 0;
        }
        if (!open)
            groups++;
        if (__builtin_add_overflow(count, table->list[layer].count, &count))
            count = SIZE_MAX;
        /* The one that reaches the size closes the group. */
        open = count < enough;
        if (!open)
            count = 0;
    }
    return groups;
}

static void note_fuse(const struct aps_policy *policy, FILE *stream)
{
    bool table = aps_policy_layers(policy) != NULL;
    char note[600], size[32];

    snprintf(note, sizeof note,
             "fuse %s: nonblocking all-reduces that follow each other form a "
             "batch, which is reduced together. The call with which a batch "
             "has so many bytes of FP32 closes it; a call that has so many "
             "bytes itself is reduced alone. Calls that are left to MPI do not "
             "count. Each layer has the scale that it has alone. The ranks "
             "agree on the aps exponents of a batch by one message.%s%s%s",
             aps_size_format(aps_policy_fuse(policy), size, sizeof size),
             table ? " The batches above are those of a program that reduces "
                     "each layer by a call of its own, "
                   : "",
             table ? aps_policy_steps(policy)->backward ? "last" : "first" : "",
             table ? " layer first." : "");
    aps_command_note(note, stream);
}

void aps_nonblocking_notes(const struct aps_policy *policy, FILE *stream)
{
    if (aps_policy_progress(policy) == APS_PROGRESS_THREAD)
        aps_command_note(
            "progress thread: a progress thread of the library carries "
            "nonblocking calls on while the program computes. For it the "
            "library initialises MPI with MPI_THREAD_MULTIPLE. If MPI does not "
            "give that level, the program's own calls of MPI carry nonblocking "
            "calls on.",
            stream);
    if (aps_policy_fuse(policy) > 0)
        note_fuse(policy, stream);
}
