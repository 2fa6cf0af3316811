/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APS_PMPI_CALL_IALLREDUCE_H
#define APS_PMPI_CALL_IALLREDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "native/next_mpi.h"

/*
 * The program's MPI_Iallreduce, or MPI_Iallreduce_c (`large`): passed through,
 * or queued behind the earlier ones of its communicator. Never waits. *request,
 * an MPI_Request, completes by all of MPI's completion calls.
 */
int aps_iallreduce(const void *send, void *receive, int64_t count, bool large,
                   aps_handle type, aps_handle op, aps_handle comm,
                   void *request);

#endif
