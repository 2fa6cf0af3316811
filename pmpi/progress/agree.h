/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives by which ranks agree. They wait as all our waits do, and so
 * stay cheap with more ranks than cores.
 */
#ifndef APS_PMPI_PROGRESS_AGREE_H
#define APS_PMPI_PROGRESS_AGREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* COLLECTIVE over comm. values[i] becomes its MAX over the ranks. An MPI error
 * code. */
int aps_agree_max(MPI_Comm comm, int count, int values[]);

/* COLLECTIVE over comm. *value becomes its SUM over the ranks. An MPI error
 * code. */
int aps_agree_sum(MPI_Comm comm, int *value);

/* COLLECTIVE over comm. bits[size] become their OR over the ranks. An MPI error
 * code. */
int aps_agree_or(MPI_Comm comm, void *bits, size_t size);

/* COLLECTIVE over comm. True on all ranks if `good` is on all; false also when
 * MPI fails. */
bool aps_agree_all(MPI_Comm comm, bool good);

/* The same, where ranks meet for the first time: some may never come, for they
 * were given no library or no policy. Then aps_agree_tell_missing is called. */
bool aps_agree_first(MPI_Comm comm, bool good);
void aps_agree_tell_missing(void);

/* COLLECTIVE over comm. `size` bytes of rank 0 to all. An MPI error code. */
int aps_agree_bytes(MPI_Comm comm, void *bytes, size_t size);

/*
 * Setting up may fail, and must then not call the program's error handler:
 * errors on comm are only returned until aps_errhandler_pop puts back what
 * aps_errhandler_push gave. A communicator whose errors seem to end the job
 * where MPI_COMM_WORLD's do not is left as it is. Local.
 */
MPI_Errhandler aps_errhandler_push(MPI_Comm comm);
void aps_errhandler_pop(MPI_Comm comm, MPI_Errhandler theirs);

/* COLLECTIVE over comm. The text of the lowest rank whose text is not empty
 * goes to all; texts are arrays of `size`. */
void aps_agree_cause(MPI_Comm comm, char *text, size_t size);

#endif
