/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other collectives: MPI_Reduce_scatter_block, MPI_Reduce_scatter,
 * MPI_Allgather, MPI_Reduce and MPI_Bcast of floats, and their large-count variants
 * (`large`), in the MPI that we were built for. Rewritten where a rule of the
 * policy names the call; passed on otherwise.
 */
#ifndef APS_PMPI_CALL_OTHER_COLLECTIVES_H
#define APS_PMPI_CALL_OTHER_COLLECTIVES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* COLLECTIVE over comm. */
int aps_other_reduce_scatter_block(const void *send, void *receive,
                                   int64_t count, bool large, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm);

/* COLLECTIVE over comm. counts[] are int, or int64_t where `large`. */
int aps_other_reduce_scatter(const void *send, void *receive,
                             const void *counts, bool large, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm);

/*
 * The nonblocking forms: local, never wait; *request, an MPI_Request, completes
 * by all of MPI's completion calls (nonblocking.h). counts[] need not stay until
 * then.
 */
int aps_other_ireduce_scatter_block(const void *send, void *receive,
                                    int64_t count, bool large,
                                    MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request);
int aps_other_ireduce_scatter(const void *send, void *receive,
                              const void *counts, bool large, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request *request);
int aps_other_iallgather(const void *send, int64_t send_count,
                         MPI_Datatype send_type, void *receive, int64_t count,
                         bool large, MPI_Datatype type, MPI_Comm comm,
                         MPI_Request *request);
int aps_other_ireduce(const void *send, void *receive, int64_t count,
                      bool large, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request *request);

int aps_other_ibcast(void *buffer, int64_t count, bool large, MPI_Datatype type,
                     int root, MPI_Comm comm, MPI_Request *request);

/* COLLECTIVE over comm. */
int aps_other_allgather(const void *send, int64_t send_count,
                        MPI_Datatype send_type, void *receive, int64_t count,
                        bool large, MPI_Datatype type, MPI_Comm comm);

/* COLLECTIVE over comm. */
int aps_other_reduce(const void *send, void *receive, int64_t count, bool large,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);

/* COLLECTIVE over comm. */
int aps_other_bcast(void *buffer, int64_t count, bool large, MPI_Datatype type,
                    int root, MPI_Comm comm);

#endif
