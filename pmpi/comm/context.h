/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context of a communicator: the agreements of its ranks. It is an
 * attribute of the communicator, and MPI deletes it together with the
 * communicator. A table indexed by handles would fail, because MPI reuses
 * handles.
 */
#ifndef APS_PMPI_COMM_CONTEXT_H
#define APS_PMPI_COMM_CONTEXT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/communicator.h"

/*
 * Finds the context of `comm` for a blocking call. Local if comm's ranks belong
 * to the job's hidden communicator, or if comm has a context; otherwise
 * COLLECTIVE over comm. Returns an MPI error code: `comm` is
 * an invalid handle, or this rank lacks memory, and the program's error handler
 * has been called. Does not return if the policy is bad and the job must stop.
 */
int aps_context_find(MPI_Comm comm, struct aps_context **context);

/* Local, never waits. Finds the context of `comm` like aps_context_find. *context is
 * also NULL if comm needs a hidden communicator of its own that aps_context_find has
 * not made yet. For a `queued` call, nonblocking or persistent, it is also NULL if
 * neither MPI's calls nor a progress thread could drive a queue. */
int aps_context_find_local(MPI_Comm comm, bool queued,
                           struct aps_context **context);

/* Local. Returns the reason why aps_context_find_local has found no context. */
enum aps_reason aps_context_why_none(MPI_Comm comm);

/* Cache of the context that this thread used last. Reading an attribute takes several
 * per cent of a short MPI_Allreduce. */
struct aps_context_recent {
    MPI_Comm comm;
    struct aps_context *context; /* NULL: none */
    unsigned changes;            /* aps_job_changes when the context was
                                    found */
};
extern _Thread_local struct aps_context_recent aps_context_recent
    __attribute__((tls_model("initial-exec")));

static inline int aps_context_of(MPI_Comm comm, struct aps_context **context)
{
    const struct aps_context_recent *recent = &aps_context_recent;

    if (!recent->context || recent->comm != comm ||
        recent->changes !=
            atomic_load_explicit(&aps_job_changes, memory_order_relaxed))
        return aps_context_find(comm, context);
    *context = recent->context;
    return MPI_SUCCESS;
}

/* Local. Returns the context of comm, or NULL if comm has none yet. */
struct aps_context *aps_context_existing(MPI_Comm comm);

/* COLLECTIVE over comm, the context's communicator. Makes the resources on
 * first use. Returns true on all ranks if all ranks have them, otherwise false
 * on all ranks. After an MPI error the result is false, and context->failed is
 * set. */
bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm);

/* Local, but counts as a nonblocking collective call on comm. Begins to make the
 * resources. Returns context->failed after an error. */
int aps_context_begin_resources(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. Completes the resources that were begun. After an
 * MPI error context->failed is set. */
void aps_context_complete_resources(struct aps_context *context);

/* Local. Returns the site at which the context, which has resources, reduces layers
 * with that state. */
struct aps_layer_site aps_context_site(struct aps_context *context,
                                       struct aps_carried_state *kept);

#endif
