/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error handler of a communicator of the program, during the library's
 * setup.
 */
#ifndef APS_PMPI_NATIVE_ERRHANDLER_H
#define APS_PMPI_NATIVE_ERRHANDLER_H

#include <mpi.h>

/*
 * Local. Makes errors on comm only return a code, so that a failure of the
 * library's setup does not call the program's error handler. aps_errhandler_pop
 * restores the handler that aps_errhandler_push returned.
 *
 * If the errors of comm seem to end the job, and those of MPI_COMM_WORLD do
 * not, the handler of comm stays.
 */
MPI_Errhandler aps_errhandler_push(MPI_Comm comm);
void aps_errhandler_pop(MPI_Comm comm, MPI_Errhandler theirs);

#endif
