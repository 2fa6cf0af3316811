/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context: what the library knows about a communicator of the program.
 */
#ifndef APS_PMPI_COMM_COMMUNICATOR_H
#define APS_PMPI_COMM_COMMUNICATOR_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/autotune.h"
#include "comm/other_collectives_state.h"
#include "comm/resources.h"
#include "comm/sample.h"
#include "layer/site.h"
#include "job/job.h"
#include "world/hidden_comm.h"
#include "queue/queue.h"
#include "steps/discovery.h"
#include "steps/steps.h"

struct aps_trials; /* trial/trial_ops.h */
struct aps_layer;  /* layer/layer.h */

enum aps_context_state {
    APS_CONTEXT_PASS,     /* every call passes through */
    APS_CONTEXT_DISCOVER, /* without a policy: the library observes the calls */
    APS_CONTEXT_ACTIVE    /* the policy decides */
};

#define APS_CONTEXT_PASSED_BITS 6

/* Calls with this number of elements pass for this reason, in any layer or
 * step. */
struct aps_passed_count {
    size_t count; /* number of elements; 0: empty slot */
    enum aps_element element;
    enum aps_reason reason;
};

struct aps_context {
    enum aps_context_state state;
    enum aps_reason reason; /* why calls pass, unless the state is ACTIVE */
    struct aps_job *job;
    struct aps_hidden_comm *world; /* hidden communicator, whose ranks agreed on
                                      state and samples */
    bool own_world;                /* `world` was made for this communicator */
    int rank;
    int size;
    int *ranks;      /* [size]: ranks in `world`; NULL: every call passes */
    char label[128]; /* name in column `comm` of the log, and in messages */
    size_t min_count;
    struct aps_steps *steps;
    struct aps_comm_resources *resources; /* made by the first rewritten call */
    enum {
        APS_RESOURCES_NONE,
        APS_RESOURCES_BEGUN, /* the queue's first operation completes them */
        APS_RESOURCES_READY,
        APS_RESOURCES_FAILED /* blocking calls pass, nonblocking ones fail */
    } resources_state;
    /* MPI_SUCCESS, or the MPI error code of the first failure inside the
     * library, which has ended the library's use of the communicator
     * (aps_context_fail). */
    atomic_int failed;
    bool damaged;            /* a GPU copy failed: do not reuse the resources */
    struct aps_queue *queue; /* queue of nonblocking calls, made by the first of
                                them */
    struct aps_operation start, end; /* first and last in the queue */
    struct aps_layer *layers; /* [layers_max]: layers of the call that is being
                                 planned */
    size_t layers_max;
    struct aps_plan plan_by_count; /* last plan that followed from a count */
    /* Cache of counts that pass (collective/allreduce.c). */
    struct aps_passed_count passed_counts[1 << APS_CONTEXT_PASSED_BITS];
    struct aps_autotune autotune;  /* choices of `reduce: auto` */
    struct aps_carried_state kept; /* carried state of rewritten calls */
    /* The first layer with a trial makes this state, and sets its destructor. */
    struct aps_trials *trials;
    void (*destroy_trials)(struct aps_trials *trials);
    long sample_every; /* interval of samples in rank 0's log; 0: no samples */
    struct aps_sample sample;    /* memory for references */
    unsigned long long calls;    /* number of eligible calls, for messages */
    unsigned long long desyncs;  /* number of desyncs, for messages */
    unsigned long long stepless; /* calls without a known step, for a message */
    unsigned long long fresh;    /* last of them with a size not seen before */
    uint64_t sizes;              /* buckets of the sizes seen */
    bool stepless_reported;
    bool any_told;     /* a step in any order was reported, */
    bool unknown_told; /* and a call in it whose size no layer has */
    struct aps_discovery discovery;
    struct aps_other_state other_collectives; /* for other collectives */
    unsigned warned_rules; /* rules whose "cannot run" was printed */
};

#endif
