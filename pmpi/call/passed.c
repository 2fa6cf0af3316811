/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/passed.h"

#include "call/collective.h"
#include "job/job.h"

_Thread_local struct aps_passed aps_passed[1 << APS_PASSED_BITS]
    __attribute__((aligned(64)));

/* True if the reason follows from the arguments that the cache compares. */
static bool passed_holds_for_good(enum aps_reason reason)
{
    switch (reason) {
    case APS_PASSED_INTEGER:
    case APS_PASSED_DOUBLE:
    case APS_PASSED_OPERATION:
    case APS_PASSED_TYPE:
    case APS_PASSED_SMALL:
    case APS_PASSED_RULE:
    case APS_PASSED_AUTO:
    case APS_PASSED_SINGLE: /* the reason comes from the context, as in the next
                               cases */
    case APS_PASSED_INTER:
    case APS_PASSED_DISAGREED:
    case APS_PASSED_UNRULED:
    case APS_PASSED_SWITCHED:
    case APS_PASSED_BAD:
    case APS_PASSED_RESOURCES:
        return true;
    default:
        return false;
    }
}

void aps_passed_count_bytes(const struct aps_passed *like)
{
    aps_count(&aps_counters.eligible_bytes,
              (unsigned long long)like->count *
                  aps_element_types[aps_element_of(like->type)].bytes);
}

void aps_passed_remember(const struct aps_call *call, enum aps_reason reason)
{
    const enum aps_counted counted = call->arguments.collective->counted;

    /* The program may free an operation of its own, and make another one that has
     * the same handle on some ranks. */
    if (!passed_holds_for_good(reason) ||
        (aps_policy_probes(aps_job_policy(aps_job())) &&
         aps_abi_is_own_op(call->arguments.op)))
        return;
    *aps_passed_like(counted, call->arguments.count) = (struct aps_passed){
        .count = call->arguments.count,
        .comm = call->arguments.comm,
        .type = call->arguments.type,
        .op = call->arguments.op,
        .changes = atomic_load(&aps_job_changes),
        .counted = (unsigned char)counted,
        .reason = (unsigned char)reason,
    };
}
