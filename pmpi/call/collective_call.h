/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of the program that is a relative of the all-reduce: whether it may
 * be for us, what it moves, and how it goes on to MPI.
 */
#ifndef APS_PMPI_CALL_COLLECTIVE_CALL_H
#define APS_PMPI_CALL_COLLECTIVE_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/context.h"
#include "job/job.h"

struct aps_collective_call {
    enum aps_call_kind kind;
    bool large;       /* it came by a _c variant, and goes on by it */
    const void *send; /* or MPI_IN_PLACE */
    void *receive;
    MPI_Count count;    /* of an element of `type`: MPI's count or recvcount */
    const void *counts; /* of MPI_Reduce_scatter, int or MPI_Count: recvcounts;
                           the other reduce-scatter has NULL */
    bool listed;        /* by counts */
    MPI_Count send_count; /* of MPI_Allgather */
    MPI_Datatype send_type;
    MPI_Datatype type;
    MPI_Op op;
    int root; /* of MPI_Reduce */
    MPI_Comm comm;
};

/* What a call moves. */
struct aps_volume {
    size_t count; /* elements of the whole vector, the same on all ranks */
    size_t own;   /* of them, those that end on this rank alone (a share), or
                     start there (a block) */
    bool good;    /* this rank can do its part; only an all-gather may have
                     it differ between ranks */
    const float *in;
    float *out;                      /* all that this rank receives */
    const struct aps_memory *memory; /* of both; known when it is its turn */
};

/*
 * May it be a call for us? All that is looked at is equal on all ranks of a
 * correct program: of an all-gather only what its elements are made of, since
 * ranks may describe them by different types.
 */
bool aps_collective_call_is_candidate(const struct aps_job *job,
                                      const struct aps_collective_call *call);

/*
 * What a candidate moves; local. False for wrong arguments, which go to MPI for
 * its message and error handler (of an all-gather they, and types that are not
 * for us, make the volume no `good`).
 */
bool aps_collective_call_measure(const struct aps_context *context,
                                 const struct aps_collective_call *call,
                                 struct aps_volume *volume);

/* How many elements of a reduce-scatter go to rank i. */
MPI_Count aps_collective_call_share(const struct aps_collective_call *call,
                                    int i);

/* COLLECTIVE. The call as it came, to the next library in line. */
int aps_collective_call_pass(const struct aps_collective_call *call);

/* Likewise, and count it with the reason. */
int aps_collective_call_pass_because(const struct aps_collective_call *call,
                                     enum aps_reason reason);

#endif
