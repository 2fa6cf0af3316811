/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a communicator's nonblocking calls. The first such call makes
 * it.
 */
#ifndef APS_PMPI_COMM_COMM_QUEUE_H
#define APS_PMPI_COMM_COMM_QUEUE_H

#include <mpi.h>

#include "comm/context.h"

/* Local, but counts as a nonblocking collective call on comm. Returns an MPI
 * error code; after an error comm's error handler has been called. */
int aps_context_make_queue(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. Carries out the queued calls, before a
 * blocking call. */
void aps_context_drain(struct aps_context *context);

#endif
