/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of the program that may be rewritten, from its arguments to its
 * completion: an all-reduce, reduce-scatter, all-gather, reduce or broadcast,
 * blocking, nonblocking or persistent.
 *
 * A blocking call is identified, planned, carried out and completed by aps_call_run
 * (run.h). A nonblocking one is identified and planned by aps_call_start (start.h);
 * its turn in the queue carries it out and completes it. The plan is made once
 * (plan.h).
 *
 * Read next: collective.h, what differs between the collectives.
 */
#ifndef APS_PMPI_CALL_CALL_H
#define APS_PMPI_CALL_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/communicator.h"
#include "layer/layer.h"
#include "device/bounce.h"
#include "job/job.h"
#include "native/abi.h"
#include "native/element.h"
#include "queue/request.h"
#include "world/pcontrol.h"

struct aps_collective;

enum aps_form { APS_BLOCKING, APS_NONBLOCKING, APS_PERSISTENT };

/* The arguments of a call of the program, as entry/ has got them. */
struct aps_call_arguments {
    const struct aps_collective *collective;
    enum aps_form form; /* form of the call; APS_PERSISTENT for MPI_Start */
    bool large;         /* the program called the _c variant; so does the
                           library */
    const void *send;   /* or MPI_IN_PLACE */
    void *receive;
    MPI_Count count; /* elements of `type`: MPI's count or recvcount */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm; /* communicator of the program; may be freed before a queued
                      call runs */
    const void *counts;   /* MPI_Reduce_scatter: recvcounts, int or MPI_Count; a
                               queued call has a copy */
    MPI_Count send_count; /* MPI_Allgather */
    MPI_Datatype send_type; /* MPI_Allgather */
    int root;               /* MPI_Reduce, MPI_Bcast */
};

struct aps_call {
    struct aps_call_arguments arguments;
    struct aps_gpu_buffers gpu;
    enum aps_element element;    /* type of the elements of arguments.type */
    struct aps_pcontrol control; /* level and epoch when the call was made */
    /* Time of planning a blocking call, in ns, if `reduce: auto` may let later ones
     * pass without a plan; otherwise 0. */
    int64_t planning;
    bool part; /* true if this is one of several parts of the program's call: a
                 failed copy of a buffer in GPU memory is then only counted,
                 since the other parts follow */

    /* The following fields are set by aps_call_identify. */
    struct aps_context *context;
    struct aps_step_position position;
    enum aps_reason reason; /* why the call passes, if it does */
    bool planned; /* the plan follows from the count: context->plan_by_count */

    /* A blocking call: a layer may go to MPI until the call is carried out. A queued
     * call has given MPI its layers when it was made. Set by aps_call_of. */
    bool may_pass;

    /* The following fields are set by aps_call_plan. */
    long count;               /* number of layers */
    struct aps_layer *layers; /* [count] */

    /* The following fields are set by aps_call_start. */
    struct aps_operation operation;
    struct aps_request *request; /* NULL: a call that is not queued */
    bool fusable;                /* it may share a batch now (fuse.c sets it) */
    int parts;                   /* number of runs of layers that went to MPI */
    MPI_Request *passing;        /* [parts]: requests of those runs */
    int passing_rc;              /* MPI error code of starting them */

    unsigned long
        failures; /* aps_context_failures at the beginning of the call, plus the
                     failures during measurements of formats since */
    int rc;       /* MPI error code: the first error so far */
    bool handler_called; /* the program's error handler was called with `rc` */
};

/* True if the policy has rules for elements of that type, or rules are for them by
 * default: a rank that has no policy yet takes these types, too. */
static inline bool aps_call_takes(const struct aps_job *job,
                                  enum aps_element element)
{
    const unsigned elements =
        aps_policy_elements(aps_job_policy(job)) | APS_ELEMENTS_DEFAULT;

    return (elements >> element & 1) != 0;
}

/* True if `type` is the predefined type of elements that the policy has rules
 * for. */
static inline bool aps_call_takes_type(const struct aps_job *job,
                                       MPI_Datatype type)
{
    return aps_call_takes(job, aps_element_of(type));
}

/* Local. True if a call with these arguments has no elements: its buffers may then be
 * anything. (The counts of an MPI_Reduce_scatter are checked later.) */
static inline bool aps_call_is_empty(const struct aps_call_arguments *arguments)
{
    return arguments->count == 0 && !arguments->counts;
}

/*
 * Local. Returns the level and epoch that MPI_Pcontrol gives this call. The ranks of
 * one job agree on them, so they hold for communicators of this job's ranks alone: a
 * communicator with a hidden communicator of its own may have ranks of other jobs.
 */
static inline struct aps_pcontrol aps_call_control(const struct aps_call *call)
{
    static const struct aps_pcontrol none = {.off = false, .epoch = -1};

    return call->context->own_world ? none : call->control;
}

/* Local. Notes an MPI error code; the first error of the call stays. */
static inline void aps_call_note(struct aps_call *call, int rc)
{
    if (call->rc == MPI_SUCCESS)
        call->rc = rc;
}

#endif
