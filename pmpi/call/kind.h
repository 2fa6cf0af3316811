/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of calls that may be rewritten: one table each, in a file of its
 * own, with all that differs between them. What they have in common is written
 * once: how a call is handled (handle.c), passed on (pass.c), and how a layer of
 * it is carried out and sampled (segment.c).
 */
#ifndef APS_PMPI_CALL_KIND_H
#define APS_PMPI_CALL_KIND_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"
#include "native/next_mpi.h"
#include "policy/policy.h"

struct aps_call;
struct aps_call_arguments;
struct aps_context;
struct aps_cost;
struct aps_segment;
struct aps_step_position;

struct aps_collective {
    enum aps_call_kind which; /* as a policy knows it */
    enum aps_counted counted; /* as the counters do */
    const char *name;         /* MPI's */
    const char *nonblocking;  /* MPI's name of the nonblocking form, or NULL */
    bool fuses;               /* nonblocking calls may share a batch (fuse.h) */

    /* Local. May it be a call for us, if it is long enough (aps_call_is_empty)?
     * Looks only at what is equal on all ranks of a correct program. Wrong
     * arguments make it none, so that it goes to MPI for its message and error
     * handler. */
    bool (*is_candidate)(const struct aps_job *job,
                         const struct aps_call_arguments *arguments);

    /* The call as it is, to the next library in line. */
    int (*pass)(const struct aps_call_arguments *arguments);

    /* Local. The same by the nonblocking form; *request is the program's. */
    int (*start)(const struct aps_call_arguments *arguments,
                 MPI_Request *request);

    /* Local. How many elements of its buffers the call reads and writes. */
    void (*count_elements)(const struct aps_call_arguments *arguments,
                           MPI_Count *sent, MPI_Count *received);

    /* Local, once for each candidate in the order of the calls. Where the call
     * stands in the step; false: it passes, for *reason. (allreduce.h says what
     * this may depend on.) */
    bool (*place)(struct aps_context *context, const struct aps_call *call,
                  struct aps_step_position *position, enum aps_reason *reason);

    /* Local. The call passes, for this reason. May be NULL. */
    void (*note_passed)(const struct aps_call *call, enum aps_reason reason);

    /* Local. What the call moves, all but the key and the plan of its only layer;
     * false: its arguments are wrong. Only of the other collectives. */
    bool (*measure)(const struct aps_context *context,
                    const struct aps_call *call, struct aps_segment *segment);

    /* Local. Layer i of the call, which begins at element `offset`: fills in all
     * of *segment but its plan. */
    void (*segment)(const struct aps_context *context,
                    const struct aps_call *call,
                    const struct aps_step_position *position, long i,
                    size_t offset, struct aps_segment *segment);

    /* COLLECTIVE. Can the plan be carried out here? What it needs is made on
     * first use; if it cannot be made, on any rank, then on none. */
    bool (*is_possible)(struct aps_context *context,
                        const struct aps_call *call,
                        const struct aps_plan *plan);

    /* COLLECTIVE. Where only the ranks together know whether all of them can
     * take part: *good says so. May be NULL: they can. An error of MPI stands in
     * segment->rc: other ranks may know nothing of it, and go on, so this rank
     * runs the layer, too, which fails. */
    void (*agree)(struct aps_context *context, struct aps_segment *segment,
                  bool *good);

    /* Local. A nonblocking call is to wait in a queue: *arguments gets what outlives
     * the call (hold, an MPI error code); it is gone (release). May be NULL. */
    int (*hold)(struct aps_call_arguments *arguments);
    void (*release)(struct aps_call_arguments *arguments);

    /* COLLECTIVE. A call that has waited in a queue, and of which `agree` has said
     * no, cannot go to MPI any more: the program may have made others since. Its
     * elements travel as they are, by messages of ours. Of kinds with `agree`. */
    int (*run_unchanged)(struct aps_context *context,
                         const struct aps_call *call,
                         const struct aps_segment *segment);

    /* COLLECTIVE. By the plan, which is possible. */
    int (*run)(struct aps_context *context, const struct aps_call *call,
               const struct aps_segment *segment, struct aps_cost *cost);

    /* COLLECTIVE. What FP32 gives to this rank, before the inputs are gone;
     * *ready: it is there. */
    int (*sample)(struct aps_context *context, const struct aps_call *call,
                  const struct aps_segment *segment, int *ready);

    /* Every rank measures its own part of a sample, and rank 0 merges them;
     * otherwise rank 0 has it all. */
    bool merges;
};

extern const struct aps_collective aps_collective_allreduce;
extern const struct aps_collective aps_collective_reduce_scatter;
extern const struct aps_collective aps_collective_reduce_scatter_block;
extern const struct aps_collective aps_collective_allgather;
extern const struct aps_collective aps_collective_reduce;
extern const struct aps_collective aps_collective_bcast;

#endif
