/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: spin briefly, then give the core away.
 *
 * MPICH's own waits spin for ever; with more ranks than cores each message then
 * costs a scheduler tick. Every wait of ours also drives MPI's progress, as a
 * blocking MPI call must: a peer may be stuck in a message that this rank sent
 * before it came here.
 */
#ifndef APS_PMPI_WAIT_H
#define APS_PMPI_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

/* Complete all requests; an MPI error code. */
int aps_wait_requests(int count, MPI_Request requests[]);

/*
 * Sleep until *word is no longer `old`. `word` lives in memory shared by
 * processes, and whoever changes it calls aps_wait_wake. `comm` is an internal
 * communicator, used to drive progress.
 */
void aps_wait_word(_Atomic uint32_t *word, uint32_t old, MPI_Comm comm);
void aps_wait_wake(_Atomic uint32_t *word);

/* Tell the waits that `ranks` processes share `cores` cores. A hint. */
void aps_wait_set_ranks(int ranks, int cores);

#endif
