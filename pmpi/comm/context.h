/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context of a communicator: what its ranks have agreed on. It is an
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
 * The context of `comm`, for a blocking call. Local if comm's ranks belong to
 * the job's world, or if comm has a context; otherwise COLLECTIVE over comm.
 * *context is NULL, on all ranks, if comm cannot have a context: the call
 * passes through. An MPI error code means that `comm` is no communicator, or
 * that this rank is out of memory, and that the program's error handler has
 * been called. Does not return if the policy is bad and the job must stop.
 */
int aps_context_find(MPI_Comm comm, struct aps_context **context);

/*
 * The same for a nonblocking call: local, never waits. *context is NULL also if
 * comm needs a world of its own and no blocking call has made it yet, and if
 * neither MPI's calls nor a progress thread could drive a queue.
 */
int aps_context_find_local(MPI_Comm comm, struct aps_context **context);

/* Why aps_context_find_local has found none. Local. */
enum aps_reason aps_context_why_none(MPI_Comm comm);

/*
 * A cache: the context that this thread used last. Reading an attribute takes
 * some per cent of a short MPI_Allreduce. When any thread deletes a context,
 * the caches of all threads become invalid, because MPI may give the handle to
 * another communicator.
 */
struct aps_context_recent {
    MPI_Comm comm;
    struct aps_context *context; /* NULL: none */
    unsigned deaths;             /* aps_context_deaths when it was found */
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

/* Local. The context of comm, or NULL if comm has none yet. */
struct aps_context *aps_context_existing(MPI_Comm comm);

/*
 * COLLECTIVE over comm, the context's communicator. Makes the resources on first use.
 * True on all ranks if all ranks have them, otherwise false on all ranks. After an MPI
 * error it is false, and context->failed is set.
 */
bool aps_context_has_resources(struct aps_context *context, MPI_Comm comm);

/* Local, but counts as a nonblocking collective call on comm. Begins to make the
 * resources. Returns context->failed after an error. */
int aps_context_begin_resources(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. Completes the resources that were begun. After an
 * MPI error context->failed is set. */
void aps_context_complete_resources(struct aps_context *context);

#endif
