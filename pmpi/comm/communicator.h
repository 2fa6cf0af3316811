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
#include "job/job.h"
#include "world/hidden_comm.h"
#include "queue/queue.h"
#include "steps/discovery.h"
#include "steps/steps.h"

struct aps_scales;       /* comm/scales.h */
struct aps_shadows;      /* comm/shadows.h */
struct aps_auto_formats; /* comm/auto_formats.h */
struct aps_compressions; /* comm/compressions.h */
struct aps_layer;        /* call/call.h */

/* What calls leave behind for later ones: each by the first call that needs it.
 * {0}: nothing. */
struct aps_carried_state {
    struct aps_scales *scales;
    struct aps_compressions *compressions;
};

enum aps_context_state {
    APS_CONTEXT_PASS,     /* every call passes through */
    APS_CONTEXT_DISCOVER, /* no policy: watch the calls */
    APS_CONTEXT_ACTIVE    /* the policy decides */
};

#define APS_CONTEXT_PASSED_BITS 6

/* Calls of so many elements pass, in whatever layer or step, and why. */
struct aps_passed_count {
    size_t count; /* 0: an empty place */
    enum aps_reason reason;
};

struct aps_context {
    enum aps_context_state state;
    enum aps_reason reason; /* why calls pass, unless the state is ACTIVE */
    struct aps_job *job;
    struct aps_hidden_comm *world; /* its ranks agreed on state and samples */
    bool own_world; /* the world was made for this communicator */
    int rank;
    int size;
    int *ranks;      /* [size]: ranks in the world; NULL: every call passes */
    char label[128]; /* column `comm` of the log, and in messages */
    size_t min_count;
    struct aps_steps *steps;
    struct aps_comm_resources *resources; /* by the first rewritten call */
    enum {
        APS_RESOURCES_NONE,
        APS_RESOURCES_BEGUN, /* the queue's first operation completes them */
        APS_RESOURCES_READY,
        APS_RESOURCES_FAILED /* blocking calls pass, nonblocking ones fail */
    } resources_state;
    /* MPI_SUCCESS, or the MPI error code with which the first failure inside the
     * library has ended the use of the communicator (aps_context_fail). */
    atomic_int failed;
    bool damaged;            /* a GPU copy failed: do not reuse the resources */
    struct aps_queue *queue; /* of nonblocking calls; the first makes it */
    struct aps_operation start, end; /* first and last in the queue */
    struct aps_layer *layers; /* [layers_max]: of the call being planned */
    size_t layers_max;
    struct aps_plan
        plan_by_count; /* the last plan that followed from a count */
    /* A cache (call/allreduce.c). */
    struct aps_passed_count passed_counts[1 << APS_CONTEXT_PASSED_BITS];
    struct aps_autotune autotune;  /* of `reduce: auto` */
    struct aps_carried_state kept; /* of the calls that are rewritten */
    bool shadowed; /* the policy has candidates, and rank 0 a log */
    struct aps_shadows *shadows;           /* then; otherwise NULL */
    struct aps_auto_formats *auto_formats; /* the policy has some; or NULL */
    long sample_every;                     /* of rank 0's log; 0: no samples */
    struct aps_sample sample;
    unsigned long long calls;   /* eligible calls, for messages */
    unsigned long long desyncs; /* for messages */
    struct aps_discovery discovery;
    struct aps_other_state other_collectives; /* for the other collectives */
    unsigned warned_rules; /* rules whose "cannot run" was printed */
};

#endif
