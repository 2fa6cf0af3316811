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
#include "reduce/reduction.h"
#include "comm/other_collectives_state.h"
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
    int rank;
    int size;
    char label[128]; /* the `comm` of log and messages */
    size_t min_count;
    struct aps_steps *steps;
    struct aps_comm_resources
        *resources;       /* made when the first plan rewrites a call */
    bool resources_ready; /* else the queue's first operation makes it so */
    bool resources_failed;
    struct aps_queue *queue; /* of nonblocking calls, made by the first one */
    float *buffer;           /* aps_context_buffer */
    size_t buffer_bytes;
    struct aps_operation start, end; /* of its life in the queue */
    bool agreed; /* the ranks have agreed on state, steps and samples */
    /* ... and at the same call on all of them, so that nonblocking calls may be
     * told apart. Until then all that may be eligible are queued. */
    bool settled;
    bool may_block; /* all ranks' queues have threads */
    int broken; /* MPI error code: the queue's calls cannot be carried out */
    /* Counts that no rule rewrites, where that follows from the count alone: a
     * shorter way through. By place_of(count), 0 for none. */
    size_t passing[APS_CONTEXT_PASSING];
    struct aps_autotune autotune; /* of `reduce: auto` */
    long sample_every;            /* rank 0's: 0 takes no samples */
    struct aps_sample sample;
    unsigned long long calls;   /* eligible ones, for messages */
    unsigned long long desyncs; /* likewise */
    struct aps_discovery discovery;
    struct aps_other_state related; /* for the relatives of the all-reduce */
    unsigned complained;            /* rules that were said to be impossible */
};

/*
 * The context of `comm`; COLLECTIVE over comm when it has none yet. *context is
 * NULL when there can be none: then the call passes through. *stop tells that
 * the policy is bad and the job is to stop; rank 0 has said why. An MPI error
 * code means that `comm` is no communicator, and that the program's error
 * handler has been called.
 */
int aps_context_find(MPI_Comm comm, struct aps_context **context, bool *stop);

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

static inline int aps_context_of(MPI_Comm comm, struct aps_context **context,
                                 bool *stop)
{
    const struct aps_context_recent *recent = &aps_context_recent;

    if (!recent->context || recent->comm != comm ||
        recent->deaths !=
            atomic_load_explicit(&aps_context_deaths, memory_order_relaxed))
        return aps_context_find(comm, context, stop);
    *context = recent->context;
    *stop = false;
    return MPI_SUCCESS;
}

/*
 * Like aps_context_find, for a nonblocking call: local, never waits. The
 * context may be unsettled: then the ranks will agree when its queue runs. NULL
 * also where MPI leaves nobody to drive a queue.
 */
int aps_context_find_deferred(MPI_Comm comm, struct aps_context **context);

/* Local. The context that comm has already, or NULL. */
struct aps_context *aps_context_existing(MPI_Comm comm);

/* Local, but counts as a nonblocking collective call on comm, by the first
 * nonblocking call that is queued. An MPI error code. */
int aps_context_make_queue(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. A blocking call comes: carry out what is
 * queued before it. */
void aps_context_drain(struct aps_context *context);

/* At least so many bytes of FP32 for the queue's run, kept for the next; NULL:
 * out of memory. */
float *aps_context_buffer(struct aps_context *context, size_t bytes);

/*
 * The backend for a call that reads `in` and writes `out`. Local; the first
 * time that it is not what it could be, a line says why.
 */
const struct aps_memory *aps_context_memory(struct aps_context *context,
                                            const void *in, const void *out);

/*
 * A call is over, with this error code, that began when `failures` were
 * aps_context_failures: MPI_ERR_OTHER if it could not read or write a buffer in
 * a GPU's memory. Local; the line that tells names `call`.
 */
unsigned long aps_context_failures(void);
int aps_context_check(const struct aps_context *context, const char *call,
                      unsigned long failures, int rc);

/* The step is known: write it out for the user, on rank 0. Local. */
void aps_context_write_step(struct aps_context *context);

/*
 * Say something about this communicator once, on rank 0: a line on standard
 * error, and an event in the log if there is one.
 */
void aps_context_event(struct aps_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * COLLECTIVE over comm, the context's communicator. Is there a resources? It is
 * made on first use; if it cannot be made, on any rank, there is none on all.
 */
bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm);

/* Add what a reduction has sent. */
static inline void aps_count_cost(struct aps_counters *counters,
                                  const struct aps_cost *cost)
{
    aps_count(&counters->wire_bytes, cost->wire_bytes);
    aps_count(&counters->fp32_bytes, cost->fp32_bytes);
    if (cost->device_bytes > 0)
        aps_count(&counters->device_bytes, cost->device_bytes);
}

/* A row of the log, if there is one: a call, or a layer of one, reduced by
 * `reduce` in so many nanoseconds. On rank 0. */
void aps_context_row(struct aps_context *context,
                     const struct aps_plan_key *place,
                     const struct aps_plan *plan, const char *reduce,
                     const struct aps_cost *cost,
                     const struct aps_measure *measure, int64_t taken);

#endif
