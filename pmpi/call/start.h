/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A nonblocking or persistent call: started when the program makes it, carried out
 * when its turn in the queue of its communicator has come.
 */
#ifndef APS_PMPI_CALL_START_H
#define APS_PMPI_CALL_START_H

#include <mpi.h>

#include "call/call.h"

/*
 * Local, never waits. Starts a nonblocking call of the program, or a persistent
 * all-reduce for MPI_Start: plans it, and starts the layers that MPI gets. The others
 * are queued after the earlier calls of the communicator. *request completes by all of
 * MPI's completion calls; counts[] need not stay until then. Calls of an MPI that the
 * library was not built for pass. Returns an MPI error code; after an error the
 * program's error handler has been called.
 */
int aps_call_start(const struct aps_call_arguments *arguments,
                   MPI_Request *request);

#endif
