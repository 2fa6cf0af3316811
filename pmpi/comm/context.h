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

#include "comm/communicator.h"

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
