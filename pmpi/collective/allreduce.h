/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduces: which of them are rewritten, and how they are numbered.
 *
 * INVARIANT. Numbers decide which calls are sampled, and where a step begins;
 * all ranks take part in a sample. Therefore values that are equal on all ranks
 * decide whether a number advances (aps_steps_advance, aps_other_state_number):
 * the sequence of counts on the communicator, the policy, the level of
 * MPI_Pcontrol. The last action of a thread or a rank, the time, and caches
 * never decide it.
 *
 * A call that is left to MPI for its count alone, by the policy or by a settled
 * choice of `reduce: auto`, is never numbered, on no path: a rank may pass it
 * by any shortcut. All ranks know a settled choice from the same call on. Calls
 * that auto may leave to MPI are numbered apart, so that the numbers of all
 * other calls, and their random bits, are the same in every run.
 */
#ifndef APS_PMPI_COLLECTIVE_ALLREDUCE_H
#define APS_PMPI_COLLECTIVE_ALLREDUCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* COLLECTIVE over comm. Rewrites the program's MPI_Allreduce, or MPI_Allreduce_c
 * if `large`, or passes it through. If the program runs with an MPI that the
 * library was not built for, every call passes through. */
int aps_allreduce(const void *send, void *receive, int64_t count, bool large,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#endif
