/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a nonblocking or persistent call when the program makes it. The call
 * is carried out when it is due in the queue of its communicator.
 */
#ifndef APS_PMPI_CALL_START_H
#define APS_PMPI_CALL_START_H

#include <mpi.h>

#include "call/call.h"

/*
 * Local, never waits. Starts a nonblocking call of the program, or a persistent
 * all-reduce for MPI_Start: plans it, and starts the layers that go to MPI. The
 * other layers are queued after the earlier calls of the communicator. All of
 * MPI's completion calls complete *request; counts[] need not outlive this
 * call. If the program runs with an MPI that the library was not built for, the
 * call passes. Returns an MPI error code; after an error the program's error
 * handler has been called.
 */
int aps_call_start(const struct aps_call_arguments *arguments,
                   MPI_Request *request);

#endif
