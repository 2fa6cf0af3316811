/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking calls of the program while nonblocking reductions are under way.
 *
 * Every MPI call that blocks drives MPI's nonblocking calls, so it must also
 * drive the library's. Otherwise a rank that waits in MPI_Recv for another
 * rank, which waits for a reduction, would wait for ever. While something is
 * under way, the functions below replace MPI's, with the same arguments and
 * results; otherwise MPI's own are called (entry/blocking.c).
 */
#ifndef APS_PMPI_WAITING_BLOCKING_H
#define APS_PMPI_WAITING_BLOCKING_H

#include <mpi.h>
#include <stdint.h>

enum aps_send_kind { APS_SEND, APS_SSEND, APS_RSEND };

int aps_blocking_send(enum aps_send_kind kind, const void *bytes, int64_t count,
                      MPI_Datatype type, int to, int tag, MPI_Comm comm);
int aps_blocking_receive(void *bytes, int64_t count, MPI_Datatype type,
                         int from, int tag, MPI_Comm comm, MPI_Status *status);
int aps_blocking_exchange(const void *send, int64_t send_count,
                          MPI_Datatype send_type, int to, int send_tag,
                          void *receive, int64_t receive_count,
                          MPI_Datatype receive_type, int from, int receive_tag,
                          MPI_Comm comm, MPI_Status *status);
int aps_blocking_exchange_in_place(void *bytes, int64_t count,
                                   MPI_Datatype type, int to, int send_tag,
                                   int from, int receive_tag, MPI_Comm comm,
                                   MPI_Status *status);
int aps_blocking_probe(int from, int tag, MPI_Comm comm, MPI_Status *status);
int aps_blocking_mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
                        MPI_Status *status);
int aps_blocking_mrecv(void *bytes, int64_t count, MPI_Datatype type,
                       MPI_Message *message, MPI_Status *status);

#endif
