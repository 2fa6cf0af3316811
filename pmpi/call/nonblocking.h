/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APS_PMPI_CALL_NONBLOCKING_H
#define APS_PMPI_CALL_NONBLOCKING_H

#include <mpi.h>

#include "call/call.h"

/*
 * Local, never waits. Starts a nonblocking call of the program, or a persistent
 * all-reduce for MPI_Start: plans it, and passes on the layers that are not
 * rewritten. The rewritten ones are queued after the earlier calls of the
 * communicator. *request completes by all of MPI's completion calls; counts[] need
 * not stay until then. Calls of an MPI that the library was not built for pass.
 */
int aps_call_start(const struct aps_call_arguments *arguments,
                   MPI_Request *request);

#endif
