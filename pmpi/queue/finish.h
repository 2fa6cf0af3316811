/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of MPI: carries out the queued operations first. No thread of the
 * library calls MPI afterwards.
 */
#ifndef APS_PMPI_QUEUE_FINISH_H
#define APS_PMPI_QUEUE_FINISH_H

#include <mpi.h>

#include <stdbool.h>

/*
 * Called when the program's `call` is about to end MPI on this process, which
 * is world rank `rank` (< 0: there is no world). Carries out the queued
 * operations, as MPI completes pending ones, and ends the threads of queues and
 * the progress thread. After ten seconds it prints once which operations it
 * waits for. Inside MPI_Finalize (`inside`) MPI no longer locks, so only one
 * thread at a time calls MPI.
 *
 * COLLECTIVE over `comm`, all processes of the job, unless it is MPI_COMM_NULL.
 * If all processes have come here, and nothing has arrived for ten seconds, the
 * wait cannot end, because no process makes a call any more that another waits
 * for. Then the function prints which calls are lost, and returns.
 *
 * With MPI_COMM_NULL the wait is unlimited. Inside MPI_Finalize so is the wait
 * for operations of threads. That wait comes first, since processes cannot meet
 * while other threads call MPI.
 */
void aps_finish(const char *call, int rank, MPI_Comm comm, bool inside);

#endif
