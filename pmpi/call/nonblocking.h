/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APS_PMPI_CALL_NONBLOCKING_H
#define APS_PMPI_CALL_NONBLOCKING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct aps_call;

/*
 * The program's MPI_Iallreduce, or MPI_Iallreduce_c (`large`). Local, never
 * waits: it is planned here, and what passes goes straight to the next library.
 * What is rewritten is queued behind the earlier calls of its communicator.
 * *request, an MPI_Request, completes by all of MPI's completion calls.
 */
int aps_iallreduce(const void *send, void *receive, int64_t count, bool large,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request);

/* The same for a call that the caller has filled in: a persistent all-reduce,
 * which MPI_Start starts, or the nonblocking form of another collective. */
int aps_nonblocking_start(const struct aps_call *call, MPI_Request *request);

#endif
