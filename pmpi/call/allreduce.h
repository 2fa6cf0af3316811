/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduces: which are rewritten, and how they are numbered.
 *
 * INVARIANT. Numbers decide which calls are sampled, and where a step begins;
 * all ranks take part in a sample. So what advances a number (aps_steps_advance,
 * aps_other_state_number) is decided by values that are equal on all ranks:
 * the sequence of counts on the communicator, the policy, MPI_Pcontrol's level.
 * Never by what a thread or a rank did last, by time, or by what is cached. A
 * call that is left to MPI for its count alone, by the policy or by what
 * `reduce: auto` has settled on, which all ranks know from the same call on, is
 * never numbered, on no path: a rank may pass it by whatever shortcut. Calls that
 * auto may leave to MPI are numbered apart, so that the numbers of all others, and
 * with them their random bits, are the same in every run.
 */
#ifndef APS_PMPI_CALL_ALLREDUCE_H
#define APS_PMPI_CALL_ALLREDUCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"
#include "steps/steps.h"

/*
 * COLLECTIVE over comm. The program's MPI_Allreduce and MPI_Allreduce_c:
 * rewritten, or passed through, as all are of an MPI that we were not built
 * for.
 */
int aps_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
int aps_allreduce_c(const void *send, void *receive, int64_t count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#endif
