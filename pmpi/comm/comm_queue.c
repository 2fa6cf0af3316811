/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/comm_queue.h"

#include "base/message.h"
#include "comm/report.h"
#include "native/abi.h"
#include "queue/queue_pool.h"

/* COLLECTIVE over the communicator. Completes the resources; the first
 * operation of every queue. */
static void comm_queue_run_start(struct aps_operation *operation)
{
    struct aps_context *context = operation->owner;

    if (context->resources_state == APS_RESOURCES_BEGUN)
        aps_context_complete_resources(context);
}

/* Local, the same on all ranks. True if the policy asks for a progress thread,
 * or this MPI needs one. */
static bool comm_queue_wants_thread(const struct aps_job *job)
{
#ifndef HAVE_PMPIX_GREQUEST_START
    (void)job;
    return true;
#else
    return job->held == APS_HELD_GOOD &&
           aps_policy_progress(job->policy) == APS_PROGRESS_THREAD;
#endif
}

/* Reports how the queue advances if this rank cannot have a progress thread.
 * Ranks may have different thread levels, for instance if only one of them has
 * the policy, so each such rank prints the line that warns of a hang. */
static void comm_queue_tell_driver(struct aps_context *context, bool wanted)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (aps_progress_thread_is_possible())
        return;
    if (wanted && !atomic_flag_test_and_set(&told))
        aps_context_event(context,
                          "progress: thread needs MPI_THREAD_MULTIPLE, but MPI "
                          "was initialised with a lower level: the program's "
                          "own calls of MPI carry nonblocking reductions on");
    else if (!wanted && !atomic_flag_test_and_set(&told))
        aps_message(context->rank,
                    "%s: nonblocking reductions stand still while the program "
                    "blocks in a collective call, and the job may hang: "
                    "initialise MPI by MPI_Init_thread with "
                    "MPI_THREAD_MULTIPLE, and set APSMPI_POLICY on all ranks",
                    context->label);
}

int aps_context_make_queue(struct aps_context *context, MPI_Comm comm)
{
    const bool wanted = comm_queue_wants_thread(context->job);
    const bool thread = wanted && aps_progress_thread_is_possible();
    int rc = MPI_SUCCESS;

    if (context->queue)
        return MPI_SUCCESS;
    comm_queue_tell_driver(context, wanted);
    if (!context->job->begun && aps_progress_thread_is_possible())
        aps_progress_thread_expect_threads(); /* the library did not see
                                                 MPI_Init */
    context->queue = aps_queue_pool_take(thread, context->label);
    if (!context->queue)
        rc = aps_context_fail(context, "a nonblocking call", MPI_ERR_NO_MEM);
    else if (context->resources_state == APS_RESOURCES_NONE)
        rc = aps_context_begin_resources(context, comm);
    if (rc != MPI_SUCCESS) {
        aps_queue_pool_give(context->queue);
        context->queue = NULL;
        PMPI_Comm_call_errhandler(comm, rc);
        return rc;
    }
    context->start =
        (struct aps_operation){.owner = context, .run = comm_queue_run_start};
    aps_queue_push(context->queue, &context->start);
    return MPI_SUCCESS;
}

void aps_context_drain(struct aps_context *context)
{
    if (context->queue)
        aps_queue_drain(context->queue, context->world->comm);
}

static void comm_queue_drain(MPI_Comm comm)
{
    struct aps_context *context =
        aps_abi_is_communicator(comm) ? aps_context_existing(comm) : NULL;

    /* Use an existing context only: other ranks may have nothing under way, and
     * then do not call this function. */
    if (context)
        aps_context_drain(context);
}

bool aps_blocking_enter_pending(MPI_Comm comm)
{
    const bool helped = aps_progress_thread_begin();

    if (!helped)
        comm_queue_drain(comm);
    return helped;
}
