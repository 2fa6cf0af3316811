/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of the program that may be rewritten, whatever its kind (kind.h): an
 * all-reduce, blocking, nonblocking or persistent, a reduce-scatter, an
 * all-gather, a reduce or a broadcast.
 */
#ifndef APS_PMPI_CALL_CALL_H
#define APS_PMPI_CALL_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "device/bounce.h"
#include "job/job.h"
#include "world/pcontrol.h"
#include "native/abi.h"

struct aps_context;
struct aps_collective;

enum aps_form { APS_BLOCKING, APS_NONBLOCKING, APS_PERSISTENT };

/* The arguments of a call of the program, as entry/ has got them. */
struct aps_call_arguments {
    const struct aps_collective *collective;
    enum aps_form form; /* what MPI_Start starts is APS_PERSISTENT */
    bool large;         /* it came by the _c variant, and goes on by it */
    const void *send;   /* or MPI_IN_PLACE */
    void *receive;
    MPI_Count count; /* of an element of `type`: MPI's count or recvcount */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;        /* the program's; of a deferred call it may be gone */
    const void *counts;   /* MPI_Reduce_scatter: recvcounts, int or MPI_Count;
                               of a deferred call a copy */
    MPI_Count send_count; /* MPI_Allgather */
    MPI_Datatype send_type; /* MPI_Allgather */
    int root;               /* MPI_Reduce, MPI_Bcast */
};

struct aps_call {
    struct aps_call_arguments arguments;

    /* Asked once, when the call comes in (aps_call_enter). */
    struct aps_gpu_buffers gpu;
    struct aps_pcontrol control;

    /* One of several of the program's call: buffers in a GPU's memory that
     * cannot be copied are only counted (device/bounce.h), since the others
     * follow. */
    bool part;
};

/* Without Fortran MPI_REAL is no type at all, and a Fortran built with 8-byte
 * reals has another MPI_REAL. */
static inline bool aps_call_is_float(const struct aps_job *job,
                                     MPI_Datatype type)
{
    return type == MPI_FLOAT ||
           (type != MPI_DATATYPE_NULL &&
            ((type == MPI_REAL && job->real_is_float) || type == MPI_REAL4));
}

/* Local. True if this candidate has no elements: its buffers may then be
 * anything. (The counts of an MPI_Reduce_scatter are looked at later.) */
static inline bool aps_call_is_empty(const struct aps_call_arguments *arguments)
{
    return arguments->count == 0 && !arguments->counts;
}

/* Local. Returns a call that comes in: whose memory its buffers are in, and the
 * last word of MPI_Pcontrol. */
static inline struct aps_call
aps_call_enter(const struct aps_call_arguments *arguments)
{
    return (struct aps_call){
        .arguments = *arguments,
        .gpu = aps_gpu_buffers_of(arguments->send, arguments->receive),
        .control = aps_pcontrol_now(),
    };
}

/*
 * Local. What MPI_Pcontrol says for this call. The ranks of one job agree on
 * that, so it holds for communicators of this job's ranks alone: one that has a
 * world of its own may have ranks of other jobs.
 */
struct aps_pcontrol aps_call_control(const struct aps_context *context,
                                     const struct aps_call *call);

/* MPI's name of the function that the program called. */
const char *aps_call_function(const struct aps_call *call);

/* Where calls of this kind are counted. */
struct aps_counters *aps_call_counters(const struct aps_call *call);

/* What went wrong in messages of ours goes to the program's error handler, or
 * for a deferred call to whoever completes its request. Returns rc. */
int aps_call_raise(const struct aps_call *call, int rc);

/* Local. The call is over, which began when `failures` were
 * aps_context_failures: MPI_ERR_OTHER if it could not read or write a buffer in a
 * GPU's memory. Then other communicators must not take over the resources. */
int aps_call_check(struct aps_context *context, const struct aps_call *call,
                   unsigned long failures);

#endif
