/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One all-reduce of the program, blocking or not.
 */
#ifndef APS_PMPI_CALL_CALL_H
#define APS_PMPI_CALL_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "native/abi.h"
#include "job/job.h"
#include "job/pcontrol.h"
#include "progress/vcomm.h"

struct aps_call {
    const void *send; /* or MPI_IN_PLACE */
    void *receive;
    MPI_Count count;
    bool large; /* it came by the _c variant, and goes on by it */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm; /* the program's; of a deferred call it may be gone */
    /* A deferred call is carried out later than it was made. By then the
     * program may have made other calls on `comm`: all goes by this internal
     * communicator. NULL: the call is being made. */
    const struct aps_vcomm *inside;
    struct aps_pcontrol control; /* as it was when the call was made */
    /* One of several of the program's call: buffers in a GPU's memory that
     * cannot be copied are only counted (device/bounce.h), since the others
     * follow. */
    bool part;
};

static inline bool aps_call_is_deferred(const struct aps_call *call)
{
    return call->inside != NULL;
}

/* Without Fortran MPI_REAL is no type at all, and a Fortran built with 8-byte
 * reals has another MPI_REAL. */
static inline bool aps_call_is_float(const struct aps_job *job,
                                     MPI_Datatype type)
{
    return type == MPI_FLOAT ||
           (type != MPI_DATATYPE_NULL &&
            ((type == MPI_REAL && job->real_is_float) || type == MPI_REAL4));
}

/* Is it an FP32 sum with arguments that are right? Wrong ones go to MPI, for
 * its message and error handler. All that is looked at is equal on all ranks of
 * a correct program. */
static inline bool aps_call_is_candidate(const struct aps_job *job,
                                         const struct aps_call *call)
{
    return aps_call_is_float(job, call->type) && call->op == MPI_SUM &&
           call->count > 0 && aps_abi_is_communicator(call->comm) &&
           call->send && call->receive && call->receive != MPI_IN_PLACE &&
           call->send != call->receive;
}

/* COLLECTIVE. The whole call to MPI: to the next MPI_Allreduce. */
int aps_call_pass(const struct aps_call *call);

/* Likewise, and count it with the reason. */
int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason);

/* COLLECTIVE. `count` elements from `offset` on; none: nothing. */
int aps_call_pass_part(const struct aps_call *call, size_t offset,
                       size_t count);

/* What went wrong in messages of ours goes to the program's error handler, or
 * for a deferred call to who completes it. Returns rc. */
int aps_call_raise(const struct aps_call *call, int rc);

#endif
