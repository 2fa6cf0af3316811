/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a communicator's nonblocking calls: made by the first of them.
 */
#ifndef APS_PMPI_COMM_COMM_QUEUE_H
#define APS_PMPI_COMM_COMM_QUEUE_H

#include <mpi.h>

#include "comm/context.h"

/* Local, but counts as a nonblocking collective call on comm. An MPI error code,
 * of which comm's error handler knows. */
int aps_context_make_queue(struct aps_context *context, MPI_Comm comm);

/* COLLECTIVE over the communicator. A blocking call comes: carry out what is
 * queued before it. */
void aps_context_drain(struct aps_context *context);

#endif
