/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that may be rewritten: one row each, in a file of its own, with
 * all that differs between them. What they have in common is written once, in
 * plan.c, call.c, start.c and pass.c.
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
    enum aps_call_kind which; /* as a policy knows it */
    enum aps_counted counted; /* as the counters do */
    const char *name;         /* MPI's */
    const char *nonblocking;  /* MPI's name of the nonblocking form, or NULL */
    bool fuses;               /* nonblocking calls may share a batch (fuse.h) */

    /* Local. True if a call with these arguments may be rewritten, if it is long enough
     * (aps_call_is_empty). Depends only on what is equal on all ranks of a correct
     * program. A call with wrong arguments is not eligible: MPI reports them. */
    bool (*is_eligible)(const struct aps_job *job,
                        const struct aps_call_arguments *arguments);

    /* Passes the call as it is to the next library in line. */
    int (*pass)(const struct aps_call_arguments *arguments);

    /* Local. Passes the call in its nonblocking form; *request is the program's. */
    int (*start)(const struct aps_call_arguments *arguments,
                 MPI_Request *request);

    /* Local. Number of elements of its buffers that the call reads and writes. */
    void (*count_elements)(const struct aps_call_arguments *arguments,
                           MPI_Count *sent, MPI_Count *received);

    /* Local, once for each eligible call in the order of the calls. Fills in
     * call->position; false: the call passes for call->reason. (allreduce.h says what
     * this may depend on.) */
    bool (*number)(struct aps_call *call);

    /* Local. A blocking call passes for this reason. May be NULL. */
    void (*note_passed)(const struct aps_call *call, enum aps_reason reason);

    /* Local. Fills in what the call moves: all of its only layer but key, number and
     * plan. False: its arguments are wrong. NULL: all-reduce. */
    bool (*measure)(const struct aps_call *call, struct aps_layer *layer);

    /* Local. Fills in layer i of the call, which begins at element `offset`, without
     * its plan, way and memory. */
    void (*describe)(const struct aps_call *call, long i, size_t offset,
                     struct aps_layer *layer);

    /* COLLECTIVE. True if the plan can be carried out here. Makes what it needs on
     * first use; if that fails on any rank, the plan is impossible on all ranks. */
    bool (*prepare)(struct aps_call *call, const struct aps_plan *plan);

    /* COLLECTIVE. *good: all ranks can take part, which only the ranks together know.
     * NULL: they can. An MPI error is in layer->rc: other ranks may know nothing of it,
     * so this rank runs the layer, too, which fails. */
    void (*agree)(struct aps_call *call, struct aps_layer *layer, bool *good);

    /* Local. A nonblocking call is about to wait in a queue: *arguments gets copies of
     * what may not outlive the call (hold, an MPI error code); release drops them. May
     * be NULL. */
    int (*hold)(struct aps_call_arguments *arguments);
    void (*release)(struct aps_call_arguments *arguments);

    /* COLLECTIVE. Carries the elements of a queued call unchanged, by messages of the
     * library, when `agree` has said no. Only of collectives with `agree`. */
    int (*run_unchanged)(struct aps_call *call, const struct aps_layer *layer);

    /* COLLECTIVE. Reduces the layer by its plan, which is prepared. */
    int (*run)(struct aps_call *call, const struct aps_layer *layer,
               struct aps_cost *cost);

    /* COLLECTIVE. Computes the FP32 result of this rank before the inputs are
     * overwritten; *ready: it is there. */
    int (*reference)(struct aps_call *call, const struct aps_layer *layer,
                     int *ready);

    /* Every rank measures its own part of a sample, and rank 0 merges them; otherwise
     * rank 0 has all of it. */
    bool merges;
};

extern const struct aps_collective aps_collective_allreduce;
extern const struct aps_collective aps_collective_reduce_scatter;
extern const struct aps_collective aps_collective_reduce_scatter_block;
extern const struct aps_collective aps_collective_allgather;
extern const struct aps_collective aps_collective_reduce;
extern const struct aps_collective aps_collective_bcast;

/* Returns MPI's name of the function that the program called. */
static inline const char *aps_call_function(const struct aps_call *call)
{
    switch (call->arguments.form) {
    case APS_BLOCKING:
        return call->arguments.collective->name;
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
