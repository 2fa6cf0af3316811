/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of MPI: what is queued is carried out first, and no thread of the
 * library calls MPI afterwards.
 */
#ifndef APS_PMPI_QUEUE_FINISH_H
#define APS_PMPI_QUEUE_FINISH_H

#include <mpi.h>

#include <stdbool.h>

/*
 * MPI is about to end on this process, world rank `rank` (< 0: there is no
 * world), by the program's `call`: carry out what is
 * queued, as MPI does what is outstanding, and end the threads of queues and the
 * progress thread. After ten seconds one line says what is waited for. Inside
 * MPI_Finalize (`inside`) MPI no longer locks: there only one thread at a time
 * calls MPI.
 *
 * COLLECTIVE over `comm`, all processes of the job, unless it is MPI_COMM_NULL:
 * when all of them have come here, and nothing has arrived for ten seconds, the
 * wait cannot end, since no process makes a call any more that another waits
 * for. Then one line says what is lost. With MPI_COMM_NULL the wait has no end, and
 * inside MPI_Finalize neither has that for operations which threads carry out: it
 * comes first, since processes cannot meet while other threads call MPI.
 */
void aps_finish(const char *call, int rank, MPI_Comm comm, bool inside);

#endif
