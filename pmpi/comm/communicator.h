/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known about a communicator of the program.
 */
#ifndef APS_PMPI_COMM_COMMUNICATOR_H
#define APS_PMPI_COMM_COMMUNICATOR_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/autotune.h"
#include "comm/other_collectives_state.h"
#include "comm/resources.h"
#include "comm/sample.h"
#include "job/job.h"
#include "job/world.h"
#include "progress/queue.h"
#include "steps/discovery.h"
#include "steps/steps.h"

enum aps_context_state {
    APS_CONTEXT_PASS,     /* every call passes through */
    APS_CONTEXT_DISCOVER, /* no policy: watch the calls */
    APS_CONTEXT_ACTIVE    /* the policy decides */
};

#define APS_CONTEXT_PASSING 64

struct aps_context {
    enum aps_context_state state;
    struct aps_job *job;
    struct aps_world *world; /* whose ranks agreed on state and samples */
    bool own_world;          /* it is this communicator's alone */
    int rank;
    int size;
    int *ranks;      /* [size]: in the world; NULL: nothing is ever rewritten */
    char label[128]; /* the `comm` of log and messages */
    size_t min_count;
    struct aps_steps *steps;
    struct aps_comm_resources *resources; /* for the first plan that rewrites */
    enum {
        APS_RESOURCES_NONE,
        APS_RESOURCES_BEGUN, /* the queue's first operation completes them */
        APS_RESOURCES_READY,
        APS_RESOURCES_FAILED /* every call passes */
    } resources_state;
    bool damaged; /* a reduction failed: the resources are not for others */
    struct aps_queue *queue;         /* of nonblocking calls, by the first */
    struct aps_operation start, end; /* of its life in the queue */
    int broken; /* MPI error code: the queue's calls cannot be carried out */
    /* A cache: counts that no rule rewrites, where that follows from the count
     * alone (call/allreduce.c); 0 for none. */
    size_t passing[APS_CONTEXT_PASSING];
    struct aps_autotune autotune; /* of `reduce: auto` */
    long sample_every;            /* rank 0's: 0 takes no samples */
    struct aps_sample sample;
    unsigned long long calls;   /* eligible ones, for messages */
    unsigned long long desyncs; /* likewise */
    struct aps_discovery discovery;
    struct aps_other_state related; /* for the other collectives */
    unsigned complained;            /* rules that were said to be impossible */
};

#endif
