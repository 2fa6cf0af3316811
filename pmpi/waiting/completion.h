/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's completion calls, with the same arguments and results. In place of a
 * persistent request they complete the nonblocking call that it has started.
 * While they wait, they drive the queues and yield the core.
 */
#ifndef APS_PMPI_WAITING_COMPLETION_H
#define APS_PMPI_WAITING_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>

#include "waiting/persistent.h"
#include "queue/queue.h"

/* Local. True if the requests need the completion calls below instead of
 * MPI's. */
static inline bool aps_completion_is_ours(int count,
                                          const MPI_Request requests[])
{
    return aps_queue_unfinished() ||
           (aps_persistent_any() && aps_persistent_holds(count, requests));
}

int aps_completion_wait(MPI_Request *request, MPI_Status *status);
int aps_completion_waitall(int count, MPI_Request requests[],
                           MPI_Status statuses[]);
int aps_completion_waitany(int count, MPI_Request requests[], int *index,
                           MPI_Status *status);
int aps_completion_waitsome(int count, MPI_Request requests[], int *done,
                            int *indices, MPI_Status statuses[]);
int aps_completion_test(MPI_Request *request, int *done, MPI_Status *status);
int aps_completion_testall(int count, MPI_Request requests[], int *done,
                           MPI_Status statuses[]);
int aps_completion_testany(int count, MPI_Request requests[], int *index,
                           int *done, MPI_Status *status);
int aps_completion_testsome(int count, MPI_Request requests[], int *done,
                            int *indices, MPI_Status statuses[]);
int aps_completion_get_status(MPI_Request request, int *done,
                              MPI_Status *status);

#endif
