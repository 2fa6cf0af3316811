/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a communicator's nonblocking calls. The first such call makes
 * it. Collective calls that block let it advance.
 */
#ifndef APS_PMPI_COMM_COMM_QUEUE_H
#define APS_PMPI_COMM_COMM_QUEUE_H

#include <mpi.h>
#include <stdbool.h>

#include "comm/context.h"
#include "queue/progress_thread.h"
#include "queue/queue.h"

/* Local, but counts as a nonblocking collective call on comm. Makes the queue if there
 * is none. Returns an MPI
 * error code; after an error comm's error handler has been called. */
int aps_context_make_queue(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. Carries out the queued calls, before a
 * blocking call. */
void aps_context_drain(struct aps_context *context);

/*
 * Call this before a collective function of MPI that blocks, which the library
 * cannot split; `comm` may be an invalid handle. The progress thread drives
 * what is under way until aps_blocking_leave(the result). If no such thread is
 * possible, the function first carries out the calls that all ranks have
 * started on `comm`.
 */
bool aps_blocking_enter_pending(MPI_Comm comm);
static inline bool aps_blocking_enter(MPI_Comm comm)
{
    return aps_queue_pending() && aps_blocking_enter_pending(comm);
}

static inline void aps_blocking_leave(bool helped)
{
    if (helped)
        aps_progress_thread_end();
}

#endif
