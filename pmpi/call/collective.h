/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that may be rewritten: one row each (pmpi/collective), with all
 * that differs between them. The code that they share is in plan.c, run.c,
 * start.c and pass.c.
 */
#ifndef APS_PMPI_CALL_COLLECTIVE_H
#define APS_PMPI_CALL_COLLECTIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "call/call.h"
#include "native/next_mpi.h"
#include "policy/policy.h"

struct aps_collective {
    enum aps_counted counted; /* its row of aps_counted_functions */
    const char *nonblocking;  /* name of the nonblocking MPI function */
    bool fuses;               /* nonblocking calls may share a batch (fuse.h) */

    /* Local. True if a call with these arguments may be rewritten, provided it
     * is long enough (aps_call_is_empty). Depends only on values that are equal
     * on all ranks of a correct program. A call with wrong arguments is not
     * eligible: MPI reports them. */
    bool (*is_eligible)(const struct aps_job *job,
                        const struct aps_call_arguments *arguments);

    /* Passes the call as it is to the next library in line. */
    int (*pass)(const struct aps_call_arguments *arguments);

    /* Local. Passes the call in its nonblocking form; *request is the program's. */
    int (*start)(const struct aps_call_arguments *arguments,
                 MPI_Request *request);

    /* Local. Returns the number of elements of its buffers that the call reads
     * and writes. */
    void (*count_elements)(const struct aps_call_arguments *arguments,
                           MPI_Count *sent, MPI_Count *received);

    /* Local, once for each eligible call in the order of the calls. Fills in
     * call->position. Returns false if the call passes for call->reason.
     * (passed.h says what this may depend on.) */
    bool (*number)(struct aps_call *call);

    /* Local. Notes that a blocking call passes for this reason. May be NULL, as for
     * MPI_Reduce_scatter, whose counts the cache does not compare. */
    void (*note_passed)(const struct aps_call *call, enum aps_reason reason);

    /* Local. Fills in what the call moves: all of its only layer except key,
     * number and plan. Returns false if the arguments are wrong. May be NULL
     * (all-reduce). */
    bool (*measure)(const struct aps_call *call, struct aps_layer *layer);

    /* Local. Fills in layer i of the call, which begins at element `offset`, without
     * what plan.c fills in: plan, way, memory, `sampled`. */
    void (*describe)(const struct aps_call *call, long i, size_t offset,
                     struct aps_layer *layer);

    /* COLLECTIVE. True if the plan can be carried out here. Makes the necessary
     * state on first use; if that fails on any rank, the plan is impossible on
     * all ranks. */
    bool (*prepare)(struct aps_call *call, const struct aps_plan *plan);

    /* COLLECTIVE. *good: true if all ranks can take part, which no rank can
     * decide alone. May be NULL. An MPI error is stored in layer->rc. Since
     * other ranks may not know of the error, this rank runs the layer, too,
     * and that fails. */
    void (*agree)(struct aps_call *call, struct aps_layer *layer, bool *good);

    /* Local. Called before a nonblocking call waits in a queue: replaces those
     * of *arguments that may not outlive the call by copies. Returns an MPI
     * error code; release frees the copies. May be NULL. */
    int (*hold)(struct aps_call_arguments *arguments);
    void (*release)(struct aps_call_arguments *arguments);

    /* COLLECTIVE. If `agree` has refused, carries the elements of a queued
     * call unchanged, by messages of the library. Only for collectives with
     * `agree`. */
    int (*run_unchanged)(struct aps_call *call, const struct aps_layer *layer);

    /* COLLECTIVE. Reduces the layer by its plan, which has been prepared. */
    int (*run)(struct aps_call *call, const struct aps_layer *layer,
               struct aps_cost *cost);

    /* COLLECTIVE. Computes the FP32 result of this rank before the inputs are
     * overwritten. *ready: 1 if it was computed. */
    int (*reference)(struct aps_call *call, const struct aps_layer *layer,
                     int *ready);

    /* true if every rank measures its own part of a sample and rank 0 merges
     * the parts; otherwise rank 0 measures all of it */
    bool merges;
};

extern const struct aps_collective aps_collective_allreduce;
extern const struct aps_collective aps_collective_reduce_scatter;
extern const struct aps_collective aps_collective_reduce_scatter_block;
extern const struct aps_collective aps_collective_allgather;
extern const struct aps_collective aps_collective_reduce;
extern const struct aps_collective aps_collective_bcast;

/* Returns the kind of call, as in a policy. */
static inline enum aps_call_kind aps_call_kind_of(const struct aps_call *call)
{
    return aps_counted_functions[call->arguments.collective->counted].kind;
}

/* Returns MPI's name of the function that the program called; of a persistent
 * call, the one that made its request. */
static inline const char *aps_call_function(const struct aps_call *call)
{
    switch (call->arguments.form) {
    case APS_BLOCKING:
        return aps_counted_functions[call->arguments.collective->counted].name;
    case APS_NONBLOCKING:
        return call->arguments.collective->nonblocking;
    default:
        return "MPI_Allreduce_init";
    }
}

/* Returns the counters of this kind of calls. */
static inline struct aps_counters *
aps_call_counters(const struct aps_call *call)
{
    return aps_counters_of(call->arguments.collective->counted);
}

#endif
