/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of the blocking calls that this thread recently passed through, indexed by
 * function and count. A call equal to a cached one passes for the same reason. A short
 * call takes 3 us, while MPI's code and data fill the processor's caches; hence few
 * instructions, and few cache lines (base/hot.h).
 *
 * INVARIANT. Numbers decide which calls are sampled, and where a step begins; all
 * ranks take part in a sample. Therefore values that are equal on all ranks decide
 * whether a number advances (aps_steps_advance, aps_other_state_number): the sequence
 * of counts on the communicator, the policy, the level of MPI_Pcontrol. The last
 * action of a thread or a rank, the time, and caches never decide it.
 *
 * A call that is left to MPI for its count alone, by the policy or by a settled choice
 * of `reduce: auto`, is never numbered, on no path: a rank may pass it by this
 * shortcut. All ranks know a settled choice from the same call on. All-reduces that
 * auto may leave to MPI are numbered apart, so that the numbers of all other calls,
 * and their random bits, are the same in every run.
 */
#ifndef APS_PMPI_CALL_PASSED_H
#define APS_PMPI_CALL_PASSED_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "call/call.h"
#include "comm/context.h"
#include "device/bounce.h"
#include "queue/queue.h"

struct aps_passed {
    int64_t count; /* 0: none yet */
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    unsigned changes;      /* aps_job_changes when it passed */
    unsigned char counted; /* enum aps_counted */
    unsigned char reason;  /* enum aps_reason */
};
#define APS_PASSED_BITS 4
extern _Thread_local struct aps_passed aps_passed[1 << APS_PASSED_BITS]
    __attribute__((tls_model("initial-exec")));

static inline struct aps_passed *aps_passed_like(enum aps_counted counted,
                                                 int64_t count)
{
    return &aps_passed[aps_bucket(
        (uint64_t)count * APS_COUNTED_FUNCTIONS + counted, APS_PASSED_BITS)];
}

/* Counts the bytes of an eligible all-reduce: a long call, as a rule. */
void aps_passed_count_bytes(const struct aps_passed *like);

/* True if the call equals a cached one, the library has nothing under way, and no
 * buffer is in GPU memory: the caller then passes it, and it has been counted.
 * `counted`: of the call's row. */
static inline __attribute__((always_inline)) bool
aps_passed_takes(enum aps_counted counted,
                 const struct aps_call_arguments *arguments)
{
    const struct aps_passed *like = aps_passed_like(counted, arguments->count);

    if (arguments->count != like->count || arguments->comm != like->comm ||
        arguments->type != like->type || arguments->op != like->op ||
        counted != like->counted ||
        like->changes !=
            atomic_load_explicit(&aps_job_changes, memory_order_relaxed) ||
        arguments->count <= 0 || aps_queue_unfinished() ||
        aps_queue_pending() ||
        (!aps_bounce_is_needless(arguments->send, arguments->receive) &&
         aps_bounce_is_wanted_by(
             aps_gpu_buffers_of(arguments->send, arguments->receive))))
        return false;
    aps_count(&aps_counters_of(counted)->passed_cached[like->reason], 1);
    if (counted == APS_COUNTED_ALLREDUCE &&
        aps_reason_is_eligible((enum aps_reason)like->reason))
        aps_passed_count_bytes(like);
    return true;
}

/* Keeps a blocking call that passes, if all later calls with the same arguments pass
 * for the same reason: `note_passed` of a row (collective.h). */
void aps_passed_remember(const struct aps_call *call, enum aps_reason reason);

#endif
