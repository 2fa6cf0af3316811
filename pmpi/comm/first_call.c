/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/first_call.h"

#include <stdio.h>

#include "base/cpu.h"
#include "base/message.h"
#include "base/plural.h"
#include "device/device.h"
#include "policy/keywords.h"

/* Writes ", reduce: hierarchical in 2 groups of 4 ranks (group: node)". The
 * other collectives have one algorithm each. */
static void first_call_write_reduction(const struct aps_context *context,
                                       const struct aps_plan_key *key,
                                       const struct aps_plan *plan, char *text,
                                       size_t size)
{
    const struct aps_groups *groups;
    char ranks[48];

    text[0] = '\0';
    if (key->call != APS_CALL_ALLREDUCE)
        return;
    snprintf(text, size, ", reduce: %s", aps_reduce_name(plan->reduce));
    groups = aps_reductions_groups(
        aps_comm_resources_reductions(context->resources), plan);
    if (!groups)
        return;
    if (groups->smallest == groups->largest)
        snprintf(ranks, sizeof ranks, "%d rank%s", groups->largest,
                 aps_plural(groups->largest));
    else
        snprintf(ranks, sizeof ranks, "%d to %d ranks", groups->smallest,
                 groups->largest);
    snprintf(text, size, ", reduce: %s in %d group%s of %s",
             aps_reduce_name(plan->reduce), groups->groups,
             aps_plural(groups->groups), ranks);
}

/* Returns the text that follows the name of the instruction set. */
static const char *first_call_kernels(const struct aps_memory *memory)
{
    if (memory != aps_device_backend)
        return "kernels";
    return aps_device_complaint()[0] == '\0'
               ? "and GPU kernels"
               : "kernels for copies of the GPU's buffers";
}

void aps_context_tell_first_call(const struct aps_context *context,
                                 const char *function,
                                 const struct aps_plan_key *key,
                                 const struct aps_plan *plan,
                                 const struct aps_memory *memory)
{
    const struct aps_job *job = context->job;
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const int rank = aps_job_rank();
    char reduction[96];
    int nodes;

    if (atomic_exchange(&aps_job_leads, true) || !job->options.summary ||
        job->options.summary_file)
        return;
    nodes = aps_topology_count_nodes(vcomm, job->options.test_nodes,
                                     job->options.test_cyclic);
    first_call_write_reduction(context, key, plan, reduction, sizeof reduction);
    aps_message(rank > 0 ? rank : -1,
                "%s rewrites its first call, an %s on %s: %d rank%s on %d "
                "node%s%s, %s %s",
                job->source.path, function, context->label, vcomm->size,
                aps_plural(vcomm->size), nodes, aps_plural(nodes), reduction,
                aps_cpu_name(aps_cpu_chosen()), first_call_kernels(memory));
}
