/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context of a communicator: what its ranks have agreed on, kept as an
 * attribute of the communicator and gone with it. Never a table keyed by
 * handles: handles are recycled.
 */
#ifndef APS_PMPI_COMM_CONTEXT_H
#define APS_PMPI_COMM_CONTEXT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/autotune.h"
#include "steps/discovery.h"
#include "job/job.h"
#include "progress/queue.h"
#include "comm/other_collectives_state.h"
#include "comm/resources.h"
#include "comm/sample.h"
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
    bool may_block;                  /* all ranks' queues have threads */
    int broken;    /* MPI error code: the queue's calls cannot be carried out */
    float *buffer; /* aps_context_buffer */
    size_t buffer_bytes;
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

/*
 * The context of `comm`, for a blocking call. Local where comm's ranks belong to
 * the job's world; otherwise COLLECTIVE over comm when it has none yet. *context
 * is NULL when there can be none, on all ranks: then the call passes through. An
 * MPI error code means that `comm` is no communicator, or that this rank is out
 * of memory, and that the program's error handler has been called. Does not
 * return where the policy is bad and the job is to stop.
 */
int aps_context_find(MPI_Comm comm, struct aps_context **context);

/*
 * The same for a nonblocking call: local, never waits. *context is NULL also
 * where comm needs a world of its own and no blocking call has made it yet, and
 * where MPI leaves nobody to drive a queue.
 */
int aps_context_find_local(MPI_Comm comm, struct aps_context **context);

/*
 * The context that this thread used last, since a look at an attribute takes
 * some per cent of a short MPI_Allreduce. Whenever a context goes anywhere, all
 * threads forget theirs: its communicator's handle may come back for another.
 */
struct aps_context_recent {
    MPI_Comm comm;
    struct aps_context *context; /* NULL: none */
    unsigned deaths;             /* when it was found */
};
extern _Thread_local struct aps_context_recent aps_context_recent
    __attribute__((tls_model("initial-exec")));
extern atomic_uint aps_context_deaths;

static inline int aps_context_of(MPI_Comm comm, struct aps_context **context)
{
    const struct aps_context_recent *recent = &aps_context_recent;

    if (!recent->context || recent->comm != comm ||
        recent->deaths !=
            atomic_load_explicit(&aps_context_deaths, memory_order_relaxed))
        return aps_context_find(comm, context);
    *context = recent->context;
    return MPI_SUCCESS;
}

/* Local. The context that comm has already, or NULL. */
struct aps_context *aps_context_existing(MPI_Comm comm);

/* At least so many bytes of FP32 for the queue's run, kept for the next; NULL:
 * out of memory. */
float *aps_context_buffer(struct aps_context *context, size_t bytes);

/*
 * COLLECTIVE over comm, the context's communicator. Are there resources? They
 * are made on first use; if they cannot be made, there are none on all ranks.
 */
bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm);

/* Local, but counts as a nonblocking collective call on comm: begin to make
 * them. An MPI error code. */
int aps_context_begin_resources(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE. Complete what was begun; an MPI error code. */
int aps_context_complete_resources(struct aps_context *context);

#endif
